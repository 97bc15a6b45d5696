/* measured_on.c - see measured_on.h. */
#define _GNU_SOURCE
#include "harness/measured_on.h"

#include "harness/files.h"
#include "harness/machine_start.h"
#include "harness/records.h"
#include "harness/run_folder.h"
#include "harness/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 256, KEY_SIZE = 2 * NAME_SIZE + 2 };

void measured_on_mark(json_t *object)
{
    static char cpu[NAME_SIZE];
    char host[NAME_SIZE] = "";
    gethostname(host, sizeof host - 1);
    if (!*cpu)
        topology_processor(cpu, sizeof cpu);
    json_object_set_new(object, "host", json_string(host));
    json_object_set_new(object, "cpu", json_string(cpu));
}

/* Keys are "PROCESSOR\tHOST", so that they sort by processor. */
void measured_on_note(json_t *machines, const json_t *record)
{
    char key[KEY_SIZE];
    if (machine_text_is_simulated(record_text(record, "machine")) || !record_is(record, "ok"))
        return;
    snprintf(key, sizeof key, "%.255s\t%.255s", record_text(record, "cpu"),
             record_text(record, "host"));
    json_object_set_new(machines, key,
                        json_integer(json_integer_value(json_object_get(machines, key)) + 1));
}

static int key_compare(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* The keys, sorted; to be freed. */
static const char **keys_sort(const json_t *machines)
{
    size_t count = 0;
    const char **keys = calloc(json_object_size(machines) + 1, sizeof *keys), *key;
    json_t *samples;
    if (!keys)
        abort();
    json_object_foreach((json_t *)(uintptr_t)machines, key, samples) keys[count++] = key;
    qsort(keys, count, sizeof *keys, key_compare);
    return keys;
}

static bool names_none(const char *key)
{
    return *key == '\t';
}

/* The processor's part of a key. */
static void cpu_of(const char *key, const char *cpu, char text[NAME_SIZE])
{
    snprintf(text, NAME_SIZE, "%.*s", (int)strcspn(key, "\t"), key);
    if (names_none(key))
        snprintf(text, NAME_SIZE, "%s", cpu);
}

json_t *measured_on_to_json(const json_t *machines, const char *cpu)
{
    const char **keys = keys_sort(machines);
    json_t *list = json_array();
    bool named = false;
    for (const char **key = keys; *key; key++) {
        char model[NAME_SIZE];
        cpu_of(*key, cpu, model);
        json_t *machine = json_object();
        if (!names_none(*key))
            json_object_set_new(machine, "host", json_string(strchr(*key, '\t') + 1));
        json_object_set_new(machine, "cpu", json_string(model));
        json_object_set(machine, "samples", json_object_get(machines, *key));
        json_array_append_new(list, machine);
        named = named || !names_none(*key);
    }
    free(keys);
    if (!named) {
        json_decref(list);
        list = NULL;
    }
    return list;
}

char *measured_on_processors(const json_t *machines, const char *cpu)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        abort();
    json_t *models = json_object(); /* a key each */
    const char *key;
    json_t *samples;
    json_object_foreach((json_t *)(uintptr_t)machines, key, samples)
    {
        char model[NAME_SIZE];
        cpu_of(key, cpu, model);
        json_object_set(models, model, samples);
    }
    const char **keys = keys_sort(models);
    for (const char **model = keys; *model; model++)
        fprintf(to, "%s%s", model > keys ? " and " : "", *model);
    free(keys);
    json_decref(models);
    fclose(to);
    return text;
}

char *measured_on_text(const json_t *environment)
{
    const char *cpu = record_text(json_object_get(environment, "cpu"), "model");
    size_t i;
    json_t *machine, *models = json_object();
    json_array_foreach(json_object_get(environment, "measured_on"), i, machine)
        json_object_set_new(models, record_text(machine, "cpu"), json_true());
    if (json_object_size(models) == 0)
        json_object_set_new(models, *cpu ? cpu : "unknown", json_true());
    char *text = measured_on_processors(models, "");
    json_decref(models);
    return text;
}

bool measured_on_write(const char *folder, const json_t *machines, char *error, size_t error_size)
{
    char path[PATH_SIZE];
    error[0] = '\0';
    json_t *environment = run_folder_environment(folder, error, error_size);
    const char *cpu = record_text(json_object_get(environment, "cpu"), "model");
    json_t *list = environment && !*error ? measured_on_to_json(machines, cpu) : NULL;
    bool ok = !*error;
    if (list) {
        json_object_set_new(environment, "measured_on", list);
        snprintf(path, sizeof path, "%s/environment.json", folder);
        ok = file_replace_json(path, environment, error, error_size);
    }
    json_decref(environment);
    return ok;
}
