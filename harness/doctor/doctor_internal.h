/* doctor_internal.h - declarations that only the parts of doctor share. */
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

/* Adds an unknown finding, since the file at path, below the root, is missing or says nothing. */
void look_unreadable(struct look *look, const char *id, const char *why, const char *path);

/* Makes a text printable on terminals and in JSON: names of programs and contents of files may hold
 * anything. Control characters, and bytes that are no UTF-8, become '?'. */
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
