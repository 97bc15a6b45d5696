/* run_folder.h - whether a folder holds a run, and which one was meant if not.
 *
 * Who calls: the commands that read finished runs.
 */
#ifndef SCHEDLAB_RUN_FOLDER_H
#define SCHEDLAB_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether it has a samples.jsonl; if not, errno says why. */
bool run_folder_is_run(const char *folder);

/* One line that says why run_dir is no run, and which one is nearest: inside it, beside it, or in
 * results/. */
void run_folder_explain(const char *run_dir, char *error, size_t error_size);

#endif
