/* floor_core.c - floor:core, what the machine charges for a workload where a core serves itself:
 * hand-written for each, with no scheduler in it.
 *
 *   a goroutine that waits     a stack, left by the project's own context switch (ctx.h); who runs
 *                              next is known, so that there are no queues and no channels
 *   a goroutine that only runs a context prepared on one warm stack, entered and left
 *   an uncontended lock        a compare-and-swap and a store
 *   a task                     a plain call, which the compiler may inline
 *
 * Work of independent parts is dealt out to as many threads as there are workers: subtrees of
 * fork/join, goroutines that do not wait for each other. All else is on one core, for to share it
 * would cost more than it saves.
 */
#include "crew.h"
#include "forkjoin.h"
#include "goroutines.h"

#include "ctx.h"

enum {
    STACK_SIZE = 8192,
    STACK_STEP = STACK_SIZE + 192, /* tops of stacks shall not meet in one set of the cache */
    LINE = 64,
    PARTS_MAX = 1024, /* of fork/join, to be dealt out */
    PARTS_DEPTH = 8,
    SPAWNS_SHARED = 1000, /* fewer take less time than to share them */
};

static int workers;

/* Contexts ------------------------------------------------------------------------------------ */

/* Neighbours may belong to other threads. */
struct context {
    _Alignas(LINE) void *sp;
    void (*main)(struct context *self); /* must not return */
    void *arg;
    struct context *next;
};

static _Noreturn void context_entry(struct g *self)
{
    struct context *context = (struct context *)self;
    context->main(context);
    abort();
}

static void context_prepare(struct context *context, char *stack, void (*main_fn)(struct context *),
                            void *arg)
{
    context->sp = ctx_prepare(stack + STACK_SIZE, context_entry);
    context->main = main_fn;
    context->arg = arg;
}

/* `to` travels with the switch, for a fresh one knows nothing else; ctx.h means the G left. */
static inline void context_switch(struct context *from, struct context *to)
{
    ctx_switch_raw(&from->sp, to->sp, (struct g *)to);
}

/* On cache lines of its own, not zeroed. */
static void *lines_alloc(uint64_t count, size_t size)
{
    void *memory = aligned_alloc(LINE, (count * size + LINE) / LINE * LINE);
    if (!memory)
        peer_fail("no memory for %" PRIu64 " times %zu bytes", count, size);
    return memory;
}

static char *stacks_make(uint64_t count)
{
    return lines_alloc(count, STACK_STEP);
}

/* How many threads have a part each. */
static int threads_for(uint64_t parts)
{
    return parts < (uint64_t)workers ? (int)(parts ? parts : 1) : workers;
}

/* spawn --------------------------------------------------------------------------------------- */

struct child {
    struct spawn *spawn;
    uint64_t number;
    struct context *parent;
};

static void child_main(struct context *self)
{
    struct child *child = self->arg;
    child->spawn->marks[child->number] += child->number + 1;
    context_switch(self, child->parent);
}

static void child_run(struct child *child, char *stack)
{
    struct context parent, context;
    child->parent = &parent;
    context_prepare(&context, stack, child_main, child);
    context_switch(&parent, &context);
}

struct spawning {
    struct spawn *spawn;
    struct child *children; /* of a batch: what is started waits here */
    char *stacks;
    int threads;
};

static void spawn_share(void *arg, int index)
{
    struct spawning *all = arg;
    struct spawn *spawn = all->spawn;
    uint64_t parts = (uint64_t)all->threads, part = (uint64_t)index;
    uint64_t first = spawn->n * part / parts, end = spawn->n * (part + 1) / parts;
    char *stack = all->stacks + part * STACK_STEP;
    for (uint64_t i = first; i < end && spawn->batch; i++)
        all->children[i] = (struct child){.spawn = spawn, .number = i};
    for (uint64_t i = first; i < end; i++) {
        struct child one = {.spawn = spawn, .number = i};
        child_run(spawn->batch ? &all->children[i] : &one, stack);
    }
}

static void spawn_run(void *state, struct peer_outcome *out)
{
    struct spawn *spawn = state;
    int threads = threads_for(spawn->batch ? spawn->n / SPAWNS_SHARED : spawn->creators);
    struct spawning all = {.spawn = spawn, .threads = threads};
    all.children = peer_alloc(spawn->batch ? spawn->n : 1, sizeof *all.children);
    all.stacks = stacks_make((uint64_t)threads);
    out->time_ns = crew_run(threads, spawn_share, &all);
    free(all.children);
    free(all.stacks);
    spawn_finish(spawn, out);
}

/* pingpong ------------------------------------------------------------------------------------ */

struct play {
    const struct pingpong *all;
    struct pair *pair;
    struct context ping, pong;
    uint64_t message; /* in the air */
};

static void pong_main(struct context *self)
{
    struct play *play = self->arg;
    uint64_t tag = play->pair->tag;
    for (uint64_t i = 0;; i++) {
        play->pair->pong_wrong += play->message != (tag | i);
        play->message = tag | (2 * (play->message - tag) + 1);
        context_switch(self, &play->ping);
    }
}

static void ping(struct play *play)
{
    struct pair *pair = play->pair;
    for (uint64_t i = 0; i < play->all->rounds; i++) {
        play->message = pair->tag | i;
        context_switch(&play->ping, &play->pong);
        pair->ping_wrong += play->message != (pair->tag | (2 * i + 1));
        pair->sum += play->message - pair->tag;
    }
}

static void pingpong_run(void *state, struct peer_outcome *out)
{
    struct pingpong *all = state;
    char *stack = stacks_make(1);
    int64_t start = peer_now();
    for (uint64_t i = 0; i < all->pairs; i++) {
        struct play play = {.all = all, .pair = &all->pair[i]};
        play.pair->sum = 0;
        context_prepare(&play.pong, stack, pong_main, &play);
        ping(&play);
    }
    out->time_ns = peer_now() - start;
    free(stack);
    pingpong_finish(all, out);
}

/* ring ---------------------------------------------------------------------------------------- */

struct circle {
    struct ring *ring;
    struct context home, *nodes;
    int64_t token;
};

static void node_main(struct context *self)
{
    struct circle *circle = self->arg;
    struct ring *ring = circle->ring;
    uint64_t index = (uint64_t)(self - circle->nodes);
    for (;;) {
        ring->visits[index]++;
        if (circle->token == 0) {
            ring->last_holder = index;
            context_switch(self, &circle->home);
        }
        circle->token--;
        context_switch(self, self->next);
    }
}

static void ring_run(void *state, struct peer_outcome *out)
{
    struct circle circle = {.ring = state};
    uint64_t n = circle.ring->n;
    char *stacks = stacks_make(n);
    circle.nodes = lines_alloc(n, sizeof *circle.nodes);
    memset(circle.ring->visits, 0, n * sizeof *circle.ring->visits);
    for (uint64_t i = 0; i < n; i++) {
        circle.nodes[i].next = &circle.nodes[(i + 1) % n];
        context_prepare(&circle.nodes[i], stacks + i * STACK_STEP, node_main, &circle);
    }
    circle.token = circle.ring->hops;
    int64_t start = peer_now();
    context_switch(&circle.home, &circle.nodes[0]);
    out->time_ns = peer_now() - start;
    free(circle.nodes);
    free(stacks);
    ring_finish(circle.ring, out);
}

/* yield --------------------------------------------------------------------------------------- */

struct yielder {
    _Alignas(LINE) uint64_t share, done;
    struct context *before, *home; /* before: who yields to this one */
};

struct yielding {
    struct context *contexts;
    struct yielder *yielders;
    uint64_t count;
    int threads;
};

/* A yielder that ends leaves the circle; the last one goes home. */
static void yielder_main(struct context *self)
{
    struct yielder *yielder = self->arg;
    while (yielder->done < yielder->share) {
        yielder->done++;
        if (self->next != self) /* who is alone stays */
            context_switch(self, self->next);
    }
    if (self->next == self)
        context_switch(self, yielder->home);
    yielder->before->next = self->next;
    ((struct yielder *)self->next->arg)->before = yielder->before;
    context_switch(self, self->next);
}

/* The index-th thread's circle. */
static void yield_share(void *arg, int index)
{
    struct yielding *all = arg;
    struct context home;
    uint64_t parts = (uint64_t)all->threads, part = (uint64_t)index;
    uint64_t first = all->count * part / parts, end = all->count * (part + 1) / parts;
    for (uint64_t i = first; i < end; i++)
        all->yielders[i].home = &home;
    context_switch(&home, &all->contexts[first]);
}

static void yield_close_circles(struct yielding *all)
{
    for (int t = 0; t < all->threads; t++) {
        uint64_t parts = (uint64_t)all->threads, part = (uint64_t)t;
        uint64_t first = all->count * part / parts, end = all->count * (part + 1) / parts;
        for (uint64_t i = first; i < end; i++) {
            all->contexts[i].next = &all->contexts[i + 1 < end ? i + 1 : first];
            all->yielders[i].before = &all->contexts[i > first ? i - 1 : end - 1];
        }
    }
}

static void yield_run(void *state, struct peer_outcome *out)
{
    struct yield *yield = state;
    /* A yielder that is alone in a circle has no other to give way to. */
    struct yielding all = {.count = yield->yielders, .threads = threads_for(yield->yielders / 2)};
    char *stacks = stacks_make(all.count);
    all.contexts = lines_alloc(all.count, sizeof *all.contexts);
    all.yielders = lines_alloc(all.count, sizeof *all.yielders);
    for (uint64_t i = 0; i < all.count; i++) {
        all.yielders[i] = (struct yielder){.share = share_of(yield->n, yield->yielders, i)};
        context_prepare(&all.contexts[i], stacks + i * STACK_STEP, yielder_main, &all.yielders[i]);
    }
    yield_close_circles(&all);
    out->time_ns = crew_run(all.threads, yield_share, &all);
    for (uint64_t i = 0; i < all.count; i++)
        yield->done[i] = all.yielders[i].done;
    free(all.yielders);
    free(all.contexts);
    free(stacks);
    yield_finish(yield, out);
}

/* prodcons ------------------------------------------------------------------------------------ */

struct stream {
    struct prodcons *all;
    struct context producer, consumer;
    uint64_t *ring;
    uint64_t filled;
};

static void consumer_main(struct context *self)
{
    struct stream *stream = self->arg;
    struct prodcons *all = stream->all;
    for (;;) {
        for (uint64_t i = 0; i < stream->filled; i++) {
            all->wrong += stream->ring[i] != all->received++;
            all->sum += stream->ring[i];
            work_if(all->work);
        }
        stream->filled = 0;
        context_switch(self, &stream->producer);
    }
}

/* The one fills the buffer, the other empties it. */
static void prodcons_run(void *state, struct peer_outcome *out)
{
    struct stream stream = {.all = state};
    struct prodcons *all = stream.all;
    uint64_t room = all->buffer ? all->buffer : 1;
    char *stack = stacks_make(1);
    stream.ring = peer_alloc(room, sizeof *stream.ring);
    all->received = all->sum = all->wrong = 0;
    context_prepare(&stream.consumer, stack, consumer_main, &stream);
    int64_t start = peer_now();
    for (uint64_t i = 0; i < all->messages; i++) {
        work_if(all->work);
        stream.ring[stream.filled++] = i;
        if (stream.filled == room || i + 1 == all->messages)
            context_switch(&stream.producer, &stream.consumer);
    }
    out->time_ns = peer_now() - start;
    free(stream.ring);
    free(stack);
    prodcons_finish(all, out);
}

/* sieve --------------------------------------------------------------------------------------- */

/* Filter k passes numbers on to filter k + 1 by switching to it; who drops one, or takes the last
 * prime so far out, switches to the generator for the next. */
struct filters {
    struct sieve *sieve;
    struct context generator, *filter; /* filter[k - 1] is stage k of sieve->sent */
    char *stacks;
    uint64_t number, found;
};

static void filter_main(struct context *self);

/* A number that has passed all filters. */
static void prime_take(struct filters *all)
{
    uint64_t k = all->found++;
    all->sieve->found[k] = all->number;
    if (all->found < all->sieve->primes)
        context_prepare(&all->filter[k], all->stacks + k * STACK_STEP, filter_main, all);
}

static void filter_main(struct context *self)
{
    struct filters *all = self->arg;
    uint64_t k = (uint64_t)(self - all->filter) + 1, prime = all->sieve->found[k - 1];
    for (;;) {
        struct context *next = &all->generator;
        if (all->number % prime != 0) {
            all->sieve->sent[k]++;
            if (k < all->found)
                next = self + 1;
            else
                prime_take(all);
        }
        context_switch(self, next);
    }
}

static void sieve_run(void *state, struct peer_outcome *out)
{
    struct filters all = {.sieve = state};
    struct sieve *sieve = all.sieve;
    all.filter = lines_alloc(sieve->primes, sizeof *all.filter);
    all.stacks = stacks_make(sieve->primes);
    memset(sieve->sent, 0, sieve->primes * sizeof *sieve->sent);
    int64_t start = peer_now();
    for (all.number = 2; all.number <= sieve->last_prime; all.number++) {
        sieve->sent[0]++;
        if (all.found > 0)
            context_switch(&all.generator, &all.filter[0]);
        else
            prime_take(&all);
    }
    out->time_ns = peer_now() - start;
    free(all.filter);
    free(all.stacks);
    sieve_finish(sieve, all.found, out);
}

/* mutex --------------------------------------------------------------------------------------- */

static void mutex_run(void *state, struct peer_outcome *out)
{
    struct locks *all = state;
    atomic_int lock = 0;
    for (uint64_t i = 0; i < all->goroutines; i++) {
        uint64_t share = share_of(all->n, all->goroutines, i), locked = 0;
        for (; locked < share; locked++) {
            int free_lock = 0;
            if (!atomic_compare_exchange_strong_explicit(&lock, &free_lock, 1, memory_order_acquire,
                                                         memory_order_relaxed))
                peer_fail("mutex: the lock is held, and there is one thread");
            locks_increment(all);
            atomic_store_explicit(&lock, 0, memory_order_release);
            work_if(all->think);
        }
        all->locked[i] = locked;
    }
    locks_finish(all, out);
}

/* Fork/join ----------------------------------------------------------------------------------- */

/* Independent parts of a tree, which threads take one by one; with one thread a single part. */
struct parts {
    const void *tree;
    void (*visit)(struct parts *parts, uint64_t part, uint64_t sums[2]);
    uint64_t part[PARTS_MAX]; /* a number that visit() understands */
    struct queens boards[PARTS_MAX];
    uint64_t count, sums[2];
    _Alignas(LINE) _Atomic uint64_t next;     /* relaxed: it only deals parts out */
    _Alignas(LINE) _Atomic uint64_t total[2]; /* relaxed: the crew's end publishes it */
};

static void parts_visit(void *arg, int index)
{
    struct parts *parts = arg;
    uint64_t sums[2] = {0, 0}, i;
    (void)index;
    while ((i = atomic_fetch_add_explicit(&parts->next, 1, memory_order_relaxed)) < parts->count)
        parts->visit(parts, i, sums);
    for (int k = 0; k < 2; k++)
        atomic_fetch_add_explicit(&parts->total[k], sums[k], memory_order_relaxed);
}

/* Returns how long it took. */
static int64_t parts_run(struct parts *parts)
{
    int64_t time_ns = crew_run(threads_for(parts->count), parts_visit, parts);
    for (int k = 0; k < 2; k++)
        parts->sums[k] += atomic_load_explicit(&parts->total[k], memory_order_relaxed);
    return time_ns;
}

static struct parts *parts_new(const void *tree,
                               void (*visit)(struct parts *parts, uint64_t part, uint64_t sums[2]))
{
    struct parts *parts = lines_alloc(1, sizeof *parts);
    memset(parts, 0, sizeof *parts);
    parts->tree = tree;
    parts->visit = visit;
    return parts;
}

/* The compiler may inline this function into itself, unlike that of `serial`. */
static uint64_t fib_plain(uint64_t n)
{
    return n <= 2 ? n > 0 : fib_plain(n - 1) + fib_plain(n - 2);
}

static void fib_visit(struct parts *parts, uint64_t i, uint64_t sums[2])
{
    sums[0] += fib_plain(parts->part[i]);
}

static void fib_cut(struct parts *parts, uint64_t n, int depth)
{
    if (depth == 0 || n <= 2) {
        parts->part[parts->count++] = n;
        return;
    }
    fib_cut(parts, n - 1, depth - 1);
    fib_cut(parts, n - 2, depth - 1);
}

static void fib_run(void *state, struct peer_outcome *out)
{
    const struct fib *fib = state;
    struct parts *parts = parts_new(fib, fib_visit);
    fib_cut(parts, fib->n, workers > 1 ? PARTS_DEPTH : 0);
    out->time_ns = parts_run(parts);
    fib_finish(fib, parts->sums[0], out);
    free(parts);
}

static void queens_visit(struct parts *parts, uint64_t i, uint64_t sums[2])
{
    struct queens *root = &parts->boards[i];
    struct leaf_queens below = leaf_queens_search(root->board, root->n, root->row);
    sums[0] += below.solutions;
    sums[1] += below.placements;
}

static void queens_cut(struct parts *parts, const struct queens *root, int rows)
{
    if (rows == 0 || root->row == root->n) {
        parts->boards[parts->count++] = *root;
        return;
    }
    int column = -1;
    while ((column = leaf_queens_next(root->board, root->n, root->row, column + 1)) < root->n) {
        struct queens child = queens_place(root, column);
        parts->sums[1]++;
        queens_cut(parts, &child, rows - 1);
    }
}

static void queens_run(void *state, struct peer_outcome *out)
{
    const struct queens *root = state;
    struct parts *parts = parts_new(root, queens_visit);
    queens_cut(parts, root, workers > 1 ? 2 : 0);
    out->time_ns = parts_run(parts);
    queens_finish((struct leaf_queens){parts->sums[0], parts->sums[1]}, out);
    free(parts);
}

static uint64_t skynet_plain(uint64_t number, uint64_t leaves, uint32_t children)
{
    if (leaves == 1)
        return number;
    uint64_t sum = 0, below = leaves / children;
    for (uint32_t i = 0; i < children; i++)
        sum += skynet_plain(number + i * below, below, children);
    return sum;
}

static void skynet_visit(struct parts *parts, uint64_t i, uint64_t sums[2])
{
    const struct skynet *tree = parts->tree;
    uint64_t leaves = tree->leaves / parts->count;
    sums[0] += skynet_plain(parts->part[i] * leaves, leaves, tree->children);
}

/* The parts are the children of the root. */
static void skynet_run(void *state, struct peer_outcome *out)
{
    const struct skynet *skynet = state;
    struct parts *parts = parts_new(skynet, skynet_visit);
    parts->count = workers > 1 && skynet->leaves > 1 ? skynet->children : 1;
    for (uint64_t i = 0; i < parts->count; i++)
        parts->part[i] = i;
    out->time_ns = parts_run(parts);
    skynet_finish(skynet, parts->sums[0], out);
    free(parts);
}

static const struct peer_workload workloads[] = {
    {"spawn", spawn_init, spawn_run, NULL},
    {"yield", yield_init, yield_run, NULL},
    {"pingpong", pingpong_init, pingpong_run, NULL},
    {"ring", ring_init, ring_run, NULL},
    {"prodcons", prodcons_init, prodcons_run, NULL},
    {"sieve", sieve_init, sieve_run, NULL},
    {"mutex", locks_init, mutex_run, NULL},
    {"fib", fib_init, fib_run, NULL},
    {"nqueens", queens_init, queens_run, NULL},
    {"skynet", skynet_init, skynet_run, NULL},
    {NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
    struct peer_run run = peer_parse(argc, argv);
    workers = run.workers;
    peer_measure(&run, workloads);
    return peer_print(&run, "no scheduler", "hand-written");
}
