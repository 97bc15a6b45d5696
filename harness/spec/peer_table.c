/* peer_table.c - see peer_table.h. */
#include "harness/spec/peer_table.h"

#include "harness/host/data_folder.h"
#include "sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

struct peer {
    struct sched_ops ops;
    const char *packages; /* what Debian calls it */
};

#define PEER(name_, says, file, fj, needs)                                                         \
    {                                                                                              \
        {.name = (name_), .idea = (says), .source = "harness/peers/" file, .forkjoin = (fj)},      \
            .packages = (needs)                                                                    \
    }

/* FJ_HELP marks peers in which a spawned task has no thread or fiber of its own, so that few are
 * alive at once. */
static const struct peer peers[] = {
    PEER(PEER_PREFIX "go", "Go: goroutines and channels; fork/join with a goroutine per call",
         "go.go", FJ_GO, "golang-go"),
    PEER(PEER_PREFIX "tbb", "oneTBB: a task_group per activation, child stealing; fork/join only",
         "tbb.cpp", FJ_HELP, "libtbb-dev and g++"),
    PEER(PEER_PREFIX "gomp", "OpenMP tasks on GNU libgomp, built by gcc; fork/join only",
         "openmp.c", FJ_HELP, "gcc"),
    PEER(PEER_PREFIX "omp", "OpenMP tasks on LLVM libomp, built by clang; fork/join only",
         "openmp.c", FJ_HELP, "libomp-dev and clang"),
    PEER(PEER_PREFIX "boost", "Boost.Fiber: fibers and channels under its work-stealing algorithm",
         "boost.cpp", FJ_GO, "libboost-fiber-dev and g++"),
    {{.name = PEER_PREFIX "pthreads",
      .idea = "a POSIX thread per goroutine, with mutexes and condition variables",
      .source = "harness/peers/pthreads.c",
      .thread_per_g = true},
     "gcc"},
    PEER(FLOOR_PREFIX "core",
         "no scheduler: bare stack switches, uncontended locks and plain calls, by hand",
         "floor_core.c", FJ_HELP, "gcc"),
    PEER(FLOOR_PREFIX "line",
         "no scheduler: threads on two cores that pass cache lines to and fro, by hand",
         "floor_pair.c", FJ_GO, "gcc"),
    PEER(FLOOR_PREFIX "futex",
         "no scheduler: two threads that sleep in the kernel and wake each other, by hand",
         "floor_pair.c", FJ_GO, "gcc"),
    PEER(FLOOR_PREFIX "epoll", "no scheduler: a loop around epoll_wait() on each core, by hand",
         "floor_epoll.c", FJ_GO, "gcc"),
};

enum { PEERS = sizeof peers / sizeof peers[0] };

const struct sched_ops *peer_variant(size_t i)
{
    return i < PEERS ? &peers[i].ops : NULL;
}

static const struct peer *peer_of(const struct sched_ops *ops)
{
    for (size_t i = 0; i < PEERS; i++)
        if (&peers[i].ops == ops)
            return &peers[i];
    return NULL;
}

bool peer_is(const struct sched_ops *ops)
{
    return peer_of(ops) != NULL;
}

bool peer_is_name(const char *spec)
{
    return strncmp(spec, PEER_PREFIX, sizeof PEER_PREFIX - 1) == 0;
}

bool peer_is_floor_name(const char *spec)
{
    return strncmp(spec, FLOOR_PREFIX, sizeof FLOOR_PREFIX - 1) == 0 ||
           strcmp(spec, "serial") == 0 || strcmp(spec, "elision") == 0;
}

char *peer_program(const struct sched_ops *ops, char *path, size_t path_size)
{
    const char *name = strchr(ops->name, ':') + 1;
    const char *folder = getenv("SCHEDLAB_PEERS");
    char inside[64];
    snprintf(inside, sizeof inside, "build/peers/%s", name);
    if (folder && *folder)
        snprintf(path, path_size, "%s/%s", folder, name);
    else if (!data_find(inside, path, path_size)) {
        char sought[PATH_SIZE];
        snprintf(inside, sizeof inside, "libexec/schedlab/peers/%s", name);
        if (data_find(inside, sought, sizeof sought))
            snprintf(path, path_size, "%s", sought);
    }
    return path;
}

const char *peer_absence(const struct sched_ops *ops, struct error *why)
{
    char path[PATH_SIZE];
    if (access(peer_program(ops, path, sizeof path), X_OK) == 0)
        return NULL;
    error_print(why, "%s is not built here; `make peers` builds it, from what Debian calls %s",
                ops->name, peer_of(ops)->packages);
    return why->text;
}
