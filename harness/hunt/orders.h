/* orders.h - how many different orders of accesses executions had, in constant memory.
 *
 * Each order is a hash. Only hashes that end in so many zero bits are kept, and one bit more each
 * time there are too many; their number times a power of two is the estimate.
 */
#ifndef SCHEDLAB_ORDERS_H
#define SCHEDLAB_ORDERS_H

#include <stdint.h>

struct orders;
struct orders *orders_new(void);
void orders_free(struct orders *orders);
void orders_add(struct orders *orders, uint64_t hash);
uint64_t orders_count(const struct orders *orders); /* exact until 24,576 */

/* The chance that the next one is new: the share of those seen once. Source: [Good53]. 1: nothing
 * was added. */
double orders_unseen(const struct orders *orders);

#endif
