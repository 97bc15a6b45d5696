/* files.h - whole files, read and written at once.
 *
 * Callers: readers and writers of whole files: those of a run without its records (records.h), and
 * the output of programs. A written file is on the disk when its function returns, and replaces an
 * older one at once. Readers see the old file or the new one; if the disk is full, the old one
 * stays. Each function returns false or NULL, and one line in error, on failure.
 */
#ifndef SCHEDLAB_FILES_H
#define SCHEDLAB_FILES_H

#include "harness/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All bytes of a file and a NUL, to be freed. size may be NULL. */
char *file_read(const char *path, size_t *size, struct error *error);

bool file_replace(const char *path, const char *text, size_t size, struct error *error);

/* Indented, for people; json stays the caller's. */
bool file_replace_json(const char *path, const json_t *json, struct error *error);

/* write() puts the new content into a stream in memory. */
bool file_replace_by(const char *path, void (*write)(FILE *to, const void *arg), const void *arg,
                     struct error *error);

/* A folder that is there is fine. */
bool folder_make(const char *path, struct error *error);

/* Byte for byte. */
bool file_copy(const char *from, const char *to, struct error *error);

#endif
