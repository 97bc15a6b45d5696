/* fd.c - the table of descriptors of the simulated machine, and what they have in common.
 *
 * Source: Linux fs/file.c, fs/read_write.c.
 *   Same:    the lowest free number; a call holds what it works on, so that closing takes the
 *            number away and nothing else; a write that waits goes on until all is written, or an
 *            error comes; at most 0x7ffff000 bytes a call.
 *   Differs: pollers need no number. Numbers 0 to 2 are no descriptors.
 *
 * Prices: each call costs call_ps first, and going to sleep costs wait_ps. A call that wakes others
 * pays wake_ps for each of them, before it returns or sleeps. Copying costs what the caches charge
 * for the user's buffer. It is paid before others can see the data that are written, and after the
 * data that are read have been taken.
 */
#include "fd.h"
#include "machine.h"

#include <errno.h>
#include <stdlib.h>

enum { CALL_BYTES_MAX = 0x7ffff000 }; /* Linux include/linux/fs.h MAX_RW_COUNT */

/* Source: Linux fs/file.c, the most that RLIMIT_NOFILE may be by default (fs.nr_open). */
static int limit = 1 << 20;

static struct fd **table;
static int table_size;
static int free_from = FD_FIRST; /* no number below it is free */
static struct fd reserved;       /* stands for a number that nobody can use yet */
static int64_t interrupted;      /* whose price is still to be paid */

void *fd_alloc(size_t size)
{
    static const char text[] = "the simulated machine: no memory for its descriptors\n";
    void *ptr = calloc(1, size);
    if (!ptr)
        machine_die(text, 1);
    return ptr;
}

/* Numbers ------------------------------------------------------------------------------------ */

static void table_grow(void)
{
    int size = table_size ? 2 * table_size : 64;
    struct fd **grown = fd_alloc((size_t)size * sizeof(struct fd *));
    for (int i = 0; i < table_size; i++)
        grown[i] = table[i];
    free(table);
    table = grown;
    table_size = size;
}

int fd_reserve(void)
{
    int number = free_from;
    while (number < table_size && table[number])
        number++;
    if (number >= limit)
        return -EMFILE;
    if (number >= table_size)
        table_grow();
    table[number] = &reserved;
    free_from = number + 1;
    return number;
}

void fd_install(int number, struct fd *fd)
{
    table[number] = fd;
}

void fd_unreserve(int number)
{
    table[number] = NULL;
    if (number < free_from)
        free_from = number;
}

void fd_init(struct fd *fd, const struct fd_ops *ops, bool wait)
{
    fd->ops = ops;
    fd->references = 1;
    fd->wait = wait;
    TAILQ_INIT(&fd->readers);
    TAILQ_INIT(&fd->writers);
    TAILQ_INIT(&fd->registrations);
}

struct fd *fd_get(int number)
{
    if (number < 0 || number >= table_size || !table[number] || table[number] == &reserved)
        return NULL;
    table[number]->references++;
    return table[number];
}

void fd_put(struct fd *fd)
{
    if (--fd->references > 0)
        return;
    poll_forget(fd);
    fd->ops->release(fd);
}

/* Calls --------------------------------------------------------------------------------------- */

struct fd *fd_call(int number)
{
    sim_spend(sim_model.call_ps);
    return fd_get(number);
}

int64_t fd_return(struct fd *fd, int64_t result)
{
    fd_put(fd);
    fd_pay();
    return result;
}

void fd_wake(struct sim_queue *queue, int n)
{
    int64_t before = sim_interrupts();
    if (n > 0)
        sim_queue_wake(queue, n);
    interrupted += sim_interrupts() - before;
}

void fd_pay(void)
{
    int64_t count = interrupted;
    interrupted = 0;
    if (count)
        sim_spend(count * sim_model.wake_ps);
}

void fd_free_of_charge(void)
{
    interrupted = 0;
}

void fd_tell(struct fd *fd, int what, int n)
{
    if (what & ~FD_OUT)
        fd_wake(&fd->readers, n);
    if (what & ~(FD_IN | FD_RDHUP))
        fd_wake(&fd->writers, n);
    poll_tell(fd, what);
}

bool fd_sleep(struct sim_queue *queue, bool *slept)
{
    fd_pay();
    if (*slept)
        sim_queue_wait(queue, -1);
    else
        sim_spend(sim_model.wait_ps);
    *slept = !*slept;
    return true;
}

int64_t machine_fd_read(int number, void *buffer, size_t size)
{
    struct fd *fd = fd_call(number);
    if (!fd)
        return -EBADF;
    if (!fd->ops->read)
        return fd_return(fd, -EBADF);
    bool slept = false;
    int64_t n;
    if (size > CALL_BYTES_MAX)
        size = CALL_BYTES_MAX;
    do
        n = fd->ops->read(fd, buffer, size);
    while (n == -EAGAIN && fd->wait && fd_sleep(&fd->readers, &slept));
    fd_pay();
    if (n > 0)
        sim_touch(buffer, (size_t)n, true);
    return fd_return(fd, n);
}

/* As much as there is room for. While the data are read others may run, so that there is less. */
static int64_t write_some(struct fd *fd, const char *data, size_t size, bool first)
{
    size_t room = fd->ops->room(fd, size);
    if (room == 0)
        return fd->ops->write(fd, data, size, first);
    fd_pay();
    sim_touch(data, room, false);
    return fd->ops->write(fd, data, room, first);
}

int64_t machine_fd_write(int number, const void *data, size_t size)
{
    struct fd *fd = fd_call(number);
    if (!fd)
        return -EBADF;
    if (!fd->ops->write)
        return fd_return(fd, -EBADF);
    bool slept = false;
    size_t written = 0;
    int64_t n;
    if (size > CALL_BYTES_MAX)
        size = CALL_BYTES_MAX;
    do {
        n = write_some(fd, (const char *)data + written, size - written, written == 0);
        if (n > 0) {
            written += (size_t)n;
            slept = false;
        }
    } while ((n > 0 && written < size) ||
             (n == -EAGAIN && fd->wait && fd_sleep(&fd->writers, &slept)));
    return fd_return(fd, written ? (int64_t)written : n);
}

void machine_fd_close(int number)
{
    struct fd *fd = fd_call(number);
    if (!fd)
        return;
    fd_unreserve(number);
    fd_put(fd); /* the number's */
    fd_return(fd, 0);
}
