/* cache.h - caches and their coherence: what each access costs, and why it missed.
 *
 * cache.c has the state machine as an essay. All functions: any host stack; one thread of the host
 * for all of them; nothing is instrumented, nothing waits. Results depend on the model and on the
 * order of calls alone, not on where the host puts memory: pages are numbered as they are touched.
 *
 * Line: 64 bytes. Word: 8 bytes. Unit: the siblings of one L1 and L2. Group: the units of one L3.
 */
#ifndef SCHEDLAB_SIM_CACHE_H
#define SCHEDLAB_SIM_CACHE_H

#include "model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_access { SIM_READ, SIM_WRITE }; /* a failed compare-and-swap is a write all the same */

/* Makes the caches of a machine, all empty. Once, or again after cache_fini(). A geometry that
 * cannot be ends the process with a line on standard error. */
void cache_init(const struct sim_model *model);
void cache_fini(void); /* gives all memory back, names too */

/* Counters ----------------------------------------------------------------------------------- */

enum cache_depth { CACHE_L1, CACHE_L2, CACHE_L3, CACHE_DEPTHS };

/* Why a line was not there. In a unit's L1 and L2, in a group's L3: */
enum cache_kind {
    CACHE_COLD,     /* never asked for here before */
    CACHE_CAPACITY, /* a fully associative LRU cache of this size would not have it either */
    CACHE_CONFLICT, /* it would: lost to the geometry, to a policy that is not LRU, to a prefetch,
                     * or because a level below that is inclusive dropped it */
    CACHE_TRUE,     /* lost to another's write, and a word now accessed was written meanwhile */
    CACHE_FALSE,    /* likewise, but only other words were */
    CACHE_KINDS
};

#define CACHE_COUNTERS_OF(X, LEVEL, NAME, WHO)                                                     \
    X(LEVEL##_HIT, "accesses of " NAME " that found their line there")                             \
    X(LEVEL##_MISS, "accesses of " NAME " that did not find their line there")                     \
    X(LEVEL##_MISS_COLD, NAME " misses of lines that the " WHO " had never asked for")             \
    X(LEVEL##_MISS_CAPACITY, NAME " misses that a fully associative LRU cache would have too")     \
    X(LEVEL##_MISS_CONFLICT, NAME " misses that a fully associative LRU cache would not have")     \
    X(LEVEL##_MISS_TRUE_SHARING, NAME " misses after another's write of a word now accessed")      \
    X(LEVEL##_MISS_FALSE_SHARING, NAME " misses after another's write of other words of the line")

/* X(NAME, help). Per core: of who made the access, also where others' caches change. */
#define CACHE_COUNTER_LIST(X)                                                                      \
    X(READS, "loads, once for each line they touch")                                               \
    X(WRITES, "stores and atomic operations, once for each line they touch")                       \
    CACHE_COUNTERS_OF(X, L1D, "L1d", "unit")                                                       \
    CACHE_COUNTERS_OF(X, L2, "L2", "unit")                                                         \
    CACHE_COUNTERS_OF(X, L3, "L3", "group")                                                        \
    X(UPGRADES, "writes of a line that was here, but without the right to write it")               \
    X(INVALIDATIONS, "copies in L1 and L2 of other units that writes took away")                   \
    X(TRANSFERS_CLEAN_NEAR, "unmodified lines from another unit of the L3 group")                  \
    X(TRANSFERS_CLEAN_SOCKET, "unmodified lines from another L3 group of the socket")              \
    X(TRANSFERS_CLEAN_REMOTE, "unmodified lines from another socket's caches")                     \
    X(TRANSFERS_DIRTY_NEAR, "modified lines from another unit of the L3 group")                    \
    X(TRANSFERS_DIRTY_SOCKET, "modified lines from another L3 group of the socket")                \
    X(TRANSFERS_DIRTY_REMOTE, "modified lines from another socket's caches")                       \
    X(MEMORY_LOCAL, "lines from memory of the own socket")                                         \
    X(MEMORY_REMOTE, "lines from memory of another socket")                                        \
    X(WRITEBACKS, "modified lines handed down by L2, also when another core reads them")           \
    X(WRITEBACKS_MEMORY, "modified lines written to memory")                                       \
    X(INCLUSION_VICTIMS, "lines that L1 or L2 lost because an inclusive level below did")          \
    X(PREFETCHES, "lines that were fetched into L2 ahead; not among the misses and transfers")     \
    X(PREFETCHES_USEFUL, "prefetched lines that were then asked for")                              \
    X(OVERLAPPED, "accesses that L1 alone could not serve, beside an earlier one")                 \
    X(STALL_PS, "picoseconds of accesses that L1 alone could not serve")

enum cache_counter {
#define CACHE_COUNTER_ID(name, help) CACHE_##name,
    CACHE_COUNTER_LIST(CACHE_COUNTER_ID)
#undef CACHE_COUNTER_ID
        CACHE_COUNTERS
};

/* Identities, for every core:
 *   READS + WRITES = L1D_HIT + L1D_MISS        L1D_MISS = L2_HIT + L2_MISS
 *   L2_MISS = TRANSFERS_* + MEMORY_* + L3_HIT (transfers of the own group are no access of L3)
 *   L3_MISS = L2_MISS - L3_HIT - TRANSFERS_*_NEAR, and 0 where there is no L3
 *   X_MISS = the sum of its five kinds */
struct cache_counters {
    uint64_t count[CACHE_COUNTERS];
};

extern const char *const cache_counter_names[CACHE_COUNTERS]; /* "L1D_MISS_COLD" */
extern const char *const cache_counter_helps[CACHE_COUNTERS];

/* Since cache_init() or cache_counters_reset(). core < 0: the sum of all cores. */
void cache_counters_read(int core, struct cache_counters *counters);

/* All counters and tallies to 0; the caches stay as they are. */
void cache_counters_reset(void);

/* Names -------------------------------------------------------------------------------------- */

enum { CACHE_NAMES_MAX = 1024, CACHE_NAME_SIZE = 64, CACHE_UNNAMED = 0 };

/* The number of a name, the same for equal texts; the text is copied, and cut to 63 bytes. -1:
 * there are CACHE_NAMES_MAX already. CACHE_UNNAMED is "(unnamed)". */
int cache_name_id(const char *text);
const char *cache_name_text(int name); /* pre: name is one; valid until cache_fini() */

/* The structure that the bytes belong to from now on; words that are partly inside belong to it as
 * well. CACHE_UNNAMED takes names away. Memory need not have been touched, and naming is no touch.
 * Costs a table look-up per page, whatever the range. */
void cache_name(const void *start, size_t size, int name);

/* Makes a structure free, for "what if it cost nothing". From now on accesses whose first word is
 * of this name take what an L1 hit takes, count as such, and change nothing. False: there is no
 * such name.
 */
bool cache_free_name(int name);

/* Where -------------------------------------------------------------------------------------- */

struct cache_tally {
    uint64_t misses[CACHE_DEPTHS][CACHE_KINDS];
    uint64_t upgrades;
    uint64_t stall_ps;
};

/* The misses and upgrades of one structure, or of one instruction at one structure. */
struct cache_site {
    uintptr_t pc; /* 0 in a list by name */
    int name;
    struct cache_tally tally;
};

/* Tallies accesses from now on, or no more; they are tallied after cache_init(). Counters go on. */
void cache_tallies_run(bool run);

/* Called for each access that is tallied, within it: it must not access anything itself. NULL at
 * first. */
extern void (*cache_on_stall)(uintptr_t pc, int name, uint64_t ps);

enum cache_by { CACHE_BY_NAME, CACHE_BY_PC };

/* All that are not zero: the most stalled first, equal ones by the text of their names, then by pc.
 * *sites is the caller's, to be given to free(). Returns how many. */
size_t cache_sites(enum cache_by by, struct cache_site **sites);

/* Waiting ------------------------------------------------------------------------------------ */

/* The time of whoever makes an access, in ps. A line on its way to one core is not there for
 * another one: who asks meanwhile pays for that, too. NULL: each access is alone in time. */
extern int64_t (*cache_now)(void);
extern uint64_t (*cache_random)(void); /* with cache_now: how far away a question is */

/* Watching ----------------------------------------------------------------------------------- */

/* From now on cache_on_loss(core) is called once, when the unit of `core` loses the line of that
 * address to a write or an eviction below. The call is within the access that takes the line,
 * before its price has been paid. False, and nothing is watched, if the unit has not got the
 * line. */
bool cache_watch(int core, uintptr_t address);
void cache_watch_end(int core);
extern void (*cache_on_loss)(int core);

/* Access ------------------------------------------------------------------------------------- */

/* The rest of this file is here so that a hit can be inlined. */

struct cache_line;

/* A place in L1. key: address of the line on the host, and above it what may not be done without
 * asking; 0: empty, and use is 0 as well. use: of the last access, in accesses of the unit, times
 * 256, and the words written since the line became modified or was looked at by another. Two words,
 * so that a set of 8 is two lines of the host's caches. */
struct cache_slot {
    uintptr_t key;
    uint64_t use;
};
#define CACHE_READ_ONLY (UINT64_C(1) << 63) /* in a key: it is not modified */
#define CACHE_ASKS (UINT64_C(1) << 62)      /* in a key: part of it is free, nothing goes */
#define CACHE_KEY_LINE (CACHE_ASKS - 1)     /* in a key: the address */

enum { CACHE_USE_SHIFT = 8, CACHE_HINTS = 1024 };

struct cache_unit;

/* The part of a unit that a hit needs; the first member of struct cache_unit. */
struct cache_front {
    uint64_t clock; /* accesses so far */
    struct cache_slot *slots;
    uint16_t hints[CACHE_HINTS]; /* in which slot a line may be: wrong hints cost time only */
};

struct cache_core {
    struct cache_front *front;
    uint64_t count[CACHE_COUNTERS];
} __attribute__((aligned(64)));

extern struct cache_core *cache_cores;
extern int64_t cache_price[2]; /* of a hit, by enum sim_access */

/* CACHE_UNDER_WAY: others still have the line, for cache_way.wait_ps. Nothing has been done but
 * asking; the access is made after that time, by cache_access_again() with a copy of cache_way.
 * Only with cache_now. */
int64_t cache_access_slow(struct cache_core *self, uintptr_t address, size_t size,
                          enum sim_access access, uintptr_t pc);

enum { CACHE_UNDER_WAY = -1 };

struct cache_way {
    int64_t wait_ps; /* from now on */
    int64_t done_ps; /* when the line will be there; -1: as if it were asked for after the wait */
};
extern struct cache_way cache_way; /* of the last access that was under way */

int64_t cache_access_again(struct cache_core *self, uintptr_t address, size_t size,
                           enum sim_access access, uintptr_t pc, const struct cache_way *way);

/* An access within one line that overlaps with an earlier miss. Returns the price of a hit; counts
 * as overlapped if L1 had to ask; others find the line on its way for as long as the transfer
 * takes. CACHE_UNDER_WAY: it is on its way already, and nothing has been done. */
int64_t cache_access_beside(struct cache_core *self, uintptr_t address, size_t size,
                            enum sim_access access, uintptr_t pc);

static inline size_t cache_hint(uintptr_t address)
{
    return (uint32_t)(address / SIM_LINE) * UINT32_C(2654435769) / (UINT32_MAX / CACHE_HINTS + 1);
}

/* By byte of a line: its word and those behind it; its word and those before it. */
extern const uint8_t cache_words_from[SIM_LINE], cache_words_to[SIM_LINE];

/* The words of an access that is in one line. */
static inline uint8_t cache_words(uintptr_t address, size_t size)
{
    uintptr_t first = address % SIM_LINE;
    return cache_words_from[first] & cache_words_to[first + size - 1];
}

/* True if a place has all bytes of an access, and the access needs to ask no other unit. */
static inline bool cache_slot_serves(const struct cache_slot *slot, uintptr_t address, size_t size,
                                     enum sim_access access)
{
    uintptr_t line = access == SIM_WRITE ? slot->key : slot->key & ~CACHE_READ_ONLY;
    return address - line <= SIM_LINE - size;
}

/* The place that serves an access so; NULL: it may be any or none. */
static inline struct cache_slot *cache_ready(const struct cache_core *self, uintptr_t address,
                                             size_t size, enum sim_access access)
{
    struct cache_front *front = self->front;
    struct cache_slot *slot = &front->slots[front->hints[cache_hint(address)]];
    return __builtin_expect(cache_slot_serves(slot, address, size, access), 1) ? slot : NULL;
}

/* A hit that needs to ask nobody. Returns its price. */
static inline int64_t cache_hit(struct cache_core *self, struct cache_slot *slot, uintptr_t address,
                                size_t size, enum sim_access access)
{
    uint8_t words = access == SIM_WRITE ? cache_words(address, size) : 0;
    slot->use = ++self->front->clock << CACHE_USE_SHIFT | (uint8_t)slot->use | words;
    self->count[access == SIM_WRITE ? CACHE_WRITES : CACHE_READS]++;
    return cache_price[access];
}

/* Picoseconds that it takes a core to read or write `size` bytes, or CACHE_UNDER_WAY. size: 1..64;
 * bytes in the next line are a second access. pc: of the instruction, for the attribution of
 * misses. The first 64 bytes of the address space belong to nobody. */
static inline int64_t cache_access_by(struct cache_core *self, uintptr_t address, size_t size,
                                      enum sim_access access, uintptr_t pc)
{
    struct cache_slot *slot = cache_ready(self, address, size, access);
    if (!slot)
        return cache_access_slow(self, address, size, access, pc);
    return cache_hit(self, slot, address, size, access);
}

static inline int64_t cache_access(int core, uintptr_t address, size_t size, enum sim_access access,
                                   uintptr_t pc)
{
    return cache_access_by(&cache_cores[core], address, size, access, pc);
}

#endif
