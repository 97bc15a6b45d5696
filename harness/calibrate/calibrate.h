/* calibrate.h - measures what this machine's caches and kernel cost, and makes a model of it to
 * simulate.
 *
 * Callers: cmd_calibrate.c, once, in a process of its own with no other threads. Parts:
 *
 *   calibrate_memory.c  one core: clock rate, hits by level, what code costs that hits L1
 *   calibrate_cores.c   two cores: lines that go from one to the other
 *   calibrate_kernel.c  what machine.h offers: calls, futexes, threads, signals, sleeps
 *   calibrate_io.c      connections, pipes, files
 *   calibrate_model.c   which key of a model becomes what
 *   calibrate_print.c   the table, the file, JSON
 *
 * Each figure is the median of repeated short measurements, with its quartiles. A function measures
 * what the simulator charges for: it goes through machine.h where the runtime does.
 */
#ifndef SCHEDLAB_CALIBRATE_H
#define SCHEDLAB_CALIBRATE_H

#include "harness/base/error.h"
#include "harness/host/topology.h"
#include "harness/models/machine_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CALIBRATE_SAMPLES = 31, /* of most figures; odd, so that the median is one of them */
    CALIBRATE_FIGURES_MAX = 96,
    CALIBRATE_CORES_MAX = 1 + SIM_DISTANCES, /* one, and another one at each distance */
    CALIBRATE_NOTE = 200,
};

struct calibrate_figure {
    const char *name;         /* of a key of machine_keys.h, or its own */
    double median, low, high; /* ns; the quartiles; NAN: not measured */
    size_t samples;
    char absent[CALIBRATE_NOTE]; /* why it was not measured */
};

/* The origin of a key's value. */
enum calibrate_origin {
    CALIBRATE_MEASURED,
    CALIBRATE_REPORTED, /* as Linux reports it, by hwloc */
    CALIBRATE_FITTED,   /* to measured times of code */
    CALIBRATE_TAKEN,    /* from another model, or by choice */
    CALIBRATE_ORIGINS
};

struct calibrate_value {
    struct machine_value value;
    enum calibrate_origin origin;
    char note[CALIBRATE_NOTE + 48]; /* why it was taken, "" otherwise */
};

struct calibrate {
    bool quick; /* long measurements are made once, and shorter */
    struct topology_shape shape;
    /* cpus[0] is where one thread runs; other[d] is a place in cpus of one at distance d, or -1.
     * These places are also the cores of machine_init(). */
    int cpus[CALIBRATE_CORES_MAX], cpus_count;
    int other[SIM_DISTANCES];
    double cycle_ns;
    int64_t reach[3]; /* bytes that hit L1, L2, L3 if they are far fewer than reported; else 0 */

    struct calibrate_figure figure[CALIBRATE_FIGURES_MAX];
    size_t figures;
    char notes[8][CALIBRATE_NOTE]; /* oddities of the measurements */
    size_t notes_count;

    struct calibrate_value value[MACHINE_KEYS];
    struct sim_model model;
    char processor[128], date[16];
};

/* Measures everything on those cores: the first alone, and each other one together with it. cpus
 * are the kernel's ids of cores that this process may use. progress: gets a line per part, or NULL.
 * quick: about 2 s in place of 10, for less reliable figures of memory and code. */
void calibrate_run(struct calibrate *to, const int *cpus, int count, bool quick, FILE *progress);

/* Picks the cores: the first that the process may use, and one at each distance from it. Returns
 * how many. */
int calibrate_pick(int cpus[CALIBRATE_CORES_MAX]);

/* Parts, in their order. Each adds figures. */
void calibrate_memory(struct calibrate *to);
void calibrate_code(struct calibrate *to);
void calibrate_cores(struct calibrate *to);
void calibrate_kernel(struct calibrate *to);
void calibrate_io(struct calibrate *to);

/* Fills value and model. fallback is the model whose values stand in for those that cannot be
 * measured. False, and one line in error, if no model can be made. */
bool calibrate_model(struct calibrate *to, const struct machine_file *fallback,
                     struct error *error);

/* Adds the figure: median and quartiles of n samples in ns, which are sorted. */
void calibrate_add(struct calibrate *to, const char *name, double *samples, size_t n);
void calibrate_absent(struct calibrate *to, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void calibrate_note(struct calibrate *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The median of a figure; NAN if there is none. */
double calibrate_median(const struct calibrate *from, const char *name);
const struct calibrate_figure *calibrate_find(const struct calibrate *from, const char *name);

/* Runs fn(arg, n) CALIBRATE_SAMPLES times, with an n for which a run takes about 100 us. The
 * samples are ns of one of n, sorted. calibrate_loop() adds them as a figure. */
void calibrate_samples(void (*fn)(void *arg, int64_t n), void *arg,
                       double samples[CALIBRATE_SAMPLES]);
void calibrate_loop(struct calibrate *to, const char *name, void (*fn)(void *arg, int64_t n),
                    void *arg);

/* Fills order with 0 to count - 1, in an order that nothing can guess. Source: Sattolo's
 * algorithm. */
void calibrate_order(uint32_t *order, size_t count);

/* Results ------------------------------------------------------------------------------------- */

void calibrate_print(const struct calibrate *from, FILE *to);
json_t *calibrate_to_json(const struct calibrate *from); /* owned by the caller */

/* The model as machine_file_load() reads it. */
void calibrate_write(const struct calibrate *from, FILE *to);

#endif
