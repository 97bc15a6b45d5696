/* sections.h - which parts of goroutines lie under which mutex, as far as a trace tells.
 *
 * A trace of Go has no locks. It has who waited in (*Mutex).Lock, and who ended that wait in
 * (*Mutex).Unlock; both with their stacks. A section is told if its Unlock woke somebody: it is
 * its end. It begins where its goroutine went on after it was woken for the lock itself, if
 * somebody waited all the time since.
 *
 * Else it begins with a wait for the lock: the first one behind the last Unlock, and behind what
 * its goroutine waited for last. Until then the lock may have been another's, so that such a
 * section may have been longer. A section in which its goroutine waits, or reads what others may
 * write, is not told: another order of sections might never end.
 *
 * A trace does not say which mutex it is. The functions that call Lock and Unlock stand for it: two
 * are of one mutex if an Unlock in one has ended a Lock in the other. Where told sections of one
 * such mutex lie in each other, it is several, and none of it is told.
 *
 * Callers: learn.c, import.c.
 */
#ifndef SCHEDLAB_SECTIONS_H
#define SCHEDLAB_SECTIONS_H

#include "harness/gotrace/gotrace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sections;

struct sections *sections_new(void);
void sections_free(struct sections *sections);

/* While the trace is read, about each goroutine. It waits, with that stack; it goes on; it makes a
 * call that may need what others do. */
void sections_block(struct sections *sections, const struct gotrace *trace, uint64_t g, int64_t ns,
                    uint64_t stack);
void sections_start(struct sections *sections, uint64_t g, int64_t ns);
void sections_call(struct sections *sections, uint64_t g, int64_t ns);

/* Its wait is ended by another one, with that stack of the latter. */
void sections_unblock(struct sections *sections, const struct gotrace *trace, uint64_t by,
                      uint64_t g, int64_t ns, uint64_t stack);

/* The trace is at its end. */
void sections_judge(struct sections *sections);

/* Where sections of a goroutine begin and end, in order; one ends before the next begins. */
struct section_mark {
    int64_t ns;
    uint32_t lock;
    bool ends;
};
const struct section_mark *sections_of(const struct sections *sections, uint64_t g, size_t *count);

/* A word for a program file: the function that locks it. */
const char *sections_name(const struct sections *sections, uint32_t lock);

/* True if the locks alone make the goroutine wait as long, whose wait ended then. */
bool sections_replace(const struct sections *sections, uint64_t g, int64_t ns);

#endif
