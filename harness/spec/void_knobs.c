/* void_knobs.c - see void_knobs.h. */
#include "harness/spec/void_knobs.h"

#include "harness/base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* "key=word|word" or "key", of a row's text; a word may be a number. */
struct clause {
    const char *key, *words; /* words NULL: any value */
    int key_length, words_length;
};

/* The clause at *text, and *text behind it and its separator; false at the end. */
static bool clause_next(const char **text, const char *separator, struct clause *clause)
{
    int length = (int)strcspn(*text, separator);
    if (length == 0)
        return false;
    *clause = (struct clause){.key = *text, .key_length = (int)strcspn(*text, "=")};
    if (clause->key_length < length) {
        clause->words = *text + clause->key_length + 1;
        clause->words_length = length - clause->key_length - 1;
    } else {
        clause->key_length = length;
    }
    *text += length + ((*text)[length] != '\0');
    return true;
}

static const struct param *clause_param(const struct clause *clause, const struct param *table)
{
    for (const struct param *param = table; param && param->name; param++)
        if ((int)strlen(param_key(param)) == clause->key_length &&
            strncmp(param_key(param), clause->key, (size_t)clause->key_length) == 0)
            return param;
    return NULL;
}

/* The value of a word or a number, of so many characters; false if it is none of the parameter. */
static bool word_value(const struct param *param, const char *word, int length, int64_t *value)
{
    *value = param->words_base;
    for (const char *const *at = param->words; at && *at; at++, ++*value)
        if ((int)strlen(*at) == length && strncmp(*at, word, (size_t)length) == 0)
            return true;
    char *end;
    *value = strtoll(word, &end, 10);
    return param_takes_numbers(param) && end == word + length && *value >= param->min &&
           *value <= param->max;
}

/* Has the parameter one of the clause's values? *lacks: the first word that it does not know. */
static bool clause_holds(const struct clause *clause, const struct param *param, int64_t value,
                         const char **lacks)
{
    bool holds = !clause->words;
    const char *end = clause->words + clause->words_length;
    for (const char *word = clause->words; word && word < end;) {
        int64_t its;
        int length = (int)strcspn(word, "|, ");
        length = length < end - word ? length : (int)(end - word);
        if (!word_value(param, word, length, &its))
            *lacks = *lacks ? *lacks : word;
        else
            holds = holds || its == value;
        word += length + 1;
    }
    return holds;
}

static bool row_applies(const struct param_moot *row, const struct param *table, void *owner)
{
    const char *when = row->when, *lacks = NULL;
    struct clause clause;
    while (clause_next(&when, ",", &clause)) {
        const struct param *param = clause_param(&clause, table);
        if (!param || !clause_holds(&clause, param, *param_field(owner, param), &lacks))
            return false;
    }
    return true;
}

struct void_knob void_knob_find(const struct param_moot *rows, const struct param *table,
                                void *owner)
{
    for (const struct param_moot *row = rows; row && row->keys; row++) {
        const char *keys = row->keys, *lacks = NULL;
        struct clause clause;
        while (row_applies(row, table, owner) && clause_next(&keys, " ", &clause)) {
            const struct param *param = clause_param(&clause, table);
            int64_t value = param ? *param_field(owner, param) : 0;
            if (param && value != param->def && clause_holds(&clause, param, value, &lacks))
                return (struct void_knob){param, row};
        }
    }
    return (struct void_knob){0};
}

char *void_knob_when_text(const struct param_moot *row, const struct param *table, void *owner,
                          char *text, size_t text_size)
{
    const char *when = row->when;
    struct clause clause;
    text[0] = '\0';
    while (clause_next(&when, ",", &clause)) {
        const struct param *param = clause_param(&clause, table);
        int64_t value = *param_field(owner, param);
        const char *word = param_word(param, value);
        text_add(text, text_size, "%s%s=", *text ? "," : "", param_key(param));
        if (word)
            text_add(text, text_size, "%s", word);
        else
            text_add(text, text_size, "%lld", (long long)value);
    }
    return text;
}

static bool text_fits(const char *text, const char *separator, const struct param *table,
                      char *lacks, size_t lacks_size)
{
    struct clause clause;
    while (clause_next(&text, separator, &clause)) {
        const struct param *param = clause_param(&clause, table);
        const char *word = NULL;
        if (param)
            clause_holds(&clause, param, 0, &word);
        if (param && !word)
            continue;
        snprintf(lacks, lacks_size, "%.*s%s%.*s", clause.key_length, clause.key, word ? "=" : "",
                 word ? (int)strcspn(word, "|, ") : 0, word ? word : "");
        return false;
    }
    return true;
}

bool void_knob_row_fits(const struct param_moot *row, const struct param *table, char *lacks,
                        size_t lacks_size)
{
    return text_fits(row->keys, " ", table, lacks, lacks_size) &&
           text_fits(row->when, ",", table, lacks, lacks_size);
}
