/* list_machines.c - see list_machines.h. */
#include "harness/list/list_machines.h"

#include "harness/base/memory.h"
#include "harness/base/wrap.h"
#include "harness/host/data_folder.h"
#include "harness/models/machine_spec.h"
#include "harness/models/structures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 64 };
enum { COLUMN_NAME = 13, COLUMN_VALUE = 17, COLUMN_HELP = 29 };

/* True if the specification gave the key no other value than its file has. */
static bool is_own(const struct machine_spec *spec, size_t key)
{
    struct sim_model own = {.cores = 0};
    struct error unused;
    machine_model_make(&own, &spec->own, &unused);
    return machine_model_get(&own, &machine_keys[key]) ==
           machine_model_get(&spec->model, &machine_keys[key]);
}

/* The value of a key in the specification's model: as its file has it where the model has that too,
 * else in the largest unit. */
static struct machine_text value_text(const struct machine_spec *spec, size_t key)
{
    struct machine_value value = spec->own.of[key];
    if (!value.given || spec->model.clock_khz != spec->file->model.clock_khz || !is_own(spec, key))
        value = (struct machine_value){
            .number = machine_model_get(&spec->model, &machine_keys[key]), .given = true};
    return machine_value_text(&machine_keys[key], value, true);
}

static struct machine_text text_of(const struct machine_spec *spec, const char *key)
{
    return value_text(spec, machine_key_find(key));
}

static void print_line(const struct machine_spec *spec, void *page)
{
    const struct sim_model *model = &spec->model;
    char *shape = text_format("%d hardware threads: %d to an L1, %d to an L3, %d to a socket",
                              model->cores, model->smt, model->group, model->socket);
    char *caches = text_format("%s; caches of %s, %s, %s", text_of(spec, "clock").s,
                               text_of(spec, "l1.size").s, text_of(spec, "l2.size").s,
                               text_of(spec, "l3.size").s);
    page_row(page, COLUMN_NAME, model->name, spec->file->title);
    page_text(page, COLUMN_NAME, shape);
    page_text(page, COLUMN_NAME, caches);
    free(shape);
    free(caches);
}

static void append_line(const struct machine_spec *spec, void *array)
{
    json_array_append_new(array, json_pack("{ss ss so}", "name", spec->model.name, "title",
                                           spec->file->title, "model",
                                           machine_model_to_json(&spec->model)));
}

/* Calls what for each model, in the order of the alphabet; false at the first that is wrong. */
static bool each_model(void (*what)(const struct machine_spec *spec, void *arg), void *arg,
                       struct error *error)
{
    char **names = data_folder_names("machines", error);
    bool good = names != NULL;
    for (char **name = names; good && *name; name++) {
        char text[TEXT_SIZE * 4];
        snprintf(text, sizeof text, "sim:%s", *name);
        const struct machine_spec *spec = machine_spec_kept(text, error);
        good = spec != NULL;
        if (good)
            what(spec, arg);
    }
    data_folder_names_free(names);
    return good;
}

bool list_machines_print(struct list_page *page, struct error *error)
{
    page_heading(page, "Simulated machines (sim:NAME[,KEY=VALUE]...)");
    putchar('\n');
    if (!each_model(print_line, page, error))
        return false;
    puts("\n`schedlab list sim:NAME` lists the keys of one.");
    return true;
}

json_t *list_machines_to_json(struct error *error)
{
    json_t *array = json_array();
    if (each_model(append_line, array, error))
        return array;
    json_decref(array);
    return NULL;
}

/* One machine --------------------------------------------------------------------------------- */

/* Where a value is from: the file's source, unless the specification changed it. */
static const char *source_of(const struct machine_spec *spec, size_t key)
{
    const char *source = spec->vm && spec->file->vm.of[key].given
                             ? machine_file_vm_source(spec->file)
                             : machine_file_source(spec->file, &machine_keys[key]);
    if (!is_own(spec, key))
        return "as specified, or following from that";
    return source ? source : "as much as is valid";
}

/* NULL and one line in error if there is no such one. */
static const struct machine_spec *simulated_of(const char *text, struct error *error)
{
    const struct machine_spec *spec = machine_spec_kept(text, error);
    if (!spec || spec->simulated)
        return spec;
    return error_null(error, "native has no model; `schedlab doctor` tells of this machine");
}

static void print_keys(const struct list_page *page, const struct machine_spec *spec)
{
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        char *key =
            text_format("%-*s %s", COLUMN_VALUE - 1, machine_keys[i].name, value_text(spec, i).s);
        page_row(page, COLUMN_HELP, key, machine_keys[i].help);
        free(key);
    }
}

/* The prices that host=vm would take. */
static void print_vm(const struct list_page *page, const struct machine_spec *spec)
{
    puts("\nPrices of the kernel in a virtual machine (host=vm)\n");
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        if (spec->file->vm.of[i].given)
            page_row(page, COLUMN_VALUE, machine_keys[i].name,
                     machine_value_text(&machine_keys[i], spec->file->vm.of[i], true).s);
    }
    putchar('\n');
    char *source = text_format("From: %s", machine_file_vm_source(spec->file));
    page_text(page, 0, source);
    free(source);
}

static void print_structures(const struct list_page *page, const struct machine_spec *spec)
{
    for (size_t i = 0; structures[i].name; i++) {
        char *name = text_format("%-*s %s", COLUMN_VALUE - 1, structures[i].name,
                                 spec->free >> i & 1 ? "free" : "");
        page_row(page, COLUMN_HELP, name, structures[i].what);
        free(name);
    }
}

/* A line for each run of keys with one source: "l2.ways to l2.hit: AMD 56665". */
static void print_sources(const struct list_page *page, const struct machine_spec *spec)
{
    for (size_t i = 0, next; i < MACHINE_KEYS; i = next) {
        const char *source = source_of(spec, i);
        for (next = i + 1; next < MACHINE_KEYS && strcmp(source_of(spec, next), source) == 0;)
            next++;
        bool several = next > i + 1;
        char *text = text_format("%s%s%s: %s", machine_keys[i].name, several ? " to " : "",
                                 several ? machine_keys[next - 1].name : "", source);
        text_wrap(stdout, 0, 2, page->columns, text);
        free(text);
    }
}

bool list_machine_print(const struct list_page *page, const char *text, struct error *error)
{
    const struct machine_spec *spec = simulated_of(text, error);
    if (!spec)
        return false;
    char *title = text_format("%s: %s", spec->text, spec->file->title);
    page_text(page, 0, title);
    free(title);
    putchar('\n');
    print_keys(page, spec);
    if (machine_file_has_vm(spec->file) && !spec->vm)
        print_vm(page, spec);
    puts("\nStructures, which can cost nothing (NAME=free)\n");
    print_structures(page, spec);
    puts("\nSources\n");
    print_sources(page, spec);
    return true;
}

json_t *list_machine_to_json(const char *text, struct error *error)
{
    const struct machine_spec *spec = simulated_of(text, error);
    if (!spec)
        return NULL;
    json_t *keys = json_array();
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        json_array_append_new(keys, json_pack("{ss ss ss ss ss}", "key", machine_keys[i].name,
                                              "value", value_text(spec, i).s, "valid",
                                              machine_key_range_text(&machine_keys[i]).s, "help",
                                              machine_keys[i].help, "source", source_of(spec, i)));
    }
    return json_pack("{ss ss so so}", "machine", spec->text, "title", spec->file->title, "keys",
                     keys, "model", machine_model_to_json(&spec->model));
}
