/* why_win.h - where the cores of one cell spent the time that those of another one did not need.
 *
 * Callers: run_answer.c, why_table.c, report_reason.c and verdict.c. Simulated machines alone know
 * it: there each moment of a core is a stall on a structure, a hint in a spin loop, idle, or the
 * rest: computing and in the kernel. Numbers are means over the samples that are ok, of core time
 * per operation: the time of all cores that the workers may use, over a call as a whole. So it has
 * what a workload leaves out of its throughput, too.
 */
#ifndef SCHEDLAB_WHY_WIN_H
#define SCHEDLAB_WHY_WIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct why_part {
    bool stalled;          /* on the structure of that name */
    const char *name;      /* else "in spin loops" and its like; of the records, or static */
    double faster, slower; /* ns per operation */
};

/* All parts, the largest difference first; they add up to the whole. */
struct why_win {
    double faster_ns, slower_ns;
    struct why_part *parts;
    size_t count;
};

/* False, and nothing to free, if not both cells have samples of a simulated machine. Not meant for
 * paced loads, whose speed is given. The records must outlive it. */
bool why_win_make(struct why_win *win, const json_t *faster, const json_t *slower);
void why_win_free(struct why_win *win);

/* "9.8 us more core time an operation: 6.14 us in spin loops, 2.65 us stalled on grq.lock", to be
 * freed: as many parts as make up nine tenths of it, three at most. Two cells on real threads have
 * that of why_counts.h. NULL where neither has one, or if the second cell is not the slower. */
char *why_win_of(const json_t *faster, const json_t *slower);

#endif
