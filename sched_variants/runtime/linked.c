/* linked.c - the slow paths of FJ_LINKED: theft, the child's late return, the sync of a parent that
 * was taken. linked.h has the picture. */
#include "ctx.h"
#include "internal.h"

#if FJ_LINKED_WORKS

/* The first code of a context that goes on in the middle of a function: at its base, which came in
 * rbx, with the G that ran before in rdi. */
void ctx_resume(void);
__asm__(".pushsection .text\n"
        ".type ctx_resume, @function\n"
        "ctx_resume:\n\t"
        "call g_off_stack\n\t"
        "jmp *%rbx\n\t"
        ".size ctx_resume, . - ctx_resume\n\t"
        ".popsection");

enum { ARGUMENT_WORDS = 64 };

enum { SPAWN_CTX = 8 }; /* bytes above the rsp of a spawn: the frame's address lies below */

/* A context that goes on at pc with the stack pointer three words up: one without its `ret`. */
static void *ctx_amid(void *at, void *pc, void *fp)
{
    void **ctx = at;
    ctx[0] = (void *)ctx_resume;
    ctx[1] = pc;
    ctx[2] = fp;
    return ctx;
}

static bool is_public(const char *sp)
{
    return (uintptr_t)sp & 1;
}

/* relaxed everywhere: the owner's own until it is public, then handed on by the deque */
static char *sp_of(struct fj_frame *frame)
{
    return atomic_load_explicit(&frame->sp, memory_order_relaxed);
}

static void set_sp(struct fj_frame *frame, char *sp)
{
    atomic_store_explicit(&frame->sp, sp, memory_order_relaxed);
}

/* The newest frame, from this one down, that is privately at rest on the current stack. A frame
 * further down that a thief has taken is running, or rests on another stack, whatever it was when
 * it was linked. Its memory is there as long as a child of it is. */
static struct fj_frame *private_here(const struct m *m, struct fj_frame *frame)
{
    const char *stack = m->curg->stack;
    for (; frame; frame = frame->up) {
        char *sp = sp_of(frame);
        if (!sp)
            continue;
        if (is_public(sp) || sp < stack || sp >= stack + g_stack_size(m->sched, m->curg))
            return NULL; /* and so is all that is older */
        return frame;
    }
    return NULL;
}

static void publish_frame(struct m *m, struct fj_frame *frame, int64_t at)
{
    if (!frame->home) { /* this is the function's own stack, and nobody has taken it yet */
        frame->spawned = 0;
        /* relaxed: published by D1 */
        atomic_store_explicit(&frame->pending, 0, memory_order_relaxed);
        atomic_store_explicit(&frame->owner, m->curg, memory_order_relaxed);
    }
    fj_join_fork(m, frame, !frame->home);
    INVARIANT((uintptr_t)sp_of(frame) % 16 == 0);
    set_sp(frame, sp_of(frame) + 1);
    deque_set(&m->fj.tasks, at, frame);
}

bool linked_publish(struct m *m, struct fj_frame *newest)
{
    int64_t count = 0;
    for (struct fj_frame *frame = newest; (frame = private_here(m, frame)); frame = frame->up)
        count++;
    if (count == 0)
        return false;
    int64_t keep = fj_keep(&m->fj.tasks, count);
    int64_t bottom = deque_reserve(&m->fj.tasks, count - keep) + count - keep;
    int64_t at = bottom;
    for (struct fj_frame *frame = newest; (frame = private_here(m, frame)); frame = frame->up)
        if (keep-- <= 0)
            publish_frame(m, frame, --at);
    fj_count_published(m, bottom - at);
    deque_publish(&m->fj.tasks, bottom);
    return true;
}

struct g *g_new_for_frame(struct m *m, struct fj_frame *frame)
{
    char *sp = sp_of(frame) - 1;
    struct g *gp = g_alloc(m);
    g_bind_stack(m, gp);
    /* a word up: the function has to find the stack as at a call, not as called; and some down: it
     * may write its callees' arguments above its stack pointer */
    gp->sp = ctx_amid((void **)gp->sp + 1 - ARGUMENT_WORDS, frame->pc, frame->fp);
    if (!frame->home)
        frame->home = sp;
    set_sp(frame, NULL);
    frame->spawned++;
    fj_join_taken(m, frame);
    g_hand_over(gp);
    return gp;
}

/* All children are done: the frame goes on behind its sync, on its home stack. Only now is that
 * written into the stack's G: until here the G may have served frames further up the same stack. */
static struct g *go_home(struct fj_frame *frame)
{
    struct g *owner = atomic_load_explicit(&frame->owner, memory_order_relaxed);
    owner->sp = frame->home + SPAWN_CTX;
    frame->home = NULL;
    frame->spawned = 0;
    return owner;
}

void fj_child_back(struct fj_frame *frame, char *sp)
{
    struct m *m = machine_self();
    struct g *self = m->curg;
    void *item = deque_pop(&m->fj.tasks);
    fj_took_back(&m->fj);
    if (item && item == frame && sp_of(frame) == sp + 1) {
        set_sp(frame, NULL);
        if (frame->home && m->fj.join == FJ_JOIN_COUNTER)
            fj_join_came_back(frame);
        return;
    }
    /* Taken, and perhaps at rest in a later spawn; or, after a yield of the child, in the deque of
     * the worker that it has left. */
    if (item) {
        deque_push(&m->fj.tasks, item);
        wakep(m);
    }
    self->wait_reason = WAIT_SYNC; /* for the report; told now, since others may own it soon */
    self->wait_on = frame;
    struct g *owner = atomic_load_explicit(&frame->owner, memory_order_relaxed);
    if (fj_join_child(m, frame))
        g_ready(go_home(frame));
    if (self == owner)
        g_forsake_stack(m, self);
    else
        g_abandon(m, self, NULL);
}

void fj_sync_home(struct fj_frame *frame, void *pc, void *frame_pointer)
{
    struct m *m = machine_self();
    int32_t spawned = frame->spawned;
    ctx_amid(frame->home + SPAWN_CTX, pc, frame_pointer);
    struct g *owner = NULL;
    if (fj_join_owner(m, frame, m->fj.join, spawned)) {
        owner = go_home(frame);
        g_hand_over(owner);
    } else {
        stat_add(&m->stats, STAT_JOINS_STALLED, 1);
    }
    g_abandon(m, m->curg, owner);
}

#else

bool linked_publish(struct m *m, struct fj_frame *newest)
{
    (void)m;
    (void)newest;
    return false;
}

struct g *g_new_for_frame(struct m *m, struct fj_frame *frame)
{
    (void)m;
    (void)frame;
    fatal("no linked frames in this build");
}

#endif
