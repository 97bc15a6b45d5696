/* sweep_origin.c - see sweep_origin.h. */
#include "harness/plan/sweep_origin.h"

#include "harness/base/files.h"
#include "harness/base/fnv1a.h"
#include "harness/base/json_fields.h"
#include "harness/records/run_folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

static const struct {
    const char *object, *key, *name;
} parts[ORIGIN_PARTS] = {
    [ORIGIN_REVISION] = {"build", "revision", "revision"},
    [ORIGIN_COMPILER] = {"build", "compiler", "compiler"},
    [ORIGIN_FLAGS] = {"build", "flags", "compiler flags"},
    [ORIGIN_CPU] = {"cpu", "model", "CPU"},
};

bool sweep_origin_fingerprint(const char *path, char fingerprint[FINGERPRINT_SIZE],
                              struct error *error)
{
    size_t size;
    char *text = file_read(path, &size, error);
    if (!text)
        return false;
    snprintf(fingerprint, FINGERPRINT_SIZE, "%016" PRIx64, fnv1a(FNV1A_SEED, text, size));
    free(text);
    return true;
}

json_t *sweep_origin_read(const char *folder, struct error *error)
{
    json_t *environment = run_folder_environment(folder, error);
    if (json_is_object(json_object_get(environment, "sweep")))
        return environment;
    if (!*error->text)
        error_print(error, "%s is not the folder of a sweep's run: %s", folder,
                    json_object_size(environment) > 0 ? "its environment.json tells of no sweep"
                                                      : "it has no environment.json");
    json_decref(environment);
    return NULL;
}

void sweep_origin_apply_machine(const json_t *environment, struct sweep_file *sweep)
{
    const json_t *options = json_object_get(environment, "sweep");
    const char *machine = json_string_value(json_object_get(options, "machine"));
    if (machine)
        sweep_file_set_machine(sweep, machine);
    const char *what_if = json_string_value(json_object_get(options, "what_if"));
    if (what_if)
        sweep_file_set_what_if(sweep, what_if);
}

void sweep_origin_apply(const json_t *environment, struct sweep_file *sweep)
{
    const json_t *numbers = json_object_get(environment, "sweep");
    for (const struct param *param = sweep_file_params; param->name; param++) {
        const json_t *value = json_object_get(numbers, param->name);
        if (json_is_integer(value))
            *param_field(sweep, param) = json_integer_value(value);
        for (int i = 0; json_is_string(value) && param->words && param->words[i]; i++)
            if (strcmp(param->words[i], json_string_value(value)) == 0)
                *param_field(sweep, param) = param->words_base + i;
    }
}

struct sweep_file *sweep_origin_load(const char *folder, struct error *error)
{
    char path[PATH_SIZE];
    json_t *environment = sweep_origin_read(folder, error);
    if (!environment)
        return NULL;
    snprintf(path, sizeof path, "%s/sweep.yaml", folder);
    struct sweep_file *sweep = sweep_file_load(path, error);
    if (sweep) {
        sweep_origin_apply_machine(environment, sweep);
        sweep_origin_apply(environment, sweep);
    }
    json_decref(environment);
    if (sweep && !sweep_file_check_machines(sweep, error)) {
        sweep_file_free(sweep);
        return NULL;
    }
    return sweep;
}

const char *sweep_origin_part_name(enum origin_part part)
{
    return parts[part].name;
}

const char *sweep_origin_part(const json_t *environment, enum origin_part part)
{
    const json_t *object = json_object_get(environment, parts[part].object);
    const char *text = json_string_value(json_object_get(object, parts[part].key));
    return text ? text : "unknown";
}

const char *sweep_origin_cpu(const json_t *environment, json_int_t seed)
{
    json_each(part, json_object_get(environment, "merged")) {
        json_each(of_part, json_object_get(part, "seeds")) {
            if (json_integer_value(of_part) == seed)
                return field_text(part, "cpu");
        }
    }
    return sweep_origin_part(environment, ORIGIN_CPU);
}
