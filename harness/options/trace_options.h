/* trace_options.h - options that `trace` and `diff` share: --only, --warmup and --output.
 *
 * Callers: cmd_trace.c and cmd_diff.c. A mistake of the user ends the process as cli_misuse() does.
 */
#ifndef SCHEDLAB_TRACE_OPTIONS_H
#define SCHEDLAB_TRACE_OPTIONS_H

#include "harness/trace/trace.h"

#include <stdio.h>

/* Reads --only=text; text NULL: there is none, NULL. trace_only_free() the result. */
struct trace_only *trace_option_only(const char *text);

/* When the call after those of --warmup begins, in ps from the first event; 0: there are none. */
int64_t trace_option_call(const json_t *record, const struct sched_trace *trace, int warmup);

/* Ends the process unless the file of --output can be written. path: NULL, nothing to check. */
void trace_option_output_check(const char *path);

/* The file of --output, or standard output if path is NULL. Exit 1 if it cannot be opened. */
FILE *trace_option_output_open(const char *path);

/* Closes it unless it is standard output. Exit 1 if not all of it could be written. */
void trace_option_output_close(FILE *to);

#endif
