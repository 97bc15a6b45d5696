/* doctor_window.c - see doctor.h: what shows only by watching for a moment.
 *
 * Everything that counts since the boot is read at the begin and at the end. The kernel accounts
 * in ticks, mostly of 10 ms, so a share over 200 ms is coarse; that over the time since the boot
 * stands beside it.
 */
#include "harness/base/text.h"
#include "harness/doctor/doctor_internal.h"

#include "harness/base/memory.h"
#include "harness/host/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLICE_MS = 20, NAME_SIZE = 20, BUSIEST = 3, FIELDS_TIME = 8 };

/* Ticks of the usable cores since the boot. */
struct times {
    int64_t total, busy, steal;
    int cpus; /* that were found; 0: nothing is known */
    bool has_steal;
};

struct process {
    int64_t pid, ticks;
    char name[NAME_SIZE];
};

struct processes {
    struct process *list; /* by pid */
    size_t count;
};

struct snapshot {
    struct times times;
    struct processes processes;
    int64_t throttles; /* below 0: not shown */
};

/* Reading ------------------------------------------------------------------------------------- */

static bool is_usable(const struct doctor_request *request, int cpu)
{
    for (int i = 0; i < request->cpus_count; i++)
        if (request->cpus[i] == cpu)
            return true;
    return false;
}

/* "cpu3 user nice system idle iowait irq softirq steal ...", where what guests used is in user. */
static void times_take(struct times *times, const struct doctor_request *request, const char *line)
{
    char *end;
    int64_t field[FIELDS_TIME] = {0};
    int fields = 0;
    if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]) ||
        !is_usable(request, (int)strtol(line + 3, &end, 10)))
        return;
    for (; fields < FIELDS_TIME; fields++) {
        const char *from = end;
        field[fields] = strtoll(from, &end, 10);
        if (end == from)
            break;
    }
    if (fields < 4)
        return;
    times->cpus++;
    times->has_steal = fields == FIELDS_TIME;
    times->busy += field[0] + field[1] + field[2] + field[5] + field[6];
    times->steal += field[7];
    for (int i = 0; i < fields; i++)
        times->total += field[i];
}

static struct times times_read(const struct look *look)
{
    struct times times = {0};
    char *line = NULL;
    size_t size = 0;
    FILE *file = tree_open(look->root, "proc/stat");
    while (file && getline(&line, &size, file) >= 0)
        times_take(&times, look->request, line);
    if (file)
        fclose(file);
    free(line);
    return times;
}

/* "pid (name) state ppid ...": utime and stime are the 12th and 13th behind the name, which may
 * hold anything. */
static bool process_parse(char *text, struct process *process)
{
    char *open = strchr(text, '('), *close = strrchr(text, ')'), *rest = NULL;
    if (!open || !close || close < open)
        return false;
    *close = '\0';
    snprintf(process->name, sizeof process->name, "%s", open + 1);
    process->pid = strtoll(text, NULL, 10);
    process->ticks = 0;
    int field = 0;
    for (char *word = strtok_r(close + 1, " ", &rest); word && field < 13;
         word = strtok_r(NULL, " ", &rest), field++)
        if (field >= 11)
            process->ticks += strtoll(word, NULL, 10);
    return field == 13;
}

static int process_compare(const void *a_void, const void *b_void)
{
    const struct process *a = a_void, *b = b_void;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct processes processes_read(const char *root)
{
    struct processes processes = {NULL, 0};
    char folder[SYSFS_PATH_SIZE], text[1024];
    snprintf(folder, sizeof folder, "%s/proc", root);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        struct process process;
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !sysfs_text(root, text, sizeof text, "proc/%s/stat", entry->d_name) ||
            !process_parse(text, &process))
            continue;
        if ((processes.count & (processes.count + 1)) == 0) /* 0, 1, 3, 7, ... */
            processes.list =
                xrealloc(processes.list, (2 * processes.count + 1) * sizeof *processes.list);
        processes.list[processes.count++] = process;
    }
    if (entries)
        closedir(entries);
    if (processes.count > 0)
        qsort(processes.list, processes.count, sizeof *processes.list, process_compare);
    return processes;
}

static int64_t throttles_read(const struct look *look)
{
    static const char *const kinds[] = {"core_throttle_count", "package_throttle_count"};
    int64_t sum = -1, count;
    for (int i = 0; i < look->request->cpus_count; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (sysfs_number(look->root, &count, "sys/devices/system/cpu/cpu%d/thermal_throttle/%s",
                             look->request->cpus[i], kinds[k]))
                sum = (sum < 0 ? 0 : sum) + count;
    return sum;
}

static struct snapshot snapshot_take(const struct look *look)
{
    return (struct snapshot){times_read(look), processes_read(look->root), throttles_read(look)};
}

/* Threads that run or want to, this one left out; below 0 if the kernel does not say. */
static int64_t others_running(const char *root)
{
    int64_t running;
    if (!sysfs_key(root, &running, "procs_running", "proc/stat"))
        return -1;
    return running > 1 ? running - 1 : 0;
}

/* The mean over the window; below 0 if the kernel does not say. */
static double watch(const struct look *look)
{
    const struct doctor_request *request = look->request;
    int64_t sum = 0, n = 0;
    for (int ms = 0; ms < request->window_ms; ms += SLICE_MS) {
        int left = request->window_ms - ms;
        request->machine->wait_ms(left < SLICE_MS ? left : SLICE_MS);
        int64_t others = others_running(look->root);
        if (others < 0)
            return -1;
        sum += others;
        n++;
    }
    return n > 0 ? (double)sum / (double)n : -1;
}

/* Steal and throttling ------------------------------------------------------------------------ */

static double percent(int64_t part, int64_t all)
{
    return all > 0 ? 100.0 * (double)part / (double)all : 0;
}

static void judge_steal(struct look *look, const struct times *begin, const struct times *end)
{
    static const char why[] = "the hypervisor gave the core to another machine meanwhile";
    int64_t total = end->total - begin->total, steal = end->steal - begin->steal;
    double now = percent(steal, total), ever = percent(end->steal, end->total);
    if (end->cpus == 0 || !end->has_steal) {
        look_unreadable(look, "steal", why, "proc/stat");
    } else if (total <= 0) {
        look_add(look, "steal", DOCTOR_UNKNOWN, why, NULL,
                 "the times in /proc/stat do not advance");
    } else if (!look->virtual && end->steal == 0) {
        look_add(look, "steal", DOCTOR_OK, why, NULL, "none, and no hypervisor");
    } else if (end->steal == 0) {
        look_add(look, "steal", DOCTOR_UNKNOWN, why, NULL,
                 "none since the boot, but some hypervisors never tell");
    } else {
        enum doctor_level level = now > 0 || ever > 1 ? DOCTOR_NOTE : DOCTOR_OK;
        look_add(look, "steal", now > 1 ? DOCTOR_WARN : level, why, NULL,
                 "%.1f %% over %d ms, %.2f %% since the boot", now, look->request->window_ms, ever);
    }
}

static void judge_throttles(struct look *look, int64_t begin, int64_t end)
{
    static const char why[] =
        "the processor lowered its clock rate to stay cool or within its power";
    if (begin < 0 || end < 0)
        look_add(look, "throttle", DOCTOR_UNKNOWN, why, NULL, "the kernel shows no count of it%s",
                 look->virtual ? "; a hypervisor hides what the host does" : "");
    else if (end > begin)
        look_add(look, "throttle", DOCTOR_WARN, why, NULL, "%lld times within %d ms",
                 (long long)(end - begin), look->request->window_ms);
    else
        look_add(look, "throttle", end > 0 ? DOCTOR_NOTE : DOCTOR_OK, why, NULL,
                 "%lld times since the boot, none within %d ms", (long long)end,
                 look->request->window_ms);
}

/* Others -------------------------------------------------------------------------------------- */

static int64_t ticks_before(const struct processes *begin, const struct process *process)
{
    const struct process *found = begin->count == 0 ? NULL
                                                    : bsearch(process, begin->list, begin->count,
                                                              sizeof *begin->list, process_compare);
    return found ? found->ticks : 0;
}

/* Turns the ticks since the boot into those of the window. */
static void processes_subtract(const struct processes *begin, struct processes *end)
{
    for (size_t i = 0; i < end->count; i++)
        end->list[i].ticks -= ticks_before(begin, &end->list[i]);
}

/* The ticks that this program itself used; takes them out of the list. */
static int64_t processes_take_own(struct processes *processes)
{
    int64_t own = getpid(), ticks = 0;
    for (size_t i = 0; i < processes->count; i++) {
        if (processes->list[i].pid != own)
            continue;
        ticks = processes->list[i].ticks;
        processes->list[i].ticks = 0;
    }
    return ticks;
}

static int busier(const void *a_void, const void *b_void)
{
    const struct process *a = a_void, *b = b_void;
    return (a->ticks < b->ticks) - (a->ticks > b->ticks);
}

static int name_compare(const void *a_void, const void *b_void)
{
    const struct process *a = a_void, *b = b_void;
    return strcmp(a->name, b->name);
}

/* A compiler is many processes, one after the other and at once; it is one disturbance. */
static void processes_merge(struct processes *processes)
{
    size_t kept = 0;
    if (processes->count > 0)
        qsort(processes->list, processes->count, sizeof *processes->list, name_compare);
    for (size_t i = 0; i < processes->count; i++) {
        struct process *last = kept > 0 ? &processes->list[kept - 1] : NULL;
        if (last && strcmp(last->name, processes->list[i].name) == 0)
            last->ticks += processes->list[i].ticks;
        else
            processes->list[kept++] = processes->list[i];
    }
    processes->count = kept;
}

/* "; busiest: cc1 (95 %), make (3 %)"; window_ticks: of one core. */
static void busiest_text(struct processes *processes, double window_ticks, char *text, size_t size)
{
    size_t at = 0;
    *text = '\0';
    processes_merge(processes);
    if (processes->count > 0)
        qsort(processes->list, processes->count, sizeof *processes->list, busier);
    for (size_t i = 0; i < processes->count && i < BUSIEST; i++) {
        const struct process *process = &processes->list[i];
        if (process->ticks <= 0 || at >= size)
            break;
        at += (size_t)snprintf(text + at, size - at, "%s%s (%.0f %%)",
                               i ? ", " : "; busiest: ", process->name,
                               100.0 * (double)process->ticks / window_ticks);
    }
}

static void judge_others(struct look *look, const struct snapshot *begin, struct snapshot *end,
                         double others)
{
    static const char why[] = "they take cores from the workers, and not from all samples alike";
    char busiest[160] = "";
    int64_t total = end->times.total - begin->times.total;
    if (end->times.cpus > 0 && total <= 0) {
        look_add(look, "others", DOCTOR_UNKNOWN, why, NULL,
                 "the times in /proc/stat do not advance");
        return;
    }
    if (others < 0 || end->times.cpus == 0) {
        look_unreadable(look, "others", why, "proc/stat");
        return;
    }
    processes_subtract(&begin->processes, &end->processes);
    int64_t own = processes_take_own(&end->processes);
    double busy = percent(end->times.busy - begin->times.busy - own, total);
    busy = busy > 0 ? busy : 0;
    if (look->request->names)
        busiest_text(&end->processes, (double)total / end->times.cpus, busiest, sizeof busiest);
    enum doctor_level level = DOCTOR_OK;
    if (others >= 0.1 || busy >= 3)
        level = others >= 0.5 || busy >= 10 ? DOCTOR_WARN : DOCTOR_NOTE;
    look_add(look, "others", level, why, NULL,
             "%.1f other threads want to run, usable cores are %.0f %% busy%s", others, busy,
             busiest);
}

static void look_at_load(struct look *look)
{
    static const char why[] = "the machine was at work just before, and may be again";
    char text[128], *end = text;
    double load = -1;
    if (sysfs_text(look->root, text, sizeof text, "proc/loadavg"))
        load = strtod(text, &end);
    if (end == text || load < 0) {
        look_unreadable(look, "load", why, "proc/loadavg");
        return;
    }
    double each = look->request->cpus_count > 0 ? load / look->request->cpus_count : load;
    enum doctor_level level = DOCTOR_OK;
    if (each >= 0.1)
        level = each >= 0.5 ? DOCTOR_WARN : DOCTOR_NOTE;
    look_add(look, "load", level, why, NULL, "%.2f threads over the last minute, for %s", load,
             counted((uint64_t)look->request->cpus_count, "core").s);
}

void look_at_window(struct look *look)
{
    struct snapshot begin = snapshot_take(look);
    double others = watch(look);
    struct snapshot end = snapshot_take(look);
    judge_steal(look, &begin.times, &end.times);
    judge_others(look, &begin, &end, others);
    look_at_load(look);
    judge_throttles(look, begin.throttles, end.throttles);
    free(begin.processes.list);
    free(end.processes.list);
}
