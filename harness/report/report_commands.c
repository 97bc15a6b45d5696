/* report_commands.c - the ways from a cell to what is behind its number: the commands that repeat
 * it, account for its time, and show its events. See report_page.h.
 *
 * All are made from the cell's first record, so that they have its seed. The page's script puts
 * another baseline into the command of the difference, where one is pinned: the part of class
 * "base".
 */
#include "harness/answers/figures.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/doc/doc.h"
#include "harness/evidence/replay_untold.h"
#include "harness/evidence/request_table.h"
#include "harness/records/run_folder.h"
#include "harness/report/report_page.h"
#include "harness/spec/peer_table.h"
#include "workloads/workload.h"

#include <stdlib.h>
#include <string.h>

static bool is_simulated(const struct report_cell *cell)
{
    return strncmp(cell->machine, "sim:", 4) == 0;
}

static const struct report_group *group_of(const struct report *report,
                                           const struct report_cell *cell)
{
    for (size_t i = 0; i < report->groups_count; i++)
        if (strcmp(report->groups[i].id, cell->group) == 0)
            return &report->groups[i];
    return NULL;
}

/* The first call of a program meets cold memory, and is not what was timed. A few calls before it
 * do as well as the many of a native sample, whose events would fill the trace. */
enum { TRACE_WARMUP_MAX = 3 };

static int calls_before(const json_t *record)
{
    int64_t warmup = field_integer(record, "warmup");
    return warmup < TRACE_WARMUP_MAX ? (int)warmup : TRACE_WARMUP_MAX;
}

/* "gmp", and the rest of a command that makes a page: " fib,n=20 --workers 8 --machine sim:desktop8
 * --seed 4711 --format page --warmup 1". As a shell takes them; free() it. */
static char *run_text(const struct report_cell *cell, const json_t *record)
{
    char *text;
    FILE *to = memory_stream(&text, NULL);
    shell_word_print(to, cell->variant);
    fputc(' ', to);
    shell_word_print(to, cell->workload);
    fprintf(to, " --workers %d --machine ", cell->workers);
    shell_word_print(to, cell->machine);
    fprintf(to, " --seed %lld --format page", field_integer(record, "seed"));
    if (calls_before(record) > 0)
        fprintf(to, " --warmup %d", calls_before(record));
    fclose(to);
    return text;
}

/* Hidden beside itself, until another baseline is pinned. */
static void parting_write(FILE *to, const struct report *report, const struct report_cell *cell,
                          const char *baseline, const char *run)
{
    char *with = run_folder_with(report->environment); /* any baseline may be pinned */
    char *word;
    FILE *words = memory_stream(&word, NULL);
    shell_word_print(words, baseline);
    fclose(words);
    html_put(to, strcmp(baseline, cell->variant) == 0 ? "<div class='parting' hidden=''>"
                                                      : "<div class='parting'>");
    html_put(to,
             "Where it parts from <span class='base-name'>%s</span>: <code>build/schedlab%s diff "
             "<span class='base'>%s</span> %s >%s-diff.html</code></div>",
             baseline, with, word, run, cell->id);
    free(word);
    free(with);
}

/* Only schedulers of this program can be traced: plain C has none, another runtime its own. */
static bool is_traced(const char *variant)
{
    return !peer_is_name(variant) && !peer_is_floor_name(variant);
}

static void trace_write(FILE *to, const struct report *report, const struct report_cell *cell,
                        const json_t *record, const char *run)
{
    bool outside = strstr(field_text(record, "command"), " --with ") != NULL;
    char *with = outside ? run_folder_with(report->environment) : xstrdup("");
    html_put(to, "<div>%s: <code>build/schedlab%s trace %s --output %s.html</code></div>",
             calls_before(record) > 0 ? "Trace, warm" : "Trace", with, run, cell->id);
    free(with);
}

/* The events of the cell, where the tables show them: at the largest number of workers. */
static void counters_write(FILE *to, const struct report *report, const struct report_cell *cell,
                           const struct report_group *group)
{
    const struct report_group *other = figures_events_group(report, group);
    if (cell->events_count == 0 || !report_cell_ok(cell))
        return;
    if (cell->workers == report_workers_max(group, cell->workload))
        html_put(to, "<div>Counters: <a href='#events-%s'>table</a></div>",
                 other ? other->id : group->id);
}

/* A program that is replayed has functions of its own: what it printed is a table of these. */
static bool has_functions(const char *workload)
{
    size_t length = strcspn(workload, ",");
    for (size_t i = 0; workloads[i]; i++)
        if (strlen(workloads[i]->name) == length &&
            strncmp(workloads[i]->name, workload, length) == 0)
            return workloads[i]->function != NULL;
    return false;
}

static void functions_write(FILE *to, const struct report_cell *cell, const json_t *record)
{
    const char *printed = field_text(record, "print");
    if (*printed && has_functions(cell->workload))
        html_put(to,
                 "<details><summary>Where its functions' time goes</summary><pre>%s</pre>"
                 "<p class='note'>%s</p></details>",
                 printed, REPLAY_UNTOLD);
}

void report_commands_write(FILE *to, const struct report *report, const struct report_cell *cell)
{
    const json_t *record = report_record(report, cell->id);
    const struct report_group *group = group_of(report, cell);
    const char *command = field_text(record, "command");
    char *parts = request_table(record);
    functions_write(to, cell, record);
    if (*parts)
        html_put(to,
                 "<details><summary>Where its latencies come from</summary><pre>%s</pre></details>",
                 parts);
    free(parts);
    if (*request_table_absent(record))
        html_put(to, "<div>Where its latencies come from: absent (%s)</div>",
                 request_table_absent(record));
    html_put(to, "<div>Again: <code>%s</code></div>", command);
    if (is_simulated(cell))
        html_put(to, "<div>Why: <code>%s --why</code></div>", command);
    if (group)
        counters_write(to, report, cell, group);
    if (!is_traced(cell->variant)) {
        html_put(to, "<div>No trace: it has no scheduler of this program.</div>");
        return;
    }
    char *run = run_text(cell, record);
    trace_write(to, report, cell, record, run);
    if (is_simulated(cell) && group && group->baseline && is_traced(group->baseline))
        parting_write(to, report, cell, group->baseline, run);
    free(run);
}
