/* report_baseline.c - see report_baseline.h. */
#include "harness/answers/report_baseline.h"

#include "harness/answers/report_verdict.h"
#include "harness/base/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_SIZE = 4096 };

static void rows_write(FILE *to, const void *arg)
{
    const struct report *report = arg;
    fputs("group\tbaseline\tvariant\tworkload\tworkers\tcell\tstatus\tratio\tlo\thi\tshown\t"
          "class\n",
          to);
    for (size_t g = 0; g < report->groups_count; g++) {
        const struct report_group *group = &report->groups[g];
        const char **shown = verdicts_over_baseline(group);
        for (size_t i = 0; group->baseline && i < group->count; i++) {
            const struct report_cell *cell = &group->cells[i];
            fprintf(to, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t", group->id, group->baseline, cell->variant,
                    cell->workload, cell->workers, cell->id, cell->status);
            interval_put(to, cell->to_baseline, '\t');
            bool compared = report_cell_ok(cell) && isfinite(cell->to_baseline.median);
            fprintf(to, "%s\t%s\n", shown[i] ? shown[i] : "NA",
                    compared ? class_text(cell->beside.chosen) : "NA");
        }
        free(shown);
    }
}

bool report_baseline_write(const struct report *report, struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/baseline.tsv", report->run_dir);
    return file_replace_by(path, rows_write, report, error);
}
