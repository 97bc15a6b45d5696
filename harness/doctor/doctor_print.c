/* doctor_print.c - see doctor.h: the tables for people. */
#include "harness/base/text.h"
#include "harness/base/wrap.h"
#include "harness/doctor/doctor.h"

#include <string.h>

enum { COLUMNS = 80, COLUMN_FACT = 26, COLUMN_REASON = 4 };

static const char *colour_of(enum doctor_level level)
{
    static const char *const codes[DOCTOR_LEVELS] = {
        [DOCTOR_OK] = "\033[32m",
        [DOCTOR_NOTE] = "\033[36m",
        [DOCTOR_WARN] = "\033[1;31m",
        [DOCTOR_UNKNOWN] = "\033[33m",
    };
    return codes[level];
}

/* A line of its own from a column on; nothing if there is no text. */
static void put_labelled(FILE *to, int column, const char *label, const char *text)
{
    if (!*text)
        return;
    int at = fprintf(to, "%*s%s", column, "", label);
    text_wrap(to, at, at, COLUMNS, text);
}

/* Findings ------------------------------------------------------------------------------------ */

static void put_finding(FILE *to, const struct doctor_finding *finding, bool colour)
{
    const char *level = doctor_level_text(finding->level);
    fprintf(to, "%s%-8s%s%-16s  ", colour ? colour_of(finding->level) : "", level,
            colour ? "\033[0m" : "", finding->id);
    text_wrap(to, COLUMN_FACT, COLUMN_FACT, COLUMNS, finding->fact);
    if (finding->level == DOCTOR_OK)
        return;
    put_labelled(to, COLUMN_FACT, "why: ", finding->why);
    put_labelled(to, COLUMN_FACT, "change: ", finding->change);
}

static void put_findings(FILE *to, const struct doctor *doctor, bool colour)
{
    fprintf(to, "What disturbs measuring here: %zu warn, %zu note, %zu unknown, %zu ok\n\n",
            doctor_count(doctor, DOCTOR_WARN), doctor_count(doctor, DOCTOR_NOTE),
            doctor_count(doctor, DOCTOR_UNKNOWN), doctor_count(doctor, DOCTOR_OK));
    for (size_t i = 0; i < doctor->findings_count; i++)
        put_finding(to, &doctor->findings[i], colour);
}

/* Events -------------------------------------------------------------------------------------- */

static const char *count_text(int count, char text[16])
{
    snprintf(text, 16, "%d", count);
    return count >= 0 ? text : "-";
}

static void put_kinds(FILE *to, const struct doctor *doctor)
{
    char a[16], b[16];
    fputs("\nWhat can be counted here\n\n", to);
    fprintf(to, "%-24s %12s %12s\n", "events", "here", "of default");
    for (int i = 0; i < DOCTOR_KINDS; i++) {
        const struct doctor_kind *kind = &doctor->kinds[i];
        fprintf(to, "%-24s %4s of %4s ", kind->name, count_text(kind->available, a),
                count_text(kind->listed, b));
        fprintf(to, "%4s of %4s", count_text(kind->wanted_available, a),
                count_text(kind->wanted, b));
        if (*kind->reason && i > 0 && strcmp(kind->reason, doctor->kinds[i - 1].reason) == 0) {
            fputs(" likewise\n", to);
            continue;
        }
        fputc('\n', to);
        if (*kind->reason) {
            put_labelled(to, COLUMN_REASON, "why: ", kind->reason);
            put_labelled(to, COLUMN_REASON, "change: ", kind->change);
        }
    }
}

/* Lines --------------------------------------------------------------------------------------- */

/* Wider than this, the list is left to JSON. */
enum { LINE_CORES_SHOWN = 12 };

/* Adds cpu to the list if it is new. */
static size_t core_add(int *cores, size_t count, int cpu)
{
    for (size_t i = 0; i < count; i++)
        if (cores[i] == cpu)
            return count;
    if (count < LINE_CORES_SHOWN + 1)
        cores[count++] = cpu;
    return count;
}

static const struct doctor_line *line_find(const struct doctor *doctor, int a, int b)
{
    for (size_t i = 0; i < doctor->lines_count; i++) {
        const struct doctor_line *line = &doctor->lines[i];
        if ((line->cpu_a == a && line->cpu_b == b) || (line->cpu_a == b && line->cpu_b == a))
            return line;
    }
    return NULL;
}

static void put_lines(FILE *to, const struct doctor *doctor)
{
    int cores[LINE_CORES_SHOWN + 1];
    size_t count = 0;
    for (size_t i = 0; i < doctor->lines_count; i++) {
        count = core_add(cores, count, doctor->lines[i].cpu_a);
        count = core_add(cores, count, doctor->lines[i].cpu_b);
    }
    if (count < 3) /* one pair is a finding already */
        return;
    fputs("\nRound trip of a cache line between cores, ns\n\n", to);
    if (count > LINE_CORES_SHOWN) {
        fprintf(to, "%s; --format json lists them\n", counted(doctor->lines_count, "pair").s);
        return;
    }
    fputs("core ", to);
    for (size_t i = 1; i < count; i++)
        fprintf(to, "%7d", cores[i]);
    for (size_t a = 0; a + 1 < count; a++) {
        fprintf(to, "\n%4d ", cores[a]);
        for (size_t b = 1; b < count; b++) {
            const struct doctor_line *line = b > a ? line_find(doctor, cores[a], cores[b]) : NULL;
            if (line)
                fprintf(to, "%7.0f", line->ns);
            else
                fprintf(to, "%7s", b > a ? "-" : "");
        }
    }
    fputc('\n', to);
}

void doctor_print(const struct doctor *doctor, FILE *to, bool colour)
{
    put_findings(to, doctor, colour);
    put_kinds(to, doctor);
    put_lines(to, doctor);
}
