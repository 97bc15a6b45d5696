/* sample_pool.h - simulated samples side by side, one per core of the host.
 *
 * Callers: sweep_run.c makes one for sweep_fetch.c, and advise.c has one; on the main thread of a
 * process with no other threads. The result of a simulated sample does not depend on other work of
 * the host, so many may run at once; native ones never do. Servers run them (sample_server.h). If
 * there can be no server, and for programs of other revisions, each sample has a process of ours
 * that waits for it (child.h). Records come back in the order in which their samples were started,
 * whichever ends first.
 */
#ifndef SCHEDLAB_SAMPLE_POOL_H
#define SCHEDLAB_SAMPLE_POOL_H

#include "harness/records/sample_request.h"
#include "harness/sample/child.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sample_pool;

/* Room for `width` samples that run, and for some that have ended behind one that has not. */
struct sample_pool *sample_pool_make(int width);
void sample_pool_free(struct sample_pool *pool); /* kills those that still run */

bool sample_pool_has_room(const struct sample_pool *pool);
size_t sample_pool_count(const struct sample_pool *pool); /* started, and not taken */

/* Starts a sample. pre: there is room; the strings of request live until its record is taken. If
 * descriptors or processes are too few, fewer samples run at once from then on, and it starts when
 * another one has ended. If there can be no process even for it alone, its record says so. */
void sample_pool_start(struct sample_pool *pool, const struct sample_request *request, void *tag);

/* Takes a place in the order for a record that is there already; takes the record. pre: there is
 * room. */
void sample_pool_add(struct sample_pool *pool, json_t *record, void *tag);

/* Waits until one more sample has ended. False after process_interrupt(), or if none runs. */
bool sample_pool_wait(struct sample_pool *pool);

/* The record of the sample started first, if it has ended, with its tag and how long it took; else
 * NULL. The caller's. */
json_t *sample_pool_take(struct sample_pool *pool, void **tag, double *seconds);

#endif
