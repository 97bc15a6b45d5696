/* lrq_knobs.c - the words of the local run queue's knobs, and whether their values fit: lrq.h. */
#include "lrq.h"

const char *const lrq_off_on[] = {"off", "on", NULL};
const char *const lrq_tick_words[] = {"random", NULL};
const char *const lrq_take_words[] = {"one", "batch", "half", "all", NULL};
const char *const lrq_share_words[] = {"one", "quarter", "half", "threequarters", "all", NULL};
const char *const lrq_end_words[] = {"oldest", "newest", "new", NULL};
const char *const lrq_victim_words[] = {"coprime", "fixed",  "last", "zero", /* as in the enum */
                                        "rotate",  "random", "near", NULL};
const char *const lrq_backoff_words[] = {"never", NULL};
const char *const lrq_yield_words[] = {"global", "local", NULL};
const char *const lrq_order_words[] = {"fifo", "lifo", NULL};
const char *const lrq_queue_words[] = {"ring", "bwos", NULL};
const char *const lrq_owner_words[] = {"atomic", "plain", NULL};
const char *const lrq_width_words[] = {"all", "load", NULL};
const char *const lrq_search_words[] = {"global", "steal", NULL};

const char *lrq_check(const void *knobs)
{
    const struct lrq_knobs *k = knobs;
    if (k->ring & (k->ring - 1))
        return "ring must be a power of two from 2 to 65536";
    if (k->queue == QUEUE_BWOS && k->ring < BWOS_BLOCKS)
        return "queue=bwos needs ring=8 or more: one place for each of its blocks";
    if (k->wake_delay_ns > 0 && !k->runtime.sysmon)
        return "wake_delay_ns needs sysmon=on, which looks where no worker does";
    if (k->width == WIDTH_LOAD && !k->runtime.sysmon)
        return "width=load needs sysmon=on, which looks where no worker does";
    if (k->width == WIDTH_LOAD && k->wake_delay_ns > 0)
        return "width=load has a delay of its own: no wake_delay_ns beside it";
    if (k->width == WIDTH_LOAD && k->runtime.wake == WAKE_ALL)
        return "width=load wakes one worker at a time, as wake=chain does";
    return NULL;
}
