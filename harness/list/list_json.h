/* list_json.h - what `schedlab list` says, as JSON: the topics.
 *
 * Callers: cmd_list.c and list_name.c. All comes from the tables that the parsers use. Results are
 * owned by the caller.
 */
#ifndef SCHEDLAB_LIST_JSON_H
#define SCHEDLAB_LIST_JSON_H

#include "harness/spec/spec.h"

#include <jansson.h>

/* A row: {key, default, unit, source, help, range, min?, max?, words?, detail?}; of a knob also
 * {group, decisive, moves}. */
json_t *list_param_to_json(const struct param *param);
json_t *list_table_to_json(const struct param *table);
json_t *list_moot_to_json(const struct param_moot *rows);

json_t *list_variants_to_json(void);
json_t *list_presets_to_json(void);
json_t *list_workloads_to_json(void);

/* The knobs of all variants, each with its variant and an example. */
json_t *list_knobs_to_json(void);

/* The default list here, and what simulated machines count: {domain, events}. */
json_t *list_events_to_json(void);

/* The run that shows the knob: "schedlab run gmp gmp,tick=1 ...", or of ops, if that is not NULL
 * and has another example. To be freed; NULL if the knob has no example. */
char *list_knob_command(const char *key, const struct sched_ops *ops);

/* The words of a text that spaces separate. */
json_t *list_words_to_json(const char *words);

#endif
