/* json_fields.c - see json_fields.h. */
#include "harness/base/json_fields.h"

#include <math.h>

const char *field_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double field_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

json_int_t field_integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}
