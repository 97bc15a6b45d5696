/* test_registry.c - a variant or workload that is not filled in is found before anything runs. */
#include "harness/spec/registry_check.h"
#include "harness/spec/spec.h"
#include "runtime/runq.h"
#include "tests/support/support.h"
#include "workloads/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 57 };

struct knobs {
    struct runtime_knobs runtime;
    int64_t number, word;
};

static const char *const good_words[] = {"left", "right", NULL};

/* A variant and a workload of which everything is right; each test breaks one thing. */
static struct sched_ops ops, other_ops;
static struct workload workload;
static const struct runq_ops *queue; /* NULL: the variant is more than a queue */
static struct param knobs[ROWS], params[ROWS];

static const struct param_moot runtime_moot[] = {RUNTIME_MOOT, {0}};

enum { ROW_NUMBER, ROW_WORD, ROW_SPINNERS };

static const char *refuse(const void *values)
{
    (void)values;
    return "number must be odd";
}

static int set_up(void **state)
{
    (void)state;
    const struct param good[] = {
        PARAM_NUMBER(struct knobs, number, 5, 0, 10, "Gs", "schedlab", "a number"),
        PARAM_WORD(struct knobs, word, good_words, 1, "schedlab", "a word"),
        RUNTIME_KNOBS(struct knobs, runtime),
        {0},
    };
    _Static_assert(sizeof good <= sizeof knobs, "room for the table");
    memcpy(knobs, good, sizeof good);
    memset(params, 0, sizeof params);
    memcpy(params, good, 2 * sizeof *good);
    ops = *support_variant("grq");
    ops.name = "mine";
    ops.knobs = knobs;
    ops.knobs_size = sizeof(struct knobs);
    ops.moot = runtime_moot;
    other_ops = *support_variant("gmp");
    workload = *workloads[0];
    workload.name = "load";
    workload.params = params;
    workload.params_size = sizeof(struct knobs);
    workload.check = NULL;
    queue = NULL;
    return 0;
}

/* The queue of `ops`, where it is a queue alone. */
static const struct runq_ops *queue_of(const struct sched_ops *of)
{
    return of == &ops ? queue : NULL;
}

static bool check(const char *first, const char *second, const char *third, struct error *error)
{
    const struct sched_ops *const variants[] = {&ops, &other_ops, NULL};
    const char *const variant_words[] = {first, second, NULL};
    const struct workload *const all_workloads[] = {&workload, NULL};
    const char *const words[] = {third, NULL};
    const struct registry registry = {.variants = variants,
                                      .variant_words = variant_words,
                                      .workloads = all_workloads,
                                      .workload_words = words,
                                      .queue = queue_of,
                                      .common = variant_common_params};
    return registry_check(&registry, error);
}

/* One line that begins with the place and holds the part. */
static void assert_wrong_at(const char *error, const char *place, const char *part)
{
    if (strncmp(error, place, strlen(place)) != 0 || !strstr(error, part) || strchr(error, '\n'))
        fail_msg("\"%s\" should be one line that begins \"%s\" and has \"%s\"", error, place, part);
}

static void assert_variant_wrong(const char *field, const char *part)
{
    char place[128];
    struct error error = {0};
    assert_false(check("mine", "gmp", "load", &error));
    snprintf(place, sizeof place, "sched_variants/mine/mine.c: mine_ops%s", field);
    assert_wrong_at(error.text, place, part);
    set_up(NULL);
}

static void assert_workload_wrong(const char *field, const char *part)
{
    char place[128];
    struct error error = {0};
    assert_false(check("mine", "gmp", "load", &error));
    snprintf(place, sizeof place, "workloads/load.c: workload_load%s", field);
    assert_wrong_at(error.text, place, part);
    set_up(NULL);
}

static void what_is_there_is_right(void **state)
{
    struct error error = {0};
    const struct registry registry = {.variants = sched_variants,
                                      .variant_words = sched_variant_words,
                                      .workloads = workloads,
                                      .workload_words = workload_words,
                                      .common = variant_common_params};
    (void)state;
    if (!registry_check(&registry, &error) || !check("mine", "gmp", "load", &error))
        fail_msg("%s", error.text);
}

static void names_are_the_words_of_the_registry(void **state)
{
    (void)state;
    ops.name = NULL;
    assert_variant_wrong(".name is missing", "expected \"mine\", as in sched_variants/registry.c");
    ops.name = "mien";
    assert_variant_wrong(".name is \"mien\"", "expected \"mine\"");
    workload.name = NULL;
    assert_workload_wrong(".name is missing", "expected \"load\", as in workloads/registry.c");
    workload.name = "fib\n";
    assert_workload_wrong(".name is \"fib?\"", "expected \"load\"");
}

static void names_are_there_once(void **state)
{
    struct error error;
    (void)state;
    assert_false(check("mine", "mine", "load", &error));
    assert_wrong_at(error.text, "sched_variants/registry.c: X(mine)", "twice");
    workload.name = "mine";
    assert_false(check("mine", "gmp", "mine", &error));
    assert_wrong_at(error.text, "workloads/registry.c: X(mine)", "a variant too");
    ops.name = "serial";
    assert_false(check("serial", "gmp", "load", &error));
    assert_wrong_at(error.text, "sched_variants/serial/serial.c: serial_ops.name",
                    "other than serial");
    ops.name = "elision";
    assert_false(check("elision", "gmp", "load", &error));
    assert_wrong_at(error.text, "sched_variants/elision/elision.c: elision_ops.name",
                    "and elision");
    ops.name = "Mine,too";
    assert_false(check("Mine,too", "gmp", "load", &error));
    assert_wrong_at(error.text, "sched_variants/Mine,too", "a word of a-z");
}

static void texts_that_lists_show_are_there(void **state)
{
    (void)state;
    ops.idea = NULL;
    assert_variant_wrong(".idea is missing", "one line of text");
    ops.source = "";
    assert_variant_wrong(".source is empty", "one line of text");
    ops.live_gs_max = 10;
    ops.limit_reason = NULL;
    assert_variant_wrong(".limit_reason is missing", "live_gs_max");
    workload.idea = "two\nlines";
    assert_workload_wrong(".idea is more than a line", "one line of text");
    workload.op = NULL;
    assert_workload_wrong(".op is missing", "one line of text");
    workload.source = NULL;
    assert_workload_wrong(".source is missing", "one line of text");
}

static void functions_that_must_be_there_are(void **state)
{
    (void)state;
    ops.ready = NULL;
    assert_variant_wrong(".ready is missing", "expected a function, see sched_variants/sched.h");
    ops.pick = NULL;
    assert_variant_wrong(".pick is missing", "expected a function");
    ops.has_work = NULL;
    assert_variant_wrong(".has_work is missing", "or .blocks");
    queue = &(const struct runq_ops){.size = sizeof(int)};
    assert_variant_wrong(": its struct runq_ops lacks put, get, steal, length;",
                         "see sched_variants/runtime/runq.h");
    workload.live_gs_max = NULL;
    assert_workload_wrong(".live_gs_max is missing", "see workloads/workload.h");
    workload.init = NULL;
    assert_workload_wrong(".init is missing", "expected a function");
    workload.run = NULL;
    assert_workload_wrong(".run is missing", "expected a function");
    workload.style = STYLE_FORKJOIN;
    workload.run_serial = NULL;
    assert_workload_wrong(".run_serial is missing", "STYLE_FORKJOIN");
    workload.verify = NULL;
    assert_workload_wrong(".verify is missing", "expected a function");
    workload.fini = NULL;
    assert_workload_wrong(".fini is missing", "expected a function");
}

static void knobs_begin_with_those_of_the_runtime(void **state)
{
    (void)state;
    ops.knobs = NULL;
    assert_variant_wrong(".knobs is missing", "{{0}} if there are none");
    ops.knobs_size = 8;
    assert_variant_wrong(".knobs_size is missing", "begins with struct runtime_knobs");
    knobs[ROW_SPINNERS] = (struct param){.name = NULL};
    assert_variant_wrong(".knobs has no \"spinners\"", "RUNTIME_KNOBS");
    knobs[ROW_SPINNERS].offset = offsetof(struct knobs, word);
    knobs[ROW_WORD].offset = 0;
    char part[64];
    snprintf(part, sizeof part, ".knobs \"spinners\".offset is %zu", offsetof(struct knobs, word));
    assert_variant_wrong(part, "expected 0");
    knobs[ROW_SPINNERS].name = "other";
    ops.blocks = true;
    snprintf(part, sizeof part, "expected %zu or more", sizeof(struct runtime_knobs));
    assert_variant_wrong(".knobs \"other\".offset is 0", part);
    struct error error;
    knobs[ROW_SPINNERS] = (struct param){.name = NULL};
    ops.blocks = true;
    ops.moot = NULL;
    assert_true(check("mine", "gmp", "load", &error));
}

static void moot_knobs_and_their_reasons_are_in_the_table(void **state)
{
    (void)state;
    struct param_moot moot[] = {{"word=left number", "wake=none", "where it is"}, {0}};
    struct error error;
    ops.moot = moot;
    assert_true(check("mine", "gmp", "load", &error));
    moot->keys = "number wrd";
    assert_variant_wrong(".moot names \"wrd\"", "keys and words of .knobs");
    ops.moot = moot;
    moot->keys = "number word=lefd";
    assert_variant_wrong(".moot names \"word=lefd\"", "keys and words of .knobs");
    ops.moot = moot;
    moot->keys = "number";
    moot->when = "calls=none|sometimes";
    assert_variant_wrong(".moot names \"calls=sometimes\"", "keys and words of .knobs");
    ops.moot = moot;
    moot->when = "wake=none";
    moot->why = "";
    assert_variant_wrong(".moot \"number\"", "expected .when and .why");
}

static void knobs_have_keys_fields_and_texts_of_their_own(void **state)
{
    (void)state;
    knobs[ROW_WORD].name = "number";
    assert_variant_wrong(".knobs \"number\" is there twice", "each key once");
    knobs[ROW_WORD].name = "malloc";
    assert_variant_wrong(".knobs \"malloc\"", "all variants have");
    knobs[ROW_WORD].name = "two words";
    assert_variant_wrong(".knobs \"two words\"", "a key of a-z");
    knobs[ROW_WORD].offset = knobs[ROW_NUMBER].offset;
    assert_variant_wrong(".knobs \"word\" has the field of \"number\"", "of its own");
    knobs[ROW_WORD].offset = sizeof(struct knobs);
    char part[64];
    snprintf(part, sizeof part, ".knobs_size = %zu bytes", sizeof(struct knobs));
    assert_variant_wrong(".knobs \"word\".offset is", part);
    knobs[ROW_NUMBER].unit = NULL;
    assert_variant_wrong(".knobs \"number\".unit is missing", "one line");
    params[ROW_NUMBER].source = NULL;
    assert_workload_wrong(".params \"number\".source is missing", "one line");
    params[ROW_NUMBER].help = "";
    assert_workload_wrong(".params \"number\".help is empty", "one line");
    params[ROW_WORD].name = "number";
    assert_workload_wrong(".params \"number\" is there twice", "each key once");
}

static void defaults_are_valid(void **state)
{
    static const char *const twice[] = {"left", "left", NULL}, *const none[] = {NULL},
                             *const number[] = {"1st", NULL};
    (void)state;
    knobs[ROW_NUMBER].def = 11;
    assert_variant_wrong(".knobs \"number\".def is 11", "0 to 10");
    knobs[ROW_NUMBER].min = 11;
    assert_variant_wrong(".knobs \"number\".min is 11", "no more than .max, 10");
    knobs[ROW_WORD].def = 2;
    assert_variant_wrong(".knobs \"word\".def is 2", "index of a word, 0 to 1");
    knobs[ROW_WORD].words = NULL;
    assert_variant_wrong(".knobs \"word\".words is empty", "one word or more");
    knobs[ROW_WORD].words = none;
    assert_variant_wrong(".knobs \"word\".words is empty", "one word or more");
    knobs[ROW_WORD].words = twice;
    assert_variant_wrong(".knobs \"word\".words has \"left\" twice", "each once");
    knobs[ROW_WORD].words = number;
    assert_variant_wrong(".knobs \"word\".words has \"1st\"", "a letter first");
    knobs[ROW_NUMBER].words = good_words;
    assert_variant_wrong(".knobs \"number\".words_base is 0", "outside the numbers, 0 to 10");
    params[ROW_NUMBER].def = -1;
    assert_workload_wrong(".params \"number\".def is -1", "0 to 10");
    ops.check = refuse;
    assert_variant_wrong(".check refuses the defaults", "number must be odd");
    workload.check = refuse;
    assert_workload_wrong(".check refuses the defaults", "number must be odd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_there_is_right, set_up),
        cmocka_unit_test_setup(names_are_the_words_of_the_registry, set_up),
        cmocka_unit_test_setup(names_are_there_once, set_up),
        cmocka_unit_test_setup(texts_that_lists_show_are_there, set_up),
        cmocka_unit_test_setup(functions_that_must_be_there_are, set_up),
        cmocka_unit_test_setup(knobs_begin_with_those_of_the_runtime, set_up),
        cmocka_unit_test_setup(moot_knobs_and_their_reasons_are_in_the_table, set_up),
        cmocka_unit_test_setup(knobs_have_keys_fields_and_texts_of_their_own, set_up),
        cmocka_unit_test_setup(defaults_are_valid, set_up),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
