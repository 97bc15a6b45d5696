/* hosts_used.c - see hosts_used.h. */
#include "harness/records/hosts_used.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/host/topology.h"
#include "harness/models/machine_start.h"
#include "harness/records/records.h"
#include "harness/records/run_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NAME_SIZE = 256, KEY_SIZE = 2 * NAME_SIZE + 2 };

void hosts_used_mark(json_t *object)
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
static void count_add(json_t *machines, const char *cpu, const char *host, json_int_t samples)
{
    char key[KEY_SIZE];
    snprintf(key, sizeof key, "%.255s\t%.255s", cpu, host);
    samples += field_integer(machines, key);
    json_object_set_new(machines, key, json_integer(samples));
}

void hosts_used_note(json_t *machines, const json_t *record, const char *cpu)
{
    if (machine_text_is_simulated(field_text(record, "machine")) || !record_is(record, "ok"))
        return;
    const char *named = field_text(record, "cpu");
    count_add(machines, *named ? named : cpu, field_text(record, "host"), 1);
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
    const char **keys = xcalloc(json_object_size(machines) + 1, sizeof *keys), *key;
    json_t *samples;
    json_object_foreach((json_t *)(uintptr_t)machines, key, samples) keys[count++] = key;
    qsort(keys, count, sizeof *keys, key_compare);
    return keys;
}

json_t *hosts_used_to_json(const json_t *machines)
{
    const char **keys = keys_sort(machines);
    json_t *list = json_array();
    bool named = json_object_size(machines) > 1;
    for (const char **key = keys; *key; key++) {
        const char *tab = strchr(*key, '\t');
        json_t *machine = json_object();
        if (tab[1])
            json_object_set_new(machine, "host", json_string(tab + 1));
        json_object_set_new(machine, "cpu", json_stringn(*key, (size_t)(tab - *key)));
        json_object_set(machine, "samples", json_object_get(machines, *key));
        json_array_append_new(list, machine);
        named = named || tab[1];
    }
    free(keys);
    if (!named) {
        json_decref(list);
        list = NULL;
    }
    return list;
}

char *hosts_used_processors(const json_t *machines)
{
    char *text = NULL;
    size_t length = 0; /* of the one before */
    FILE *to = memory_stream(&text, NULL);
    const char **keys = keys_sort(machines), *before = NULL;
    for (const char **key = keys; *key; key++) {
        bool same = before && strncmp(*key, before, length + 1) == 0;
        length = strcspn(*key, "\t");
        if (!same)
            fprintf(to, "%s%.*s", before ? " and " : "", (int)length, *key);
        before = *key;
    }
    free(keys);
    fclose(to);
    return text;
}

char *hosts_used_text(const json_t *environment)
{
    const char *cpu = field_text(json_object_get(environment, "cpu"), "model");
    json_t *machines = json_object();
    json_each(machine, json_object_get(environment, "measured_on"))
        count_add(machines, field_text(machine, "cpu"), "", 1);
    if (json_object_size(machines) == 0)
        count_add(machines, *cpu ? cpu : "unknown", "", 1);
    char *text = hosts_used_processors(machines);
    json_decref(machines);
    return text;
}

/* As machines, where those of no name are of this processor. */
static json_t *machines_name(const json_t *machines, const char *cpu)
{
    json_t *named = json_object(), *samples;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)machines, key, samples)
    {
        json_t *model = json_stringn(key, strcspn(key, "\t"));
        count_add(named, *key == '\t' ? cpu : json_string_value(model), strchr(key, '\t') + 1,
                  json_integer_value(samples));
        json_decref(model);
    }
    return named;
}

bool hosts_used_write(const char *folder, const json_t *machines, struct error *error)
{
    char path[PATH_SIZE];
    error->text[0] = '\0';
    json_t *environment = run_folder_environment(folder, error);
    const char *cpu = field_text(json_object_get(environment, "cpu"), "model");
    json_t *named = machines_name(machines, cpu);
    json_t *list = *error->text ? NULL : hosts_used_to_json(named);
    bool ok = !*error->text;
    if (list) {
        json_object_set_new(environment, "measured_on", list);
        snprintf(path, sizeof path, "%s/environment.json", folder);
        ok = file_replace_json(path, environment, error);
    }
    json_decref(named);
    json_decref(environment);
    return ok;
}
