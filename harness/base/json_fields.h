/* json_fields.h - fields of a JSON object, with a value for those that are not there.
 *
 * Callers: the readers of records, environment.json and other files of a run.
 */
#ifndef SCHEDLAB_JSON_FIELDS_H
#define SCHEDLAB_JSON_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The text, "" if there is none; the number, NAN if there is none; the integer, 0 if there is none.
 * object may be NULL. A text is the object's. */
const char *field_text(const json_t *object, const char *key);
double field_number(const json_t *object, const char *key);
json_int_t field_integer(const json_t *object, const char *key);

/* True if one of the objects has the key. */
bool fields_any(const json_t *array, const char *key);

/* Adds one to the array of that name in groups. */
void fields_group_add(json_t *groups, const char *name, json_t *one);

/* The objects of an array by the text of a key: {text: [object, ...]}, in the order in which the
 * texts come; the caller's. */
json_t *fields_group(const json_t *array, const char *key);

/* A loop over the elements of an array, which may be NULL; each stays the array's:
 *
 *     json_each(record, records)
 *         print(record);
 *
 * break and continue are as in other loops, though it is made of two: the inner one runs once, and
 * a break leaves `on` false. Where the index matters, take json_array_foreach(). */
#define json_each(element, array)                                                                  \
    for (struct json_walk element##_walk = {(array), 0, true}; json_walk_on(&element##_walk);)     \
        for (json_t *element = json_walk_next(&element##_walk); !element##_walk.on;                \
             element##_walk.on = true)

struct json_walk {
    const json_t *array;
    size_t at;
    bool on;
};

static inline bool json_walk_on(const struct json_walk *walk)
{
    return walk->on && walk->at < json_array_size(walk->array);
}

static inline json_t *json_walk_next(struct json_walk *walk)
{
    walk->on = false;
    return json_array_get(walk->array, walk->at++);
}

#endif
