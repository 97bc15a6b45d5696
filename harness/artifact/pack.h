/* pack.h - packs runs, the sources that made them and a way to make them again into one folder.
 *
 * Callers: cmd_artifact.c, on the main thread of a process with no other threads.
 *
 * The folder has README.md, LICENSE, Dockerfile, reproduce.sh and claims.json. In source/ is the
 * revision that the runs were measured with, and in outside/ are designs outside the tree, if there
 * are any. runs/NAME is a run; its quick.cmd and full.cmd are the commands that measure it again.
 * docs/MEASURING.md, "For a paper's evaluators", is the reader's view.
 */
#ifndef SCHEDLAB_PACK_H
#define SCHEDLAB_PACK_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct pack {
    const char *out;            /* a folder that is not there yet, or a file NAME.tar.xz */
    const char *const *runs;    /* folders of runs and reproductions; NULL-terminated */
    const char *const *outside; /* C files of designs outside the tree, likewise */
    const char *title;          /* of the paper; NULL: none */
    double tolerance;           /* see claim_hold() */

    /* Results. */
    size_t claims;
    double quick_seconds, full_seconds; /* of measuring, as the runs took it; without the build */
};

/* False and one line in error if a run is none, or was measured by a program whose sources no
 * commit of the repository around the current folder has, or a file cannot be written. Then there
 * is no folder. */
bool pack_make(struct pack *pack, struct error *error);

#endif
