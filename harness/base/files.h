/* files.h - whole files, read and written at once.
 *
 * Callers: whoever makes or reads whole files: those of a run, but for its records (records.h),
 * and what programs left. What is written is on the disk when a function returns, and takes the
 * place of the file that may be there: readers see the old one or the new one, and an old one
 * outlives a full disk. Each function returns false or NULL, and one line in error, if it cannot do
 * what it is for.
 */
#ifndef SCHEDLAB_FILES_H
#define SCHEDLAB_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All bytes of a file and a NUL, to be freed. size may be NULL. */
char *file_read(const char *path, size_t *size, char *error, size_t error_size);

bool file_replace(const char *path, const char *text, size_t size, char *error, size_t error_size);

/* Indented, for people; json stays the caller's. */
bool file_replace_json(const char *path, const json_t *json, char *error, size_t error_size);

/* What write() puts into the stream, which is in memory. */
bool file_replace_by(const char *path, void (*write)(FILE *to, const void *arg), const void *arg,
                     char *error, size_t error_size);

/* Byte for byte. */
bool file_copy(const char *from, const char *to, char *error, size_t error_size);

#endif
