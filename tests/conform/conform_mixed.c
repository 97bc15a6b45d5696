/* conform_mixed.c - conformance cases for fork/join, and seeded stress of everything at once; see
 * conformance.c. */
#include "conform.h"
#include "tests/support/support.h"

/* Fork/join --------------------------------------------------------------------------------- */

struct fib_task {
    struct fj_task task;
    int n;
    uint64_t result;
};

static void fib(struct fj_frame *up, struct fj_task *task)
{
    struct fib_task *self = FJ_SELF(task, struct fib_task);
    if (self->n < 2) {
        self->result = (uint64_t)self->n;
        return;
    }
    struct fib_task x = {.n = self->n - 1}, y = {.n = self->n - 2};
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &x.task, fib);
    fib(&frame, &y.task);
    fj_sync(&frame);
    self->result = x.result + y.result;
}

static void fib_region(struct fib_task *root)
{
    struct fj_frame up;
    fj_begin(&up);
    fib(&up, &root->task);
    fj_end(&up);
}

static void conform_forkjoin_fib(void *arg)
{
    const struct conform_cell *cell = arg;
    static const uint64_t fib_of[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377};
    int n = cell->scale > 1 ? 14 : 10;
    for (int i = 0; i <= n; i++) {
        struct fib_task root = {.n = i};
        fib_region(&root);
        CHECK(root.result == fib_of[i]);
    }
}

enum { WIDE = 60 };

struct wide_task {
    struct fj_task task;
    uint64_t value, square;
};

static void wide_leaf(struct fj_frame *up, struct fj_task *task)
{
    struct wide_task *self = FJ_SELF(task, struct wide_task);
    (void)up;
    self->square = self->value * self->value;
    go_work(self->value % 8 * 50);
}

/* Many children of one frame, and the frame used again after its sync. */
static void wide_parent(struct fj_frame *up, uint64_t *sum)
{
    struct wide_task *tasks = go_alloc_zeroed(WIDE * sizeof *tasks);
    struct fj_frame frame;
    fj_open(&frame, up);
    *sum = 0;
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < WIDE; i++) {
            tasks[i].value = i;
            tasks[i].square = UINT64_MAX;
            fj_spawn(&frame, &tasks[i].task, wide_leaf);
        }
        fj_sync(&frame);
        for (int i = 0; i < WIDE; i++)
            *sum += tasks[i].square;
    }
    fj_sync(&frame); /* nothing spawned: returns at once */
    go_free(tasks);
}

enum { WIDE_SUM = 3 * (WIDE - 1) * WIDE * (2 * WIDE - 1) / 6 };

static void conform_forkjoin_wide(void *arg)
{
    (void)arg;
    uint64_t sum;
    struct fj_frame up;
    fj_begin(&up);
    wide_parent(&up, &sum);
    fj_end(&up);
    CHECK(sum == WIDE_SUM);
}

struct nested_task {
    struct fj_task task;
    int depth;
    uint64_t sum;
};

/* Spawning functions inside spawned functions, with two syncs and calls in between. */
static void nested(struct fj_frame *up, struct fj_task *task)
{
    struct nested_task *self = FJ_SELF(task, struct nested_task);
    if (self->depth == 0) {
        wide_parent(up, &self->sum);
        return;
    }
    struct nested_task a = {.depth = self->depth - 1}, b = a, c = a;
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &a.task, nested);
    fj_sync(&frame);
    fj_spawn(&frame, &b.task, nested);
    nested(&frame, &c.task);
    fj_sync(&frame);
    self->sum = a.sum + b.sum + c.sum;
}

static void conform_forkjoin_nested(void *arg)
{
    const struct conform_cell *cell = arg;
    struct nested_task root = {.depth = cell->scale > 1 ? 3 : 1};
    struct fj_frame up;
    fj_begin(&up);
    nested(&up, &root.task);
    fj_end(&up);
    CHECK(root.sum == (cell->scale > 1 ? 27 : 3) * (uint64_t)WIDE_SUM);
}

/* A chain of spawns, each from the child before: as deep as the stacks of FJ_HELP and FJ_LINKED
 * have to allow. */
static void chain(struct fj_frame *up, struct fj_task *task)
{
    struct nested_task *self = FJ_SELF(task, struct nested_task);
    self->sum = 1;
    if (self->depth == 0)
        return;
    struct nested_task next = {.depth = self->depth - 1};
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &next.task, chain);
    fj_sync(&frame);
    self->sum += next.sum;
}

static void conform_forkjoin_chain(void *arg)
{
    const struct conform_cell *cell = arg;
    struct nested_task root = {.depth = 100 * cell->scale};
    struct fj_frame up;
    fj_begin(&up);
    chain(&up, &root.task);
    fj_end(&up);
    CHECK(root.sum == (uint64_t)root.depth + 1);
}

struct forker {
    struct join join;
    struct fib_task fib;
};

static void forker(void *arg)
{
    struct forker *self = arg;
    for (int i = 0; i < 3; i++) {
        fib_region(&self->fib);
        gosched();
    }
}

/* Fork/join inside several goroutines at a time, between which they yield. */
static void conform_forkjoin_in_goroutines(void *arg)
{
    (void)arg;
    enum { FORKERS = 6 };
    struct forker *forkers = go_alloc_zeroed(FORKERS * sizeof *forkers);
    for (int i = 0; i < FORKERS; i++) {
        forkers[i].fib.n = 8;
        join_go(&forkers[i].join, forker, &forkers[i]);
    }
    for (int i = 0; i < FORKERS; i++) {
        join_wait(&forkers[i].join);
        CHECK(forkers[i].fib.result == 21);
    }
    go_free(forkers);
}

enum { MEETINGS = 3 };

struct meet_task {
    struct fj_task task;
    _Atomic bool here;
    struct meet_task *other;
};

static void meet_nothing(struct fj_frame *up, struct fj_task *task)
{
    (void)up;
    (void)task;
}

/* Spawns before it looks: that serves requests, which may come when the wait has begun. */
static bool meet_looks(struct fj_frame *up, const struct meet_task *self)
{
    struct fj_task nothing;
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &nothing, meet_nothing);
    fj_sync(&frame);
    return atomic_load(&self->other->here);
}

static void meet(struct fj_frame *up, struct fj_task *task)
{
    struct meet_task *self = FJ_SELF(task, struct meet_task);
    atomic_store(&self->here, true);
    AWAIT(meet_looks(up, self));
}

static void meet_parent(struct fj_frame *up)
{
    struct meet_task x = {.other = NULL}, y = {.other = &x};
    x.other = &y;
    struct fj_frame frame;
    fj_open(&frame, up);
    fj_spawn(&frame, &x.task, meet);
    fj_spawn(&frame, &y.task, meet);
    fj_sync(&frame);
}

/* Two children that wait for each other without parking need two workers, each time: the first
 * worker's queue is open to thieves from the start, later ones only if they ask. */
static void conform_forkjoin_reaches_a_second_worker(void *arg)
{
    (void)arg;
    struct fj_frame up;
    fj_begin(&up);
    for (int i = 0; i < MEETINGS; i++)
        meet_parent(&up);
    fj_end(&up);
}

/* Yields and goroutines between spawn and sync ---------------------------------------------- */

/* State that one root and all tasks below it share. */
struct mix {
    struct join join;
    struct waitgroup done;
    _Atomic uint32_t ran; /* goroutines started between spawns and syncs */
};

struct mix_task {
    struct fj_task task;
    struct mix *mix;
    int n;
    uint64_t result;
};

static void mix_g(void *arg)
{
    struct mix *mix = arg;
    gosched();
    atomic_fetch_add(&mix->ran, 1);
    wg_done(&mix->done);
}

static void mix_go(struct mix *mix)
{
    wg_add(&mix->done, 1);
    go(mix_g, mix);
}

/* One goroutine per inner node, and a yield wherever one may stand. */
static void mix_fib(struct fj_frame *up, struct fj_task *task)
{
    struct mix_task *self = FJ_SELF(task, struct mix_task);
    struct mix *mix = self->mix;
    if (self->n < 2) {
        gosched();
        self->result = (uint64_t)self->n;
        return;
    }
    struct mix_task x = {.mix = mix, .n = self->n - 1}, y = {.mix = mix, .n = self->n - 2};
    struct fj_frame frame;
    fj_open(&frame, up);
    if (self->n % 2)
        mix_go(mix);
    fj_spawn(&frame, &x.task, mix_fib);
    gosched();
    if (self->n % 2 == 0)
        mix_go(mix);
    mix_fib(&frame, &y.task);
    gosched();
    fj_sync(&frame);
    gosched();
    self->result = x.result + y.result;
}

enum { MIX_N = 8, MIX_FIB = 21, MIX_INNER = 33 };

static void mix_fib_g(void *arg)
{
    struct mix *mix = arg;
    struct mix_task root = {.mix = mix, .n = MIX_N};
    struct fj_frame up;
    fj_begin(&up);
    mix_fib(&up, &root.task);
    fj_end(&up);
    wg_wait(&mix->done);
    CHECK(root.result == MIX_FIB);
    CHECK(atomic_load(&mix->ran) == MIX_INNER);
}

/* Several roots at a time, so that a worker that one of them left would meet others' children. */
static void mix_roots(const struct conform_cell *cell, void (*root)(void *))
{
    int roots = 2 + cell->scale;
    struct mix *mixes = go_alloc_zeroed((size_t)roots * sizeof *mixes);
    for (int i = 0; i < roots; i++)
        join_go(&mixes[i].join, root, &mixes[i]);
    for (int i = 0; i < roots; i++)
        join_wait(&mixes[i].join);
    go_free(mixes);
}

static void conform_forkjoin_yields_and_goes(void *arg)
{
    mix_roots(arg, mix_fib_g);
}

static void mix_leaf(struct fj_frame *up, struct fj_task *task)
{
    struct mix_task *self = FJ_SELF(task, struct mix_task);
    (void)up;
    if (self->n % 4 == 0)
        gosched();
    if (self->n % 8 == 0)
        mix_go(self->mix);
    self->result = (uint64_t)self->n;
}

/* A loop that yields with children queued, and joins right after a yield; then once more. */
static void mix_loop_g(void *arg)
{
    struct mix *mix = arg;
    struct mix_task *tasks = go_alloc_zeroed(WIDE * sizeof *tasks);
    for (int round = 0; round < 2; round++) {
        uint64_t sum = 0;
        struct fj_frame up, frame;
        fj_begin(&up);
        fj_open(&frame, &up);
        for (int i = 0; i < WIDE; i++) {
            tasks[i] = (struct mix_task){.mix = mix, .n = i};
            fj_spawn(&frame, &tasks[i].task, mix_leaf);
            if (i % 3 == 0)
                gosched();
            if (i % 5 == 0)
                mix_go(mix);
        }
        gosched();
        fj_sync(&frame);
        fj_end(&up);
        for (int i = 0; i < WIDE; i++)
            sum += tasks[i].result;
        CHECK(sum == WIDE * (WIDE - 1) / 2);
        gosched();
    }
    wg_wait(&mix->done);
    CHECK(atomic_load(&mix->ran) == 2 * ((WIDE + 4) / 5 + (WIDE + 7) / 8));
    go_free(tasks);
}

static void conform_forkjoin_joins_after_yield(void *arg)
{
    mix_roots(arg, mix_loop_g);
}

/* Stress ------------------------------------------------------------------------------------ */

enum { STRESS_GS = 16, STRESS_DEPTH = 2 };

struct stress {
    struct waitgroup done;
    struct mutex mu;
    struct chan *results;
    int64_t in_mutex; /* protected by mu */
    int64_t steps;
};

struct stress_g {
    struct stress *stress;
    uint64_t rng;
    int depth;
};

static void stress_spawn(struct stress *stress, uint64_t rng, int depth);

static void stress_forkjoin(uint64_t dice)
{
    static const uint64_t fib_of[] = {0, 1, 1, 2, 3, 5, 8, 13};
    struct fib_task root = {.n = (int)(dice % 8)};
    fib_region(&root);
    CHECK(root.result == fib_of[dice % 8]);
}

static void stress_pingpong(struct stress *stress, uint64_t dice)
{
    (void)stress;
    struct chan *ch = chan_make(sizeof dice, 1);
    uint64_t back = 0;
    chan_send(ch, &dice);
    if (dice % 2)
        gosched();
    CHECK(chan_recv(ch, &back) && back == dice);
    chan_free(ch);
}

/* The actions of a G depend on its own generator only, so that a seed repeats the work, if not the
 * schedule. */
static void stress_g(void *arg)
{
    struct stress_g *self = arg;
    struct stress *stress = self->stress;
    int64_t locked = 0;
    for (int64_t step = 0; step < stress->steps; step++) {
        self->rng = self->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t dice = self->rng >> 33;
        switch (dice % 8) {
        case 0:
            gosched();
            break;
        case 1:
            go_sleep((int64_t)(dice / 8 % 50000));
            break;
        case 2:
        case 3:
            mutex_lock(&stress->mu);
            stress->in_mutex++;
            if (dice / 8 % 4 == 0)
                gosched();
            mutex_unlock(&stress->mu);
            locked++;
            break;
        case 4:
            if (self->depth > 0)
                stress_spawn(stress, dice, self->depth - 1);
            break;
        case 5:
            stress_forkjoin(dice / 8);
            break;
        case 6:
            stress_pingpong(stress, dice / 8);
            break;
        default:
            go_work(dice / 8 % 500);
        }
    }
    chan_send(stress->results, &locked);
    wg_done(&stress->done);
    go_free(self);
}

static void stress_spawn(struct stress *stress, uint64_t rng, int depth)
{
    struct stress_g *child = go_alloc(sizeof *child);
    *child = (struct stress_g){stress, rng, depth};
    wg_add(&stress->done, 1);
    go(stress_g, child);
}

struct collector {
    struct join join;
    struct chan *results;
    int64_t sum;
};

static void collector(void *arg)
{
    struct collector *self = arg;
    int64_t value;
    while (chan_recv(self->results, &value))
        self->sum += value;
}

static void conform_seeded_stress(void *arg)
{
    const struct conform_cell *cell = arg;
    struct stress *stress = go_alloc_zeroed(sizeof *stress);
    struct collector *sum = go_alloc_zeroed(sizeof *sum);
    sum->results = stress->results = chan_make(sizeof(int64_t), 3);
    stress->steps = 10 * cell->scale;
    join_go(&sum->join, collector, sum);
    for (uint64_t i = 0; i < STRESS_GS; i++)
        stress_spawn(stress, cell->seed + i * UINT64_C(0x9e3779b97f4a7c15), STRESS_DEPTH);
    wg_wait(&stress->done);
    chan_close(stress->results);
    join_wait(&sum->join);
    CHECK(sum->sum == stress->in_mutex && sum->sum > 0);
    chan_free(stress->results);
    go_free(sum);
    go_free(stress);
}

extern const struct conform_case conform_mixed_cases[];
const struct conform_case conform_mixed_cases[] = {
    CASE(conform_forkjoin_fib),
    CASE(conform_forkjoin_fib, .settings = "deque=the"),
    CASE(conform_forkjoin_fib, .settings = "deque=abp"),
    CASE(conform_forkjoin_fib, .settings = "deque=half"),
    CASE(conform_forkjoin_fib, .settings = "promote=always"),
    CASE(conform_forkjoin_fib, .settings = "promote=always,deque=half"),
    CASE(conform_forkjoin_fib, .settings = "promote=beat,beat_ns=1000"),
    CASE(conform_forkjoin_fib, .settings = "join=counter"),
    CASE(conform_forkjoin_fib, .settings = "join=lock"),
    CASE(conform_forkjoin_fib, .settings = "join=counter,frames=pooled"),
    CASE(conform_forkjoin_fib, .settings = "join=lock,frames=pooled"),
    CASE(conform_forkjoin_wide),
    CASE(conform_forkjoin_wide, .settings = "promote=always"),
    CASE(conform_forkjoin_wide, .settings = "promote=always,deque=abp"),
    CASE(conform_forkjoin_wide, .settings = "promote=beat,beat_ns=1000,deque=abp"),
    CASE(conform_forkjoin_wide, .settings = "deque=abp"),
    CASE(conform_forkjoin_wide, .settings = "deque=half"),
    CASE(conform_forkjoin_wide, .settings = "join=counter"),
    CASE(conform_forkjoin_wide, .settings = "join=lock"),
    CASE(conform_forkjoin_wide, .settings = "join=counter,frames=pooled"),
    CASE(conform_forkjoin_wide, .settings = "join=lock,frames=pooled"),
    CASE(conform_forkjoin_nested),
    CASE(conform_forkjoin_nested, .settings = "deque=half"),
    CASE(conform_forkjoin_nested, .settings = "promote=always"),
    CASE(conform_forkjoin_nested, .settings = "promote=beat,beat_ns=1000"),
    CASE(conform_forkjoin_nested, .settings = "join=counter"),
    CASE(conform_forkjoin_nested, .settings = "join=lock"),
    CASE(conform_forkjoin_nested, .settings = "join=counter,frames=pooled"),
    CASE(conform_forkjoin_nested, .settings = "join=lock,frames=pooled"),
    CASE(conform_forkjoin_chain),
    CASE(conform_forkjoin_in_goroutines),
    CASE(conform_forkjoin_in_goroutines, .settings = "deque=the"),
    CASE(conform_forkjoin_in_goroutines, .settings = "deque=abp"),
    CASE(conform_forkjoin_in_goroutines, .settings = "deque=half"),
    CASE(conform_forkjoin_in_goroutines, .settings = "promote=always"),
    CASE(conform_forkjoin_in_goroutines, .settings = "promote=beat,beat_ns=1000"),
    CASE(conform_forkjoin_in_goroutines, .settings = "join=counter"),
    CASE(conform_forkjoin_in_goroutines, .settings = "join=lock"),
    CASE(conform_forkjoin_in_goroutines, .settings = "join=counter,frames=pooled"),
    CASE(conform_forkjoin_in_goroutines, .settings = "join=lock,frames=pooled"),
    CASE(conform_forkjoin_reaches_a_second_worker, .steals = true),
    CASE(conform_forkjoin_reaches_a_second_worker, .steals = true, .settings = "promote=always"),
    CASE(conform_forkjoin_reaches_a_second_worker, .steals = true, .settings = "promote=beat"),
    CASE(conform_forkjoin_yields_and_goes),
    CASE(conform_forkjoin_yields_and_goes, .settings = "owner=fifo"),
    CASE(conform_forkjoin_joins_after_yield),
    CASE(conform_forkjoin_joins_after_yield, .settings = "owner=fifo"),
    CASE(conform_forkjoin_joins_after_yield, .settings = "owner=3"),
    CASE(conform_forkjoin_joins_after_yield, .settings = "deque=the"),
    CASE(conform_forkjoin_joins_after_yield, .settings = "deque=abp"),
    CASE(conform_forkjoin_joins_after_yield, .settings = "deque=half"),
    CASE(conform_forkjoin_joins_after_yield, .settings = "join=counter"),
    CASE(conform_forkjoin_joins_after_yield, .settings = "join=lock"),
    CASE(conform_forkjoin_joins_after_yield, .settings = "join=counter,frames=pooled"),
    CASE(conform_forkjoin_joins_after_yield, .settings = "join=lock,frames=pooled"),
    CASE(conform_seeded_stress),
    CASE(conform_seeded_stress, .settings = "width=load"),
    CASE(conform_seeded_stress, .settings = "queue=bwos"),
    CASE(conform_seeded_stress, .settings = "runnext_owner=plain"),
    CASE(conform_seeded_stress, .settings = "queue=bwos,ring=16"),
    CASE(conform_seeded_stress, .settings = "deque=the"),
    CASE(conform_seeded_stress, .settings = "deque=abp"),
    CASE(conform_seeded_stress, .settings = "deque=half"),
    CASE(conform_seeded_stress, .settings = "promote=always"),
    CASE(conform_seeded_stress, .settings = "promote=beat,beat_ns=1000"),
    CASE(conform_seeded_stress, .settings = "join=counter"),
    CASE(conform_seeded_stress, .settings = "join=lock,frames=pooled"),
    {0},
};
