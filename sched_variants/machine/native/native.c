/* native.c - the machine as Linux threads: pthreads, futexes, CLOCK_MONOTONIC, jemalloc, mmap. */
#include "machine.h"
#include "machine/no_memory.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Guard regions without a mapping of their own, Linux 6.13. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { NS_PER_S = 1000000000, SIGNAL_STACK_SIZE = 32 << 10, CPUS_MAX = CPU_SETSIZE };

/* Sanitizers keep large thread-local areas on the thread's stack. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(SCHEDLAB_ASAN) ||     \
    defined(SCHEDLAB_TSAN)
#define THREAD_STACK_MIN ((size_t)1 << 20)
#else
#define THREAD_STACK_MIN ((size_t)PTHREAD_STACK_MIN)
#endif

_Thread_local struct m *native_self_m;
static __thread char *signal_stack;

static cpu_set_t allowed;     /* the cores of machine_init() */
static int cpu_ids[CPUS_MAX]; /* the same, by index */
static int cpu_count;
static _Atomic bool fence_all_registered;

/* The thread's M ------------------------------------------------------------------------------- */

void machine_set_self(struct m *m)
{
    native_self_m = m;
    __asm__ volatile("" ::: "memory"); /* machine_self() does not say that it reads memory */
}

/* Threads ------------------------------------------------------------------------------------- */

struct thread_start {
    void (*fn)(void *);
    void *arg;
    int cpu;
};

static void *thread_main(void *arg)
{
    struct thread_start start = *(struct thread_start *)arg;
    free(arg);
    if (start.cpu >= 0)
        machine_pin(start.cpu);
    start.fn(start.arg);
    return NULL;
}

int machine_thread_start(struct machine_thread *thread, void (*fn)(void *), void *arg,
                         size_t stack_size, int cpu)
{
    struct thread_start *start = malloc(sizeof *start);
    if (!start)
        return -ENOMEM;
    *start = (struct thread_start){fn, arg, cpu};
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (stack_size < THREAD_STACK_MIN)
        stack_size = THREAD_STACK_MIN;
    pthread_attr_setstacksize(&attr, stack_size);
    /* Not by pthread_detach() afterwards: with glibc 2.36 under qemu, a thread that ended meanwhile
     * shared its stack with the next one. */
    if (!thread)
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_t id;
    int error = pthread_create(&id, &attr, thread_main, start);
    pthread_attr_destroy(&attr);
    if (error) {
        free(start);
        return -error;
    }
    if (thread)
        thread->handle = (uintptr_t)id;
    return 0;
}

void machine_thread_join(struct machine_thread *thread)
{
    pthread_join((pthread_t)thread->handle, NULL);
}

struct machine_thread machine_thread_self(void)
{
    return (struct machine_thread){(uintptr_t)pthread_self()};
}

void machine_stack_bounds(char **low, size_t *size)
{
    pthread_attr_t attr;
    void *base = NULL;
    *size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &base, size);
        pthread_attr_destroy(&attr);
    }
    *low = base;
}

/* Cores --------------------------------------------------------------------------------------- */

int machine_init(const int *cpus, int count)
{
    CPU_ZERO(&allowed);
    if (count == 0) {
        if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
            return -errno;
    } else {
        for (int i = 0; i < count; i++) {
            if (cpus[i] < 0 || cpus[i] >= CPUS_MAX)
                return -EINVAL;
            CPU_SET(cpus[i], &allowed);
        }
        if (sched_setaffinity(0, sizeof allowed, &allowed) != 0)
            return -errno;
    }
    cpu_count = 0;
    for (int i = 0; count == 0 && i < CPUS_MAX; i++)
        if (CPU_ISSET(i, &allowed))
            cpu_ids[cpu_count++] = i;
    for (int i = 0; i < count; i++)
        cpu_ids[cpu_count++] = cpus[i];
    return 0;
}

int machine_cpu_count(void)
{
    if (cpu_count == 0)
        machine_init(NULL, 0);
    return cpu_count;
}

void machine_pin(int cpu)
{
    cpu_set_t set = allowed;
    if (machine_cpu_count() == 0)
        return;
    if (cpu >= 0) {
        CPU_ZERO(&set);
        CPU_SET(cpu_ids[cpu % cpu_count], &set);
    } else {
        set = allowed;
    }
    sched_setaffinity(0, sizeof set, &set);
}

/* Waiting ------------------------------------------------------------------------------------- */

int machine_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    struct timespec timeout = {timeout_ns / NS_PER_S, timeout_ns % NS_PER_S};
    long result = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value,
                          timeout_ns < 0 ? NULL : &timeout, NULL, 0);
    return result != 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}

void machine_wake(_Atomic uint32_t *word, int n)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

int64_t machine_wasted_ns(void)
{
    return -1;
}

int64_t machine_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

void machine_sleep(int64_t ns)
{
    struct timespec left = {ns / NS_PER_S, ns % NS_PER_S};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

int machine_timer_slack(int64_t ns)
{
    return prctl(PR_SET_TIMERSLACK, (unsigned long)ns, 0, 0, 0) == 0 ? 0 : -errno;
}

/* Nothing caches the parent's id: it changes when the parent ends. */
void machine_call(void)
{
    (void)getppid();
}

void machine_yield(void)
{
    sched_yield();
}

int machine_fence_all(void)
{
    /* relaxed: registering twice does no harm */
    if (!atomic_load_explicit(&fence_all_registered, memory_order_relaxed) &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        return -errno;
    atomic_store_explicit(&fence_all_registered, true, memory_order_relaxed);
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0 ? 0 : -errno;
}

/* Memory -------------------------------------------------------------------------------------- */

void *machine_alloc(size_t size, size_t align)
{
    void *ptr = NULL;
    if (align <= _Alignof(max_align_t))
        return malloc(size);
    return posix_memalign(&ptr, align, size) == 0 ? ptr : NULL;
}

void machine_free(void *ptr)
{
    free(ptr);
}

static char *pages_map(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* The kernel places a mapping beside the one before, so that only the first is cut to measure. */
void *machine_block_map(size_t size)
{
    char *block = pages_map(size);
    size_t over = (uintptr_t)block & (size - 1);
    if (!over)
        return block;
    munmap(block, size);
    char *wide = pages_map(2 * size);
    if (!wide)
        return NULL;
    size_t before = -(uintptr_t)wide & (size - 1);
    if (before)
        munmap(wide, before);
    munmap(wide + before + size, size - before);
    return wide + before;
}

void machine_block_unmap(void *block, size_t size)
{
    munmap(block, size);
}

size_t machine_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Does touching low really fault? An emulator may accept advice that it does not carry out. The
 * kernel reads the byte for a pipe and answers EFAULT where we would be killed. */
static bool guard_works(const char *low)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    bool works = write(ends[1], low, 1) < 0 && errno == EFAULT;
    close(ends[0]);
    close(ends[1]);
    return works;
}

enum guard_way { GUARD_UNKNOWN, GUARD_MADVISE, GUARD_MPROTECT };

/* True if the guard is in place. Guard regions cost no mapping; mprotect splits one per stack and
 * meets vm.max_map_count at about 32,000 stacks, after which stacks go without and are counted. */
static bool guard_install(char *low, size_t size)
{
    static _Atomic int way = GUARD_UNKNOWN; /* relaxed: a fact that everybody finds alike */
    if (atomic_load_explicit(&way, memory_order_relaxed) == GUARD_UNKNOWN) {
        bool works = madvise(low, size, MADV_GUARD_INSTALL) == 0 && guard_works(low);
        atomic_store_explicit(&way, works ? GUARD_MADVISE : GUARD_MPROTECT, memory_order_relaxed);
    }
    if (atomic_load_explicit(&way, memory_order_relaxed) == GUARD_MADVISE)
        return madvise(low, size, MADV_GUARD_INSTALL) == 0;
    return mprotect(low, size, PROT_NONE) == 0;
}

void *machine_stacks_map(size_t count, size_t size, size_t guard, size_t *guarded)
{
    char *base = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    madvise(base, count * size, MADV_NOHUGEPAGE); /* a huge page would commit 32 stacks for one */
    *guarded = 0;
    for (size_t i = 0; i < count; i++)
        *guarded += guard_install(base + i * size, guard);
    return base;
}

void machine_stacks_unmap(void *base, size_t count, size_t size)
{
    munmap(base, count * size);
}

void machine_stacks_drop(void *base, size_t count, size_t size)
{
    madvise(base, count * size, MADV_DONTNEED);
}

/* Faults -------------------------------------------------------------------------------------- */

void (*machine_on_fault)(const void *fault_address);

#if !defined(__SANITIZE_ADDRESS__) &&                                                              \
    !defined(SCHEDLAB_ASAN) /* AddressSanitizer reports overflows itself */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (machine_on_fault)
        machine_on_fault(info->si_addr);
    if (no_memory_left())
        machine_die(NO_MEMORY_TEXT, EXIT_ENVIRONMENT);
    signal(number, SIG_DFL); /* not ours: the instruction faults again and ends the process */
}

void machine_thread_enter(void)
{
    signal_stack = malloc(SIGNAL_STACK_SIZE);
    if (!signal_stack)
        return; /* an overflow then ends the process without our message */
    stack_t stack = {.ss_sp = signal_stack, .ss_size = SIGNAL_STACK_SIZE};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
#else
void machine_thread_enter(void)
{
}
#endif

void machine_thread_leave(void)
{
    stack_t off = {.ss_flags = SS_DISABLE};
    if (!signal_stack)
        return;
    sigaltstack(&off, NULL);
    free(signal_stack);
    signal_stack = NULL;
}

/* Interrupts ----------------------------------------------------------------------------------
 *
 * Two signals. SIGURG runs on the signal stack, so that it may come at any time, however little
 * room is left on the stack that it interrupts. The handler decides if the interruption is welcome,
 * also by the room on that stack. If so, it sends the thread the second one, SIGRTMIN. This one is
 * blocked until the first handler returns, and so arrives at the same instruction, on the
 * interrupted stack. Its frame keeps all registers there while the stack rests. The kernel restores
 * them wherever it goes on. A SIGURG that comes while the first handler runs is handled before the
 * SIGRTMIN, and sends another. So the second handler asks once more, and only one is taken.
 *   Rejected: one signal on the interrupted stack; a goroutine near the end of its stack would die
 *   of it. One on the signal stack, which makes the thread call a routine that saves all registers:
 *   an assembly routine per processor, which has to know every register that there will ever be.
 *
 * A signal frame also holds the thread's signal stack, and returning from a signal sets it. After a
 * goroutine has moved that would be another thread's, so it is written anew.
 */
#if defined(__SANITIZE_THREAD__) || defined(SCHEDLAB_TSAN)
void machine_interrupt_init(bool (*welcome)(uintptr_t pc, uintptr_t sp), void (*take)(void))
{
    (void)welcome;
    (void)take;
}

int machine_interrupt(const struct machine_thread *thread)
{
    (void)thread;
    return -ENOSYS;
}
#else
#define SIGNAL_ASK SIGURG
#define SIGNAL_TAKE SIGRTMIN

static bool (*interrupt_welcome)(uintptr_t pc, uintptr_t sp);
static void (*interrupt_take)(void);

static bool is_welcome(const ucontext_t *interrupted)
{
#if defined(__x86_64__)
    uintptr_t pc = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
    uintptr_t sp = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    uintptr_t pc = interrupted->uc_mcontext.pc;
    uintptr_t sp = interrupted->uc_mcontext.sp;
#endif
    return interrupt_welcome(pc, sp);
}

static void on_ask(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)number;
    (void)info;
    if (is_welcome(context))
        pthread_kill(pthread_self(), SIGNAL_TAKE);
    errno = error;
}

/* Not inlined: the thread may have changed since the caller last looked at something of its own. */
static __attribute__((noinline)) void errno_set(int error)
{
    errno = error;
}

static __attribute__((noinline)) stack_t signal_stack_of_thread(void)
{
    stack_t stack = {.ss_flags = SS_DISABLE};
    sigaltstack(NULL, &stack); /* a sanitizer may have its own */
    return stack;
}

static void on_take(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    int error = errno;
    (void)number;
    (void)info;
    if (!is_welcome(interrupted)) /* another SIGRTMIN has come with this one */
        return;
    interrupt_take();
    interrupted->uc_stack = signal_stack_of_thread();
    errno_set(error);
}

void machine_interrupt_init(bool (*welcome)(uintptr_t pc, uintptr_t sp), void (*take)(void))
{
    interrupt_welcome = welcome;
    interrupt_take = take;
    struct sigaction ask = {.sa_sigaction = on_ask,
                            .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct sigaction act = {.sa_sigaction = on_take,
                            .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    sigemptyset(&ask.sa_mask);
    sigemptyset(&act.sa_mask);
    sigaddset(&ask.sa_mask, SIGNAL_TAKE);
    sigaction(SIGNAL_ASK, &ask, NULL);
    sigaction(SIGNAL_TAKE, &act, NULL);
}

int machine_interrupt(const struct machine_thread *thread)
{
    return -pthread_kill((pthread_t)thread->handle, SIGNAL_ASK);
}
#endif

void machine_print(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n <= 0 && errno != EINTR)
            break;
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

void machine_die(const char *text, int status)
{
    machine_print(STDERR_FILENO, text, strlen(text));
    _exit(status);
}
