/* structures.c - see structures.h. */
#include "harness/models/structures.h"

#include <string.h>

const struct structure structures[] = {
    {"beat", "the thread that sends beats (promote=beat)"},
    {"call.sites", "how long blocking calls took, by caller (calls=adaptive)"},
    {"chan", "channels: their lock, counts and waiters"},
    {"chan.ring", "what channels buffer"},
    {"deque.bottom", "deques of tasks: the owner's end, and what else only the owner writes"},
    {"deque.slots", "deques of tasks: the tasks"},
    {"deque.top", "deques of tasks: the thieves' end"},
    {"g", "goroutines (struct g), and the slabs that they are made in"},
    {"g.free", "the store of ended goroutines that all workers share, and its lock"},
    {"grq.cells", "global queues without a lock (queue=mpmc and others): the goroutines"},
    {"grq.head", "global queues without a lock: the readers' end"},
    {"grq.list", "global queues: first and last goroutine, counters"},
    {"grq.lock", "global queues: the lock"},
    {"grq.size", "global queues: the length, which is read without the lock"},
    {"grq.tail", "global queues without a lock: the writers' end"},
    {"inbox", "what came back from calls to the queue of its old P (returns_to=own)"},
    {"lrq.blocks", "blocks of a worker (queue=bwos): where its owner is, and thieves' tickets"},
    {"lrq.head", "rings of a worker: the thieves' end"},
    {"lrq.runnext", "rings of a worker: the goroutine to run next"},
    {"lrq.since", "rings of a worker: when each goroutine came (steal_age_ns)"},
    {"lrq.slots", "rings of a worker: the goroutines"},
    {"lrq.tail", "rings of a worker: the owner's end, and what else only the owner writes"},
    {"lrq.taken", "rings of a worker: what was taken in a batch, on its way"},
    {"m", "threads (struct m): what they note for each other, caches of free things"},
    {"mailbox", "what other workers have sent to one (static,mailbox=mpsc)"},
    {"ms", "the array of threads by number (perm, permits)"},
    {"p", "processors (struct p): what a worker has at hand"},
    {"poll", "the network poller: who waits, when it was last asked"},
    {"poll.desc", "the network poller: its descriptors"},
    {"runq.queue", "queues of a variant from outside the tree (runq.h)"},
    {"runtime", "memory of the runtime that has no name of its own"},
    {"sched", "the scheduler: what hardly changes in a run, and the list of threads"},
    {"sched.live", "the scheduler: how many goroutines live"},
    {"sched.lock", "the scheduler: the lock of the idle protocol, and the lists under it"},
    {"sched.spinning", "the scheduler: how many threads spin, how many processors are idle"},
    {"select", "selects of many cases: their memory"},
    {"slot", "kthread: what a thread is to run"},
    {"stack", "stacks of goroutines"},
    {"stack.free", "the free stacks that all workers share, and their lock"},
    {"stats", "each thread's counters"},
    {"steal.met", "whom a search for work has looked at"},
    {"steal.order", "in which order victims are tried"},
    {"sysmon", "what sysmon remembers of each processor"},
    {"thread.stack", "stacks of threads, on which schedulers run"},
    {"timers", "timers and their heaps"},
    {"workload", "the workload's own data"},
    {NULL, NULL},
};

_Static_assert(sizeof structures / sizeof structures[0] <= STRUCTURES_MAX, "a bit for each");

int structure_find(const char *name, size_t length)
{
    for (int i = 0; structures[i].name; i++)
        if (strlen(structures[i].name) == length && strncmp(structures[i].name, name, length) == 0)
            return i;
    return -1;
}
