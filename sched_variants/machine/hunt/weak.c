/* weak.c - words with a history: what C11 allows, but for load buffering. So it has all that
 * aarch64 shows but for that, and more, such as readers that acquire and disagree on the order of
 * two stores (IRIW).
 *
 * Each word that atomics access keeps its last KEPT stores, in modification order. The newest one
 * is what memory holds. A thread's view says which events of each thread it knows, by number. A
 * store
 * notes for each thread when that thread first saw it. So a thread may read any store that is not
 * older than the newest one that an event in its view has seen: this is coherence.
 *
 *   release store   carries the view of its thread; a relaxed one that of the last release fence
 *   acquire load    adds to its thread's view the one that the store carries; a relaxed one keeps
 *                   it for the next acquire fence
 *   relaxed store   may come in modification order before newer ones that its thread knows not of
 *   read-modify-write  reads the newest store, and carries that one's view too (release sequence)
 *   seq_cst fence   adds a view that all such fences share, and that becomes its thread's
 *   seq_cst load    may read nothing older than the last seq_cst store to the word, and than what
 *                   any seq_cst fence knows; fences know earlier seq_cst stores likewise
 *
 * A call into the kernel is a seq_cst fence of its thread, and so is the return of one that waited,
 * and the arrival of an interrupt. A new thread has its maker's view. machine_fence_all() is such a
 * fence of each thread.
 *
 * A plain load reads memory. In a program without data races this is the only value that it may
 * read: writes before it are ordered, and all others come after it. Races of plain data are for
 * ThreadSanitizer to find (CONFIG=tsan). A plain store changes the newest store of its word, which
 * its thread knows, for the same reason.
 *
 * Stores are seen in a finite time: what was overwritten AGE points ago is read by nobody. Where
 * all PLACES are in use, a further word is sequentially consistent, and orders all else.
 *
 *   Source: [Luo21] C11Tester: histories, chosen at random; [Kang17]: views, stores that come
 *   earlier in modification order, and the view of seq_cst fences; [Lahav17] for what seq_cst says.
 *   Differs: views are numbers of events; threads promise no stores, so nothing is read before it
 *   is stored (LB); a store by the same thread continues its release sequence, as in C11 and not
 *   in C20, and then keeps all that the sequence carries.
 */
#include "kernel.h"
#include "machine.h"
#include "sim/hook_keep.h"

#include <string.h>

enum { KEPT = 8, PLACES = 4096, TABLE_BITS = 14, TABLE = 1 << TABLE_BITS, AGE = 256 };
enum { SC = HUNT_THREADS_MAX, SLOTS }; /* of views: threads, and the order of seq_cst */

struct view {
    uint32_t at[SLOTS]; /* up to this event; 0: nothing */
};

struct store {
    uint64_t value; /* but of the newest, which memory has */
    uint64_t when;  /* points of the execution before it */
    uint64_t heads; /* threads whose release began the sequence that it is in, by bits */
    bool continues; /* a read-modify-write: nothing comes between it and the store before */
    struct view carries, seen;
};

struct place {
    uintptr_t address;
    size_t size;
    int count;           /* 0: to begin anew */
    uint8_t order[KEPT]; /* indices of stores, oldest first */
    struct store store[KEPT];
};

struct knowledge {
    struct view now;
    struct view acquired; /* for the next acquire fence */
    struct view released; /* by the last release fence */
    bool has_released;
};

static struct knowledge known[HUNT_THREADS_MAX];
static struct view fenced;
static uint32_t sc_events;
static struct place places[PLACES];
static int place_count;
static uint16_t table[TABLE]; /* by address: index of a place + 1 */
static int slots;             /* of threads, in use */

bool hunt_weak;

void weak_begin(void)
{
    memset(known, 0, sizeof known);
    memset(table, 0, sizeof table);
    memset(&fenced, 0, sizeof fenced);
    sc_events = 0;
    place_count = 0;
    slots = 0;
}

static void add(struct view *to, const struct view *from)
{
    for (int i = 0; i < slots; i++)
        if (to->at[i] < from->at[i])
            to->at[i] = from->at[i];
    if (to->at[SC] < from->at[SC])
        to->at[SC] = from->at[SC];
}

static struct knowledge *self(void)
{
    return &known[hunt.self->index];
}

/* The number of the current thread's next event. */
static uint32_t event_next(void)
{
    return ++self()->now.at[hunt.self->index];
}

/* Orders -------------------------------------------------------------------------------------- */

static void fence_of(struct knowledge *thread)
{
    add(&thread->now, &thread->acquired);
    add(&thread->now, &fenced);
    thread->now.at[SC] = ++sc_events;
    fenced = thread->now;
    thread->released = thread->now;
    thread->has_released = true;
}

void weak_fence(int order)
{
    struct knowledge *thread = self();
    if (order == ORDER_SEQ_CST)
        fence_of(thread);
    if (order == ORDER_ACQUIRE || order == ORDER_CONSUME || order == ORDER_ACQ_REL)
        add(&thread->now, &thread->acquired);
    if (order == ORDER_RELEASE || order == ORDER_ACQ_REL) {
        thread->released = thread->now;
        thread->has_released = true;
    }
}

/* The caller comes last too, so that it knows of all. */
void weak_fence_all(void)
{
    fence_of(self());
    for (int i = 0; i < slots; i++)
        if (hunt.thread[i].state != THREAD_FREE)
            fence_of(&known[i]);
    fence_of(self());
}

/* Its number may be that of a thread that is gone: it does not go on with that one's release
 * sequences. */
static void heads_forget(const struct sim_thread *thread)
{
    for (int i = 0; i < place_count; i++)
        for (int k = 0; k < KEPT; k++)
            places[i].store[k].heads &= ~thread_bit(thread);
}

void weak_thread(const struct sim_thread *thread)
{
    if (slots <= thread->index)
        slots = thread->index + 1;
    else
        heads_forget(thread);
    if (!hunt.self)
        return;
    uint32_t last = known[thread->index].now.at[thread->index];
    known[thread->index] = *self();
    if (known[thread->index].now.at[thread->index] < last)
        known[thread->index].now.at[thread->index] = last;
}

static bool acquires(int order)
{
    return order != ORDER_RELAXED && order != ORDER_RELEASE;
}

static bool releases(int order)
{
    return order >= ORDER_RELEASE;
}

/* Places -------------------------------------------------------------------------------------- */

static uint64_t memory_at(uintptr_t address, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, (void *)address, size);
    return value;
}

static struct store *store_at(struct place *place, int index)
{
    return &place->store[place->order[index]];
}

/* The oldest store is what memory holds, and nobody's. */
static void place_begin(struct place *place, uintptr_t address, size_t size)
{
    place->address = address;
    place->size = size;
    place->count = 1;
    for (int i = 0; i < KEPT; i++)
        place->order[i] = (uint8_t)i;
    place->store[0] = (struct store){0};
}

/* NULL: there is no room. */
static struct place *place_of(uintptr_t address, size_t size)
{
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLE_BITS));
    while (table[at] && places[table[at] - 1].address != address)
        at = (at + 1) % TABLE;
    if (!table[at]) {
        if (place_count == PLACES)
            return NULL;
        table[at] = (uint16_t)++place_count;
        places[place_count - 1].count = 0;
    }
    struct place *place = &places[table[at] - 1];
    if (!place->count || place->size != size)
        place_begin(place, address, size);
    return place;
}

void weak_forget(uintptr_t address, size_t size)
{
    for (int i = 0; i < place_count; i++)
        if (places[i].address - address < size)
            places[i].count = 0;
}

/* The index of the oldest store that may be read: nothing in the view has seen a newer one, and its
 * successor is young. */
static int oldest_of(struct place *place, const struct view *view)
{
    int at = place->count - 1;
    for (; at > 0; at--) {
        const struct store *store = store_at(place, at);
        if (hunt.points - store->when > AGE)
            return at;
        for (int i = 0; i < slots; i++)
            if (store->seen.at[i] && store->seen.at[i] <= view->at[i])
                return at;
        if (store->seen.at[SC] && store->seen.at[SC] <= view->at[SC])
            return at;
    }
    return at;
}

static void see(struct store *store)
{
    uint32_t *seen = &store->seen.at[hunt.self->index];
    uint32_t event = event_next();
    if (!*seen)
        *seen = event;
}

static void take(const struct store *store, int order)
{
    struct knowledge *thread = self();
    add(acquires(order) ? &thread->now : &thread->acquired, &store->carries);
}

/* Accesses ------------------------------------------------------------------------------------ */

uint64_t weak_load(uintptr_t address, size_t size, int order)
{
    struct place *place = place_of(address, size);
    if (!place) {
        weak_fence(ORDER_SEQ_CST);
        return memory_at(address, size);
    }
    struct view view = self()->now;
    if (order == ORDER_SEQ_CST) {
        add(&view, &fenced);
        view.at[SC] = UINT32_MAX;
    }
    int newest = place->count - 1, back = choose_older(newest - oldest_of(place, &view));
    struct store *store = store_at(place, newest - back);
    see(store);
    take(store, order);
    return back ? store->value : memory_at(address, size);
}

/* A new store, at this index: those from there on are newer. */
static struct store *insert(struct place *place, int index)
{
    if (place->count == KEPT) {
        uint8_t oldest = place->order[0];
        memmove(&place->order[0], &place->order[1], KEPT - 1);
        place->order[KEPT - 1] = oldest;
        place->count--;
        index--;
    }
    uint8_t fresh = place->order[place->count];
    memmove(&place->order[index + 1], &place->order[index], (size_t)(place->count - index));
    place->order[index] = fresh;
    place->count++;
    struct store *store = &place->store[fresh];
    *store = (struct store){.when = hunt.points};
    return store;
}

static struct store *store_new(struct place *place, int index, int order)
{
    struct knowledge *thread = self();
    struct store *store = insert(place, index);
    see(store);
    store->carries = releases(order) ? thread->now : thread->released;
    if (releases(order) || thread->has_released)
        store->heads = thread_bit(hunt.self);
    if (order == ORDER_SEQ_CST)
        store->seen.at[SC] = ++sc_events;
    return store;
}

uint64_t weak_store(uintptr_t address, size_t size, uint64_t value, int order)
{
    struct place *place = place_of(address, size);
    if (!place) {
        weak_fence(ORDER_SEQ_CST);
        return value;
    }
    struct view view = self()->now;
    if (order == ORDER_SEQ_CST)
        view.at[SC] = UINT32_MAX;
    uint64_t newest = memory_at(address, size);
    int after = oldest_of(place, &view);
    int index = place->count - choose_earlier(place->count - 1 - after);
    while (index < place->count && store_at(place, index)->continues)
        index++;
    const struct store before = *store_at(place, index - 1);
    bool is_newest = index == place->count;
    if (is_newest)
        store_at(place, index - 1)->value = newest;
    struct store *store = store_new(place, index, order);
    if (before.heads & thread_bit(hunt.self)) {
        add(&store->carries, &before.carries);
        store->heads |= thread_bit(hunt.self);
    }
    if (is_newest)
        return value;
    store->value = value;
    return newest;
}

void weak_update(uintptr_t address, size_t size, int order, bool writes)
{
    struct place *place = place_of(address, size);
    if (!place) {
        weak_fence(ORDER_SEQ_CST);
        return;
    }
    struct store *before = store_at(place, place->count - 1);
    see(before);
    take(before, order);
    if (!writes)
        return;
    const struct view carried = before->carries;
    uint64_t heads = before->heads;
    before->value = memory_at(address, size);
    struct store *store = store_new(place, place->count, order);
    add(&store->carries, &carried);
    store->heads |= heads;
    store->continues = true;
}
