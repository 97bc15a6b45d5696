/* advise.h - what matters for a program: how many workers, and which decisions of a scheduler.
 *
 * Callers: cmd_advise.c. The program is replayed on a simulated machine, with 1, 2, 4 and more
 * workers until more take nothing off its time. There, each decision is changed alone, and so are
 * the number of connections (double.h) and the load. Every case runs with several seeds; a change
 * counts if it is larger than what the seeds alone change.
 */
#ifndef SCHEDLAB_ADVISE_H
#define SCHEDLAB_ADVISE_H

#include "harness/base/error.h"

#include "workloads/program.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ADVISE_SEEDS = 3, ADVISE_LADDER_MAX = 8, ADVISE_CHANGES_MAX = 16, ADVISE_LOADS_MAX = 3 };
enum { ADVISE_LINES_MAX = 16, ADVISE_LINE_SIZE = 512 };

struct advise_case {
    const char *variant; /* "gmp,runnext=off" */
    const char *name;    /* "runnext=off", "connections" */
    const char *meaning; /* "without a slot for the newest goroutine" */
    int workers;
    bool is_there; /* it ran with all seeds */
    char why[256]; /* if not */
    /* medians over the seeds */
    double makespan_ns, p50_ns, p99_ns, late_ns, lock_ns; /* p99: of few latencies the longest */
    double makespan_range_ns[2], p99_range_ns[2];         /* least and most over the seeds */
    char *functions; /* where goroutines of each function were, as `run` prints it, by one seed */
    char *parts;     /* likewise where its requests' time went */
};

struct advice {
    const char *file, *machine;
    const struct program *program;
    struct advise_case ladder[ADVISE_LADDER_MAX], changes[ADVISE_CHANGES_MAX];
    struct advise_case loads[ADVISE_LOADS_MAX]; /* twice as much of something, all else as it is */
    size_t ladder_count, changes_count, loads_count;
    size_t connections; /* how many there are; twice as many are the first of the loads */
    char untold[160];   /* if none: why, half a sentence */
    size_t knee;        /* in ladder: more workers take less than a twentieth off its time */
    double chance;      /* changes up to this share are as large as what seeds change */
    int64_t last_ns;    /* when the last thing comes from outside; 0: nothing does */
};

/* workers: more are not tried. False, and one line in error, if the program does not run. */
bool advise(struct advice *advice, const char *file, const struct program *program,
            const char *machine, int workers, struct error *error);

void advice_free(struct advice *advice);

/* As text, as JSON (owned by the caller), and as a page (advise_page.c). */
void advice_print(const struct advice *advice, FILE *to);
json_t *advice_to_json(const struct advice *advice);
void advice_page_write(const struct advice *advice, FILE *to);

/* The advice in lines of a name and a sentence, and its parts, for text and page alike. */
struct advice_line {
    char name[48], text[ADVISE_LINE_SIZE];
};
struct advice_lines {
    struct advice_line of[ADVISE_LINES_MAX];
    size_t count;
};
void advice_lines_make(const struct advice *advice, struct advice_lines *lines);

/* value / base - 1, and the share up to which a change is not told. */
double advice_change(double value, double base);
double advice_threshold(const struct advice *advice);

/* The time of a program with arrivals by the clock says little, and its latency much. True if it is
 * the p99 that counts. */
bool advice_is_of_latency(const struct advice *advice);
/* The figure that counts, in ns: p99, or else the makespan. */
double advice_measure(const struct advice *advice, const struct advise_case *of);

/* Orders the changes: what helps most first, then what hurts most. Pre: ladder, knee, chance. */
void advice_changes_sort(struct advice *advice);

#endif
