/* sample_pool.c - see sample_pool.h. */
#include "harness/sample/sample_pool.h"

#include "harness/base/memory.h"
#include "harness/base/monotonic.h"
#include "harness/base/process.h"
#include "harness/models/machine_start.h"
#include "harness/sample/sample_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BEHIND = 4,           /* so many times `width` samples may be started and not taken */
    DESCRIPTORS_KEPT = 32 /* for files of the sweep, and what a sample's process opens */
};

/* A server, and whether it runs a sample. */
struct lane {
    struct sample_server server;
    bool busy;
};

struct slot {
    struct sample_request request;
    void *tag;
    struct lane *lane; /* that runs it; NULL: a process of its own does, pid */
    pid_t pid;
    int fd;       /* what the process says; -1: it has ended */
    bool alone;   /* none other ran when it was started */
    bool waiting; /* to be started again, when fewer run */
    char *text;
    size_t size;
    json_t *record; /* that was there before; NULL: the process says it */
    double started, seconds;
};

struct sample_pool {
    int width, running, waiting;
    bool serves; /* no server has been lost */
    int lanes;
    struct lane *lane;
    size_t first, count, room; /* slots in use, in the order of their start */
    struct slot *slots;        /* a ring */
};

static struct slot *slot_at(const struct sample_pool *pool, size_t i)
{
    return &pool->slots[(pool->first + i) % pool->room];
}

/* A sample that runs has descriptors here, two if a server runs it. */
static int width_allowed(int width)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= 2 * (rlim_t)width + DESCRIPTORS_KEPT)
        return width;
    return limit.rlim_cur > DESCRIPTORS_KEPT + 1 ? (int)(limit.rlim_cur - DESCRIPTORS_KEPT) / 2 : 1;
}

struct sample_pool *sample_pool_make(int width)
{
    struct sample_pool *pool = xcalloc(1, sizeof *pool);
    pool->width = width_allowed(width);
    pool->room = (size_t)width * BEHIND;
    pool->slots = xcalloc(pool->room, sizeof *pool->slots);
    pool->serves = true;
    pool->lanes = pool->width;
    pool->lane = xcalloc((size_t)pool->lanes, sizeof *pool->lane);
    return pool;
}

/* The sample's own process dies with the one that waits for it, which may be a server. */
static void slot_kill(struct slot *slot)
{
    if (slot->lane)
        sample_server_end(&slot->lane->server);
    else
        kill(slot->pid, SIGKILL);
}

static void slot_reap(struct slot *slot)
{
    if (slot->lane) {
        slot->lane->busy = false;
        slot->lane = NULL;
        slot->fd = -1;
        return;
    }
    close(slot->fd);
    slot->fd = -1;
    while (waitpid(slot->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void sample_pool_free(struct sample_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        struct slot *slot = slot_at(pool, i);
        if (slot->fd >= 0) {
            slot_kill(slot);
            slot_reap(slot);
        }
        free(slot->text);
        json_decref(slot->record);
    }
    for (int i = 0; i < pool->lanes; i++)
        sample_server_end(&pool->lane[i].server);
    free(pool->lane);
    free(pool->slots);
    free(pool);
}

bool sample_pool_has_room(const struct sample_pool *pool)
{
    return pool->running < pool->width && pool->waiting == 0 && pool->count < pool->room;
}

size_t sample_pool_count(const struct sample_pool *pool)
{
    return pool->count;
}

/* The child's side of fork(): runs the sample and writes its record. Writes nothing if it was
 * interrupted, for then the record is not wanted. */
static _Noreturn void slot_run(const struct slot *slot, pid_t parent, int to)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    json_t *record = child_run_sample(&slot->request);
    char *text = process_interrupted() ? NULL : json_dumps(record, JSON_COMPACT);
    _exit(!text || sample_server_write(to, text, strlen(text)) ? 0 : 1);
}

/* Servers that run nothing are processes too. False if there were none. */
static bool idle_servers_end(struct sample_pool *pool)
{
    bool ended = false;
    for (int i = 0; i < pool->lanes; i++) {
        if (pool->lane[i].busy || pool->lane[i].server.pid == 0)
            continue;
        sample_server_end(&pool->lane[i].server);
        ended = true;
    }
    pool->serves &= !ended;
    return ended;
}

/* The sample did not start, or its process could not: fewer at once take fewer descriptors and
 * processes. False if it was started alone, so that nothing is left to try. */
static bool slot_try_again(struct sample_pool *pool, struct slot *slot)
{
    bool room = idle_servers_end(pool);
    if (slot->alone && !room)
        return false;
    if (pool->width > pool->running)
        pool->width = pool->running > 0 ? pool->running : 1;
    pool->waiting++;
    slot->waiting = true;
    return true;
}

/* A program of another revision may not know how to serve. */
static bool may_be_served(const struct sample_request *request)
{
    return machine_text_is_simulated(request->machine) && !request->program &&
           request->sched_events_fd <= 0 && request->schedtrace_ns == 0;
}

/* False if no server takes it. */
static bool slot_ask(struct sample_pool *pool, struct slot *slot)
{
    struct lane *lane = pool->lane;
    if (!pool->serves || !may_be_served(&slot->request))
        return false;
    while (lane->busy)
        lane++;
    if (lane->server.pid == 0 && !sample_server_start(&lane->server))
        return false;
    if (!sample_server_ask(&lane->server, &slot->request)) {
        sample_server_end(&lane->server);
        pool->serves = false;
        return false;
    }
    slot->lane = lane;
    slot->fd = lane->server.from;
    lane->busy = true;
    pool->running++;
    return true;
}

/* False if there can be no process for it. */
static bool slot_start(struct sample_pool *pool, struct slot *slot)
{
    int ends[2];
    slot->started = monotonic_seconds();
    slot->alone = pool->running == 0;
    if (slot_ask(pool, slot))
        return true;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return slot_try_again(pool, slot);
    pid_t parent = getpid();
    slot->pid = fork();
    if (slot->pid == 0)
        slot_run(slot, parent, ends[1]);
    close(ends[1]);
    if (slot->pid < 0) {
        close(ends[0]);
        return slot_try_again(pool, slot);
    }
    slot->fd = ends[0];
    pool->running++;
    return true;
}

void sample_pool_start(struct sample_pool *pool, const struct sample_request *request, void *tag)
{
    struct slot *slot = slot_at(pool, pool->count++);
    *slot = (struct slot){.request = *request, .tag = tag, .fd = -1};
    slot_start(pool, slot);
}

/* Starts those that wait for fewer to run. Returns how many never can. */
static int pool_restart(struct sample_pool *pool)
{
    int ended = 0;
    for (size_t i = 0; i < pool->count && pool->running < pool->width; i++) {
        struct slot *slot = slot_at(pool, i);
        if (!slot->waiting)
            continue;
        slot->waiting = false;
        pool->waiting--;
        ended += !slot_start(pool, slot);
    }
    return ended;
}

void sample_pool_add(struct sample_pool *pool, json_t *record, void *tag)
{
    *slot_at(pool, pool->count++) = (struct slot){.tag = tag, .fd = -1, .record = record};
}

/* Reads what there is; true if that was all. */
static bool slot_read(struct slot *slot)
{
    char data[65536];
    ssize_t n = read(slot->fd, data, sizeof data);
    if (n < 0)
        return errno != EINTR && errno != EAGAIN;
    slot->text = xrealloc(slot->text, slot->size + (size_t)n + 1);
    memcpy(slot->text + slot->size, data, (size_t)n);
    slot->size += (size_t)n;
    return n == 0;
}

/* The sample's process is over. */
static void slot_end(struct sample_pool *pool, struct slot *slot)
{
    slot_reap(slot);
    slot->seconds = monotonic_seconds() - slot->started;
    pool->running--;
    if (slot->text)
        slot->record = json_loadb(slot->text, slot->size, 0, NULL);
    free(slot->text);
    slot->text = NULL;
    slot->size = 0;
}

/* True if the sample has its record, and is not to be started again. */
static bool slot_conclude(struct sample_pool *pool, struct slot *slot)
{
    if (!slot->record || !child_record_lacks_process(slot->record) || !slot_try_again(pool, slot))
        return true;
    json_decref(slot->record);
    slot->record = NULL;
    return false;
}

/* As slot_look(), of a sample that a server runs. One that is lost takes no samples with it. */
static bool lane_look(struct sample_pool *pool, struct slot *slot)
{
    int error;
    struct process_result result;
    struct sample_server *server = &slot->lane->server;
    enum sample_server_read read = sample_server_read(server, &error, &result);
    if (read == SAMPLE_SERVER_MORE)
        return false;
    slot_end(pool, slot);
    if (read == SAMPLE_SERVER_GONE) {
        sample_server_end(server);
        pool->serves = false;
        slot->waiting = true; /* pool_restart() starts it, with signals as they were */
        pool->waiting++;
        return false;
    }
    slot->record = child_record(&slot->request, error, &result);
    if (!error)
        process_result_free(&result);
    return slot_conclude(pool, slot);
}

/* Reads what there is; true if the sample has ended. */
static bool slot_look(struct sample_pool *pool, struct slot *slot)
{
    if (slot->lane)
        return lane_look(pool, slot);
    if (!slot_read(slot))
        return false;
    slot_end(pool, slot);
    return slot_conclude(pool, slot);
}

/* Ends all samples that run, because their pipes cannot be waited for. Returns how many. */
static int pool_lose(struct sample_pool *pool)
{
    int lost = pool->running;
    for (size_t i = 0; i < pool->count; i++) {
        struct slot *slot = slot_at(pool, i);
        if (slot->fd < 0)
            continue;
        slot_kill(slot);
        slot_end(pool, slot);
    }
    return lost;
}

/* Waits once for any of the running ones; how many have ended. */
static int pool_look(struct sample_pool *pool, const sigset_t *signals)
{
    struct pollfd *pipes = xcalloc((size_t)pool->running, sizeof *pipes);
    struct slot **slots = xcalloc((size_t)pool->running, sizeof *slots);
    int ended = 0;
    nfds_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (slot_at(pool, i)->fd >= 0) {
            slots[count] = slot_at(pool, i);
            pipes[count] = (struct pollfd){.fd = slots[count]->fd, .events = POLLIN};
            count++;
        }
    int ready = ppoll(pipes, count, NULL, signals);
    if (ready < 0 && errno != EINTR)
        ended = pool_lose(pool);
    for (nfds_t i = 0; ready > 0 && i < count; i++)
        if (pipes[i].revents)
            ended += slot_look(pool, slots[i]);
    free(slots);
    free(pipes);
    return ended;
}

bool sample_pool_wait(struct sample_pool *pool)
{
    sigset_t all, before;
    int ended = 0;
    sigfillset(&all);
    while (ended == 0 && !process_interrupted()) {
        ended = pool_restart(pool);
        if (pool->running == 0 && ended == 0 && pool->waiting > 0)
            continue; /* now without servers */
        if (pool->running == 0)
            break;
        /* Signals only inside ppoll(): one that came between looking and sleeping would be slept
         * through. */
        sigprocmask(SIG_SETMASK, &all, &before);
        if (ended == 0 && !process_interrupted())
            ended = pool_look(pool, &before);
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    return ended > 0 && !process_interrupted();
}

json_t *sample_pool_take(struct sample_pool *pool, void **tag, double *seconds)
{
    struct slot *slot = slot_at(pool, 0);
    if (pool->count == 0 || slot->fd >= 0 || slot->waiting)
        return NULL;
    json_t *record = slot->record;
    if (!record)
        record = child_record_lost(&slot->request,
                                   "the process that waits for the sample was lost, or could not "
                                   "be made");
    *tag = slot->tag;
    *seconds = slot->seconds;
    slot->record = NULL;
    pool->first = (pool->first + 1) % pool->room;
    pool->count--;
    return record;
}
