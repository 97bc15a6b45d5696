/* registry_check.c - see registry_check.h. */
#include "harness/spec/registry_check.h"

#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/spec/void_knobs.h"
#include "runtime/runq.h"
#include "sched.h"
#include "workloads/workload.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOBS_MAX = 57 }; /* spec.c keeps a bit for each key of a specification */

/* The struct that is looked at, and where its one line of complaint goes. */
struct subject {
    const char *word; /* the registry's */
    char place[256];  /* "sched_variants/grq/grq.c: grq_ops" */
    const char *registry, *contract;
    bool outside; /* no registry has it: `schedlab build` was told its name */
    struct error *error;
};

static bool __attribute__((format(printf, 2, 3)))
complain(const struct subject *subject, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    error_print(subject->error, "%s%s", subject->place, text);
    text_one_line(subject->error->text);
    return false;
}

/* Words and texts ------------------------------------------------------------------------------ */

static bool is_word(const char *text)
{
    if (!islower((unsigned char)*text))
        return false;
    while (islower((unsigned char)*text) || isdigit((unsigned char)*text) || *text == '_')
        text++;
    return !*text;
}

static bool is_line(const char *text)
{
    if (!text || !*text)
        return false;
    while (*text && !iscntrl((unsigned char)*text))
        text++;
    return !*text;
}

/* A member that lists show. */
struct shown {
    const char *member, *text;
};

static bool lines_check(const struct subject *subject, const char *before,
                        const struct shown *shown)
{
    for (; shown->member; shown++)
        if (!is_line(shown->text))
            return complain(subject, "%s.%s is %s; expected one line of text, which lists show",
                            before, shown->member,
                            !shown->text    ? "missing"
                            : !*shown->text ? "empty"
                                            : "more than a line");
    return true;
}

static bool name_check(const struct subject *subject, const char *name)
{
    if (!name)
        return complain(subject, ".name is missing; expected \"%s\", as in %s", subject->word,
                        subject->registry);
    if (strcmp(name, subject->word) != 0 && subject->outside)
        return complain(subject,
                        ".name is \"%s\"; expected \"%s\", as in the name of the struct, which "
                        "--name says or else the file's name",
                        name, subject->word);
    if (strcmp(name, subject->word) != 0)
        return complain(subject, ".name is \"%s\"; expected \"%s\", as in %s", name, subject->word,
                        subject->registry);
    if (!is_word(name) || strcmp(name, "serial") == 0 || strcmp(name, "elision") == 0)
        return complain(subject,
                        ".name is \"%s\"; expected a word of a-z, 0-9 and _, other than serial and "
                        "elision",
                        name);
    return true;
}

/* Required members ----------------------------------------------------------------------------- */

struct member {
    const char *name;
    bool is_there;
    const char *expected;
};

static bool members_check(const struct subject *subject, const struct member *member)
{
    for (; member->name; member++)
        if (!member->is_there)
            return complain(subject, ".%s is missing; expected %s, see %s", member->name,
                            member->expected, subject->contract);
    return true;
}

/* Knobs and parameters ------------------------------------------------------------------------- */

static int64_t words_count(const struct param *param)
{
    int64_t count = 0;
    while (param->words && param->words[count])
        count++;
    return count;
}

static bool words_check(const struct subject *subject, const char *before,
                        const struct param *param)
{
    int64_t count = words_count(param), last = param->words_base + count - 1;
    if (count == 0 && (param->words || !param_takes_numbers(param)))
        return complain(subject, "%s.words is empty; expected one word or more, then NULL", before);
    for (int64_t i = 0; i < count; i++) {
        const char *word = param->words[i];
        if (!isalpha((unsigned char)*word) || strpbrk(word, ",=/ "))
            return complain(subject,
                            "%s.words has \"%s\"; expected a letter first and none of \",=/ \"",
                            before, word);
        for (int64_t k = 0; k < i; k++)
            if (strcmp(word, param->words[k]) == 0)
                return complain(subject, "%s.words has \"%s\" twice; expected each once", before,
                                word);
    }
    if (count > 0 && param_takes_numbers(param) && last >= param->min &&
        param->words_base <= param->max)
        return complain(subject,
                        "%s.words_base is %" PRId64 "; expected values of words outside the "
                        "numbers, %" PRId64 " to %" PRId64,
                        before, param->words_base, param->min, param->max);
    return true;
}

static bool default_check(const struct subject *subject, const char *before,
                          const struct param *param)
{
    int64_t count = words_count(param), index = param->def - param->words_base;
    if (count > 0 && index >= 0 && index < count)
        return true;
    if (!param_takes_numbers(param))
        return complain(subject,
                        "%s.def is %" PRId64 "; expected the index of a word, 0 to %" PRId64,
                        before, param->def, count - 1);
    if (param->min > param->max)
        return complain(subject, "%s.min is %" PRId64 "; expected no more than .max, %" PRId64,
                        before, param->min, param->max);
    if (param->def < param->min || param->def > param->max)
        return complain(subject,
                        "%s.def is %" PRId64 "; expected a value of its range, %" PRId64
                        " to %" PRId64,
                        before, param->def, param->min, param->max);
    return true;
}

/* The table's name in subject, and what its rows describe. */
struct table {
    const char *name;
    const struct param *rows;
    size_t size;                /* of the struct with the values */
    const struct param *common; /* keys that are taken */
};

static bool place_check(const struct subject *subject, const char *before,
                        const struct table *table, const struct param *param)
{
    if (param->offset % _Alignof(int64_t) != 0 || param->offset + sizeof(int64_t) > table->size)
        return complain(subject,
                        "%s.offset is %zu; expected that of an int64_t in the struct of .%s_size = "
                        "%zu bytes",
                        before, param->offset, table->name, table->size);
    for (const struct param *other = table->rows; other < param; other++) {
        if (strcmp(param_key(other), param_key(param)) == 0)
            return complain(subject, "%s is there twice; expected each key once", before);
        if (other->offset == param->offset)
            return complain(subject, "%s has the field of \"%s\"; expected a field of its own",
                            before, param_key(other));
    }
    if (param_find(table->common, param_key(param)))
        return complain(subject, "%s is a setting that all variants have; expected another name",
                        before);
    return true;
}

static bool param_check(const struct subject *subject, const struct table *table,
                        const struct param *param)
{
    char before[128];
    const struct shown shown[] = {
        {"unit", param->unit}, {"source", param->source}, {"help", param->help}, {0}};
    snprintf(before, sizeof before, ".%s \"%s\"", table->name, param_key(param));
    if (!is_word(param_key(param)))
        return complain(subject, "%s: expected a key of a-z, 0-9 and _", before);
    return lines_check(subject, before, shown) && words_check(subject, before, param) &&
           default_check(subject, before, param) && place_check(subject, before, table, param);
}

static bool table_check(const struct subject *subject, const struct table *table)
{
    size_t count = 0;
    for (const struct param *param = table->rows; param->name; param++) {
        if (++count > KNOBS_MAX)
            return complain(subject, ".%s has more than %d rows; is {0} missing at its end?",
                            table->name, KNOBS_MAX);
        if (!param_check(subject, table, param))
            return false;
    }
    return true;
}

/* check() on the defaults. */
static bool defaults_check(const struct subject *subject, const struct table *table,
                           const char *(*check)(const void *values))
{
    if (!check)
        return true;
    void *values = xcalloc(1, table->size + 1);
    params_set_defaults(values, table->rows);
    const char *wrong = check(values);
    bool ok = !wrong || complain(subject, ".check refuses the defaults: %s", wrong);
    free(values);
    return ok;
}

static bool moot_check(const struct subject *subject, const struct sched_ops *ops)
{
    char lacks[128];
    for (const struct param_moot *row = ops->moot; row && row->keys; row++) {
        if (!row->when || !is_line(row->why))
            return complain(subject, ".moot \"%s\": expected .when and .why", row->keys);
        if (!void_knob_row_fits(row, ops->knobs, lacks, sizeof lacks))
            return complain(subject, ".moot names \"%s\"; expected keys and words of .knobs",
                            lacks);
    }
    return true;
}

/* Variants ------------------------------------------------------------------------------------- */

struct only_runtime {
    struct runtime_knobs runtime;
};
static const struct param runtime_knobs[] = {RUNTIME_KNOBS(struct only_runtime, runtime), {0}};

/* The runtime reads its knobs at the beginning of the struct. Where workers go idle and wake each
 * other all of them matter, and must be there to be set. */
static bool runtime_check(const struct subject *subject, const struct sched_ops *ops)
{
    for (const struct param *knob = runtime_knobs; knob->name; knob++) {
        const struct param *param = param_find(ops->knobs, param_key(knob));
        if (!param && !ops->blocks && !ops->single_threaded)
            return complain(subject,
                            ".knobs has no \"%s\"; expected RUNTIME_KNOBS(OWNER, FIELD), for the "
                            "runtime serves this variant by them",
                            param_key(knob));
        if (param && param->offset != knob->offset)
            return complain(subject,
                            ".knobs \"%s\".offset is %zu; expected %zu: the struct begins with "
                            "struct runtime_knobs",
                            param_key(param), param->offset, knob->offset);
    }
    for (const struct param *param = ops->knobs; param->name; param++)
        if (param->offset < sizeof(struct runtime_knobs) &&
            !param_find(runtime_knobs, param_key(param)))
            return complain(subject,
                            ".knobs \"%s\".offset is %zu; expected %zu or more: the struct begins "
                            "with struct runtime_knobs",
                            param_key(param), param->offset, sizeof(struct runtime_knobs));
    return true;
}

static bool variant_check(const struct subject *subject, const struct sched_ops *ops,
                          const struct param *common)
{
    const struct shown shown[] = {{"idea", ops->idea}, {"source", ops->source}, {0}};
    const struct member members[] = {
        {"knobs", ops->knobs, "a table, {{0}} if there are none"},
        {"knobs_size", ops->knobs_size >= sizeof(struct runtime_knobs),
         "the size of a struct that begins with struct runtime_knobs"},
        {"limit_reason", !ops->live_gs_max || is_line(ops->limit_reason),
         "the reason of .live_gs_max in a line"},
        {"ready", ops->ready, "a function"},
        {"pick", ops->pick, "a function"},
        {"has_work", ops->has_work || ops->blocks, "a function, or .blocks"},
        {0},
    };
    const struct table table = {"knobs", ops->knobs, ops->knobs_size, common};
    return name_check(subject, ops->name) && lines_check(subject, "", shown) &&
           members_check(subject, members) && table_check(subject, &table) &&
           runtime_check(subject, ops) && moot_check(subject, ops) &&
           defaults_check(subject, &table, ops->check);
}

/* All that it lacks, so that an author is told once. */
static bool queue_check(const struct subject *subject, const struct runq_ops *queue)
{
    if (!queue)
        return true;
    const struct member members[] = {{"size", queue->size > 0, NULL}, {"put", queue->put, NULL},
                                     {"get", queue->get, NULL},       {"steal", queue->steal, NULL},
                                     {"length", queue->length, NULL}, {0}};
    char lacks[64] = "";
    for (const struct member *member = members; member->name; member++)
        if (!member->is_there)
            text_add(lacks, sizeof lacks, "%s%s", *lacks ? ", " : "", member->name);
    return !*lacks ||
           complain(subject,
                    ": its struct runq_ops lacks %s; required are size, put, get, steal and "
                    "length, see sched_variants/runtime/runq.h",
                    lacks);
}

/* Workloads ------------------------------------------------------------------------------------ */

static bool style_check(const struct subject *subject, enum workload_style style, bool forks)
{
    return (style == STYLE_FORKJOIN) == forks ||
           complain(subject, ".style is %s; expected %s, since its file opens %s of fork/join",
                    forks ? "STYLE_GOROUTINE" : "STYLE_FORKJOIN",
                    forks ? "STYLE_FORKJOIN" : "STYLE_GOROUTINE", forks ? "frames" : "no frame");
}

static bool workload_check(const struct subject *subject, const struct workload *workload)
{
    const struct shown shown[] = {
        {"idea", workload->idea}, {"op", workload->op}, {"source", workload->source}, {0}};
    const struct member members[] = {
        {"params", workload->params, "a table, {{0}} if there are none"},
        {"live_gs_max", workload->live_gs_max, "a function"},
        {"init", workload->init, "a function"},
        {"run", workload->run, "a function"},
        {"run_serial", workload->run_serial || workload->style != STYLE_FORKJOIN,
         "a function, with STYLE_FORKJOIN"},
        {"verify", workload->verify, "a function"},
        {"fini", workload->fini, "a function"},
        {0},
    };
    const struct table table = {"params", workload->params, workload->params_size, NULL};
    return name_check(subject, workload->name) && lines_check(subject, "", shown) &&
           members_check(subject, members) && table_check(subject, &table) &&
           defaults_check(subject, &table, workload->check);
}

/* Both registries ------------------------------------------------------------------------------ */

/* The i-th word of a registry of `what`: it is there once. */
static bool word_check(struct subject *subject, const char *const *words, size_t i,
                       const char *what)
{
    subject->word = words[i];
    snprintf(subject->place, sizeof subject->place, "%s", subject->registry);
    for (size_t k = 0; k < i; k++)
        if (strcmp(words[k], words[i]) == 0)
            return complain(subject, ": X(%s) is there twice; expected each %s once", words[i],
                            what);
    return true;
}

static bool variants_check(const struct registry *registry, struct subject *subject)
{
    subject->registry = "sched_variants/registry.c";
    subject->contract = "sched_variants/sched.h";
    for (size_t i = 0; registry->variants[i]; i++) {
        if (!word_check(subject, registry->variant_words, i, "variant"))
            return false;
        const char *word = subject->word, *from = registry->from ? registry->from[i] : NULL;
        subject->outside = from;
        if (from)
            snprintf(subject->place, sizeof subject->place, "%s: %s_ops", from, word);
        else
            snprintf(subject->place, sizeof subject->place, "sched_variants/%s/%s.c: %s_ops", word,
                     word, word);
        const struct sched_ops *ops = registry->variants[i];
        if (!variant_check(subject, ops, registry->common) ||
            !queue_check(subject, registry->queue ? registry->queue(ops) : NULL))
            return false;
    }
    return true;
}

static bool workloads_check(const struct registry *registry, struct subject *subject)
{
    subject->registry = "workloads/registry.c";
    subject->contract = "workloads/workload.h";
    for (size_t i = 0; registry->workloads[i]; i++) {
        if (!word_check(subject, registry->workload_words, i, "workload"))
            return false;
        const char *word = subject->word;
        if (text_is_word(word, registry->variant_words))
            return complain(subject, ": X(%s) is a variant too; expected another name", word);
        const char *from = registry->workloads_from ? registry->workloads_from[i] : NULL;
        subject->outside = from;
        if (from)
            snprintf(subject->place, sizeof subject->place, "%s: workload_%s", from, word);
        else
            snprintf(subject->place, sizeof subject->place, "workloads/%s.c: workload_%s", word,
                     word);
        const struct workload *workload = registry->workloads[i];
        if (!workload_check(subject, workload) ||
            (registry->forks && !style_check(subject, workload->style, registry->forks[i])))
            return false;
    }
    return true;
}

bool registry_check(const struct registry *registry, struct error *error)
{
    struct subject subject = {.error = error};
    return variants_check(registry, &subject) && workloads_check(registry, &subject);
}
