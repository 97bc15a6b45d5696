/* cpu_permits.c - a scenario of CPU permits: one pool for tasks that compute and that block.
 *
 * The pool is a model of Kotlin's CoroutineScheduler. Its workers are goroutines: under kthread
 * each is a thread. There are more workers than permits. A worker needs a permit to run tasks that
 * compute, and runs tasks that block without one. Before a task that blocks it gives its permit
 * back, and wakes or makes a worker that may take it.
 *
 * Source: [Kotlin] CoroutineScheduler.kt, WorkQueue.kt.
 * Same: one control word of permits, tasks that block, and workers made. A versioned stack of
 *     parked workers, who look once more between their push and their sleep. A word of each worker,
 *     PARKED or CLAIMED. A slot for the newest task, and behind it a ring, from whose middle tasks
 *     that block are taken. Two queues for all. The order of looks, and what is drawn by lot.
 * Differs: there is one permit, so that no second worker is made with the first. The queues for all
 *     have a lock. A thief may take from a slot at any age, so that nobody sleeps until a task is
 *     old enough. Workers never end before the pool, and look into their own queue each time.
 *
 * Three decisions are parameters, with Kotlin's way as a value of each.
 *
 *   park=blind    A worker gives its permit back on its way to sleep, and looks no more. A worker
 *                 that was woken for a new task meanwhile has found no permit, and sleeps again.
 *   steal=dry     A worker steals when its own queue and those for all are empty. Tasks that yield
 *                 keep it for ever from the queue of a worker that has lost its permit.
 *   release=quiet A permit is given back for a task that blocks without a signal. Kotlin has the
 *                 signal (release=signal).
 *
 * Memory orders: the default, sequentially consistent, as volatiles of the JVM are.
 */
#include "harness/scenarios/scenario.h"

enum { PERMITS = 1, WORKERS_MOST = 4, RING = 8, STEAL_TICK = 4, YIELDS_MOST = 100, ROUNDS = 3 };
enum { BLOCKING_SHIFT = 21, PERMITS_SHIFT = 42, VERSION_SHIFT = 32 };

enum tasks { TASKS_WAIT, TASKS_YIELD };
enum park { PARK_LOOK, PARK_BLIND };
enum steal { STEAL_OFTEN, STEAL_DRY };
enum release { RELEASE_SIGNAL, RELEASE_QUIET };

enum wanted { ANY, BLOCKING_ONLY };
enum worker_state { WORKER_DORMANT, WORKER_CPU, WORKER_BLOCKING, WORKER_PARKING };
enum worker_word { CLAIMED, PARKED };
enum { BOTTOM = 0, NOT_IN_STACK = -1 }; /* of worker->below */

struct cpu_permits_params {
    int64_t tasks, park, steal, release;
};

struct cpu_permits;
struct worker;

struct task {
    bool blocks;
    void (*run)(struct cpu_permits *pool, struct worker *self, struct task *task);
    struct task *next;
};

struct queue {
    struct mutex mu;
    struct task *head, **end; /* protected by mu; end: where the next one goes, NULL: &head */
};

struct worker {
    struct cpu_permits *pool;
    int32_t number; /* from 1 */
    /* its own */
    enum worker_state state;
    uint32_t finds;
    /* anybody's */
    _Atomic uint32_t word; /* enum worker_word */
    _Atomic int32_t below; /* the number of the next one in the stack, BOTTOM or NOT_IN_STACK */
    struct sem token;      /* what ends its sleep; one too many is one look too many */
    struct join join;
    /* tasks: the newest in the slot, then ring[taken..put) */
    _Atomic(struct task *) slot;
    _Atomic(struct task *) ring[RING];
    _Atomic uint32_t taken, put;
    _Atomic int32_t blocking_in_ring;
};

struct cpu_permits {
    struct cpu_permits_params params;
    _Atomic uint64_t control; /* permits, tasks that block, workers made */
    _Atomic uint64_t stack;   /* version, number of the worker on top */
    struct queue computing, blocking;
    struct mutex making;
    _Atomic bool stops; /* written under making */
    struct worker workers[WORKERS_MOST + 1];
    /* of the tasks */
    struct task tasks[4];
    struct sem computed, yields;
    struct waitgroup done;
    _Atomic uint32_t ran, patience;
    _Atomic bool lies, starved;
};

/* The control word --------------------------------------------------------------------------- */

static uint64_t part(uint64_t control, int shift)
{
    return control >> shift & ((UINT64_C(1) << BLOCKING_SHIFT) - 1);
}

static bool permit_take(struct worker *self)
{
    struct cpu_permits *pool = self->pool;
    if (self->state == WORKER_CPU)
        return true;
    uint64_t control = pool->control;
    while (part(control, PERMITS_SHIFT) > 0)
        if (atomic_compare_exchange_weak(&pool->control, &control,
                                         control - (UINT64_C(1) << PERMITS_SHIFT))) {
            self->state = WORKER_CPU;
            return true;
        }
    return false;
}

/* True if it had one. */
static bool permit_give(struct worker *self, enum worker_state state)
{
    bool had = self->state == WORKER_CPU;
    if (had)
        self->pool->control += UINT64_C(1) << PERMITS_SHIFT;
    self->state = state;
    return had;
}

/* The stack of parked workers ---------------------------------------------------------------- */

static bool in_stack(struct worker *self)
{
    return self->below != NOT_IN_STACK;
}

static uint64_t stack_with(uint64_t stack, int32_t top)
{
    return ((stack >> VERSION_SHIFT) + 1) << VERSION_SHIFT | (uint32_t)top;
}

static void stack_push(struct worker *self)
{
    struct cpu_permits *pool = self->pool;
    uint64_t stack = pool->stack;
    do
        self->below = (int32_t)stack;
    while (!atomic_compare_exchange_weak(&pool->stack, &stack, stack_with(stack, self->number)));
}

static struct worker *stack_pop(struct cpu_permits *pool)
{
    uint64_t stack = pool->stack;
    while ((int32_t)stack != BOTTOM) {
        struct worker *top = &pool->workers[(int32_t)stack];
        int32_t below = top->below;
        if (below == NOT_IN_STACK)
            stack = pool->stack;
        else if (atomic_compare_exchange_weak(&pool->stack, &stack, stack_with(stack, below))) {
            top->below = NOT_IN_STACK;
            return top;
        }
    }
    return NULL;
}

static void unpark(struct worker *worker)
{
    sem_release(&worker->token, false);
}

/* Signals: a worker is woken, or made, for a new task ---------------------------------------- */

static bool signal_parked(struct cpu_permits *pool)
{
    struct worker *worker;
    while ((worker = stack_pop(pool))) {
        uint32_t parked = PARKED;
        if (atomic_compare_exchange_strong(&worker->word, &parked, CLAIMED)) {
            unpark(worker);
            return true;
        }
    }
    return false;
}

static bool wants_worker(uint64_t control)
{
    return part(control, 0) < PERMITS + part(control, BLOCKING_SHIFT);
}

static void worker_main(void *arg);

static bool worker_make(struct cpu_permits *pool)
{
    mutex_lock(&pool->making);
    bool makes =
        !pool->stops && wants_worker(pool->control) && part(pool->control, 0) < WORKERS_MOST;
    if (makes) {
        int32_t number = (int32_t)part(pool->control, 0) + 1;
        struct worker *worker = &pool->workers[number];
        worker->pool = pool;
        worker->number = number;
        worker->below = NOT_IN_STACK;
        pool->control++;
        join_go(&worker->join, worker_main, worker);
    }
    mutex_unlock(&pool->making);
    return makes;
}

/* control: of when the task was counted. The second look is for those who went to sleep since. */
static void pool_signal(struct cpu_permits *pool, uint64_t control)
{
    if (!signal_parked(pool) && !(wants_worker(control) && worker_make(pool)))
        signal_parked(pool);
}

/* Queues ------------------------------------------------------------------------------------- */

static void queue_put(struct queue *queue, struct task *task)
{
    mutex_lock(&queue->mu);
    task->next = NULL;
    *(queue->end ? queue->end : &queue->head) = task;
    queue->end = &task->next;
    mutex_unlock(&queue->mu);
}

static struct task *queue_take(struct queue *queue)
{
    mutex_lock(&queue->mu);
    struct task *task = queue->head;
    if (task)
        queue->head = task->next;
    if (!queue->head)
        queue->end = NULL;
    mutex_unlock(&queue->mu);
    return task;
}

/* The owner's. False: the ring is full. A thief that has taken a place may not have emptied it. */
static bool ring_put(struct worker *self, struct task *task)
{
    if (self->put - self->taken == RING - 1)
        return false;
    if (task->blocks)
        self->blocking_in_ring++;
    while (self->ring[self->put % RING])
        gosched();
    self->ring[self->put % RING] = task;
    self->put++;
    return true;
}

static struct task *ring_take(struct worker *owner)
{
    uint32_t taken = owner->taken;
    while (taken != owner->put) {
        if (!atomic_compare_exchange_weak(&owner->taken, &taken, taken + 1))
            continue;
        struct task *task = atomic_exchange(&owner->ring[taken % RING], NULL);
        if (task && task->blocks)
            owner->blocking_in_ring--;
        if (task) /* none where it was taken from the middle */
            return task;
        taken = owner->taken;
    }
    return NULL;
}

static struct task *ring_take_blocking(struct worker *owner)
{
    uint32_t end = owner->put;
    for (uint32_t i = owner->taken; i != end && owner->blocking_in_ring; i++) {
        struct task *task = owner->ring[i % RING];
        if (task && task->blocks &&
            atomic_compare_exchange_strong(&owner->ring[i % RING], &task, NULL)) {
            owner->blocking_in_ring--;
            return task;
        }
    }
    return NULL;
}

static struct task *slot_take(struct worker *owner, enum wanted wanted)
{
    struct task *task = owner->slot;
    while (task && (wanted == ANY || task->blocks))
        if (atomic_compare_exchange_weak(&owner->slot, &task, NULL))
            return task;
    return NULL;
}

/* Makes a task known. fair: behind all that self has. A worker that runs a task that blocks could
 * not run one that computes, and puts it where all look. */
static void dispatch(struct cpu_permits *pool, struct worker *self, struct task *task, bool fair)
{
    const uint64_t one = UINT64_C(1) << BLOCKING_SHIFT;
    uint64_t control = pool->control;
    if (task->blocks)
        control = atomic_fetch_add(&pool->control, one) + one;
    struct task *rest = task;
    if (self && (task->blocks || self->state != WORKER_BLOCKING)) {
        rest = fair ? task : atomic_exchange(&self->slot, task);
        if (rest && ring_put(self, rest))
            rest = NULL;
    }
    if (rest)
        queue_put(rest->blocks ? &pool->blocking : &pool->computing, rest);
    pool_signal(pool, task->blocks ? control : pool->control);
}

/* Looking for a task ------------------------------------------------------------------------- */

static struct task *steal(struct worker *self, enum wanted wanted)
{
    struct cpu_permits *pool = self->pool;
    uint32_t made = (uint32_t)part(pool->control, 0);
    uint32_t first = (uint32_t)(go_random() % made);
    for (uint32_t i = 0; i < made; i++) {
        struct worker *victim = &pool->workers[(first + i) % made + 1];
        if (victim == self)
            continue;
        struct task *task = wanted == ANY ? ring_take(victim) : ring_take_blocking(victim);
        if (!task)
            task = slot_take(victim, wanted);
        if (task)
            return task;
    }
    return NULL;
}

static struct task *find_for_all(struct cpu_permits *pool)
{
    bool blocking_first = go_random() % 2;
    struct task *task = queue_take(blocking_first ? &pool->blocking : &pool->computing);
    return task ? task : queue_take(blocking_first ? &pool->computing : &pool->blocking);
}

static struct task *find_own(struct worker *self)
{
    struct task *task = slot_take(self, ANY);
    return task ? task : ring_take(self);
}

static struct task *find_any(struct worker *self)
{
    struct task *task;
    bool often = self->pool->params.steal == STEAL_OFTEN && ++self->finds % STEAL_TICK == 0;
    if (often && (task = steal(self, ANY)))
        return task;
    bool all_first = go_random() % (2 * PERMITS) == 0;
    if (all_first && (task = find_for_all(self->pool)))
        return task;
    if ((task = find_own(self)))
        return task;
    if (!all_first && (task = find_for_all(self->pool)))
        return task;
    return steal(self, ANY);
}

static struct task *find(struct worker *self)
{
    struct task *task;
    if (permit_take(self))
        return find_any(self);
    if ((task = slot_take(self, BLOCKING_ONLY)) || (task = ring_take_blocking(self)) ||
        (task = queue_take(&self->pool->blocking)))
        return task;
    return steal(self, BLOCKING_ONLY);
}

/* Is there a task for which a permit is needed? */
static bool sees_task(struct cpu_permits *pool)
{
    mutex_lock(&pool->computing.mu);
    bool sees = pool->computing.head;
    mutex_unlock(&pool->computing.mu);
    for (uint32_t i = 1; !sees && i <= part(pool->control, 0); i++)
        sees = pool->workers[i].slot || pool->workers[i].taken != pool->workers[i].put;
    return sees;
}

/* Workers ------------------------------------------------------------------------------------ */

/* A worker that has pushed itself looks again before it comes here. park=look: whoever gives the
 * last permit back looks after that, and leaves its word as one that nobody can claim. */
static void park(struct worker *self)
{
    self->word = PARKED;
    while (in_stack(self) && self->word == PARKED && !self->pool->stops) {
        bool gave = permit_give(self, WORKER_PARKING);
        if (gave && self->pool->params.park == PARK_LOOK && sees_task(self->pool)) {
            uint32_t parked = PARKED;
            atomic_compare_exchange_strong(&self->word, &parked, CLAIMED);
            return;
        }
        sem_acquire(&self->token);
    }
}

static void execute(struct worker *self, struct task *task)
{
    struct cpu_permits *pool = self->pool;
    if (!task->blocks) {
        task->run(pool, self, task);
        return;
    }
    if (permit_give(self, WORKER_BLOCKING) && pool->params.release == RELEASE_SIGNAL)
        pool_signal(pool, pool->control);
    task->run(pool, self, task);
    pool->control -= UINT64_C(1) << BLOCKING_SHIFT;
    self->state = WORKER_DORMANT;
}

static void worker_main(void *arg)
{
    struct worker *self = arg;
    while (!self->pool->stops) {
        struct task *task = find(self);
        if (task)
            execute(self, task);
        else if (!in_stack(self))
            stack_push(self);
        else
            park(self);
    }
}

static void pool_stop(struct cpu_permits *pool)
{
    mutex_lock(&pool->making);
    pool->stops = true;
    mutex_unlock(&pool->making);
    for (uint32_t i = 1; i <= part(pool->control, 0); i++)
        unpark(&pool->workers[i]);
    for (uint32_t i = 1; i <= part(pool->control, 0); i++)
        join_wait(&pool->workers[i].join);
}

/* tasks=wait: one that blocks until another has computed --------------------------------------- */

static void task_waits(struct cpu_permits *pool, struct worker *self, struct task *task)
{
    (void)self, (void)task;
    sem_acquire(&pool->computed);
    tick(&pool->ran);
    wg_done(&pool->done);
}

static void task_computes(struct cpu_permits *pool, struct worker *self, struct task *task)
{
    (void)self, (void)task;
    tick(&pool->ran);
    sem_release(&pool->computed, false);
    wg_done(&pool->done);
}

static void task_alone(struct cpu_permits *pool, struct worker *self, struct task *task)
{
    (void)self, (void)task;
    tick(&pool->ran);
    wg_done(&pool->done);
}

/* The one that computes comes alone in between: workers are about to sleep, or do. */
static uint32_t cross_waiting(struct cpu_permits *pool)
{
    uint32_t tasks = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct task *waits = &pool->tasks[0], *computes = &pool->tasks[1];
        bool both = i % 2 == 0;
        *waits = (struct task){.blocks = true, .run = task_waits};
        *computes = (struct task){.run = both ? task_computes : task_alone};
        tasks += both ? 2 : 1;
        wg_add(&pool->done, both ? 2 : 1);
        if (both)
            dispatch(pool, NULL, waits, false);
        dispatch(pool, NULL, computes, false);
        wg_wait(&pool->done);
    }
    return tasks;
}

/* tasks=yield: one yields until another has run, behind one that blocks ------------------------ */

static void task_lies(struct cpu_permits *pool, struct worker *self, struct task *task)
{
    (void)self, (void)task;
    pool->lies = false;
    tick(&pool->ran);
    wg_done(&pool->done);
}

static void task_blocks(struct cpu_permits *pool, struct worker *self, struct task *task)
{
    (void)self, (void)task;
    sem_acquire(&pool->yields);
    tick(&pool->ran);
    wg_done(&pool->done);
}

static void task_yields(struct cpu_permits *pool, struct worker *self, struct task *task)
{
    tick(&pool->patience);
    if (ticks(&pool->patience) == 1)
        sem_release(&pool->yields, false);
    gosched(); /* for others, where workers are goroutines of one thread */
    pool->starved = pool->lies && ticks(&pool->patience) > YIELDS_MOST;
    if (pool->lies && !pool->starved) {
        dispatch(pool, self, task, true);
        return;
    }
    tick(&pool->ran);
    wg_done(&pool->done);
}

static void task_makes_two(struct cpu_permits *pool, struct worker *self, struct task *task)
{
    (void)task;
    dispatch(pool, self, &pool->tasks[1], false);
    dispatch(pool, self, &pool->tasks[2], false);
    tick(&pool->ran);
    wg_done(&pool->done);
}

static uint32_t cross_yielding(struct cpu_permits *pool)
{
    pool->tasks[0] = (struct task){.run = task_makes_two};
    pool->tasks[1] = (struct task){.run = task_lies};
    pool->tasks[2] = (struct task){.blocks = true, .run = task_blocks};
    pool->tasks[3] = (struct task){.run = task_yields};
    pool->lies = true;
    wg_add(&pool->done, 4);
    dispatch(pool, NULL, &pool->tasks[0], false);
    dispatch(pool, NULL, &pool->tasks[3], false);
    wg_wait(&pool->done);
    return 4;
}

/* The scenario ------------------------------------------------------------------------------- */

static const char *const tasks_words[] = {"wait", "yield", NULL};
static const char *const park_words[] = {"look", "blind", NULL};
static const char *const steal_words[] = {"often", "dry", NULL};
static const char *const release_words[] = {"signal", "quiet", NULL};

static const struct param permits_table[] = {
    PARAM_WORD(struct cpu_permits_params, tasks, tasks_words, TASKS_WAIT, "[Kotlin]",
               "one that blocks until another has run, or one that yields until then"),
    PARAM_WORD(struct cpu_permits_params, park, park_words, PARK_LOOK, "[Kotlin]",
               "whether a worker that gives its permit back to sleep looks once more"),
    PARAM_WORD(struct cpu_permits_params, steal, steal_words, STEAL_OFTEN, "[Kotlin]",
               "whether a worker steals now and then, or only when all else is empty"),
    PARAM_WORD(struct cpu_permits_params, release, release_words, RELEASE_SIGNAL, "[Kotlin]",
               "whether a worker that gives its permit back to block wakes another"),
    {0},
};

static const char *cpu_permits_crosses(struct cpu_permits *pool)
{
    pool->control = (uint64_t)PERMITS << PERMITS_SHIFT;
    uint32_t tasks = pool->params.tasks == TASKS_WAIT ? cross_waiting(pool) : cross_yielding(pool);
    pool_stop(pool);
    if (pool->starved)
        return "a task lay in a queue while a worker with a permit ran 100 times another one";
    return ticks(&pool->ran) == tasks ? NULL : "not each task ran once";
}
SCENARIO_WITH(permits_table, cpu_permits, WORKERS_MOST, 1,
              "workers give CPU permits back to sleep and to block (kthread)",
              "[Kotlin] CoroutineScheduler");
