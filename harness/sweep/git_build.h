/* git_build.h - builds a revision of this program from git, once.
 *
 * Callers: cmd_compare.c. The repository is the one that holds the current folder. Each revision is
 * checked out and built in build/revisions/<12 digits>/ there, by its own Makefile, and stays for
 * the next time. make's output stands beside it as <12 digits>.log. Nothing else of the repository
 * changes, but git knows the work tree.
 */
#ifndef SCHEDLAB_GIT_BUILD_H
#define SCHEDLAB_GIT_BUILD_H

#include "harness/base/error.h"

#include <stdbool.h>
#include <stdio.h>

enum { REVISION_SIZE = 13, REVISION_PATH_SIZE = 4096 };

struct git_build {
    char name[REVISION_SIZE];         /* 12 hex digits */
    char program[REVISION_PATH_SIZE]; /* absolute path */
};

/* Finds out what `text` (a branch, a tag, HEAD~1) stands for. False and one line in error if there
 * is no git, no repository or no such commit. */
bool git_build_find(struct git_build *revision, const char *text, struct error *error);

/* Checks it out and builds it, and tells so on messages. False and one line in error if that fails:
 * if the build fails, the compiler's first error, and where all of its output is. */
bool git_build_make(const struct git_build *revision, FILE *messages, struct error *error);

#endif
