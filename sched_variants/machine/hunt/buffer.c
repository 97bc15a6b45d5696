/* buffer.c - store buffers: what x86 allows (TSO).
 *
 * A thread sees its own stores at once; others see them later, and in the same order. While a
 * thread runs, memory is as it sees it. Where another thread goes on, the stores that are still
 * buffered are taken back, and made again when it runs again. So plain accesses need no help.
 *
 * A read-modify-write, a sequentially consistent store, a full fence and a call into the kernel
 * empty the thread's buffer. A fence on all threads empties all. Otherwise chance decides: it is a
 * hash of the seed, the thread and its moment, so that it stays the same where other switches are
 * left out.
 *
 * Only stores to shared words are buffered. Others are seen at once, and must not be seen before
 * those that came earlier. So the buffer is emptied by a store of many bytes, and by another
 * thread's first access to a word. Stacks cannot be buffered, since this file works on them. A
 * store to a word of a stack that threads share is noted, and empties the buffer where another
 * thread accesses that word.
 *   Source: [Sewell10] x86-TSO.
 */
#include "kernel.h"

#include <string.h>

enum { KEPT_OF = 4, OTHERS_POINT = 256, OTHERS_REST = 16 };

/* Exchanges the bytes of memory with those that were kept. */
static void exchange(struct buffered *store)
{
    char here[BUFFER_BYTES];
    memcpy(here, (void *)store->address, store->size);
    memcpy((void *)store->address, store->bytes, store->size);
    memcpy(store->bytes, here, store->size);
}

/* Memory is no more as the thread sees it; is again. */
static void hide(struct store_buffer *buffer)
{
    for (int i = buffer->count; i-- > 0;)
        exchange(&buffer->store[i]);
}

static void show(struct store_buffer *buffer)
{
    for (int i = 0; i < buffer->count; i++)
        exchange(&buffer->store[i]);
}

static void forget(struct store_buffer *buffer)
{
    buffer->count = 0;
    buffer->beside_count = 0;
}

/* The current thread still sees its own stores to the same words, and others see them later. */
static void empty(struct sim_thread *thread)
{
    struct store_buffer *buffer = &thread->buffer, *own = &hunt.self->buffer;
    if (buffer != own && buffer->count) {
        hide(own);
        for (int i = 0; i < buffer->count; i++)
            memcpy((void *)buffer->store[i].address, buffer->store[i].bytes, buffer->store[i].size);
        show(own);
    }
    forget(buffer);
}

void buffer_empty(void)
{
    forget(&hunt.self->buffer);
}

void buffer_empty_of(int thread)
{
    empty(&hunt.thread[thread]);
}

void buffer_empty_all(void)
{
    for (int i = 0; i < HUNT_THREADS_MAX; i++)
        if (hunt.thread[i].buffer.count)
            empty(&hunt.thread[i]);
}

/* The oldest is seen by others. */
static void make_room(struct store_buffer *buffer)
{
    memmove(&buffer->store[0], &buffer->store[1],
            (size_t)--buffer->count * sizeof buffer->store[0]);
}

void buffer_store(uintptr_t address, size_t size)
{
    struct store_buffer *buffer = &hunt.self->buffer;
    if (buffer->count == BUFFER_STORES)
        make_room(buffer);
    struct buffered *store = &buffer->store[buffer->count++];
    store->address = address;
    store->size = (uint32_t)size;
    memcpy(store->bytes, (void *)address, size); /* as others see it */
}

void buffer_beside(uintptr_t address)
{
    struct store_buffer *buffer = &hunt.self->buffer;
    if (buffer->count == 0)
        return;
    if (buffer->beside_count == BUFFER_BESIDE)
        forget(buffer);
    else
        buffer->beside[buffer->beside_count++] = address / BUFFER_WORD;
}

void buffer_meets(uintptr_t address)
{
    for (int i = 0; i < HUNT_THREADS_MAX; i++) {
        const struct store_buffer *buffer = &hunt.thread[i].buffer;
        for (int at = 0; &hunt.thread[i] != hunt.self && at < buffer->beside_count; at++)
            if (buffer->beside[at] == address / BUFFER_WORD)
                empty(&hunt.thread[i]);
    }
}

static uint64_t chance(const struct sim_thread *thread)
{
    uint64_t state = hunt_plan.seed ^ ((uint64_t)thread->index << 32 | thread->at);
    return hunt_random(&state);
}

void buffer_leaves(struct sim_thread *from)
{
    if (from->buffer.count && chance(from) % KEPT_OF == 0)
        forget(&from->buffer);
    hide(&from->buffer);
}

void buffer_comes(struct sim_thread *to)
{
    show(&to->buffer);
}

void buffer_point(bool rests)
{
    uint64_t odds = rests ? OTHERS_REST : OTHERS_POINT;
    if ((chance(hunt.self) >> 8) % odds != 0)
        return;
    for (int i = 0; i < HUNT_THREADS_MAX; i++)
        if (&hunt.thread[i] != hunt.self && hunt.thread[i].buffer.count)
            empty(&hunt.thread[i]);
}
