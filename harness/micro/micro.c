/* micro.c - see micro.h: names, clocks, counters and schedulers around the operations. */
#include "harness/micro/micro.h"

#include "harness/base/memory.h"
#include "harness/base/process_cpu.h"
#include "harness/base/text.h"
#include "harness/micro/micro_clock.h"
#include "harness/spec/spec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NAME_SIZE = 256, PARTNER_STACK = 256 << 10 };

static const struct micro_op *const tables[] = {
    micro_floors,   micro_queues, micro_deques, micro_locks,          micro_switches,
    micro_channels, micro_wakes,  micro_caches, micro_outside_queues,
};

enum { TABLES = sizeof tables / sizeof tables[0] };

/* One family: what gbench hands back to instance_run(). Lives until the process ends. */
static struct instance {
    const struct micro_op *op;
    const struct variant_spec *variant;
    struct instance *next;
} * instances;

/* Clocks ------------------------------------------------------------------------------------- */

bool micro_more(struct micro *micro, uint64_t n)
{
    if (!micro->counting)
        micro_count_begin(&micro->count);
    micro->counting = true;
    bool more = gbench_keep_running_batch(micro->state, n);
    if (!more)
        micro_count_end(&micro->count);
    return more;
}

uint64_t micro_done(const struct micro *micro)
{
    return gbench_done(micro->state);
}

void micro_open(struct micro *micro)
{
    micro->cpu_started = process_cpu_ns();
    micro_count_begin(&micro->count);
}

void micro_close(struct micro *micro)
{
    micro_count_end(&micro->count);
    micro->cpu_ns += process_cpu_ns() - micro->cpu_started;
    micro->cpu_sections++;
}

void micro_start(struct micro *micro)
{
    micro_open(micro);
    micro->started = machine_now();
}

void micro_stop(struct micro *micro)
{
    micro_took(micro, machine_now() - micro->started);
    micro_close(micro);
}

void micro_took(struct micro *micro, int64_t ns)
{
    micro->ns += ns;
    micro->sections++;
}

void micro_did(struct micro *micro, uint64_t done)
{
    micro->did = done;
}

/* Planned operations as a share of the operations done. */
static double planned_share(const struct micro *micro)
{
    return micro->did ? (double)micro->n / (double)micro->did : 1;
}

/* Judging ------------------------------------------------------------------------------------ */

void micro_fail(struct micro *micro, const char *format, ...)
{
    va_list args;
    if (*micro->failure)
        return;
    va_start(args, format);
    vsnprintf(micro->failure, sizeof micro->failure, format, args);
    va_end(args);
}

void micro_expect(struct micro *micro, const char *what, uint64_t counted, uint64_t wanted)
{
    if (counted != wanted)
        micro_fail(micro, "wrong result: %" PRIu64 " %s, expected %" PRIu64, counted, what, wanted);
}

/* Schedulers --------------------------------------------------------------------------------- */

bool micro_serves_all(const struct sched_ops *ops)
{
    (void)ops;
    return true;
}

bool micro_serves_parallel(const struct sched_ops *ops)
{
    return !ops->single_threaded;
}

static void hook_started(struct m *m, void *arg)
{
    struct micro *micro = arg;
    micro_count_thread(&micro->count, m);
}

static void hook_stopping(struct m *m, void *arg)
{
    struct micro *micro = arg;
    micro_count_thread_end(&micro->count, m);
}

static bool takes_workers(const struct micro_op *op)
{
    return op->arg_name && strcmp(op->arg_name, "workers") == 0;
}

static void main_run(void *arg)
{
    struct micro *micro = arg;
    micro->op->run(micro);
}

static void run_scheduled(struct micro *micro)
{
    const struct micro_op *op = micro->op;
    struct sched_config config = {
        .ops = micro->variant->ops,
        .knobs = micro->variant->knobs,
        .workers = takes_workers(op) ? (int)micro->arg
                   : op->workers     ? op->workers
                                     : 1,
        .seed = 1,
        .m_started = hook_started,
        .m_stopping = hook_stopping,
        .hook_arg = micro,
    };
    int error;
    micro->sched = sched_new(&config, &error);
    if (!micro->sched) {
        micro_fail(micro, "cannot make a scheduler: %s", strerror(-error));
        return;
    }
    int64_t alive = sched_run(micro->sched, main_run, micro);
    if (alive != 0)
        micro_fail(micro, "%s still alive at the end", counted((uint64_t)alive, "goroutine").s);
}

void micro_still_make(struct micro_still *still, const char *spec, int workers)
{
    struct error message;
    int error;
    if (!variant_spec_parse(&still->spec, spec, &message))
        fatal("micro_still_make: %s", message.text);
    struct sched_config config = {
        .ops = still->spec.ops, .knobs = still->spec.knobs, .workers = workers, .seed = 1};
    still->sched = sched_new(&config, &error);
    if (!still->sched)
        fatal_env(-error, "no memory for a scheduler");
    still->m = sched_zalloc(sizeof *still->m, "m");
    still->m->sched = still->sched;
    still->m->ops = still->spec.ops;
    still->m->p = still->sched->allp[0];
    still->m->rng[1] = 1;
}

void micro_still_free(struct micro_still *still)
{
    machine_free(still->m);
    sched_free(still->sched);
    variant_spec_free(&still->spec);
}

/* Threads ------------------------------------------------------------------------------------ */

static void partner_main(void *arg)
{
    struct micro_partner *partner = arg;
    micro_count_thread(&partner->micro->count, partner);
    partner->fn(partner->arg);
    micro_count_thread_end(&partner->micro->count, partner);
}

bool micro_partner_start(struct micro_partner *partner, struct micro *micro, void (*fn)(void *),
                         void *arg)
{
    if (machine_cpu_count() < 2) {
        snprintf(micro->absence, sizeof micro->absence,
                 "it takes two cores, and this process may use one");
        return false;
    }
    *partner = (struct micro_partner){.micro = micro, .fn = fn, .arg = arg};
    machine_pin(0);
    int error = machine_thread_start(&partner->thread, partner_main, partner, PARTNER_STACK, 1);
    if (error)
        fatal_env(-error, "cannot start a thread");
    return true;
}

void micro_partner_join(struct micro_partner *partner)
{
    machine_thread_join(&partner->thread);
    machine_pin(-1);
}

/* Running ------------------------------------------------------------------------------------ */

/* Measured once, before anything is timed. */
static double clock_cost_ns, cpu_clock_cost_ns;

/* The whole operation is one turn of the library's loop, whose clocks stand still: both times are
 * measured here. */
static void run_timed(struct micro *micro)
{
    micro->n = gbench_planned(micro->state);
    while (gbench_keep_running_batch(micro->state, micro->n)) {
        gbench_pause(micro->state);
        if (micro->variant && micro->op->style == MICRO_MAIN)
            run_scheduled(micro);
        else
            micro->op->run(micro);
        gbench_resume(micro->state);
        double ns = micro_clock_net_ns(micro->ns, micro->sections, clock_cost_ns);
        gbench_set_time_ns(micro->state, ns * planned_share(micro));
    }
    double cpu_ns = micro_clock_net_ns(micro->cpu_ns, micro->cpu_sections, cpu_clock_cost_ns);
    gbench_set_cpu_ns(micro->state, cpu_ns * planned_share(micro));
}

static void instance_run(struct gbench_state *state, void *arg)
{
    const struct instance *instance = arg;
    struct micro micro = {.op = instance->op, .variant = instance->variant, .state = state};
    micro.arg = micro.op->args ? gbench_argument(state, 0) : 0;
    bool threads_come = micro.variant && micro.variant->ops->thread_per_g;
    micro_count_open(&micro.count, micro.variant ? &micro.sched : NULL,
                     threads_come ? micro.variant->text : NULL);
    if (!micro.variant)
        micro_count_thread(&micro.count, &micro);
    if (micro.op->style == MICRO_LOOP)
        micro.op->run(&micro);
    else
        run_timed(&micro);
    if (!micro.variant)
        micro_count_thread_end(&micro.count, &micro);
    if (*micro.failure)
        gbench_fail(state, micro.failure);
    else if (*micro.absence)
        gbench_skip(state, micro.absence);
    else
        micro_count_show(&micro.count, state, planned_share(&micro));
    micro_count_close(&micro.count);
    if (micro.sched)
        sched_free(micro.sched);
}

/* Registering -------------------------------------------------------------------------------- */

/* One thread is one thread, however many workers it is told to be. */
static bool is_repeat(const struct micro_op *op, const struct variant_spec *variant, int64_t value)
{
    return variant && variant->ops->single_threaded && takes_workers(op) && value > 1;
}

static void instance_register(const struct micro_op *op, const struct variant_spec *variant)
{
    char name[NAME_SIZE];
    struct instance *instance = xmalloc(sizeof *instance);
    *instance = (struct instance){op, variant, instances};
    instances = instance;
    snprintf(name, sizeof name, "%s%s%s", op->name, variant ? "/" : "",
             variant ? variant->text : "");
    struct gbench *bench = gbench_register(name, instance_run, instance);
    if (op->arg_name)
        gbench_name_args(bench, &op->arg_name, 1);
    for (const int64_t *value = op->args; value && *value; value++)
        if (!is_repeat(op, variant, *value))
            gbench_add_arg(bench, *value);
    if (op->style != MICRO_LOOP) {
        gbench_use_process_cpu(bench);
        gbench_use_time(bench, GBENCH_MANUAL_TIME);
    }
    if (op->iterations)
        gbench_fix_iterations(bench, op->iterations);
}

/* The plain variant that op is beside, if it is served at all, and not among those named. */
static void beside_register(const struct micro_op *op, const struct variant_spec *variants,
                            size_t count)
{
    struct error message;
    bool served = false;
    for (size_t v = 0; v < count; v++) {
        if (strcmp(variants[v].text, op->beside) == 0)
            return;
        served |= op->serves && op->serves(variants[v].ops);
    }
    if (!served)
        return;
    struct variant_spec *spec = xmalloc(sizeof *spec); /* kept, as the instances are */
    if (!variant_spec_parse(spec, op->beside, &message))
        fatal("%s: %s", op->name, message.text);
    instance_register(op, spec);
}

void micro_register(const struct variant_spec *variants, size_t count, const char *events)
{
    micro_count_list(events);
    clock_cost_ns = micro_clock_cost_ns(machine_now);
    cpu_clock_cost_ns = micro_clock_cost_ns(process_cpu_ns);
    for (size_t t = 0; t < TABLES; t++) {
        for (const struct micro_op *op = tables[t]; op->name; op++) {
            if (!op->serves)
                instance_register(op, NULL);
            for (size_t v = 0; op->serves && v < count; v++)
                if (op->serves(variants[v].ops))
                    instance_register(op, &variants[v]);
            if (op->beside)
                beside_register(op, variants, count);
        }
    }
}

void micro_offer_names(struct suggest *near)
{
    for (size_t t = 0; t < TABLES; t++)
        for (const struct micro_op *op = tables[t]; op->name; op++)
            suggest_offer(near, op->name);
}

/* The longest name that benchmark begins with, up to a "/" or its end. */
const struct micro_op *micro_op_find(const char *benchmark)
{
    const struct micro_op *found = NULL;
    for (size_t t = 0; t < TABLES; t++) {
        for (const struct micro_op *op = tables[t]; op->name; op++) {
            size_t length = strlen(op->name);
            if (strncmp(op->name, benchmark, length) == 0 && strchr("/", benchmark[length]) &&
                (!found || length > strlen(found->name)))
                found = op;
        }
    }
    return found;
}
