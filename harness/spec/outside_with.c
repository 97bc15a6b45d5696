/* outside_with.c - see outside.h: the files of this program on a command line. */
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/spec/outside.h"

#include <stdlib.h>
#include <string.h>

void outside_origin_print(FILE *to, const char *origin)
{
    const char *digest = strrchr(origin, ' ');
    size_t length = digest ? (size_t)(digest - origin) : strlen(origin);
    char *file = text_format("./%.*s", (int)length, origin);
    shell_option_print(to, "--with", file);
    free(file);
}

static void origins_print(FILE *to, const char *const *origins)
{
    for (; *origins; origins++)
        outside_origin_print(to, *origins);
}

void outside_with_print(FILE *to)
{
    const char *with = getenv(OUTSIDE_WITH);
    if (!outside_origins[0] && !outside_workload_origins[0])
        return;
    if (with) {
        fputs(with, to);
        return;
    }
    origins_print(to, outside_origins);
    origins_print(to, outside_workload_origins);
}

char *outside_with_text(void)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    outside_with_print(to);
    fclose(to);
    return text;
}

bool outside_is_named(const char *text)
{
    char *name = xstrndup(text, strcspn(text, ","));
    bool is = text_is_word(name, outside_words) || text_is_word(name, outside_workload_words);
    free(name);
    return is;
}
