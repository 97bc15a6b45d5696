/* steps.c - how the steps of two sides crossed: machine_step().
 *
 * A passage is what a thread does on one side, step after step, until it begins anew. Two passages
 * of different sides cross if neither ends before the other begins. Then each step of the one came
 * before or after each of the other, and that is counted: once for two passages, when the second of
 * them is over. A thread keeps its last passages for that. Older ones go uncounted.
 */
#include "kernel.h"
#include "machine.h"

#include <string.h>

enum { PAST = 4 };

const char hunt_sides[] = "SI";

struct passage {
    int side;                  /* of hunt_sides; -1: none */
    uint64_t step[HUNT_STEPS]; /* when it was made, 0: not */
    uint64_t begin, end;       /* its first and its last step */
};

static struct {
    struct passage now, past[PAST];
    unsigned count; /* of past ones in all */
} of[HUNT_THREADS_MAX];
static struct hunt_cover *covers;
static uint64_t clock; /* steps so far */

void steps_begin(struct hunt_cover *cover)
{
    covers = cover;
    clock = 0;
    for (int i = 0; i < HUNT_THREADS_MAX && cover; i++) {
        of[i].now.side = -1;
        of[i].count = 0;
    }
}

static void count(const struct passage *submits, const struct passage *sleeps)
{
    for (int i = 0; i < HUNT_STEPS; i++)
        for (int k = 0; k < HUNT_STEPS; k++)
            if (submits->step[i] && sleeps->step[k])
                covers->crossed[i][k][submits->step[i] > sleeps->step[k]]++;
}

static void cross(const struct passage *a, const struct passage *b)
{
    if (a->side == b->side || a->end < b->begin || b->end < a->begin)
        return;
    count(a->side == HUNT_SUBMITS ? a : b, a->side == HUNT_SUBMITS ? b : a);
}

static void passage_end(int thread)
{
    struct passage *now = &of[thread].now;
    if (now->side < 0)
        return;
    for (int i = 0; i < HUNT_THREADS_MAX; i++)
        for (unsigned k = 0; i != thread && k < of[i].count && k < PAST; k++)
            cross(now, &of[i].past[k]);
    of[thread].past[of[thread].count++ % PAST] = *now;
    now->side = -1;
}

void steps_end(void)
{
    for (int i = 0; i < HUNT_THREADS_MAX && covers; i++)
        passage_end(i);
}

static bool is_later_than_all(const struct passage *passage, int number)
{
    for (int i = number; i < HUNT_STEPS; i++)
        if (passage->step[i])
            return false;
    return true;
}

void machine_step(const char *name)
{
    if (!covers || !hunt.self)
        return;
    struct passage *now = &of[hunt.self->index].now;
    int side = name[0] == hunt_sides[HUNT_SUBMITS] ? HUNT_SUBMITS : HUNT_SLEEPS;
    int number = name[1] - '1';
    if (now->side != side || !is_later_than_all(now, number)) {
        passage_end(hunt.self->index);
        *now = (struct passage){.side = side, .begin = clock + 1};
    }
    now->end = now->step[number] = ++clock;
}
