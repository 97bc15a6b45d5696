/* advise_print.c - an advice in ten lines, and as JSON: see advise.h. */
#include "harness/advice/advise.h"
#include "harness/base/text.h"
#include "harness/numbers/units.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 3 };

static const double CHANGE_MIN = 0.03, NEAR = 0.15; /* shares */

double advice_change(double value, double base)
{
    return base > 0 ? value / base - 1 : 0;
}

double advice_threshold(const struct advice *advice)
{
    return advice->chance > CHANGE_MIN ? advice->chance : CHANGE_MIN;
}

static double largest_change(const struct advice *advice, const struct advise_case *of)
{
    const struct advise_case *base = &advice->ladder[advice->knee];
    double p99 = fabs(advice_change(of->p99_ns, base->p99_ns));
    double makespan = fabs(advice_change(of->makespan_ns, base->makespan_ns));
    return p99 > makespan ? p99 : makespan;
}

bool advice_is_of_latency(const struct advice *advice)
{
    return advice->last_ns > 0;
}

double advice_measure(const struct advice *advice, const struct advise_case *of)
{
    return advice_is_of_latency(advice) ? of->p99_ns : of->makespan_ns;
}

/* How a case changes the figure that counts. */
static double change_of(const struct advice *advice, const struct advise_case *of)
{
    return advice_change(advice_measure(advice, of),
                         advice_measure(advice, &advice->ladder[advice->knee]));
}

/* How a decision changes the figure that counts. */
enum advise_effect { EFFECT_HELPS, EFFECT_HURTS, EFFECT_EVEN, EFFECT_ABSENT };

static enum advise_effect advice_effect(const struct advice *advice, const struct advise_case *of)
{
    double change = change_of(advice, of);
    if (!of->is_there)
        return EFFECT_ABSENT;
    return change < -advice_threshold(advice)  ? EFFECT_HELPS
           : change > advice_threshold(advice) ? EFFECT_HURTS
                                               : EFFECT_EVEN;
}

/* By effect, and by how large it is; of those without one the other figure decides. */
static int compare_changes(const void *a, const void *b, void *arg)
{
    const struct advice *advice = arg;
    enum advise_effect x = advice_effect(advice, a), y = advice_effect(advice, b);
    if (x != y)
        return x < y ? -1 : 1;
    double of_a = fabs(change_of(advice, a)), of_b = fabs(change_of(advice, b));
    if (x == EFFECT_EVEN) {
        of_a = largest_change(advice, a);
        of_b = largest_change(advice, b);
    }
    return (of_a < of_b) - (of_a > of_b);
}

void advice_changes_sort(struct advice *advice)
{
    qsort_r(advice->changes, advice->changes_count, sizeof advice->changes[0], compare_changes,
            advice);
}

/* The program waits for this where twice the workers take nothing off its time. */
static const char *limit_of(const struct advice *advice)
{
    const struct program *program = advice->program;
    size_t above = advice->knee + 1 < advice->ladder_count ? advice->knee + 1 : advice->knee;
    const struct advise_case *base = &advice->ladder[above];
    double alone_ns = (double)program->work_ns / base->workers;
    if (advice->last_ns > 0 && base->makespan_ns < (1 + NEAR) * (double)advice->last_ns)
        return "outside: the last thing comes from there as late";
    if (base->makespan_ns < (1 + NEAR) * (double)program->critical_ns)
        return "dependency: the critical path takes as long";
    if (base->lock_ns > base->late_ns && base->lock_ns > NEAR * base->makespan_ns)
        return "lock: goroutines wait for locks longer than for workers";
    if (base->makespan_ns < (1 + NEAR) * alone_ns)
        return "cores: all of them compute";
    if (base->late_ns < NEAR * base->makespan_ns)
        return "costs: starting, waking, sleeping and calling take time that the program does not "
               "say";
    return "scheduler: cores are idle while goroutines could run, or work for the scheduler";
}

/* Lines --------------------------------------------------------------------------------------- */

static void add(struct advice_lines *lines, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(struct advice_lines *lines, const char *name, const char *format, ...)
{
    struct advice_line *line = &lines->of[lines->count];
    va_list arguments;
    if (lines->count == ADVISE_LINES_MAX)
        return;
    lines->count++;
    va_start(arguments, format);
    vsnprintf(line->text, sizeof line->text, format, arguments);
    va_end(arguments);
    snprintf(line->name, sizeof line->name, "%s", name);
}

/* The times of all rungs; `of` is where they stand in a case. */
static void add_rungs(const struct advice *advice, struct advice_lines *lines, const char *name,
                      size_t of)
{
    char text[ADVISE_LINE_SIZE] = "";
    for (size_t i = 0; i < advice->ladder_count; i++) {
        double ns;
        memcpy(&ns, (const char *)&advice->ladder[i] + of, sizeof ns);
        text_add(text, sizeof text, "%s%s on %d", i ? ", " : "", text_time(ns).s,
                 advice->ladder[i].workers);
    }
    add(lines, name, "%s", text);
}

static void add_ladder(const struct advice *advice, struct advice_lines *lines)
{
    const struct advise_case *base = &advice->ladder[advice->knee];
    add_rungs(advice, lines, "time", offsetof(struct advise_case, makespan_ns));
    add_rungs(advice, lines, "p99", offsetof(struct advise_case, p99_ns));
    bool is_last = advice->knee + 1 == advice->ladder_count;
    add(lines, "workers", "%d%s", base->workers,
        is_last ? ", and more may still help" : ": more take less than 5 % off");
    add(lines, "limit", "%s", limit_of(advice));
    add(lines, "waiting", "for workers %s, for locks %s, in all", text_time(base->late_ns).s,
        text_time(base->lock_ns).s);
}

/* A change in whole percent, never -0. */
static double percent_of(double value, double base)
{
    return round(100 * advice_change(value, base)) + 0.0;
}

/* "twice as many, for the same requests: p99 -70 %, time +0 %" */
static void add_case(const struct advice *advice, struct advice_lines *lines,
                     const struct advise_case *of)
{
    const struct advise_case *base = &advice->ladder[advice->knee];
    if (of->is_there)
        add(lines, of->name, "%s: p99 %+.0f %%, time %+.0f %%", of->meaning,
            percent_of(of->p99_ns, base->p99_ns), percent_of(of->makespan_ns, base->makespan_ns));
    else
        add(lines, of->name, "%s: did not run: %s", of->meaning, of->why);
}

/* Returns how many there was no room for. */
static size_t add_changes(const struct advice *advice, struct advice_lines *lines)
{
    size_t shown = 0;
    for (size_t i = 0; i < advice->changes_count; i++) {
        const struct advise_case *of = &advice->changes[i];
        bool tells = of->is_there && largest_change(advice, of) > advice_threshold(advice);
        if (tells && shown++ < SHOWN_MAX)
            add_case(advice, lines, of);
    }
    return shown > SHOWN_MAX ? shown - SHOWN_MAX : 0;
}

static void add_loads(const struct advice *advice, struct advice_lines *lines)
{
    if (advice->connections == 0)
        add(lines, "connections", "cannot be told: %s", advice->untold);
    for (size_t i = 0; i < advice->loads_count; i++)
        add_case(advice, lines, &advice->loads[i]);
}

/* The decision that takes most off the p99, or off the time; *change is how much, negative. NULL:
 * none takes more off than seeds alone, and *change is the threshold. */
static const struct advise_case *best_of(const struct advice *advice, bool of_latency,
                                         double *change)
{
    const struct advise_case *base = &advice->ladder[advice->knee], *best = NULL;
    *change = -advice_threshold(advice);
    for (size_t i = 0; i < advice->changes_count; i++) {
        const struct advise_case *of = &advice->changes[i];
        double its = of_latency ? advice_change(of->p99_ns, base->p99_ns)
                                : advice_change(of->makespan_ns, base->makespan_ns);
        if (!of->is_there || its >= *change)
            continue;
        best = of;
        *change = its;
    }
    return best;
}

/* How twice the connections change the p99; 0 if that cannot be told. */
static double connections_change(const struct advice *advice)
{
    const struct advise_case *of = &advice->loads[0];
    bool is_told = advice->connections > 0 && of->is_there;
    return is_told ? advice_change(of->p99_ns, advice->ladder[advice->knee].p99_ns) : 0;
}

/* Twice the connections take more off than any decision. */
static void add_connections(const struct advice *advice, struct advice_lines *lines, double change,
                            const char *rest)
{
    double best_change;
    const struct advise_case *best = best_of(advice, true, &best_change);
    char beside[96] = "than any decision takes off";
    if (best)
        snprintf(beside, sizeof beside, "than the best decision: %s takes %.0f %%", best->name,
                 -100 * best_change);
    add(lines, "advice", "twice the connections take %.0f %% off the p99, more %s%s", -100 * change,
        beside, rest);
}

static void add_advice(const struct advice *advice, struct advice_lines *lines, const char *rest)
{
    bool of_latency = advice_is_of_latency(advice);
    double change, other_change, threshold = 100 * advice_threshold(advice);
    const struct advise_case *best = best_of(advice, of_latency, &change);
    const struct advise_case *other = best_of(advice, !of_latency, &other_change);
    const char *what = of_latency ? "p99" : "time", *its = of_latency ? "time" : "p99";
    if (best)
        add(lines, "advice", "%s takes %.0f %% off the %s, more than any other decision%s",
            best->name, -100 * change, what, rest);
    else if (other)
        add(lines, "advice",
            "%s takes %.0f %% off the %s; no decision takes more than %.0f %% off "
            "the %s%s",
            other->name, -100 * other_change, its, threshold, what, rest);
    else
        add(lines, "advice",
            "no decision takes more than %.0f %% off: the scheduler is not the problem%s",
            threshold, rest);
}

void advice_lines_make(const struct advice *advice, struct advice_lines *lines)
{
    lines->count = 0;
    add_ladder(advice, lines);
    add_loads(advice, lines);
    size_t more = add_changes(advice, lines);
    char rest[96] = "";
    if (more > 0)
        snprintf(rest, sizeof rest, "; %s with --format json", counted(more, "more change").s);
    double of_connections = connections_change(advice), best_change;
    best_of(advice, true, &best_change);
    if (of_connections < best_change)
        add_connections(advice, lines, of_connections, rest);
    else
        add_advice(advice, lines, rest);
}

void advice_print(const struct advice *advice, FILE *to)
{
    const struct program *program = advice->program;
    struct advice_lines lines;
    advice_lines_make(advice, &lines);
    fprintf(to, "%s on %s: %zu goroutines, %s of computing, critical path %s\n", advice->file,
            advice->machine, program->goroutines_count, text_time((double)program->work_ns).s,
            text_time((double)program->critical_ns).s);
    for (size_t i = 0; i < lines.count; i++)
        fprintf(to, "%-14s %s\n", lines.of[i].name, lines.of[i].text);
}

/* JSON ----------------------------------------------------------------------------------------- */

static json_t *case_to_json(const struct advise_case *of)
{
    json_t *object = json_pack("{ss ss ss si}", "variant", of->variant, "name", of->name, "meaning",
                               of->meaning, "workers", of->workers);
    if (!of->is_there) {
        json_object_set_new(object, "absent", json_string(of->why));
        return object;
    }
    json_object_set_new(object, "makespan_ns", json_real(of->makespan_ns));
    json_object_set_new(object, "p50_ns", json_real(of->p50_ns));
    json_object_set_new(object, "p99_ns", json_real(of->p99_ns));
    json_object_set_new(object, "makespan_range_ns",
                        json_pack("[ff]", of->makespan_range_ns[0], of->makespan_range_ns[1]));
    json_object_set_new(object, "p99_range_ns",
                        json_pack("[ff]", of->p99_range_ns[0], of->p99_range_ns[1]));
    json_object_set_new(object, "late_sum_ns", json_real(of->late_ns));
    json_object_set_new(object, "lock_sum_ns", json_real(of->lock_ns));
    return object;
}

static json_t *change_to_json(const struct advice *advice, const struct advise_case *of)
{
    static const char *const effects[] = {"helps", "hurts", "even"};
    enum advise_effect effect = advice_effect(advice, of);
    json_t *object = case_to_json(of);
    if (effect != EFFECT_ABSENT)
        json_object_set_new(object, "effect", json_string(effects[effect]));
    return object;
}

json_t *advice_to_json(const struct advice *advice)
{
    double change;
    bool of_latency = advice_is_of_latency(advice);
    const struct advise_case *best = best_of(advice, of_latency, &change);
    json_t *ladder = json_array(), *changes = json_array(), *loads = json_array();
    for (size_t i = 0; i < advice->ladder_count; i++)
        json_array_append_new(ladder, case_to_json(&advice->ladder[i]));
    for (size_t i = 0; i < advice->changes_count; i++)
        json_array_append_new(changes, change_to_json(advice, &advice->changes[i]));
    for (size_t i = 0; i < advice->loads_count; i++)
        json_array_append_new(loads, case_to_json(&advice->loads[i]));
    return json_pack("{ss ss sI sI si sf ss ss ss? sI so so so}", "file", advice->file, "machine",
                     advice->machine, "computing_ns", (json_int_t)advice->program->work_ns,
                     "critical_path_ns", (json_int_t)advice->program->critical_ns, "workers",
                     advice->ladder[advice->knee].workers, "chance", advice->chance, "limit",
                     limit_of(advice), "counts", of_latency ? "p99_ns" : "makespan_ns", "best",
                     best ? best->name : NULL, "connections", (json_int_t)advice->connections,
                     "ladder", ladder, "changes", changes, "loads", loads);
}
