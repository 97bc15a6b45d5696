/* list_uses.h - which experiments and sweeps are about a name that `schedlab list` explains.
 *
 * Callers: list_name.c. All is read from harness/experiments and harness/sweeps. Arrays are owned
 * by the caller: of experiments {"id": "E6", "title": ...}, of sweeps their names.
 */
#ifndef SCHEDLAB_LIST_USES_H
#define SCHEDLAB_LIST_USES_H

#include <jansson.h>
#include <stddef.h>

struct uses;

/* Reads all files; NULL and one line in error if one is wrong. To be freed. */
struct uses *uses_load(char *error, size_t error_size);
void uses_free(struct uses *uses);

/* Experiments that set the knob differently in what they compare. */
json_t *uses_that_vary(const struct uses *uses, const char *knob);

/* Experiments that compare the variant with others; experiments that vary a knob of it. */
json_t *uses_that_compare(const struct uses *uses, const char *variant);
json_t *uses_within(const struct uses *uses, const char *variant);

/* Experiments that run the workload. */
json_t *uses_that_run(const struct uses *uses, const char *workload);

/* Experiments that expect something of the event, and those that only count it. The name is without
 * the prefix of the program's own. */
json_t *uses_that_judge(const struct uses *uses, const char *event);
json_t *uses_that_count(const struct uses *uses, const char *event);

/* Sweeps that vary the knob; that run the workload. */
json_t *sweeps_that_vary(const struct uses *uses, const char *knob);
json_t *sweeps_that_run(const struct uses *uses, const char *workload);

#endif
