/* hunt_switches.c - see hunt_switches.h. */
#include "harness/commands/hunt_switches.h"

#include "harness/sample/source_line.h"

#include <stdio.h>

enum { SWITCHES_SHOWN = 40 };

/* The place where the thread stood when others went on: before an access, or in a wait. */
static void place_print(struct source_lines *lines, uintptr_t pc)
{
    struct source_line at;
    if (pc && lines && source_line_find(lines, pc, &at))
        printf(" in %s (%s:%d)", at.function, at.file, at.line);
}

void hunt_switches_print(const struct hunt_outcome *failure)
{
    struct source_lines *lines = source_lines_open();
    if (failure->switch_count == 0)
        puts("each thread goes on for as long as it can, and then the next one: no switch is "
             "needed");
    else
        puts("switches that it takes; else each thread goes on for as long as it can:");
    for (size_t i = 0; i < failure->switch_count && i < SWITCHES_SHOWN; i++) {
        const struct hunt_switch *at = &failure->switches[i];
        printf("  thread %d ", at->thread);
        if (at->to > HUNT_STORES)
            printf("stores a value that comes before the last %d", at->to - HUNT_STORES);
        else if (at->to > HUNT_READS)
            printf("reads the value that came %d before the last", at->to - HUNT_READS);
        else
            fputs(at->away ? "is stopped" : "waits", stdout);
        place_print(lines, at->pc);
        if (at->to > HUNT_CLOCK)
            putchar('\n');
        else if (at->to == HUNT_CLOCK)
            puts("; time jumps to the next timer");
        else
            printf("; thread %d goes on\n", at->to);
    }
    if (failure->switch_count > SWITCHES_SHOWN)
        printf("  and %zu more\n", failure->switch_count - SWITCHES_SHOWN);
    source_lines_close(lines);
}
