/* doctor.c - see doctor.h: the list of findings, and its JSON. */
#include "harness/base/json_fields.h"
#include "harness/doctor/doctor_internal.h"

#include "harness/host/sysfs.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *doctor_level_text(enum doctor_level level)
{
    static const char *const words[DOCTOR_LEVELS] = {
        [DOCTOR_OK] = "ok",
        [DOCTOR_NOTE] = "note",
        [DOCTOR_WARN] = "warn",
        [DOCTOR_UNKNOWN] = "unknown",
    };
    return words[level];
}

/* Findings ------------------------------------------------------------------------------------ */

void look_make_printable(char *text)
{
    json_t *utf8 = json_string(text); /* NULL unless it is */
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        bool control = *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
        if (control || (!utf8 && *at > 0x7f))
            *at = '?';
        if (control && at[1] >= 0x80 && at[1] < 0xa0) /* the second half of a control character */
            at[1] = '?';
    }
    json_decref(utf8);
}

struct doctor_finding *look_add(struct look *look, const char *id, enum doctor_level level,
                                const char *why, const char *change, const char *fact, ...)
{
    struct doctor *doctor = look->doctor;
    if (doctor->findings_count == DOCTOR_FINDINGS_MAX) {
        fputs("look_add: more findings than DOCTOR_FINDINGS_MAX\n", stderr);
        abort();
    }
    struct doctor_finding *finding = &doctor->findings[doctor->findings_count++];
    *finding = (struct doctor_finding){.id = id, .level = level, .why = why};
    va_list args;
    va_start(args, fact);
    vsnprintf(finding->fact, sizeof finding->fact, fact, args);
    va_end(args);
    if (change)
        snprintf(finding->change, sizeof finding->change, "%s", change);
    look_make_printable(finding->fact);
    look_make_printable(finding->change);
    return finding;
}

void look_unreadable(struct look *look, const char *id, const char *why, const char *path)
{
    char text[64];
    if (sysfs_text(look->root, text, sizeof text, "%s", path))
        look_add(look, id, DOCTOR_UNKNOWN, why, NULL, "cannot make sense of \"%s\" in /%s", text,
                 path);
    else
        look_add(look, id, DOCTOR_UNKNOWN, why, NULL, "cannot read /%s%s", path,
                 look->virtual ? "; a hypervisor hides what the host does" : "");
}

/* Worst first. */
static int level_rank(enum doctor_level level)
{
    static const int ranks[DOCTOR_LEVELS] = {
        [DOCTOR_WARN] = 0,
        [DOCTOR_NOTE] = 1,
        [DOCTOR_UNKNOWN] = 2,
        [DOCTOR_OK] = 3,
    };
    return ranks[level];
}

/* By insertion, since findings of one level keep the order in which they were looked at. */
static void findings_sort(struct doctor *doctor)
{
    for (size_t i = 1; i < doctor->findings_count; i++) {
        struct doctor_finding finding = doctor->findings[i];
        size_t at = i;
        for (; at > 0 && level_rank(doctor->findings[at - 1].level) > level_rank(finding.level);
             at--)
            doctor->findings[at] = doctor->findings[at - 1];
        doctor->findings[at] = finding;
    }
}

size_t doctor_count(const struct doctor *doctor, enum doctor_level level)
{
    size_t n = 0;
    for (size_t i = 0; i < doctor->findings_count; i++)
        n += doctor->findings[i].level == level;
    return n;
}

void doctor_look(struct doctor *doctor, const struct doctor_request *request)
{
    struct look look = {.request = request, .root = request->machine->root, .doctor = doctor};
    *doctor = (struct doctor){.findings_count = 0};
    look_at_hypervisor(&look);
    look_at_window(&look); /* before the parts that make the machine busy */
    look_at_cpus(&look);
    look_at_system(&look);
    look_at_cgroup(&look);
    look_at_programs(&look);
    look_at_lines(&look);
    look_at_counting(&look);
    findings_sort(doctor);
}

void doctor_glance(struct doctor *doctor, const struct doctor_request *request)
{
    struct look look = {.request = request, .root = request->machine->root, .doctor = doctor};
    *doctor = (struct doctor){.findings_count = 0};
    look_at_hypervisor(&look);
    look_at_window(&look);
    look_at_cgroup(&look);
    findings_sort(doctor);
}

void doctor_free(struct doctor *doctor)
{
    free(doctor->lines);
    *doctor = (struct doctor){.findings_count = 0};
}

/* JSON ---------------------------------------------------------------------------------------- */

static json_t *findings_to_json(const struct doctor *doctor)
{
    json_t *array = json_array();
    for (size_t i = 0; i < doctor->findings_count; i++) {
        const struct doctor_finding *finding = &doctor->findings[i];
        json_t *object = json_pack("{ss ss ss ss}", "id", finding->id, "level",
                                   doctor_level_text(finding->level), "fact", finding->fact, "why",
                                   finding->why);
        if (*finding->change)
            json_object_set_new(object, "change", json_string(finding->change));
        json_array_append_new(array, object);
    }
    return array;
}

static void count_set(json_t *object, const char *key, int count)
{
    if (count >= 0)
        json_object_set_new(object, key, json_integer(count));
    else
        json_object_set_new(object, key, json_pack("{ss}", "absent", "PAPI does not say"));
}

static json_t *kinds_to_json(const struct doctor *doctor)
{
    json_t *array = json_array();
    for (size_t i = 0; i < DOCTOR_KINDS; i++) {
        const struct doctor_kind *kind = &doctor->kinds[i];
        json_t *object = json_pack("{ss ss}", "id", kind->id, "name", kind->name);
        count_set(object, "available", kind->available);
        count_set(object, "listed", kind->listed);
        count_set(object, "wanted_available", kind->wanted_available);
        count_set(object, "wanted", kind->wanted);
        if (*kind->reason)
            json_object_set_new(object, "reason", json_string(kind->reason));
        if (*kind->change)
            json_object_set_new(object, "change", json_string(kind->change));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *lines_to_json(const struct doctor *doctor)
{
    json_t *array = json_array();
    for (size_t i = 0; i < doctor->lines_count; i++) {
        const struct doctor_line *line = &doctor->lines[i];
        json_array_append_new(
            array, json_pack("{s[ii] sf}", "cpus", line->cpu_a, line->cpu_b, "line_ns", line->ns));
    }
    return array;
}

json_t *doctor_to_json(const struct doctor *doctor)
{
    return json_pack("{si s{si si si si} so so so}", "schema", 1, "summary", "warn",
                     (int)doctor_count(doctor, DOCTOR_WARN), "note",
                     (int)doctor_count(doctor, DOCTOR_NOTE), "unknown",
                     (int)doctor_count(doctor, DOCTOR_UNKNOWN), "ok",
                     (int)doctor_count(doctor, DOCTOR_OK), "findings", findings_to_json(doctor),
                     "counting", kinds_to_json(doctor), "lines", lines_to_json(doctor));
}

void doctor_warn(const json_t *doctor, const char *command, FILE *to)
{
    json_each(finding, json_object_get(doctor, "findings")) {
        const char *id = json_string_value(json_object_get(finding, "id"));
        const char *level = json_string_value(json_object_get(finding, "level"));
        bool warns = level && strcmp(level, doctor_level_text(DOCTOR_WARN)) == 0;
        if (warns && strcmp(id, "load") != 0) /* which is of the minute before */
            fprintf(to, "%s: warning: %s: %s\n", command,
                    json_string_value(json_object_get(finding, "fact")),
                    json_string_value(json_object_get(finding, "why")));
    }
}
