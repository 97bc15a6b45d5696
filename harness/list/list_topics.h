/* list_topics.h - what `schedlab list` prints of all names, and of all of a kind.
 *
 * Callers: cmd_list.c.
 */
#ifndef SCHEDLAB_LIST_TOPICS_H
#define SCHEDLAB_LIST_TOPICS_H

#include "harness/list/list_page.h"
#include "param.h"

/* A line for each variant, preset and workload. */
void list_all_print(const struct list_page *page);

void list_variants_print(const struct list_page *page); /* and presets */
void list_presets_print(const struct list_page *page);
void list_workloads_print(const struct list_page *page);

/* By group, what decides most first; each once, with the variants that have it. */
void list_knobs_print(const struct list_page *page);

/* By source; list_events.c. */
void list_events_print(const struct list_page *page);

/* The knobs of one table by group, a row each. */
void list_table_print(const struct list_page *page, const struct param *table);

#endif
