/* sysfs.h - small files of /proc and /sys below a root.
 *
 * Callers: the parts of doctor; limits.c; memory_use.c; disturbance.c. Paths are formatted and
 * begin without a slash; they are looked for at ROOT/PATH. A file that is missing, cannot be read
 * or makes no sense is `false`; nothing here has a default value.
 */
#ifndef SCHEDLAB_SYSFS_H
#define SCHEDLAB_SYSFS_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SYSFS_PATH_SIZE = 4096 };

/* For reading; NULL if it cannot be. The caller closes it. */
FILE *tree_open(const char *root, const char *path, ...) __attribute__((format(printf, 2, 3)));

/* The first line without white space at its end. An empty line is text, an empty file is not. */
bool sysfs_text(const char *root, char *text, size_t size, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* A file that holds one whole number. */
bool sysfs_number(const char *root, int64_t *value, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

/* "always [madvise] never" -> "madvise". */
bool sysfs_chosen(const char *root, char *word, size_t size, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* "0-3,8" as a set, owned by the caller; an empty line is the empty set. NULL if there is none. */
hwloc_bitmap_t sysfs_cpus(const char *root, const char *path, ...)
    __attribute__((format(printf, 2, 3)));

/* The number behind "key", "key:" in a file of such lines, in bytes where " kB" follows. */
bool sysfs_key(const char *root, int64_t *value, const char *key, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* True if the machine runs under a hypervisor that shows itself. */
bool sysfs_is_virtual(const char *root);

#endif
