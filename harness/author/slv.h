/* slv.h - variants that live outside the tree, NAME.slv.
 *
 * Callers: cmd_build.c makes such files, main.c takes them. A variant's code is compiled and linked
 * as that of the tree is, and never loaded into a running program. So it costs no more to call,
 * and lies at a fixed address on simulated machines.
 *
 *   NAME.slv    an ar archive: about.json, and an object for real threads (release.o), for
 *               simulated machines (sim.o) and for traces of real threads (trace.o); the last one
 *               is missing where schedlab-trace was not built
 *   a command   that names such files is run by a program that has them beside the variants of
 *               the tree. It is linked once, and kept in the user's cache. There the files' names
 *               are variants: "./mine.slv,tick=64" becomes "mine,tick=64".
 *
 * The Makefile leaves a script for each configuration in build/author/, which knows how to compile
 * and to link. An object fits the program whose headers it was compiled with, and no other:
 * about.json has a digest of them.
 */
#ifndef SCHEDLAB_SLV_H
#define SCHEDLAB_SLV_H

#include "harness/base/error.h"

#include <stdbool.h>

struct slv_order {
    const char *const *sources; /* C files, or one folder of them; NULL-terminated, one at least */
    const char *name;           /* NULL: the first file's, without its ending, or the folder's */
    const char *output;         /* NULL: NAME.slv in the current folder */
    bool conformance;           /* first runs the conformance suite on it, and hunts briefly */
    const char *machine;        /* where the suite runs, canonical; NULL: real threads */
};

/* Compiles them, links a program with them as a trial, and writes the file; *path is its path, to
 * be freed. The compiler's messages go to standard error. So do cases of
 * conformance that fail. False and one line in error, and no file. */
bool slv_build(const struct slv_order *order, char **path, struct error *error);

/* Is there a word of the command line that names such a file, or "--with FILE" before the command?
 * Not if the command is `build`. */
bool slv_is_meant(int argc, char **argv);

/* Runs this command line in a program that has these variants. Returns if it cannot, with one line
 * in error. */
void slv_run(int argc, char **argv, struct error *error);

#endif
