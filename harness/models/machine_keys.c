/* machine_keys.c - see machine_keys.h. */
#include "harness/models/machine_keys.h"

#include "harness/base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    WAYS_MAX = 32,
    DECIMALS = 3,
};

#define PS INT64_C(1)
#define NS (1000 * PS)
#define US (1000 * NS)
#define MS (1000 * US)
#define SECOND (1000 * MS)
#define MHZ INT64_C(1000)
#define GHZ (1000 * MHZ)

#define ACCESS_MAX (100 * US) /* what takes longer is no access to memory, and runs would not end */

static const char *const truth_words[] = {"no", "yes", NULL};
static const char *const replacement_words[] = {
    [SIM_LRU] = "lru", [SIM_PLRU] = "plru", [SIM_PLRU + 1] = NULL};

#define KEY(name_, kind_, field_, min_, max_, word_, help_)                                        \
    {                                                                                              \
        .name = (name_), .kind = (kind_), .offset = offsetof(struct sim_model, field_),            \
        .size = sizeof((struct sim_model *)NULL)->field_, .min = (min_), .max = (max_),            \
        .word = (word_), .help = (help_)                                                           \
    }
#define COUNT(name, max, help) KEY(#name, MACHINE_COUNT, name, 1, max, NULL, help)
#define TIME(name, field, help) KEY(name, MACHINE_TIME, field, 0, SECOND, NULL, help)
#define ACCESS(name, field, help) KEY(name, MACHINE_TIME, field, 0, ACCESS_MAX, NULL, help)
#define WORD(name, field, words, help) KEY(name, MACHINE_WORD, field, 0, 1, words, help)
#define L1_MAX ((int64_t)UINT16_MAX * SIM_LINE)
#define CACHE(level, least, most, what)                                                            \
    KEY(#level ".size", MACHINE_BYTES, level.size, least, most, NULL, what),                       \
        KEY(#level ".ways", MACHINE_COUNT, level.ways, 1, WAYS_MAX, NULL,                          \
            "lines that may be in one set"),                                                       \
        ACCESS(#level ".hit", level.hit_ps, "a load that hits here, beyond what a block costs"),   \
        WORD(#level ".replacement", level.replacement, replacement_words,                          \
             "true LRU, or the tree of bits that processors have")
#define INCLUSIVE(level)                                                                           \
    WORD(#level ".inclusive", level.inclusive, truth_words,                                        \
         "what is evicted here leaves the levels above as well")
#define BY_DISTANCE(name, what)                                                                    \
    ACCESS(#name ".near", name##_ps[SIM_NEAR], what " in the same L3 group"),                      \
        ACCESS(#name ".socket", name##_ps[SIM_SOCKET], what " in the same socket"),                \
        ACCESS(#name ".remote", name##_ps[SIM_REMOTE], what " in another socket")
#define LATENCY(name, what)                                                                        \
    TIME(#name ".median", name.median_ps, what ": the median"),                                    \
        TIME(#name ".p99", name.p99_ps, what ": the 99th percentile")

const struct machine_key machine_keys[MACHINE_KEYS] = {
    [MACHINE_CORES] = COUNT(cores, SIM_CORES_MAX, "hardware threads, each of which runs one M"),
    [MACHINE_SMT] = COUNT(smt, 8, "hardware threads that share one L1 and L2"),
    [MACHINE_GROUP] = COUNT(group, SIM_CORES_MAX, "hardware threads that share one L3"),
    [MACHINE_SOCKET] = COUNT(socket, SIM_CORES_MAX, "hardware threads of a socket"),
    KEY("clock", MACHINE_CLOCK, clock_khz, 100 * MHZ, 10 * GHZ, NULL,
        "how long a cycle is, for what is given in cycles"),
    CACHE(l1, 1024, L1_MAX, "of a core's data cache"),
    CACHE(l2, 1024, INT64_C(1) << 30, "of a core's second level"),
    INCLUSIVE(l2),
    CACHE(l3, 0, INT64_C(1) << 30, "of a group's third level; 0: there is none"),
    INCLUSIVE(l3),
    WORD("prefetch", prefetch, truth_words, "the next line comes along after a miss in L2"),
    BY_DISTANCE(clean, "getting a line that a core has unchanged,"),
    BY_DISTANCE(dirty, "getting a line that a core has changed,"),
    BY_DISTANCE(upgrade, "writing to a line that is here already, the farthest sharer"),
    ACCESS("memory.local", memory_ps[0], "getting a line from the memory of this socket"),
    ACCESS("memory.remote", memory_ps[1], "getting a line from the memory of another socket"),
    KEY("block", MACHINE_TIME, block_ps, PS, SECOND, NULL,
        "a basic block: the clock of code that touches no memory"),
    ACCESS("store", store_ps, "a store that hits L1, beyond what a block costs"),
    ACCESS("atomic", atomic_ps, "a read-modify-write, beyond getting the line"),
    ACCESS("fence", fence_ps, "a fence"),
    ACCESS("branch", branch_ps, "a mispredicted branch"),
    TIME("window", window_ps,
         "how far a core runs on past a miss (its reorder buffer), in its own time"),
    KEY("relax", MACHINE_TIME, relax_ps, PS, SECOND, NULL, "a spin loop's hint"),
    KEY("work", MACHINE_TIME, work_ps, PS, SECOND, NULL, "a round of go_work()"),
    TIME("now", clock_ps, "reading the clock"),
    KEY("call", MACHINE_TIME, call_ps, PS, SECOND, NULL, "the shortest system call"),
    TIME("wait", wait_ps, "going to sleep on a futex, up to the switch"),
    TIME("wake", wake_ps, "waking a sleeper, for who wakes it"),
    TIME("wakeup", wakeup_ps, "from being woken to running, on an idle core"),
    TIME("switch", switch_ps, "from one thread to another on a core"),
    TIME("signal", signal_ps, "from sending a signal to its handler"),
    TIME("start", start_ps, "starting a thread, for who starts it"),
    TIME("end", end_ps, "ending a thread, and its first steps, for itself"),
    KEY("slice", MACHINE_TIME, slice_ps, US, SECOND, NULL,
        "what a thread may run while others wait for its core"),
    TIME("slack", slack_ps, "by how much sleeps are prolonged"),
    TIME("membarrier", membarrier_ps,
         "a membarrier() system call, while other cores run the program"),
    TIME("interrupt", interrupt_ps, "what that takes from each of them"),
    LATENCY(network, "from one end of a connection to the other"),
    LATENCY(file, "reading or writing a file"),
    [MACHINE_LOOKAHEAD] =
        TIME("lookahead", lookahead_ps, "by how much a core may run ahead of the others"),
};
_Static_assert(sizeof machine_keys / sizeof machine_keys[0] == MACHINE_KEYS,
               "MACHINE_KEYS_BEFORE_LOOKAHEAD counts the keys before lookahead");

size_t machine_key_find(const char *name)
{
    size_t i = 0;
    while (i < MACHINE_KEYS && strcmp(machine_keys[i].name, name) != 0)
        i++;
    return i;
}

/* Texts --------------------------------------------------------------------------------------- */

struct unit {
    const char *name;
    int64_t factor;
};

/* The largest first; what only the parser knows comes last. */
static const struct unit byte_units[] = {
    {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1},
    {"Gi", 1 << 30},  {"Mi", 1 << 20},  {"Ki", 1 << 10},  {NULL, 0},
};
static const struct unit time_units[] = {{"s", SECOND}, {"ms", MS}, {"us", US},
                                         {"ns", NS},    {"ps", PS}, {NULL, 0}};
static const struct unit clock_units[] = {{"GHz", GHZ}, {"MHz", MHZ}, {NULL, 0}};
static const struct unit count_units[] = {{"", 1}, {NULL, 0}};

static const struct unit *const units[] = {[MACHINE_COUNT] = count_units,
                                           [MACHINE_BYTES] = byte_units,
                                           [MACHINE_TIME] = time_units,
                                           [MACHINE_CLOCK] = clock_units,
                                           [MACHINE_WORD] = count_units};

/* A number with up to DECIMALS decimals, in thousandths; what follows it, or NULL if there is none.
 */
static const char *thousandths_parse(const char *text, int64_t *thousandths)
{
    int64_t number = 0;
    int decimals = -1; /* none yet, not even a point */
    if (!isdigit((unsigned char)*text))
        return NULL;
    for (; isdigit((unsigned char)*text) || (*text == '.' && decimals < 0); text++) {
        if (*text == '.') {
            decimals = 0;
            continue;
        }
        if (decimals >= 0 && ++decimals > DECIMALS)
            return NULL;
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *text - '0', &number))
            return NULL;
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < DECIMALS; decimals++)
        if (__builtin_mul_overflow(number, 10, &number))
            return NULL;
    *thousandths = number;
    return text;
}

/* False if text is no number with a unit of that kind, or no whole number of the smallest one. */
static bool number_parse(enum machine_kind kind, const char *text, struct machine_value *value)
{
    int64_t thousandths;
    text = thousandths_parse(text, &thousandths);
    if (!text)
        return false;
    text += *text == ' ';
    *value = (struct machine_value){.given = true};
    if (kind == MACHINE_TIME && (strcmp(text, "cycles") == 0 || strcmp(text, "cycle") == 0)) {
        value->number = thousandths;
        value->cycles = true;
        return true;
    }
    for (const struct unit *unit = units[kind]; unit->name; unit++) {
        if (strcmp(unit->name, text) != 0)
            continue;
        return !__builtin_mul_overflow(thousandths, unit->factor, &value->number) &&
               value->number % 1000 == 0 && (value->number /= 1000, true);
    }
    return thousandths == 0 && *text == '\0';
}

/* The range does not bind cycles, whose length is not known yet; machine_model_make() looks. */
static bool value_is_valid(const struct machine_key *key, struct machine_value value)
{
    return value.cycles || (value.number >= key->min && value.number <= key->max);
}

bool machine_value_parse(const struct machine_key *key, const char *text,
                         struct machine_value *value, struct error *error)
{
    if (key->kind == MACHINE_WORD) {
        for (int64_t i = 0; key->word[i]; i++) {
            if (strcmp(key->word[i], text) == 0) {
                *value = (struct machine_value){.number = i, .given = true};
                return true;
            }
        }
    } else if (number_parse(key->kind, text, value) && value_is_valid(key, *value)) {
        return true;
    }
    error_print(error, "%s is %.40s; valid: %s", key->name, *text ? text : "empty",
                machine_key_range_text(key).s);
    text_one_line(error->text);
    return false;
}

static struct machine_text decimal_text(int64_t thousandths, const char *unit, bool space)
{
    struct machine_text text;
    char decimals[8] = "";
    snprintf(decimals, sizeof decimals, ".%03d", (int)(thousandths % 1000));
    for (size_t end = strlen(decimals); end > 0 && strchr("0.", decimals[end - 1]); end--)
        decimals[end - 1] = '\0';
    snprintf(text.s, sizeof text.s, "%" PRId64 "%s%s%s", thousandths / 1000, decimals,
             space && *unit ? " " : "", unit);
    return text;
}

struct machine_text machine_value_text(const struct machine_key *key, struct machine_value value,
                                       bool space)
{
    struct machine_text text = {"0"};
    if (key->kind == MACHINE_WORD)
        snprintf(text.s, sizeof text.s, "%s", key->word[value.number]);
    if (key->kind != MACHINE_WORD && value.cycles)
        return decimal_text(value.number, value.number == 1000 ? "cycle" : "cycles", space);
    if (key->kind == MACHINE_WORD || value.number == 0)
        return text;
    const struct unit *unit = units[key->kind];
    /* the largest unit of which it is one at least, and that three decimals can tell */
    while (unit[1].name && (value.number < unit->factor || value.number * 1000 % unit->factor != 0))
        unit++;
    return decimal_text(value.number / unit->factor * 1000 +
                            value.number % unit->factor * 1000 / unit->factor,
                        unit->name, space);
}

struct machine_text machine_key_range_text(const struct machine_key *key)
{
    struct machine_text text;
    struct machine_value min = {.number = key->min}, max = {.number = key->max};
    const char *in = key->kind == MACHINE_TIME
                         ? ", in cycles, ps, ns, us, ms or s, with three decimals at most"
                     : key->kind == MACHINE_BYTES ? ", in B, KiB, MiB or GiB"
                     : key->kind == MACHINE_CLOCK ? ", in MHz or GHz, with three decimals at most"
                                                  : "";
    snprintf(text.s, sizeof text.s, "%.40s%s%.40s%s", machine_value_text(key, min, true).s,
             key->kind == MACHINE_WORD ? ", " : " to ", machine_value_text(key, max, true).s, in);
    return text;
}

/* Models -------------------------------------------------------------------------------------- */

static void model_set(struct sim_model *model, const struct machine_key *key, int64_t number)
{
    void *field = (char *)model + key->offset;
    if (key->size == sizeof(int64_t))
        *(int64_t *)field = number;
    else if (key->size == sizeof(bool))
        *(bool *)field = number != 0;
    else
        *(int *)field = (int)number; /* the enum of replacements too */
}
_Static_assert(sizeof(enum sim_replacement) == sizeof(int), "model_set() sets it as one");

int64_t machine_model_get(const struct sim_model *model, const struct machine_key *key)
{
    const void *field = (const char *)model + key->offset;
    if (key->size == sizeof(int64_t))
        return *(const int64_t *)field;
    if (key->size == sizeof(bool))
        return *(const bool *)field;
    return *(const int *)field;
}

json_t *machine_model_to_json(const struct sim_model *model)
{
    json_t *object = json_object();
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        const struct machine_key *key = &machine_keys[i];
        int64_t value = machine_model_get(model, key);
        json_object_set_new(object, key->name,
                            key->word ? json_string(key->word[value]) : json_integer(value));
    }
    return object;
}

/* A model being checked: the key that is wrong, and why. */
struct checking {
    size_t key;
    struct error *error;
};

/* A mistake of the key, or of the part of a section: "l2", "size". Returns false. */
static bool __attribute__((format(printf, 4, 5)))
wrong(struct checking *checking, const char *section, const char *part, const char *format, ...)
{
    char key[32];
    va_list args;
    snprintf(key, sizeof key, "%s%s%s", section, *part ? "." : "", part);
    checking->key = machine_key_find(key);
    va_start(args, format);
    vsnprintf(checking->error->text, sizeof checking->error->text, format, args);
    va_end(args);
    return false;
}

static bool check_shape(const struct sim_model *model, struct checking *checking)
{
    if (model->group % model->smt != 0)
        return wrong(checking, "group", "", "group is %d, and smt %d; valid: multiples of smt",
                     model->group, model->smt);
    if (model->socket % model->group != 0)
        return wrong(checking, "socket", "",
                     "socket is %d, and group %d; valid: multiples of group", model->socket,
                     model->group);
    return model->cores % model->socket == 0 ||
           wrong(checking, "cores", "", "cores is %d, and socket %d; valid: multiples of socket",
                 model->cores, model->socket);
}

static bool is_power_of_two(int64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

static bool check_cache(const struct sim_cache_model *cache, const char *level,
                        struct checking *checking)
{
    int64_t set = (int64_t)cache->ways * SIM_LINE;
    if (cache->size > 0 && (cache->size % set != 0 || !is_power_of_two(cache->size / set)))
        return wrong(checking, level, "size",
                     "%s.size is %" PRId64 " bytes, and %s.ways %d; valid: a power of two times "
                     "%d bytes times ways",
                     level, cache->size, level, cache->ways, SIM_LINE);
    return cache->replacement != SIM_PLRU || is_power_of_two(cache->ways) ||
           wrong(checking, level, "ways",
                 "%s.ways is %d, and %s.replacement plru; valid: a power of two, or lru", level,
                 cache->ways, level);
}

/* A line that an inclusive level evicts leaves those above too: a small one would empty them. */
static bool check_inclusive(const struct sim_cache_model *cache, const char *level,
                            const struct sim_cache_model *above, const char *above_name,
                            struct checking *checking)
{
    return !cache->inclusive || cache->size <= 0 || cache->size >= above->size ||
           wrong(checking, level, "size",
                 "%s.size is %" PRId64 " bytes, and %s.size %" PRId64
                 "; valid: as much or more, or %s.inclusive no",
                 level, cache->size, above_name, above->size, level);
}

static bool check_latency(const struct sim_latency *latency, const char *name,
                          struct checking *checking)
{
    return (latency->p99_ps >= latency->median_ps &&
            (latency->median_ps > 0 || latency->p99_ps == 0)) ||
           wrong(checking, name, "p99",
                 "%s.p99 is %" PRId64 " ps, and %s.median %" PRId64
                 " ps; valid: the median or more, and 0 if that is",
                 name, latency->p99_ps, name, latency->median_ps);
}

/* The smallest latency with which one core can affect another one. It is that of a line that is
 * clean or dirty in the other core, of an upgrade, or, with siblings, of the L1 that they share. */
static int64_t lookahead_max(const struct sim_model *model)
{
    const int64_t *of[] = {model->clean_ps, model->dirty_ps, model->upgrade_ps};
    enum sim_distance nearest = model->group > model->smt      ? SIM_NEAR
                                : model->socket > model->group ? SIM_SOCKET
                                                               : SIM_REMOTE;
    int64_t least = model->smt > 1 ? model->l1.hit_ps : INT64_MAX;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        for (int distance = nearest; distance < SIM_DISTANCES; distance++)
            if (of[i][distance] < least)
                least = of[i][distance];
    return least;
}

static bool check_lookahead(const struct sim_model *model, struct checking *checking)
{
    const struct machine_key *key = &machine_keys[MACHINE_LOOKAHEAD];
    const struct machine_value is = {.number = model->lookahead_ps},
                               most = {.number = lookahead_max(model)};
    return is.number <= most.number ||
           wrong(checking, key->name, "",
                 "lookahead is %s; valid: 0 to %s, the smallest latency with which one core can "
                 "affect another",
                 machine_value_text(key, is, true).s, machine_value_text(key, most, true).s);
}

static bool check_model(const struct sim_model *model, struct checking *checking)
{
    return check_shape(model, checking) && check_cache(&model->l1, "l1", checking) &&
           check_cache(&model->l2, "l2", checking) && check_cache(&model->l3, "l3", checking) &&
           check_inclusive(&model->l2, "l2", &model->l1, "l1", checking) &&
           check_inclusive(&model->l3, "l3", &model->l2, "l2", checking) &&
           check_latency(&model->network, "network", checking) &&
           check_latency(&model->file, "file", checking) && check_lookahead(model, checking);
}

/* Half a picosecond is rounded up. */
static int64_t ps_of(struct machine_value value, int64_t clock_khz)
{
    if (!value.cycles)
        return value.number;
    __int128 ps = (__int128)value.number * 1000000;
    return (int64_t)((ps + clock_khz / 2) / clock_khz);
}

size_t machine_model_make(struct sim_model *model, const struct machine_values *values,
                          struct error *error)
{
    struct checking checking = {MACHINE_KEYS, error};
    int64_t clock_khz = values->of[machine_key_find("clock")].number;
    for (size_t i = 0; i < MACHINE_KEYS; i++) {
        const struct machine_key *key = &machine_keys[i];
        int64_t number = values->of[i].number;
        if (i == MACHINE_LOOKAHEAD && !values->of[i].given)
            number = lookahead_max(model);
        else if (key->kind == MACHINE_TIME)
            number = ps_of(values->of[i], clock_khz);
        if (number < key->min || number > key->max) {
            wrong(&checking, key->name, "", "%s is %" PRId64 " ps; valid: %s", key->name, number,
                  machine_key_range_text(key).s);
            return i;
        }
        model_set(model, key, number);
    }
    check_model(model, &checking);
    return checking.key;
}
