/* advise_print.c - an advice in ten lines, and as JSON: see advise.h. */
#include "harness/base/text.h"
#include "harness/base/units.h"
#include "harness/programs/advise.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
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

/* The share that a decision of the scheduler takes off at best, 0 or less. */
static double best_change(const struct advice *advice)
{
    const struct advise_case *base = &advice->ladder[advice->knee];
    double best = 0;
    for (size_t i = 0; i < advice->changes_count; i++) {
        const struct advise_case *of = &advice->changes[i];
        if (of->is_there)
            best = fmin(best, fmin(advice_change(of->p99_ns, base->p99_ns),
                                   advice_change(of->makespan_ns, base->makespan_ns)));
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

void advice_lines_make(const struct advice *advice, struct advice_lines *lines)
{
    lines->count = 0;
    add_ladder(advice, lines);
    add_loads(advice, lines);
    size_t more = add_changes(advice, lines);
    double best = best_change(advice);
    char rest[64] = "";
    if (more > 0)
        snprintf(rest, sizeof rest, "; %zu more changes with --format json", more);
    double of_connections = connections_change(advice);
    if (of_connections < -advice_threshold(advice) && of_connections < best)
        add(lines, "advice",
            "twice the connections take %.0f %% off the p99, more than any decision takes off%s",
            -100 * of_connections, rest);
    else if (-best <= advice_threshold(advice))
        add(lines, "advice",
            "no decision takes more than %.0f %% off: the scheduler is not the problem%s",
            100 * advice_threshold(advice), rest);
    else
        add(lines, "advice", "a decision of the scheduler takes up to %.0f %% off%s", -100 * best,
            rest);
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

json_t *advice_to_json(const struct advice *advice)
{
    json_t *ladder = json_array(), *changes = json_array(), *loads = json_array();
    for (size_t i = 0; i < advice->ladder_count; i++)
        json_array_append_new(ladder, case_to_json(&advice->ladder[i]));
    for (size_t i = 0; i < advice->changes_count; i++)
        json_array_append_new(changes, case_to_json(&advice->changes[i]));
    for (size_t i = 0; i < advice->loads_count; i++)
        json_array_append_new(loads, case_to_json(&advice->loads[i]));
    return json_pack("{ss ss sI sI si sf ss sI so so so}", "file", advice->file, "machine",
                     advice->machine, "computing_ns", (json_int_t)advice->program->work_ns,
                     "critical_path_ns", (json_int_t)advice->program->critical_ns, "workers",
                     advice->ladder[advice->knee].workers, "chance", advice->chance, "limit",
                     limit_of(advice), "connections", (json_int_t)advice->connections, "ladder",
                     ladder, "changes", changes, "loads", loads);
}
