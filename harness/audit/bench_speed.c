/* bench_speed.c - see bench.h: how fast, beside other runtimes and beside the floor. The numbers
 * are those of the run's report. */
#include "harness/audit/bench.h"
#include "harness/base/json_fields.h"

#include "harness/answers/report_data.h"
#include "harness/records/records.h"
#include "harness/report/report_peers.h"
#include "harness/spec/peer_table.h"
#include "harness/tables/tables.h"

#include <string.h>

json_t *bench_speed(const char *run_folder, struct record_flaws *flaws, struct error *error)
{
    struct report report;
    if (tables_write(run_folder, error) < 0 || !report_load(&report, run_folder, error))
        return NULL;
    json_t *lines = report_peers_to_json(&report);
    *flaws = report.flaws;
    report_free(&report);
    if (json_array_size(lines) > 0)
        return lines;
    error_print(error, "%s: no workload was measured on another runtime or a floor", run_folder);
    json_decref(lines);
    return NULL;
}

/* Table --------------------------------------------------------------------------------------- */

/* Three digits, and no exponent. */
static void multiple_text(char *text, size_t size, double value)
{
    snprintf(text, size, value >= 999.5 ? "%.0f" : "%.3g", value);
}

/* "  1.84  1.79 to 1.88", as wide if there is none. */
static void ratio_print(FILE *to, const json_t *ratio, const char *instead)
{
    char middle[24], lo[24], hi[24], interval[64];
    if (!json_object_get(ratio, "ratio")) {
        fprintf(to, "%8s  %-17s", "", instead);
        return;
    }
    multiple_text(middle, sizeof middle, field_number(ratio, "ratio"));
    if (json_object_get(ratio, "lo")) {
        multiple_text(lo, sizeof lo, field_number(ratio, "lo"));
        multiple_text(hi, sizeof hi, field_number(ratio, "hi"));
        snprintf(interval, sizeof interval, "%s to %s", lo, hi);
    } else {
        snprintf(interval, sizeof interval, "too few");
    }
    fprintf(to, "%8s  %-17s", middle, interval);
}

/* Both ratios may be of unlike samples. */
static const char *class_of(const json_t *row, const json_t *over_floor)
{
    const char *peer = field_text(row, "class"), *floor = field_text(over_floor, "class");
    if (!*peer || !*floor || strcmp(peer, floor) == 0)
        return *peer ? peer : floor;
    return "unlike";
}

static void row_print(FILE *to, const json_t *line, const json_t *row)
{
    const char *variant = field_text(row, "variant"), *best = field_text(line, "best");
    const char *floor = field_text(line, "floor");
    const json_t *over_floor = json_object_get(row, "over_floor");
    const char *no_peer = strcmp(variant, best) == 0 ? "the best peer"
                          : *best                    ? "other distances"
                                                     : "-";
    const char *no_floor = strcmp(variant, floor) == 0 ? "the floor"
                           : *floor                    ? "other distances"
                                                       : "-";
    fprintf(to, "  %-24s", variant);
    ratio_print(to, row, no_peer);
    ratio_print(to, over_floor, no_floor);
    const json_t *compared = *field_text(row, "class") ? row : over_floor;
    if (json_object_get(compared, "n"))
        fprintf(to, " %3" JSON_INTEGER_FORMAT "  %s", field_integer(compared, "n"),
                class_of(row, over_floor));
    fputc('\n', to);
}

static void line_print(FILE *to, const json_t *line)
{
    json_int_t workers = field_integer(line, "workers");
    const char *best = field_text(line, "best"), *floor = field_text(line, "floor");
    fprintf(to, "%s, %" JSON_INTEGER_FORMAT " worker%s: best peer %s, floor %s\n",
            field_text(line, "workload"), workers, workers == 1 ? "" : "s", *best ? best : "none",
            *floor ? floor : "none");
    json_each(row, json_object_get(line, "ratios"))
        row_print(to, line, row);
}

/* Prints each variant and reason once. Skips floors that do not implement the workload. */
static void without_print(FILE *to, const json_t *lines)
{
    json_t *said = json_object();
    json_each(line, lines) {
        json_each(row, json_object_get(line, "without")) {
            char text[1024];
            if (peer_is_floor_name(field_text(row, "variant")) && record_is(row, "skipped"))
                continue;
            snprintf(text, sizeof text, "%s %s: %s", field_text(row, "status"),
                     field_text(row, "variant"), field_text(row, "reason"));
            if (!json_object_get(said, text))
                fprintf(to, "%s%s\n", json_object_size(said) == 0 ? "\nwithout numbers\n" : "",
                        text);
            json_object_set_new(said, text, json_true());
        }
    }
    json_decref(said);
}

void bench_speed_print(FILE *to, const json_t *lines)
{
    const char *group = "";
    size_t i;
    const json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (strcmp(group, field_text(line, "group")) != 0) {
            group = field_text(line, "group");
            fprintf(to, "%s%-26s%8s  %-17s%8s  %-17s %3s  %s\n", i > 0 ? "\n" : "", group, "speed",
                    "/ best peer", "time", "/ floor", "n", "class");
        }
        line_print(to, line);
    }
    without_print(to, lines);
}
