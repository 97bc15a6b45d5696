/* data_folder.h - where the files lie that come with the program: machines, experiments.
 *
 * Who calls: machine_spec.c, experiment_list.c.
 */
#ifndef SCHEDLAB_DATA_FOLDER_H
#define SCHEDLAB_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* The folder harness/NAME: beside the sources of the build; or, if those were moved, seen from the
 * program, build/schedlab or build/CONFIG/schedlab. False and one line in error if there is none.
 */
bool data_folder_find(const char *name, char *folder, size_t folder_size, char *error,
                      size_t error_size);

/* The names of its *.yaml without that ending, sorted, NULL-terminated; names_free() frees them.
 * NULL and one line in error. */
char **data_folder_names(const char *name, char *error, size_t error_size);
void data_folder_names_free(char **names);

#endif
