/* order.h - what the order workload found, as text, for comparison with a golden order. */
#ifndef SCHEDLAB_ORDER_H
#define SCHEDLAB_ORDER_H

#include "workload.h"

/* The order in which the goroutines of the last run() ran, ascending runs of two and more written
 * as first-last: "9 0-8"; the yielder of mode=yield is "y". `state` is what workload_order.init()
 * returned; the text belongs to it and is valid until the next call with it. Thread stack, or the
 * main goroutine after run(). */
const char *order_text(void *state);

/* Likewise, the order in which the waiters were about to park; "" in modes without waiters. */
const char *order_parked_text(void *state);

/* True if the workload is this one. */
bool order_is_of(const struct workload *workload);

/* Checks what another program tells of a run with these parameters: the order as order_text(), and
 * its outcome. NULL if each goroutine ran once and operations, answer and digest are those of that
 * order; else what is wrong, in why. Thread stack; allocates nothing of the runtime's. */
const char *order_told_verify(const void *params, const char *told, const struct outcome *out,
                              char *why, size_t why_size);

#endif
