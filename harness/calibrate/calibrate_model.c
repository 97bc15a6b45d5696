/* calibrate_model.c - see calibrate.h: which key of a model becomes what. */
#include "harness/calibrate/calibrate.h"

#include "harness/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { TEXT_SIZE = 32 };

static struct calibrate_value *value_at(struct calibrate *to, const char *key)
{
    return &to->value[machine_key_find(key)];
}

static void set(struct calibrate *to, const char *key, int64_t number, enum calibrate_origin origin)
{
    *value_at(to, key) =
        (struct calibrate_value){.value = {.number = number, .given = true}, .origin = origin};
}

static void note(struct calibrate *to, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void note(struct calibrate *to, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(value_at(to, key)->note, sizeof value_at(to, key)->note, format, args);
    va_end(args);
}

/* As another model has it, and why. */
static void take(struct calibrate *to, const struct machine_file *from, size_t key, const char *why)
{
    struct calibrate_value *value = &to->value[key];
    value->value = from->values.of[key];
    value->origin = CALIBRATE_TAKEN;
    snprintf(value->note, sizeof value->note, "taken from %s: %s", from->model.name, why);
}

/* Shape --------------------------------------------------------------------------------------- */

static bool divides(int part, int whole)
{
    return part > 0 && whole > 0 && whole % part == 0;
}

static void set_shape(struct calibrate *to)
{
    struct topology_shape *shape = &to->shape;
    int cores = shape->threads;
    bool whole = divides(shape->smt, shape->group) && divides(shape->group, shape->socket) &&
                 divides(shape->socket, cores) && cores <= SIM_CORES_MAX;
    if (cores < 1 || cores > SIM_CORES_MAX)
        cores = cores < 1 ? 1 : SIM_CORES_MAX;
    set(to, "cores", cores, CALIBRATE_REPORTED);
    set(to, "smt", whole ? shape->smt : 1, CALIBRATE_REPORTED);
    set(to, "group", whole ? shape->group : cores, CALIBRATE_REPORTED);
    set(to, "socket", whole ? shape->socket : cores, CALIBRATE_REPORTED);
    if (whole)
        return;
    static const char *const keys[] = {"smt", "group", "socket"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        value_at(to, keys[i])->origin = CALIBRATE_TAKEN;
        note(to, keys[i],
             "one L3 for all: what Linux reports is not regular (%d threads, %d a core, %d an L3, "
             "%d a package)",
             shape->threads, shape->smt, shape->group, shape->socket);
    }
}

static int64_t power_of_two_below(int64_t number)
{
    int64_t power = 1;
    while (power * 2 <= number)
        power *= 2;
    return power;
}

static void set_cache(struct calibrate *to, const struct machine_file *fallback, int level)
{
    char size[TEXT_SIZE], ways[TEXT_SIZE], words[TEXT_SIZE], inclusive[TEXT_SIZE];
    const struct topology_cache *cache = &to->shape.cache[level - 1];
    snprintf(size, sizeof size, "l%d.size", level);
    snprintf(ways, sizeof ways, "l%d.ways", level);
    snprintf(words, sizeof words, "l%d.replacement", level);
    snprintf(inclusive, sizeof inclusive, "l%d.inclusive", level);
    if (cache->bytes <= 0 || cache->ways <= 0 || cache->ways > 32) {
        take(to, fallback, machine_key_find(ways), "Linux reports no such cache, or not its ways");
        if (level == 3 && cache->bytes <= 0)
            set(to, size, 0, CALIBRATE_REPORTED);
        else
            take(to, fallback, machine_key_find(size),
                 "Linux reports no such cache, or not its ways");
    } else {
        int64_t set_bytes = (int64_t)SIM_LINE * cache->ways;
        int64_t reach = to->reach[level - 1];
        int64_t fits = power_of_two_below(cache->bytes / set_bytes) * set_bytes;
        if (reach) /* working sets grow by half a power of two: the cache is a whole one */
            fits = power_of_two_below(2 * reach / set_bytes - 1) * set_bytes;
        set(to, ways, cache->ways, CALIBRATE_REPORTED);
        set(to, size, fits, CALIBRATE_REPORTED);
        if (reach) {
            value_at(to, size)->origin = CALIBRATE_MEASURED;
            note(to, size, "of %" PRId64 " KiB that Linux reports this much is hit",
                 cache->bytes >> 10);
        } else if (fits != cache->bytes) {
            value_at(to, size)->origin = CALIBRATE_TAKEN;
            note(to, size,
                 "Linux reports %" PRId64 " bytes, of which this makes a power of two of sets",
                 cache->bytes);
        }
    }
    int64_t way_count = value_at(to, ways)->value.number;
    bool tree = (way_count & (way_count - 1)) == 0;
    set(to, words, tree ? SIM_PLRU : SIM_LRU, CALIBRATE_TAKEN);
    note(to, words,
         "cannot be measured; trees of bits are usual where the ways are a power of two");
    if (level > 1)
        set(to, inclusive, cache->inclusive, CALIBRATE_REPORTED);
}

/* Prices -------------------------------------------------------------------------------------- */

/* True for times that belong to the core, which follow its clock rate. */
static bool is_in_cycles(const char *key)
{
    static const char *const keys[] = {"l1.hit", "l2.hit", "l3.hit", "block", "store", "atomic",
                                       "fence",  "branch", "window", "relax", "work",  NULL};
    return text_is_word(key, keys);
}

static bool is_fitted(const char *key)
{
    return strcmp(key, "l1.hit") == 0 || strcmp(key, "block") == 0 || strcmp(key, "store") == 0;
}

/* A tenth of a cycle, or of a percent, is more than a measurement is good for. */
static int64_t rounded(double number)
{
    int64_t whole = llround(number), unit = 1;
    while (whole / unit >= 1000)
        unit *= 10;
    return (whole + unit / 2) / unit * unit;
}

static void set_time(struct calibrate *to, const struct calibrate_figure *figure)
{
    size_t key = machine_key_find(figure->name);
    if (is_in_cycles(figure->name))
        to->value[key].value =
            (struct machine_value){.number = llround(figure->median / to->cycle_ns * 100) * 10,
                                   .given = true,
                                   .cycles = true};
    else
        to->value[key].value =
            (struct machine_value){.number = rounded(figure->median * 1000), .given = true};
    to->value[key].origin = is_fitted(figure->name) ? CALIBRATE_FITTED : CALIBRATE_MEASURED;
}

/* A key whose figure came out as 0 but must be more. */
static void set_least(struct calibrate *to, size_t key)
{
    struct machine_value *value = &to->value[key].value;
    if (!value->cycles && value->number < machine_keys[key].min) {
        value->number = machine_keys[key].min;
        note(to, machine_keys[key].name, "measured less than the least that is valid");
    }
    if (value->cycles && value->number == 0 && machine_keys[key].min > 0)
        value->number = 10;
}

static void set_times(struct calibrate *to, const struct machine_file *fallback)
{
    for (size_t key = 0; key < MACHINE_KEYS; key++) {
        if (to->value[key].value.given || key == MACHINE_LOOKAHEAD)
            continue;
        const struct calibrate_figure *figure = calibrate_find(to, machine_keys[key].name);
        if (figure && !isnan(figure->median)) {
            set_time(to, figure);
            set_least(to, key);
        } else {
            take(to, fallback, key, figure ? figure->absent : "not measured");
        }
    }
}

/* Restores the order of two values, which noise may reverse since they were measured apart. */
static void set_order(struct calibrate *to, const char *least, const char *most)
{
    struct calibrate_value *low = value_at(to, least), *high = value_at(to, most);
    if (high->value.number < low->value.number || low->value.number == 0) {
        high->value = low->value;
        note(to, most, "no less than %s", least);
    }
}

bool calibrate_model(struct calibrate *to, const struct machine_file *fallback, struct error *error)
{
    memset(to->value, 0, sizeof to->value);
    set_shape(to);
    for (int level = 1; level <= 3; level++)
        set_cache(to, fallback, level);
    set(to, "prefetch", true, CALIBRATE_TAKEN);
    note(to, "prefetch", "cannot be measured; processors have prefetchers, and more of them");
    set(to, "clock", llround(1000 / to->cycle_ns) * 1000, CALIBRATE_MEASURED);
    take(to, fallback, machine_key_find("memory.remote"),
         "memory of another socket is not measured");
    set_times(to, fallback);
    set_order(to, "memory.local", "memory.remote");
    set_order(to, "network.median", "network.p99");
    set_order(to, "file.median", "file.p99");
    struct machine_values values;
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        values.of[i] = to->value[i].value;
    snprintf(to->model.name, sizeof to->model.name, "host");
    return machine_model_make(&to->model, &values, error) == MACHINE_KEYS;
}
