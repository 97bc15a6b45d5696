/* linked.h - FJ_LINKED: spawn as an ordinary call whose caller a thief can carry on.
 *
 *   spawn   writes into the frame where to go on, the frame pointer and the stack pointer, calls
 *           the child, and sees by frame->sp whether the parent is still its own
 *   thief   starts a G whose first context has the parent's frame pointer and goes on behind the
 *           call: the parent then runs with its variables where they were, reached by the frame
 *           pointer, and its calls on the thief's stack
 *   sync    of a parent that was taken: the stack that it ran on is given up, and whoever is last,
 *           it or a child, continues it behind the sync on the stack where its function began
 *
 *   home stack            thief's stack         frame->home  the place left there by each spawn, as
 *   | parent's frame |    | parent's calls |                 of the first theft: for the context
 *   | 32 bytes       |    | ...            |                 (ctx.h) that goes on behind the sync
 *   | child's frame  |                          frame->owner the home stack's G
 *
 * It is sound for these reasons:
 *   - the asm clobbers every register but rbp and rsp, so that the parent holds nothing in
 *     registers at the label where a thief begins
 *   - code compiled for this policy keeps frame pointers and addresses its variables by them only,
 *     which gcc and clang do unless they align the frame beyond 16 bytes; leaves nothing of a call
 *     on the stack; and has no red zone (the Makefile's flags)
 *   - what stands here and in forkjoin.h is inlined, so that the frame pointer is the function's
 *   - the function's epilogue pops by rsp, which after the sync is the home stack's again
 *   - frame->sp tells the child's return whether the parent is at rest just here: private, it holds
 *     the very rsp of the spawn; public, that plus 1; a thief puts NULL, and later spawns on its
 *     own stack other addresses
 *
 * Only x86-64 without a shadow stack (CET). Not under sanitizers, whose shadow of the stack would
 * not follow. Not where a trace is made, which could not tell a spawn. Elsewhere FJ_LINKED is
 * FJ_WORK. Simulated machines have it: their hooks are calls that keep nothing on the stack.
 *
 * Source: [Yang16] Fibril.  Same: frame-pointer addressing, child on the parent's stack, the count
 *   of children touched after a theft only.  Differs: thieves and the sync begin in contexts that
 *   the switch of ctx.h resumes; frames are published lazily (forkjoin.h) in place of a deque
 *   operation per spawn; the stacks are those of Gs.
 */
#ifndef SCHEDLAB_LINKED_H
#define SCHEDLAB_LINKED_H

#if !defined(FJ_LINKED_WORKS)
#if defined(__SANITIZE_ADDRESS__) || defined(SCHEDLAB_ASAN) || defined(SCHEDLAB_TSAN) ||           \
    (defined(__SANITIZE_THREAD__) && !defined(SCHEDLAB_SIM)) || defined(SCHEDLAB_TRACE) ||         \
    !defined(__x86_64__)
#define FJ_LINKED_WORKS 0
#else
#define FJ_LINKED_WORKS 1
#endif
#endif

#if FJ_LINKED_WORKS

/* The child has returned to its spawn, at sp, and the frame is not privately at rest there: takes
 * it back from the deque and returns, or leaves this stack for good. */
void fj_child_back(struct fj_frame *frame, char *sp) __attribute__((used));

/* Gives up the current stack; the frame continues at pc on its home stack with that frame pointer,
 * once all its children are done. */
_Noreturn void fj_sync_home(struct fj_frame *frame, void *pc, void *frame_pointer)
    __attribute__((used));

#define FJ_MOST_REGISTERS                                                                          \
    "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",   \
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",        \
        "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)",     \
        "memory", "cc"

/* Compares what is queued on this stack with what the worker may keep. It is asked for each child:
 * the last one may have come back on another worker. */
#if defined(SCHEDLAB_SIM)
#define FJ_COMPARE_QUEUED "cmpl %[most], %%ecx\n\t"
#define FJ_MOST_QUEUED , [most] "m"(most)
#else
#define FJ_COMPARE_QUEUED                                                                          \
    "movq %%fs:native_self_m@tpoff, %%rdx\n\t"                                                     \
    "cmpl %c[limit](%%rdx), %%ecx\n\t"
#define FJ_MOST_QUEUED , [limit] "i"(offsetof(struct fj_worker, limit))
#endif

/* The frame's address lies at rsp, since no register survives the child. */
FJ_INLINE void fj_spawn_linked(struct fj_frame *frame, struct fj_task *task, fj_fn *fn)
{
    struct fj_frame *up = frame;
    int32_t queued = frame->queued + 1;
#if defined(SCHEDLAB_SIM)
    const struct fj_worker *worker = (const void *)machine_self();
    int32_t most =
        atomic_load_explicit(&worker->limit, memory_order_relaxed); /* as in fj_spawn() */
#endif
    machine_touch(&frame->sp, sizeof frame->sp, true);
    machine_touch(&frame->pc, sizeof frame->pc, true);
    machine_touch(&frame->sp, sizeof frame->sp, false); /* once the child is back */
    machine_blocks(2);                                  /* the call, and what follows it */
    __asm__ volatile("leaq 1f(%%rip), %%rdx\n\t"
                     "subq $32, %%rsp\n\t"
                     "movq %%rdi, (%%rsp)\n\t"
                     "movq %%rdx, %c[pc](%%rdi)\n\t"
                     "movq %%rsp, %c[sp](%%rdi)\n\t" FJ_COMPARE_QUEUED "jg 3f\n"
                     "2:\n\t"
                     "call *%%rax\n\t"
                     "movq (%%rsp), %%rdi\n\t"
                     "cmpq %%rsp, %c[sp](%%rdi)\n\t"
                     "jne 4f\n\t"
                     "movq $0, %c[sp](%%rdi)\n"
                     "5:\n\t"
                     "addq $32, %%rsp\n"
                     "1:\n\t"
                     ".subsection 1\n"
                     "3:\n\t" /* fj_poll(frame), the call's registers kept */
                     "pushq %%rax\n\t"
                     "pushq %%rsi\n\t"
                     "pushq %%rdi\n\t"
                     "pushq %%rdi\n\t"
                     "call fj_poll\n\t"
                     "popq %%rdi\n\t"
                     "popq %%rdi\n\t"
                     "popq %%rsi\n\t"
                     "popq %%rax\n\t"
                     "jmp 2b\n"
                     "4:\n\t"
                     "movq %%rsp, %%rsi\n\t"
                     "call fj_child_back\n\t"
                     "jmp 5b\n\t"
                     ".previous"
                     : "+D"(up), "+S"(task), "+a"(fn), "+c"(queued)
                     : [sp] "i"(offsetof(struct fj_frame, sp)), [pc] "i"(offsetof(struct fj_frame,
                                                                                  pc))FJ_MOST_QUEUED
                     : "rdx", FJ_MOST_REGISTERS);
}

FJ_INLINE void fj_sync_linked(struct fj_frame *frame)
{
    struct fj_frame *self = frame;
    void *pc, *frame_pointer;
    __asm__ volatile("leaq 1f(%%rip), %%rsi\n\t"
                     "movq %%rbp, %%rdx\n\t"
                     "call fj_sync_home\n"
                     "1:"
                     : "+D"(self), "=S"(pc), "=d"(frame_pointer)
                     :
                     : "rax", "rcx", FJ_MOST_REGISTERS);
}

#else

static inline void fj_spawn_linked(struct fj_frame *frame, struct fj_task *task, fj_fn *fn)
{
    fj_spawn_work(frame, task, fn);
}

static inline void fj_sync_linked(struct fj_frame *frame)
{
    fj_sync_work(frame);
}

#endif
#endif
