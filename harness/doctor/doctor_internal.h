/* doctor_internal.h - what the parts of doctor share, and nobody else. */
#ifndef SCHEDLAB_DOCTOR_INTERNAL_H
#define SCHEDLAB_DOCTOR_INTERNAL_H

#include "harness/doctor/doctor.h"

/* One look at a machine. */
struct look {
    const struct doctor_request *request;
    const char *root;
    struct doctor *doctor;
    bool virtual; /* under a hypervisor */
};

/* Adds a finding; change NULL: none. A finding beyond the last place ends the program. */
struct doctor_finding *look_add(struct look *look, const char *id, enum doctor_level level,
                                const char *why, const char *change, const char *fact, ...)
    __attribute__((format(printf, 6, 7)));

/* Adds an unknown finding: why this file says nothing, which is below the root or missing. */
void look_unreadable(struct look *look, const char *id, const char *why, const char *path);

/* Names of programs and contents of files may hold anything; terminals and JSON may not: control
 * characters, and what is no UTF-8, become '?'. */
void look_make_printable(char *text);

void look_at_hypervisor(struct look *look); /* first: sets look->virtual */
void look_at_counting(struct look *look);
void look_at_cpus(struct look *look);
void look_at_system(struct look *look);
void look_at_programs(struct look *look);
void look_at_cgroup(struct look *look);
void look_at_window(struct look *look);
void look_at_lines(struct look *look);

#endif
