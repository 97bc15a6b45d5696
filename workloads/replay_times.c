/* replay_times.c - see replay_times.h. */
#include "replay_times.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 12, MANY = 100, NAME_WIDTH = 24 };

enum replay_time replay_time_of(enum program_kind kind)
{
    switch (kind) {
    case PROGRAM_LOCK:
        return TIME_LOCK;
    case PROGRAM_SLEEP:
        return TIME_ASLEEP;
    case PROGRAM_CALL:
        return TIME_CALL;
    case PROGRAM_AT:
    case PROGRAM_AFTER:
        return TIME_OUTSIDE;
    case PROGRAM_WAIT:
    case PROGRAM_RECEIVE:
        return TIME_WAITING;
    case PROGRAM_YIELD:
        return TIME_RUNNABLE;
    default:
        return TIME_COMPUTING;
    }
}

/* One goroutine, for sorting. */
struct life {
    const char *name;
    const struct replay_times *times;
};

static int compare_lives(const void *a, const void *b)
{
    const struct life *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    if (names != 0)
        return names;
    return (x->times->life_ns < y->times->life_ns) - (x->times->life_ns > y->times->life_ns);
}

/* The goroutines of one function, the longest life first. */
struct function {
    const struct life *lives;
    size_t count;
    double ns; /* in all */
};

static int compare_functions(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static void print_row(const char *name, const struct life *lives, size_t count, FILE *to)
{
    double ns[TIME_KINDS] = {0}, all = 0;
    for (size_t i = 0; i < count; i++) {
        all += (double)lives[i].times->life_ns;
        for (int kind = 0; kind < TIME_KINDS; kind++)
            ns[kind] += (double)lives[i].times->ns[kind];
    }
    fprintf(to, "%-*.*s %6zu %9.1f", NAME_WIDTH, NAME_WIDTH, name, count,
            all / (double)count / 1000);
    for (int kind = 0; kind < TIME_KINDS; kind++)
        fprintf(to, " %5.1f", all > 0 ? 100 * ns[kind] / all : 0);
    fputc('\n', to);
}

/* Groups the lives, which are sorted; returns how many functions there are. */
static size_t functions_find(const struct life *lives, size_t count, struct function *functions)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(lives[i].name, lives[i - 1].name) != 0)
            functions[found++] = (struct function){.lives = &lives[i]};
        functions[found - 1].count++;
        functions[found - 1].ns += (double)lives[i].times->life_ns;
    }
    return found;
}

void replay_times_print(const struct program *program, const struct replay_times *times,
                        size_t count, FILE *to)
{
    struct life *lives = malloc((count + 1) * sizeof *lives);
    struct function *functions = malloc((count + 1) * sizeof *functions);
    if (!lives || !functions)
        abort();
    for (size_t i = 0; i < count; i++)
        lives[i] =
            (struct life){program->goroutines[i % program->goroutines_count].name, &times[i]};
    qsort(lives, count, sizeof *lives, compare_lives);
    size_t found = functions_find(lives, count, functions);
    qsort(functions, found, sizeof *functions, compare_functions);
    fprintf(to, "%-*s %6s %9s %5s %5s %5s %5s %5s %5s %5s\n", NAME_WIDTH, "function", "count",
            "life, us", "comp", "ready", "lock", "sleep", "call", "out", "wait");
    for (size_t i = 0; i < found && i < ROWS_MAX; i++) {
        const struct function *function = &functions[i];
        print_row(function->lives->name, function->lives, function->count, to);
        if (function->count >= MANY)
            print_row("  the slowest 1 %", function->lives, function->count / 100, to);
    }
    if (found > ROWS_MAX)
        fprintf(to, "and %zu more functions\n", found - ROWS_MAX);
    free(functions);
    free(lives);
}
