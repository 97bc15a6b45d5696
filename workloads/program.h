/* program.h - a program file (.slp): what each goroutine of a program computes, waits for, wakes.
 *
 * docs/PROGRAMS.md documents the text. Callers: replay.c, and the harness, which writes such files
 * and says what is in them. Thread stacks only.
 *
 * A program that was read is right. Each wait is woken by exactly one wake, each goroutine is
 * started once at most, locks are released by who holds them, and no more messages are received
 * than sent. Locks and channels aside, all goroutines come to their ends in whatever order they
 * run.
 */
#ifndef SCHEDLAB_PROGRAM_H
#define SCHEDLAB_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_HEAD "schedlab-program"
#define PROGRAM_VERSION 2         /* 1 is read as well: it has no names behind `begin` */
#define PROGRAM_NETWORK "network" /* the reason of waits that end through the poller */
#define PROGRAM_NS_MAX INT64_C(3600000000000) /* of one step, and of when something arrives */

enum { PROGRAM_REASONS_MAX = 64, PROGRAM_WORD_MAX = 256, PROGRAM_NONE = UINT32_MAX };

enum program_kind {
    PROGRAM_RUN,   /* computes for ns */
    PROGRAM_GO,    /* starts goroutine `target` */
    PROGRAM_WAKE,  /* ends wait `target` of struct program.waits, at present or when it comes */
    PROGRAM_WAIT,  /* until wait `target`, its own, was woken; reason 0: network */
    PROGRAM_SLEEP, /* parks for ns */
    PROGRAM_CALL,  /* a blocking call: the thread sleeps in the kernel for ns */
    PROGRAM_BUSY,  /* a call that computes in the kernel for ns */
    PROGRAM_AT,    /* until ns after the start: something comes from outside the program */
    PROGRAM_AFTER, /* likewise, ns after the goroutine began to wait */
    PROGRAM_YIELD,
    PROGRAM_LOCK,    /* takes lock `target` */
    PROGRAM_UNLOCK,  /* releases it */
    PROGRAM_SEND,    /* a message to channel `target`, which holds any number of them */
    PROGRAM_RECEIVE, /* waits for a message of channel `target` */
    PROGRAM_BEGIN,   /* a request begins: number `target` of all */
    PROGRAM_DONE,    /* and is served */
    PROGRAM_END,
    PROGRAM_KINDS,
};

struct program_step {
    uint8_t kind;   /* enum program_kind */
    uint8_t reason; /* of a wait: index of a word in struct program.reasons */
    uint32_t target;
    int64_t ns;
};
_Static_assert(sizeof(struct program_step) == 16, "four steps in a cache line");

struct program_goroutine {
    const char *id;
    const char *name;    /* the function's, or the id */
    uint32_t line;       /* where it begins in the file */
    uint32_t started_by; /* PROGRAM_NONE: it is there from the start */
    bool is_polled;      /* one of its waits is */
    size_t first, count; /* its steps, the last is PROGRAM_END */
};

struct program_wait {
    uint32_t waits, wakes; /* goroutines */
    bool is_polled;        /* its reason is PROGRAM_NETWORK */
};

struct program {
    struct program_step *steps;
    struct program_goroutine *goroutines; /* in the order of the file */
    struct program_wait *waits;
    const char **locks, **channels;
    const char **classes;    /* of requests: the names behind `begin`; "": without one */
    uint32_t *request_class; /* of each request: the place of its class in these */
    const char *reasons[PROGRAM_REASONS_MAX];
    size_t steps_count, goroutines_count, waits_count, locks_count, channels_count, classes_count,
        reasons_count, requests_count;
    int64_t work_ns;     /* of all PROGRAM_RUN and PROGRAM_BUSY */
    int64_t critical_ns; /* of the longest chain of steps that need each other, locks aside */
    void *texts;         /* of ids, names and words */
};

/* Reads the text, which needs no end of its own. name: of the file, for messages. NULL, and one
 * line in why (no newline) that says where it is wrong and what is valid. */
struct program *program_parse(const char *name, const char *text, size_t size, char *why,
                              size_t why_size);

/* Likewise of a file. */
struct program *program_load(const char *path, char *why, size_t why_size);

void program_free(struct program *program); /* NULL does nothing */

/* "run TIME", "poll at TIME": how a step of that kind is written. */
const char *program_word(enum program_kind kind);

#endif
