/* spec.c - see spec.h. */
#include "harness/spec/spec.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/host/allocator.h"
#include "harness/numbers/units.h"
#include "harness/spec/machine_memory.h"
#include "harness/spec/outside.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/void_knobs.h"
#include "preset.h"
#include "sched.h"
#include "workloads/workload.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE_TEXT_SIZE = 400, VALUE_TEXT_SIZE = 80, OWNERS_SIZE = 160 };
enum { PRESET_CHANGES_MAX = 2, PRESET_SAVES_LEAST = 3 };

static const char PER_WORKER[] = "/worker";

const struct sched_ops spec_serial = {
    .name = "serial",
    .idea = "no scheduler: plain C on one thread, the baseline of speed-up",
    .source = "schedlab",
};

const struct sched_ops spec_elision = {
    .name = "elision",
    .idea = "no scheduler: the workload's own source, each spawn a plain call",
    .source = "[Frigo98]",
};

const struct param variant_common_params[] = {
    PARAM_WORD(struct variant_common, malloc, allocator_words, ALLOCATOR_JEMALLOC, "schedlab",
               "whose malloc() the process of a sample uses",
               .detail = "Events MALLOC_... are counted with jemalloc only.",
               KNOB_DECISIVE(MEMORY, "MALLOC_BYTES", "malloc=glibc spawn,n=1000 1 native")),
    {.name = NULL},
};

const struct sched_ops *spec_variant(size_t i)
{
    size_t count = 0;
    while (sched_variants[count])
        count++;
    if (i < count)
        return sched_variants[i];
    for (i -= count, count = 0; outside_variants[count]; count++)
        if (i == count)
            return outside_variants[count];
    const struct sched_ops *const serial[] = {&spec_serial, &spec_elision};
    size_t after = i - count, baselines = sizeof serial / sizeof serial[0];
    return after < baselines ? serial[after] : peer_variant(after - baselines);
}

const struct workload *const *spec_workloads(void)
{
    static const struct workload **all;
    size_t tree = 0, outside = 0;
    if (all)
        return all;
    while (workloads[tree])
        tree++;
    while (outside_workloads[outside])
        outside++;
    all = xcalloc(tree + outside + 1, sizeof *all);
    memcpy(all, workloads, tree * sizeof *all);
    memcpy(all + tree, outside_workloads, outside * sizeof *all);
    return all;
}

/* Numbers ------------------------------------------------------------------------------------ */

struct suffix {
    const char *text;
    int64_t factor;
};

static const struct suffix count_suffixes[] = {
    {"", 1},         {"k", 1000},     {"M", 1000000},  {"G", 1000000000},
    {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {NULL, 0},
};

static const struct suffix byte_suffixes[] = {
    {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0},
};

static const struct suffix time_suffixes[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0},
};

static int64_t suffix_factor(const struct suffix *table, const char *text)
{
    for (; table->text; table++)
        if (strcmp(table->text, text) == 0)
            return table->factor;
    return 0;
}

bool spec_parse_number(const char *text, const char *unit, int64_t *value)
{
    bool negative = *text == '-';
    if (negative)
        text++;
    if (!isdigit((unsigned char)*text))
        return false;
    int64_t number = 0;
    for (; isdigit((unsigned char)*text); text++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *text - '0', &number))
            return false;
    int64_t factor = suffix_factor(count_suffixes, text);
    if (!factor && (!unit || strcmp(unit, "bytes") == 0))
        factor = suffix_factor(byte_suffixes, text);
    if (!factor && (!unit || strcmp(unit, "ns") == 0))
        factor = suffix_factor(time_suffixes, text);
    if (!factor || __builtin_mul_overflow(number, negative ? -factor : factor, &number))
        return false;
    *value = number;
    return true;
}

bool option_number(const char *option, const char *text, int64_t min, int64_t max, const char *unit,
                   int64_t *value, struct error *error)
{
    if (spec_parse_number(text, unit, value) && *value >= min && *value <= max)
        return true;
    return error_set(error, "--%s=%s is not valid; valid: %" PRId64 " to %" PRId64 "%s%s%s", option,
                     text, min, max, *unit ? " " : "", unit,
                     strcmp(unit, "bytes") == 0 ? ", or as in 64Ki, 1Mi" : "");
}

/* "200ms", "24.1us", "3" in units of plain_ns; to the nearest ns. */
static bool time_parse(const char *text, int64_t plain_ns, int64_t *value)
{
    size_t whole = strspn(text, "0123456789"), part = 0;
    const char *point = text + whole;
    if (*point == '.')
        part = strspn(point + 1, "0123456789");
    if (whole == 0 || whole > 18 || part > 18 || (*point == '.' && part == 0))
        return false;
    const char *unit = part ? point + 1 + part : point;
    int64_t factor = *unit ? suffix_factor(time_suffixes, unit) : plain_ns;
    if (!factor || __builtin_mul_overflow(strtoll(text, NULL, 10), factor, value))
        return false;
    double rest = part ? strtod(point, NULL) * (double)factor : 0;
    return !__builtin_add_overflow(*value, (int64_t)(rest + 0.5), value);
}

bool option_time(const char *option, const char *text, int64_t plain_ns, int64_t min_ns,
                 int64_t max_ns, int64_t *value, struct error *error)
{
    if (time_parse(text, plain_ns, value) && *value >= min_ns && *value <= max_ns)
        return true;
    int64_t plain = plain_ns, most = max_ns;
    const char *most_unit = time_unit(&most), *plain_unit = time_unit(&plain);
    return error_set(error,
                     "--%s=%s is not valid; valid: %s to %" PRId64
                     " %s, in ns, us, ms (as in 200ms, 1.5ms) or s; plain numbers are %s",
                     option, text, min_ns > 0 ? "above 0" : "0", most, most_unit, plain_unit);
}

/* Settings ----------------------------------------------------------------------------------- */

/* Names of files are few and live as long as the process, so that equal ones are one address. */
static const char *file_name_keep(const char *name)
{
    static char **names;
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return names[i];
    return array_add(names, count) = xstrdup(name);
}

/* The word or the name of a file that the value stands for; NULL if it is a number. */
static const char *param_text(const struct param *param, int64_t value)
{
    const char *word = param_word(param, value);
    return word ? word : param_file(param, value);
}

struct param_text param_value_text(const struct param *param, int64_t value)
{
    struct param_text text;
    const char *word = param_text(param, value);
    if (word)
        snprintf(text.s, sizeof text.s, "%s", word);
    else
        snprintf(text.s, sizeof text.s, "%lld", (long long)value);
    return text;
}

struct param_text param_range_text(const struct param *param)
{
    struct param_text text = {""};
    const char *unit = strcmp(param->unit, "1") == 0 ? "" : param->unit;
    if (param_takes_numbers(param))
        text_add(text.s, sizeof text.s, "%lld to %lld%s%s", (long long)param->min,
                 (long long)param->max, *unit ? " " : "", unit);
    for (const char *const *word = param->words; word && *word; word++)
        text_add(text.s, sizeof text.s, "%s%s",
                 !*text.s                     ? ""
                 : param_takes_numbers(param) ? " or "
                                              : ", ",
                 *word);
    if (param_takes_files(param))
        text_add(text.s, sizeof text.s, "%sthe name of a file", *text.s ? ", or " : "");
    return text;
}

json_t *params_to_json(const void *owner, const struct param *table)
{
    json_t *object = json_object();
    for (const struct param *param = table; param && param->name; param++) {
        int64_t value = *(const int64_t *)((const char *)owner + param->offset);
        const char *word = param_text(param, value);
        json_object_set_new(object, param_key(param),
                            word ? json_string(word) : json_integer(value));
    }
    return object;
}

json_t *variant_settings_to_json(const struct variant_spec *spec)
{
    json_t *object = params_to_json(spec->knobs, spec->ops->knobs);
    if (peer_is(spec->ops))
        return object;
    json_t *common = params_to_json(&spec->common, variant_common_params);
    json_object_update(object, common);
    json_decref(common);
    return object;
}

bool param_parse_value(const struct param *param, const char *text, int64_t *value)
{
    int64_t index = param->words_base;
    for (const char *const *word = param->words; word && *word; word++, index++) {
        if (strcmp(*word, text) == 0) {
            *value = index;
            return true;
        }
    }
    if (param_takes_files(param)) {
        *value = (int64_t)(uintptr_t)file_name_keep(text);
        return *text != '\0';
    }
    return param_takes_numbers(param) && spec_parse_number(text, param->unit, value) &&
           *value >= param->min && *value <= param->max;
}

/* The range, and with which units it may be written. */
static struct param_text valid_text(const struct param *param)
{
    struct param_text text = param_range_text(param);
    text_add(text.s, sizeof text.s, "%s",
             strcmp(param->unit, "ns") == 0      ? ", or with a unit as in 10us, 1ms, 2s"
             : strcmp(param->unit, "bytes") == 0 ? ", or as in 64Ki, 1Mi"
                                                 : "");
    return text;
}

static bool complain_of_value(struct error *to, const char *name, const struct param *param,
                              const char *text)
{
    char nearest[VALUE_TEXT_SIZE] = "";
    if (param->words && !isdigit((unsigned char)*text) && *text != '-') {
        struct suggest near = suggest_for(text);
        for (const char *const *word = param->words; *word; word++)
            suggest_offer(&near, *word);
        if (near.near)
            snprintf(nearest, sizeof nearest, "the nearest is \"%s\"; ", near.best);
    }
    return error_quote(to, "%s: %s=%s is not valid; %svalid: %s", name, param_key(param), text,
                       nearest, valid_text(param).s);
}

/* A table of settings, and where their values go. */
struct settings {
    const struct param *table;
    void *values;
};

/* The variant or workload that is being specified. */
struct owner {
    const char *name;
    const char *kind; /* "knob" or "parameter" */
    struct settings own, common;
    uint64_t given; /* bit i: the i-th key of own was given; from the highest down: of common */
    int64_t *per_worker; /* of a workload: as in struct workload_spec; NULL: nothing can be so */
};

/* The setting with this key, where its value goes, and its bit; NULL if there is none. */
static const struct param *owner_find(const struct owner *owner, const char *key, int64_t **value,
                                      uint64_t *bit)
{
    const struct param *param = param_find(owner->own.table, key);
    const struct settings *of = param ? &owner->own : &owner->common;
    if (!param)
        param = param_find(owner->common.table, key);
    if (!param)
        return NULL;
    unsigned index = (unsigned)(param - of->table) & 63;
    *bit = UINT64_C(1) << (of == &owner->own ? index : 63 - index);
    *value = param_field(of->values, param);
    return param;
}

/* ", a knob of gmp": the variants that have the key; "" if none has, or if it is a parameter. */
static void owners_of_key(const struct owner *owner, const char *key, char text[OWNERS_SIZE])
{
    *text = '\0';
    for (size_t i = 0; strcmp(owner->kind, "knob") == 0 && sched_variants[i]; i++)
        if (param_find(sched_variants[i]->knobs, key))
            text_add(text, OWNERS_SIZE, "%s%s", *text ? ", " : ", a knob of ",
                     sched_variants[i]->name);
}

static bool complain_of_key(struct error *to, const struct owner *owner, const char *key)
{
    char where[64], owners[OWNERS_SIZE];
    struct suggest near = suggest_for(key);
    for (const struct param *param = owner->own.table; param && param->name; param++)
        suggest_offer(&near, param_key(param));
    bool has_own = near.best != NULL;
    for (const struct param *param = owner->common.table; param && param->name; param++)
        suggest_offer(&near, param_key(param));
    owners_of_key(owner, key, owners);
    if (!near.best)
        return error_quote(to, "%s: unknown %s \"%s\"%s; it has none", owner->name, owner->kind,
                           key, owners);
    if (!has_own)
        return error_quote(to, "%s: unknown %s \"%s\"%s; it has none but \"%s\", which all have",
                           owner->name, owner->kind, key, owners, near.best);
    snprintf(where, sizeof where, "`schedlab list %.40s`", owner->name);
    return error_quote(to, "%s: unknown %s \"%s\"%s; %s", owner->name, owner->kind, key, owners,
                       suggest_text(&near, "", where).s);
}

/* "1000/worker": the number for one worker, and *value likewise. */
static bool per_worker_parse(struct owner *owner, const struct param *param, const char *text,
                             int64_t *value)
{
    if (!owner->per_worker || !param_takes_numbers(param) || !text_ends_with(text, PER_WORKER))
        return false;
    char number[VALUE_TEXT_SIZE];
    snprintf(number, sizeof number, "%.*s", (int)(strlen(text) - strlen(PER_WORKER)), text);
    if (!isdigit((unsigned char)*number) || !param_parse_value(param, number, value))
        return false;
    owner->per_worker[param - owner->own.table] = *value;
    return true;
}

static bool setting_parse(struct owner *owner, char *setting, struct error *to)
{
    char *equals = strchr(setting, '=');
    if (*setting == '\0' || equals == setting)
        return error_quote(to, "%s: a %s is missing before \"%s\"; write KEY=VALUE", owner->name,
                           owner->kind, *setting ? setting : ",");
    if (equals)
        *equals = '\0';
    int64_t *value;
    uint64_t bit;
    const struct param *param = owner_find(owner, setting, &value, &bit);
    if (!param)
        return complain_of_key(to, owner, setting);
    if (!equals || equals[1] == '\0') {
        return error_quote(to, "%s: %s has no value; write %s=VALUE; valid: %s", owner->name,
                           setting, setting, valid_text(param).s);
    }
    if (owner->given & bit)
        return error_quote(to, "%s: %s is given twice", owner->name, setting);
    owner->given |= bit;
    if (!per_worker_parse(owner, param, equals + 1, value) &&
        !param_parse_value(param, equals + 1, value))
        return complain_of_value(to, owner->name, param, equals + 1);
    return true;
}

static void settings_default(struct owner *owner)
{
    params_set_defaults(owner->own.values, owner->own.table);
    params_set_defaults(owner->common.values, owner->common.table);
}

/* settings: "key=value,key=value", changed by the call; NULL if there are none. Each once. */
static bool settings_parse(struct owner *owner, char *settings, struct error *to)
{
    char *setting;
    owner->given = 0;
    while ((setting = strsep(&settings, ",")))
        if (!setting_parse(owner, setting, to))
            return false;
    return true;
}

/* base: what is not worth a word; NULL: the defaults. per_worker: as in struct owner. */
static void print_changed(FILE *to, const struct settings *settings, void *base,
                          const int64_t *per_worker)
{
    for (const struct param *param = settings->table; param && param->name; param++) {
        int64_t value = *param_field(settings->values, param);
        const char *file = param_file(param, value);
        bool each = per_worker && per_worker[param - settings->table] != 0;
        if (each || value != (base ? *param_field(base, param) : param->def))
            fprintf(to, ",%s=%s%s", param_key(param),
                    file ? file : param_value_text(param, value).s, each ? PER_WORKER : "");
    }
}

static char *canonical_text(const struct owner *owner, const char *name, void *base)
{
    char *text = NULL;
    FILE *stream = memory_stream(&text, NULL);
    fputs(name, stream);
    print_changed(stream, &owner->own, base, owner->per_worker);
    print_changed(stream, &owner->common, NULL, NULL);
    fclose(stream);
    return text;
}

/* Presets ------------------------------------------------------------------------------------ */

static const struct preset *preset_find(const char *name)
{
    for (const struct preset *preset = presets; preset->name; preset++)
        if (strcmp(preset->name, name) == 0)
            return preset;
    return NULL;
}

/* All knobs of the preset's variant, to be freed. */
static void *preset_knobs(const struct preset *preset, const struct sched_ops *ops)
{
    struct error error;
    struct owner owner = {.name = preset->name, .kind = "knob"};
    owner.own = (struct settings){ops->knobs, machine_zalloc(ops->knobs_size + 1)};
    char *settings = xstrdup(preset->settings);
    settings_default(&owner);
    if (!settings_parse(&owner, settings, &error))
        fatal("%s", error.text);
    free(settings);
    return owner.own.values;
}

static int settings_differ(const struct settings *settings, void *base)
{
    int count = 0;
    for (const struct param *param = settings->table; param && param->name; param++)
        count += *param_field(settings->values, param) !=
                 (base ? *param_field(base, param) : param->def);
    return count;
}

/* Begins with the variant or, if that saves some settings and leaves few, with a preset of it. If
 * presets are equally near, it is the named one if that is among them, so that its user finds it
 * again. named: NULL if none was. */
static char *variant_text(const struct owner *owner, const struct sched_ops *ops,
                          const struct preset *named)
{
    const char *name = ops->name;
    void *base = NULL;
    const int all = settings_differ(&owner->own, NULL);
    int least = all;
    for (const struct preset *preset = presets; preset->name; preset++) {
        if (strcmp(preset->variant, ops->name) != 0)
            continue;
        void *knobs = preset_knobs(preset, ops);
        int count = settings_differ(&owner->own, knobs);
        bool nearer = (count < least || (count == least && base && preset == named)) &&
                      count <= PRESET_CHANGES_MAX && all - count >= PRESET_SAVES_LEAST;
        machine_free(nearer ? base : knobs);
        if (!nearer)
            continue;
        least = count;
        name = preset->name;
        base = knobs;
    }
    char *text = canonical_text(owner, name, base);
    machine_free(base);
    return text;
}

/* Variants and workloads --------------------------------------------------------------------- */

/* Cuts "name,rest" into its two halves; returns rest or NULL. */
static char *cut_name(char *text)
{
    char *comma = strchr(text, ',');
    if (comma)
        *comma++ = '\0';
    return comma;
}

/* In a list of YAML without quotes, and between words of a shell, a setting loses its name. */
static void complain_of_name(struct error *to, const char *kind, const struct suggest *near,
                             const char *where)
{
    if (strchr(near->word, '='))
        error_quote(to, "\"%s\" is no %s; write NAME,%s as one word, and in YAML in quotes",
                    near->word, kind, near->word);
    else
        error_quote(to, "unknown %s \"%s\"; %s", kind, near->word, suggest_text(near, "", where).s);
}

static const struct sched_ops *variant_find(const char *name, bool schedulers_only,
                                            struct error *to)
{
    struct suggest near = suggest_for(name);
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        bool is_it = strcmp(ops->name, name) == 0;
        bool valid = !schedulers_only || (!spec_is_serial(ops) && !peer_is(ops));
        if (is_it && valid)
            return ops;
        if (is_it) {
            error_quote(to, "%s has no scheduler of this program, so no operations of one", name);
            return NULL;
        }
        if (valid)
            suggest_offer(&near, ops->name);
    }
    for (const struct preset *preset = presets; preset->name; preset++)
        suggest_offer(&near, preset->name);
    complain_of_name(to, "variant", &near, "`schedlab list variants`");
    return NULL;
}

static const struct workload *workload_find(const char *name, struct error *to)
{
    struct suggest near = suggest_for(name);
    for (const struct workload *const *workload = spec_workloads(); *workload; workload++) {
        if (strcmp((*workload)->name, name) == 0)
            return *workload;
        suggest_offer(&near, (*workload)->name);
    }
    complain_of_name(to, "workload", &near, "`schedlab list workloads`");
    return NULL;
}

/* The preset's settings, then the user's, which may change them. */
static bool variant_settings_parse(struct owner *owner, const struct preset *preset, char *settings,
                                   struct error *to)
{
    settings_default(owner);
    char *own = preset ? xstrdup(preset->settings) : NULL;
    bool ok = settings_parse(owner, own, to) && settings_parse(owner, settings, to);
    free(own);
    return ok;
}

/* A knob that the user asks for in vain is refused; one of a preset, whose point the user's
 * settings have taken away, goes back to its default. */
static bool knobs_settle(struct owner *owner, const struct sched_ops *ops, struct error *to)
{
    char when[RANGE_TEXT_SIZE];
    for (;;) {
        struct void_knob moot = void_knob_find(ops->moot, ops->knobs, owner->own.values);
        if (!moot.param)
            return true;
        int64_t *at = param_field(owner->own.values, moot.param);
        const char *key = param_key(moot.param);
        if (owner->given >> (moot.param - ops->knobs) & 1)
            return error_quote(
                to, "%s: %s=%s changes nothing with %s, %s", owner->name, key,
                param_value_text(moot.param, *at).s,
                void_knob_when_text(moot.row, ops->knobs, owner->own.values, when, sizeof when),
                moot.row->why);
        *at = moot.param->def;
    }
}

static bool variant_parse(struct variant_spec *spec, const char *text, bool schedulers_only,
                          bool *vain, struct error *error)
{
    char *copy = xstrdup(text);
    char *settings = cut_name(copy);
    *spec = (struct variant_spec){0};
    const struct preset *preset = preset_find(copy);
    const struct sched_ops *ops =
        variant_find(preset ? preset->variant : copy, schedulers_only, error);
    bool ok = *vain = false;
    if (ops) {
        spec->knobs = machine_zalloc(ops->knobs_size + 1);
        struct owner owner = {.name = ops->name,
                              .kind = "knob",
                              .own = {ops->knobs, spec->knobs},
                              .common = {variant_common_params, &spec->common}};
        if (peer_is(ops)) /* its malloc is its own */
            owner.common.table = NULL;
        const char *wrong = NULL;
        bool misfit = outside_misfit(ops) != NULL; /* whose knobs nobody knows */
        ok = variant_settings_parse(&owner, preset, misfit ? NULL : settings, error);
        *vain = ok && !knobs_settle(&owner, ops, error);
        ok = ok && !*vain;
        if (ok && ops->check && (wrong = ops->check(spec->knobs)))
            ok = error_quote(error, "%s: %s", ops->name, wrong);
        spec->ops = ops;
        spec->text = !ok ? NULL : misfit ? xstrdup(text) : variant_text(&owner, ops, preset);
    }
    if (!ok)
        variant_spec_free(spec);
    free(copy);
    return ok;
}

bool variant_spec_parse(struct variant_spec *spec, const char *text, struct error *error)
{
    bool vain;
    return variant_parse(spec, text, false, &vain, error);
}

bool variant_spec_parse_vain(struct variant_spec *spec, const char *text, bool *vain,
                             struct error *error)
{
    return variant_parse(spec, text, false, vain, error);
}

bool scheduler_spec_parse(struct variant_spec *spec, const char *text, struct error *error)
{
    bool vain;
    return variant_parse(spec, text, true, &vain, error);
}

void variant_spec_free(struct variant_spec *spec)
{
    machine_free(spec->knobs);
    free(spec->text);
    *spec = (struct variant_spec){0};
}

size_t params_count(const struct param *table)
{
    size_t count = 0;
    while (table && table[count].name)
        count++;
    return count;
}

static bool workload_spec_fill(struct workload_spec *spec, const struct workload *workload,
                               char *settings, struct error *to)
{
    *spec = (struct workload_spec){.workload = workload};
    spec->params = machine_zalloc(workload->params_size + 1);
    spec->per_worker = xcalloc(params_count(workload->params) + 1, sizeof *spec->per_worker);
    struct owner owner = {.name = workload->name,
                          .kind = "parameter",
                          .own = {workload->params, spec->params},
                          .per_worker = spec->per_worker};
    const char *wrong = NULL;
    settings_default(&owner);
    bool ok = settings_parse(&owner, settings, to);
    if (ok && workload->check && (wrong = workload->check(spec->params)))
        ok = error_quote(to, "%s: %s", workload->name, wrong);
    spec->text = ok ? canonical_text(&owner, owner.name, NULL) : NULL;
    if (!ok)
        workload_spec_free(spec);
    return ok;
}

bool workload_spec_parse(struct workload_spec *spec, const char *text, struct error *error)
{
    char *copy = xstrdup(text);
    char *settings = cut_name(copy);
    const struct workload *workload = workload_find(copy, error);
    *spec = (struct workload_spec){0};
    bool ok = workload && workload_spec_fill(spec, workload, settings, error);
    free(copy);
    return ok;
}

bool workload_spec_parse_of(struct workload_spec *spec, const struct workload *workload,
                            const char *text, struct error *error)
{
    char *copy = xstrdup(text);
    bool ok = workload_spec_fill(spec, workload, cut_name(copy), error);
    free(copy);
    return ok;
}

bool workload_spec_takes_workers(const struct workload_spec *spec, int64_t workers,
                                 struct error *error)
{
    int least = spec->workload->workers_min ? spec->workload->workers_min(spec->params) : 1;
    if (workers < least)
        error_print(error, "%s on %lld worker%s is not valid; valid: %d workers or more",
                    spec->text, (long long)workers, workers == 1 ? "" : "s", least);
    return workers >= least;
}

bool workload_spec_set_workers(const struct workload_spec *spec, int64_t workers,
                               struct error *error)
{
    const struct workload *workload = spec->workload;
    const int64_t *each = spec->per_worker;
    bool any = false;
    for (const struct param *param = workload->params; param && param->name; param++, each++) {
        int64_t *value = param_field(spec->params, param);
        bool fits =
            !*each || (!__builtin_mul_overflow(*each, workers, value) && *value <= param->max);
        if (!fits)
            return error_quote(error,
                               "%s: %s=%lld%s is not valid on %lld workers; valid in all: %s",
                               workload->name, param_key(param), (long long)*each, PER_WORKER,
                               (long long)workers, valid_text(param).s);
        any = any || *each;
    }
    const char *wrong = any && workload->check ? workload->check(spec->params) : NULL;
    return !wrong ||
           error_quote(error, "%s: %s on %lld workers", workload->name, wrong, (long long)workers);
}

bool workload_spec_fit_workers(const struct workload_spec *spec, int64_t workers,
                               struct error *error)
{
    return workload_spec_takes_workers(spec, workers, error) &&
           workload_spec_set_workers(spec, workers, error);
}

void workload_spec_free(struct workload_spec *spec)
{
    machine_free(spec->params);
    free(spec->per_worker);
    free(spec->text);
    *spec = (struct workload_spec){0};
}
