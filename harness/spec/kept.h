/* kept.h - things made from a text once, and found by it for the rest of the process.
 *
 * Callers: who parses specifications. A sweep meets the same ones in its file, group by group, in
 * its plan and in its report.
 */
#ifndef SCHEDLAB_KEPT_H
#define SCHEDLAB_KEPT_H

#include <stddef.h>

/* A table of them; {0} to begin with. */
struct kept {
    void *tree;
};

/* The thing of that text, or NULL. */
const void *kept_find(const struct kept *kept, const char *text);

/* Keeps a copy of *thing as that of text, and of its canonical text too if that has none. Returns
 * the copy. */
const void *kept_add(struct kept *kept, const char *text, const char *canonical, const void *thing,
                     size_t size);

#endif
