/* json_fields.h - fields of a JSON object, with a value for those that are not there.
 *
 * Callers: the readers of records, environment.json and other files of a run.
 */
#ifndef SCHEDLAB_JSON_FIELDS_H
#define SCHEDLAB_JSON_FIELDS_H

#include <jansson.h>

/* The text, "" if there is none; the number, NAN if there is none; the integer, 0 if there is none.
 * object may be NULL. A text is the object's. */
const char *field_text(const json_t *object, const char *key);
double field_number(const json_t *object, const char *key);
json_int_t field_integer(const json_t *object, const char *key);

#endif
