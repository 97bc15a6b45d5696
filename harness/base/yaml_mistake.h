/* yaml_mistake.h - what libcyaml says of a file's first mistake, as a message and a place.
 *
 * Callers: yaml_reader.c. libcyaml logs one message about the first mistake it meets, unknown
 * keys aside, and then where it was, innermost first; as the place it becomes a path of
 * yaml_place.h.
 */
#ifndef SCHEDLAB_YAML_MISTAKE_H
#define SCHEDLAB_YAML_MISTAKE_H

#include <cyaml/cyaml.h>
#include <stdbool.h>

enum { YAML_MISTAKE_DEPTH = 8, YAML_MISTAKE_PLACE = 256 };

/* All zero is ready. */
struct yaml_mistake {
    char message[512]; /* libcyaml's, without its prefix */
    char part[YAML_MISTAKE_DEPTH][64];
    bool is_key[YAML_MISTAKE_DEPTH]; /* else an index */
    int parts;                       /* innermost first */
};

/* For cyaml_load_data(): logs into *mistake, which must outlive it; NULL: nowhere. Memory that
 * libcyaml hands out is then malloc()'s, so that parts can be replaced. */
cyaml_config_t yaml_mistake_config(struct yaml_mistake *mistake);

/* The place of the mistake, without the `skip` innermost parts. */
void yaml_mistake_place(const struct yaml_mistake *mistake, int skip,
                        char place[YAML_MISTAKE_PLACE]);

/* The innermost key on the way there, for messages. */
const char *yaml_mistake_key(const struct yaml_mistake *mistake);

#endif
