/* commands.h - the subcommands of schedlab, one function each.
 *
 * Callers: main.c. argv[0] is "schedlab NAME", the rest is what followed NAME. The result is the
 * exit status of the process (cli.h).
 */
#ifndef SCHEDLAB_COMMANDS_H
#define SCHEDLAB_COMMANDS_H

#include <stdbool.h>

int cmd_list(int argc, char **argv);
int cmd_run(int argc, char **argv);
/* `run --cell ID` is a command of its own, which cmd_run() calls if the arguments ask for it. */
bool cmd_run_cell_is_meant(int argc, char **argv);
int cmd_run_cell(int argc, char **argv);
int cmd_sample(int argc, char **argv);

int cmd_sweep(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_advise(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_lesson(int argc, char **argv);
int cmd_hunt(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_repro(int argc, char **argv);
int cmd_validate(int argc, char **argv);

/* The programs for simulated machines and traces are linked without these, which are NULL there:
 * they run samples. */
__attribute__((weak)) int cmd_micro(int argc, char **argv);
__attribute__((weak)) int cmd_bench(int argc, char **argv);
int cmd_build(int argc, char **argv);
int cmd_artifact(int argc, char **argv);

#endif
