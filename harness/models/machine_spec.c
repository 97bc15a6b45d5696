/* machine_spec.c - see machine_spec.h. */
#include "harness/models/machine_spec.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/host/data_folder.h"
#include "harness/models/structures.h"
#include "harness/spec/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, NAMES_SIZE = 1024, TEXT_SIZE = 64 };

static const char suffix[] = ".yaml";
static const char prefix[] = "sim:";
static const char as_guest[] = ",host=vm"; /* in canonical texts right behind the name */

/* Files --------------------------------------------------------------------------------------- */

static bool complain_of_model(struct error *to, const char *name)
{
    struct error error;
    char **names = data_folder_names("machines", &error);
    if (!names)
        return error_quote(to, "%s", error.text);
    struct suggest near = suggest_for(name);
    for (char **at = names; *at; at++)
        suggest_offer(&near, *at);
    if (near.best)
        error_quote(to, "unknown model \"%s\"; %s, or a path that ends in .yaml", name,
                    suggest_text(&near, "", "`schedlab list machines`").s);
    else
        error_quote(to, "unknown model \"%s\"; valid: a path that ends in .yaml", name);
    data_folder_names_free(names);
    return false;
}

/* Tells the first of several mistakes in the file: a specification is one word of a line. */
static struct machine_file *file_load(const char *path, struct error *to)
{
    struct machine_file *file = machine_file_load(path, to);
    if (!file)
        to->text[strcspn(to->text, "\n")] = '\0';
    return file;
}

/* The models of the data folder that were read, for as long as the process lives: each experiment
 * names some, and reading one takes as long as reading an experiment. */
struct model {
    char *path;
    struct machine_file *file;
    struct model *next;
};
static struct model *models;

static struct machine_file *model_of_folder(const char *path, struct error *to)
{
    for (struct model *model = models; model; model = model->next)
        if (strcmp(model->path, path) == 0)
            return model->file;
    struct machine_file *file = file_load(path, to);
    if (!file)
        return NULL;
    struct model *model = xmalloc(sizeof *model);
    *model = (struct model){.path = xstrdup(path), .file = file, .next = models};
    models = model;
    return file;
}

static void model_free(struct machine_file *file)
{
    for (struct model *model = models; model; model = model->next)
        if (model->file == file)
            return;
    machine_file_free(file);
}

static struct machine_file *model_load(const char *name, struct error *to)
{
    char folder[PATH_SIZE], path[2 * PATH_SIZE];
    if (strlen(name) >= sizeof suffix && text_ends_with(name, suffix))
        return file_load(name, to);
    if (*name && !strchr(name, '/') && data_folder_find("machines", folder, sizeof folder, to)) {
        snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
        if (access(path, F_OK) == 0)
            return model_of_folder(path, to);
    }
    complain_of_model(to, name);
    return NULL;
}

/* Settings ------------------------------------------------------------------------------------ */

static bool complain_of_key(struct error *to, const char *model, const char *key)
{
    char where[TEXT_SIZE];
    struct suggest near = suggest_for(key);
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        suggest_offer(&near, machine_keys[i].name);
    suggest_offer(&near, "host");
    for (size_t i = 0; strchr(key, '.') && structures[i].name; i++)
        suggest_offer(&near, structures[i].name);
    snprintf(where, sizeof where, "`schedlab list sim:%.32s`", model);
    return error_quote(to, "sim:%s: unknown key \"%s\"; %s", model, key,
                       suggest_text(&near, "", where).s);
}

static bool complain_of_structure(struct error *to, const char *model, const char *name)
{
    char all[NAMES_SIZE] = "";
    for (size_t i = 0; structures[i].name; i++)
        text_add(all, sizeof all, "%s%s", i ? ", " : "", structures[i].name);
    return error_quote(to, "sim:%s: unknown structure \"%s\"; valid: %s", model, name, all);
}

/* STRUCTURE=free */
static bool structure_parse(struct machine_spec *spec, const char *model, int structure,
                            const char *value, struct error *to)
{
    const char *name = structures[structure].name;
    if (!value || strcmp(value, "free") != 0)
        return error_quote(to, "sim:%s: %s is a structure; valid: %s=free", model, name, name);
    if (spec->free >> structure & 1)
        return error_quote(to, "sim:%s: %s is given twice", model, name);
    spec->free |= UINT64_C(1) << structure;
    return true;
}

/* host=vm */
static bool host_parse(struct machine_spec *spec, const char *model, const char *value,
                       struct error *to)
{
    if (!value || strcmp(value, "vm") != 0)
        return error_quote(to, "sim:%s: host is %.40s; valid: vm, or leave it out", model,
                           value && *value ? value : "empty");
    if (spec->vm)
        return error_quote(to, "sim:%s: host is given twice", model);
    if (!machine_file_has_vm(spec->file))
        return error_quote(to, "sim:%s: the model has no prices of a virtual machine (vm)", model);
    spec->vm = true;
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        if (spec->file->vm.of[i].given)
            spec->own.of[i] = spec->file->vm.of[i];
    return true;
}

/* One KEY=VALUE, changed by the call, into what is given. */
static bool setting_parse(struct machine_spec *spec, const char *model, char *setting,
                          struct machine_values *given, struct error *to)
{
    struct error error;
    char *equals = strchr(setting, '=');
    if (*setting == '\0' || equals == setting)
        return error_quote(to, "sim:%s: a key is missing before \"%s\"; write KEY=VALUE", model,
                           *setting ? setting : ",");
    if (equals)
        *equals = '\0';
    if (strcmp(setting, "host") == 0)
        return host_parse(spec, model, equals ? equals + 1 : NULL, to);
    size_t key = machine_key_find(setting);
    int structure = structure_find(setting, strlen(setting));
    if (structure >= 0)
        return structure_parse(spec, model, structure, equals ? equals + 1 : NULL, to);
    if (key == MACHINE_KEYS && equals && strcmp(equals + 1, "free") == 0)
        return complain_of_structure(to, model, setting);
    if (key == MACHINE_KEYS)
        return complain_of_key(to, model, setting);
    if (!equals || equals[1] == '\0')
        return error_quote(to, "sim:%s: %s has no value; write %s=VALUE; valid: %s", model, setting,
                           setting, machine_key_range_text(&machine_keys[key]).s);
    if (given->of[key].given)
        return error_quote(to, "sim:%s: %s is given twice", model, setting);
    if (!machine_value_parse(&machine_keys[key], equals + 1, &given->of[key], &error))
        return error_quote(to, "sim:%s: %s", model, error.text);
    return true;
}

/* Shape --------------------------------------------------------------------------------------- */

static int64_t count_of(const struct machine_values *values, size_t key)
{
    return values->of[key].number;
}

/* The same but where it is given. */
static void shape_set(struct machine_values *values, const struct machine_values *given, size_t key,
                      int64_t number)
{
    if (!given->of[key].given)
        values->of[key].number = number;
}

/* Whole groups on as few sockets as can hold them; false if there is no such number of sockets. */
static bool shape_spread(struct machine_values *values, const struct machine_values *given)
{
    int64_t cores = count_of(values, MACHINE_CORES), socket = count_of(values, MACHINE_SOCKET);
    int64_t sockets = (cores + socket - 1) / socket;
    if (cores % sockets != 0 || cores / sockets % count_of(values, MACHINE_GROUP) != 0)
        return false;
    shape_set(values, given, MACHINE_SOCKET, cores / sockets);
    return true;
}

/* Makes smt, group and socket fit to cores, as machine_spec.h says. */
static bool shape_fit(struct machine_values *values, const struct machine_values *given)
{
    int64_t cores = count_of(values, MACHINE_CORES);
    if (cores == 1)
        shape_set(values, given, MACHINE_SMT, 1);
    if (cores < count_of(values, MACHINE_GROUP))
        shape_set(values, given, MACHINE_GROUP, cores);
    return count_of(values, MACHINE_GROUP) % count_of(values, MACHINE_SMT) == 0 &&
           shape_spread(values, given);
}

/* The numbers of cores next to the one that does not fit, for a message. */
static void shape_neighbours(const struct machine_values *values,
                             const struct machine_values *given, int64_t near[2])
{
    int64_t cores = count_of(values, MACHINE_CORES);
    for (int way = 0; way < 2; way++) {
        near[way] = 0;
        for (int64_t n = cores; n >= 1 && n <= SIM_CORES_MAX && !near[way]; n += way ? 1 : -1) {
            struct machine_values other = *values;
            struct sim_model model;
            struct error unused;
            other.of[MACHINE_CORES].number = n;
            if (shape_fit(&other, given) &&
                machine_model_make(&model, &other, &unused) == MACHINE_KEYS)
                near[way] = n;
        }
    }
}

static bool complain_of_cores(struct error *to, const char *model,
                              const struct machine_values *values,
                              const struct machine_values *given)
{
    int64_t near[2];
    shape_neighbours(values, given, near);
    char below[TEXT_SIZE] = "", above[TEXT_SIZE] = "";
    if (near[0])
        snprintf(below, sizeof below, "%lld", (long long)near[0]);
    if (near[1])
        snprintf(above, sizeof above, "%s%lld", near[0] ? " or " : "", (long long)near[1]);
    return error_quote(
        to,
        "sim:%s: cores is %lld, which smt %lld, group %lld and socket %lld cannot make; "
        "the nearest valid: %s%s",
        model, (long long)count_of(values, MACHINE_CORES), (long long)count_of(values, MACHINE_SMT),
        (long long)count_of(values, MACHINE_GROUP), (long long)count_of(values, MACHINE_SOCKET),
        below, near[0] || near[1] ? above : "none");
}

/* The model's own values with what is given in their place, and the shape that cores makes. */
static bool values_merge(struct machine_values *values, const char *name,
                         const struct machine_values *given, struct error *to)
{
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        if (given->of[i].given)
            values->of[i] = given->of[i];
    if (!given->of[MACHINE_CORES].given)
        return true;
    struct machine_values before = *values;
    return shape_fit(values, given) || complain_of_cores(to, name, &before, given);
}

/* Text ---------------------------------------------------------------------------------------- */

/* Makes the model without this key; false if there can be none. */
static bool model_without(struct sim_model *model, const struct machine_spec *spec,
                          const struct machine_values *given, size_t key)
{
    struct error unused;
    struct machine_values others = *given, values = spec->own;
    others.of[key] = (struct machine_value){.number = 0};
    return values_merge(&values, "", &others, &unused) &&
           machine_model_make(model, &values, &unused) == MACHINE_KEYS;
}

/* Leaves out, one after the other, what changes nothing. */
static void given_reduce(const struct machine_spec *spec, struct machine_values *given)
{
    for (size_t i = MACHINE_KEYS; i-- > 0;) {
        struct sim_model model = {.cores = 0};
        if (!given->of[i].given || !model_without(&model, spec, given, i))
            continue;
        bool same = true;
        for (size_t k = 0; k < MACHINE_KEYS && same; k++)
            same = machine_model_get(&model, &machine_keys[k]) ==
                   machine_model_get(&spec->model, &machine_keys[k]);
        if (same)
            given->of[i].given = false;
    }
}

static char *canonical_text(const struct machine_spec *spec, const char *name,
                            struct machine_values given)
{
    char *text = NULL;
    given_reduce(spec, &given);
    FILE *to = memory_stream(&text, NULL);
    fprintf(to, "%s%s%s", prefix, name, spec->vm ? as_guest : "");
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        if (given.of[i].given)
            fprintf(to, ",%s=%s", machine_keys[i].name,
                    machine_value_text(&machine_keys[i], given.of[i], false).s);
    for (int i = 0; structures[i].name; i++)
        if (spec->free >> i & 1)
            fprintf(to, ",%s=free", structures[i].name);
    fclose(to);
    return text;
}

/* Specifications ------------------------------------------------------------------------------ */

static bool settings_parse(struct machine_spec *spec, const char *name, char *settings,
                           struct machine_values *given, struct error *to)
{
    char *setting;
    while ((setting = strsep(&settings, ",")))
        if (!setting_parse(spec, name, setting, given, to))
            return false;
    return true;
}

/* rest: what follows "sim:", changed by the call. */
static bool simulated_parse(struct machine_spec *spec, char *rest, struct error *to)
{
    struct error error;
    char *settings = rest;
    strsep(&settings, ","); /* rest is the name now, settings what follows, or NULL */
    struct machine_values given = {.of[0].given = false};
    spec->file = model_load(rest, to);
    if (!spec->file)
        return false;
    spec->simulated = true;
    spec->model = spec->file->model;
    spec->own = spec->file->values;
    if (!settings_parse(spec, rest, settings, &given, to))
        return false;
    struct machine_values values = spec->own;
    if (!values_merge(&values, rest, &given, to))
        return false;
    if (machine_model_make(&spec->model, &values, &error) != MACHINE_KEYS)
        return error_quote(to, "sim:%s: %s", rest, error.text);
    spec->text = canonical_text(spec, rest, given);
    return true;
}

bool machine_spec_parse(struct machine_spec *spec, const char *text, struct error *error)
{
    *spec = (struct machine_spec){.simulated = false};
    if (strcmp(text, "native") == 0) {
        spec->text = xstrdup(text);
        return true;
    }
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return error_quote(error,
                           "unknown machine \"%s\"; valid: native, sim:MODEL[,KEY=VALUE]...; "
                           "`schedlab list machines` lists the models",
                           text);
    char *copy = xstrdup(text + sizeof prefix - 1);
    bool ok = simulated_parse(spec, copy, error);
    free(copy);
    if (!ok)
        machine_spec_free(spec);
    return ok;
}

void machine_spec_free(struct machine_spec *spec)
{
    model_free(spec->file);
    free(spec->text);
    *spec = (struct machine_spec){.simulated = false};
}

const struct machine_spec *machine_spec_kept(const char *text, struct error *error)
{
    static struct kept machines;
    struct machine_spec spec;
    const void *found = kept_find(&machines, text);
    if (found || !machine_spec_parse(&spec, text, error))
        return found;
    return kept_add(&machines, text, spec.text, &spec, sizeof spec);
}

char *machine_spec_canonical(const char *text, struct error *error)
{
    const struct machine_spec *spec = machine_spec_kept(text, error);
    return spec ? xstrdup(spec->text) : NULL;
}

int machine_spec_cores(const char *text)
{
    struct error unused;
    const struct machine_spec *spec = machine_spec_kept(text, &unused);
    return spec ? spec->model.cores : 0;
}

char *machine_spec_guest(const char *text)
{
    struct error error;
    char *longer = text_format("%s%s", text, as_guest);
    char *guest = machine_spec_canonical(longer, &error);
    free(longer);
    return guest;
}

bool machine_spec_is_guest_of(const char *guest, const char *host)
{
    char *of = strstr(guest, as_guest) ? machine_spec_guest(host) : NULL;
    bool same = of && strcmp(of, guest) == 0;
    free(of);
    return same;
}

/* True if "KEY=VALUE[,...]" names the key of that length. */
static bool settings_have(const char *settings, const char *key, size_t length)
{
    for (; settings; settings = strchr(settings, ',')) {
        settings += *settings == ',';
        if (strncmp(settings, key, length) == 0 && settings[length] == '=')
            return true;
    }
    return false;
}

char *machine_spec_what_if(const char *text, const char *settings, struct error *error)
{
    char *changed = NULL;
    FILE *to = memory_stream(&changed, NULL);
    const char *rest = text + strcspn(text, ",");
    fprintf(to, "%.*s", (int)(rest - text), text);
    while (*rest) {
        size_t length = strcspn(rest + 1, ",") + 1;
        if (!settings_have(settings, rest + 1, strcspn(rest + 1, "=,")))
            fprintf(to, "%.*s", (int)length, rest);
        rest += length;
    }
    fprintf(to, ",%s", settings);
    fclose(to);
    char *canonical = machine_spec_canonical(changed, error);
    free(changed);
    if (!canonical || strcmp(canonical, text) != 0)
        return canonical;
    free(canonical);
    return error_null(error, "%s is so already: %s changes nothing", text, settings);
}
