/* audit_report.c - see audit.h: whether the report would name a winner among equals. */
#include "harness/audit/audit.h"
#include "harness/base/json_fields.h"

#include "harness/answers/report_verdict.h"
#include "harness/base/memory.h"
#include "harness/tables/compare.h"

#include <stdlib.h>
#include <string.h>

/* One side of a pair, as report_load() would read it from the tables; the samples are its own. */
static struct report_cell cell_make(const struct compare_cell *of, const struct comparable *classes,
                                    const char *variant, int number, char *workload, size_t size)
{
    struct report_cell cell = {
        .group = "audit", .variant = variant, .workload = workload, .status = of->status};
    snprintf(workload, size, "%d", number);
    cell.id = of->key;
    cell.workers = of->workers;
    for (int which = 0; which < CLASSES; which++) {
        cell.of_class[which] = xcalloc(json_array_size(of->records) + 1, sizeof(double));
    }
    json_each(record, of->records) {
        double throughput = json_number_value(json_object_get(record, "throughput"));
        if (strcmp(field_text(record, "status"), "ok") == 0 && throughput > 0)
            report_cell_add_sample(&cell, throughput, comparable_distance(classes, record),
                                   comparable_is_marked(record));
    }
    report_cell_choose(&cell, class_of_cell(&cell.counts, classes->common));
    cell.throughput = statistics_median(cell.samples, cell.samples_count, STATISTICS_SEED);
    return cell;
}

static void verdicts_count(struct audit_tally *tally, const struct report_group *group)
{
    size_t count, decided = 0, won = 0;
    struct verdict *verdicts = verdicts_make(group, &count);
    for (size_t i = 0; i < count; i++) {
        won += verdicts[i].outcome == VERDICT_WON;
        decided += verdicts[i].outcome == VERDICT_WON || verdicts[i].outcome == VERDICT_TIED ||
                   verdicts[i].outcome == VERDICT_OPEN;
    }
    verdicts_free(verdicts, count);
    tally->too_few += decided == 0;
    tally->comparisons += decided > 0;
    tally->found += won > 0;
}

void audit_report_round(struct audit_tally *tally, const struct comparison *comparison,
                        const json_t *records)
{
    enum { NAME_SIZE = 24 };
    struct comparable classes;
    size_t count = 0;
    struct report_cell *cells = xcalloc(2 * comparison->count + 1, sizeof *cells);
    char(*names)[NAME_SIZE] = xcalloc(comparison->count + 1, sizeof *names);
    comparable_learn(&classes, records);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct compare_pair *pair = &comparison->pairs[i];
        cells[count++] = cell_make(pair->a, &classes, "a", (int)i, names[i], NAME_SIZE);
        cells[count++] = cell_make(pair->b, &classes, "b", (int)i, names[i], NAME_SIZE);
    }
    verdicts_count(tally, &(struct report_group){.id = "audit", .cells = cells, .count = count});
    for (size_t i = 0; i < count; i++)
        for (int which = 0; which < CLASSES; which++)
            free(cells[i].of_class[which]);
    free(cells);
    free(names);
}
