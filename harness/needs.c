/* needs.c - see needs.h. */
#include "harness/needs.h"

#include "harness/child.h"
#include "harness/records.h"
#include "harness/statistics.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUTS_MAX = 2 };

/* That of the tables, so that both have the same interval. */
static const uint64_t BOOTSTRAP_SEED = 1;

static const char *const why_words[] = {[WHY_BLOCK] = "block"};

enum { WHYS = sizeof why_words / sizeof why_words[0] };

const char *why_text(enum why why)
{
    return why_words[why];
}

void needs_begin(struct needs *needs, const struct sweep_file *sweep, struct plan *plan)
{
    size_t sets = 0;
    for (size_t i = 0; i < plan->count; i++)
        sets = plan->cells[i].set >= sets ? plan->cells[i].set + 1 : sets;
    *needs = (struct needs){.sweep = sweep, .plan = plan};
    needs->open = calloc(sets + 1, sizeof *needs->open);
    if (!needs->open)
        abort();
}

void needs_end(struct needs *needs)
{
    free(needs->open);
}

/* Notes --------------------------------------------------------------------------------------- */

/* Records without `why` are of blocks: there was nothing else when they were made. */
static enum why why_of_record(const json_t *record)
{
    const char *text = record_text(record, "why");
    for (int why = WHY_BLOCK; why < WHYS; why++)
        if (strcmp(text, why_words[why]) == 0)
            return (enum why)why;
    return WHY_BLOCK;
}

bool needs_note(struct cell *cell, const json_t *record)
{
    const char *status = record_text(record, "status");
    struct note note = {
        .block = (unsigned)json_integer_value(json_object_get(record, "block")),
        .why = why_of_record(record),
        .ok = strcmp(status, "ok") == 0,
        .throughput = NAN,
    };
    if (note.ok)
        note.throughput = json_number_value(json_object_get(record, "throughput"));
    if (cell->notes_count > 0 && cell->notes[cell->notes_count - 1].block >= note.block)
        return false;
    cell->notes = realloc(cell->notes, (cell->notes_count + 1) * sizeof *cell->notes);
    if (!cell->notes)
        abort();
    cell->notes[cell->notes_count++] = note;
    cell->timeouts += child_record_timed_out(record);
    cell->given_up = strcmp(status, "skipped") == 0 || cell->timeouts >= TIMEOUTS_MAX;
    return true;
}

/* A cell as it was before a block: its notes of earlier blocks only. */
struct past {
    const struct note *notes;
    size_t count;
    bool given_up;
    bool failed; /* has a sample that is not ok, so no median */
};

static struct past past_of(const struct cell *cell, unsigned block)
{
    struct past past = {.notes = cell->notes, .count = cell->notes_count};
    while (past.count > 0 && cell->notes[past.count - 1].block >= block)
        past.count--;
    past.given_up = cell->given_up && past.count == cell->notes_count;
    for (size_t i = 0; i < past.count; i++)
        past.failed = past.failed || !past.notes[i].ok;
    return past;
}

static double past_width(const struct past *past)
{
    double *x = calloc(past->count + 1, sizeof *x);
    size_t n = 0;
    if (!x)
        abort();
    for (size_t i = 0; i < past->count; i++)
        if (past->notes[i].why == WHY_BLOCK && past->notes[i].ok)
            x[n++] = past->notes[i].throughput;
    double width = NAN;
    if (!past->failed && n >= SWEEP_WIDTH_SAMPLES) {
        struct interval interval = statistics_median(x, n, BOOTSTRAP_SEED);
        width = 100 * (interval.hi - interval.lo) / interval.median;
    }
    free(x);
    return width;
}

double needs_width(const struct cell *cell)
{
    struct past past = past_of(cell, UINT_MAX);
    return past_width(&past);
}

/* Blocks -------------------------------------------------------------------------------------- */

/* Whether the cell's own samples before the block leave something to be wished. */
static bool cell_needs_block(const struct needs *needs, const struct cell *cell, unsigned block)
{
    const struct sweep_file *sweep = needs->sweep;
    struct past past = past_of(cell, block);
    if (past.given_up || block >= (unsigned)sweep->reps_max)
        return false;
    if (block < (unsigned)sweep->reps)
        return true;
    if (sweep->width == 0 || past.failed)
        return false;
    return !(past_width(&past) < (double)sweep->width); /* also while there is none */
}

size_t needs_next(struct needs *needs, unsigned block)
{
    struct plan *plan = needs->plan;
    size_t held = 0;
    for (size_t i = 0; i < plan->count; i++)
        needs->open[plan->cells[i].set] = false;
    for (size_t i = 0; i < plan->count; i++)
        if (!needs->open[plan->cells[i].set])
            needs->open[plan->cells[i].set] = cell_needs_block(needs, &plan->cells[i], block);
    for (size_t i = 0; i < plan->count; i++) {
        struct cell *cell = &plan->cells[i];
        struct past past = past_of(cell, block);
        bool in = needs->open[cell->set] && !past.given_up;
        bool done = cell->given_up || cell->notes_count > past.count;
        cell->why = in && !done ? WHY_BLOCK : WHY_NONE;
        held += in;
    }
    return held;
}

/* The end ------------------------------------------------------------------------------------- */

static unsigned cell_count(const struct cell *cell, enum why why)
{
    unsigned n = 0;
    for (size_t i = 0; i < cell->notes_count; i++)
        n += cell->notes[i].why == why;
    return n;
}

/* The block after the cell's last one. */
static unsigned cell_block_next(const struct cell *cell)
{
    return cell->notes_count > 0 ? cell->notes[cell->notes_count - 1].block + 1 : 0;
}

const char *needs_stop(const struct needs *needs, const struct cell *cell)
{
    if (cell->given_up)
        return "given-up";
    if (cell_needs_block(needs, cell, cell_block_next(cell)))
        return "interrupted";
    if (needs->sweep->width == 0)
        return "reps";
    if (past_of(cell, UINT_MAX).failed)
        return "given-up";
    return needs_width(cell) < (double)needs->sweep->width ? "width" : "limit";
}

static json_t *width_to_json(double width)
{
    if (isnan(width))
        return json_pack("{ss}", "absent", "too few samples, or failed ones");
    return json_real(width);
}

static json_t *cell_to_json(const struct needs *needs, const struct cell *cell)
{
    return json_pack("{ss ss ss si si si ss so}", "cell", cell->id, "variant", cell->variant,
                     "workload", cell->workload, "workers", cell->workers, "samples",
                     (int)cell->notes_count, "blocks", (int)cell_count(cell, WHY_BLOCK), "stop",
                     needs_stop(needs, cell), "width_percent", width_to_json(needs_width(cell)));
}

json_t *needs_to_json(const struct needs *needs)
{
    const struct sweep_file *sweep = needs->sweep;
    json_t *cells = json_array();
    for (size_t i = 0; i < needs->plan->count; i++)
        json_array_append_new(cells, cell_to_json(needs, &needs->plan->cells[i]));
    return json_pack("{si sI sI sI so}", "schema", 1, "reps", (json_int_t)sweep->reps, "reps_max",
                     (json_int_t)sweep->reps_max, "width", (json_int_t)sweep->width, "cells",
                     cells);
}

void needs_tell(const struct needs *needs, FILE *to)
{
    size_t narrow = 0, limited = 0;
    const struct sweep_file *sweep = needs->sweep;
    for (size_t i = 0; i < needs->plan->count; i++) {
        const char *stop = needs_stop(needs, &needs->plan->cells[i]);
        narrow += strcmp(stop, "width") == 0;
        limited += strcmp(stop, "limit") == 0;
    }
    if (sweep->width > 0)
        fprintf(to,
                "%zu cells have an interval narrower than %" PRId64 " %%, %zu stopped at %" PRId64
                " samples without\n",
                narrow, sweep->width, limited, sweep->reps_max);
}
