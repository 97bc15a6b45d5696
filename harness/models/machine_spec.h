/* machine_spec.h - specifications of machines: "native", or "sim:server64,cores=16".
 *
 * Callers: the commands that run samples; list, calibrate. One grammar everywhere:
 *
 *     native                            the machine that this is
 *     sim:MODEL[,KEY=VALUE]...          a simulated one
 *     sim:MODEL,host=vm[,KEY=VALUE]...  the same as a guest: with its prices of a virtual machine
 *     sim:MODEL[,...],STRUCTURE=free    one on which a structure of the runtime costs nothing: each
 *                                       access to it is a hit in L1 (structures.h)
 *
 * MODEL is a file of harness/machines without its ".yaml", or the path of another one with it. KEY
 * is one of machine_keys.h, and VALUE as there: "l1.size=64Ki", "dirty.remote=300ns",
 * "lookahead=0". Where only cores is given, the shape follows it:
 *
 *     cores < smt         one core without siblings; valid: 1
 *     cores <= group      the first ones of a group, whose L3 stays whole: others are switched off
 *     cores <= socket     whole groups of one socket
 *     more                whole groups, spread evenly over as few sockets as can hold them
 *
 * The canonical text is the name, host=vm, keys in the order of the table, and last the structures
 * that are free. It has the keys whose values differ from the model's, or from the shape that cores
 * makes. Two specifications mean the same if their canonical texts are equal. A time in cycles
 * stays one, for it follows the clock rate.
 */
#ifndef SCHEDLAB_MACHINE_SPEC_H
#define SCHEDLAB_MACHINE_SPEC_H

#include "harness/base/error.h"
#include "harness/models/machine_file.h"

struct machine_spec {
    bool simulated;            /* false: native, and no more but the text */
    struct sim_model model;    /* its name is that of the file */
    uint64_t free;             /* structures that cost nothing, a bit for each */
    bool vm;                   /* host=vm */
    struct machine_file *file; /* title, sources and values as in the file, before any KEY=VALUE */
    struct machine_values own; /* the file's values, for a guest those of a virtual machine */
    char *text;                /* canonical */
};

/* True, and *spec is to be freed; or false, nothing to free, and one line in error (no newline)
 * that names what is wrong and what is valid. */
bool machine_spec_parse(struct machine_spec *spec, const char *text, struct error *error);
void machine_spec_free(struct machine_spec *spec); /* all zero is fine */

/* The same for those who only read: parsed once, and kept for the rest of the process. NULL and one
 * line in error. */
const struct machine_spec *machine_spec_kept(const char *text, struct error *error);

/* The canonical text, to be freed; NULL and one line in error. */
char *machine_spec_canonical(const char *text, struct error *error);

/* The cores of a simulated machine; 0 if the specification is wrong. */
int machine_spec_cores(const char *text);

/* The canonical text of the simulated machine `text` as a guest (host=vm), to be freed. NULL if it
 * is one, or has no prices of a virtual machine. */
char *machine_spec_guest(const char *text);

/* True if `guest` is the canonical text of the machine `host` with host=vm. */
bool machine_spec_is_guest_of(const char *guest, const char *host);

/* The canonical text of the simulated machine `text` with more settings, "KEY=VALUE[,...]", which
 * replace its own ones of the same keys; free() it. NULL and one line in error, if there is no such
 * machine or if nothing changes. */
char *machine_spec_what_if(const char *text, const char *settings, struct error *error);

#endif
