/* orders.c - see orders.h. */
#include "harness/hunt/orders.h"

#include "harness/base/memory.h"

#include <stdlib.h>

enum { ROOM = 1 << 15, MOST = ROOM / 4 * 3 };

struct order {
    uint64_t hash;
    uint64_t times; /* 0: free */
};

struct orders {
    struct order entry[ROOM];
    uint64_t count, added, once;
    int level; /* zero bits at the end of all that are kept */
};

struct orders *orders_new(void)
{
    return xcalloc(1, sizeof(struct orders));
}

void orders_free(struct orders *orders)
{
    free(orders);
}

static struct order *find(struct orders *orders, uint64_t hash)
{
    uint64_t at = (hash >> 32) % ROOM;
    while (orders->entry[at].times && orders->entry[at].hash != hash)
        at = (at + 1) % ROOM;
    return &orders->entry[at];
}

static void thin_out(struct orders *orders)
{
    struct orders *fewer = orders_new();
    fewer->level = orders->level + 1;
    for (int i = 0; i < ROOM; i++) {
        const struct order *order = &orders->entry[i];
        if (!order->times || order->hash & ((UINT64_C(1) << fewer->level) - 1))
            continue;
        *find(fewer, order->hash) = *order;
        fewer->count++;
        fewer->added += order->times;
        fewer->once += order->times == 1;
    }
    *orders = *fewer;
    orders_free(fewer);
}

void orders_add(struct orders *orders, uint64_t hash)
{
    if (hash & ((UINT64_C(1) << orders->level) - 1))
        return;
    struct order *order = find(orders, hash);
    orders->added++;
    order->hash = hash;
    order->times++;
    orders->count += order->times == 1;
    orders->once += order->times == 1;
    orders->once -= order->times == 2;
    if (orders->count > MOST)
        thin_out(orders);
}

uint64_t orders_count(const struct orders *orders)
{
    return orders->count << orders->level;
}

double orders_unseen(const struct orders *orders)
{
    return orders->added ? (double)orders->once / (double)orders->added : 1;
}
