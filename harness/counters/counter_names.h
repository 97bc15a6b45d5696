/* counter_names.h - which events there are, where each is counted, and what a typing error meant.
 *
 * Callers: counters.c, and commands that read event lists from a user. An event's name tells its
 * source:
 *
 *   PAPI_...                   a PAPI preset                           pmu
 *   PMU::..., or a bare name   a native event of the core's PMU        pmu
 *   perf::...                  the kernel's: its software events       soft
 *                              its generic hardware events             pmu
 *   sde:::schedlab::...        counted by this program                 sde
 *   sde:::schedlab::SIM_...    counted by a simulated machine          sim
 */
#ifndef SCHEDLAB_COUNTER_NAMES_H
#define SCHEDLAB_COUNTER_NAMES_H

#include "harness/base/error.h"
#include "harness/counters/papi_api.h"

#include <stdbool.h>
#include <stddef.h>

#define COUNTER_SDE_LIBRARY "schedlab"
#define COUNTER_SDE_PREFIX "sde:::" COUNTER_SDE_LIBRARY "::"
#define COUNTER_THREADS "PROCESS_THREADS"

/* A list of names, in the order given. */
struct counter_names {
    size_t count;
    char **name;
};

/* Splits "a,b,c"; always to be freed. NULL is the default list: cache misses and throughput of the
 * PMU first, then the kernel's software events, then all of the program's own. On a simulated
 * machine, events of the model stand in place of the first two (sim_events.h). "none" is the empty
 * list. The program's own may stand without their prefix, which they then get. False and one line
 * in error if a name is empty or given twice. */
bool counter_names_split(struct counter_names *names, const char *events, struct error *error);
void counter_names_free(struct counter_names *names);

/* False, and one line with the nearest valid name, if a name cannot be an event of any machine.
 * Such names are those of preset, kernel or program events that do not exist, and of events that
 * this machine's own PMU does not have. Events of other PMUs pass: they are absent here, not wrong.
 * PAPI need not be initialized before. */
bool counter_names_check(const struct papi_api *api, const struct counter_names *names,
                         struct error *error);

/* True for events of the default list, be it that of a real or of a simulated machine. */
bool counter_is_by_default(const char *name);

/* Parses and checks a list of events; false and one line in error if it is not right. */
bool counter_list_check(const char *events, struct error *error);

const char *counter_source(const char *name); /* "pmu", "soft", "sde" or "sim" */
const char *counter_help(const char *name);   /* one line, or "" where PAPI's own tools know more */

/* The program's own events that stand in for a kernel's event that is not available: names with
 * prefix, for people. NULL if there is nothing. */
const char *counter_stand_in(const char *name);

/* True for events that happen inside the kernel only: counting user code would give a false
 * zero. */
bool counter_is_kernel_only(const char *name);

/* How an event of the program's own becomes one number of a sample. */
enum counter_kind {
    COUNTER_SUM,      /* the sum of all additions during the timed calls */
    COUNTER_PEAK,     /* a maximum: differences of it mean nothing */
    COUNTER_LEVEL,    /* the value at the end of the last timed call */
    COUNTER_RUN,      /* the sum over all threads' lives: counts that they give at their end */
    COUNTER_RUN_PEAK, /* a maximum over the same time, which takes too long to read at each call */
};

/* The program's own events: first those of the scheduler (stats.h, STAT_COUNT of them), then those
 * of the process, of malloc, and of simulated machines. */
int counter_sde_count(void);
const char *counter_sde_name(int index); /* without the prefix */
const char *counter_sde_help(int index);
enum counter_kind counter_sde_kind(int index);
bool counter_sde_is_malloc(int index);
int counter_sde_sim_event(int index);   /* of sim_events.h; -1: none of these */
bool counter_sde_is_per_g(int index);   /* divided by LIVE_GS_PEAK */
int counter_sde_find(const char *name); /* with the prefix; -1 if there is none */
/* Points behind the prefix, whose case does not matter; name itself if it has none. */
const char *counter_short_name(const char *name);

/* Reads an event of the process, of malloc or of a simulated machine, all threads together. Events
 * counted by thread are read by counters_malloc_bytes(). Pre: STAT_COUNT <= index, not
 * counter_sde_is_by_thread(index), and not of kind COUNTER_RUN_PEAK. */
long long counter_process_read(int index);
bool counter_sde_is_by_thread(int index);

#endif
