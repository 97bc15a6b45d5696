/* file.c - files of the simulated machine: in its memory, over those of the host.
 *
 * A file that is opened to be written is of the simulated machine alone. It begins empty and never
 * reaches the host. It is found under its path, as that is spelled, until the process ends. Any
 * other path is opened on the host and read whole. It is not looked at again while somebody has it
 * open. So a path that was never written and that the host does not have is -ENOENT. From the host
 * come regular files only: a directory is -EISDIR, anything else -ENXIO. A run repeats to the last
 * digit only if the host's files that it reads do not change.
 *
 * Source: Linux fs/read_write.c, fs/open.c.
 *   Same:    calls on one descriptor take turns at its position; opening for writing fails as on
 *            the host where a folder is missing or the path is one.
 *   Differs: no permissions are asked for writing, and no links are followed among written files.
 *
 * A read or write that moves bytes blocks its thread for a sample of the model's latency of files,
 * as a regular file does: no poller can wait for it. The end of a file is told at once.
 */
#include "fd.h"
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file that a path leads to. */
struct content {
    char *path;
    char *bytes;
    size_t size, room;
    int users;   /* open descriptors */
    bool loaded; /* from the host: goes with its last user */
    bool hidden; /* something else is found under the path by now */
    struct stat version;
};

struct file {
    struct fd fd;
    struct content *content;
    size_t position;
    bool busy; /* a call is under way; others wait for their turn */
    struct sim_queue turn;
};

static void *contents; /* tsearch(), by path */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct content *)a)->path, ((const struct content *)b)->path);
}

static struct content *content_find(const char *path)
{
    struct content key = {.path = (char *)path}, **found = tfind(&key, &contents, by_path);
    return found ? *found : NULL;
}

static struct content *content_add(const char *path)
{
    struct content *content = fd_alloc(sizeof *content);
    content->path = fd_alloc(strlen(path) + 1);
    memcpy(content->path, path, strlen(path));
    if (!tsearch(content, &contents, by_path))
        machine_die("the simulated machine: no memory for its files\n", 1);
    return content;
}

static void content_free(struct content *content)
{
    free(content->bytes);
    free(content->path);
    free(content);
}

static void content_hide(struct content *content)
{
    tdelete(content, &contents, by_path);
    content->hidden = true;
}

static void content_drop(struct content *content)
{
    if (--content->users > 0 || !content->loaded)
        return;
    if (!content->hidden)
        content_hide(content);
    content_free(content);
}

/* Room for size bytes; what lies between the old end and the new one is zero. */
static void content_extend(struct content *content, size_t size)
{
    if (size > content->room) {
        size_t room = content->room ? content->room : SIM_PAGE;
        while (room < size)
            room *= 2;
        char *grown = fd_alloc(room);
        if (content->size)
            memcpy(grown, content->bytes, content->size);
        free(content->bytes);
        content->bytes = grown;
        content->room = room;
    }
    if (size > content->size) {
        memset(content->bytes + content->size, 0, size - content->size);
        content->size = size;
    }
}

/* The host ------------------------------------------------------------------------------------ */

static bool same_version(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* To its end, whatever size it claims: files of /proc claim none. */
static int host_read_all(int host, struct content *content)
{
    for (size_t size = 0;;) {
        content_extend(content, size + (1 << 16));
        ssize_t n = pread(host, content->bytes + size, content->size - size, (off_t)size);
        if (n < 0 && errno == EINTR)
            continue;
        content->size = size += n > 0 ? (size_t)n : 0;
        if (n <= 0)
            return n < 0 ? -errno : 0;
    }
}

static int host_load(int host, const char *path, struct content **found)
{
    struct stat version;
    if (fstat(host, &version) != 0)
        return -errno;
    if (!S_ISREG(version.st_mode))
        return S_ISDIR(version.st_mode) ? -EISDIR : -ENXIO;
    struct content *content = content_find(path);
    if (content && same_version(&content->version, &version)) {
        *found = content;
        return 0;
    }
    if (content)
        content_hide(content);
    *found = content = content_add(path);
    content->loaded = true;
    content->version = version;
    int error = host_read_all(host, content);
    if (error) {
        content_hide(content);
        content_free(content);
    }
    return error;
}

static int open_read(const char *path, struct content **found)
{
    *found = content_find(path);
    if (*found && !(*found)->loaded)
        return 0;
    int host = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (host < 0)
        return -errno;
    int error = host_load(host, path, found);
    close(host);
    return error;
}

/* 0 if the host has the folder that path lies in, and no folder at path itself; else -errno. */
static int folder_check(const char *path)
{
    struct stat state;
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (!path[0])
        return -ENOENT;
    if (!path[length] || (stat(path, &state) == 0 && S_ISDIR(state.st_mode)))
        return -EISDIR;
    char *folder = fd_alloc(length + 2);
    memcpy(folder, slash ? path : ".", slash ? length : 1);
    int error = stat(folder, &state) == 0 ? 0 : -errno;
    free(folder);
    return error;
}

static int open_write(const char *path, struct content **found)
{
    int error = folder_check(path);
    if (error)
        return error;
    *found = content_find(path);
    if (*found && (*found)->loaded) {
        content_hide(*found);
        *found = NULL;
    }
    if (!*found)
        *found = content_add(path);
    (*found)->size = 0;
    return 0;
}

/* Descriptors --------------------------------------------------------------------------------- */

static struct file *file_of(const struct fd *fd)
{
    return FD_CONTAINER(fd, struct file, fd);
}

static void turn_begin(struct file *file)
{
    bool slept = false;
    while (file->busy)
        fd_sleep(&file->turn, &slept);
    file->busy = true;
}

static void turn_end(struct file *file)
{
    file->busy = false;
    fd_wake(&file->turn, 1);
}

static void device_wait(void)
{
    struct sim_queue nobody_wakes = TAILQ_HEAD_INITIALIZER(nobody_wakes);
    sim_queue_wait(&nobody_wakes, sim_latency(&sim_model.file));
}

static size_t file_left(const struct file *file)
{
    return file->position < file->content->size ? file->content->size - file->position : 0;
}

static int64_t file_read(struct fd *fd, void *buffer, size_t size)
{
    struct file *file = file_of(fd);
    turn_begin(file);
    size_t n = 0;
    if (size > 0 && file_left(file) > 0) {
        device_wait();
        n = file_left(file) < size ? file_left(file) : size;
    }
    if (n > 0)
        memcpy(buffer, file->content->bytes + file->position, n);
    file->position += n;
    turn_end(file);
    return (int64_t)n;
}

static size_t file_room(const struct fd *fd, size_t size)
{
    (void)fd;
    return size;
}

static int64_t file_write(struct fd *fd, const void *data, size_t size, bool first)
{
    (void)first;
    struct file *file = file_of(fd);
    if (size == 0)
        return 0;
    turn_begin(file);
    device_wait();
    content_extend(file->content, file->position + size);
    memcpy(file->content->bytes + file->position, data, size);
    file->position += size;
    turn_end(file);
    return (int64_t)size;
}

static void file_release(struct fd *fd)
{
    struct file *file = file_of(fd);
    content_drop(file->content);
    free(file);
}

static const struct fd_ops read_ops = {.read = file_read, .release = file_release};
static const struct fd_ops write_ops = {
    .write = file_write,
    .room = file_room,
    .release = file_release,
};

int machine_fd_open(const char *path, bool write)
{
    sim_spend(sim_model.call_ps);
    int number = fd_reserve();
    if (number < 0)
        return number;
    struct content *content;
    int error = write ? open_write(path, &content) : open_read(path, &content);
    if (error) {
        fd_unreserve(number);
        return error;
    }
    struct file *file = fd_alloc(sizeof *file);
    fd_init(&file->fd, write ? &write_ops : &read_ops, true);
    TAILQ_INIT(&file->turn);
    file->content = content;
    content->users++;
    fd_install(number, &file->fd);
    return number;
}
