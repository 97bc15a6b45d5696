/* comparable.c - see comparable.h. */
#include "harness/evidence/comparable.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/records/records.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

double comparable_probe_ns(const json_t *record, const char *when)
{
    return field_number(json_object_get(json_object_get(record, "probe"), when), "line_ns");
}

static bool has_distance(const json_t *record)
{
    return field_integer(record, "workers") > 1 && record_is(record, "ok");
}

/* True for samples of blocks. Most other samples were taken because the cores were at another
 * distance. Records without `why` are of blocks. */
static bool is_of_block(const json_t *record)
{
    const char *why = field_text(record, "why");
    return strcmp(why, "top-up") != 0 && strcmp(why, "repeat") != 0;
}

/* True if a record with a core distance is of a block. If none is, all that have one teach. */
static bool blocks_teach(const json_t *records)
{
    json_each(record, records) {
        if (has_distance(record) && is_of_block(record))
            return true;
    }
    return false;
}

void comparable_learn(struct comparable *classes, const json_t *records)
{
    size_t count = json_array_size(records), n = 0, near = 0, far = 0;
    bool blocks = blocks_teach(records);
    double *line_ns = xcalloc(2 * count + 1, sizeof *line_ns);
    json_each(record, records) {
        if (!has_distance(record) || (blocks && !is_of_block(record)))
            continue;
        line_ns[n++] = comparable_probe_ns(record, "before");
        line_ns[n++] = comparable_probe_ns(record, "after");
    }
    core_distances_learn(&classes->distances, line_ns, n);
    free(line_ns);
    json_each(record, records) {
        if (blocks && !is_of_block(record))
            continue;
        enum core_distance distance = comparable_distance(classes, record);
        near += distance == DISTANCE_NEAR;
        far += distance == DISTANCE_FAR;
    }
    classes->common = core_distance_common(near, far);
}

enum core_distance comparable_distance(const struct comparable *classes, const json_t *record)
{
    if (!has_distance(record))
        return DISTANCE_NONE;
    return core_distance_of(&classes->distances, comparable_probe_ns(record, "before"),
                            comparable_probe_ns(record, "after"));
}

bool comparable_is_marked(const json_t *record)
{
    return json_array_size(json_object_get(record, "marks")) > 0;
}

bool comparable_steal_is_unknown(const json_t *record)
{
    return json_object_get(json_object_get(record, "steal_share"), "absent") != NULL;
}

double comparable_line_ns(const json_t *record)
{
    double before = comparable_probe_ns(record, "before"),
           after = comparable_probe_ns(record, "after");
    if (isnan(before) || isnan(after))
        return isnan(before) ? after : before;
    return sqrt(before * after);
}

/* CLASS_ALL for those that are neither near nor far. */
static enum cell_class class_of_distance(enum core_distance distance)
{
    return distance == DISTANCE_NEAR  ? CLASS_NEAR
           : distance == DISTANCE_FAR ? CLASS_FAR
                                      : CLASS_ALL;
}

bool class_holds(enum cell_class which, enum core_distance distance, bool marked)
{
    if (which == CLASS_ALL)
        return true;
    return !marked && (which == CLASS_QUIET || class_of_distance(distance) == which);
}

void class_count_add(struct class_counts *counts, enum core_distance distance, bool marked)
{
    counts->distances[distance]++;
    for (enum cell_class which = CLASS_ALL; which < CLASSES; which++)
        counts->held[which] += class_holds(which, distance, marked);
}

bool class_counts_have_distances(const struct class_counts *counts)
{
    return counts->distances[DISTANCE_NEAR] + counts->distances[DISTANCE_FAR] +
               counts->distances[DISTANCE_MIXED] >
           0;
}

/* The unmarked ones, if that are enough, and others. */
static enum cell_class quiet_of_cell(const struct class_counts *counts)
{
    size_t quiet = counts->held[CLASS_QUIET];
    return quiet >= CLASS_MIN && quiet < counts->held[CLASS_ALL] ? CLASS_QUIET : CLASS_ALL;
}

enum cell_class class_of_cell(const struct class_counts *counts, enum core_distance common)
{
    if (!class_counts_have_distances(counts))
        return quiet_of_cell(counts);
    enum cell_class own = class_of_distance(common);
    return counts->held[own] >= CLASS_MIN ? own : CLASS_ALL;
}

enum cell_class class_within(enum cell_class chosen, const struct class_counts *counts)
{
    bool distance = chosen == CLASS_NEAR || chosen == CLASS_FAR;
    return distance && !class_counts_have_distances(counts) ? quiet_of_cell(counts) : chosen;
}

/* How many samples of the class the smallest cell has; near or far, of cells with distances. */
static size_t least_held(const struct class_counts *cells, size_t count, enum cell_class which)
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if ((which == CLASS_QUIET || class_counts_have_distances(&cells[i])) &&
            cells[i].held[which] < least)
            least = cells[i].held[which];
    return least;
}

static bool several_distances(const struct class_counts *cells, size_t count)
{
    int distances = 0;
    for (enum core_distance distance = DISTANCE_NEAR; distance <= DISTANCE_MIXED; distance++) {
        size_t samples = 0;
        for (size_t i = 0; i < count; i++)
            samples += cells[i].distances[distance];
        distances += samples > 0;
    }
    return distances > 1;
}

static enum cell_class choose_distance(const struct class_counts *cells, size_t count,
                                       enum core_distance preferred)
{
    enum cell_class first = class_of_distance(preferred);
    if (first != CLASS_ALL && least_held(cells, count, first) >= CLASS_MIN)
        return first;
    size_t near = least_held(cells, count, CLASS_NEAR), far = least_held(cells, count, CLASS_FAR);
    if ((near > far ? near : far) < CLASS_MIN)
        return CLASS_ALL;
    return far > near ? CLASS_FAR : CLASS_NEAR;
}

static enum cell_class choose_quiet(const struct class_counts *cells, size_t count)
{
    size_t marked = 0;
    for (size_t i = 0; i < count; i++)
        marked += cells[i].held[CLASS_ALL] - cells[i].held[CLASS_QUIET];
    bool enough = least_held(cells, count, CLASS_QUIET) >= CLASS_MIN;
    return marked > 0 && enough ? CLASS_QUIET : CLASS_ALL;
}

struct class_choice class_choose(const struct class_counts *cells, size_t count,
                                 enum core_distance preferred)
{
    size_t with_distances = 0;
    for (size_t i = 0; i < count; i++)
        with_distances += class_counts_have_distances(&cells[i]);
    if (with_distances == 0)
        return (struct class_choice){.chosen = choose_quiet(cells, count)};
    enum cell_class chosen = choose_distance(cells, count, preferred);
    bool enough = least_held(cells, count, CLASS_ALL) >= CLASS_MIN;
    return (struct class_choice){.chosen = chosen,
                                 .unlike = chosen == CLASS_ALL && enough &&
                                           several_distances(cells, count),
                                 .partial = with_distances < count};
}

static const char *const texts[CLASSES] = {"all", "quiet", "near", "far"};

const char *class_text(enum cell_class which)
{
    return texts[which];
}

enum cell_class class_of_text(const char *text)
{
    for (enum cell_class which = CLASS_ALL; text && which < CLASSES; which++)
        if (strcmp(texts[which], text) == 0)
            return which;
    return CLASS_ALL;
}
