/* why.h - where a simulated sample's misses were: by structure, and by line of the source.
 *
 * Callers: sample.c, sample_server.c. The caches know all of it; this takes the part that belongs
 * to the counted section, and gives it names. Natively nobody knows, and these do nothing.
 */
#ifndef SCHEDLAB_WHY_H
#define SCHEDLAB_WHY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { WHY_SITES = 30 };

/* Reads what the compiler said about the program, for all copies of this process. */
void why_prepare(void);

/* Says if the code from now on is in the counted section. Takes no virtual time. */
void why_count(bool counted);

/* Adds to the record of a sample with that many operations:
 *   structures  [{"name", "misses": {"l1", "l2", "l3": {KIND: n}}, "upgrades", "stall_ns",
 *               "stall_ns_per_op"}], the most stalled first; zeros are left out, KIND is "cold",
 *               "capacity", "conflict", "true_sharing" or "false_sharing"
 *   sites       the WHY_SITES lines of the source that stalled most, each at one structure:
 *               [{"function", "file", "line", "structure", "misses": {"l1", "l2", "l3": n},
 *               "stall_ns"}]; "function" is "(unknown)" where nobody knows */
void why_record(json_t *record, uint64_t ops);

#endif
