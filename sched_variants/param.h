/* param.h - one named, typed, bounded setting: a variant's knob or a workload's parameter.
 *
 * A specification "name,key=value,key=value" is the same everywhere on the command line and in
 * sweep files. A table of struct param says which keys there are. harness/spec/spec.c parses the
 * text into the owner's struct. Every setting is an int64_t field of that struct: a number, the
 * index of a word in `words`, or the address of a file's name, which is kept for ever.
 */
#ifndef SCHEDLAB_PARAM_H
#define SCHEDLAB_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The decision that a knob is about. The order is that of lists. */
enum knob_group {
    KNOB_OTHERS, /* a knob that names no group, and every parameter of a workload */
    KNOB_QUEUES,
    KNOB_STEALING,
    KNOB_WAKING,
    KNOB_SLICES,
    KNOB_CALLS,
    KNOB_DESCRIPTORS,
    KNOB_TIMERS,
    KNOB_LOCKS,
    KNOB_MEMORY,
    KNOB_GROUPS,
};

struct param {
    const char *name;         /* the key; NULL ends a table */
    size_t offset;            /* of the int64_t field in the owner's struct */
    int64_t def;              /* the value where the key is not given */
    int64_t min, max;         /* inclusive; ignored where only words are allowed */
    const char *unit;         /* "ns", "Gs", "1" for a pure number; "word" where only words are;
                                 "file" where any other text is the name of a file */
    const char *const *words; /* NULL-terminated, or NULL: words allowed beside the numbers */
    int64_t words_base;       /* the value of words[0]; words[i] is words_base + i */
    const char *source; /* where the default comes from: a key of docs/PAPERS.md, or Go's file */
    const char *help;   /* one line: what it changes */

    /* The rest may be left out. */
    const char *detail; /* what its values mean, in sentences */
    enum knob_group group;
    bool decisive;       /* it changes results, and not only details of them */
    const char *moves;   /* events of stats.h or malloc's that it moves first, with a space between;
                            "": none; NULL: not said */
    const char *example; /* "SETTINGS WORKLOAD WORKERS": a run with these settings, beside one that
                            differs in this knob alone, has other counts of all of `moves`; on a
                            simulated machine, unless " native" stands behind it; NULL: not said */
};

/* Settings that change nothing while others have certain values: who asks for one is told so, in
 * place of a measurement of nothing. A table of these ends with a row without keys. */
struct param_moot {
    const char *keys; /* "runnext_cap inherit": any value of these but its default; "preempt=coop":
                         this one, "a=b|c": one of these */
    const char *when; /* "calls=none|immediate,preempt=none": all of these hold; words only */
    const char *why;  /* "where ...", which the message ends with */
};

/* "runtime.wake" names the knob "wake": fields of an embedded struct keep their own names. One
 * level deep only: clang folds strchr into a static initializer, strrchr it does not. */
#define PARAM_NAME(field)                                                                          \
    (__builtin_strchr(field, '.') ? __builtin_strchr(field, '.') + 1 : (field))

/* The rows of tables. `...` is the help, and behind it what may be left out: `.detail = TEXT`, and
 * of a knob one of these two. */
#define KNOB_DECISIVE(group_, moves_, example_)                                                    \
    .group = KNOB_##group_, .decisive = true, .moves = (moves_), .example = (example_)
#define KNOB_FINE(group_, moves_, example_)                                                        \
    .group = KNOB_##group_, .moves = (moves_), .example = (example_)

/* A number from min to max. */
#define PARAM_NUMBER(owner, field, def_, min_, max_, unit_, source_, ...)                          \
    {                                                                                              \
        .name = PARAM_NAME(#field), .offset = offsetof(owner, field), .def = (def_),               \
        .min = (min_), .max = (max_), .unit = (unit_), .source = (source_), .help = __VA_ARGS__    \
    }

/* A number, or one of some words, whose values start at words_base_ and lie outside the range. */
#define PARAM_NUMBER_OR(owner, field, def_, min_, max_, words_, words_base_, unit_, source_, ...)  \
    {                                                                                              \
        .name = PARAM_NAME(#field), .offset = offsetof(owner, field), .def = (def_),               \
        .min = (min_), .max = (max_), .unit = (unit_), .words = (words_),                          \
        .words_base = (words_base_), .source = (source_), .help = __VA_ARGS__                      \
    }

/* One of some words; the value is the word's index, so list them in the order of the enum. */
#define PARAM_WORD(owner, field, words_, def_, source_, ...)                                       \
    {                                                                                              \
        .name = PARAM_NAME(#field), .offset = offsetof(owner, field), .def = (def_),               \
        .unit = "word", .words = (words_), .source = (source_), .help = __VA_ARGS__                \
    }

/* The name of a file, or one of some words; the words' values are their indexes. */
#define PARAM_FILE(owner, field, words_, def_, source_, ...)                                       \
    {                                                                                              \
        .name = PARAM_NAME(#field), .offset = offsetof(owner, field), .def = (def_),               \
        .unit = "file", .words = (words_), .source = (source_), .help = __VA_ARGS__                \
    }

static inline bool param_takes_files(const struct param *param)
{
    return strcmp(param->unit, "file") == 0;
}

static inline bool param_takes_numbers(const struct param *param)
{
    return strcmp(param->unit, "word") != 0 && !param_takes_files(param);
}

/* The word of that value; NULL if it is none. */
static inline const char *param_word(const struct param *param, int64_t value)
{
    int64_t index = param->words_base;
    for (const char *const *word = param->words; word && *word; word++, index++)
        if (index == value)
            return *word;
    return NULL;
}

/* The name of the file; NULL if the value is a word or a number. */
static inline const char *param_file(const struct param *param, int64_t value)
{
    if (!param_takes_files(param) || param_word(param, value))
        return NULL;
    return (const char *)(uintptr_t)value;
}

/* The key as users write it: "spinners" for the field runtime.spinners. */
static inline const char *param_key(const struct param *param)
{
    const char *dot = strrchr(param->name, '.');
    return dot ? dot + 1 : param->name;
}

/* The row of that key; NULL if the table, which may be NULL, has none. */
static inline const struct param *param_find(const struct param *table, const char *key)
{
    for (const struct param *param = table; param && param->name; param++)
        if (strcmp(param_key(param), key) == 0)
            return param;
    return NULL;
}

static inline int64_t *param_field(void *owner, const struct param *param)
{
    return (int64_t *)((char *)owner + param->offset);
}

/* Sets every setting of the table to its default. */
static inline void params_set_defaults(void *owner, const struct param *table)
{
    for (const struct param *param = table; param && param->name; param++)
        *param_field(owner, param) = param->def;
}

#endif
