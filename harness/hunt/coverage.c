/* coverage.c - see coverage.h. The Makefile has labels.h included, with the lists of labels. */
#include "harness/hunt/coverage.h"

#include "harness/base/memory.h"
#include "harness/sample/source_line.h"

#include <stdlib.h>
#include <string.h>

struct site {
    const char *label, *file;
    int first, last;
};
#define SITE(label, file, first, last) {label, file, first, last},
static const struct site sites[] = {LABEL_SITES(SITE)};
enum { SITES = sizeof sites / sizeof sites[0] };

struct pair {
    const char *file, *label[2];
};
#define PAIR(file, first, second) {file, {first, second}},
static const struct pair pairs[] = {LABEL_PAIRS(PAIR)};
enum { PAIRS = sizeof pairs / sizeof pairs[0], LABELS_MAX = 4 };

/* The labels of an instruction. */
struct labels {
    uintptr_t pc;
    int count;
    const char *label[LABELS_MAX];
};

static const char *const submit_steps[HUNT_SUBMIT_STEPS] = {"S1", "S2", "S3", "S4"};
static const char *const sleep_steps[HUNT_STEPS] = {"I1", "I2", "I3", "I4", "I5", "I6"};
static const char steps_file[] = "steps of sched_variants/runtime/idle.c";

const char *const coverage_words[] = {
#define COVERAGE_WORD(name, word) word,
    COVERAGE_KINDS(COVERAGE_WORD)
#undef COVERAGE_WORD
        NULL};

enum coverage_kind coverage_kind(const struct coverage_pair *pair)
{
    return !pair->has_accesses         ? COVERAGE_FENCE
           : pair->forth && pair->back ? COVERAGE_BOTH
           : pair->forth || pair->back ? COVERAGE_ONE
                                       : COVERAGE_NEVER;
}

void coverage_join(struct hunt_cover *cover, const struct hunt_cover *other)
{
    cover->left_out += other->left_out;
    for (int i = 0; i < HUNT_STEPS; i++)
        for (int k = 0; k < HUNT_STEPS; k++)
            for (int order = 0; order < 2; order++)
                cover->crossed[i][k][order] += other->crossed[i][k][order];
    for (size_t i = 0; i < HUNT_COVER_PAIRS; i++)
        if (other->pair[i].before)
            hunt_cover_add(cover, other->pair[i].before, other->pair[i].after,
                           other->pair[i].times);
}

static bool has_site(const char *label)
{
    for (size_t i = 0; i < SITES; i++)
        if (strcmp(sites[i].label, label) == 0)
            return true;
    return false;
}

const char *coverage_label_at(const char *file, int line)
{
    for (size_t i = 0; i < SITES; i++)
        if (line >= sites[i].first && line <= sites[i].last && strcmp(file, sites[i].file) == 0)
            return sites[i].label;
    return NULL;
}

/* Two files may say the same of one pair. */
static bool is_new(const struct coverage_pair *found, size_t count, const struct pair *pair)
{
    for (size_t i = 0; i < count; i++)
        for (int turned = 0; turned < 2; turned++)
            if (strcmp(found[i].label[turned], pair->label[0]) == 0 &&
                strcmp(found[i].label[!turned], pair->label[1]) == 0)
                return false;
    return true;
}

/* Behind those of labels, by the submitter's step and then the sleeper's. */
static void steps_add(struct coverage *all)
{
    for (int i = 0; i < HUNT_SUBMIT_STEPS; i++)
        for (int k = 0; k < HUNT_STEPS; k++)
            all->pairs[all->count++] = (struct coverage_pair){
                .file = steps_file,
                .label = {submit_steps[i], sleep_steps[k]},
                .has_accesses = true,
                .is_of_steps = true,
            };
}

struct coverage coverage_new(void)
{
    size_t most = PAIRS + (size_t)HUNT_SUBMIT_STEPS * HUNT_STEPS;
    struct coverage all = {.pairs = xcalloc(most, sizeof *all.pairs)};
    for (size_t i = 0; i < PAIRS; i++)
        if (is_new(all.pairs, all.count, &pairs[i]))
            all.pairs[all.count++] = (struct coverage_pair){
                .file = pairs[i].file,
                .label = {pairs[i].label[0], pairs[i].label[1]},
                .has_accesses = has_site(pairs[i].label[0]) && has_site(pairs[i].label[1]),
            };
    steps_add(&all);
    return all;
}

void coverage_add(struct coverage *coverage, const struct coverage_pair *met)
{
    for (size_t i = 0; i < coverage->count; i++) {
        struct coverage_pair *pair = &coverage->pairs[i];
        if (strcmp(pair->file, met->file) != 0 || strcmp(pair->label[0], met->label[0]) != 0 ||
            strcmp(pair->label[1], met->label[1]) != 0)
            continue;
        pair->forth += met->forth;
        pair->back += met->back;
        return;
    }
    size_t size = (coverage->count + 1) * sizeof *coverage->pairs;
    coverage->pairs = xrealloc(coverage->pairs, size);
    coverage->pairs[coverage->count++] = *met;
}

/* Instructions -------------------------------------------------------------------------------- */

static int pc_compare(const void *a_, const void *b_)
{
    const struct labels *a = a_, *b = b_;
    return a->pc < b->pc ? -1 : a->pc > b->pc;
}

/* pc is behind the call. */
static void labels_find(struct labels *labels, struct source_lines *lines)
{
    struct source_line at;
    if (!source_line_find(lines, labels->pc - 1, &at))
        return;
    for (size_t i = 0; i < SITES && labels->count < LABELS_MAX; i++)
        if (at.line >= sites[i].first && at.line <= sites[i].last &&
            strcmp(at.file, sites[i].file) == 0)
            labels->label[labels->count++] = sites[i].label;
}

/* All instructions, by address, each once; to be freed. */
static struct labels *instructions_of(const struct hunt_cover *cover, struct source_lines *lines,
                                      size_t *count)
{
    size_t all = 0, kept = 0;
    struct labels *labels = xcalloc((size_t)HUNT_COVER_PAIRS * 2, sizeof *labels);
    for (size_t i = 0; i < HUNT_COVER_PAIRS; i++) {
        if (!cover->pair[i].before)
            continue;
        labels[all++].pc = cover->pair[i].before;
        labels[all++].pc = cover->pair[i].after;
    }
    qsort(labels, all, sizeof *labels, pc_compare);
    for (size_t i = 0; i < all; i++)
        if (kept == 0 || labels[i].pc != labels[kept - 1].pc)
            labels[kept++].pc = labels[i].pc;
    for (size_t i = 0; i < kept; i++)
        labels_find(&labels[i], lines);
    *count = kept;
    return labels;
}

static bool carries(const struct labels *labels, const char *label)
{
    for (int i = 0; labels && i < labels->count; i++)
        if (strcmp(labels->label[i], label) == 0)
            return true;
    return false;
}

static const struct labels *labels_of(uintptr_t pc, const struct labels *labels, size_t count)
{
    const struct labels key = {.pc = pc};
    return bsearch(&key, labels, count, sizeof *labels, pc_compare);
}

/* It stays for the rest of the process. */
static struct source_lines *lines_of_program(void)
{
    static struct source_lines *lines;
    if (!lines)
        lines = source_lines_open();
    return lines;
}

bool coverage_can_tell(const char **error)
{
    if (lines_of_program())
        return true;
    *error = "the program's debug information cannot be read";
    return false;
}

static void steps_take(struct coverage *coverage, const struct hunt_cover *cover)
{
    struct coverage_pair *pair = coverage->pairs;
    while (!pair->is_of_steps)
        pair++;
    for (int i = 0; i < HUNT_SUBMIT_STEPS; i++)
        for (int k = 0; k < HUNT_STEPS; k++, pair++) {
            pair->forth = cover->crossed[i][k][0];
            pair->back = cover->crossed[i][k][1];
        }
}

bool coverage_of(struct coverage *coverage, const struct hunt_cover *cover, const char **error)
{
    size_t count;
    if (!coverage_can_tell(error))
        return false;
    struct source_lines *lines = lines_of_program();
    struct labels *labels = instructions_of(cover, lines, &count);
    *coverage = coverage_new();
    coverage->left_out = cover->left_out;
    for (size_t i = 0; i < HUNT_COVER_PAIRS; i++) {
        const struct hunt_cover_pair *met = &cover->pair[i];
        const struct labels *before = labels_of(met->before, labels, count);
        const struct labels *after = labels_of(met->after, labels, count);
        for (size_t k = 0; met->before && k < coverage->count; k++) {
            struct coverage_pair *pair = &coverage->pairs[k];
            if (pair->is_of_steps)
                break;
            if (carries(before, pair->label[0]) && carries(after, pair->label[1]))
                pair->forth += met->times;
            if (carries(before, pair->label[1]) && carries(after, pair->label[0]))
                pair->back += met->times;
        }
    }
    steps_take(coverage, cover);
    free(labels);
    return true;
}
