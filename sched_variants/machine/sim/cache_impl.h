/* cache_impl.h - what the files of the cache model share, and nobody else sees.
 *
 *   cache.c        accesses, coherence: the state machine
 *   cache_make.c   from a model, all of it
 *   cache_level.c  L2 and L3: tags, replacement
 *   cache_shadow.c the fully associative LRU cache beside each of them
 *   cache_why.c    counters; kinds of misses; tallies by structure and instruction
 *   cache_map.c    pages and lines of memory; names
 *   cache_memory.c the memory of all that
 *   cache_ahead.h  the host's caches beside it
 *   cache_check.c  invariants
 */
#ifndef SCHEDLAB_SIM_CACHE_IMPL_H
#define SCHEDLAB_SIM_CACHE_IMPL_H

#include "cache.h"
#include "machine.h"

enum { CACHE_NONE = UINT16_MAX, CACHE_PAGE_LINES = SIM_PAGE / SIM_LINE, CACHE_WAYS_MAX = 64 };

/* Sets of units and groups --------------------------------------------------------------------- */

static inline bool cache_bit(const uint64_t *set, int i)
{
    return set[i / 64] >> i % 64 & 1;
}

static inline void cache_bit_set(uint64_t *set, int i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void cache_bit_clear(uint64_t *set, int i)
{
    set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* The first member from i on; -1: none. */
static inline int cache_bit_next(const uint64_t *set, int words, int i)
{
    for (int word = i / 64; word < words; word++) {
        uint64_t rest = set[word] & (word == i / 64 ? ~UINT64_C(0) << i % 64 : ~UINT64_C(0));
        if (rest)
            return word * 64 + __builtin_ctzll(rest);
    }
    return -1;
}

#define CACHE_EACH(i, set, words)                                                                  \
    for (int i = cache_bit_next(set, words, 0); i >= 0; i = cache_bit_next(set, words, i + 1))

/* Lines ---------------------------------------------------------------------------------------- */

struct cache_page;

/* A line of memory and its entry in the directory. Made when it is first touched or prefetched. */
struct cache_line {
    uint32_t number;   /* of its page, by first touch, times 64, and its place there */
    uint16_t owner;    /* the unit that has it E or M; CACHE_NONE: shared, or nobody's */
    bool modified;     /* the owner has it M */
    bool has_free;     /* a word has a name that is free: every access looks at names */
    uint16_t l3_dirty; /* the group whose L3 is newer than memory; CACHE_NONE */
    uint16_t writer;   /* the unit of `written` */
    uint16_t asker;    /* the last unit that it is promised to, until busy_ps; CACHE_NONE */
    bool asks_to_read; /* which will leave it shared */
    uint8_t written;   /* words that it wrote and that `lost_words` lacks; see cache_fold() */
    struct cache_page *page;
    uintptr_t host;  /* address of the line */
    int64_t busy_ps; /* until then it is on its way to somebody, and others wait */
    uint64_t
        *lost_words; /* a byte per unit and then group: words that others wrote since it lost the
                          * line to a write; NULL: nobody ever did */
    uint64_t sets[]; /* cache_set() */
};

/* The sets of a line: of units ... */
enum cache_set {
    CACHE_HOLDS,   /* has it in L1 or L2 */
    CACHE_TOUCHED, /* has ever asked for it */
    CACHE_L1_LOST, /* lost it from L1 to a write, and has not had it there since */
    CACHE_L2_LOST,
    CACHE_L2_SHADOW, /* a shadow that has not been full has it; see cache_shadow.c */
    CACHE_UNIT_SETS
};

/* ... and of groups. */
enum cache_group_set {
    CACHE_L3_HOLDS,
    CACHE_L3_TOUCHED,
    CACHE_L3_LOST,
    CACHE_L3_SHADOW,
    CACHE_GROUP_SETS
};

struct cache_page {
    uint32_t number;
    uint16_t home; /* socket of the first touch */
    struct cache_line *lines[CACHE_PAGE_LINES];
};

/* Levels --------------------------------------------------------------------------------------- */

/* A fully associative LRU cache: what it would hold decides between capacity and conflict. See
 * cache_shadow.c. */
struct cache_shadow {
    uint32_t *log; /* lines, by access, from first to end */
    uint32_t size, used, first, end, log_room;
    uint32_t word; /* of a line's sets: whether it is held, until the shadow is full */
    uint64_t mask; /* of that word */
    struct cache_shadow_entry *entries; /* by hash of the line's number; NULL until then */
    uint32_t room;                      /* of entries */
    int shift;                          /* of the hash */
};

struct cache_place {
    uint32_t tag;   /* number of the line, and 1; 0: empty */
    uint32_t stamp; /* of the last access, in accesses of this level; kept when the place empties */
};

/* L2 of a unit or L3 of a group. Place i belongs to set i / ways. A set of 8 is a line of the
 * host's caches, whose misses are most of what a simulated miss costs. */
struct cache_level {
    uint32_t sets, ways, clock;
    enum sim_replacement replacement;
    struct cache_place *places;
    uint8_t *prefetched; /* per place; used only with prefetch */
    struct cache_shadow shadow;
};

/* Lines that L1 replaced, with their last access: for the same decision, see cache_why.c. By set of
 * L1, since what is replaced is of the set of what was missed: both are beside each other. */
struct cache_history_set {
    uint32_t used, room;
    const struct cache_line **lines;
    uint64_t *stamps;
};

struct cache_history {
    struct cache_history_set *sets;
    uint32_t size, used;
    uint64_t floor; /* whatever was last accessed then, or before, is a capacity miss */
    uint64_t ceiling, ceiling_until; /* then, or later, a conflict; as long as the clock is below */
};

/* The units and groups near to a group, as sets: in the group itself, and in its socket. */
struct cache_around {
    uint64_t group_units[SIM_CORES_MAX / 64], socket_units[SIM_CORES_MAX / 64];
    uint64_t own_group[SIM_CORES_MAX / 64], socket_groups[SIM_CORES_MAX / 64];
};

struct cache_unit {
    struct cache_front front;
    int index, group, socket;
    const struct cache_around *around;
    uint32_t slots;            /* of L1 */
    struct cache_line **lines; /* in them; only valid where the slot is not empty */
    struct cache_level l2;
    struct cache_history history;
    int watchers; /* cores of it that watch a line */
};

/* The machine. */
struct cache_state {
    struct sim_model model;
    int units, groups, sockets;
    int unit_words, group_words; /* of a set, in uint64_t */
    uint32_t l1_sets;
    bool l1_by_address; /* so few sets that the place in the page decides which */
    bool has_l3;
    struct cache_unit *unit;
    struct cache_level *l3;
    struct cache_around *around; /* of groups */
};
extern struct cache_state cache;

/* Where in a line's sets one begins. */
static inline uint32_t cache_set_word(enum cache_set set)
{
    return (uint32_t)(set * cache.unit_words);
}

static inline uint32_t cache_group_set_word(enum cache_group_set set)
{
    return (uint32_t)(CACHE_UNIT_SETS * cache.unit_words + set * cache.group_words);
}

static inline uint64_t *cache_set(struct cache_line *line, enum cache_set set)
{
    return line->sets + cache_set_word(set);
}

static inline uint64_t *cache_group_set(struct cache_line *line, enum cache_group_set set)
{
    return line->sets + cache_group_set_word(set);
}

/* cache_memory.c ------------------------------------------------------------------------------- */

/* Memory, zeroed, or the end of the process. The pool's goes back with cache_pool_fini() and no
 * sooner; it is aligned to 64 bytes if it has so many, else to 16. */
void *cache_zalloc(size_t count, size_t size);
void *cache_pool_alloc(size_t count, size_t size);
void cache_pool_fini(void);

/* cache_level.c -------------------------------------------------------------------------------- */

/* index: of the unit or group; word: where in a line's sets the one for its shadow begins. */
void cache_level_init(struct cache_level *level, const struct sim_cache_model *model, uint32_t word,
                      int index);

/* The line of that number is about to be looked for, here and in the shadow: the host's caches may
 * get ready. */
void cache_level_ahead(const struct cache_level *level, uint32_t number);

/* And what leaves for it, if it is put in. */
void cache_level_victim_ahead(const struct cache_level *level, const struct cache_line *line);

/* The place of the line; -1: it is not there. Does not count as an access. */
int cache_level_find(const struct cache_level *level, const struct cache_line *line);
void cache_level_touch(struct cache_level *level, int place);

/* Puts it in as the latest; pre: it is not there. Returns what had to leave, or NULL; *place: of
 * the line. */
struct cache_line *cache_level_insert(struct cache_level *level, struct cache_line *line,
                                      int *place);

/* The line at that place leaves, and the shadow forgets it as well; or does not. */
void cache_level_empty(struct cache_level *level, int place, struct cache_line *line);
void cache_level_drop(struct cache_level *level, int place);

/* Which of n places leaves, by their stamps; all are occupied. */
int cache_victim(const uint64_t *stamps, int n, enum sim_replacement replacement);

/* cache_shadow.c ------------------------------------------------------------------------------- */

/* A shadow of so many lines; it alone uses that bit of that word of the lines' sets. */
void cache_shadow_init(struct cache_shadow *shadow, uint32_t lines, uint32_t word, int bit);
void cache_shadow_fini(void); /* of all: what they share */

/* The line is about to be accessed: the host's caches may get ready. */

void cache_shadow_ahead(const struct cache_shadow *shadow, uint32_t line);

/* An access to the line; true if it was there. */
bool cache_shadow_access(struct cache_shadow *shadow, struct cache_line *line);
void cache_shadow_forget(struct cache_shadow *shadow,
                         struct cache_line *line); /* no matter if it is there */

/* cache_why.c ---------------------------------------------------------------------------------- */

void cache_why_init(void);
void cache_why_fini(void);
void cache_history_init(struct cache_history *history, uint32_t lines);

void cache_history_ahead(const struct cache_history *history, const struct cache_line *line);

/* The line leaves L1, replaced, from that slot. */
void cache_history_add(struct cache_unit *unit, struct cache_line *line, uint32_t slot);

/* Would a fully associative L1 have missed it? The unit's miss has been counted in front.clock. The
 * line leaves the history. */
bool cache_history_capacity(struct cache_unit *unit, const struct cache_line *line);

/* All units that lost the line learn what `writer` wrote. To be called before another unit writes,
 * loses or asks for it. Pre: the owner's slot has been emptied into line->written. */
void cache_fold(struct cache_line *line);

/* Starts the bookkeeping of who lost the line; i: a unit, or units + a group. */
void cache_lose(struct cache_line *line, int i);

/* For each level that missed: why. words: those accessed. */
enum cache_kind cache_why_l1(struct cache_unit *unit, struct cache_line *line, uint8_t words);
enum cache_kind cache_why_l2(const struct cache_unit *unit, struct cache_line *line, uint8_t words,
                             bool in_shadow);
enum cache_kind cache_why_l3(const struct cache_unit *unit, struct cache_line *line, uint8_t words,
                             bool in_shadow);

/* The tally of an instruction at a structure. */
struct cache_tally *cache_tally_of(uintptr_t pc, int name);
void cache_tallies_reset(void);

/* An access that L1 could not serve alone took ps. */
void cache_stalled(uintptr_t pc, int name, uint64_t ps);

/* cache_map.c ---------------------------------------------------------------------------------- */

void cache_map_init(void);
void cache_map_fini(void);

/* The line of an address, made if need be; socket: of who touches it. */
struct cache_line *cache_line_at(uintptr_t address, int socket);
/* The line of an address and its number; NULL: it was not made, or not looked at lately. */
const struct cache_line *cache_line_known(uintptr_t address, uint32_t *number);
uint32_t cache_page_count(void);                         /* that were made */
struct cache_line *cache_line_numbered(uint32_t number); /* pre: it was made */
/* The next line of its page; NULL: it is the last. */
struct cache_line *cache_line_next(struct cache_line *line);

int cache_name_at(uintptr_t address);
bool cache_name_is_free(int name);
/* To be called for each line of which a word becomes free. */
void cache_line_freed(struct cache_line *line);

/* cache_check.c: does the directory say of the line what the tags say, may one unit at most write
 * it, and does no inclusive level lack it? If not, says why. */
bool cache_line_is_valid(struct cache_line *line);
void cache_check_all(void); /* all lines; ends the process if one is not */
void cache_map_each_line(void (*visit)(struct cache_line *line));

#endif
