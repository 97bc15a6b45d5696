/* advise_print.c - an advice in ten lines, and as JSON: see advise.h. */
#include "harness/base/units.h"
#include "harness/programs/advise.h"

#include <math.h>
#include <string.h>

enum { SHOWN_MAX = 5 };

static const double CHANGE_MIN = 0.03, NEAR = 0.15; /* shares */

static struct text time_of(double ns)
{
    return text_time(ns);
}

static double change_of(double value, double base)
{
    return base > 0 ? value / base - 1 : 0;
}

static double threshold(const struct advice *advice)
{
    return advice->chance > CHANGE_MIN ? advice->chance : CHANGE_MIN;
}

static double largest_change(const struct advice *advice, const struct advise_case *of)
{
    const struct advise_case *base = &advice->ladder[advice->knee];
    double p99 = fabs(change_of(of->p99_ns, base->p99_ns));
    double makespan = fabs(change_of(of->makespan_ns, base->makespan_ns));
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
    return "scheduler: cores are idle while goroutines could run, or work for the scheduler";
}

static void print_ladder(const struct advice *advice, FILE *to)
{
    const struct advise_case *base = &advice->ladder[advice->knee];
    fprintf(to, "time           ");
    for (size_t i = 0; i < advice->ladder_count; i++)
        fprintf(to, "%s%s on %d", i ? ", " : "", time_of(advice->ladder[i].makespan_ns).s,
                advice->ladder[i].workers);
    fprintf(to, "\np99            ");
    for (size_t i = 0; i < advice->ladder_count; i++)
        fprintf(to, "%s%s on %d", i ? ", " : "", time_of(advice->ladder[i].p99_ns).s,
                advice->ladder[i].workers);
    bool is_last = advice->knee + 1 == advice->ladder_count;
    fprintf(to, "\nworkers        %d%s\n", base->workers,
            is_last ? ", and more may still help" : ": more take less than 5 % off");
    fprintf(to, "limit          %s\n", limit_of(advice));
    fprintf(to, "waiting        for workers %s, for locks %s, in all\n", time_of(base->late_ns).s,
            time_of(base->lock_ns).s);
}

static size_t print_changes(const struct advice *advice, FILE *to)
{
    const struct advise_case *base = &advice->ladder[advice->knee];
    size_t shown = 0;
    for (size_t i = 0; i < advice->changes_count; i++) {
        const struct advise_case *of = &advice->changes[i];
        if (!of->is_there || largest_change(advice, of) <= threshold(advice))
            continue;
        if (shown++ >= SHOWN_MAX)
            continue;
        fprintf(to, "%-14s %s: p99 %+.0f %%, time %+.0f %%\n",
                strncmp(of->variant, "gmp,", 4) == 0 ? of->variant + 4 : of->variant, of->meaning,
                100 * change_of(of->p99_ns, base->p99_ns),
                100 * change_of(of->makespan_ns, base->makespan_ns));
    }
    return shown;
}

void advice_print(const struct advice *advice, FILE *to)
{
    const struct program *program = advice->program;
    const struct advise_case *base = &advice->ladder[advice->knee];
    double best = 0;
    for (size_t i = 0; i < advice->changes_count; i++)
        if (advice->changes[i].is_there)
            best = fmin(best, fmin(change_of(advice->changes[i].p99_ns, base->p99_ns),
                                   change_of(advice->changes[i].makespan_ns, base->makespan_ns)));
    fprintf(to, "%s on %s: %zu goroutines, %s of computing, critical path %s\n", advice->file,
            advice->machine, program->goroutines_count, time_of((double)program->work_ns).s,
            time_of((double)program->critical_ns).s);
    print_ladder(advice, to);
    size_t shown = print_changes(advice, to);
    if (shown > SHOWN_MAX)
        fprintf(to, "and %zu more changes with --format json\n", shown - SHOWN_MAX);
    if (-best <= threshold(advice))
        fprintf(to,
                "advice         no decision takes more than %.0f %% off: the scheduler is not the "
                "problem\n",
                100 * threshold(advice));
    else
        fprintf(to, "advice         a decision of the scheduler takes up to %.0f %% off\n",
                -100 * best);
}

static json_t *case_to_json(const struct advise_case *of)
{
    json_t *object = json_pack("{ss ss si}", "variant", of->variant, "meaning", of->meaning,
                               "workers", of->workers);
    if (!of->is_there) {
        json_object_set_new(object, "absent", json_string(of->why));
        return object;
    }
    json_object_set_new(object, "makespan_ns", json_real(of->makespan_ns));
    json_object_set_new(object, "p50_ns", json_real(of->p50_ns));
    json_object_set_new(object, "p99_ns", json_real(of->p99_ns));
    json_object_set_new(object, "late_sum_ns", json_real(of->late_ns));
    json_object_set_new(object, "lock_sum_ns", json_real(of->lock_ns));
    return object;
}

json_t *advice_to_json(const struct advice *advice)
{
    json_t *ladder = json_array(), *changes = json_array();
    for (size_t i = 0; i < advice->ladder_count; i++)
        json_array_append_new(ladder, case_to_json(&advice->ladder[i]));
    for (size_t i = 0; i < advice->changes_count; i++)
        json_array_append_new(changes, case_to_json(&advice->changes[i]));
    return json_pack("{ss ss sI sI si sf ss so so}", "file", advice->file, "machine",
                     advice->machine, "computing_ns", (json_int_t)advice->program->work_ns,
                     "critical_path_ns", (json_int_t)advice->program->critical_ns, "workers",
                     advice->ladder[advice->knee].workers, "chance", advice->chance, "limit",
                     limit_of(advice), "ladder", ladder, "changes", changes);
}
