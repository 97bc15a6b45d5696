/* machine_file.c - see machine_file.h.
 *
 * The values, after yaml_reader.h. libcyaml takes all of them as texts, because it knows no units.
 */
#include "harness/models/machine_file.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"
#include "harness/base/yaml_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_SIZE = 256 };

/* Schema -------------------------------------------------------------------------------------- */

/* As libcyaml reads it: texts, all of which may be missing. Only titles and sources are taken from
 * here; the values are read again where they stand, so that messages know the line. */
struct texts {
    char *value[MACHINE_KEYS], *vm[MACHINE_KEYS];
    char *title;
    struct machine_source *sources;
    unsigned sources_count;
};

/* The keys that a file may give another price in a virtual machine. */
static const char *const vm_keys[] = {"call",       "wait",      "wake",  "wakeup",
                                      "switch",     "signal",    "start", "end",
                                      "membarrier", "interrupt", NULL};

static const cyaml_schema_field_t source_fields[] = {
    YAML_LIST("of", struct machine_source, of, yaml_text),
    YAML_TEXT("source", struct machine_source, source),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t source_schema = YAML_ENTRY(struct machine_source, source_fields);

static cyaml_schema_field_t model_fields[MACHINE_KEYS + 4]; /* see schema_make() */
static const cyaml_schema_value_t model_schema = YAML_FILE(struct texts, model_fields);

/* A text that is the i-th of a list of them. */
static cyaml_schema_field_t text_field(const char *key, size_t i)
{
    cyaml_schema_field_t field = YAML_MAY_TEXT(key, struct texts, value[0]);
    field.data_offset += (uint32_t)(i * sizeof(char *));
    return field;
}

/* A mapping whose texts begin at the i-th of all, those of vm behind those of value. */
static cyaml_schema_field_t section_field(const char *key, size_t i, cyaml_schema_field_t *fields)
{
    cyaml_schema_field_t field =
        CYAML_FIELD_MAPPING(key, CYAML_FLAG_OPTIONAL, struct texts, value, fields);
    field.data_offset += (uint32_t)(i * sizeof(char *));
    return field;
}

/* The schema that the table of keys makes, once: keys with one word before their point are a
 * mapping. */
static void schema_make(void)
{
    static cyaml_schema_field_t inner[2 * MACHINE_KEYS];
    cyaml_schema_field_t *in = inner, *out = model_fields;
    if (model_fields[0].key)
        return;
    *out++ = (cyaml_schema_field_t)YAML_TEXT("title", struct texts, title);
    for (size_t i = 0, first; i < MACHINE_KEYS;) {
        const char *name = machine_keys[i].name;
        size_t length = strcspn(name, ".") + 1;
        first = i;
        if (length > strlen(name)) {
            *out++ = text_field(name, i++);
            continue;
        }
        *out++ = section_field(xstrndup(name, length - 1), first, in);
        for (; i < MACHINE_KEYS && strncmp(machine_keys[i].name, name, length) == 0; i++)
            *in++ = text_field(machine_keys[i].name + length, i - first);
        in++; /* an empty one is the end */
    }
    *out++ = section_field("vm", MACHINE_KEYS, in);
    for (const char *const *key = vm_keys; *key; key++)
        *in++ = text_field(*key, machine_key_find(*key));
    *out = (cyaml_schema_field_t)YAML_LIST("sources", struct texts, sources, source_schema);
}

static const struct yaml_owner owners[] = {
    {model_fields, "a machine"}, {source_fields, "a source"}, {NULL, NULL}};

/* Values -------------------------------------------------------------------------------------- */

/* "l1.size" is at "l1/size". */
static void place_of(const struct machine_key *key, char place[PLACE_SIZE])
{
    snprintf(place, PLACE_SIZE, "%s", key->name);
    char *point = strchr(place, '.');
    if (point)
        *point = '/';
}

static size_t line_of(const struct yaml_reader *reader, const struct machine_key *key)
{
    char place[PLACE_SIZE];
    place_of(key, place);
    return yaml_place_line(reader->place, place);
}

/* False if what stands at place is wrong; *value is given if something stands there. */
static bool read_value(const struct yaml_reader *reader, const char *place,
                       const struct machine_key *key, struct machine_value *value)
{
    struct error error;
    const char *text = yaml_place_text(reader->place, place);
    if (!text || machine_value_parse(key, text, value, &error))
        return true;
    return yaml_complain(reader, yaml_place_line(reader->place, place), "%s", error.text);
}

static bool read_vm(const struct yaml_reader *reader, struct machine_values *vm)
{
    bool ok = true;
    char place[PLACE_SIZE];
    for (const char *const *name = vm_keys; *name; name++) {
        size_t key = machine_key_find(*name);
        snprintf(place, sizeof place, "vm/%s", *name);
        ok = read_value(reader, place, &machine_keys[key], &vm->of[key]) && ok;
    }
    return ok;
}

static bool read_values(const struct yaml_reader *reader, struct machine_values *values)
{
    bool ok = true;
    char place[PLACE_SIZE];
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        const struct machine_key *key = &machine_keys[i];
        place_of(key, place);
        ok = read_value(reader, place, key, &values->of[i]) && ok;
        if (!yaml_place_text(reader->place, place) && i != MACHINE_LOOKAHEAD &&
            !*reader->error->text)
            ok = yaml_complain(reader, line_of(reader, key),
                               "a machine lacks the key \"%s\", %s; valid: %s", key->name,
                               key->help, machine_key_range_text(key).s);
    }
    return ok;
}

static bool make_model(const struct yaml_reader *reader, struct machine_file *file)
{
    struct error error;
    size_t key = machine_model_make(&file->model, &file->values, &error);
    if (key != MACHINE_KEYS)
        return yaml_complain(reader, line_of(reader, &machine_keys[key]), "%s", error.text);
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
    return machine_file_source(file, &(struct machine_key){.name = "vm"});
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
    struct suggest near = suggest_for(entry);
    for (size_t key = 0; key < MACHINE_KEYS; key++)
        suggest_offer(&near, machine_keys[key].name);
    suggest_offer(&near, "vm");
    return yaml_complain(reader, line, "a source is of \"%s\", which is no key; %s", entry,
                         suggest_text(&near, "", "`schedlab list sim:desktop8`").s);
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
    yaml_data_free(&model_schema, texts, 0);
    return file;
}

static struct machine_file *schema_load(const struct yaml_reader *reader)
{
    static const struct yaml_schema schema = {
        .value = &model_schema, .owners = owners, .where = "harness/models/machine_keys.c"};
    schema_make();
    struct texts *texts = yaml_reader_load(reader, &schema, NULL);
    return texts ? file_take(texts) : NULL;
}

struct machine_file *machine_file_load(const char *path, struct error *error)
{
    struct yaml_reader reader;
    if (!yaml_reader_open(&reader, path, error))
        return NULL;
    struct machine_file *file = schema_load(&reader);
    bool read = file && read_values(&reader, &file->values);
    read = file && read_vm(&reader, &file->vm) && read;
    if (read && !*reader.error->text)
        make_model(&reader, file);
    if (file)
        check_sources(&reader, file);
    if (*reader.error->text) {
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
        texts_free(file->sources[i].of, file->sources[i].of_count);
        free(file->sources[i].source);
    }
    free(file->sources);
    free(file->title);
    free(file);
}
