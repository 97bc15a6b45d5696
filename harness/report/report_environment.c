/* report_environment.c - where a run was made: environment.json as tables. See report_page.h. */
#include "harness/base/json_fields.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/doc/html.h"
#include "harness/numbers/units.h"
#include "harness/report/report_page.h"
#include "harness/report/report_remarks.h"

#include <string.h>

enum { NAME_SIZE = 128 };

/* "line_bytes" -> "line", whose value has its unit; other underscores are spaces. Behind the name
 * of what it belongs to, if that is not "". */
static void name_make(char name[NAME_SIZE], const char *of, const char *key)
{
    size_t length = strlen(key);
    if (text_ends_with(key, "bytes") && length > strlen("_bytes"))
        length -= strlen("_bytes");
    snprintf(name, NAME_SIZE, "%.60s%s%.*s", of, *of ? " " : "", (int)length, key);
    for (char *at = name; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
}

/* A number, a text, or yes and no. */
static struct text scalar_text(const char *key, const json_t *value)
{
    struct text text = {"-"};
    if (json_is_integer(value) && text_ends_with(key, "bytes"))
        return text_bytes((double)json_integer_value(value));
    if (json_is_integer(value))
        snprintf(text.s, sizeof text.s, "%lld", json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text.s, sizeof text.s, "%g", json_real_value(value));
    else if (json_is_boolean(value))
        return json_is_true(value) ? (struct text){"yes"} : (struct text){"no"};
    return text;
}

static void row_open(FILE *to, const char *name)
{
    html_put(to, "<tr><th scope='row'>%s</th><td>", name);
}

static void row_close(FILE *to)
{
    html_put(to, "</td></tr>");
}

/* {"level": 1, "kind": "data", "bytes", "line_bytes", "count"}, of each size one row. */
static void cache_row(FILE *to, const json_t *cache)
{
    char name[NAME_SIZE];
    json_int_t count = field_integer(cache, "count");
    snprintf(name, sizeof name, "cache L%lld %.40s", field_integer(cache, "level"),
             field_text(cache, "kind"));
    row_open(to, name);
    html_put(to, "%s%s, lines of %s", text_bytes(field_number(cache, "bytes")).s,
             count == 1 ? "" : " each", text_bytes(field_number(cache, "line_bytes")).s);
    if (count > 1)
        html_put(to, ", %lld of them", count);
    row_close(to);
}

static void value_rows(FILE *to, const char *of, const char *key, const json_t *value);

/* The members of an object, or the items of a list, each in its own rows. */
static void member_rows(FILE *to, const char *name, const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) value_rows(to, name, key, member);
    json_array_foreach(value, i, member)
    {
        char number[24];
        snprintf(number, sizeof number, "%zu", i + 1);
        if (json_object_get(member, "level") && json_object_get(member, "kind"))
            cache_row(to, member);
        else
            value_rows(to, name, number, member);
    }
}

static void value_rows(FILE *to, const char *of, const char *key, const json_t *value)
{
    char name[NAME_SIZE];
    const char *absent = json_string_value(json_object_get(value, "absent"));
    name_make(name, of, key);
    if (!absent && (json_is_object(value) || json_is_array(value))) {
        member_rows(to, name, value);
        return;
    }
    row_open(to, name);
    if (absent) {
        html_put(to, "<span class='range'>not known: %s</span>", absent);
    } else if (json_is_string(value)) {
        html_put(to, "%s", json_string_value(value));
    } else {
        html_put(to, "%s", scalar_text(key, value).s);
    }
    row_close(to);
}

/* Writes a part of the environment, as far as it is known, below its title. */
static void part_write(FILE *to, const char *title, const json_t *part)
{
    if (!part || (json_is_object(part) && json_object_size(part) == 0))
        return;
    html_put(to, "<tbody><tr><th scope='rowgroup' colspan='2'>%s</th></tr>", title);
    member_rows(to, "", part);
    html_put(to, "</tbody>");
}

void report_facts_write(FILE *to, const char *label, const json_t *facts)
{
    if (json_object_size(facts) == 0)
        return;
    html_table_open(to, label, "facts");
    html_put(to, "<tbody>");
    member_rows(to, "", facts);
    html_table_end(to);
}

/* Facts that have a part of their own in environment.json though each is one word. */
static json_t *run_facts(const struct report *report)
{
    static const char *const keys[] = {"taken", "hypervisor", "allocator"};
    json_t *facts = json_pack("{ss}", "run", report->name);
    if (report->sweep)
        json_object_set_new(facts, "sweep", json_string(report->sweep->name));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (json_object_get(report->environment, keys[i]))
            json_object_set(facts, keys[i], json_object_get(report->environment, keys[i]));
    json_t *counting = json_object_get(report->environment, "counting");
    if (json_object_get(counting, "domain"))
        json_object_set(facts, "counted", json_object_get(counting, "domain"));
    return facts;
}

void report_environment_write(FILE *to, const struct report *report)
{
    static const char *const parts[][2] = {
        {"measured_on", "Measured on"}, {"cpu", "CPU"},           {"memory", "Memory"},
        {"kernel", "Kernel"},           {"settings", "Settings"}, {"build", "Build"},
        {"libraries", "Libraries"},
    };
    html_put(to, "<section id='where'><h2>What was run, and where</h2>");
    html_table_open(to, "The run and its machine", "facts");
    json_t *run = run_facts(report);
    part_write(to, "Run", run);
    json_decref(run);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        part_write(to, parts[i][1], json_object_get(report->environment, parts[i][0]));
    html_table_close(to);
    report_remarks_write(to, report);
    html_put(to, "</section>");
}
