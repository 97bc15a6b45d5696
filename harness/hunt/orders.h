/* orders.h - how many different orders of accesses executions had, in constant memory.
 *
 * Each order is a hash. Only hashes that end in so many zero bits, the level, are kept, and one bit
 * more each time there are too many; their number times a power of two is the estimate. So what two
 * have kept can be joined, as if one had seen all.
 */
#ifndef SCHEDLAB_ORDERS_H
#define SCHEDLAB_ORDERS_H

#include <stddef.h>
#include <stdint.h>

/* A hash that was kept, and how often it was seen. */
struct order {
    uint64_t hash;
    uint64_t times; /* 0: free */
};

struct orders;
size_t orders_size(void); /* of zeroed memory, which is one without orders */
struct orders *orders_new(void);
void orders_free(struct orders *orders);
void orders_add(struct orders *orders, uint64_t hash);
uint64_t orders_count(const struct orders *orders); /* exact until 24,576 */

/* The chance that the next one is new: the share of those seen once. Source: [Good53]. 1: nothing
 * was added. */
double orders_unseen(const struct orders *orders);

/* Copies what is kept of it, `most` at most, to kept. Returns how many; *level is theirs. */
size_t orders_keep(struct orders *orders, struct order *kept, size_t most, int *level);

/* Adds what another one has kept. */
void orders_join(struct orders *orders, const struct order *kept, size_t count, int level);

#endif
