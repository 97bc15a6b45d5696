/* why.h - where a simulated sample's time went: misses by structure and by line of the source, what
 * cores did, and waits beside idle ones.
 *
 * Callers: sample.c, sample_server.c. The caches have all misses. This takes those in the counted
 * section, and gives them names. Natively all this is unknown, and these functions do nothing.
 */
#ifndef SCHEDLAB_WHY_H
#define SCHEDLAB_WHY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { WHY_SITES = 30 };

/* Reads the program's debug information, for all copies of this process. */
void why_prepare(void);

/* Says if the code from now on is in the counted section, or not. Takes no virtual time. */
void why_count(bool counted);

/* Adds to the record of a sample with that many operations:
 *   structures  [{"name", "misses": {"l1", "l2", "l3": {KIND: n}}, "upgrades", "stall_ns",
 *               "stall_ns_per_op"}], the most stalled first; zeros are left out, KIND is "cold",
 *               "capacity", "conflict", "true_sharing" or "false_sharing"
 *   sites       the WHY_SITES lines of the source that stalled most, each at one structure:
 *               [{"function", "file", "line", "structure", "misses": {"l1", "l2", "l3": n},
 *               "stall_ns"}]; "function" may be "(unknown)"
 *   core_time   {"elapsed_ns", "busy_ns", "spin_ns", "wasted_ns"}: how long the counted section
 *               was; of all cores in it, with a thread, calls into the kernel included; of these
 *               in hints of spin loops; idle beside work that waited
 *   waits       {"count", "p50_ns", "p99_ns", "longest_ns"}: how long each goroutine and task that
 *               was put on a worker in the counted section had waited for it while a core was idle
 */
void why_record(json_t *record, uint64_t ops);

#endif
