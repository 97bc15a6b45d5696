/* no_memory.h - tells a fault for want of memory from other faults.
 *
 * jemalloc answers most failures with NULL, as it should, but a thread for which it cannot make an
 * arena faults in it (5.3), and so does the first allocation of a process. A handler of faults asks
 * no_memory_left(), and the run then ends with a line instead of a bare signal.
 */
#ifndef SCHEDLAB_NO_MEMORY_H
#define SCHEDLAB_NO_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

static const char NO_MEMORY_TEXT[] =
    "schedlab: fatal: no memory left (limits: the machine's, ulimit -v, the cgroup's)\n";

/* An arena and its first blocks, with room to spare. */
enum { NO_MEMORY_BLOCK = 8 << 20 };

/* The exit status where the environment refused something: memory, or what fatal_env() tells. */
enum { EXIT_ENVIRONMENT = 71 };

/* Any stack, also in a handler of signals. */
static inline bool no_memory_left(void)
{
    void *block = mmap(NULL, (size_t)NO_MEMORY_BLOCK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return true;
    munmap(block, (size_t)NO_MEMORY_BLOCK);
    return false;
}

#endif
