/* list_uses.h - which experiments and sweeps are about a name that `schedlab list` explains.
 *
 * Callers: list_name.c. All is read from harness/experiments and harness/sweeps. Arrays are owned
 * by the caller: of experiments {"id": "E6", "title": ...}, of sweeps their names.
 */
#ifndef SCHEDLAB_LIST_USES_H
#define SCHEDLAB_LIST_USES_H

#include "harness/base/error.h"

#include <jansson.h>

struct uses;

/* Reads all files; NULL and one line in error if one is wrong. To be freed. */
struct uses *uses_load(struct error *error);
void uses_free(struct uses *uses);

/* {"id": ..., "title": ..., "claim": ...} of the experiment called so; NULL: none is. */
json_t *uses_experiment(const struct uses *uses, const char *id);

enum uses_which {
    USES_THAT_VARY,    /* set the knob differently in what they compare */
    USES_THAT_COMPARE, /* compare the variant with others */
    USES_WITHIN,       /* vary a knob of the variant */
    USES_THAT_RUN,     /* run the workload */
    USES_THAT_JUDGE,   /* expect something of the event, named without the program's prefix */
    USES_THAT_COUNT,   /* only count it */
};
json_t *uses_experiments(const struct uses *uses, enum uses_which which, const char *name);
json_t *uses_sweeps(const struct uses *uses, enum uses_which which, /* to vary or to run */
                    const char *name);

#endif
