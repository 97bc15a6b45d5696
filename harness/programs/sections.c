/* sections.c - see sections.h. */
#include "harness/programs/sections.h"

#include "harness/base/fnv1a.h"
#include "harness/base/memory.h"
#include "harness/gotrace/idmap.h"
#include "harness/programs/stacks.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum {
    VAIN_NS = 20000,    /* who has run no longer than that has tried again and got no lock */
    OVERLAPS_SHARE = 20 /* one section in so many may begin within another: by clocks */
};

/* Somebody began to wait for a mutex, or was woken from it. */
struct record {
    bool wakes;
    bool is_told;    /* a section ends here */
    bool begins;     /* a section begins where who was woken goes on */
    bool replaces;   /* locks make it wait as long */
    uint32_t site;   /* of Lock, or of Unlock; NONE: what woke it is unknown */
    uint32_t before; /* a wake's: its wait; a wait's: the wake after which it got no lock */
    uint32_t next;   /* a wake's: of the same goroutine, if it got no lock */
    int64_t ns;
    uint64_t g, by;
    /* of who woke it: since when it has not waited, which wake ended that wait, its last Unlock */
    int64_t since_ns, unlocked_ns;
    uint32_t wake;
};

struct goroutine {
    bool is_blocked;
    int64_t since_ns, unlocked_ns;
    uint32_t wake;  /* for a mutex, after which it went on last */
    uint32_t block; /* its wait for a mutex */
    uint32_t woken; /* the wake after which it has not gone on yet */
    struct section_mark *marks;
    size_t marks_count, marks_room;
    int64_t *replaced_ns;
    size_t replaced_count, replaced_room;
};

/* A function that calls Lock or Unlock; the first of those of one mutex stands for all. */
struct site {
    char *name;
    uint32_t of;
    int64_t *waits_ns; /* when waits for it began */
    size_t waits_count, waits_room;
    uint32_t waiting;
    int64_t waiting_since_ns, unlocked_ns;
    uint32_t told, overlaps;
};

struct section {
    uint64_t g;
    int64_t from_ns, to_ns;
    uint32_t site, begin, end; /* wakes; begin: NONE */
};

struct sections {
    struct record *records;
    struct goroutine *goroutines;
    struct site *sites;
    struct section *list;
    size_t records_count, records_room, goroutines_count, goroutines_room, sites_count, sites_room,
        list_count, list_room;
    struct idmap number_of; /* 1 + a goroutine: 1 + its place */
    struct idmap site_of;   /* a hash of its name: 1 + its place */
};

/* Reading -------------------------------------------------------------------------------------- */

struct sections *sections_new(void)
{
    return xcalloc(1, sizeof(struct sections));
}

static struct goroutine *goroutine_of(struct sections *self, uint64_t g)
{
    uint64_t *number = idmap_put(&self->number_of, g + 1);
    if (*number == 0) {
        array_push(self->goroutines, self->goroutines_count, self->goroutines_room) =
            (struct goroutine){.since_ns = INT64_MIN,
                               .unlocked_ns = INT64_MIN,
                               .wake = NONE,
                               .block = NONE,
                               .woken = NONE};
        *number = self->goroutines_count;
    }
    return &self->goroutines[*number - 1];
}

/* As a word of a program file, without what Go adds to a function that is deferred. */
static char *site_name(const char *name, size_t size)
{
    static const char deferred[] = ".deferwrap";
    const char *end = memmem(name, size, deferred, sizeof deferred - 1);
    return stacks_word(name, end ? (size_t)(end - name) : size);
}

/* The function that called that one of sync.Mutex; NONE: nobody did, or another one of sync. */
static uint32_t site_find(struct sections *self, const struct gotrace *trace, uint64_t stack,
                          const char *method)
{
    size_t size;
    const char *caller = stacks_caller(trace, stack, method, &size);
    if (size == 0 || strncmp(caller, "sync.", size < 5 ? size : 5) == 0)
        return NONE;
    char *name = site_name(caller, size);
    if (!name)
        return NONE;
    uint64_t *number = idmap_put(&self->site_of, fnv1a(FNV1A_SEED, name, strlen(name)) | 1);
    if (*number > 0) {
        free(name);
        return (uint32_t)*number - 1;
    }
    uint32_t of = (uint32_t)self->sites_count;
    array_push(self->sites, self->sites_count, self->sites_room) =
        (struct site){.name = name, .of = of, .unlocked_ns = INT64_MIN};
    *number = self->sites_count;
    return of;
}

static uint32_t record_add(struct sections *self, struct record record)
{
    array_push(self->records, self->records_count, self->records_room) = record;
    return (uint32_t)self->records_count - 1;
}

void sections_block(struct sections *self, const struct gotrace *trace, uint64_t g, int64_t ns,
                    uint64_t stack)
{
    uint32_t site = site_find(self, trace, stack, "sync.(*Mutex).Lock");
    struct goroutine *goroutine = goroutine_of(self, g);
    bool in_vain = goroutine->wake != NONE && goroutine->unlocked_ns < goroutine->since_ns &&
                   ns - goroutine->since_ns <= VAIN_NS;
    goroutine->is_blocked = true;
    goroutine->block = NONE;
    if (site != NONE)
        goroutine->block =
            record_add(self, (struct record){.site = site,
                                             .before = in_vain ? goroutine->wake : NONE,
                                             .next = NONE,
                                             .ns = ns,
                                             .g = g});
    goroutine->wake = NONE;
}

void sections_start(struct sections *self, uint64_t g, int64_t ns)
{
    struct goroutine *goroutine = goroutine_of(self, g);
    if (goroutine->is_blocked || goroutine->since_ns == INT64_MIN) {
        goroutine->since_ns = ns;
        goroutine->wake = goroutine->woken;
    }
    goroutine->is_blocked = false;
    goroutine->woken = NONE;
}

void sections_call(struct sections *self, uint64_t g, int64_t ns)
{
    struct goroutine *goroutine = goroutine_of(self, g);
    goroutine->since_ns = ns;
    goroutine->wake = NONE;
}

void sections_unblock(struct sections *self, const struct gotrace *trace, uint64_t by, uint64_t g,
                      int64_t ns, uint64_t stack)
{
    struct goroutine *woken = goroutine_of(self, g);
    uint32_t block = woken->block;
    woken->block = woken->woken = NONE;
    if (block == NONE)
        return;
    uint32_t site = by ? site_find(self, trace, stack, "sync.(*Mutex).Unlock") : NONE;
    struct record record = {
        .wakes = true, .site = site, .before = block, .next = NONE, .ns = ns, .g = g, .by = by};
    if (site != NONE) {
        struct goroutine *waker = goroutine_of(self, by);
        record.since_ns = waker->since_ns;
        record.unlocked_ns = waker->unlocked_ns;
        record.wake = waker->wake;
        waker->unlocked_ns = ns;
    }
    uint32_t number = record_add(self, record);
    uint32_t vain = self->records[block].before;
    if (vain != NONE)
        self->records[vain].next = number;
    goroutine_of(self, g)->woken = number; /* others may lie elsewhere now */
}

/* Judging -------------------------------------------------------------------------------------- */

static uint32_t site_root(struct sections *self, uint32_t site)
{
    while (self->sites[site].of != site)
        site = self->sites[site].of = self->sites[self->sites[site].of].of;
    return site;
}

static void sites_join(struct sections *self)
{
    for (size_t i = 0; i < self->records_count; i++) {
        const struct record *wake = &self->records[i];
        if (!wake->wakes || wake->site == NONE)
            continue;
        uint32_t a = site_root(self, self->records[wake->before].site);
        uint32_t b = site_root(self, wake->site);
        self->sites[a > b ? a : b].of = a < b ? a : b;
    }
}

/* The first wait for it that began behind that time; INT64_MAX: none did. */
static int64_t wait_behind(const struct site *site, int64_t ns)
{
    size_t low = 0, high = site->waits_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (site->waits_ns[middle] > ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low < site->waits_count ? site->waits_ns[low] : INT64_MAX;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The section that ends with that wake, if it is told. */
static void section_find(struct sections *self, uint32_t number, uint32_t root)
{
    struct record *wake = &self->records[number];
    struct site *site = &self->sites[root];
    bool was_woken =
        wake->wake != NONE && wake->unlocked_ns < wake->since_ns &&
        site_root(self, self->records[self->records[wake->wake].before].site) == root &&
        site->waiting_since_ns <= wake->since_ns;
    bool overlaps = was_woken && site->unlocked_ns > wake->since_ns;
    int64_t least_ns = later(later(wake->since_ns, wake->unlocked_ns), site->unlocked_ns);
    int64_t from_ns = was_woken && !overlaps ? wake->since_ns : wait_behind(site, least_ns);
    site->overlaps += overlaps;
    if (from_ns >= wake->ns)
        return;
    site->told++;
    array_push(self->list, self->list_count, self->list_room) = (struct section){
        wake->by, from_ns, wake->ns, root, was_woken && !overlaps ? wake->wake : NONE, number};
}

static void sections_find(struct sections *self)
{
    for (uint32_t i = 0; i < self->records_count; i++) {
        struct record *record = &self->records[i];
        uint32_t root =
            site_root(self, record->wakes ? self->records[record->before].site : record->site);
        struct site *site = &self->sites[root];
        if (record->wakes) {
            if (record->site != NONE) {
                section_find(self, i, root);
                site->unlocked_ns = record->ns;
            }
            site->waiting--;
            continue;
        }
        array_push(site->waits_ns, site->waits_count, site->waits_room) = record->ns;
        if (site->waiting++ == 0)
            site->waiting_since_ns = record->ns;
    }
}

static void mark_add(struct goroutine *goroutine, struct section_mark mark)
{
    array_push(goroutine->marks, goroutine->marks_count, goroutine->marks_room) = mark;
}

static void sections_mark(struct sections *self)
{
    for (size_t i = 0; i < self->list_count; i++) {
        const struct section *section = &self->list[i];
        const struct site *site = &self->sites[section->site];
        if (site->overlaps * OVERLAPS_SHARE > site->told)
            continue;
        self->records[section->end].is_told = true;
        if (section->begin != NONE)
            self->records[section->begin].begins = true;
        struct goroutine *goroutine = goroutine_of(self, section->g);
        mark_add(goroutine, (struct section_mark){section->from_ns, section->site, false});
        mark_add(goroutine, (struct section_mark){section->to_ns, section->site, true});
    }
}

/* A wait is one for a lock if both sections are told: the one before it, and the one behind it. */
static void waits_replace(struct sections *self)
{
    for (size_t i = self->records_count; i-- > 0;) {
        struct record *wake = &self->records[i];
        bool follows = wake->begins || (wake->next != NONE && self->records[wake->next].replaces);
        wake->replaces = wake->wakes && wake->is_told && follows;
    }
    for (size_t i = 0; i < self->records_count; i++) {
        const struct record *wake = &self->records[i];
        struct goroutine *goroutine = goroutine_of(self, wake->g);
        if (!wake->replaces)
            continue;
        array_push(goroutine->replaced_ns, goroutine->replaced_count, goroutine->replaced_room) =
            wake->ns;
    }
}

void sections_judge(struct sections *self)
{
    sites_join(self);
    sections_find(self);
    sections_mark(self);
    waits_replace(self);
}

/* Results -------------------------------------------------------------------------------------- */

static const struct goroutine *goroutine_find(const struct sections *self, uint64_t g)
{
    const uint64_t *number = idmap_get(&self->number_of, g + 1);
    return number ? &self->goroutines[*number - 1] : NULL;
}

const struct section_mark *sections_of(const struct sections *self, uint64_t g, size_t *count)
{
    const struct goroutine *goroutine = goroutine_find(self, g);
    *count = goroutine ? goroutine->marks_count : 0;
    return goroutine ? goroutine->marks : NULL;
}

const char *sections_name(const struct sections *self, uint32_t lock)
{
    return self->sites[lock].name;
}

bool sections_replace(const struct sections *self, uint64_t g, int64_t ns)
{
    const struct goroutine *goroutine = goroutine_find(self, g);
    size_t low = 0, high = goroutine ? goroutine->replaced_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (goroutine->replaced_ns[middle] == ns)
            return true;
        if (goroutine->replaced_ns[middle] > ns)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

void sections_free(struct sections *self)
{
    for (size_t i = 0; i < self->goroutines_count; i++) {
        free(self->goroutines[i].marks);
        free(self->goroutines[i].replaced_ns);
    }
    for (size_t i = 0; i < self->sites_count; i++) {
        free(self->sites[i].name);
        free(self->sites[i].waits_ns);
    }
    idmap_free(&self->number_of);
    idmap_free(&self->site_of);
    free(self->records);
    free(self->goroutines);
    free(self->sites);
    free(self->list);
    free(self);
}
