/* conform_lines.h - the lines of the conformance suite: which there are, who runs them, what they
 * print, and what the command line says of it. For conformance.c and conform_workloads.c.
 */
#ifndef SCHEDLAB_TESTS_CONFORM_LINES_H
#define SCHEDLAB_TESTS_CONFORM_LINES_H

#include "conform.h"
#include "tests/support/support.h"

#include <stdatomic.h>

enum { WORKER_COUNTS = 4, DIGESTS = 512 };

extern const int worker_counts[WORKER_COUNTS];

/* Memory of all processes of --jobs. */
struct suite_shared {
    _Atomic uint64_t digests[DIGESTS]; /* what runs of one workload are compared by: that of whoever
                                          was first, 0 before */
    _Atomic int failures;
    _Atomic int lines; /* as each process has counted them */
};

/* Settings and numbers of workers of one pass over the cases. */
struct whole_run {
    const char *settings; /* of variants that have the first knob; NULL: the defaults */
    int workers_min, workers_max;
    bool one;        /* each case with one number of workers, even without --short */
    int short_every; /* --short runs a case under every so manieth variant */
    bool own; /* a value of a knob of the variant's own: a subset of the cases (cell_run()) */
};

extern struct suite {
    bool brief, list;
    bool outside; /* only variants from outside the tree */
    int every;   /* --every: --short runs a case without settings under every Nth variant at most */
    int workers; /* the only number; 0: as worker_counts says */
    int jobs, job;
    uint64_t seed;
    const char *glob;    /* NULL: all */
    const char *machine; /* NULL: real threads, or a plain simulated machine */
    bool glob_variant_found;
    char **words;
    int words_count;
    uint64_t words_found; /* bit i: some line has words[i] */
    int lines;            /* also those that were listed, and those of other processes */
    int row;              /* of the next case, counted alike for all variants */
    int column;           /* of the variant */
    const struct whole_run *whole;
    struct suite_shared *shared;
} suite;

/* How a line is called in the output, and how --case calls it. */
struct line {
    int number; /* line_begin() gives it */
    char text[256];
    char path[256];
};

/* Sets suite; ends the program with status 2 if the command line is wrong. */
void suite_parse(int argc, char **argv);

/* Ends the program: the command line is wrong. */
_Noreturn void suite_wrong(const char *wrong);

/* Ends the program: no line was chosen. Names what may have been meant. */
_Noreturn void suite_misuse(void);

/* True if the next case is to run in this cell. To be asked once for each case, in the same order
 * for all variants. */
bool case_is_due(const struct conform_cell *cell, bool has_settings, bool steals);
bool workload_is_due(const struct conform_cell *cell);

/* Which function of the variant to look at where a line fails, by its text or the case's name; NULL
 * if there is no such case (conform_remedies.c). */
const char *remedy_of(const char *line);

/* Fails the suite if the case has no remedy. */
void line_name(struct line *line, const char *name, const struct conform_cell *cell);

/* True if this process is to run the line. Counts it if any process is to run it, and prints it for
 * --list. */
bool line_begin(struct line *line, int workers);

/* How a run ended whose status is not 0. */
void line_end_text(const struct support_report *report, char *problem, size_t size);

/* Prints the outcome: passed if problem is NULL or empty. */
void line_print(const struct line *line, const struct conform_cell *cell, const char *problem,
                const struct support_report *report);
void line_skip(const struct line *line, const char *why);

/* fn(arg) as the main goroutine of such a cell. */
static inline struct support_run run_of(const struct conform_cell *cell, void (*fn)(void *),
                                        void *arg)
{
    return (struct support_run){.variant = cell->ops->name,
                                .settings = cell->settings,
                                .workers = cell->workers,
                                .seed = cell->seed,
                                .fn = fn,
                                .arg = arg};
}

/* conform_workloads.c: each workload of the registry, in each form that the suite has of it. */
void workloads_run(const struct conform_cell *cell);

#endif
