/* allocator.h - whose malloc() a sample runs on: asked for in the variant's specification, found in
 * the process.
 *
 * Callers: child.c before it starts a sample's process, sample.c in that process, spec.c for the
 * words.
 *
 * jemalloc is linked in, before the C library. For glibc's malloc the same program, with the same
 * code at the same places, is executed with LD_PRELOAD=libc.so.6, so that the dynamic linker finds
 * the C library's malloc first. A build without jemalloc would differ in its layout too, and a
 * difference between two builds is not one between two allocators. The allocator in force is never
 * concluded from the one asked for: the linker says it.
 */
#ifndef SCHEDLAB_ALLOCATOR_H
#define SCHEDLAB_ALLOCATOR_H

#include "harness/base/error.h"

#include <stdbool.h>

/* The first ALLOCATORS_ASKED can be asked for, in the order of allocator_words. */
enum allocator {
    ALLOCATOR_JEMALLOC, /* the default */
    ALLOCATOR_GLIBC,
    ALLOCATORS_ASKED,
    ALLOCATOR_SANITIZER = ALLOCATORS_ASKED, /* a sanitizer's, which cannot be replaced */
    ALLOCATOR_OTHER,                        /* whatever the user preloads */
};

/* "jemalloc", "glibc", NULL. */
extern const char *const allocator_words[];

/* The allocator whose malloc() this process calls, by the object file that holds it. Any thread. */
enum allocator allocator_found(void);

/* "jemalloc", "glibc", "sanitizer", or the name of the object file. Static storage. */
const char *allocator_found_name(void);

/* The allocator that the object file at path holds; for tests. */
enum allocator allocator_of_file(const char *path);

/* Sets LD_PRELOAD so that programs executed from now on run on `asked`; what the user preloads
 * stays. Does nothing under a sanitizer. Only while the process has one thread. */
void allocator_for_children(enum allocator asked);

/* False, and the reason in why, if `found` is not what was asked for. Under a sanitizer the default
 * passes: its build is for finding faults, and the record says which malloc it was. */
bool allocator_check(enum allocator asked, enum allocator found, struct error *why);

#endif
