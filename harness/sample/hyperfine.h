/* hyperfine.h - times one process from outside, with hyperfine.
 *
 * Callers: child.c for samples of `sweep --timer hyperfine`. A program measures its own speed by
 * its own clock readings; hyperfine knows only when the program began and ended. One run, no shell
 * (-N): order and repetitions are the sweep's.
 */
#ifndef SCHEDLAB_HYPERFINE_H
#define SCHEDLAB_HYPERFINE_H

#include "harness/base/error.h"
#include "harness/base/process.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The path of hyperfine. False and one line in error, which names the Debian package, if it is not
 * in PATH. */
bool hyperfine_find(char *program, size_t program_size, struct error *error);

/* Runs command, words quoted as for a shell, like process_run(), but timed by the hyperfine at
 * program. Its JSON goes to the file at json_path; *outside receives {wall_ns, user_ns, system_ns},
 * owned by the caller, or NULL if hyperfine did not finish. result->status is the command's; if
 * hyperfine failed, its own. */
int hyperfine_run(const char *program, const char *command, const char *json_path, double timeout_s,
                  struct process_result *result, json_t **outside);

#endif
