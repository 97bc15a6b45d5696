/* yaml_place.h - a YAML text as libyaml's document, and where things stand in it, for messages that
 * name a line.
 *
 * Callers: yaml_reader.h and those who read by it; replay_file.c. libcyaml, which gives the values,
 * keeps no lines of them.
 *
 * A path is keys and indices from the top: "groups/2/variants/0"; "" is the top.
 */
#ifndef SCHEDLAB_YAML_PLACE_H
#define SCHEDLAB_YAML_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct yaml_place;

/* NULL if text is not YAML, not one document, or without an end, since an alias stands in the value
 * that it repeats; then *line (from 1) and problem say where and why. */
struct yaml_place *yaml_place_open(const char *text, size_t size, size_t *line, char *problem,
                                   size_t problem_size);
void yaml_place_close(struct yaml_place *place);

/* For a walk over all of it. */
struct yaml_document_s *yaml_place_document(struct yaml_place *place);

bool yaml_place_exists(const struct yaml_place *place, const char *path);

/* The scalar at path, or NULL; of the place. */
const char *yaml_place_text(const struct yaml_place *place, const char *path);

/* The index-th key of the mapping at path, of the place; NULL if there are no more. */
const char *yaml_place_key(const struct yaml_place *place, const char *path, size_t index);

/* The line of the value at path, or of the innermost part of path that exists. */
size_t yaml_place_line(const struct yaml_place *place, const char *path);

#endif
