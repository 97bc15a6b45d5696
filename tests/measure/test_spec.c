/* test_spec.c - specifications: numbers, canonical text, and messages that name what is valid. */
#include "harness/base/suggest.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/promises.h"
#include "harness/spec/spec.h"
#include "preset.h"
#include "sched.h"
#include "workloads/workload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_SIZE = 1024 };

static char *variant_canonical(const char *text)
{
    struct variant_spec spec;
    struct error error;
    if (!variant_spec_parse(&spec, text, &error))
        fail_msg("%s", error.text);
    char *canonical = strdup(spec.text);
    variant_spec_free(&spec);
    return canonical;
}

static void assert_canonical(const char *text, const char *expected)
{
    char *canonical = variant_canonical(text);
    assert_string_equal(canonical, expected);
    free(canonical);
}

/* One line that holds both parts. */
static void assert_complaint(const char *error, const char *part, const char *other)
{
    if (!strstr(error, part) || !strstr(error, other) || strchr(error, '\n'))
        fail_msg("\"%s\" should be one line with \"%s\" and \"%s\"", error, part, other);
}

static void assert_variant_wrong(const char *text, const char *part, const char *other)
{
    struct variant_spec spec;
    struct error error = {0};
    assert_false(variant_spec_parse(&spec, text, &error));
    assert_complaint(error.text, part, other);
    assert_null(spec.knobs);
    assert_null(spec.text);
}

static void assert_workload_wrong(const char *text, const char *part, const char *other)
{
    struct workload_spec spec;
    struct error error = {0};
    assert_false(workload_spec_parse(&spec, text, &error));
    assert_complaint(error.text, part, other);
}

/* Distance ------------------------------------------------------------------------------------ */

static void distance_counts_edits(void **state)
{
    (void)state;
    assert_int_equal(suggest_distance("", ""), 0);
    assert_int_equal(suggest_distance("", "abc"), 3);
    assert_int_equal(suggest_distance("abc", ""), 3);
    assert_int_equal(suggest_distance("kitten", "sitting"), 3);
    assert_int_equal(suggest_distance("gpm", "gmp"), 1);
    assert_int_equal(suggest_distance("ca", "abc"), 3);
    assert_int_equal(suggest_distance("papi_l1_dcm", "PAPI_L1_DCM"), 0);
}

static void distance_is_symmetric(void **state)
{
    static const char *const words[] = {"gmp", "grq", "tasksteal", "contsteal", "runnext_cap", "x"};
    enum { WORDS = sizeof words / sizeof words[0] };
    (void)state;
    for (int i = 0; i < WORDS; i++)
        for (int j = 0; j < WORDS; j++)
            assert_int_equal(suggest_distance(words[i], words[j]),
                             suggest_distance(words[j], words[i]));
}

static void distance_survives_long_words(void **state)
{
    char word[2000];
    (void)state;
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    assert_int_equal(suggest_distance(word, ""), 255);
    assert_int_equal(suggest_distance(word, word), 0);
}

/* Suggestions --------------------------------------------------------------------------------- */

static void nearness_is_a_slip_or_an_abbreviation(void **state)
{
    static const struct {
        const char *a, *b;
        bool near;
    } cases[] = {
        {"gpm", "gmp", true},
        {"fibb", "fib", true},
        {"m", "M", true},
        {"contstael", "contsteal", true},
        {"task", "tasksteal", true},
        {"fibonacci", "fib", true},
        {"m", "n", false},
        {"", "gmp", false},
        {"cilk", "static", false},
        {"xyz", "gmp", false},
        {"t", "tasksteal", false},
        {"all", "ALLOC_MAB_COUNT", false},
        {"abcd", "dcba", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (suggest_is_near(cases[i].a, cases[i].b) != cases[i].near ||
            suggest_is_near(cases[i].b, cases[i].a) != cases[i].near)
            fail_msg("%s and %s are%s near", cases[i].a, cases[i].b, cases[i].near ? "" : " not");
    }
}

static struct advice suggestion_of(const char *word, int count)
{
    static char names[SUGGEST_LISTED_MAX + 3][16];
    struct suggest near = suggest_for(word);
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "name%02d", i);
        suggest_offer(&near, names[i]);
    }
    return suggest_text(&near, "--", "the list");
}

static void what_is_far_off_gets_a_list(void **state)
{
    (void)state;
    assert_string_equal(suggestion_of("name01", 3).s, "the nearest is \"--name01\"");
    assert_string_equal(suggestion_of("gizmo", 3).s, "valid: --name00, --name01, --name02");
    struct advice all = suggestion_of("gizmo", SUGGEST_LISTED_MAX);
    assert_non_null(strstr(all.s, "--name19"));
    assert_null(strstr(all.s, "more"));
    struct advice first = suggestion_of("gizmo", SUGGEST_LISTED_MAX + 3);
    assert_non_null(strstr(first.s, "--name19 and 3 more, see the list"));
    assert_null(strstr(first.s, "--name20"));
}

/* "task" is an abbreviation of the second, and at a smaller distance from the first. */
static void an_abbreviation_comes_before_a_shorter_way(void **state)
{
    struct suggest near = suggest_for("task");
    (void)state;
    suggest_offer(&near, "gmp");
    suggest_offer(&near, "tasksteal");
    suggest_offer(&near, "grq");
    assert_string_equal(near.best, "tasksteal");
}

/* Numbers ------------------------------------------------------------------------------------- */

static void numbers_have_suffixes(void **state)
{
    static const struct {
        const char *text, *unit;
        int64_t value;
    } cases[] = {
        {"0", "1", 0},
        {"-7", "1", -7},
        {"1k", "1", 1000},
        {"3M", "1", 3000000},
        {"2G", "1", 2000000000},
        {"64Ki", "bytes", 65536},
        {"64KiB", "bytes", 65536},
        {"1Mi", "bytes", 1 << 20},
        {"1GiB", "bytes", 1 << 30},
        {"7B", "bytes", 7},
        {"2KiB", NULL, 2048},
        {"2us", NULL, 2000},
        {"5us", "ns", 5000},
        {"5ms", "ns", 5000000},
        {"2s", "ns", INT64_C(2000000000)},
        {"9ns", "ns", 9},
        {"9223372036854775807", "1", INT64_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value;
        if (!spec_parse_number(cases[i].text, cases[i].unit, &value))
            fail_msg("%s is a number", cases[i].text);
        assert_int_equal(value, cases[i].value);
    }
}

static void not_numbers_are_refused(void **state)
{
    static const struct {
        const char *text, *unit;
    } cases[] = {
        {"", "1"},
        {"-", "1"},
        {"k", "1"},
        {"1K", "1"},
        {"1kk", "1"},
        {"1.5", "1"},
        {"0x10", "1"},
        {" 1", "1"},
        {"1 ", "1"},
        {"+1", "1"},
        {"1s", "1"},
        {"1s", "bytes"},
        {"1KiB", "1"},
        {"1KiB", "ns"},
        {"1B", "Gs"},
        {"1e3", "1"},
        {"1,5", "1"},
        {"9223372036854775808", "1"},
        {"10000000000G", "1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value;
        if (spec_parse_number(cases[i].text, cases[i].unit, &value))
            fail_msg("\"%s\" is no number", cases[i].text);
    }
}

/* Canonical text ------------------------------------------------------------------------------ */

static void canonical_text_leaves_defaults_out(void **state)
{
    (void)state;
    assert_canonical("gmp", "gmp");
    assert_canonical("gmp,tick=61", "gmp");
    assert_canonical("gmp,runnext=on,tick=61", "gmp");
    assert_canonical("serial", "serial");
    assert_canonical("elision", "elision");
}

static void canonical_text_is_in_table_order(void **state)
{
    (void)state;
    assert_canonical("gmp,tick=64,runnext=off", "gmp,runnext=off,tick=64");
    assert_canonical("gmp,runnext=off,tick=64", "gmp,runnext=off,tick=64");
}

static void canonical_text_has_plain_numbers_and_words(void **state)
{
    (void)state;
    assert_canonical("gmp,ring=1Ki", "gmp,ring=1024");
    assert_canonical("gmp,spin_ns=2us", "gmp,spin_ns=2000");
    assert_canonical("gmp,tick=random", "gmp,tick=random");
}

/* A value of the table, spelled out, means itself, whatever the owner's check() says about it. */
static void assert_round_trip(const char *name, const struct param *param, int64_t value)
{
    char text[1024];
    struct error error;
    struct variant_spec spec, again;
    snprintf(text, sizeof text, "%s,%s=%s", name, param_key(param),
             param_value_text(param, value).s);
    if (!variant_spec_parse(&spec, text, &error)) {
        if (strstr(error.text, "valid: ") && strstr(error.text, " is not valid; "))
            fail_msg("%s", error.text);
        return;
    }
    assert_int_equal(*param_field(spec.knobs, param), value);
    assert_true(variant_spec_parse(&again, spec.text, &error));
    assert_string_equal(spec.text, again.text);
    assert_memory_equal(spec.knobs, again.knobs, spec.ops->knobs_size);
    variant_spec_free(&spec);
    variant_spec_free(&again);
}

static void every_knob_reads_its_whole_range(void **state)
{
    (void)state;
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        for (const struct param *param = ops->knobs; param && param->name; param++) {
            assert_round_trip(ops->name, param, param->def);
            if (strcmp(param->unit, "word") != 0) {
                assert_round_trip(ops->name, param, param->min);
                assert_round_trip(ops->name, param, param->max);
            }
            int64_t value = param->words_base;
            for (const char *const *word = param->words; word && *word; word++)
                assert_round_trip(ops->name, param, value++);
        }
    }
}

static void every_default_is_valid(void **state)
{
    (void)state;
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        assert_canonical(ops->name, ops->name);
    for (const struct workload *const *at = workloads; *at; at++) {
        struct workload_spec spec;
        struct error error;
        if (!workload_spec_parse(&spec, (*at)->name, &error))
            fail_msg("%s", error.text);
        assert_string_equal(spec.text, (*at)->name);
        workload_spec_free(&spec);
    }
}

static void common_settings_come_last_and_only_if_changed(void **state)
{
    (void)state;
    assert_canonical("gmp,malloc=jemalloc", "gmp");
    assert_canonical("gmp,malloc=glibc", "gmp,malloc=glibc");
    assert_canonical("gmp,malloc=glibc,tick=64", "gmp,tick=64,malloc=glibc");
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s,malloc=glibc", ops->name);
        if (peer_is(ops))
            assert_variant_wrong(text, "unknown knob \"malloc\"", "it has none");
        else
            assert_canonical(text, text);
    }
    assert_variant_wrong("gmp,maloc=glibc", "gmp: unknown knob \"maloc\"", "\"malloc\"");
    assert_variant_wrong("gmp,malloc=glib", "gmp: malloc=glib is not valid",
                         "valid: jemalloc, glibc");
    assert_variant_wrong("gmp,malloc=glibc,malloc=glibc", "gmp: malloc is given twice", "");
    assert_workload_wrong("fib,malloc=glibc", "fib: unknown parameter \"malloc\"",
                          "valid: n, spawn");
}

static void json_of_settings_has_knobs_and_common_ones(void **state)
{
    struct variant_spec spec;
    struct error error;
    (void)state;
    assert_true(variant_spec_parse(&spec, "gmp,tick=64,malloc=glibc", &error));
    json_t *object = variant_settings_to_json(&spec);
    assert_string_equal(json_string_value(json_object_get(object, "malloc")), "glibc");
    assert_int_equal(json_integer_value(json_object_get(object, "tick")), 64);
    json_decref(object);
    variant_spec_free(&spec);
}

static void json_has_every_key_and_words_as_words(void **state)
{
    struct variant_spec spec;
    struct error error;
    (void)state;
    assert_true(variant_spec_parse(&spec, "gmp,tick=64,runnext=off", &error));
    json_t *object = params_to_json(spec.knobs, spec.ops->knobs);
    size_t count = 0;
    for (const struct param *param = spec.ops->knobs; param->name; param++)
        count++;
    assert_int_equal(json_object_size(object), count);
    assert_int_equal(json_integer_value(json_object_get(object, "tick")), 64);
    assert_string_equal(json_string_value(json_object_get(object, "runnext")), "off");
    assert_string_equal(json_string_value(json_object_get(object, "wake")), "chain");
    json_decref(object);
    variant_spec_free(&spec);
}

/* Mistakes ------------------------------------------------------------------------------------ */

static void unknown_names_get_the_nearest(void **state)
{
    (void)state;
    assert_variant_wrong("gpm", "unknown variant \"gpm\"", "\"gmp\"");
    assert_variant_wrong("tasksteel,x=1", "unknown variant \"tasksteel\"", "\"tasksteal\"");
    assert_variant_wrong("", "unknown variant \"\"", "valid: kthread, ");
    assert_variant_wrong("gmp,tik=64", "gmp: unknown knob \"tik\"", "\"tick\"");
    assert_variant_wrong("uthread,tick=64", "uthread: unknown knob \"tick\", a knob of perm, ",
                         "valid: sysmon, ");
    assert_workload_wrong("fibb", "unknown workload \"fibb\"", "\"fib\"");
    assert_workload_wrong("fib,nn=3", "fib: unknown parameter \"nn\"", "\"n\"");
}

static void names_far_off_get_all_that_are_valid(void **state)
{
    (void)state;
    assert_variant_wrong("xyz", "unknown variant \"xyz\"; valid: kthread, ", ", serial");
    assert_variant_wrong("gmp,zebra=1", "gmp: unknown knob \"zebra\"; valid: ", "tick, ");
    assert_variant_wrong("gmp,wake=sometimes", "wake=sometimes is not valid; valid: chain", "");
    assert_workload_wrong("zzz", "unknown workload \"zzz\"; valid: fib, ",
                          " more, see `schedlab list workloads`");
    assert_workload_wrong("fib,m=3", "fib: unknown parameter \"m\"; valid: n", "");
}

/* As `gmp tick=4`, or [gmp,tick=4] in YAML. */
static void settings_without_a_name_are_told(void **state)
{
    (void)state;
    assert_variant_wrong("tick=4", "\"tick=4\" is no variant", "NAME,tick=4");
    assert_workload_wrong("n=4", "\"n=4\" is no workload", "NAME,n=4");
}

static void wrong_values_get_the_range(void **state)
{
    (void)state;
    assert_variant_wrong("gmp,tick=1025", "gmp: tick=1025 is not valid", "0 to 1024");
    assert_variant_wrong("gmp,tick=-1", "gmp: tick=-1 is not valid", "0 to 1024");
    assert_variant_wrong("gmp,tick=rendom", "nearest is \"random\"", "0 to 1024");
    assert_variant_wrong("gmp,wake=chian", "nearest is \"chain\"", "valid: chain, all, none");
    assert_variant_wrong("gmp,wake=1", "gmp: wake=1 is not valid", "valid: chain, all, none");
    assert_variant_wrong("gmp,spin_ns=2h", "gmp: spin_ns=2h is not valid", "ns");
    assert_workload_wrong("fib,n=9999", "fib: n=9999 is not valid", "valid: 0 to");
}

static void malformed_settings_are_told(void **state)
{
    (void)state;
    assert_variant_wrong("gmp,tick", "gmp: tick has no value", "tick=VALUE");
    assert_variant_wrong("gmp,tick=", "gmp: tick has no value", "0 to 1024");
    assert_variant_wrong("gmp,", "gmp: a knob is missing", "KEY=VALUE");
    assert_variant_wrong("gmp,,tick=1", "gmp: a knob is missing", "KEY=VALUE");
    assert_variant_wrong("gmp,=1", "gmp: a knob is missing", "KEY=VALUE");
    assert_variant_wrong("gmp,tick=1,tick=2", "gmp: tick is given twice", "");
    assert_variant_wrong("gmp,ring=100", "gmp: ", "power of two");
    assert_variant_wrong("gmp,width=load,sysmon=off", "gmp: ", "width=load needs sysmon=on");
    assert_variant_wrong("perm,width=load,wake_delay_ns=1us", "perm: ", "no wake_delay_ns");
    assert_variant_wrong("gmp,width=load,wake=all", "gmp: ", "one worker at a time");
}

/* The line names the knob that changes nothing, and the setting that leaves it nothing to do. */
static void knobs_that_change_nothing_are_refused(void **state)
{
    (void)state;
    assert_variant_wrong("gmp,overflow_end=new,overflow=all",
                         "gmp: overflow=all changes nothing with overflow_end=new",
                         "where no part of the ring moves");
    assert_variant_wrong("perm,overflow_end=newest,overflow=all", "overflow_end=newest", "");
    assert_variant_wrong("gmp,runnext_wake=off,runnext=off",
                         "gmp: runnext_wake=off changes nothing with runnext=off, where", "");
    assert_variant_wrong("gmp,idle_mask=off,wake=none,spinners=none,recheck=none",
                         "idle_mask=off changes nothing with spinners=none,wake=none,recheck=none",
                         "where no worker searches");
    assert_variant_wrong("grq,call_long_ns=1ms", "call_long_ns=1000000 changes nothing",
                         "with calls=sysmon");
    assert_variant_wrong("static,preempt=coop,sysmon=off", "preempt=coop changes nothing", "");
    assert_canonical("gmp,runnext_wake=on,runnext=off,backoff_ns=3000", "gmp,runnext=off");
    assert_canonical("gmp,idle_mask=off,wake=all,spinners=none,recheck=none",
                     "gmp,idle_mask=off,spinners=none,wake=all,recheck=none");
    assert_canonical("static,preempt=none,sysmon=off", "static,sysmon=off,preempt=none");
}

/* Each row of each variant: with a value of each knob that it names, beside each of the values. */
static void assert_row_refuses(const struct sched_ops *ops, const struct param_moot *row,
                               const struct param *param, int64_t value)
{
    char when[256] = "", text[TEXT_SIZE];
    struct error error;
    struct variant_spec spec;
    for (const char *at = row->when; *at;) { /* the first word of each */
        size_t clause = strcspn(at, ","), first = strcspn(at, "|,");
        snprintf(when + strlen(when), sizeof when - strlen(when), ",%.*s", (int)first, at);
        at += clause + (at[clause] == ',');
    }
    snprintf(text, sizeof text, "%s%s,%s=%s", ops->name, when, param_key(param),
             param_value_text(param, value).s);
    if (variant_spec_parse(&spec, text, &error))
        fail_msg("%s is accepted", text);
    assert_non_null(strstr(error.text, " nothing with "));
}

static void every_row_of_moot_knobs_refuses(void **state)
{
    (void)state;
    for (size_t v = 0; sched_variants[v]; v++)
        for (const struct param_moot *row = sched_variants[v]->moot; row && row->keys; row++)
            for (const struct param *param = sched_variants[v]->knobs; param->name; param++) {
                char padded[256], key[128];
                snprintf(padded, sizeof padded, " %s ", row->keys);
                snprintf(key, sizeof key, " %s ", param_key(param));
                if (!strstr(padded, key) || strstr(row->when, param_key(param)))
                    continue;
                int64_t first = param->words ? param->words_base : param->min;
                assert_row_refuses(sched_variants[v], row, param,
                                   param->def == first ? first + 1 : first);
            }
}

/* Each is what it says: its variant with its settings, under a name of its own. */
static void every_preset_is_its_variant_with_its_settings(void **state)
{
    (void)state;
    assert_non_null(presets[0].name);
    for (const struct preset *preset = presets; preset->name; preset++) {
        char text[TEXT_SIZE];
        struct error error;
        struct variant_spec spec;
        snprintf(text, sizeof text, "%s,%s", preset->variant, preset->settings);
        assert_canonical(text, preset->name);
        assert_canonical(preset->name, preset->name);
        assert_true(variant_spec_parse(&spec, preset->name, &error));
        assert_string_equal(spec.ops->name, preset->variant);
        variant_spec_free(&spec);
        for (size_t i = 0; spec_variant(i); i++)
            assert_string_not_equal(preset->name, spec_variant(i)->name);
        assert_true(*preset->idea && *preset->source && *preset->left_out);
    }
}

static void settings_behind_a_preset_replace_its_own(void **state)
{
    (void)state;
    assert_canonical("tokio-1.50,tick=31,runnext_cap=0", "tokio-1.50,runnext_cap=0,tick=31");
    assert_canonical("tokio-1.50,tick=61,runnext_cap=3", "tokio-1.50");
    assert_canonical("tokio-1.50,runnext=off",
                     "gmp,runnext=off,victim=rotate,passes=1,yield=local,netpoll_place=local,"
                     "preempt=none,calls=immediate");
    assert_variant_wrong("tokio-1.50,runnext=off,runnext_cap=4", "runnext_cap=4 changes nothing",
                         "");
    assert_variant_wrong("tokio-1.50,ring=8,ring=16", "ring is given twice", "");
    assert_variant_wrong("tokio-1.50,nope=1", "unknown knob \"nope\"", "valid: ");
    assert_variant_wrong("tokio-1.5", "unknown variant", "nearest is \"tokio-1.50\"");
}

/* One text for one set of knobs, whatever it was made from, where one preset is the nearest. */
static void canonical_text_begins_with_what_is_nearest(void **state)
{
    (void)state;
    assert_canonical("tokio-1.50,backoff_ns=0,runnext_wake=on", "tokio-1.51");
    assert_canonical("tokio-1.50,backoff_ns=3000,runnext_wake=on", "tokio-1.51,backoff_ns=3000");
    assert_canonical("tokio-1.51,tick=64,take=one,ring=512",
                     "gmp,runnext_cap=3,tick=64,take=one,ring=512,victim=rotate,passes=1,"
                     "backoff_ns=0,yield=local,netpoll_place=local,preempt=none,calls=immediate");
    assert_canonical("gmp,look_ns=0,fence=submitter", "gmp,look_ns=0,fence=submitter");
    assert_canonical("gmp,backoff_ns=0", "gmp,backoff_ns=0");
    assert_canonical("perm,backoff_ns=0", "perm,backoff_ns=0");
}

/* Half way between two presets, a user finds again what was written. */
static void canonical_text_keeps_the_named_preset_of_two_as_near(void **state)
{
    (void)state;
    assert_canonical("tokio-1.51,runnext_wake=off", "tokio-1.51,runnext_wake=off");
    assert_canonical("tokio-1.50,backoff_ns=0", "tokio-1.50,backoff_ns=0");
    assert_canonical("tokio-1.51,tick=31,runnext_wake=off", "tokio-1.51,runnext_wake=off,tick=31");
    assert_canonical("tokio-1.51,runnext_wake=off,backoff_ns=never", "tokio-1.50");
}

static void promises_follow_the_knobs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct promises promised; /* hands off, preempts, polls, resizes, outside, helps */
    } rows[] = {
        {"gmp", {true, true, true, true, true, false}},
        {"gmp,preempt=coop", {true, false, true, true, true, false}},
        {"gmp,calls=none", {false, true, true, true, true, false}},
        {"gmp,sysmon=off", {false, false, true, true, true, false}},
        {"gmp,calls=immediate,sysmon=off", {true, false, true, true, true, false}},
        {"gmp,netpoll=call", {true, true, false, true, true, false}},
        {"uthread", {false, true, true, false, false, false}},
        {"static,preempt=none", {false, false, true, false, false, false}},
        {"tasksteal", {true, true, true, true, true, true}},
        {"kthread", {true, true, true, false, false, false}},
        {"peer:tbb", {true, true, true, true, true, true}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct variant_spec spec;
        struct error error;
        if (!variant_spec_parse(&spec, rows[i].text, &error))
            fail_msg("%s", error.text);
        struct promises found = promises_of(spec.ops, spec.knobs), wanted = rows[i].promised;
        if (found.hands_off != wanted.hands_off || found.preempts != wanted.preempts ||
            found.polls != wanted.polls || found.resizes != wanted.resizes ||
            found.outside != wanted.outside || found.helps != wanted.helps)
            fail_msg("%s: hands off %d, preempts %d, polls %d, resizes %d, outside %d, helps %d",
                     rows[i].text, found.hands_off, found.preempts, found.polls, found.resizes,
                     found.outside, found.helps);
        variant_spec_free(&spec);
    }
}

/* Numbers per worker --------------------------------------------------------------------------- */

static int64_t tasks_on(const struct workload_spec *spec, int64_t workers)
{
    struct error error;
    if (!workload_spec_set_workers(spec, workers, &error))
        fail_msg("%s", error.text);
    return *param_field(spec->params, param_find(spec->workload->params, "tasks"));
}

static void a_number_per_worker_grows_with_them(void **state)
{
    (void)state;
    struct workload_spec spec;
    struct error error;
    assert_true(workload_spec_parse(&spec, "uneven,rounds=5,tasks=10k/worker", &error));
    assert_string_equal(spec.text, "uneven,tasks=10000/worker,rounds=5"); /* though the default */
    assert_int_equal(tasks_on(&spec, 1), 10000);
    assert_int_equal(tasks_on(&spec, 64), 640000);
    assert_int_equal(tasks_on(&spec, 4), 40000);
    assert_string_equal(spec.text, "uneven,tasks=10000/worker,rounds=5");
    char *canonical = workload_spec_canonical(spec.text, &error);
    assert_string_equal(canonical, spec.text);
    free(canonical);
    workload_spec_free(&spec);
    assert_true(workload_spec_parse(&spec, "uneven,tasks=10", &error));
    assert_int_equal(tasks_on(&spec, 64), 10);
    workload_spec_free(&spec);
}

static void too_much_for_so_many_workers_is_told(void **state)
{
    (void)state;
    struct workload_spec spec;
    struct error error = {0};
    assert_true(workload_spec_parse(&spec, "uneven,tasks=10M/worker", &error));
    assert_false(workload_spec_set_workers(&spec, 64, &error));
    assert_complaint(error.text, "uneven: tasks=10000000/worker is not valid on 64 workers",
                     "valid in all: 1 to 100000000 tasks");
    workload_spec_free(&spec);
    /* 5 leaves are no power of 10: the workload's own check, of what it then is. */
    assert_true(workload_spec_parse(&spec, "skynet,leaves=10/worker", &error));
    assert_false(workload_spec_set_workers(&spec, 5, &error));
    assert_complaint(error.text, "skynet: ", " on 5 workers");
    workload_spec_free(&spec);
}

static void only_numbers_of_workloads_are_per_worker(void **state)
{
    (void)state;
    assert_workload_wrong("uneven,tasks=0/worker", "tasks=0/worker is not valid", "1 to 100000000");
    assert_workload_wrong("uneven,tasks=/worker", "tasks=/worker is not valid", "1 to 100000000");
    assert_workload_wrong("uneven,tasks=-1/worker", "tasks=-1/worker is not valid", "valid: 1 to");
    assert_workload_wrong("uneven,tasks=9/workers", "tasks=9/workers is not valid", "valid: 1 to");
    assert_workload_wrong("uneven,dist=rising/worker", "dist=rising/worker is not valid", "rising");
    assert_variant_wrong("gmp,ring=256/worker", "ring=256/worker is not valid", "valid: ");
}

static void kept_ones_are_parsed_once(void **state)
{
    (void)state;
    struct error none = {"untouched"};
    struct error error = {0};
    const struct variant_spec *variant = variant_spec_kept("gmp,tick=0x", &error);
    assert_null(variant);
    assert_complaint(error.text, "gmp: tick=0x is not valid", "valid: ");
    variant = variant_spec_kept("gmp,ring=256,tick=64", &none);
    assert_non_null(variant);
    assert_string_equal(variant->text, "gmp,tick=64");
    assert_ptr_equal(variant_spec_kept("gmp,ring=256,tick=64", &none), variant);
    assert_ptr_equal(variant_spec_kept("gmp,tick=64", &none), variant);
    assert_false(variant_spec_is_moot("gmp,tick=64", &none));
    /* Asked for many workers, it stays the same for those who ask next. */
    const char *text = "uneven,tasks=10M/worker";
    const struct workload_spec *workload = workload_spec_kept(text, &none);
    assert_true(workload_spec_fits(text, 4, &none));
    assert_false(workload_spec_fits(text, 64, &error));
    assert_complaint(error.text, "uneven: tasks=10000000/worker is not valid on 64 workers",
                     "valid");
    assert_ptr_equal(workload_spec_kept(text, &none), workload);
    assert_int_equal(
        *param_field(workload->params, param_find(workload->workload->params, "tasks")), 10000000);
    assert_string_equal(none.text, "untouched");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(distance_is_symmetric),
        cmocka_unit_test(distance_survives_long_words),
        cmocka_unit_test(nearness_is_a_slip_or_an_abbreviation),
        cmocka_unit_test(what_is_far_off_gets_a_list),
        cmocka_unit_test(an_abbreviation_comes_before_a_shorter_way),
        cmocka_unit_test(numbers_have_suffixes),
        cmocka_unit_test(not_numbers_are_refused),
        cmocka_unit_test(canonical_text_leaves_defaults_out),
        cmocka_unit_test(canonical_text_is_in_table_order),
        cmocka_unit_test(canonical_text_has_plain_numbers_and_words),
        cmocka_unit_test(every_knob_reads_its_whole_range),
        cmocka_unit_test(every_default_is_valid),
        cmocka_unit_test(common_settings_come_last_and_only_if_changed),
        cmocka_unit_test(json_of_settings_has_knobs_and_common_ones),
        cmocka_unit_test(json_has_every_key_and_words_as_words),
        cmocka_unit_test(unknown_names_get_the_nearest),
        cmocka_unit_test(names_far_off_get_all_that_are_valid),
        cmocka_unit_test(settings_without_a_name_are_told),
        cmocka_unit_test(wrong_values_get_the_range),
        cmocka_unit_test(malformed_settings_are_told),
        cmocka_unit_test(knobs_that_change_nothing_are_refused),
        cmocka_unit_test(every_row_of_moot_knobs_refuses),
        cmocka_unit_test(every_preset_is_its_variant_with_its_settings),
        cmocka_unit_test(settings_behind_a_preset_replace_its_own),
        cmocka_unit_test(canonical_text_begins_with_what_is_nearest),
        cmocka_unit_test(canonical_text_keeps_the_named_preset_of_two_as_near),
        cmocka_unit_test(promises_follow_the_knobs),
        cmocka_unit_test(a_number_per_worker_grows_with_them),
        cmocka_unit_test(too_much_for_so_many_workers_is_told),
        cmocka_unit_test(only_numbers_of_workloads_are_per_worker),
        cmocka_unit_test(kept_ones_are_parsed_once),
    };
    return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
