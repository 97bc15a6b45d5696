/* data_folder.h - finds the files that come with the program: machines, experiments, plots.
 *
 * Callers: every reader of such files.
 */
#ifndef SCHEDLAB_DATA_FOLDER_H
#define SCHEDLAB_DATA_FOLDER_H

#include "harness/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* The file or folder NAME of the project's data, "plots/style.gp" for example. An installed program
 * (PREFIX/bin, PREFIX/libexec/schedlab) looks in PREFIX/share/schedlab, a program in build/ beside
 * that folder. Any other program looks where the sources were when it was built. False if it is in
 * none of these: path is then the last place. */
bool data_find(const char *name, char *path, size_t path_size);

/* The folder harness/NAME. False and one line in error if there is none. */
bool data_folder_find(const char *name, char *folder, size_t folder_size, struct error *error);

/* The names of its *.yaml without that ending, sorted, NULL-terminated; names_free() frees them.
 * NULL and one line in error. */
char **data_folder_names(const char *name, struct error *error);
void data_folder_names_free(char **names);

#endif
