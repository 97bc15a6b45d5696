/* hunt_coverage.c - see hunt_coverage.h. */
#include "harness/commands/hunt_coverage.h"

#include "harness/commands/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct coverage {
    struct coverage_pair *pairs;
    size_t count, kinds[COVERAGE_KIND_COUNT];
};

static struct coverage coverage_read(const struct hunt_cover *cover, const char *command)
{
    const char *error;
    struct coverage coverage = {.pairs = NULL};
    coverage.pairs = coverage_of(cover, &coverage.count, &error);
    if (!coverage.pairs)
        exit(cli_fail(command, error));
    for (size_t i = 0; i < coverage.count; i++)
        coverage.kinds[coverage_kind(&coverage.pairs[i])]++;
    return coverage;
}

/* The pairs of a kind, by file, in lines. */
static void names_print(const struct coverage *coverage, enum coverage_kind kind, const char *title)
{
    const char *file = "";
    if (coverage->kinds[kind] == 0)
        return;
    printf("%s", title);
    for (size_t i = 0; i < coverage->count; i++) {
        const struct coverage_pair *pair = &coverage->pairs[i];
        if (coverage_kind(pair) != kind)
            continue;
        if (strcmp(pair->file, file) != 0)
            printf("\n  %s:", pair->file);
        file = pair->file;
        printf(" %s-%s", pair->label[0], pair->label[1]);
    }
    putchar('\n');
}

void hunt_coverage_print(const struct hunt_cover *cover, const char *command)
{
    struct coverage coverage = coverage_read(cover, command);
    size_t with_accesses = coverage.count - coverage.kinds[COVERAGE_FENCE];
    printf("coverage: of %zu pairs of labels %zu were met in both orders, %zu in one, %zu never\n",
           with_accesses, coverage.kinds[COVERAGE_BOTH], coverage.kinds[COVERAGE_ONE],
           coverage.kinds[COVERAGE_NEVER]);
    if (coverage.kinds[COVERAGE_NEVER] < with_accesses)
        printf("%-40s  %5s %-5s  %14s  %14s  %s\n", "file", "label", "label", "first before",
               "second before", "orders");
    for (size_t i = 0; i < coverage.count; i++) {
        const struct coverage_pair *pair = &coverage.pairs[i];
        if (pair->forth || pair->back)
            printf("%-40s  %5s %-5s  %14" PRIu64 "  %14" PRIu64 "  %s\n", pair->file,
                   pair->label[0], pair->label[1], pair->forth, pair->back,
                   coverage_words[coverage_kind(pair)]);
    }
    names_print(&coverage, COVERAGE_NEVER, "never met:");
    names_print(&coverage, COVERAGE_FENCE,
                "not counted, because no access carries one of the labels:");
    if (cover->left_out)
        printf("%" PRIu64 " meetings had no room and were not counted\n", cover->left_out);
    free(coverage.pairs);
}

json_t *hunt_coverage_to_json(const struct hunt_cover *cover, const char *command)
{
    struct coverage coverage = coverage_read(cover, command);
    json_t *pairs = json_array(), *json = json_object();
    for (size_t i = 0; i < coverage.count; i++) {
        const struct coverage_pair *pair = &coverage.pairs[i];
        json_array_append_new(pairs, json_pack("{ss s[ss] sI sI ss}", "file", pair->file, "labels",
                                               pair->label[0], pair->label[1], "first_before",
                                               (json_int_t)pair->forth, "second_before",
                                               (json_int_t)pair->back, "orders",
                                               coverage_words[coverage_kind(pair)]));
    }
    for (int kind = 0; kind < COVERAGE_KIND_COUNT; kind++)
        json_object_set_new(json, coverage_words[kind],
                            json_integer((json_int_t)coverage.kinds[kind]));
    json_object_set_new(json, "left_out", json_integer((json_int_t)cover->left_out));
    json_object_set_new(json, "pairs", pairs);
    free(coverage.pairs);
    return json;
}
