/* program_check.h - whether a program can run to its end. Callers: program.c. */
#ifndef SCHEDLAB_PROGRAM_CHECK_H
#define SCHEDLAB_PROGRAM_CHECK_H

#include "program.h"

/* A program whose text was read. Wakes have as their target a goroutine, and in ns which of its
 * waits they end: 1 is the first, 0 the next one that no other wake names. */
struct program_draft {
    struct program *program;
    const uint32_t *lines; /* of each step */
    const char *name;      /* of the file */
    char *why;
    size_t why_size;
};

/* Gives waits, wakes and requests their numbers and fills in what follows from the steps. False,
 * and one line in why. */
bool program_check(const struct program_draft *draft);

#endif
