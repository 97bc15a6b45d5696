/* cover.c - which accesses met: how often one followed another of another thread, on one word.
 *
 * Each word keeps its last write, and some reads since. A thread that writes what it has read, as
 * by a compare-and-swap, is still one that has read before the next thread writes.
 *
 * Words and pairs are in tables of a fixed size. A word whose place another one takes forgets its
 * accesses, so a meeting may go uncounted; none is counted that was not.
 */
#include "kernel.h"

enum { WORDS = 1 << 14, READS = 4, PROBES = 64 };

struct made {
    uintptr_t pc; /* 0: of no instruction that is known */
    int thread;
};

struct word {
    uintptr_t address;
    uint64_t execution; /* in which it was accessed; else it is void */
    bool written;
    struct made write, read[READS];
    unsigned reads; /* the last READS are kept */
};

static struct hunt_cover *covers;
static struct word words[WORDS];
static uint64_t execution;

void hunt_cover(struct hunt_cover *cover)
{
    covers = cover;
}

void hunt_cover_add(struct hunt_cover *cover, uintptr_t before, uintptr_t after, uint64_t times)
{
    uint64_t at = (before * UINT64_C(0x9e3779b97f4a7c15) ^ after) * UINT64_C(0xbf58476d1ce4e5b9);
    at >>= 40;
    for (int i = 0; i < PROBES; i++) {
        struct hunt_cover_pair *pair = &cover->pair[(at + (uint64_t)i) % HUNT_COVER_PAIRS];
        if (!pair->before) {
            pair->before = before;
            pair->after = after;
        }
        if (pair->before == before && pair->after == after) {
            pair->times += times;
            return;
        }
    }
    cover->left_out += times;
}

void cover_begin(void)
{
    execution++;
    steps_begin(covers);
}

static void meet(const struct made *before, const struct made *after)
{
    if (before->pc && after->pc && before->thread != after->thread)
        hunt_cover_add(covers, before->pc, after->pc, 1);
}

/* Others than the writer have read what is no more. */
static void reads_drop(struct word *word, int writer)
{
    unsigned count = word->reads < READS ? word->reads : READS;
    word->reads = 0;
    for (unsigned i = 0; i < count; i++)
        if (word->read[i].thread == writer)
            word->read[word->reads++] = word->read[i];
}

void cover_access(uintptr_t address, enum sim_access access, uintptr_t pc)
{
    if (!covers)
        return;
    const struct made made = {pc, hunt.self->index};
    struct word *word =
        &words[(address >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (uint64_t)(WORDS - 1)];
    if (word->address != address || word->execution != execution)
        *word = (struct word){.address = address, .execution = execution};
    if (word->written)
        meet(&word->write, &made);
    if (access == SIM_READ) {
        word->read[word->reads++ % READS] = made;
        return;
    }
    for (unsigned i = 0; i < word->reads && i < READS; i++)
        meet(&word->read[i], &made);
    word->written = true;
    word->write = made;
    reads_drop(word, made.thread);
}
