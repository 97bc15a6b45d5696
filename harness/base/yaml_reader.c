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
static char *text_read(const char *path, size_t *size, char *error, size_t error_size)
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
    snprintf(error, error_size, "cannot read %s: %s", path, wrong);
    free(text);
    return NULL;
}

/* Takes text. */
static bool open_text(struct yaml_reader *reader, const char *path, char *text, size_t size,
                      char *error, size_t error_size)
{
    size_t line;
    char problem[PROBLEM_SIZE];
    *reader = (struct yaml_reader){path, text, size, NULL, error, error_size};
    *error = '\0';
    reader->place = yaml_place_open(text, size, &line, problem, sizeof problem);
    if (reader->place)
        return true;
    yaml_complain(reader, line, "%s", problem);
    yaml_reader_close(reader);
    return false;
}

bool yaml_reader_open(struct yaml_reader *reader, const char *path, char *error, size_t error_size)
{
    size_t size;
    char *text = text_read(path, &size, error, error_size);
    return text && open_text(reader, path, text, size, error, error_size);
}

bool yaml_reader_open_text(struct yaml_reader *reader, const char *path, const char *text,
                           size_t size, char *error, size_t error_size)
{
    char *copy = xmalloc(size + 1);
    memcpy(copy, text, size);
    return open_text(reader, path, copy, size, error, error_size);
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
    unsigned before = lines_of(reader->error);
    size_t used = strlen(reader->error), room = reader->error_size - used;
    char *end = reader->error + used;
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
    char error[LINE_SIZE], *made = canonical(text, error, sizeof error);
    if (!made)
        yaml_complain(reader, line, "%s", error);
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

/* libcyaml tells one unknown key; the walk along its schema finds the others. */
struct unknown_keys {
    const struct yaml_reader *reader;
    const struct yaml_schema *schema;
    struct yaml_mistake mistake; /* its place */
    unsigned told;
};

static void unknown_keys_in(struct unknown_keys *unknown, const cyaml_schema_value_t *schema);

/* The same one step further in: mistakes have the innermost part first. */
static void unknown_keys_below(struct unknown_keys *unknown, const cyaml_schema_value_t *schema,
                               bool is_key, const char *part)
{
    struct yaml_mistake *mistake = &unknown->mistake, outer = *mistake;
    if (mistake->parts == YAML_MISTAKE_DEPTH)
        return;
    memmove(mistake->part[1], mistake->part[0], sizeof mistake->part - sizeof mistake->part[0]);
    memmove(&mistake->is_key[1], &mistake->is_key[0], sizeof mistake->is_key - sizeof(bool));
    snprintf(mistake->part[0], sizeof mistake->part[0], "%s", part);
    mistake->is_key[0] = is_key;
    mistake->parts++;
    unknown_keys_in(unknown, schema);
    *mistake = outer;
}

static void unknown_keys_of_mapping(struct unknown_keys *unknown, const char *place,
                                    const cyaml_schema_field_t *fields)
{
    const struct yaml_place *places = unknown->reader->place;
    const char *key;
    for (size_t i = 0; unknown->told <= YAML_MISTAKES_MAX; i++) {
        if (!(key = yaml_place_key(places, place, i)))
            return;
        const cyaml_schema_field_t *field = fields;
        while (field->key && strcmp(field->key, key) != 0)
            field++;
        if (field->key) {
            unknown_keys_below(unknown, &field->value, true, key);
            continue;
        }
        snprintf(unknown->mistake.message, sizeof unknown->mistake.message, "Unexpected key: %s",
                 key);
        yaml_complain_of_schema(unknown->reader, &unknown->mistake, unknown->schema);
        unknown->told++;
    }
}

static void unknown_keys_in(struct unknown_keys *unknown, const cyaml_schema_value_t *schema)
{
    char place[YAML_MISTAKE_PLACE], index[24];
    yaml_mistake_place(&unknown->mistake, 0, place);
    if (schema->type == CYAML_MAPPING)
        unknown_keys_of_mapping(unknown, place, schema->mapping.fields);
    if (schema->type != CYAML_SEQUENCE || schema->sequence.entry->type != CYAML_MAPPING)
        return;
    size_t entries = yaml_place_entries(unknown->reader->place, place);
    for (size_t i = 0; i < entries && unknown->told <= YAML_MISTAKES_MAX; i++) {
        snprintf(index, sizeof index, "%zu", i);
        unknown_keys_below(unknown, schema->sequence.entry, false, index);
    }
}

/* False if there are none. */
static bool unknown_keys_tell(const struct yaml_reader *reader, const struct yaml_schema *schema)
{
    struct unknown_keys unknown = {.reader = reader, .schema = schema};
    unknown_keys_in(&unknown, schema->value);
    return unknown.told > 0;
}

void *yaml_reader_load(const struct yaml_reader *reader, const struct yaml_schema *schema)
{
    cyaml_cfg_flags_t pass_over = CYAML_CFG_DEFAULT;
    for (;;) {
        struct yaml_mistake mistake = {.parts = 0};
        cyaml_config_t config = yaml_mistake_config(&mistake);
        cyaml_data_t *data = NULL;
        config.flags |= pass_over;
        if (cyaml_load_data((const uint8_t *)reader->text, reader->size, &config, schema->value,
                            &data, NULL) == CYAML_OK &&
            data)
            return data;
        bool is_key = !pass_over && strncmp(mistake.message, "Unexpected key", 14) == 0;
        /* what is missing now is the key that was misspelt */
        bool is_told = (pass_over && strncmp(mistake.message, "Missing required", 16) == 0) ||
                       (is_key && unknown_keys_tell(reader, schema));
        if (!is_told)
            yaml_complain_of_schema(reader, &mistake, schema);
        if (!is_key)
            return NULL;
        pass_over = CYAML_CFG_IGNORE_UNKNOWN_KEYS;
    }
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

static bool complain_of_unknown_key(const struct yaml_reader *reader, const char *place,
                                    const char *key, const struct yaml_schema *schema)
{
    const char *owner;
    struct suggest near = suggest_for(key);
    for (const cyaml_schema_field_t *field = schema->fields_of(place, &owner); field->key; field++)
        suggest_offer(&near, field->key);
    return yaml_complain(reader, yaml_place_key_line(reader->place, place, key, 0),
                         "%s has no key \"%s\"; %s", owner, key,
                         suggest_text(&near, "", schema->where).s);
}

/* A word that is not one of a key's: which are. */
static bool complain_of_word(const struct yaml_reader *reader, size_t line, const char *place,
                             const char *key, const char *word, const struct yaml_schema *schema)
{
    const char *owner;
    struct suggest near = suggest_for(word);
    for (const cyaml_schema_field_t *field = schema->fields_of(place, &owner); field->key; field++)
        if (strcmp(field->key, key) == 0 && field->value.type == CYAML_ENUM)
            for (unsigned i = 0; i < field->value.enumeration.count; i++)
                suggest_offer(&near, field->value.enumeration.strings[i].str);
    return yaml_complain(reader, line, "%s is \"%s\"; %s", key, word,
                         suggest_text(&near, "", schema->where).s);
}

bool yaml_complain_of_schema(const struct yaml_reader *reader, const struct yaml_mistake *mistake,
                             const struct yaml_schema *schema)
{
    char inner[YAML_MISTAKE_PLACE], outer[YAML_MISTAKE_PLACE], word[256] = "";
    const char *message = mistake->message, *key = yaml_mistake_key(mistake), *owner;
    yaml_mistake_place(mistake, 0, inner);
    yaml_mistake_place(mistake, mistake->parts > 0 ? 1 : 0, outer);
    size_t line = yaml_place_line(reader->place, inner);
    if (sscanf(message, "Unexpected key: %255[^\n]", word) == 1)
        return complain_of_unknown_key(reader, inner, word, schema);
    if (sscanf(message, "Mapping field already seen: %255s", word) == 1)
        return yaml_complain(reader, yaml_place_key_line(reader->place, outer, word, 1),
                             "%s is given twice", word);
    if (sscanf(message, "Missing required mapping field: %255s", word) == 1) {
        schema->fields_of(outer, &owner);
        return yaml_complain(reader, yaml_place_line(reader->place, outer),
                             "%s lacks the key \"%s\"", owner, word);
    }
    if (strncmp(message, "Invalid INT value:", 18) == 0 && schema->complain_of_number)
        return schema->complain_of_number(
            reader, line, key,
            sscanf(message, "Invalid INT value: '%255[^']", word) == 1 ? word : "empty");
    if (strncmp(message, "Invalid INT value:", 18) == 0)
        return yaml_complain(reader, line, "%s must be a whole number", key);
    if (sscanf(message, "Invalid ENUM value: %255[^\n]", word) == 1)
        return complain_of_word(reader, line, outer, key, word, schema);
    if (strncmp(message, "Expecting SEQUENCE", 18) == 0)
        return yaml_complain(reader, line, "%s must be a list, as in [a, b]", key);
    if (strncmp(message, "Expecting MAPPING", 17) == 0)
        return yaml_complain(reader, line, "%s must have keys, as in {%s: ...}", key,
                             schema->fields_of(inner, &owner)->key);
    if (strncmp(message, "Expecting ", 10) == 0)
        return yaml_complain(reader, line, "%s must be a single value", key);
    if (strncmp(message, "STRING length <", 15) == 0 || strncmp(message, "Insufficient", 12) == 0)
        return yaml_complain(reader, line, "%s is empty", key);
    if (strncmp(message, "Excessive", 9) == 0)
        return yaml_complain(reader, line, "%s has too many entries", key);
    return yaml_complain(reader, line, "%s: %s", key, *message ? message : "not valid");
}
