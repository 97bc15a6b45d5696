/* machine_file.c - see machine_file.h.
 *
 * The last of the three readers of yaml_reader.h. libcyaml takes all values as texts, because it
 * knows no units.
 */
#include "harness/spec/machine_file.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/base/yaml_reader.h"
#include "harness/spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_SIZE = 512 };

/* Schema -------------------------------------------------------------------------------------- */

/* As libcyaml reads it: texts, all of which may be missing. Only titles and sources are taken from
 * here; the values are read again where they stand, so that messages know the line. */
struct texts {
    char *title;
    char *cores, *smt, *group, *socket, *clock, *prefetch, *lookahead;
    char *block, *store, *atomic, *fence, *branch, *window, *relax, *work;
    char *now, *call, *wait, *wake, *wakeup, *switch_, *signal, *start, *end, *slice, *slack;
    char *membarrier, *interrupt;
    struct cache_texts {
        char *size, *ways, *hit, *replacement, *inclusive;
    } l1, l2, l3;
    struct distance_texts {
        char *near, *socket, *remote;
    } clean, dirty, upgrade;
    struct memory_texts {
        char *local, *remote;
    } memory;
    struct latency_texts {
        char *median, *p99;
    } network, file;
    struct vm_texts {
        char *call, *wait, *wake, *wakeup, *switch_, *signal, *start, *end, *membarrier, *interrupt;
    } vm;
    struct machine_source *sources;
    unsigned sources_count;
};

#define SCALAR(name) YAML_MAY_TEXT(#name, struct texts, name)
#define SECTION(name, fields)                                                                      \
    CYAML_FIELD_MAPPING(#name, CYAML_FLAG_OPTIONAL, struct texts, name, fields)

static const cyaml_schema_field_t l1_fields[] = {
    YAML_MAY_TEXT("size", struct cache_texts, size),
    YAML_MAY_TEXT("ways", struct cache_texts, ways),
    YAML_MAY_TEXT("hit", struct cache_texts, hit),
    YAML_MAY_TEXT("replacement", struct cache_texts, replacement),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t cache_fields[] = {
    YAML_MAY_TEXT("size", struct cache_texts, size),
    YAML_MAY_TEXT("ways", struct cache_texts, ways),
    YAML_MAY_TEXT("hit", struct cache_texts, hit),
    YAML_MAY_TEXT("replacement", struct cache_texts, replacement),
    YAML_MAY_TEXT("inclusive", struct cache_texts, inclusive),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t distance_fields[] = {
    YAML_MAY_TEXT("near", struct distance_texts, near),
    YAML_MAY_TEXT("socket", struct distance_texts, socket),
    YAML_MAY_TEXT("remote", struct distance_texts, remote),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t memory_fields[] = {
    YAML_MAY_TEXT("local", struct memory_texts, local),
    YAML_MAY_TEXT("remote", struct memory_texts, remote),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t latency_fields[] = {
    YAML_MAY_TEXT("median", struct latency_texts, median),
    YAML_MAY_TEXT("p99", struct latency_texts, p99),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t vm_fields[] = {
    YAML_MAY_TEXT("call", struct vm_texts, call),
    YAML_MAY_TEXT("wait", struct vm_texts, wait),
    YAML_MAY_TEXT("wake", struct vm_texts, wake),
    YAML_MAY_TEXT("wakeup", struct vm_texts, wakeup),
    YAML_MAY_TEXT("switch", struct vm_texts, switch_),
    YAML_MAY_TEXT("signal", struct vm_texts, signal),
    YAML_MAY_TEXT("start", struct vm_texts, start),
    YAML_MAY_TEXT("end", struct vm_texts, end),
    YAML_MAY_TEXT("membarrier", struct vm_texts, membarrier),
    YAML_MAY_TEXT("interrupt", struct vm_texts, interrupt),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t source_fields[] = {
    YAML_LIST("of", struct machine_source, of, yaml_text),
    YAML_TEXT("source", struct machine_source, source),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t source_schema = YAML_ENTRY(struct machine_source, source_fields);

static const cyaml_schema_field_t model_fields[] = {
    YAML_TEXT("title", struct texts, title),
    SCALAR(cores),
    SCALAR(smt),
    SCALAR(group),
    SCALAR(socket),
    SCALAR(clock),
    SECTION(l1, l1_fields),
    SECTION(l2, cache_fields),
    SECTION(l3, cache_fields),
    SCALAR(prefetch),
    SECTION(clean, distance_fields),
    SECTION(dirty, distance_fields),
    SECTION(upgrade, distance_fields),
    SECTION(memory, memory_fields),
    SCALAR(block),
    SCALAR(store),
    SCALAR(atomic),
    SCALAR(branch),
    SCALAR(window),
    SCALAR(fence),
    SCALAR(relax),
    SCALAR(work),
    SCALAR(now),
    SCALAR(call),
    SCALAR(wait),
    SCALAR(wake),
    SCALAR(wakeup),
    YAML_MAY_TEXT("switch", struct texts, switch_),
    SCALAR(signal),
    SCALAR(start),
    SCALAR(end),
    SCALAR(slice),
    SCALAR(slack),
    SCALAR(membarrier),
    SCALAR(interrupt),
    SECTION(network, latency_fields),
    SECTION(file, latency_fields),
    SCALAR(lookahead),
    SECTION(vm, vm_fields),
    YAML_LIST("sources", struct texts, sources, source_schema),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t model_schema = YAML_FILE(struct texts, model_fields);

/* The keys of the mapping at place, and what messages call it. */
static const cyaml_schema_field_t *fields_of_place(const char *place, const char **name)
{
    *name = place;
    if (strncmp(place, "sources/", 8) == 0) {
        *name = "a source";
        return source_fields;
    }
    for (const cyaml_schema_field_t *field = model_fields; field->key; field++)
        if (strcmp(field->key, place) == 0 && field->value.type == CYAML_MAPPING)
            return field->value.mapping.fields;
    *name = "a machine";
    return model_fields;
}

/* Values -------------------------------------------------------------------------------------- */

/* "l1.size" is at "l1/size". */
static void place_of(const struct machine_key *key, char place[YAML_MISTAKE_PLACE])
{
    snprintf(place, YAML_MISTAKE_PLACE, "%s", key->name);
    char *point = strchr(place, '.');
    if (point)
        *point = '/';
}

static size_t line_of(const struct yaml_reader *reader, const struct machine_key *key)
{
    char place[YAML_MISTAKE_PLACE];
    place_of(key, place);
    return yaml_place_line(reader->place, place);
}

/* False if what stands at place is wrong; *value is given if something stands there. */
static bool read_value(const struct yaml_reader *reader, const char *place,
                       const struct machine_key *key, struct machine_value *value)
{
    char error[ERROR_SIZE];
    const char *text = yaml_place_text(reader->place, place);
    if (!text || machine_value_parse(key, text, value, error, sizeof error))
        return true;
    return yaml_complain(reader, yaml_place_line(reader->place, place), "%s", error);
}

/* As far as the schema lets any stand there. */
static bool read_vm(const struct yaml_reader *reader, struct machine_values *vm)
{
    bool ok = true;
    char place[YAML_MISTAKE_PLACE];
    for (const cyaml_schema_field_t *field = vm_fields; field->key; field++) {
        size_t key = machine_key_find(field->key);
        snprintf(place, sizeof place, "vm/%s", field->key);
        ok = read_value(reader, place, &machine_keys[key], &vm->of[key]) && ok;
    }
    return ok;
}

static bool read_values(const struct yaml_reader *reader, struct machine_values *values)
{
    bool ok = true;
    char place[YAML_MISTAKE_PLACE], range[ERROR_SIZE];
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        const struct machine_key *key = &machine_keys[i];
        place_of(key, place);
        machine_key_range_text(key, range, sizeof range);
        ok = read_value(reader, place, key, &values->of[i]) && ok;
        if (!yaml_place_text(reader->place, place) && i != MACHINE_LOOKAHEAD && !*reader->error)
            ok = yaml_complain(reader, line_of(reader, key),
                               "a machine lacks the key \"%s\", %s; valid: %s", key->name,
                               key->help, range);
    }
    return ok;
}

static bool make_model(const struct yaml_reader *reader, struct machine_file *file)
{
    char error[ERROR_SIZE];
    size_t key = machine_model_make(&file->model, &file->values, error, sizeof error);
    if (key != MACHINE_KEYS)
        return yaml_complain(reader, line_of(reader, &machine_keys[key]), "%s", error);
    const char *base = text_base_name(reader->path);
    size_t length = strlen(base);
    if (length > 5 && text_ends_with(base, ".yaml"))
        length -= 5;
    snprintf(file->model.name, sizeof file->model.name, "%.*s", (int)length, base);
    return true;
}

/* Sources ------------------------------------------------------------------------------------- */

/* True if a source's entry is this key, or the part of it before its point. */
static bool covers(const char *entry, const struct machine_key *key)
{
    size_t length = strlen(entry);
    return strncmp(key->name, entry, length) == 0 &&
           (key->name[length] == '\0' || key->name[length] == '.');
}

const char *machine_file_source(const struct machine_file *file, const struct machine_key *key)
{
    for (unsigned i = 0; i < file->sources_count; i++)
        for (unsigned k = 0; k < file->sources[i].of_count; k++)
            if (covers(file->sources[i].of[k], key))
                return file->sources[i].source;
    return NULL;
}

const char *machine_file_vm_source(const struct machine_file *file)
{
    for (unsigned i = 0; i < file->sources_count; i++)
        for (unsigned k = 0; k < file->sources[i].of_count; k++)
            if (strcmp(file->sources[i].of[k], "vm") == 0)
                return file->sources[i].source;
    return NULL;
}

bool machine_file_has_vm(const struct machine_file *file)
{
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        if (file->vm.of[i].given)
            return true;
    return false;
}

/* Complains of an entry that is no key. */
static bool complain_of_entry(const struct yaml_reader *reader, size_t line, const char *entry)
{
    char text[SUGGEST_TEXT_SIZE];
    struct suggest near = suggest_for(entry);
    for (size_t key = 0; key < MACHINE_KEYS; key++)
        suggest_offer(&near, machine_keys[key].name);
    suggest_offer(&near, "vm");
    return yaml_complain(
        reader, line, "a source is of \"%s\", which is no key; %s", entry,
        suggest_text(&near, "", "`schedlab list sim:desktop8`", text, sizeof text));
}

static bool check_entry(const struct yaml_reader *reader, const struct machine_file *file,
                        unsigned i, unsigned k)
{
    char place[64];
    const char *entry = file->sources[i].of[k];
    bool known = strcmp(entry, "vm") == 0;
    snprintf(place, sizeof place, "sources/%u/of/%u", i, k);
    size_t line = yaml_place_line(reader->place, place);
    if (known && machine_file_vm_source(file) != file->sources[i].source)
        return yaml_complain(reader, line, "vm has two sources; valid: one");
    for (size_t key = 0; key < MACHINE_KEYS; key++) {
        if (!covers(entry, &machine_keys[key]))
            continue;
        known = true;
        if (machine_file_source(file, &machine_keys[key]) != file->sources[i].source)
            return yaml_complain(reader, line, "%s has two sources; valid: one",
                                 machine_keys[key].name);
    }
    return known || complain_of_entry(reader, line, entry);
}

static void check_sources(const struct yaml_reader *reader, const struct machine_file *file)
{
    bool ok = true;
    for (unsigned i = 0; i < file->sources_count; i++)
        for (unsigned k = 0; k < file->sources[i].of_count; k++)
            ok = check_entry(reader, file, i, k) && ok;
    for (size_t i = 0; ok && i < MACHINE_KEYS; i++)
        if (file->values.of[i].given && !machine_file_source(file, &machine_keys[i]))
            ok = yaml_complain(reader, line_of(reader, &machine_keys[i]),
                               "%s has no source; valid: one under sources, of [%s]",
                               machine_keys[i].name, machine_keys[i].name);
    if (ok && machine_file_has_vm(file) && !machine_file_vm_source(file))
        yaml_complain(reader, yaml_place_line(reader->place, "vm"),
                      "vm has no source; valid: one under sources, of [vm]");
}

/* Loading ------------------------------------------------------------------------------------- */

/* Moves what is kept of the texts, and frees the others. */
static struct machine_file *file_take(struct texts *texts)
{
    struct machine_file *file = xcalloc(1, sizeof *file);
    file->title = texts->title;
    file->sources = texts->sources;
    file->sources_count = texts->sources_count;
    texts->title = NULL;
    texts->sources = NULL;
    texts->sources_count = 0;
    cyaml_config_t config = yaml_mistake_config(NULL);
    cyaml_free(&config, &model_schema, texts, 0);
    return file;
}

static void complain_of_schema(const struct yaml_reader *reader, const struct yaml_mistake *mistake)
{
    yaml_complain_of_schema(reader, mistake, fields_of_place, "harness/spec/machine_keys.c");
}

static struct machine_file *schema_load(const struct yaml_reader *reader)
{
    struct texts *texts = yaml_reader_load(reader, &model_schema, complain_of_schema);
    return texts ? file_take(texts) : NULL;
}

struct machine_file *machine_file_load(const char *path, char *error, size_t error_size)
{
    struct yaml_reader reader;
    if (!yaml_reader_open(&reader, path, error, error_size))
        return NULL;
    struct machine_file *file = schema_load(&reader);
    bool read = file && read_values(&reader, &file->values);
    read = file && read_vm(&reader, &file->vm) && read;
    if (read && !*reader.error)
        make_model(&reader, file);
    if (file)
        check_sources(&reader, file);
    if (*reader.error) {
        machine_file_free(file);
        file = NULL;
    }
    yaml_reader_close(&reader);
    return file;
}

void machine_file_free(struct machine_file *file)
{
    if (!file)
        return;
    for (unsigned i = 0; i < file->sources_count; i++) {
        for (unsigned k = 0; k < file->sources[i].of_count; k++)
            free(file->sources[i].of[k]);
        free(file->sources[i].of);
        free(file->sources[i].source);
    }
    free(file->sources);
    free(file->title);
    free(file);
}
