/* kept.c - see kept.h. */
#include "harness/spec/kept.h"

#include "harness/base/memory.h"

#include <search.h>
#include <string.h>

struct kept_entry {
    char *text;
    const void *thing;
};

static int entry_compare(const void *a, const void *b)
{
    return strcmp(((const struct kept_entry *)a)->text, ((const struct kept_entry *)b)->text);
}

const void *kept_find(const struct kept *kept, const char *text)
{
    const struct kept_entry wanted = {.text = (char *)text};
    struct kept_entry *const *found = tfind(&wanted, &kept->tree, entry_compare);
    return found ? (*found)->thing : NULL;
}

static void entry_add(struct kept *kept, const char *text, const void *thing)
{
    struct kept_entry *entry = xcalloc(1, sizeof *entry);
    *entry = (struct kept_entry){xstrdup(text), thing};
    if (!tsearch(entry, &kept->tree, entry_compare))
        memory_die();
}

const void *kept_add(struct kept *kept, const char *text, const char *canonical, const void *thing,
                     size_t size)
{
    void *copy = xcalloc(1, size);
    memcpy(copy, thing, size);
    entry_add(kept, text, copy);
    if (!kept_find(kept, canonical))
        entry_add(kept, canonical, copy);
    return copy;
}
