/* ahead.h - a core runs ahead: it goes on past a branch that is not decided yet, and past a line
 * that it waits for.
 *
 * Callers: hooks.c, for each block and each access that L1 cannot serve.
 *
 * Branches. The next block is predicted from the last block and, where that is not enough, from the
 * path there. A misprediction costs sim_model.branch_ps. Blocks of another frame than the last
 * one's are never mispredicted: most calls name their function, and processors keep a stack of
 * return addresses. So calls through pointers cost too little if they change their target. A block
 * that was never met before is not mispredicted either. As in TAGE [Seznec06] there is a table by
 * the block alone, and a second one by block and path for blocks with which the first was wrong.
 * Entries of the second know their block and path. Here it has one length of path and is small, as
 * schedulers are. A prediction that was right last time survives one error; any other is replaced.
 *
 * Lines. A core that runs out of order meets the accesses after a miss while it waits, so that
 * misses overlap. Its window is what it can hold meanwhile. Here the window is a time of the core's
 * own that passes after the miss began, waiting not counted. The first miss of a window costs its
 * full time. Others in the window, AHEAD_MISSES in all, cost as much as a hit, however far their
 * lines are. So a line of L2 can make one of memory free.
 *   Rejected: to charge the time by which they take longer than the first. It is more literal, but
 *   farther from what is measured (docs/VALIDATION.md, "Overlap"), since no work of the core's own
 *   is hidden behind a miss here.
 *
 * Three kinds of access do not overlap: one near the pointer that the window's first miss loads,
 * whose address is not known before; one to two lines; a read-modify-write. Nor does a line that
 * was met in the window, and lost to another core since.
 * A fence, a read-modify-write that misses, and a misprediction close the window. The core does not
 * meet the blocks after a misprediction before the branch is decided.
 *
 * Addresses that are computed from what was loaded in any other way count as known, so that a walk
 * by indexes is too fast. An overlapped access takes its line at once from a core that may already
 * be a whole lookahead further, and worked with it until then.
 */
#ifndef SCHEDLAB_SIM_AHEAD_H
#define SCHEDLAB_SIM_AHEAD_H

#include "model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AHEAD_BLOCKS = 1024, /* powers of two */
    AHEAD_PATHS = 1024,
    AHEAD_PATH_BITS = 24, /* 3 of each block, so that the path is of 8 */
    AHEAD_MISSES = 12,    /* lines under way at once, which fill buffers hold: 10 to 24 */
    AHEAD_NEAR = 4096,    /* bytes from a pointer: an object, or the end of a stack */
};

/* No time: no window is open. */
#define AHEAD_CLOSED (INT64_MIN / 2)

struct sim_ahead {
    uint32_t hash, path; /* of the block that the core is in, and of the way there */

    int64_t waited_ps;            /* in all; what is left of the clock is the core's own time */
    int64_t opened_ps;            /* the window, in own time; or AHEAD_CLOSED */
    uint64_t loaded;              /* what its first miss loaded, or 0 */
    int misses;                   /* of the window */
    uintptr_t line[AHEAD_MISSES]; /* that they were of */

    /* A prediction: the low bits of the block's address, and in the lowest whether it was right
     * last time. 0: none. */
    uint16_t after_block[AHEAD_BLOCKS];
    uint32_t after_path[AHEAD_PATHS]; /* and above a prediction, which block it is of */
};

static inline bool ahead_is_right(uint16_t predicted, uint16_t next)
{
    return (uint16_t)(predicted ^ next) < 2;
}

/* The prediction after `next` has come: what was right is sure from now on; what was sure is so no
 * longer; else it is the new one. */
static inline uint16_t ahead_learnt(uint32_t predicted, uint32_t next)
{
    uint32_t sure = predicted & 1 ? predicted : next | 1;
    return (uint16_t)(sure - ((predicted ^ next) > 1));
}

static inline void ahead_close(struct sim_ahead *ahead)
{
    ahead->opened_ps = AHEAD_CLOSED;
}

static inline uint32_t ahead_hash(uint32_t block)
{
    return block * 0x9e3779b1u;
}

static inline uint16_t *ahead_by_block(struct sim_ahead *ahead)
{
    return &ahead->after_block[ahead->hash >> 22];
}

static inline uint32_t *ahead_by_path(struct sim_ahead *ahead)
{
    return &ahead->after_path[(ahead->hash ^ ahead->path * 0x85ebca6bu) >> 22];
}

static inline void ahead_go(struct sim_ahead *ahead, uint32_t block)
{
    ahead->path = (ahead->path << 3 | ahead_hash(block) >> 29) & ((1 << AHEAD_PATH_BITS) - 1);
    ahead->hash = ahead_hash(block);
}

/* Nothing is kept in registers across it, of which hooks have few: hook_calls.h. */
static inline void ahead_load_anew(void)
{
    __asm__ volatile("" : : : "memory");
}

/* True if the block was predicted by its path, or it alone sufficed and there is nothing to learn:
 * then the core has entered it. Most blocks are among these, and the host need not guess which of
 * them have something to learn. For the others there is ahead_block(). */
static inline bool ahead_block_is_foreseen(struct sim_ahead *ahead, uint32_t block)
{
    uint32_t right = (uint16_t)(block << 1 | 1), *by_path = ahead_by_path(ahead);
    uint32_t differs = *by_path ^ ((ahead->hash & 0xfffe0000) | 1 << 16 | right);
    if (differs < 2) {
        *by_path ^= differs;
        ahead_load_anew();
        uint16_t *by_block = ahead_by_block(ahead);
        *by_block = ahead_learnt(*by_block, right);
    } else if (*ahead_by_block(ahead) != right || differs <= UINT16_MAX) {
        return false;
    }
    ahead_load_anew();
    ahead_go(ahead, block);
    return true;
}

/* The core enters a block. Returns whether another block was predicted. block: its address. */
static inline bool ahead_block(struct sim_ahead *ahead, uint32_t block)
{
    uint16_t next = (uint16_t)(block << 1), of = (uint16_t)(ahead->hash >> 16 | 1);
    uint16_t *by_block = ahead_by_block(ahead), first = *by_block;
    uint32_t *by_path = ahead_by_path(ahead);
    uint16_t second = (uint16_t)*by_path;
    bool known = *by_path >> 16 == of, first_wrong = !ahead_is_right(first, next) && first;
    bool wrong = known ? !ahead_is_right(second, next) : first_wrong;
    uint16_t learnt = known ? ahead_learnt(second, next) : next;
    *by_block = ahead_learnt(first, next);
    *by_path = known || wrong ? (uint32_t)of << 16 | learnt : *by_path;
    ahead_go(ahead, block);
    return wrong;
}

/* True if a miss at this time would overlap with one before. */
static inline bool ahead_would_overlap(const struct sim_ahead *ahead, int64_t window_ps,
                                       int64_t clock_ps, uintptr_t address)
{
    uintptr_t line = address / SIM_LINE;
    if ((uint64_t)(clock_ps - ahead->waited_ps - ahead->opened_ps) >= (uint64_t)window_ps ||
        ahead->misses == AHEAD_MISSES ||
        address - ahead->loaded + AHEAD_NEAR < 2 * (uint64_t)AHEAD_NEAR)
        return false;
    for (int i = 0; i < ahead->misses; i++)
        if (ahead->line[i] == line)
            return false;
    return true;
}

/* A miss has overlapped, and has its place in the window now. Pre: it would. */
static inline void ahead_overlapped(struct sim_ahead *ahead, uintptr_t address)
{
    ahead->line[ahead->misses++] = address / SIM_LINE;
}

/* The core has waited for a line, and now opens a window. loaded: as in struct sim_ahead. */
static inline void ahead_waited(struct sim_ahead *ahead, int64_t clock_ps, int64_t waited_ps,
                                uintptr_t address, uint64_t loaded)
{
    ahead->opened_ps = clock_ps - ahead->waited_ps;
    ahead->waited_ps += waited_ps;
    ahead->loaded = loaded;
    ahead->misses = 1;
    ahead->line[0] = address / SIM_LINE;
}

#endif
