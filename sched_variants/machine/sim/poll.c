/* poll.c - pollers of the simulated machine.
 *
 * Source: Linux fs/eventpoll.c, as machine/native uses it.
 *   Same:    a list of those that may be ready, in the order in which they became so; each is
 *            asked for its state when it is taken, and dropped if it is none that was asked for.
 *            The poller tells the whole state, not only what has changed. A descriptor that becomes
 *            ready wakes one thread. Regular files are refused with -EPERM.
 *   Differs: a break is a flag, and takes no place in the batch. Not armed means not told, also of
 *            errors, as machine.h has it; there Linux tells of errors.
 *
 * Costs: each call has its price, and going to sleep has one. A call that makes something ready
 * pays for waking; an arrival makes nobody pay. The kernel's work per event is not counted.
 */
#include "fd.h"
#include "machine.h"

#include <errno.h>
#include <stdlib.h>

enum { EDGE_INTEREST = FD_ALL };

struct fd_registration {
    struct machine_poller *poller;
    struct fd *fd;
    uint64_t tag;
    int interest; /* FD_*, 0: not armed */
    bool edge, listed;
    TAILQ_ENTRY(fd_registration) of_fd, of_poller, of_list;
};

struct machine_poller {
    TAILQ_HEAD(, fd_registration) all, list;
    struct sim_queue waiters;
    bool breaking;
};

int machine_poller_new(struct machine_poller **poller)
{
    sim_spend(sim_model.call_ps);
    *poller = fd_alloc(sizeof **poller);
    TAILQ_INIT(&(*poller)->all);
    TAILQ_INIT(&(*poller)->list);
    TAILQ_INIT(&(*poller)->waiters);
    return 0;
}

static void unlist(struct fd_registration *self)
{
    if (self->listed)
        TAILQ_REMOVE(&self->poller->list, self, of_list);
    self->listed = false;
}

static void registration_end(struct fd_registration *self)
{
    unlist(self);
    TAILQ_REMOVE(&self->poller->all, self, of_poller);
    TAILQ_REMOVE(&self->fd->registrations, self, of_fd);
    free(self);
}

void machine_poller_free(struct machine_poller *poller)
{
    if (!poller)
        return;
    sim_spend(sim_model.call_ps);
    struct fd_registration *next;
    for (struct fd_registration *self = TAILQ_FIRST(&poller->all); self; self = next) {
        next = TAILQ_NEXT(self, of_poller);
        registration_end(self);
    }
    free(poller);
}

void poll_forget(struct fd *fd)
{
    struct fd_registration *next;
    for (struct fd_registration *self = TAILQ_FIRST(&fd->registrations); self; self = next) {
        next = TAILQ_NEXT(self, of_fd);
        registration_end(self);
    }
}

/* Lists a registration for the next thread that waits, and wakes one. */
static void list(struct fd_registration *self)
{
    if (!self->listed)
        TAILQ_INSERT_TAIL(&self->poller->list, self, of_list);
    self->listed = true;
    fd_wake(&self->poller->waiters, 1);
}

void poll_tell(struct fd *fd, int what)
{
    struct fd_registration *self;
    TAILQ_FOREACH(self, &fd->registrations, of_fd)
    {
        if (self->interest & what)
            list(self);
    }
}

static void list_if_ready(struct fd_registration *self)
{
    if (self->interest & self->fd->ops->state(self->fd))
        list(self);
}

/* The one that poller has of fd. */
static struct fd_registration *registration_find(const struct machine_poller *poller,
                                                 const struct fd *fd)
{
    struct fd_registration *self;
    TAILQ_FOREACH(self, &fd->registrations, of_fd)
    {
        if (self->poller == poller)
            return self;
    }
    return NULL;
}

/* Begins a call about number's registration: 0, or why there is none that could be. */
static int control_begin(struct machine_poller *poller, int number, struct fd **fd,
                         struct fd_registration **found)
{
    *fd = fd_call(number);
    if (!*fd)
        return -EBADF;
    *found = registration_find(poller, *fd);
    return (*fd)->ops->state ? 0 : -EPERM;
}

static int control_end(struct fd *fd, int error)
{
    return fd ? (int)fd_return(fd, error) : error;
}

int machine_poller_add(struct machine_poller *poller, int number, bool edge, uint64_t tag)
{
    struct fd *fd;
    struct fd_registration *self;
    int error = control_begin(poller, number, &fd, &self);
    if (!error && self)
        error = -EEXIST;
    if (!error) {
        self = fd_alloc(sizeof *self);
        self->poller = poller;
        self->fd = fd;
        self->tag = tag;
        self->edge = edge;
        self->interest = edge ? EDGE_INTEREST : 0;
        TAILQ_INSERT_TAIL(&poller->all, self, of_poller);
        TAILQ_INSERT_TAIL(&fd->registrations, self, of_fd);
        list_if_ready(self);
    }
    return control_end(fd, error);
}

int machine_poller_arm(struct machine_poller *poller, int number, int directions, uint64_t tag)
{
    struct fd *fd;
    struct fd_registration *self;
    int error = control_begin(poller, number, &fd, &self);
    if (!error && !self)
        error = -ENOENT;
    if (!error) {
        self->tag = tag;
        self->interest = FD_HUP | FD_ERR;
        if (directions & MACHINE_READ)
            self->interest |= FD_IN | FD_RDHUP;
        if (directions & MACHINE_WRITE)
            self->interest |= FD_OUT;
        list_if_ready(self);
    }
    return control_end(fd, error);
}

int machine_poller_remove(struct machine_poller *poller, int number)
{
    struct fd *fd;
    struct fd_registration *self;
    int error = control_begin(poller, number, &fd, &self);
    if (!error && !self)
        error = -ENOENT;
    if (!error)
        registration_end(self);
    return control_end(fd, error);
}

/* Waiting ------------------------------------------------------------------------------------- */

struct told {
    uint64_t tag;
    int what;
};

static int what_of(int state)
{
    int what = 0;
    if (state & ~FD_OUT)
        what |= MACHINE_READ;
    if (state & (FD_OUT | FD_HUP | FD_ERR))
        what |= MACHINE_WRITE;
    return what;
}

static int collect(struct machine_poller *poller, struct told *told, int batch)
{
    struct fd_registration *self;
    int count = 0;
    while (count < batch && (self = TAILQ_FIRST(&poller->list))) {
        unlist(self);
        int state = self->interest & self->fd->ops->state(self->fd);
        if (!state)
            continue;
        told[count++] = (struct told){self->tag, what_of(state)};
        if (!self->edge)
            self->interest = 0;
    }
    return count;
}

/* Picoseconds from now; < 0: for ever. */
static int64_t deadline_of(int64_t timeout_ns)
{
    if (timeout_ns < 0 || timeout_ns > (INT64_MAX - sim_now() - sim_slack()) / PS_PER_NS)
        return -1;
    return sim_now() + timeout_ns * PS_PER_NS;
}

/* Sleeps until something is listed, a break, or the deadline: false. */
static bool await_events(struct machine_poller *poller, int64_t deadline_ps)
{
    sim_spend(sim_model.wait_ps);
    while (TAILQ_EMPTY(&poller->list) && !poller->breaking) {
        int64_t left_ps = deadline_ps - sim_now();
        if (deadline_ps >= 0 && left_ps <= 0)
            return false;
        sim_queue_wait(&poller->waiters, deadline_ps < 0 ? -1 : left_ps + sim_slack());
    }
    return true;
}

int machine_poller_wait(struct machine_poller *poller, int batch, int64_t timeout_ns,
                        void (*fn)(void *arg, uint64_t tag, int what), void *arg)
{
    struct told told[MACHINE_EVENTS_MAX];
    int64_t deadline_ps = deadline_of(timeout_ns);
    sim_spend(sim_model.call_ps);
    int count = collect(poller, told, batch);
    while (count == 0 && timeout_ns != 0 && !poller->breaking && await_events(poller, deadline_ps))
        count = collect(poller, told, batch);
    if (timeout_ns != 0)
        poller->breaking = false;
    for (int i = 0; i < count; i++)
        fn(arg, told[i].tag, told[i].what);
    return count;
}

/* Where one is pending already this is no call, as natively. */
void machine_poller_break(struct machine_poller *poller)
{
    if (poller->breaking)
        return;
    sim_spend(sim_model.call_ps);
    poller->breaking = true;
    fd_wake(&poller->waiters, 1);
    fd_pay();
}

bool machine_has_uring(void)
{
    return false;
}
