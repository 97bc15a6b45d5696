/* support.c - see support.h. */
#include "support.h"
#include "internal.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(SCHEDLAB_SIM)
#include "sim/sim.h"
#endif

static struct sched *watched; /* what the watchdog reports on: the child's scheduler of now */
static _Atomic int watchdog_ticks;

void support_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    _exit(1);
}

void *support_shared(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        support_fail(__FILE__, __LINE__, "mmap of %zu bytes: %s", size, strerror(errno));
    return memory;
}

void support_unshare(void *memory, size_t size)
{
    munmap(memory, size);
}

static const struct sched_ops *const nobody;
const struct sched_ops *const *support_outside = &nobody;

static const struct sched_ops *variant_among(const struct sched_ops *const *variants,
                                             const char *name)
{
    while (*variants && strcmp((*variants)->name, name) != 0)
        variants++;
    return *variants;
}

const struct sched_ops *support_variant(const char *name)
{
    const struct sched_ops *ops = variant_among(sched_variants, name);
    return ops ? ops : variant_among(support_outside, name);
}

/* Landing pads ------------------------------------------------------------------------------ */

#if defined(__ARM_FEATURE_BTI_DEFAULT)

static int text_protect(struct dl_phdr_info *program, size_t size, void *flags)
{
    (void)size;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &program->dlpi_phdr[i];
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t from = program->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && part->p_flags & PF_X)
            mprotect((void *)(from & -page), part->p_memsz + (from & (page - 1)),
                     PROT_READ | PROT_EXEC | *(int *)flags);
    }
    return 1; /* the first is the program itself */
}

static void landing_pads_end(void)
{
    int none = 0;
    dl_iterate_phdr(text_protect, &none);
}

/* The dynamic linker does so only where the whole system is built with branch protection. Start
 * files may have no landing pads: they run before this, and after the end. A processor that knows
 * none refuses, and nothing is tested. */
void support_landing_pads(void)
{
    int guarded = PROT_BTI;
    dl_iterate_phdr(text_protect, &guarded);
    atexit(landing_pads_end);
}

#else

void support_landing_pads(void)
{
}
#endif

/* Settings ---------------------------------------------------------------------------------- */

/* The row of a "key" or "key=value", or NULL. */
static const struct param *setting_row(const struct param *table, const char *setting)
{
    size_t length = strcspn(setting, "=");
    for (const struct param *param = table; param && param->name; param++) {
        const char *key = param_key(param);
        if (strlen(key) == length && strncmp(key, setting, length) == 0)
            return param;
    }
    return NULL;
}

bool support_takes(const struct param *table, const char *setting)
{
    return setting_row(table, setting) != NULL;
}

static bool param_parse(const struct param *param, const char *text, int64_t *value)
{
    for (int64_t i = 0; param->words && param->words[i]; i++)
        if (strcmp(param->words[i], text) == 0) {
            *value = param->words_base + i;
            return true;
        }
    char *end;
    *value = strtoll(text, &end, 0);
    return *text && !*end && *value >= param->min && *value <= param->max;
}

bool support_read(void *owner, const struct param *table, const char *settings, char *why,
                  size_t size)
{
    params_set_defaults(owner, table);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", settings ? settings : "");
    char *rest = copy;
    for (char *key; (key = strsep(&rest, ",")) && *key;) {
        const struct param *param = setting_row(table, key);
        const char *text = strchr(key, '=');
        int64_t value;
        if (!text || !param || !param_parse(param, text + 1, &value)) {
            snprintf(why, size, "%s: there is no such %s", key, param ? "value" : "knob");
            return false;
        }
        *param_field(owner, param) = value;
    }
    return true;
}

void support_set(void *owner, const struct param *table, const char *settings)
{
    char why[128];
    if (!support_read(owner, table, settings, why, sizeof why))
        support_fail(__FILE__, __LINE__, "\"%s\": %s", settings, why);
}

/* The child --------------------------------------------------------------------------------- */

static void watchdog_print_g(struct g *gp, void *arg)
{
    (void)arg;
    fprintf(stderr, "  G %u: on a cpu %u, wait reason %u on %p\n", gp->id,
            (unsigned)atomic_load(&gp->on_cpu), (unsigned)gp->wait_reason, gp->wait_on);
}

static _Noreturn void watchdog_end(void)
{
    for (int i = 0; watched && i < STAT_COUNT; i++)
        fprintf(stderr, "  %s %llu\n", stat_info[i].name,
                (unsigned long long)sched_stat(watched, (enum stat_id)i));
    if (watched)
        sched_each_g(watched, watchdog_print_g, NULL);
    _exit(1);
}

/* A tick while there are some left, however late it is. The rest is not async-signal-safe. The
 * process is lost already, and most times it still tells us where. */
static void watchdog_on_alarm(int signal_number)
{
    (void)signal_number;
    alarm(SUPPORT_TICK_S);
    if (atomic_fetch_sub(&watchdog_ticks, 1) > 1)
        return;
    fprintf(stderr, "watchdog: still running after %d s\n", SUPPORT_TICKS * SUPPORT_TICK_S);
    watchdog_end();
}

#if defined(SCHEDLAB_SIM)

/* On a simulated machine, the same by its own clock: a run that is lost is ended at the same point
 * however fast the host is, and long before the alarm. The first look comes after most runs. */
static struct {
    struct sim_event look;
    int64_t began_ps, busy_ps;
} watch;

static void watch_look(struct sim_event *look)
{
    const int64_t ms_ps = INT64_C(1000000000), now_ps = sim_now();
    int64_t busy_ps = sim_counted(-1, SIM_BUSY_PS) - watch.busy_ps;
    if (busy_ps < SUPPORT_SIM_BUSY_MS * ms_ps &&
        now_ps - watch.began_ps < SUPPORT_SIM_MAX_MS * ms_ps) {
        sim_event_set(look, now_ps + SUPPORT_SIM_LOOK_MS * ms_ps, watch_look);
        return;
    }
    fprintf(stderr,
            "watchdog: still running after %lld ms of simulated time, %lld ms of it on cores\n",
            (long long)((now_ps - watch.began_ps) / ms_ps), (long long)(busy_ps / ms_ps));
    watchdog_end();
}

static void watch_begin(void)
{
    watch.began_ps = sim_now();
    watch.busy_ps = sim_counted(-1, SIM_BUSY_PS);
    sim_event_set(&watch.look, watch.began_ps + SUPPORT_SIM_LOOK_MS * INT64_C(1000000000),
                  watch_look);
}

static void watch_end(void)
{
    sim_event_clear(&watch.look);
}

#else

static void watch_begin(void)
{
}

static void watch_end(void)
{
}
#endif

void support_watchdog_restart(void)
{
    atomic_store(&watchdog_ticks, SUPPORT_TICKS);
}

static void watchdog_start(void)
{
    struct sigaction action = {.sa_handler = watchdog_on_alarm,
                               .sa_flags = SA_ONSTACK | SA_RESTART};
    support_watchdog_restart();
    sigaction(SIGALRM, &action, NULL);
    alarm(SUPPORT_TICK_S);
}

/* Two neighbours each share a cache. NULL: they are too many. */
static const int32_t *pairs_of(int workers)
{
    static int32_t pairs[256];
    int max = sizeof pairs / sizeof *pairs;
    for (int i = 0; i < max; i++)
        pairs[i] = i / 2;
    return workers <= max ? pairs : NULL;
}

static void child_run(const struct support_run *run, struct support_report *shared)
{
    const struct sched_ops *ops = support_variant(run->variant);
    if (!ops)
        support_fail(__FILE__, __LINE__, "no variant %s", run->variant);
    void *knobs = calloc(1, ops->knobs_size);
    support_set(knobs, ops->knobs, run->settings);
    const char *wrong = ops->check ? ops->check(knobs) : NULL;
    if (wrong)
        support_fail(__FILE__, __LINE__, "%s,%s: %s", run->variant, run->settings, wrong);
    if (run->before)
        run->before(run->arg);
    int error = 0;
    watched = sched_new(&(struct sched_config){.ops = ops,
                                               .knobs = knobs,
                                               .workers = run->workers,
                                               .pin = run->pin,
                                               .groups = pairs_of(run->workers),
                                               .seed = run->seed},
                        &error);
    if (!watched)
        support_fail(__FILE__, __LINE__, "sched_new: %s", strerror(-error));
    watch_begin();
    shared->live = sched_run(watched, run->fn, run->arg);
    watch_end();
    if (run->after)
        run->after(run->arg);
    for (int i = 0; i < STAT_COUNT; i++)
        shared->stat[i] = sched_stat(watched, (enum stat_id)i);
    struct sched *sched = watched;
    watched = NULL;
    sched_free(sched);
    free(knobs);
}

/* Only a sanitizer has to say something at the end of a process, so only there is it taken down. */
static _Noreturn void child_exit(void)
{
    if (SUPPORT_SANITIZED)
        exit(0);
    fflush(NULL);
    _exit(0);
}

static void output_collect(int fd, char *output)
{
    size_t used = 0;
    char overflow[1024];
    for (;;) {
        size_t room = SUPPORT_OUTPUT - 1 - used;
        ssize_t got = room ? read(fd, output + used, room) : read(fd, overflow, sizeof overflow);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (room)
            used += (size_t)got;
    }
    output[used] = '\0';
}

/* Memory of the child and of whoever waits for it. */
struct shared {
    int ended; /* runs that have come to their end */
    struct support_report reports[];
};

static _Noreturn void child_main(const struct support_run *runs, int count, struct shared *shared)
{
    watchdog_start();
    if (machine_init(NULL, 0) != 0)
        support_fail(__FILE__, __LINE__, "machine_init failed");
    while (shared->ended < count) {
        support_watchdog_restart();
        child_run(&runs[shared->ended], &shared->reports[shared->ended]);
        shared->ended++;
    }
    child_exit();
}

/* A child for the runs that have not ended. Its words, and a status that is not 0, are those of the
 * run in which it ended. */
static void child_start(const struct support_run *runs, int count, struct shared *shared)
{
    static char output[SUPPORT_OUTPUT];
    int ends[2];
    if (pipe(ends) != 0)
        support_fail(__FILE__, __LINE__, "pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        support_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        child_main(runs, count, shared);
    }
    close(ends[1]);
    output_collect(ends[0], output);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    bool early = shared->ended < count;
    struct support_report *last = &shared->reports[early ? shared->ended++ : count - 1];
    strcpy(last->output, output);
    last->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    if (early && last->status == 0)
        last->status = SUPPORT_LEFT;
}

void support_run_each(const struct support_run *runs, int count, support_told *told, void *arg)
{
    size_t size = sizeof(struct shared) + (size_t)count * sizeof(struct support_report);
    struct shared *shared = support_shared(size);
    while (shared->ended < count)
        child_start(runs, count, shared);
    for (int i = 0; i < count; i++)
        told(arg, i, &shared->reports[i]);
    support_unshare(shared, size);
}

static void report_copy(void *arg, int i, const struct support_report *report)
{
    (void)i;
    *(struct support_report *)arg = *report;
}

void support_run(const struct support_run *run, struct support_report *report)
{
    support_run_each(run, 1, report_copy, report);
}
