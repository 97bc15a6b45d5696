/* poll.c - the poller as epoll.
 *
 * Source: Go 1.26 runtime/netpoll_epoll.go.
 *   Same:    one registration per descriptor, IN | OUT | RDHUP | ET; an eventfd ends a wait, with
 *            one write to it in flight at a time.
 *   Differs: timeouts in ns where the kernel takes them (epoll_pwait2, Linux 5.11), else rounded up
 *            to ms; Go rounds down, and waits again.
 *            Not edge: EPOLLONESHOT, armed by machine_poller_arm().
 *   Why:     a plain level-triggered registration of both directions would report every descriptor
 *            that can be written all the time. So who waits has to say so, a system call per wait:
 *            what edges save.
 *
 * Break. `breaking` is 1 from the write to the eventfd until a wait has taken it off again; who
 * finds it 1 need not write. A look (timeout 0) leaves it to who waits: the registration of the
 * eventfd is a level, so it is seen again.
 *   PB1  releasing exchange in machine_poller_break() pairs with PB2, the acquiring exchange of who
 *        waited: what the breaker did before is visible to it
 */
#include "machine.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000, MS_NS = 1000000 };

struct machine_poller {
    int epoll, wake;
    _Atomic uint32_t breaking;
};

static const uint64_t WAKE_TAG = UINT64_MAX;

int machine_poller_new(struct machine_poller **poller)
{
    int error;
    struct machine_poller *self = malloc(sizeof *self);
    if (!self)
        return -ENOMEM;
    atomic_init(&self->breaking, 0);
    if ((self->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0) {
        error = -errno;
        goto free_self;
    }
    if ((self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
        error = -errno;
        goto close_epoll;
    }
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = WAKE_TAG};
    if (epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->wake, &event) != 0) {
        error = -errno;
        goto close_wake;
    }
    *poller = self;
    return 0;
close_wake:
    close(self->wake);
close_epoll:
    close(self->epoll);
free_self:
    free(self);
    return error;
}

void machine_poller_free(struct machine_poller *poller)
{
    if (!poller)
        return;
    close(poller->wake);
    close(poller->epoll);
    free(poller);
}

static int control(struct machine_poller *poller, int op, int fd, uint32_t events, uint64_t tag)
{
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return epoll_ctl(poller->epoll, op, fd, &event) == 0 ? 0 : -errno;
}

int machine_poller_add(struct machine_poller *poller, int fd, bool edge, uint64_t tag)
{
    uint32_t events = edge ? EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET : EPOLLONESHOT;
    return control(poller, EPOLL_CTL_ADD, fd, events, tag);
}

int machine_poller_arm(struct machine_poller *poller, int fd, int directions, uint64_t tag)
{
    uint32_t events = EPOLLONESHOT;
    if (directions & MACHINE_READ)
        events |= EPOLLIN | EPOLLRDHUP;
    if (directions & MACHINE_WRITE)
        events |= EPOLLOUT;
    return control(poller, EPOLL_CTL_MOD, fd, events, tag);
}

int machine_poller_remove(struct machine_poller *poller, int fd)
{
    return control(poller, EPOLL_CTL_DEL, fd, 0, 0);
}

static int what_of(uint32_t events)
{
    int what = 0;
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        what |= MACHINE_READ;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        what |= MACHINE_WRITE;
    return what;
}

/* In milliseconds, for kernels without epoll_pwait2 and for containers that refuse it. */
static int wait_ms(int epoll, struct epoll_event *events, int batch, int64_t timeout_ns)
{
    int64_t ms = timeout_ns < 0 ? -1 : timeout_ns / MS_NS + (timeout_ns % MS_NS != 0);
    return epoll_wait(epoll, events, batch, ms > INT_MAX ? INT_MAX : (int)ms);
}

static int wait_for(int epoll, struct epoll_event *events, int batch, int64_t timeout_ns)
{
#if defined(SYS_epoll_pwait2)
    static _Atomic bool missing; /* relaxed: a fact that everybody finds alike */
    if (timeout_ns > 0 && !atomic_load_explicit(&missing, memory_order_relaxed)) {
        struct timespec timeout = {timeout_ns / SECOND_NS, timeout_ns % SECOND_NS};
        long n = syscall(SYS_epoll_pwait2, epoll, events, batch, &timeout, NULL, 0);
        if (n >= 0 || (errno != ENOSYS && errno != EPERM))
            return (int)n;
        atomic_store_explicit(&missing, true, memory_order_relaxed);
    }
#endif
    return wait_ms(epoll, events, batch, timeout_ns);
}

static void take_break(struct machine_poller *poller)
{
    uint64_t sum;
    /* Read before the flag falls: a break after that writes again, and one in between means the
     * return that is under way. The other way round it might be read with the flag left up. */
    ssize_t n = read(poller->wake, &sum, sizeof sum);
    (void)n; /* nothing there: it was taken already */
    atomic_exchange_explicit(&poller->breaking, 0, memory_order_acquire); /* PB2 */
}

int machine_poller_wait(struct machine_poller *poller, int batch, int64_t timeout_ns,
                        void (*fn)(void *arg, uint64_t tag, int what), void *arg)
{
    struct epoll_event events[MACHINE_EVENTS_MAX];
    int n = wait_for(poller->epoll, events, batch, timeout_ns), told = 0;
    for (int i = 0; i < n; i++) {
        if (events[i].data.u64 != WAKE_TAG) {
            fn(arg, events[i].data.u64, what_of(events[i].events));
            told++;
        } else if (timeout_ns != 0) {
            take_break(poller);
        }
    }
    return told;
}

void machine_poller_break(struct machine_poller *poller)
{
    uint64_t one = 1;
    if (atomic_exchange_explicit(&poller->breaking, 1, memory_order_acq_rel) != 0) /* PB1 */
        return;
    ssize_t n = write(poller->wake, &one, sizeof one);
    (void)n; /* fails only where one is waiting to be read, which does as well */
}

bool machine_has_uring(void)
{
#if defined(SYS_io_uring_setup)
    return syscall(SYS_io_uring_setup, 0, NULL) >= 0 || (errno != ENOSYS && errno != EPERM);
#else
    return false;
#endif
}
