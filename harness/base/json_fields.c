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

bool fields_any(const json_t *array, const char *key)
{
    json_each(object, array)
        if (json_object_get(object, key))
            return true;
    return false;
}

void fields_group_add(json_t *groups, const char *name, json_t *one)
{
    if (!json_object_get(groups, name))
        json_object_set_new(groups, name, json_array());
    json_array_append(json_object_get(groups, name), one);
}

json_t *fields_group(const json_t *array, const char *key)
{
    json_t *groups = json_object();
    json_each(object, array)
        fields_group_add(groups, field_text(object, key), object);
    return groups;
}
