/* yaml_reader.h - one YAML file being read: its places, and how its mistakes become a line each.
 *
 * Callers: readers whose file is a tree of keys with a schema of libcyaml: of sweeps, machines,
 * experiments, claims, lessons and services. libyaml says whether it is YAML (yaml_place.h). A walk
 * over its document and the schema tells all wrong keys and kinds of values. Only then libcyaml
 * makes data of the text, and the caller checks the values. A file whose only mistakes are unknown
 * keys goes on too, since most of its values do not depend on them.
 */
#ifndef SCHEDLAB_YAML_READER_H
#define SCHEDLAB_YAML_READER_H

#include "harness/base/error.h"
#include "harness/base/yaml_place.h"

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stddef.h>

struct yaml_reader {
    const char *path; /* for messages */
    char *text;
    size_t size;
    struct yaml_place *place;
    struct error *error; /* where the lines go; empty: no mistake yet */
};

/* Messages call a mapping with these fields by this name: "an experiment". They call others by
 * their key. */
struct yaml_owner {
    const cyaml_schema_field_t *fields;
    const char *name;
};

/* The keys and values that are valid in a file. Kinds that are checked: mappings, lists, texts,
 * integers, strict enumerations. */
struct yaml_schema {
    const cyaml_schema_value_t *value; /* of the whole file */
    const struct yaml_owner *owners;   /* the last is {NULL, NULL} */
    const char *where;                 /* the file that describes the keys */
    /* Complains of a value that is no whole number; NULL: messages say no more than that. */
    bool (*complain_of_number)(const struct yaml_reader *reader, size_t line, const char *key,
                               const char *value);
};

/* Reads the file at path, which like error outlives *reader. False, nothing to close and one line
 * in error if it cannot be read or is not YAML. */
bool yaml_reader_open(struct yaml_reader *reader, const char *path, struct error *error);
/* The same of text, which is copied; path: what messages call it. */
bool yaml_reader_open_text(struct yaml_reader *reader, const char *path, const char *text,
                           size_t size, struct error *error);
void yaml_reader_close(struct yaml_reader *reader);

/* Fields of a schema: a text, and a list with at least one entry; MAY: those that may be left out.
 * owner is the type of the struct, entry the schema of an entry. */
#define YAML_TEXT(key, owner, field)                                                               \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, owner, field, 1, CYAML_UNLIMITED)
#define YAML_MAY_TEXT(key, owner, field)                                                           \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, owner, field, 1,         \
                           CYAML_UNLIMITED)
#define YAML_LIST(key, owner, field, entry)                                                        \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER, owner, field, &(entry), 1, CYAML_UNLIMITED)
#define YAML_MAY_LIST(key, owner, field, entry)                                                    \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, owner, field, &(entry), 1, \
                         CYAML_UNLIMITED)

#define YAML_MAY_STRUCT(key, owner, field, fields)                                                 \
    CYAML_FIELD_MAPPING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, owner, field, fields)

extern const cyaml_schema_value_t yaml_text; /* an entry that is a text */

/* Values of a schema: a struct that is an entry of a list, and the whole file. */
#define YAML_ENTRY(type, fields)                                                                   \
    {                                                                                              \
        CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, type, fields)                                      \
    }
#define YAML_FILE(type, fields)                                                                    \
    {                                                                                              \
        CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, type, fields)                                      \
    }

enum { YAML_MISTAKES_MAX = 20 };

/* Adds the line "PATH:LINE: message" to the reader's error, which ends without a newline; false.
 * After YAML_MISTAKES_MAX of them "PATH: more mistakes", and then no more. */
bool yaml_complain(const struct yaml_reader *reader, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives a text its canonical form, to be freed; NULL, and one line in error, if it means
 * nothing. */
typedef char *yaml_canonical_of(const char *text, struct error *error);

/* The canonical form of a text on that line, to be freed; NULL after a complaint. */
char *yaml_canonical(const struct yaml_reader *reader, size_t line, yaml_canonical_of *canonical,
                     const char *text);
/* Puts it in the text's place, which is freed. False, and nothing changed, after a complaint. */
bool yaml_make_canonical(const struct yaml_reader *reader, size_t line,
                         yaml_canonical_of *canonical, char **text);

/* False after a complaint if text is among the first `count` of the list. */
bool yaml_is_new(const struct yaml_reader *reader, size_t line, char *const *list, unsigned count,
                 const char *text);

/* The line of the value at a place given as printf does, or of the innermost part that exists. */
size_t yaml_line(const struct yaml_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The line of the key of the mapping at place, or of the mapping if the key is left out. */
size_t yaml_key_line(const struct yaml_reader *reader, const char *place, const char *key);

/* The data of the text, to be freed with yaml_data_free(). All its memory is malloc()'s, so that
 * parts can be replaced. NULL after complaints; but unknown keys alone are complained of and passed
 * over. *count: the entries of a file that is a list; else NULL. */
void *yaml_reader_load(const struct yaml_reader *reader, const struct yaml_schema *schema,
                       unsigned *count);

void yaml_data_free(const cyaml_schema_value_t *value, void *data, unsigned count);

#endif
