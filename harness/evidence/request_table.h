/* request_table.h - where requests' time goes, as records have it and as a table.
 *
 * Callers: sample.c writes it; run_table.c, report_commands.c, advise.c and cmd_trace.c show it.
 */
#ifndef SCHEDLAB_REQUEST_TABLE_H
#define SCHEDLAB_REQUEST_TABLE_H

#include <jansson.h>
#include <stddef.h>

struct request_parts;

/* The key `request_parts` of a record: results/README.md. parts: of all requests, and of classes
 * behind it, `count` in all. why: why nothing is known; or NULL. */
json_t *request_parts_to_json(const struct request_parts *parts, size_t count, const char *why);

/* The table of the sample, with a line's end; "" if it has none. free() it. */
char *request_table(const json_t *record);

/* Why the sample has latencies and no table; "" if it has one, or no latencies. Owned by the
 * record. */
const char *request_table_absent(const json_t *record);

#endif
