/* request_log.h - records where the time of the requests of a sample's last call went.
 *
 * A workload may know it by itself. Else goroutines are followed by what their scheduler says it
 * does, and requests are what their workload says (go_request()). Simulated machines tell, and real
 * threads in the program that records (CONFIG=trace). In programs that measure real threads an
 * event is not even an instruction. Callers: sample.c.
 */
#ifndef SCHEDLAB_REQUEST_LOG_H
#define SCHEDLAB_REQUEST_LOG_H

#include <jansson.h>

struct workload_spec;

/* Before init() of the workload, which may name its locks. Nothing is logged of workloads without
 * latencies, or that know by themselves. */
void request_log_listen(const struct workload_spec *workload);

/* A call of run() begins, on the goroutine that calls this. The last one is
 * forgotten. A call of very many steps is logged from its start up to a bound. */
void request_log_begin(void);

/* Sets `request_parts` of the record of a workload with latencies, after its last call and before
 * fini(). */
void request_log_record(json_t *record, const struct workload_spec *workload, void *state);

/* Sets `requests` of the record of a trace, if the workload knows them by itself: "name",
 * "goroutine", "function", "from_ns" and "to_ns" of each. As request_log_record(). */
void request_log_list(json_t *record, const struct workload_spec *workload, void *state);

/* Forgets all. */
void request_log_end(void);

#endif
