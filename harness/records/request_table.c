/* request_table.c - see request_table.h. */
#include "harness/records/request_table.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "workloads/request_parts.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 42 };

/* Rows of nothing are left out. */
static void row_add(json_t *rows, const char *before, const char *name,
                    const double us[REQUEST_QUANTILES])
{
    if (us[0] > 0 || us[1] > 0)
        json_array_append_new(rows,
                              json_pack("{so sf sf}", "part", json_sprintf("%s%s", before, name),
                                        "p50_us", us[0], "p99_us", us[1]));
}

json_t *request_parts_to_json(const struct request_parts *parts, const char *why)
{
    if (why)
        return json_pack("{ss}", "absent", why);
    if (parts->count == 0)
        return json_pack("{ss}", "absent", "no request was served");
    json_t *rows = json_array();
    for (int i = 0; i < REQUEST_LOCKS; i++)
        row_add(rows, "lock ", parts->lock[i].name, parts->lock[i].us);
    for (int part = 0; part < REQUEST_PARTS; part++)
        row_add(rows, "", request_part_words[part], parts->us[part]);
    return json_pack("{ss sI sf sf so}", "of", parts->is_of_lives ? "life" : "request", "count",
                     (json_int_t)parts->count, "p50_us", parts->latency_us[0], "p99_us",
                     parts->latency_us[1], "parts", rows);
}

static void row_print(const char *name, const json_t *of, FILE *to)
{
    fprintf(to, "  %-*s %9.1f %9.1f\n", NAME_WIDTH - 2, name, field_number(of, "p50_us"),
            field_number(of, "p99_us"));
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
            row_print(field_text(row, "part"), row, to);
        row_print("in all", parts, to);
    }
    fclose(to);
    return text;
}

const char *request_table_absent(const json_t *record)
{
    return field_text(json_object_get(record, "request_parts"), "absent");
}
