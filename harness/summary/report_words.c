/* report_words.c - the variants and workloads of a run in a line each, for those who meet them here
 * first. See report_answers.h. */
#include "harness/doc/doc.h"
#include "harness/spec/spec.h"
#include "harness/summary/report_answers.h"

#include "sched.h"
#include "workloads/workload.h"

#include <string.h>

/* True if any cell's specification begins with this name. */
static bool is_used(const struct report *report, bool variant, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < report->cells_count; i++) {
        const char *spec = variant ? report->cells[i].variant : report->cells[i].workload;
        if (strncmp(spec, name, length) == 0 && (spec[length] == ',' || spec[length] == '\0'))
            return true;
    }
    return false;
}

static void word_write(FILE *to, const char *name, const char *idea)
{
    html_put(to, "<dt class='name'>%s</dt><dd>%s</dd>", name, idea);
}

void report_words_write(FILE *to, const struct report *report)
{
    html_put(to, "<details class='print'><summary>The variants and workloads, in a line each"
                 "</summary><dl>");
    for (size_t i = 0; spec_variant(i); i++)
        if (is_used(report, true, spec_variant(i)->name))
            word_write(to, spec_variant(i)->name, spec_variant(i)->idea);
    html_put(to, "</dl><dl>");
    for (const struct workload *const *at = workloads; *at; at++)
        if (is_used(report, false, (*at)->name))
            word_write(to, (*at)->name, (*at)->idea);
    html_put(to, "</dl></details>");
}
