/* request_parts.h - where the time of requests went, at quantiles of their latencies.
 *
 * Callers: replay_requests.c, which knows the steps of its program; and request_follow.c, which
 * follows goroutines by what their scheduler says it does.
 *
 * A request is a time of one goroutine, and a goroutine a list of steps, one behind the other.
 * Where it waits for another goroutine, that one is followed: what it does until it wakes the
 * request is the request's time. If that one was busy when the request woke it, the request was
 * behind its last one.
 *
 * Invariant: the parts of a request add up to its latency.
 */
#ifndef SCHEDLAB_REQUEST_PARTS_H
#define SCHEDLAB_REQUEST_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum request_part {
    PART_RUNNING, /* also while it was preempted, if nobody tells */
    PART_RUNNABLE,
    PART_LOCK,
    PART_ASLEEP,
    PART_CALL,
    PART_NETWORK, /* for what comes from outside of the program */
    PART_WAITING, /* for others, of whom nothing is known */
    PART_BEHIND,
    REQUEST_PARTS,
};

extern const char *const request_part_words[REQUEST_PARTS]; /* "running" */

#define REQUEST_NOBODY UINT32_MAX

struct request_step {
    enum request_part part;
    int64_t from, to;
    int64_t woken; /* from then on the goroutine was runnable; `to` where that is not known */
    uint32_t by;   /* PART_WAITING: the goroutine that woke it, or REQUEST_NOBODY */
    uint32_t lock; /* PART_LOCK */
};

struct request_span {
    uint32_t goroutine;
    int64_t from, to;
    int64_t behind; /* before that its goroutine was busy with its last request; or no later than
                     * from */
};

/* Goroutines by number. Times are in `per_us` parts of a us. */
struct request_source {
    const void *of; /* the first argument of these */
    /* how many steps it has; *made: when it was started, *maker: by whom, or REQUEST_NOBODY */
    size_t (*steps)(const void *of, uint32_t goroutine, int64_t *made, uint32_t *maker);
    struct request_step (*step)(const void *of, uint32_t goroutine, size_t i);
    const char *(*lock)(const void *of, uint32_t lock); /* its name */
    size_t locks;
    enum request_part unmade; /* the time before a goroutine that nobody made */
    double per_us;
};

enum {
    REQUEST_QUANTILES = 2,
    REQUEST_LOCKS = 3,
    REQUEST_NAME_SIZE = 64,
    REQUEST_CLASSES = 8 /* that are told apart */
};

extern const double request_percents[REQUEST_QUANTILES]; /* 50, 99 */

/* For each quantile the mean, in us, of the hundredth part of all requests that is nearest in rank.
 */
struct request_parts {
    size_t count;
    bool is_of_lives; /* of goroutines, in place of requests */
    size_t classes;   /* of all requests: how many classes there are; 0: they are not told apart */
    char name[REQUEST_NAME_SIZE]; /* of the class; "": it has none, or these are all */
    double latency_us[REQUEST_QUANTILES];
    double us[REQUEST_PARTS][REQUEST_QUANTILES]; /* PART_LOCK: of locks that are not named */
    struct {
        char name[REQUEST_NAME_SIZE];
        double us[REQUEST_QUANTILES];
    } lock[REQUEST_LOCKS]; /* those with the most time, the most first; name: "" if fewer */
};

/* Sorts the spans by latency. All zero if there are none. Any stack with room for a sort. */
void request_parts_find(struct request_parts *parts, const struct request_source *source,
                        struct request_span *spans, size_t count);

#endif
