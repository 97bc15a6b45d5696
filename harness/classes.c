/* classes.c - see classes.h. */
#include "harness/classes.h"

#include "harness/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double classes_probe_ns(const json_t *record, const char *when)
{
    return record_number(json_object_get(json_object_get(record, "probe"), when), "line_ns");
}

static bool has_mood(const json_t *record)
{
    return json_integer_value(json_object_get(record, "workers")) > 1 && record_is(record, "ok");
}

/* Of samples beside those of blocks there are most where the machine was in another mood. Records
 * without `why` are of blocks. */
static bool is_of_block(const json_t *record)
{
    const char *why = record_text(record, "why");
    return strcmp(why, "top-up") != 0 && strcmp(why, "repeat") != 0;
}

/* Whether one of the records with a mood is of a block: if none is, all that have one teach. */
static bool blocks_teach(const json_t *records)
{
    size_t i;
    const json_t *record;
    json_array_foreach(records, i, record)
    {
        if (has_mood(record) && is_of_block(record))
            return true;
    }
    return false;
}

void classes_learn(struct classes *classes, const json_t *records)
{
    size_t count = json_array_size(records), n = 0, i, near = 0, far = 0;
    bool blocks = blocks_teach(records);
    double *line_ns = calloc(2 * count + 1, sizeof *line_ns);
    const json_t *record;
    if (!line_ns)
        abort();
    json_array_foreach(records, i, record)
    {
        if (!has_mood(record) || (blocks && !is_of_block(record)))
            continue;
        line_ns[n++] = classes_probe_ns(record, "before");
        line_ns[n++] = classes_probe_ns(record, "after");
    }
    moods_learn(&classes->moods, line_ns, n);
    free(line_ns);
    json_array_foreach(records, i, record)
    {
        if (blocks && !is_of_block(record))
            continue;
        enum mood mood = classes_mood(classes, record);
        near += mood == MOOD_NEAR;
        far += mood == MOOD_FAR;
    }
    classes->common = far > near ? MOOD_FAR : near > 0 ? MOOD_NEAR : MOOD_NONE;
}

enum mood classes_mood(const struct classes *classes, const json_t *record)
{
    if (!has_mood(record))
        return MOOD_NONE;
    return mood_of(&classes->moods, classes_probe_ns(record, "before"),
                   classes_probe_ns(record, "after"));
}

bool classes_is_marked(const json_t *record)
{
    return json_array_size(json_object_get(record, "marks")) > 0;
}

double classes_line_ns(const json_t *record)
{
    double before = classes_probe_ns(record, "before"), after = classes_probe_ns(record, "after");
    if (isnan(before) || isnan(after))
        return isnan(before) ? after : before;
    return sqrt(before * after);
}

bool class_holds(enum cell_class which, enum mood mood, bool marked)
{
    if (which == CLASS_ALL)
        return true;
    return !marked && (which == CLASS_QUIET || class_of_mood(mood) == which);
}

enum cell_class class_of_mood(enum mood mood)
{
    return mood == MOOD_NEAR ? CLASS_NEAR : mood == MOOD_FAR ? CLASS_FAR : CLASS_ALL;
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
