/* report_fit.c - whether the sweep file, the records and this program belong together. See
 * report_data.h. */
#include "harness/answers/report_data.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/plan/sweep_origin.h"
#include "harness/spec/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, NAMED = 3 };

static void warn(struct report *report, json_t *warning)
{
    json_array_append_new(report->warnings, warning);
}

/* Groups, questions and baselines are the file's, whatever it was when the run began. */
static void sweep_check(struct report *report)
{
    char path[PATH_SIZE], now[FINGERPRINT_SIZE];
    struct error error;
    const char *then = field_text(json_object_get(report->environment, "sweep"), "fingerprint");
    snprintf(path, sizeof path, "%s/sweep.yaml", report->run_dir);
    if (report->sweep && *then && sweep_origin_fingerprint(path, now, &error) &&
        strcmp(now, then) != 0)
        warn(report, json_sprintf("%s was changed since the run began: its questions, baselines "
                                  "and figures may not be those that were measured",
                                  path));
}

static bool is_known(const char *variant)
{
    struct error unused;
    return variant_spec_kept(variant, &unused) != NULL;
}

/* They are drawn and compared as others are. */
static void variants_check(struct report *report)
{
    json_t *seen = json_object();
    char *names = NULL;
    size_t unknown = 0;
    FILE *to = memory_stream(&names, NULL);
    json_each(record, report->records) {
        const char *variant = field_text(record, "variant");
        if (json_object_get(seen, variant))
            continue;
        json_object_set_new(seen, variant, json_true());
        if (is_known(variant))
            continue;
        if (unknown < NAMED)
            fprintf(to, "%s%s", unknown ? "; " : "", variant);
        unknown++;
    }
    if (unknown > NAMED)
        fprintf(to, " and %zu more", unknown - NAMED);
    fclose(to);
    if (unknown > 0)
        warn(report, json_sprintf("the records have %s that this program does not know, so "
                                  "another one measured them: %s",
                                  counted(unknown, "variant").s, names));
    json_decref(seen);
    free(names);
}

static void environment_check(struct report *report)
{
    if (json_object_size(report->environment) == 0 && !report->environment_is_broken)
        warn(report, json_sprintf("%s has no environment.json, which each run has that "
                                  "`schedlab sweep` wrote: the machine is not known",
                                  report->run_dir));
}

void report_fit_check(struct report *report)
{
    sweep_check(report);
    variants_check(report);
    environment_check(report);
}
