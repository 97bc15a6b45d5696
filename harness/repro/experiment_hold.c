/* experiment_hold.c - an experiment as tests hold it: smaller workloads, and only what is judged.
 * See experiment.h. */
#include "harness/repro/experiment.h"

#include "harness/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The values of each axis that at least one expectation is about. */
struct used {
    bool *levels, *variants, *workloads, *workers;
};

static void text_put(char **field, const char *text)
{
    free(*field);
    *field = xstrdup(text);
}

/* Smaller workloads ---------------------------------------------------------------------------- */

/* Puts the held form of the i-th workload in its place wherever the part names it. */
static void workload_hold(struct experiment_part *part, unsigned i)
{
    bool levels = part->factor == FACTOR_WORKLOAD;
    const char *held = part->held_workloads[i];
    for (unsigned e = 0; e < part->expect_count; e++) {
        struct experiment_expect *expect = &part->expect[e];
        if (!levels && expect->workload && strcmp(expect->workload, part->workloads[i]) == 0)
            text_put(&expect->workload, held);
        if (levels && expect->level_index == i)
            text_put(&expect->level, held);
        if (levels && expect->over && expect->over_index == i)
            text_put(&expect->over, held);
    }
}

static void workloads_hold(struct experiment_part *part)
{
    for (unsigned i = 0; i < part->held_workloads_count; i++)
        workload_hold(part, i);
    for (unsigned i = 0; i < part->held_workloads_count; i++) {
        text_put(&part->workloads[i], part->held_workloads[i]);
        if (part->factor == FACTOR_WORKLOAD)
            text_put(&part->levels[i], part->held_workloads[i]);
    }
}

/* Only judged values --------------------------------------------------------------------------- */

static void used_add(const struct experiment_part *part, const struct experiment_expect *expect,
                     struct used *used)
{
    used->levels[expect->level_index] = true;
    if (expect->over)
        used->levels[expect->over_index] = true;
    for (unsigned i = 0; i < part->variants_count; i++)
        used->variants[i] |= !expect->variant || strcmp(expect->variant, part->variants[i]) == 0;
    for (unsigned i = 0; i < part->workloads_count; i++)
        used->workloads[i] |=
            !expect->workload || strcmp(expect->workload, part->workloads[i]) == 0;
    for (unsigned i = 0; i < part->workers_count; i++)
        used->workers[i] |= !expect->workers || expect->workers == part->workers[i];
}

static struct used used_of(const struct experiment_part *part)
{
    struct used used = {.levels = xcalloc(part->levels_count, sizeof(bool)),
                        .variants = xcalloc(part->variants_count, sizeof(bool)),
                        .workloads = xcalloc(part->workloads_count, sizeof(bool)),
                        .workers = xcalloc(part->workers_count, sizeof(bool))};
    bool **axis = part->factor == FACTOR_VARIANT    ? &used.variants
                  : part->factor == FACTOR_WORKLOAD ? &used.workloads
                  : part->factor == FACTOR_WORKERS  ? &used.workers
                                                    : NULL;
    for (unsigned e = 0; e < part->expect_count; e++)
        used_add(part, &part->expect[e], &used);
    for (unsigned i = 0; axis && i < part->levels_count; i++)
        (*axis)[i] = used.levels[i];
    return used;
}

static void used_free(struct used *used)
{
    free(used->levels);
    free(used->variants);
    free(used->workloads);
    free(used->workers);
}

/* Frees the texts that are not kept; how many are left. */
static unsigned texts_keep(char **list, unsigned count, const bool *keep)
{
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++) {
        if (keep[i])
            list[left++] = list[i];
        else
            free(list[i]);
    }
    return left;
}

static unsigned numbers_keep(int64_t *list, unsigned count, const bool *keep)
{
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++)
        if (keep[i])
            list[left++] = list[i];
    return left;
}

/* Keeps the used pairs of a variant and a level, where the factor is a knob. */
static void cell_variants_keep(struct experiment_part *part, const struct used *used)
{
    bool *keep = xcalloc(part->cell_variants_count, sizeof *keep);
    for (unsigned i = 0; i < part->cell_variants_count; i++)
        keep[i] = used->variants[i / part->levels_count] && used->levels[i % part->levels_count];
    part->cell_variants_count = texts_keep(part->cell_variants, part->cell_variants_count, keep);
    free(keep);
}

/* The place of a level among those that are left. */
static unsigned index_after(const bool *keep, unsigned index)
{
    unsigned after = 0;
    for (unsigned i = 0; i < index; i++)
        after += keep[i];
    return after;
}

/* The column of an expectation that is about one, which a table made. */
static void column_find(const struct experiment_part *part, struct experiment_expect *expect)
{
    const char *machine = expect->machine ? expect->machine : "";
    expect->column = 0;
    while (expect->column + 1 < experiment_columns(part) &&
           !experiment_expects(part, expect, experiment_column(part, expect->column), machine))
        expect->column++;
}

static void part_prune(struct experiment_part *part)
{
    struct used used = used_of(part);
    cell_variants_keep(part, &used);
    part->baseline = used.levels[part->baseline] ? index_after(used.levels, part->baseline) : 0;
    for (unsigned e = 0; e < part->expect_count; e++) {
        struct experiment_expect *expect = &part->expect[e];
        expect->level_index = index_after(used.levels, expect->level_index);
        if (expect->over)
            expect->over_index = index_after(used.levels, expect->over_index);
    }
    part->levels_count = texts_keep(part->levels, part->levels_count, used.levels);
    part->variants_count = texts_keep(part->variants, part->variants_count, used.variants);
    part->workloads_count = texts_keep(part->workloads, part->workloads_count, used.workloads);
    part->workers_count = numbers_keep(part->workers, part->workers_count, used.workers);
    for (unsigned e = 0; e < part->expect_count; e++)
        if (part->expect[e].table_says)
            column_find(part, &part->expect[e]);
    used_free(&used);
}

void experiment_hold(struct experiment *experiment)
{
    for (unsigned p = 0; p < experiment->parts_count; p++) {
        workloads_hold(&experiment->parts[p]);
        part_prune(&experiment->parts[p]);
    }
}
