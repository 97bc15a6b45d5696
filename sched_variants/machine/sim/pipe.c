/* pipe.c - pipes and eventfds of the simulated machine.
 *
 * Source: Linux fs/pipe.c, fs/eventfd.c.
 *   Same:    a pipe is 16 pages; a write fills up the last one only with what fits there whole,
 *            and so up to a page is written whole or not at all; a pipe can be written when a
 *            page is free. Sleepers are woken one at a time, and each wakes the next. Each write
 *            tells the pollers of the reading end; a read tells those of the writing end when the
 *            pipe was full.
 *   Differs: a writer always passes the turn on when there is room, where Linux's does only if it
 *            has slept.
 *
 * Bytes that are written can be read at once.
 */
#include "fd.h"
#include "machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIPE_PAGES = 16, READER = 0, WRITER = 1 };

struct pipe_page {
    char *bytes;
    size_t begin, end;
};

/* head - tail pages are in use. */
struct pipe {
    struct fd end[2];
    bool gone[2];
    unsigned int head, tail;
    struct pipe_page page[PIPE_PAGES];
};

static struct pipe *pipe_of_reader(const struct fd *fd)
{
    return FD_CONTAINER(fd, struct pipe, end[READER]);
}

static struct pipe *pipe_of_writer(const struct fd *fd)
{
    return FD_CONTAINER(fd, struct pipe, end[WRITER]);
}

static unsigned int pages_free(const struct pipe *pipe)
{
    return PIPE_PAGES - (pipe->head - pipe->tail);
}

static size_t pipe_take(struct pipe *pipe, char *buffer, size_t size)
{
    size_t taken = 0;
    while (taken < size && pipe->head != pipe->tail) {
        struct pipe_page *page = &pipe->page[pipe->tail % PIPE_PAGES];
        size_t n = page->end - page->begin < size - taken ? page->end - page->begin : size - taken;
        memcpy(buffer + taken, page->bytes + page->begin, n);
        page->begin += n;
        taken += n;
        if (page->begin == page->end) {
            free(page->bytes);
            pipe->tail++;
        }
    }
    return taken;
}

static int64_t pipe_read(struct fd *fd, void *buffer, size_t size)
{
    struct pipe *pipe = pipe_of_reader(fd);
    if (size == 0)
        return 0;
    if (pipe->head == pipe->tail)
        return pipe->gone[WRITER] ? 0 : -EAGAIN;
    bool was_full = pages_free(pipe) == 0;
    size_t taken = pipe_take(pipe, buffer, size);
    if (was_full && pages_free(pipe) > 0)
        fd_tell(&pipe->end[WRITER], FD_OUT, 1);
    if (pipe->head != pipe->tail)
        fd_wake(&fd->readers, 1);
    return (int64_t)taken;
}

/* How many of size bytes go into the last page that is in use. */
static size_t room_in_last(const struct pipe *pipe, size_t size)
{
    size_t odd = size % SIM_PAGE;
    if (pipe->head == pipe->tail)
        return 0;
    return pipe->page[(pipe->head - 1) % PIPE_PAGES].end + odd <= SIM_PAGE ? odd : 0;
}

static size_t pipe_room(const struct fd *fd, size_t size)
{
    const struct pipe *pipe = pipe_of_writer(fd);
    size_t room = room_in_last(pipe, size) + pages_free(pipe) * (size_t)SIM_PAGE;
    return pipe->gone[READER] ? 0 : room < size ? room : size;
}

static void pipe_put(struct pipe *pipe, const char *data, size_t size)
{
    size_t put = room_in_last(pipe, size);
    if (put) {
        struct pipe_page *last = &pipe->page[(pipe->head - 1) % PIPE_PAGES];
        memcpy(last->bytes + last->end, data, put);
        last->end += put;
    }
    while (put < size) {
        struct pipe_page *page = &pipe->page[pipe->head++ % PIPE_PAGES];
        size_t n = size - put < SIM_PAGE ? size - put : SIM_PAGE;
        *page = (struct pipe_page){.bytes = fd_alloc(SIM_PAGE), .end = n};
        memcpy(page->bytes, data + put, n);
        put += n;
    }
}

static int64_t pipe_write(struct fd *fd, const void *data, size_t size, bool first)
{
    (void)first;
    struct pipe *pipe = pipe_of_writer(fd);
    if (size == 0)
        return 0;
    if (pipe->gone[READER])
        return -EPIPE;
    size_t room = pipe_room(fd, size);
    if (room == 0)
        return -EAGAIN;
    bool was_empty = pipe->head == pipe->tail;
    pipe_put(pipe, data, room);
    fd_tell(&pipe->end[READER], FD_IN, was_empty);
    if (pages_free(pipe) > 0)
        fd_wake(&fd->writers, 1);
    return (int64_t)room;
}

static int reader_state(struct fd *fd)
{
    const struct pipe *pipe = pipe_of_reader(fd);
    return (pipe->head != pipe->tail ? FD_IN : 0) | (pipe->gone[WRITER] ? FD_HUP : 0);
}

static int writer_state(struct fd *fd)
{
    const struct pipe *pipe = pipe_of_writer(fd);
    return (pages_free(pipe) > 0 ? FD_OUT : 0) | (pipe->gone[READER] ? FD_ERR : 0);
}

static void end_release(struct pipe *pipe, int end)
{
    pipe->gone[end] = true;
    if (!pipe->gone[!end]) {
        fd_tell(&pipe->end[!end], FD_ALL, INT_MAX);
        return;
    }
    for (; pipe->tail != pipe->head; pipe->tail++)
        free(pipe->page[pipe->tail % PIPE_PAGES].bytes);
    free(pipe);
}

static void reader_release(struct fd *fd)
{
    end_release(pipe_of_reader(fd), READER);
}

static void writer_release(struct fd *fd)
{
    end_release(pipe_of_writer(fd), WRITER);
}

static const struct fd_ops reader_ops = {
    .read = pipe_read,
    .state = reader_state,
    .release = reader_release,
};

static const struct fd_ops writer_ops = {
    .write = pipe_write,
    .room = pipe_room,
    .state = writer_state,
    .release = writer_release,
};

int machine_fd_pipe(int ends[2], bool wait)
{
    sim_spend(sim_model.call_ps);
    int number[2] = {fd_reserve(), -1};
    if (number[READER] < 0)
        return number[READER];
    if ((number[WRITER] = fd_reserve()) < 0) {
        fd_unreserve(number[READER]);
        return number[WRITER];
    }
    struct pipe *pipe = fd_alloc(sizeof *pipe);
    fd_init(&pipe->end[READER], &reader_ops, wait);
    fd_init(&pipe->end[WRITER], &writer_ops, wait);
    for (int end = 0; end < 2; end++) {
        fd_install(number[end], &pipe->end[end]);
        ends[end] = number[end];
    }
    return 0;
}

/* Eventfds ------------------------------------------------------------------------------------ */

struct eventfd {
    struct fd fd;
    uint64_t sum;
};

static const uint64_t SUM_MAX = UINT64_MAX - 1;

static struct eventfd *eventfd_of(const struct fd *fd)
{
    return FD_CONTAINER(fd, struct eventfd, fd);
}

static int64_t eventfd_read(struct fd *fd, void *buffer, size_t size)
{
    struct eventfd *event = eventfd_of(fd);
    if (size < sizeof event->sum)
        return -EINVAL;
    if (event->sum == 0)
        return -EAGAIN;
    memcpy(buffer, &event->sum, sizeof event->sum);
    event->sum = 0;
    fd_tell(fd, FD_OUT, INT_MAX);
    return sizeof event->sum;
}

static size_t eventfd_room(const struct fd *fd, size_t size)
{
    (void)fd;
    return size;
}

static int64_t eventfd_write(struct fd *fd, const void *data, size_t size, bool first)
{
    (void)first;
    struct eventfd *event = eventfd_of(fd);
    uint64_t value;
    if (size != sizeof value)
        return -EINVAL;
    memcpy(&value, data, sizeof value);
    if (value > SUM_MAX)
        return -EINVAL;
    if (value > SUM_MAX - event->sum)
        return -EAGAIN;
    event->sum += value;
    fd_tell(fd, FD_IN, INT_MAX);
    return sizeof value;
}

static int eventfd_state(struct fd *fd)
{
    const struct eventfd *event = eventfd_of(fd);
    return (event->sum > 0 ? FD_IN : 0) | (event->sum < SUM_MAX ? FD_OUT : 0);
}

static void eventfd_release(struct fd *fd)
{
    free(eventfd_of(fd));
}

static const struct fd_ops eventfd_ops = {
    .read = eventfd_read,
    .write = eventfd_write,
    .room = eventfd_room,
    .state = eventfd_state,
    .release = eventfd_release,
};

int machine_fd_eventfd(bool wait)
{
    sim_spend(sim_model.call_ps);
    int number = fd_reserve();
    if (number < 0)
        return number;
    struct eventfd *event = fd_alloc(sizeof *event);
    fd_init(&event->fd, &eventfd_ops, wait);
    fd_install(number, &event->fd);
    return number;
}
