/* event_site.c - see event_site.h.
 *
 * While the machine runs, only return addresses are noted: libdw takes more stack than a goroutine
 * has.
 */
#include "harness/sample/event_site.h"

#if defined(SCHEDLAB_SIM)
#include "harness/sample/source_line.h"
#include "machine/sim/events.h"

#include <stdint.h>
#include <stdlib.h>
#include <unwind.h>

enum { SITES_MAX = 1024, FRAMES_MAX = 64 };

static struct {
    struct source_lines *lines;
    struct source_range *range; /* of the workloads' code, in order */
    size_t ranges;
    uintptr_t pc[SITES_MAX]; /* of site 1 on */
    uint32_t count;
} sites;

static bool is_of_workload(uintptr_t pc)
{
    size_t low = 0, high = sites.ranges;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sites.range[middle].end < pc) /* a return address is behind the call */
            low = middle + 1;
        else
            high = middle;
    }
    return low < sites.ranges && sites.range[low].begin < pc;
}

struct walk {
    uintptr_t pc; /* 0: not found */
    int frames;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *arg)
{
    struct walk *walk = arg;
    uintptr_t pc = _Unwind_GetIP(frame);
    if (is_of_workload(pc))
        walk->pc = pc;
    return walk->pc || ++walk->frames == FRAMES_MAX ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* 0: none, or there is no room for more. */
static uint32_t site_here(void)
{
    struct walk walk = {.pc = 0};
    uint32_t i = 0;
    _Unwind_Backtrace(step, &walk);
    if (!walk.pc)
        return 0;
    while (i < sites.count && sites.pc[i] != walk.pc)
        i++;
    if (i == SITES_MAX)
        return 0;
    if (i == sites.count)
        sites.pc[sites.count++] = walk.pc;
    return i + 1;
}

void event_sites_begin(void)
{
    sites.lines = source_lines_open();
    sites.ranges = source_ranges(sites.lines, "workloads/", &sites.range);
    sim_event_site = site_here;
}

void event_sites_write(FILE *to)
{
    for (uint32_t i = 0; i < sites.count; i++) {
        struct source_line line;
        bool found = source_line_outside(sites.lines, sites.pc[i] - 1, "sched_variants/", &line);
        fprintf(to, "@\t%d\t%d\t%s\t%s\n", line.line, line.first, found ? line.file : "?",
                found ? line.function : "?");
    }
    free(sites.range);
    source_lines_close(sites.lines);
}
#else
void event_sites_begin(void)
{
}

void event_sites_write(FILE *to)
{
    (void)to;
}
#endif
