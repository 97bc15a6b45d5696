/* parts.c - see parts.h. A part is in memory that its process and the parent share. */
#include "harness/hunt/parts.h"

#include "harness/base/memory.h"
#include "harness/base/monotonic.h"
#include "harness/hunt/processes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void note_failure(struct part *part, int64_t number, enum hunt_end end, const char *text)
{
    part->failures[end]++;
    if (part->first >= 0)
        return;
    part->first = number;
    part->first_end = end;
    snprintf(part->first_text, sizeof part->first_text, "%s", text);
}

/* Pre: the process is the part's own. */
static _Noreturn void part_main(struct part *part, pid_t parent)
{
    struct campaign *campaign = &part->campaign;
    struct orders *orders = orders_new();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    campaign_learn(campaign);
    hunt_cover(part->covers ? &part->cover : NULL);
    int64_t wanted = part->executions, began_ns = monotonic_ns();
    for (part->executions = 0; part->executions < wanted;) {
        int64_t number = part->from + part->executions++;
        campaign_plan(campaign, number);
        const struct hunt_outcome *outcome = campaign_execute(campaign, &campaign->plan);
        part->points += outcome->points;
        part->accesses += outcome->accesses;
        orders_add(orders, outcome->order);
        if (campaign->plan.oracles >> outcome->end & 1)
            note_failure(part, number, outcome->end, outcome->text);
        part->took_ns = monotonic_ns() - began_ns;
    }
    part->order_count = orders_keep(orders, part->orders, PART_ORDERS, &part->order_level);
    _exit(EXIT_SUCCESS);
}

/* The status says that the process died: so did the execution on which it was. */
static void part_died(struct part *part, int status, int64_t wanted)
{
    char text[HUNT_TEXT_SIZE];
    if (part->executions == wanted && part->took_ns == 0) /* it was still learning */
        part->executions = 1;
    process_death_text(status, text, sizeof text);
    note_failure(part, part->from + part->executions - 1, HUNT_CRASH, text);
}

struct slot {
    pid_t pid; /* 0: free */
    int64_t wanted;
    struct part *part; /* shared */
};

static bool slot_start(struct slot *slot, const struct parts *parts)
{
    memset(slot->part, 0, sizeof *slot->part);
    slot->part->first = -1;
    if (!parts->next(parts->arg, slot->part))
        return false;
    pid_t parent = getpid();
    slot->wanted = slot->part->executions;
    slot->pid = process_new();
    if (slot->pid == 0)
        part_main(slot->part, parent);
    return true;
}

static struct slot *slot_ended(struct slot *slots, int count, int *status)
{
    pid_t pid = process_wait(-1, status);
    for (int i = 0; i < count; i++)
        if (slots[i].pid == pid)
            return &slots[i];
    abort(); /* there is no other process */
}

void parts_run(const struct parts *parts)
{
    int count = processes_of(parts->jobs), running = 0;
    struct slot *slots = xcalloc((size_t)count, sizeof *slots);
    bool more = true;
    for (int i = 0; i < count; i++)
        slots[i].part = shared_new(sizeof *slots[i].part);
    for (int i = 0; i < count && more; i++)
        running += more = slot_start(&slots[i], parts);
    while (running > 0) {
        int status;
        struct slot *slot = slot_ended(slots, count, &status);
        slot->pid = 0;
        if (status != 0)
            part_died(slot->part, status, slot->wanted);
        more &= parts->done(parts->arg, slot->part);
        more = more && slot_start(slot, parts);
        running -= !more;
    }
    for (int i = 0; i < count; i++)
        munmap(slots[i].part, sizeof *slots[i].part);
    free(slots);
}
