/* doctor.h - finds out what this machine can count, and what on it disturbs measuring. Changes
 * nothing.
 *
 * Callers: cmd_doctor.c for people, sweep once per run for environment.json, and run for its
 * warnings. Any thread may call it while no scheduler runs; otherwise it would find this program
 * itself to disturb.
 *
 *   doctor_counting.c   events: how many of each kind, and what stands in the way of the others
 *   doctor_cpu.c        clock, boost, siblings, isolation, idle states, heat, clock source
 *   doctor_system.c     memory, pages, swap, addresses, sleeping, disk, quota
 *   doctor_programs.c   gnuplot and others that this program starts
 *   doctor_window.c     what changes within a moment of watching: steal, load, who is running
 *   doctor_line.c       how far the cores are from each other
 *   doctor_native.c     this machine
 *
 * All checks go through struct doctor_machine: files below a root, and a few calls for facts that
 * files do not tell. A test can thus put a tree of its own in place of /proc and /sys.
 *
 * A finding has one of four levels. It is `unknown` if the machine does not say; its fact is then
 * the reason. Nothing is assumed to be well because it cannot be seen.
 */
#ifndef SCHEDLAB_DOCTOR_H
#define SCHEDLAB_DOCTOR_H

#include "harness/counters/papi_api.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum doctor_perf { DOCTOR_PERF_HARDWARE, DOCTOR_PERF_SOFTWARE };

/* How to ask a machine. Every function is there; papi is the table of calls, or a fake of it. */
struct doctor_machine {
    const char *root; /* what stands before "/proc" and "/sys"; "" for this machine */
    const struct papi_api *papi;
    /* Like environment_counting_of() for a list of the kernel's events: {events: [{name, source,
     * absent?}]}; the caller owns it. */
    json_t *(*describe)(const char *events);
    /* 0 if the kernel may be asked to count user code of this thread, or -errno. */
    int (*perf_open)(enum doctor_perf what);
    /* The round trip of one cache line between two hardware threads in ns; 0 or -errno. */
    int (*line)(int cpu_a, int cpu_b, double *line_ns);
    /* Room for this user in the file system that holds, or would hold, the folder; 0 or -errno. */
    int (*disk_free)(const char *folder, uint64_t *bytes);
    /* The path of a program in PATH; false if there is none. */
    bool (*find_program)(const char *name, char *path, size_t path_size);
    void (*wait_ms)(int ms);
};

extern const struct doctor_machine doctor_machine_native;

enum { DOCTOR_WINDOW_MS = 200, DOCTOR_LINE_CORES = 8, DOCTOR_LINE_CORES_MAX = 64 };

struct doctor_request {
    const struct doctor_machine *machine;
    const int *cpus; /* hardware threads that workers may take, nearest first */
    int cpus_count;
    const json_t *counting; /* environment_counting_to_json(): the default list of events here */
    int line_cores;         /* among how many of them every distance is measured; below 2: none */
    int window_ms;          /* how long to watch */
    const char *results;    /* the folder that runs are written to */
    bool names; /* say which programs are busy, and paths: not for records that may be published */
};

enum doctor_level { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_WARN, DOCTOR_UNKNOWN, DOCTOR_LEVELS };

const char *doctor_level_text(enum doctor_level level); /* "ok", "note", "warn", "unknown" */

struct doctor_finding {
    const char *id; /* "governor", "steal": a word that stays the same */
    enum doctor_level level;
    char fact[320];   /* what is so; why it is not known if unknown */
    const char *why;  /* what it does to measurements, one clause */
    char change[200]; /* the command that would change it; "" if none can or need be */
};

/* One kind of events. */
struct doctor_kind {
    const char *id; /* "presets", "natives", "software", "sde" */
    const char *name;
    /* Below 0: not known. */
    int available, listed;        /* can be counted here, of those that PAPI knows */
    int wanted_available, wanted; /* of the default list of events */
    char reason[320];             /* what stands in the way of the others; "" if nothing does */
    char change[200];
};

struct doctor_line {
    int cpu_a, cpu_b;
    double ns;
};

enum { DOCTOR_FINDINGS_MAX = 40, DOCTOR_KINDS = 4 };

struct doctor {
    struct doctor_finding findings[DOCTOR_FINDINGS_MAX]; /* worst first, else as looked at */
    size_t findings_count;
    struct doctor_kind kinds[DOCTOR_KINDS];
    struct doctor_line *lines; /* owned */
    size_t lines_count;
};

/* Looks at everything; takes window_ms, and 10 ms for each pair of cores. Always fills *doctor, to
 * be freed. */
void doctor_look(struct doctor *doctor, const struct doctor_request *request);
/* Looks only at what other programs do and at quotas; takes window_ms. Otherwise the same. */
void doctor_glance(struct doctor *doctor, const struct doctor_request *request);
void doctor_free(struct doctor *doctor);

size_t doctor_count(const struct doctor *doctor, enum doctor_level level);

/* {schema, summary: {warn, note, unknown, ok}, findings: [{id, level, fact, why, change?}],
 * counting: [{id, name, available, listed, wanted_available, wanted, reason?, change?}],
 * lines: [{cpus: [a, b], line_ns}]}; owned by the caller. */
json_t *doctor_to_json(const struct doctor *doctor);

/* The tables for people, 100 columns at most; in colour for a terminal. Errors show in ferror(). */
void doctor_print(const struct doctor *doctor, FILE *to, bool colour);

/* The findings that a run of sweep keeps: doctor_to_json() of this machine, without the names of
 * other programs. Takes some 300 ms; more only where others hold the cores. counting: as in the
 * request. */
json_t *doctor_for_run(const char *results, const json_t *counting);

/* doctor_to_json() of a glance at this machine. Takes 100 ms. */
json_t *doctor_for_samples(void);

/* Prints a line for each finding of this JSON whose level is warn, without the load of the minute
 * before: "schedlab run: warning: FACT: WHY". */
void doctor_warn(const json_t *doctor, const char *command, FILE *to);

#endif
