/* sweep_folder.h - makes a run's folder and writes whole files into it.
 *
 * Who calls: cmd_sweep.c. Everything is on the disk when a function returns, or the function
 * says in one line what could not be done.
 */
#ifndef SCHEDLAB_SWEEP_FOLDER_H
#define SCHEDLAB_SWEEP_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Makes results/name-<UTC time>, and results if there is none; writes its path into folder. */
bool sweep_folder_make(const char *results, const char *name, char *folder, size_t folder_size,
                       char *error, size_t error_size);

/* Writes a new file. */
bool sweep_folder_write(const char *path, const char *text, size_t size, char *error,
                        size_t error_size);

/* Writes a file in place of the one that may be there; readers see the old one or the new one. */
bool sweep_folder_replace(const char *path, const char *text, size_t size, char *error,
                          size_t error_size);

/* Copies a file, byte for byte, to a new one, or in place of one that may be there. */
bool sweep_folder_copy(const char *from, const char *to, char *error, size_t error_size);
bool sweep_folder_copy_over(const char *from, const char *to, char *error, size_t error_size);

#endif
