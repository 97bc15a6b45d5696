/* fd.c - descriptors of Linux: files, pipes, eventfds, TCP on 127.0.0.1. */
#include "machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILE_MODE = 0666 };

/* Pipes have no flag that keeps the signal away, as sends have. A handler that was set before
 * stays. */
static void sigpipe_ignore(void)
{
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
        now.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

/* As many descriptors as the process may have. Source: Go 1.26 os/rlimit.go. */
static void limit_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void first_descriptor(void)
{
    sigpipe_ignore();
    limit_raise();
}

/* The result of a call that makes descriptors: value, or -errno. */
static int result_of(int value)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (value < 0)
        return -errno;
    pthread_once(&once, first_descriptor);
    return value;
}

int machine_fd_open(const char *path, bool write)
{
    int flags = O_CLOEXEC | (write ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY);
    int fd;
    do
        fd = open(path, flags, FILE_MODE);
    while (fd < 0 && errno == EINTR);
    return result_of(fd);
}

int machine_fd_pipe(int ends[2], bool wait)
{
    return result_of(pipe2(ends, O_CLOEXEC | (wait ? 0 : O_NONBLOCK)));
}

int machine_fd_eventfd(bool wait)
{
    return result_of(eventfd(0, EFD_CLOEXEC | (wait ? 0 : EFD_NONBLOCK)));
}

/* Sockets ------------------------------------------------------------------------------------- */

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int socket_new(bool wait)
{
    return result_of(
        socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK), IPPROTO_TCP));
}

/* Small messages leave at once. Source: Go 1.26 net/tcpsock.go newTCPConn. */
static void no_delay(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

int machine_fd_listen(bool wait)
{
    struct sockaddr_in address = loopback(0);
    int fd = socket_new(wait);
    if (fd < 0)
        return fd;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

int machine_fd_port(int fd)
{
    struct sockaddr_in address = {0};
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return -errno;
    return ntohs(address.sin_port);
}

/* A client that has gone again before it was accepted is not the server's error. Source: Go 1.26
 * internal/poll/fd_unix.go Accept. */
int machine_fd_accept(int fd, bool wait)
{
    int made;
    do
        made = accept4(fd, NULL, NULL, SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK));
    while (made < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (made >= 0)
        no_delay(made);
    return result_of(made);
}

/* A signal ends the call, not the attempt. */
static int dial_wait(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int error;
    while ((error = machine_fd_dialled(fd)) == -EAGAIN)
        poll(&ready, 1, -1);
    return error;
}

int machine_fd_dial(int port, bool wait)
{
    struct sockaddr_in address = loopback(port);
    int fd = socket_new(wait), error = 0;
    if (fd < 0)
        return fd;
    no_delay(fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        error = -errno;
    if (error == -EINTR && wait)
        error = dial_wait(fd);
    if (error == 0 || error == -EINPROGRESS || error == -EINTR)
        return fd;
    close(fd);
    return error;
}

/* SO_ERROR is 0 while the attempt goes on, too: only a peer's name proves that it ended well. */
int machine_fd_dialled(int fd)
{
    struct sockaddr_in peer;
    int error = 0;
    socklen_t size = sizeof error, peer_size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        return -errno;
    if (error)
        return -error;
    if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) != 0)
        return errno == ENOTCONN ? -EAGAIN : -errno;
    return 0;
}

int machine_fd_shutdown(int fd, bool both)
{
    return shutdown(fd, both ? SHUT_RDWR : SHUT_WR) == 0 ? 0 : -errno;
}

/* All --------------------------------------------------------------------------------------- */

int64_t machine_fd_read(int fd, void *buffer, size_t size)
{
    ssize_t n;
    do
        n = read(fd, buffer, size);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

int64_t machine_fd_write(int fd, const void *data, size_t size)
{
    ssize_t n;
    do
        n = write(fd, data, size);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

/* The descriptor is gone whatever close() answers. */
void machine_fd_close(int fd)
{
    close(fd);
}
