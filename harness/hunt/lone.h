/* lone.h - a queue of the runtime without a scheduler, and up to three threads that use it: small
 * enough that all their executions can be gone through. */
#ifndef SCHEDLAB_HUNT_LONE_H
#define SCHEDLAB_HUNT_LONE_H

enum { LONE_THREADS = 3, LONE_OPERATIONS = 4, LONE_CAPACITY = 2 };

/* X(NAME, word, what) */
#define LONE_QUEUES(X)                                                                             \
    X(DEQUE, "deque", "an owner that pushes and pops, and thieves; the array of 2 grows")          \
    X(THE, "the", "likewise, with deque=the")                                                      \
    X(ABP, "abp", "likewise, with deque=abp; the array of 4 does not grow")                        \
    X(HALF, "half", "likewise, with deque=half: a thief takes several, into one of its own")       \
    X(RING, "ring", "the local queue with runnext: an owner that puts and gets, and thieves")      \
    X(GLOBQ, "globq", "the global queue: all put and get")                                         \
    X(CHAN, "chan", "a channel of 2 elements: tries to send and to receive")

enum lone_queue {
#define LONE_ID(name, word, what) LONE_##name,
    LONE_QUEUES(LONE_ID)
#undef LONE_ID
        LONE_COUNT
};
extern const char *const lone_words[];

/* A letter for each operation of each thread. */
struct lone_script {
    const char *of[LONE_THREADS];
};

/* The scripts of a queue; *count: how many. */
const struct lone_script *lone_scripts(enum lone_queue queue, int *count);

struct lone {
    enum lone_queue queue;
    const struct lone_script *script;
    int threads, operations; /* of each thread */
};

/* The first thread of an execution; arg: struct lone. */
void lone_main(void *arg);

#endif
