/* pack_internal.h - what the parts of packing share, see pack.h.
 *
 * Callers: pack*.c.
 */
#ifndef SCHEDLAB_PACK_INTERNAL_H
#define SCHEDLAB_PACK_INTERNAL_H

#include "harness/artifact/pack.h"
#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { PACK_PATH_SIZE = 4096, PACK_NAME_SIZE = 256 };

struct packed_run {
    const char *folder;
    char *name; /* without its time */
    json_t *claims, *environment;
    const char *revision; /* the environment's */

    /* Words behind `schedlab` that measure it again, from within the artifact, for a shell. */
    char *quick, *full;
    double quick_seconds, full_seconds;
};

struct packing {
    struct pack *pack;
    struct packed_run *runs;
    size_t count;
    char base[PACK_NAME_SIZE];                   /* the last name of out, without .tar.xz */
    char scratch[PACK_PATH_SIZE];                /* a folder that is removed at the end */
    char draft[PACK_PATH_SIZE + PACK_NAME_SIZE]; /* in it: the artifact until all of it is there */
    bool archive;
    struct error *to; /* where the line about a failure goes; the caller's */
};

/* Fills the commands of a loaded run and their times. False and one line in error if it cannot be
 * measured again. */
bool packed_run_commands(struct packed_run *run, struct error *to);
void packed_run_free(struct packed_run *run);

/* README.md, LICENSE, Dockerfile, reproduce.sh and claims.json. */
bool pack_write_texts(const struct packing *packing);

#endif
