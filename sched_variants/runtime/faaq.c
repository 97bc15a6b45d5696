/* faaq.c - the blocks of the queue by fetch-and-add: faaq.h has the algorithm. */
#include "faaq.h"

static size_t table_bytes(uint64_t size)
{
    return sizeof(struct faaq_table) + size * sizeof(((struct faaq_table *)0)->block[0]);
}

static struct faaq_table *table_new(uint64_t size)
{
    struct faaq_table *table = sched_zalloc(table_bytes(size), "sched");
    table->mask = size - 1;
    return table;
}

/* Pre, here and below: the lock, but for init and fini. relaxed: all changes are made under it. */
static struct faaq_table *table_of(struct faaq *queue)
{
    return atomic_load_explicit(&queue->table, memory_order_relaxed);
}

static struct faaq_block *block_at(const struct faaq_table *table, uint64_t n)
{
    return atomic_load_explicit(&table->block[n & table->mask], memory_order_relaxed);
}

static uint64_t number_of(const struct faaq_block *block)
{
    return atomic_load_explicit(&block->number, memory_order_relaxed);
}

static void place(struct faaq_table *table, uint64_t n, struct faaq_block *block)
{
    atomic_store_explicit(&table->block[n & table->mask], block, memory_order_release); /* FQ5 */
}

/* A late reader of the old table finds another number, or nothing, and comes to the lock. So it is
 * kept: the retired ones together are as large as the newest. */
static void table_grow(struct faaq *queue)
{
    struct faaq_table *old = table_of(queue), *table = table_new(2 * (old->mask + 1));
    for (uint64_t n = queue->first; n <= queue->first + old->mask; n++)
        place(table, n, block_at(old, n));
    table->retired = old;
    atomic_store_explicit(&queue->table, table, memory_order_release); /* FQ5 */
}

/* The last ones are spent last, most times. */
static bool is_spent(const struct faaq_block *block)
{
    for (int i = FAAQ_CELLS; i-- > 0;)
        if (atomic_load_explicit(&block->cell[i], memory_order_relaxed) != FAAQ_SPENT)
            return false;
    return true;
}

/* Takes out those that all have left. Readers have been in no block from `end` on. */
static void retire(struct faaq *queue)
{
    struct faaq_table *table = table_of(queue);
    uint64_t end = atomic_load_explicit(&queue->head, memory_order_relaxed) / FAAQ_CELLS; /* hint */
    for (uint64_t n = queue->first; n < end && n - queue->first <= table->mask; n++) {
        struct faaq_block *block = block_at(table, n);
        if (block && number_of(block) == n && is_spent(block)) {
            atomic_store_explicit(&block->number, FAAQ_NONE, memory_order_relaxed); /* lock */
            block->free = queue->free;
            queue->free = block;
        }
    }
    struct faaq_block *block;
    while ((block = block_at(table, queue->first)) && number_of(block) != queue->first)
        place(table, queue->first++, NULL);
}

static struct faaq_block *block_new(struct faaq *queue)
{
    struct faaq_block *block = queue->free;
    if (block) {
        queue->free = block->free;
        for (int i = 0; i < FAAQ_CELLS; i++)
            atomic_store_explicit(&block->cell[i], NULL, memory_order_relaxed); /* by FQ3 */
        return block;
    }
    block = sched_zalloc(sizeof *block, "grq.cells");
    block->all = queue->all;
    queue->all = block;
    return block;
}

static struct faaq_block *make(struct faaq *queue, uint64_t n)
{
    INVARIANT(n >= queue->first);
    struct faaq_block *block = block_at(table_of(queue), n);
    if (!block || number_of(block) != n) {
        retire(queue);
        while (n - queue->first > table_of(queue)->mask)
            table_grow(queue);
        block = block_new(queue);
        atomic_store_explicit(&block->number, n, memory_order_release); /* FQ3 */
        place(table_of(queue), n, block);
    }
    return block;
}

struct faaq_block *faaq_make(struct faaq *queue, uint64_t n)
{
    lock_acquire(&queue->lock);
    struct faaq_block *block = make(queue, n);
    lock_release(&queue->lock);
    return block;
}

void faaq_make_ahead(struct faaq *queue, uint64_t n)
{
    lock_acquire(&queue->lock);
    /* relaxed, but a step of its own, which no older number can be read by. A block without a
     * writer has a cell that is not spent, so it has not been taken out. */
    if (atomic_fetch_add_explicit(&queue->tail, 0, memory_order_relaxed) <= n * FAAQ_CELLS)
        make(queue, n);
    lock_release(&queue->lock);
}

void faaq_init(struct faaq *queue)
{
    machine_name(&queue->tail, sizeof queue->tail, "grq.tail");
    machine_name(&queue->head, sizeof queue->head, "grq.head");
    machine_name(&queue->lock, sizeof queue->lock, "grq.lock");
    atomic_init(&queue->table, table_new(FAAQ_TABLE));
    faaq_make(queue, 0);
}

void faaq_fini(struct faaq *queue)
{
    struct faaq_table *table = table_of(queue);
    for (struct faaq_block *block = queue->all, *next; block; block = next) {
        next = block->all;
        machine_free(block);
    }
    for (struct faaq_table *retired; table; table = retired) {
        retired = table->retired;
        machine_free(table);
    }
}
