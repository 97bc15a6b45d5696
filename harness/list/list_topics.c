/* list_topics.c - see list_topics.h. */
#include "harness/list/list_topics.h"

#include "harness/base/memory.h"
#include "harness/spec/knobs.h"
#include "harness/spec/peer_table.h"
#include "harness/spec/spec.h"
#include "preset.h"
#include "workloads/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_NAME = 13, COLUMN_KNOB = 18, COLUMN_HELP = 30, COLUMNS_ALL = 80 };

/* All ------------------------------------------------------------------------------------------ */

/* "go, tbb, ...": the names behind the prefix. */
static char *names_behind(const char *prefix)
{
    char *text = NULL;
    size_t length = strlen(prefix);
    const struct sched_ops *ops;
    FILE *to = memory_stream(&text, NULL);
    for (size_t i = 0; (ops = peer_variant(i)); i++)
        if (strncmp(ops->name, prefix, length) == 0)
            fprintf(to, "%s%s", ftell(to) > 0 ? ", " : "", ops->name + length);
    fclose(to);
    return text;
}

static void print_prefixed(const struct list_page *page, const char *prefix, const char *what)
{
    char *names = names_behind(prefix), *name = text_format("%s...", prefix);
    char *text = text_format("%s: %s", what, names);
    page_line(page, COLUMN_NAME, name, text);
    free(names);
    free(name);
    free(text);
}

static void print_preset_names(const struct list_page *page)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    for (const struct preset *preset = presets; preset->name; preset++)
        fprintf(to, "%s%s", preset == presets ? "" : ", ", preset->name);
    fclose(to);
    page_row(page, COLUMN_NAME, "presets", text);
    free(text);
}

void list_all_print(const struct list_page *page)
{
    struct list_page narrow = *page;
    const struct sched_ops *ops;
    if (narrow.columns > COLUMNS_ALL)
        narrow.columns = COLUMNS_ALL;
    page_heading(page, "Variants and presets (NAME,KNOB=VALUE,...)");
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        if (!peer_is(ops))
            page_line(&narrow, COLUMN_NAME, ops->name, ops->idea);
    print_preset_names(&narrow);
    print_prefixed(&narrow, PEER_PREFIX, "other runtimes");
    print_prefixed(&narrow, FLOOR_PREFIX, "by hand, without a scheduler");
    putchar('\n');
    page_heading(page, "Workloads (NAME,PARAMETER=VALUE,...)");
    for (const struct workload *const *at = spec_workloads(); *at; at++)
        page_line(&narrow, COLUMN_NAME, (*at)->name, (*at)->idea);
    putchar('\n');
    puts("schedlab list NAME      explains one: gmp, fib, a knob (tick), an event (STEALS)");
    puts("schedlab list TOPIC     all of a kind in full: variants, presets, knobs, workloads,");
    puts("                        events, machines");
}

/* The order of lists: knobs without a group come last. */
static enum knob_group group_at(int i)
{
    return i < KNOB_GROUPS ? (enum knob_group)i : KNOB_OTHERS;
}

/* Variants and workloads ----------------------------------------------------------------------- */

/* "runnext=on tick=61": the rows of that group, decisive ones first; NULL if there are none. */
static char *settings_text(const struct param *table, enum knob_group group)
{
    char *text = NULL;
    FILE *to = memory_stream(&text, NULL);
    for (int decisive = 1; decisive >= 0; decisive--)
        for (const struct param *param = table; param && param->name; param++)
            if (param->group == group && param->decisive == (decisive == 1))
                fprintf(to, "%s%s=%s", ftell(to) > 0 ? " " : "", param_key(param),
                        param_value_text(param, param->def).s);
    fclose(to);
    if (*text)
        return text;
    free(text);
    return NULL;
}

static void print_settings(const struct list_page *page, const struct param *table,
                           const char *others)
{
    for (int i = KNOB_OTHERS + 1; i <= KNOB_GROUPS; i++) {
        enum knob_group group = group_at(i);
        char *text = settings_text(table, group);
        if (text)
            page_field(page, group == KNOB_OTHERS ? others : knob_group_name(group), text);
        free(text);
    }
}

void list_presets_print(const struct list_page *page)
{
    page_heading(page, "Presets: variants with knobs set, as schedulers elsewhere have them");
    for (const struct preset *preset = presets; preset->name; preset++) {
        putchar('\n');
        page_row(page, COLUMN_NAME, preset->name, preset->idea);
        page_field(page, "source", preset->source);
        page_settings(page, preset->variant, preset->settings);
        page_field(page, "left out", preset->left_out);
    }
}

void list_variants_print(const struct list_page *page)
{
    const struct sched_ops *ops;
    page_heading(page, "Variants, each with the defaults of its knobs (NAME,KNOB=VALUE,...)");
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        struct error why;
        putchar('\n');
        page_row(page, COLUMN_NAME, ops->name, ops->idea);
        page_field(page, "source", ops->source);
        if (peer_is(ops) && peer_absence(ops, &why))
            page_field(page, "absent", why.text);
        print_settings(page, ops->knobs, "others");
    }
    putchar('\n');
    page_heading(page, "Settings that every variant has beside its knobs");
    print_settings(page, variant_common_params, "others");
    putchar('\n');
    list_presets_print(page);
    puts("\n`schedlab list NAME` explains one, with all its knobs; `list KNOB` a knob.");
}

void list_workloads_print(const struct list_page *page)
{
    page_heading(page,
                 "Workloads, each with the defaults of its parameters (NAME,PARAMETER=VALUE,...)");
    putchar('\n');
    for (const struct workload *const *at = spec_workloads(); *at; at++) {
        page_row(page, COLUMN_NAME, (*at)->name, (*at)->idea);
        char *text = settings_text((*at)->params, KNOB_OTHERS);
        if (text)
            page_text(page, COLUMN_NAME, text);
        free(text);
    }
    puts("\n`schedlab list NAME` explains one, with ranges and meanings.");
}

/* Knobs ---------------------------------------------------------------------------------------- */

/* True if no variant before the i-th one has the key. */
static bool knob_is_new(size_t i, const char *key)
{
    for (size_t before = 0; before < i; before++)
        if (param_find(spec_variant(before)->knobs, key))
            return false;
    return true;
}

/* "perm gmp=sysmon tasksteal": who has the knob, and its default where that is another one. */
static char *owners_text(const char *key, const char *def)
{
    char *text = NULL;
    const struct sched_ops *ops;
    FILE *to = memory_stream(&text, NULL);
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        const struct param *param = param_find(ops->knobs, key);
        if (!param)
            continue;
        struct param_text value = param_value_text(param, param->def);
        bool other = strcmp(value.s, def) != 0;
        fprintf(to, " %s%s%s", ops->name, other ? "=" : "", other ? value.s : "");
    }
    if (ftell(to) == 0)
        fputs(" all variants", to);
    fclose(to);
    return text;
}

static void print_row(const struct list_page *page, const struct param *param)
{
    char *name = text_format("%c %-*s%s", param->decisive ? '*' : ' ', COLUMN_KNOB - 2,
                             param_key(param), param_value_text(param, param->def).s);
    page_row(page, COLUMN_HELP, name, param->help);
    free(name);
}

static void print_knob(const struct list_page *page, const struct param *param)
{
    char *owners = owners_text(param_key(param), param_value_text(param, param->def).s);
    char *text = text_format("%s; in%s", param_range_text(param).s, owners);
    print_row(page, param);
    page_text(page, COLUMN_HELP, text);
    free(owners);
    free(text);
}

/* The rows of that group and rank, but for those that `known`, which may be NULL, has. */
static void print_rank_of(const struct list_page *page, const struct param *table,
                          const struct param *known, enum knob_group group, bool decisive)
{
    for (const struct param *param = table; param && param->name; param++)
        if (param->group == group && param->decisive == decisive &&
            !param_find(known, param_key(param)))
            print_knob(page, knob_find(param_key(param)));
}

/* The knobs of the variant with most of them come first. */
static void print_rank(const struct list_page *page, enum knob_group group, bool decisive)
{
    const struct sched_ops *ops, *first = knob_owner(param_key(variant_common_params));
    print_rank_of(page, first->knobs, NULL, group, decisive);
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        for (const struct param *param = ops->knobs; param && param->name; param++)
            if (knob_is_new(i, param_key(param))) {
                const struct param one[] = {*param, {.name = NULL}};
                print_rank_of(page, one, first->knobs, group, decisive);
            }
    print_rank_of(page, variant_common_params, NULL, group, decisive);
}

static bool group_has_knobs(enum knob_group group)
{
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        for (const struct param *param = ops->knobs; param && param->name; param++)
            if (param->group == group)
                return true;
    return false;
}

void list_knobs_print(const struct list_page *page)
{
    puts("Knobs of variants: name, default, meaning; range and who has it (*: decisive)");
    for (int i = KNOB_OTHERS + 1; i <= KNOB_GROUPS; i++) {
        if (!group_has_knobs(group_at(i)))
            continue;
        putchar('\n');
        page_heading(page, "%s", knob_group_name(group_at(i)));
        print_rank(page, group_at(i), true);
        print_rank(page, group_at(i), false);
    }
    puts("\n`schedlab list NAME` explains one.");
}

void list_table_print(const struct list_page *page, const struct param *table)
{
    for (int i = KNOB_OTHERS + 1; i <= KNOB_GROUPS; i++) {
        enum knob_group group = group_at(i);
        bool titled = false;
        for (int decisive = 1; decisive >= 0; decisive--)
            for (const struct param *param = table; param && param->name; param++) {
                if (param->group != group || param->decisive != (decisive == 1))
                    continue;
                if (!titled)
                    page_heading(page, "%s", knob_group_name(group));
                titled = true;
                print_row(page, param);
            }
    }
}
