/* yaml_reader.c - see yaml_reader.h. */
#include "harness/base/yaml_reader.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum {
    FILE_MAX = 1 << 20,
    PLACE_SIZE = 256,
    LINE_SIZE = 2048,
    PROBLEM_SIZE = 512,
};

const cyaml_schema_value_t yaml_text = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED),
};

/* The whole file, or NULL and one line in error. */
static char *text_read(const char *path, size_t *size, struct error *error)
{
    FILE *from = fopen(path, "re");
    char *text = from ? malloc(FILE_MAX + 1) : NULL;
    *size = text ? fread(text, 1, FILE_MAX + 1, from) : 0;
    const char *wrong = !text || ferror(from) ? strerror(errno) : NULL;
    if (!wrong && *size > FILE_MAX)
        wrong = "it is larger than 1 MiB, so nobody wrote it for this program";
    if (from)
        fclose(from);
    if (!wrong)
        return text;
    error_print(error, "cannot read %s: %s", path, wrong);
    free(text);
    return NULL;
}

/* Takes text. */
static bool open_text(struct yaml_reader *reader, const char *path, char *text, size_t size,
                      struct error *error)
{
    size_t line;
    char problem[PROBLEM_SIZE];
    *reader = (struct yaml_reader){path, text, size, NULL, error};
    *error->text = '\0';
    reader->place = yaml_place_open(text, size, &line, problem, sizeof problem);
    if (reader->place)
        return true;
    yaml_complain(reader, line, "%s", problem);
    yaml_reader_close(reader);
    return false;
}

bool yaml_reader_open(struct yaml_reader *reader, const char *path, struct error *error)
{
    size_t size;
    char *text = text_read(path, &size, error);
    return text && open_text(reader, path, text, size, error);
}

bool yaml_reader_open_text(struct yaml_reader *reader, const char *path, const char *text,
                           size_t size, struct error *error)
{
    char *copy = xmalloc(size + 1);
    memcpy(copy, text, size);
    return open_text(reader, path, copy, size, error);
}

void yaml_reader_close(struct yaml_reader *reader)
{
    yaml_place_close(reader->place);
    free(reader->text);
    reader->place = NULL;
    reader->text = NULL;
}

static unsigned lines_of(const char *text)
{
    unsigned lines = *text != '\0';
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

bool yaml_complain(const struct yaml_reader *reader, size_t line, const char *format, ...)
{
    char what[LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    unsigned before = lines_of(reader->error->text);
    size_t used = strlen(reader->error->text), room = sizeof reader->error->text - used;
    char *end = reader->error->text + used;
    const char *newline = before > 0 ? "\n" : "";
    int length = 0;
    if (before < YAML_MISTAKES_MAX)
        length =
            snprintf(end, room, "%s%s:%zu: %s", newline, reader->path, line, text_one_line(what));
    else if (before == YAML_MISTAKES_MAX)
        length = snprintf(end, room, "%s%s: more mistakes", newline, reader->path);
    if (before > 0 && (size_t)length >= room)
        *end = '\0'; /* no half a line */
    return false;
}

char *yaml_canonical(const struct yaml_reader *reader, size_t line, yaml_canonical_of *canonical,
                     const char *text)
{
    struct error error;
    char *made = canonical(text, &error);
    if (!made)
        yaml_complain(reader, line, "%s", error.text);
    return made;
}

bool yaml_make_canonical(const struct yaml_reader *reader, size_t line,
                         yaml_canonical_of *canonical, char **text)
{
    char *made = yaml_canonical(reader, line, canonical, *text);
    if (made) {
        free(*text);
        *text = made;
    }
    return made != NULL;
}

bool yaml_is_new(const struct yaml_reader *reader, size_t line, char *const *list, unsigned count,
                 const char *text)
{
    return !text_is_among(text, list, count) ||
           yaml_complain(reader, line, "%s is given twice", text);
}

size_t yaml_line(const struct yaml_reader *reader, const char *format, ...)
{
    char place[PLACE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(place, sizeof place, format, args);
    va_end(args);
    return yaml_place_line(reader->place, place);
}

size_t yaml_key_line(const struct yaml_reader *reader, const char *place, const char *key)
{
    char inner[PLACE_SIZE];
    snprintf(inner, sizeof inner, "%s/%s", place, key);
    return yaml_place_line(reader->place, yaml_place_exists(reader->place, inner) ? inner : place);
}

/* Checking ------------------------------------------------------------------------------------ */

struct check {
    const struct yaml_reader *reader;
    const struct yaml_schema *schema;
    yaml_document_t *document;
};

static bool value_check(const struct check *check, const cyaml_schema_value_t *value,
                        const char *key, const yaml_node_t *node);

static size_t line_of(const yaml_node_t *node)
{
    return node->start_mark.line + 1;
}

static const char *text_of(const yaml_node_t *scalar)
{
    return (const char *)scalar->data.scalar.value;
}

static const char *owner_of(const struct check *check, const cyaml_schema_field_t *fields,
                            const char *key)
{
    const struct yaml_owner *owner = check->schema->owners;
    while (owner->fields && owner->fields != fields)
        owner++;
    return owner->fields ? owner->name : key;
}

static bool complain_of_kind(const struct check *check, const cyaml_schema_value_t *value,
                             const char *key, size_t line)
{
    if (value->type == CYAML_SEQUENCE)
        return yaml_complain(check->reader, line, "%s must be a list, as in [a, b]", key);
    if (value->type == CYAML_MAPPING)
        return yaml_complain(check->reader, line, "%s must have keys, as in {%s: ...}", key,
                             value->mapping.fields->key);
    return yaml_complain(check->reader, line, "%s must be a single value", key);
}

/* A mapping whose pairs are being checked. */
struct mapping {
    const struct check *check;
    const cyaml_schema_field_t *fields;
    const char *owner;
    bool *seen;    /* of fields */
    bool misspelt; /* a key is unknown */
};

static void complain_of_key(const struct mapping *self, const yaml_node_t *name)
{
    struct suggest near = suggest_for(text_of(name));
    for (const cyaml_schema_field_t *field = self->fields; field->key; field++)
        suggest_offer(&near, field->key);
    yaml_complain(self->check->reader, line_of(name), "%s has no key \"%s\"; %s", self->owner,
                  text_of(name), suggest_text(&near, "", self->check->schema->where).s);
}

/* libcyaml takes several of a key that is ignored. */
static bool pair_check(struct mapping *self, const yaml_node_t *name, const yaml_node_t *node)
{
    size_t i = 0;
    if (name->type != YAML_SCALAR_NODE) {
        self->misspelt = true;
        return yaml_complain(self->check->reader, line_of(name), "a key of %s is no text",
                             self->owner);
    }
    while (self->fields[i].key && strcmp(self->fields[i].key, text_of(name)) != 0)
        i++;
    const cyaml_schema_field_t *field = &self->fields[i];
    if (!field->key) {
        self->misspelt = true;
        complain_of_key(self, name);
        return true;
    }
    if (self->seen[i] && field->value.type != CYAML_IGNORE)
        return yaml_complain(self->check->reader, line_of(name), "%s is given twice", field->key);
    self->seen[i] = true;
    return value_check(self->check, &field->value, field->key, node);
}

/* A key that is missing may be the misspelt one: then that is told alone. */
static bool mapping_check(const struct check *check, const cyaml_schema_field_t *fields,
                          const char *key, const yaml_node_t *node)
{
    size_t count = 0;
    while (fields[count].key)
        count++;
    struct mapping self = {check, fields, owner_of(check, fields, key),
                           xcalloc(count, sizeof *self.seen), false};
    bool right = true;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++)
        right = pair_check(&self, yaml_document_get_node(check->document, pair->key),
                           yaml_document_get_node(check->document, pair->value)) &&
                right;
    for (size_t i = 0; i < count; i++) {
        if (self.seen[i] || fields[i].value.flags & CYAML_FLAG_OPTIONAL)
            continue;
        if (!self.misspelt)
            yaml_complain(check->reader, line_of(node), "%s lacks the key \"%s\"", self.owner,
                          fields[i].key);
        right = false;
    }
    free(self.seen);
    return right;
}

static bool sequence_check(const struct check *check, const cyaml_schema_value_t *value,
                           const char *key, const yaml_node_t *sequence)
{
    const yaml_node_item_t *item = sequence->data.sequence.items.start;
    const yaml_node_item_t *end = sequence->data.sequence.items.top;
    bool right = true;
    if (end - item < value->sequence.min)
        right = yaml_complain(check->reader, line_of(sequence), "%s is empty", key);
    if (end - item > value->sequence.max)
        right = yaml_complain(check->reader, line_of(sequence), "%s has too many entries", key);
    for (; item < end; item++)
        right = value_check(check, value->sequence.entry, key,
                            yaml_document_get_node(check->document, *item)) &&
                right;
    return right;
}

/* As libcyaml takes it, even with a rest; those who need the number read it again. */
static bool number_check(const struct check *check, const char *key, const yaml_node_t *node)
{
    const char *text = text_of(node);
    char *end;
    errno = 0;
    (void)strtoll(text, &end, 0);
    if (end != text && errno != ERANGE)
        return true;
    if (check->schema->complain_of_number)
        return check->schema->complain_of_number(check->reader, line_of(node), key,
                                                 *text ? text : "empty");
    return yaml_complain(check->reader, line_of(node), "%s must be a whole number", key);
}

static bool word_check(const struct check *check, const cyaml_schema_value_t *value,
                       const char *key, const yaml_node_t *node)
{
    struct suggest near = suggest_for(text_of(node));
    for (unsigned i = 0; i < value->enumeration.count; i++) {
        if (strcmp(value->enumeration.strings[i].str, text_of(node)) == 0)
            return true;
        suggest_offer(&near, value->enumeration.strings[i].str);
    }
    return yaml_complain(check->reader, line_of(node), "%s is \"%s\"; %s", key, text_of(node),
                         suggest_text(&near, "", check->schema->where).s);
}

/* key: the innermost, for messages. False after a complaint of more than unknown keys. Kinds that
 * no file here has are left to libcyaml. */
static bool value_check(const struct check *check, const cyaml_schema_value_t *value,
                        const char *key, const yaml_node_t *node)
{
    yaml_node_type_t kind = value->type == CYAML_MAPPING    ? YAML_MAPPING_NODE
                            : value->type == CYAML_SEQUENCE ? YAML_SEQUENCE_NODE
                                                            : YAML_SCALAR_NODE;
    if (value->type == CYAML_IGNORE)
        return true;
    if (node->type != kind)
        return complain_of_kind(check, value, key, line_of(node));
    switch (value->type) {
    case CYAML_MAPPING:
        return mapping_check(check, value->mapping.fields, key, node);
    case CYAML_SEQUENCE:
        return sequence_check(check, value, key, node);
    case CYAML_STRING:
        return strlen(text_of(node)) >= value->string.min ||
               yaml_complain(check->reader, line_of(node), "%s is empty", key);
    case CYAML_INT:
        return number_check(check, key, node);
    case CYAML_ENUM:
        return word_check(check, value, key, node);
    default:
        return true;
    }
}

/* Loading ------------------------------------------------------------------------------------- */

/* cyaml_mem() is realloc() and free(). */
static const cyaml_config_t config = {.mem_fn = cyaml_mem, .flags = CYAML_CFG_IGNORE_UNKNOWN_KEYS};

void *yaml_reader_load(const struct yaml_reader *reader, const struct yaml_schema *schema,
                       unsigned *count)
{
    const struct check check = {reader, schema, yaml_place_document(reader->place)};
    cyaml_data_t *data = NULL;
    if (!value_check(&check, schema->value, "the file",
                     yaml_document_get_root_node(check.document)))
        return NULL;
    cyaml_err_t wrong = cyaml_load_data((const uint8_t *)reader->text, reader->size, &config,
                                        schema->value, &data, count);
    if (wrong)
        yaml_complain(reader, 1, "schedlab takes this file and libcyaml does not, a bug: %s",
                      cyaml_strerror(wrong));
    return data;
}

void yaml_data_free(const cyaml_schema_value_t *value, void *data, unsigned count)
{
    cyaml_free(&config, value, data, count);
}
