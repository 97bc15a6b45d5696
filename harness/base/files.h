/* files.h - whole files, read and written at once.
 *
 * Callers: whoever makes or reads whole files: those of a run, but for its records (records.h), and
 * what programs left. A written file is on the disk when its function returns, and replaces an
 * older one at once. Readers see the old file or the new one; if the disk is full, the old one
 * stays. Each function returns false or NULL, and one line in error, if it cannot do what it is
 * for.
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

/* write() puts the new content into a stream in memory. */
bool file_replace_by(const char *path, void (*write)(FILE *to, const void *arg), const void *arg,
                     char *error, size_t error_size);

/* Byte for byte. */
bool file_copy(const char *from, const char *to, char *error, size_t error_size);

#endif
