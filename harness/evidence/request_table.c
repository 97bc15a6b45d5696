/* request_table.c - see request_table.h. */
#include "harness/evidence/request_table.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "workloads/request_parts.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 42 };
static const char unnamed[] = "those without a name";

/* Rows of nothing are left out. */
static void row_add(json_t *rows, const char *before, const char *name,
                    const double us[REQUEST_QUANTILES])
{
    if (us[0] > 0 || us[1] > 0)
        json_array_append_new(rows,
                              json_pack("{so sf sf}", "part", json_sprintf("%s%s", before, name),
                                        "p50_us", us[0], "p99_us", us[1]));
}

/* A name of a file may be no UTF-8, or have been cut within a letter. */
static json_t *name_to_json(const char *name)
{
    json_t *json = json_string(name);
    if (json)
        return json;
    char *plain = xstrdup(name);
    for (char *at = plain; *at; at++)
        *at = (unsigned char)*at < 128 ? *at : '?';
    json = json_string(plain);
    free(plain);
    return json;
}

/* key: what it is of, under which stands of. */
static json_t *parts_to_json(const struct request_parts *parts, const char *key, json_t *of)
{
    json_t *rows = json_array();
    for (int i = 0; i < REQUEST_LOCKS; i++)
        row_add(rows, "lock ", parts->lock[i].name, parts->lock[i].us);
    for (int part = 0; part < REQUEST_PARTS; part++)
        row_add(rows, "", request_part_words[part], parts->us[part]);
    return json_pack("{so sI sf sf so}", key, of, "count", (json_int_t)parts->count, "p50_us",
                     parts->latency_us[0], "p99_us", parts->latency_us[1], "parts", rows);
}

json_t *request_parts_to_json(const struct request_parts *parts, size_t count, const char *why)
{
    if (why)
        return json_pack("{ss}", "absent", why);
    if (parts->count == 0)
        return json_pack("{ss}", "absent", "no request was served");
    json_t *object =
        parts_to_json(parts, "of", json_string(parts->is_of_lives ? "life" : "request"));
    if (count == 1)
        return object;
    json_t *classes = json_array();
    for (size_t i = 1; i < count; i++)
        json_array_append_new(classes,
                              parts_to_json(&parts[i], "class", name_to_json(parts[i].name)));
    json_object_set_new(object, "classes", classes);
    json_object_set_new(object, "classes_count", json_integer((json_int_t)parts->classes));
    return object;
}

/* indent: of the name. */
static void row_print(int indent, const char *name, const json_t *of, FILE *to)
{
    fprintf(to, "%*s%-*s %9.1f %9.1f\n", indent, "", NAME_WIDTH - indent, name,
            field_number(of, "p50_us"), field_number(of, "p99_us"));
}

static void classes_print(const json_t *parts, FILE *to)
{
    const json_t *classes = json_object_get(parts, "classes");
    json_int_t left_out =
        field_integer(parts, "classes_count") - (json_int_t)json_array_size(classes);
    json_each(class, classes) {
        const char *name = field_text(class, "class");
        fprintf(to, "of %s: %s\n", *name ? name : unnamed,
                counted((uint64_t)field_integer(class, "count"), "request").s);
        json_each(row, json_object_get(class, "parts"))
            row_print(4, field_text(row, "part"), row, to);
        row_print(4, "in all", class, to);
    }
    if (left_out > 0)
        fprintf(to, "other classes of requests: %lld, with fewer each\n", left_out);
}

char *request_table(const json_t *record)
{
    char *text;
    const json_t *parts = json_object_get(record, "request_parts");
    FILE *to = memory_stream(&text, NULL);
    if (json_object_get(parts, "parts")) {
        fprintf(to, "%-*s %9s %9s\n", NAME_WIDTH,
                strcmp(field_text(parts, "of"), "life") == 0 ? "where a goroutine's life goes, us"
                                                             : "where a request's time goes, us",
                "p50", "p99");
        json_each(row, json_object_get(parts, "parts"))
            row_print(2, field_text(row, "part"), row, to);
        row_print(2, "in all", parts, to);
        classes_print(parts, to);
    }
    fclose(to);
    return text;
}

const char *request_table_absent(const json_t *record)
{
    return field_text(json_object_get(record, "request_parts"), "absent");
}
