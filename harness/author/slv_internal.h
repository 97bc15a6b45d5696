/* slv_internal.h - what making and taking of .slv files share. */
#ifndef SCHEDLAB_SLV_INTERNAL_H
#define SCHEDLAB_SLV_INTERNAL_H

#include "harness/author/slv.h"
#include "harness/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { SLV_PATH_SIZE = 4096, SLV_CONFIGS = 4 };

/* release, sim, trace, hunt; those from SLV_MUST on may be missing. */
extern const char *const slv_configs[SLV_CONFIGS];
enum { SLV_MUST = 2 };

/* The parts of a build that authors need. */
struct slv_tools {
    char author[SLV_PATH_SIZE];  /* the folder with the scripts */
    char objects[SLV_PATH_SIZE]; /* that of the tree's objects, by configuration */
    char root[SLV_PATH_SIZE];    /* that of sched_variants/, whose headers are included */
    char data[SLV_PATH_SIZE];    /* that of the program's data (data_folder.h) */
    char abi[128]; /* "x86_64-linux-gnu 0123456789abcdef": machine, digest of headers */
};

/* False, and one line, if this program has none. */
bool slv_tools_find(struct slv_tools *tools, struct error *to);

/* A folder for the time being, and its end. */
bool slv_scratch_make(char folder[SLV_PATH_SIZE], struct error *to);
void slv_scratch_remove(const char *folder);

/* Runs a program, argv NULL-terminated. Its messages go to standard error if it fails or
 * `warns`. If it fails, "cannot WHAT" is the line. */
bool slv_do(const char *program, const char *const *argv, bool warns, const char *what,
            struct error *to);

/* build/author/CONFIG.sh ACTION ROOT OBJECTS WORD...; words NULL-terminated. Warnings of the first
 * configuration are shown. */
bool slv_script(const struct slv_tools *tools, const char *config, const char *action,
                const char *const *words, const char *what, struct error *to);
bool slv_has_config(const struct slv_tools *tools, const char *config);

/* One variant or workload to link: its name, and its origin, "mine.slv 0123456789abcdef". */
struct slv_part {
    char *name, *origin;
    bool workload, forks; /* forks: a workload that is compiled once per policy of fork/join */
    const char
        *misfit; /* why it cannot be linked, in a line: a stand-in fails (outside.h); or NULL */
};

/* Is it a word of a-z, 0-9 and _ that begins with a letter? */
bool slv_is_name(const char *name);

/* Links folder/PROGRAM by that script, with folder/NAME.CONFIG.o of each part. */
bool slv_link(const struct slv_tools *tools, const char *script, const char *config,
              const char *folder, const char *program, const struct slv_part *parts, size_t count,
              struct error *to);

#define SLV_WITH "--with"

/* For the commands that programs print which this one starts: they name the files as the user did
 * (outside_with_print() of outside.h). */
void slv_with_tell(const char *const *files, size_t count);

/* Does the variant pass the conformance suite on the order's machine, and then a brief hunt if it
 * can be hunted? Pre: folder has its objects; output is the file that the order would write. Failed
 * cases and counts go to standard error, and so do commands that have each again. */
bool slv_conforms(const struct slv_tools *tools, const char *folder, const struct slv_part *part,
                  const struct slv_order *order, const char *output, struct error *to);

#endif
