/* orders.c - see orders.h. */
#include "harness/hunt/orders.h"

#include "harness/base/memory.h"

#include <stdlib.h>

enum { ROOM = 1 << 15, MOST = ROOM / 4 * 3 };

struct orders {
    struct order entry[ROOM];
    uint64_t count, added, once;
    int level;
};

size_t orders_size(void)
{
    return sizeof(struct orders);
}

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

static void add(struct orders *orders, uint64_t hash, uint64_t times)
{
    if (hash & ((UINT64_C(1) << orders->level) - 1))
        return;
    struct order *order = find(orders, hash);
    orders->count += order->times == 0;
    orders->once -= order->times == 1;
    order->hash = hash;
    order->times += times;
    orders->added += times;
    orders->once += order->times == 1;
    if (orders->count > MOST)
        thin_out(orders);
}

void orders_add(struct orders *orders, uint64_t hash)
{
    add(orders, hash, 1);
}

size_t orders_keep(struct orders *orders, struct order *kept, size_t most, int *level)
{
    size_t count = 0;
    while (orders->count > most)
        thin_out(orders);
    for (int i = 0; i < ROOM; i++)
        if (orders->entry[i].times)
            kept[count++] = orders->entry[i];
    *level = orders->level;
    return count;
}

void orders_join(struct orders *orders, const struct order *kept, size_t count, int level)
{
    while (orders->level < level)
        thin_out(orders);
    for (size_t i = 0; i < count; i++)
        add(orders, kept[i].hash, kept[i].times);
}

uint64_t orders_count(const struct orders *orders)
{
    return orders->count << orders->level;
}

double orders_unseen(const struct orders *orders)
{
    return orders->added ? (double)orders->once / (double)orders->added : 1;
}
