/* compare_side.c - see compare_side.h. */
#include "harness/tables/compare_side.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/records/run_folder.h"
#include "harness/spec/spec.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 32 };

/* Filters -------------------------------------------------------------------------------------- */

/* A specification in its canonical form, or a copy of the text if it is none of this program's. */
static char *canonical(const char *key, const char *text)
{
    char *copy = NULL;
    struct error error;
    if (strcmp(key, "variant") == 0)
        copy = variant_spec_canonical(text, &error);
    else if (strcmp(key, "workload") == 0)
        copy = workload_spec_canonical(text, &error);
    return copy ? copy : xstrdup(text);
}

static bool terms_parse(struct compare_side *side, const char *text, struct error *error)
{
    for (const char *at = text; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        size_t length = strcspn(at, "/"), key = strcspn(at, "=");
        if (key == 0 || key + 1 >= length)
            return error_set(error,
                             "%s: \"%.*s\" is not KEY=VALUE; for example RUN:variant=gmp/workers=2",
                             side->label, (int)length, at);
        struct compare_term *term = &array_add(side->terms, side->terms_count);
        char *value = xstrndup(at + key + 1, length - key - 1);
        term->key = xstrndup(at, key);
        term->value = canonical(term->key, value);
        /* A name alone means any parameters. */
        if (strcmp(term->key, "workload") == 0 && !strchr(value, ',')) {
            free(term->key);
            term->key = xstrdup("workload_name");
        }
        free(value);
    }
    return true;
}

/* True if a word or number of a record is what the user wrote. */
static bool value_is(const json_t *value, const char *text)
{
    int64_t number;
    if (json_is_string(value))
        return strcmp(json_string_value(value), text) == 0;
    if (json_is_integer(value))
        return spec_parse_number(text, NULL, &number) && number == json_integer_value(value);
    if (json_is_boolean(value))
        return strcmp(text, json_is_true(value) ? "true" : "false") == 0;
    return false;
}

/* The word or number of a filter's key in a record, else NULL. */
static const json_t *record_field(const json_t *record, const char *key)
{
    const json_t *places[] = {json_object_get(record, "knobs"), json_object_get(record, "params"),
                              record};
    for (int i = 0; i < 3; i++) {
        const json_t *value = json_object_get(places[i], key);
        if (json_is_string(value) || json_is_integer(value) || json_is_boolean(value))
            return value;
    }
    return NULL;
}

static bool term_holds(const struct compare_term *term, const json_t *record)
{
    if (strcmp(term->key, "group") == 0) {
        json_each(group, json_object_get(record, "groups"))
            if (value_is(group, term->value))
                return true;
        return false;
    }
    return value_is(record_field(record, term->key), term->value);
}

/* Every key of the first `count` terms holds in one of the values that it is named with. */
static bool terms_hold(const struct compare_side *side, size_t count, const json_t *record)
{
    for (size_t i = 0; i < count; i++) {
        bool holds = false;
        for (size_t k = 0; k < side->terms_count && !holds; k++)
            holds = strcmp(side->terms[k].key, side->terms[i].key) == 0 &&
                    term_holds(&side->terms[k], record);
        if (!holds)
            return false;
    }
    return true;
}

/* Misuse --------------------------------------------------------------------------------------- */

/* A set of texts: an object whose keys they are, so that each is there once. */
static void set_add(json_t *set, const json_t *value)
{
    char number[32];
    snprintf(number, sizeof number, "%lld", json_integer_value(value));
    const char *text = json_is_string(value)    ? json_string_value(value)
                       : json_is_integer(value) ? number
                       : json_is_true(value)    ? "true"
                                                : "false";
    json_object_set_new(set, text, json_true());
}

/* The keys of an object that a filter can name. */
static void set_add_keys(json_t *set, json_t *object)
{
    const char *key;
    const json_t *value;
    json_object_foreach(object, key, value)
    {
        if (json_is_string(value) || json_is_integer(value) || json_is_boolean(value))
            json_object_set_new(set, key, json_true());
    }
}

/* The nearest to word, or what else there is. A number that is near is none that was meant. Takes
 * the set. */
static struct advice set_advise(json_t *set, const char *word)
{
    const char *text;
    const json_t *value;
    struct suggest near = suggest_for(word);
    struct advice advice = {"it has none"};
    json_object_foreach(set, text, value) suggest_offer(&near, text);
    near.near = near.near && !isdigit((unsigned char)*word);
    if (near.count > 0)
        advice = suggest_text(&near, "", "samples.jsonl");
    json_decref(set);
    return advice;
}

static bool keys_are_known(const struct compare_side *side, const json_t *records,
                           struct error *error)
{
    for (size_t i = 0; i < side->terms_count; i++) {
        const char *key = side->terms[i].key;
        json_t *keys = json_pack("{sb}", "group", true);
        bool known = strcmp(key, "group") == 0;
        json_each(record, records) {
            known = known || record_field(record, key);
            set_add_keys(keys, json_object_get(record, "knobs"));
            set_add_keys(keys, json_object_get(record, "params"));
            set_add_keys(keys, record);
        }
        struct advice advice = set_advise(keys, key);
        if (!known)
            return error_set(error, "%s: no record has a key \"%s\"; %s", side->label, key,
                             advice.s);
    }
    return true;
}

/* The values that the records which hold in the first `count` terms have for the next one. */
static json_t *values_of_next(const struct compare_side *side, size_t count, const json_t *records)
{
    json_t *set = json_object();
    const char *key = side->terms[count].key;
    json_each(record, records) {
        if (!terms_hold(side, count, record))
            continue;
        if (strcmp(key, "group") == 0) {
            json_each(group, json_object_get(record, "groups"))
                set_add(set, group);
        } else if (record_field(record, key)) {
            set_add(set, record_field(record, key));
        }
    }
    return set;
}

/* How many terms can hold at once, from the first on. */
static size_t terms_that_hold(const struct compare_side *side, const json_t *records)
{
    size_t most = 0;
    json_each(record, records) {
        while (most < side->terms_count && terms_hold(side, most + 1, record))
            most++;
    }
    return most;
}

/* Names the term that leaves nothing of what those before it keep, and the values that would. */
static void explain_empty(const struct compare_side *side, const json_t *records,
                          struct error *error)
{
    size_t hold = terms_that_hold(side, records);
    if (hold == side->terms_count) {
        error_print(error, "%s: it has no samples", side->label);
        return;
    }
    const struct compare_term *term = &side->terms[hold];
    error_print(error, "%s: no cell is left: none%s has %s=%s; %s", side->label,
                hold > 0 ? " that the terms before it keep" : "", term->key, term->value,
                set_advise(values_of_next(side, hold, records), term->value).s);
}

/* Cells ---------------------------------------------------------------------------------------- */

/* The same for all samples of a cell. free() it. */
static char *cell_key(const json_t *record)
{
    return text_format("%s\n%s\n%s\n%s\n%s\n%lld", field_text(record, "cell"),
                       field_text(record, "variant"), field_text(record, "workload"),
                       field_text(record, "machine"), field_text(record, "side"),
                       field_integer(record, "workers"));
}

/* Failed if one sample did: a scheduler that is wrong once in a while has no speed. */
static const char *worse_status(const char *a, const char *b)
{
    if (strcmp(a, "failed") == 0 || strcmp(b, "failed") == 0)
        return "failed";
    return strcmp(a, "ok") == 0 || strcmp(b, "ok") == 0 ? "ok" : "skipped";
}

/* The record's cell, by its key -> number of the cell. */
static struct compare_cell *cell_of(struct compare_side *side, json_t *index, const json_t *record)
{
    char *key = cell_key(record);
    const json_t *number = json_object_get(index, key);
    if (!number) {
        json_object_set_new(index, key, json_integer((json_int_t)side->count));
        if ((side->count & (side->count - 1)) == 0) /* full: twice as many */
            side->cells = xrealloc(side->cells, (2 * side->count + 1) * sizeof *side->cells);
        side->cells[side->count++] = (struct compare_cell){
            .variant = field_text(record, "variant"),
            .workload = field_text(record, "workload"),
            .machine = field_text(record, "machine"),
            .status = field_text(record, "status"),
            .workers = (int)field_integer(record, "workers"),
            .records = json_array(),
        };
    }
    free(key);
    return &side->cells[number ? (size_t)json_integer_value(number) : side->count - 1];
}

static void cells_make(struct compare_side *side)
{
    json_t *index = json_object();
    json_each(record, side->records) {
        struct compare_cell *cell = cell_of(side, index, record);
        cell->status = worse_status(cell->status, field_text(record, "status"));
        json_array_append(cell->records, record);
    }
    json_decref(index);
}

/* Loading -------------------------------------------------------------------------------------- */

/* The colon behind a run's folder; the end of the text if all of it is one; NULL if there is none.
 */
static const char *run_end(const char *text, char path[PATH_SIZE])
{
    for (const char *end = text;; end++) {
        end += strcspn(end, ":");
        snprintf(path, PATH_SIZE, "%.*s", (int)(end - text), text);
        if (run_folder_is_run(path))
            return end;
        if (!*end)
            return NULL;
    }
}

static void environment_load(struct compare_side *side)
{
    struct error problem;
    side->environment = run_folder_environment(side->run_dir, &problem);
    if (!*problem.text && json_object_size(side->environment) == 0)
        error_print(&problem, "%s has no environment.json", side->run_dir);
    if (*problem.text)
        side->environment_problem = xstrdup(problem.text);
}

static bool side_filter(struct compare_side *side, json_t *records, struct error *error)
{
    if (!keys_are_known(side, records, error))
        return false;
    json_each(record, records)
        if (terms_hold(side, side->terms_count, record))
            json_array_append(side->records, record);
    cells_make(side);
    if (side->count > 0)
        return true;
    explain_empty(side, records, error);
    return false;
}

bool compare_side_load(struct compare_side *side, const char *text, struct error *error)
{
    char run_dir[PATH_SIZE];
    *side = (struct compare_side){.label = xstrdup(text), .records = json_array()};
    const char *end = run_end(text, run_dir);
    if (!end) {
        snprintf(run_dir, sizeof run_dir, "%.*s", (int)strcspn(text, ":"), text);
        run_folder_explain(run_dir, error);
        compare_side_free(side);
        return false;
    }
    side->run_dir = xstrdup(run_dir);
    environment_load(side);
    json_t *records = run_folder_records(run_dir, true, &side->flaws, error);
    bool ok = records && (*end == '\0' || terms_parse(side, end + 1, error)) &&
              side_filter(side, records, error);
    json_decref(records);
    if (!ok)
        compare_side_free(side);
    return ok;
}

void compare_side_of_records(struct compare_side *side, const char *label, json_t *records,
                             const char *key, const char *value, json_t *environment)
{
    *side = (struct compare_side){
        .label = xstrdup(label), .records = json_array(), .environment = json_incref(environment)};
    json_each(record, records)
        if (!key || strcmp(field_text(record, key), value) == 0)
            json_array_append(side->records, record);
    cells_make(side);
}

void compare_side_free(struct compare_side *side)
{
    for (size_t i = 0; i < side->terms_count; i++) {
        free(side->terms[i].key);
        free(side->terms[i].value);
    }
    for (size_t i = 0; i < side->count; i++) {
        json_decref(side->cells[i].records);
        free(side->cells[i].key);
    }
    free(side->terms);
    free(side->cells);
    free(side->label);
    free(side->run_dir);
    json_decref(side->records);
    json_decref(side->environment);
    free(side->environment_problem);
    *side = (struct compare_side){0};
}

/* Pairing -------------------------------------------------------------------------------------- */

static bool side_names_part(const struct compare_side *side, const char *key, size_t length)
{
    for (size_t i = 0; i < side->terms_count; i++)
        if (strlen(side->terms[i].key) == length && strncmp(side->terms[i].key, key, length) == 0)
            return true;
    return false;
}

static bool side_names(const struct compare_side *side, const char *key)
{
    return side_names_part(side, key, strlen(key));
}

struct sides {
    const struct compare_side *a, *b;
};

static bool both_name(struct sides sides, const char *key)
{
    size_t length = strcspn(key, "=,");
    return side_names_part(sides.a, key, length) && side_names_part(sides.b, key, length);
}

/* Each side names one of the two. */
static bool both_name_either(struct sides sides, const char *key, const char *other)
{
    return (side_names(sides.a, key) || side_names(sides.a, other)) &&
           (side_names(sides.b, key) || side_names(sides.b, other));
}

/* The allocator in force is what the setting malloc asked for. */
static bool both_name_allocator(struct sides sides, const char *setting)
{
    return strncmp(setting, "malloc=", 7) == 0 && both_name_either(sides, "malloc", "allocator");
}

/* A whole specification names its name too. */
static bool both_name_the_name(struct sides sides, const char *kind)
{
    char name_key[NAME_SIZE];
    snprintf(name_key, sizeof name_key, "%s_name", kind);
    return both_name_either(sides, kind, name_key);
}

/* A specification without the name and the keys that both sides name; empty if they name it as a
 * whole. Canonical texts leave out defaults, so two rests are equal exactly if they mean the same.
 */
static void spec_write(FILE *to, struct sides sides, const char *kind, const char *spec)
{
    if (both_name(sides, kind))
        return;
    size_t length = strcspn(spec, ",");
    if (!both_name_the_name(sides, kind))
        fprintf(to, "%.*s", (int)length, spec);
    for (const char *at = spec + length; *at; at += length) {
        at++;
        length = strcspn(at, ",");
        if (!both_name(sides, at) && !both_name_allocator(sides, at))
            fprintf(to, ",%.*s", (int)length, at);
    }
}

/* The events that the cell's samples count; a sample that crashed does not say it. */
static char *cell_events(const struct compare_cell *cell)
{
    json_each(record, cell->records)
        if (json_object_get(record, "events"))
            return record_event_names(record, "+");
    return xstrndup("", 0);
}

static char *key_make(struct sides sides, const struct compare_cell *cell, bool with_events)
{
    char *key = NULL;
    FILE *to = memory_stream(&key, NULL);
    spec_write(to, sides, "variant", cell->variant);
    fputc('\t', to);
    spec_write(to, sides, "workload", cell->workload);
    fputc('\t', to);
    if (!both_name(sides, "workers"))
        fprintf(to, "%d", cell->workers);
    fputc('\t', to);
    if (!both_name(sides, "machine"))
        fputs(cell->machine, to);
    if (with_events) {
        char *events = cell_events(cell);
        fprintf(to, "\t%s", events);
        free(events);
    }
    fclose(to);
    return key;
}

static void keys_make(struct compare_side *side, struct sides sides, bool with_events)
{
    for (size_t i = 0; i < side->count; i++) {
        free(side->cells[i].key);
        side->cells[i].key = key_make(sides, &side->cells[i], with_events);
    }
}

/* Two cells of one side with the same key; false if there are none. */
static bool keys_clash(const struct compare_side *side, const struct compare_cell **first,
                       const struct compare_cell **second)
{
    for (size_t i = 0; i < side->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(side->cells[k].key, side->cells[i].key) == 0) {
                *first = &side->cells[k];
                *second = &side->cells[i];
                return true;
            }
    return false;
}

static bool keys_differ(const struct compare_side *side, struct error *error)
{
    const struct compare_cell *first, *second;
    if (!keys_clash(side, &first, &second))
        return true;
    return error_set(error,
                     "%s: %s on %s (%s) and %s on %s (%s) would both be compared with the "
                     "same cell; filter one of them out",
                     side->label, first->variant, first->workload,
                     counted((uint64_t)first->workers, "worker").s, second->variant,
                     second->workload, counted((uint64_t)second->workers, "worker").s);
}

/* Events are part of the keys only where cells differ in nothing else: runs of different events
 * have partners too. */
bool compare_sides_pair(struct compare_side *a, struct compare_side *b, bool each,
                        struct error *error)
{
    struct sides sides = {a, each ? a : b};
    const struct compare_cell *first, *second;
    keys_make(a, sides, false);
    keys_make(b, sides, false);
    if (keys_clash(a, &first, &second) || (!each && keys_clash(b, &first, &second))) {
        keys_make(a, sides, true);
        keys_make(b, sides, true);
    }
    return keys_differ(a, error) && (each || keys_differ(b, error));
}
