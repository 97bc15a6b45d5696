/* list_words.c - see list_words.h. */
#include "harness/list/list_words.h"

#include "harness/counters/counter_names.h"
#include "harness/host/data_folder.h"
#include "harness/repro/experiment.h"
#include "harness/spec/knobs.h"
#include "harness/spec/spec.h"
#include "preset.h"
#include "sched.h"
#include "workloads/workload.h"

#include <string.h>

static void print_params(FILE *to, const char *kind, const char *name, const struct param *table)
{
    for (const struct param *param = table; param && param->name; param++) {
        if (strcmp(param->unit, "word") != 0)
            fprintf(to, "%s %s,%s=\n", kind, name, param_key(param));
        for (const char *const *word = param->words; word && *word; word++)
            fprintf(to, "%s %s,%s=%s\n", kind, name, param_key(param), *word);
    }
}

static void print_variants(FILE *to)
{
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++) {
        fprintf(to, "variant %s\n", ops->name);
        print_params(to, "variant", ops->name, ops->knobs);
        print_params(to, "variant", ops->name, variant_common_params);
    }
    for (const struct preset *preset = presets; preset->name; preset++)
        fprintf(to, "variant %s\n", preset->name);
}

static void print_workloads(FILE *to)
{
    for (const struct workload *const *at = workloads; *at; at++) {
        fprintf(to, "workload %s\n", (*at)->name);
        print_params(to, "workload", (*at)->name, (*at)->params);
    }
}

static void print_knobs(FILE *to)
{
    const struct sched_ops *ops;
    for (size_t i = 0; (ops = spec_variant(i)); i++)
        for (const struct param *param = ops->knobs; param && param->name; param++)
            if (knob_owner(param_key(param)) == ops)
                fprintf(to, "knob %s\n", param_key(param));
    for (const struct param *param = variant_common_params; param->name; param++)
        fprintf(to, "knob %s\n", param_key(param));
}

static void print_events(FILE *to)
{
    for (int i = 0; i < counter_sde_count(); i++)
        fprintf(to, "event %s\n", counter_sde_name(i));
}

static void print_machines(FILE *to)
{
    struct error error;
    char **names = data_folder_names("machines", &error);
    fputs("machine native\n", to);
    for (char **name = names; name && *name; name++)
        fprintf(to, "machine sim:%s\n", *name);
    data_folder_names_free(names);
}

/* A file's name begins with its number: e01-queues.yaml, disputes/x01-findrunnable.yaml. */
static void print_experiments(FILE *to)
{
    struct error error;
    char **names = data_folder_names(EXPERIMENT_FOLDER, &error);
    int number;
    for (char **name = names; name && *name; name++)
        if (sscanf(*name, "e%d-", &number) == 1)
            fprintf(to, "experiment E%d\n", number);
    data_folder_names_free(names);
    names = data_folder_names(DISPUTE_FOLDER, &error);
    for (char **name = names; name && *name; name++)
        if (sscanf(*name, "x%d-", &number) == 1)
            fprintf(to, "experiment X%d\n", number);
    data_folder_names_free(names);
    fputs("experiment disputes\n", to);
}

/* Their names without the number: "stealing" of 03-stealing.yaml. */
static void print_lessons(FILE *to)
{
    struct error error;
    char **names = data_folder_names("lessons", &error);
    for (char **name = names; name && *name; name++)
        fprintf(to, "lesson %s\n", strchr(*name, '-') ? strchr(*name, '-') + 1 : *name);
    data_folder_names_free(names);
}

void list_words_print(FILE *to, const char *const *topics)
{
    for (; *topics; topics++)
        fprintf(to, "topic %s\n", *topics);
    print_variants(to);
    print_workloads(to);
    print_knobs(to);
    print_events(to);
    print_machines(to);
    print_experiments(to);
    print_lessons(to);
}
