/* doctor_programs.c - see doctor.h: the programs that this one starts, and what it cannot do
 * without them. */
#include "harness/doctor/doctor_internal.h"

static const struct {
    const char *name, *why, *package;
} programs[] = {
    {"gnuplot", "draws the figures of a report", "gnuplot-nox"},
    {"hyperfine", "times samples from outside, for `sweep --timer hyperfine`", "hyperfine"},
    {"git", "gets the revisions that `compare --git` compares", "git"},
    {"make", "builds them", "make"},
};

void look_at_programs(struct look *look)
{
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        char path[4096], change[64];
        snprintf(change, sizeof change, "apt-get install %s", programs[i].package);
        if (!look->request->machine->find_program(programs[i].name, path, sizeof path))
            look_add(look, programs[i].name, DOCTOR_NOTE, programs[i].why, change, "not found");
        else if (look->request->names)
            look_add(look, programs[i].name, DOCTOR_OK, programs[i].why, NULL, "%s", path);
        else
            look_add(look, programs[i].name, DOCTOR_OK, programs[i].why, NULL, "found");
    }
}
