/* yaml_place.h - where things stand in a YAML text, for messages that name a line.
 *
 * Callers: yaml_reader.h and those who read by it. libcyaml gives the values and checks the
 * schema, but keeps no lines of values and is wrong about those of syntax errors and unknown keys;
 * the libyaml below it knows both.
 *
 * A path is keys and indices from the top: "groups/2/variants/0"; "" is the top.
 */
#ifndef SCHEDLAB_YAML_PLACE_H
#define SCHEDLAB_YAML_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct yaml_place;

/* NULL if text is not YAML, or not one document; then *line (from 1) and problem say where and
 * why. */
struct yaml_place *yaml_place_open(const char *text, size_t size, size_t *line, char *problem,
                                   size_t problem_size);
void yaml_place_close(struct yaml_place *place);

bool yaml_place_exists(const struct yaml_place *place, const char *path);

/* The scalar at path, or NULL; of the place. */
const char *yaml_place_text(const struct yaml_place *place, const char *path);

/* The nth key (from 0) of the mapping at path, of the place; NULL if it has fewer, or the key is no
 * scalar, or no mapping is there. */
const char *yaml_place_key(const struct yaml_place *place, const char *path, size_t nth);

/* The values of the list at path; 0 if none is there. */
size_t yaml_place_entries(const struct yaml_place *place, const char *path);

/* The line of the value at path, or of the innermost part of path that exists. */
size_t yaml_place_line(const struct yaml_place *place, const char *path);

/* The line of the nth (from 0) occurrence of a key in the mapping at path; as above if there is
 * none. */
size_t yaml_place_key_line(const struct yaml_place *place, const char *path, const char *key,
                           int nth);

#endif
