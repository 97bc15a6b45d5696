/* replay.c - an execution as text: how it was chosen, and of which program. */
#include "harness/base/fnv1a.h"
#include "harness/base/memory.h"
#include "harness/hunt/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The code under test. */
extern const char text_start[] __asm__("__start_simulated_text");
extern const char text_end[] __asm__("__stop_simulated_text");
extern const char workload_start[] __asm__("__start_workload_text");
extern const char workload_end[] __asm__("__stop_workload_text");

uint32_t replay_program(void)
{
    uint64_t hash = fnv1a(FNV1A_SEED, text_start, (size_t)(text_end - text_start));
    hash = fnv1a(hash, workload_start, (size_t)(workload_end - workload_start));
    return (uint32_t)(hash ^ hash >> 32);
}

/* A thread's number; c: the clock; r1: the value before the newest; w1: before the newest store. */
static void switch_print(FILE *out, int to)
{
    if (to > HUNT_STORES)
        fprintf(out, "w%d", to - HUNT_STORES);
    else if (to > HUNT_READS)
        fprintf(out, "r%d", to - HUNT_READS);
    else if (to == HUNT_CLOCK)
        fputc('c', out);
    else
        fprintf(out, "%d", to);
}

char *replay_text(const struct hunt_plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = memory_stream(&text, &size);
    if (plan->algorithm >= 0)
        fprintf(to, "%s:%" PRIx64, hunt_algorithm_words[plan->algorithm], plan->seed);
    else
        fprintf(to, "schedule:%" PRIx64, plan->seed);
    if (plan->algorithm >= 0 && plan->depth)
        fprintf(to, ":%d", plan->depth);
    for (size_t i = 0; plan->algorithm < 0 && i < plan->switch_count; i++) {
        const struct hunt_switch *at = &plan->switches[i];
        fprintf(to, "%c%d.%" PRIu32 "-", i ? ',' : ':', at->thread, at->at);
        switch_print(to, at->to);
    }
    fprintf(to, "@%08" PRIx32, replay_program());
    fclose(to);
    return text;
}

/* As switch_print() has it; -1: it is none. */
static int switch_to_parse(char *text, char **end)
{
    int base = *text == 'r' ? HUNT_READS : *text == 'w' ? HUNT_STORES : 0;
    int most = *text == 'w' ? HUNT_TO_MAX : *text == 'r' ? HUNT_STORES : HUNT_THREADS_MAX;
    char *digits = text + (base > 0);
    if (*text == 'c') {
        *end = text + 1;
        return HUNT_CLOCK;
    }
    unsigned long number = strtoul(digits, end, 10);
    if (*end == digits || number >= (unsigned long)(most - base) || (base && number == 0))
        return -1;
    return base + (int)number;
}

static bool switch_parse(struct hunt_switch *at, char **text)
{
    char *end;
    unsigned long thread = strtoul(*text, &end, 10);
    if (end == *text || *end != '.' || thread >= HUNT_THREADS_MAX)
        return false;
    unsigned long moment = strtoul(end + 1, &end, 10);
    if (*end != '-' || moment > UINT32_MAX)
        return false;
    char *to = end + 1;
    int other = switch_to_parse(to, &end);
    if (other < 0)
        return false;
    *at = (struct hunt_switch){
        .at = (uint32_t)moment, .thread = (uint8_t)thread, .to = (uint8_t)other};
    *text = *end == ',' && end[1] ? end + 1 : end;
    return !*end || *end == ',';
}

static bool switches_parse(struct hunt_plan *plan, char *text)
{
    size_t count = 0;
    for (const char *at = text; *at; at++)
        count += *at == ',';
    struct hunt_switch *switches = xcalloc(count + 1, sizeof *switches);
    plan->switches = switches;
    for (plan->switch_count = 0; *text; plan->switch_count++)
        if (plan->switch_count == HUNT_SWITCHES_MAX ||
            !switch_parse(&switches[plan->switch_count], &text))
            return false;
    return true;
}

/* rest: behind the seed, "" or ":DEPTH" or ":SWITCHES". */
static bool rest_parse(struct hunt_plan *plan, char *rest)
{
    if (*rest && *rest != ':')
        return false;
    if (plan->algorithm < 0)
        return switches_parse(plan, rest + (*rest == ':'));
    if (!campaign_has_depth(plan->algorithm))
        return !*rest;
    char *end = rest;
    unsigned long depth = *rest ? strtoul(rest + 1, &end, 10) : 0;
    plan->depth = (int)depth;
    return end > rest + 1 && !*end && depth >= 1 && depth <= HUNT_DEPTH_MAX;
}

static bool plan_parse(struct hunt_plan *plan, char *text)
{
    char *seed = strchr(text, ':'), *end;
    if (!seed)
        return false;
    *seed++ = '\0';
    plan->algorithm = -1;
    while (hunt_algorithm_words[++plan->algorithm])
        if (strcmp(hunt_algorithm_words[plan->algorithm], text) == 0)
            break;
    if (!hunt_algorithm_words[plan->algorithm])
        plan->algorithm = -1;
    if (plan->algorithm < 0 && strcmp(text, "schedule") != 0)
        return false;
    plan->seed = strtoull(seed, &end, 16);
    return end > seed && rest_parse(plan, end);
}

/* The hash behind "@", which is cut off; false: there is none. */
static bool program_parse(char *text, uint32_t *program)
{
    char *at = strchr(text, '@'), *end;
    if (!at)
        return false;
    *at++ = '\0';
    unsigned long hash = strtoul(at, &end, 16);
    *program = (uint32_t)hash;
    return end > at && !*end && hash <= UINT32_MAX;
}

bool replay_parse(struct hunt_plan *plan, const char *given, struct error *error)
{
    char *text = xstrdup(given);
    uint32_t program;
    bool is_one = program_parse(text, &program) && plan_parse(plan, text);
    free(text);
    if (!is_one)
        error_print(error,
                    "\"%s\" is no execution; valid: ALGORITHM:SEED@PROGRAM, of pct and delay "
                    "ALGORITHM:SEED:DEPTH@PROGRAM with a depth of 1 to %d, or "
                    "schedule:SEED:THREAD.MOMENT-THREAD,...@PROGRAM, as hunt prints it",
                    given, HUNT_DEPTH_MAX);
    else if (program != replay_program())
        error_print(error,
                    "the schedule is one of program %08" PRIx32
                    ", and no longer applies: this is program %08" PRIx32,
                    program, replay_program());
    return is_one && program == replay_program();
}
