/* parts.c - see parts.h. A part is in memory that its process and the parent share, and so are its
 * orders: both outlive a process that dies. Another process learns the same, since learning depends
 * on the campaign alone, and so goes on with the same executions.
 */
#include "harness/hunt/parts.h"

#include "harness/base/memory.h"
#include "harness/base/monotonic.h"
#include "harness/hunt/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

struct slot {
    pid_t pid; /* 0: free */
    int64_t wanted;
    struct part *part;     /* shared */
    struct orders *orders; /* likewise */
};

/* Pre: the process is the part's own. */
static _Noreturn void part_main(const struct slot *slot)
{
    struct part *part = slot->part;
    struct campaign *campaign = &part->campaign;
    campaign_learn(campaign);
    part->learns = false;
    hunt_cover(part->covers ? &part->cover : NULL);
    int64_t began_ns = monotonic_ns() - part->took_ns;
    while (part->executions < slot->wanted) {
        int64_t number = part->from + part->executions++;
        campaign_plan(campaign, number);
        const struct hunt_outcome *outcome = campaign_execute(campaign, &campaign->plan);
        part->points += outcome->points;
        part->accesses += outcome->accesses;
        orders_add(slot->orders, outcome->order);
        if (campaign->plan.oracles >> outcome->end & 1)
            note_failure(part, number, outcome->end, outcome->text);
        part->took_ns = monotonic_ns() - began_ns;
    }
    _exit(EXIT_SUCCESS);
}

static void process_start(struct slot *slot)
{
    slot->part->learns = true;
    slot->pid = process_new();
    if (slot->pid == 0)
        part_main(slot);
}

static bool slot_start(struct slot *slot, const struct parts *parts)
{
    memset(slot->part, 0, sizeof *slot->part);
    memset(slot->orders, 0, orders_size());
    slot->part->first = -1;
    if (!parts->next(parts->arg, slot->part))
        return false;
    slot->wanted = slot->part->executions;
    slot->part->executions = 0;
    process_start(slot);
    return true;
}

/* The process died, so the execution on which it was did. False: no other one can go on. */
static bool part_goes_on(struct slot *slot, int status)
{
    struct part *part = slot->part;
    char how[HUNT_TEXT_SIZE / 2], text[HUNT_TEXT_SIZE];
    process_death_text(status, how, sizeof how);
    snprintf(text, sizeof text, "its process ended%s: %s\n",
             part->learns ? " while it learnt which words are shared" : "", how);
    part->executions += part->learns;
    note_failure(part, part->from + part->executions - 1, HUNT_CRASH, text);
    if (part->learns || part->executions == slot->wanted)
        return false;
    process_start(slot);
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

static struct slot *slots_new(int count)
{
    struct slot *slots = xcalloc((size_t)count, sizeof *slots);
    for (int i = 0; i < count; i++) {
        slots[i].part = shared_new(sizeof *slots[i].part);
        slots[i].orders = shared_new(orders_size());
    }
    return slots;
}

static void slots_free(struct slot *slots, int count)
{
    for (int i = 0; i < count; i++) {
        munmap(slots[i].part, sizeof *slots[i].part);
        munmap(slots[i].orders, orders_size());
    }
    free(slots);
}

int parts_run(const struct parts *parts)
{
    int count = processes_of(parts->jobs), running = 0, ended = 0;
    struct slot *slots = slots_new(count);
    bool more = true;
    for (int i = 0; i < count && more; i++)
        running += more = slot_start(&slots[i], parts);
    while (running > 0) {
        int status;
        struct slot *slot = slot_ended(slots, count, &status);
        struct part *part = slot->part;
        slot->pid = 0;
        if (process_was_ended(status)) {
            ended = status;
            more = false;
        } else {
            if (status != 0 && part_goes_on(slot, status))
                continue;
            part->order_count =
                orders_keep(slot->orders, part->orders, PART_ORDERS, &part->order_level);
            more &= parts->done(parts->arg, part);
        }
        more = more && slot_start(slot, parts);
        running -= !more;
    }
    slots_free(slots, count);
    return ended;
}
