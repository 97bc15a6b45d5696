/* trace_words.c - see trace.h: what the words of events mean, for readers who meet them for the
 * first time.
 */
#include "harness/trace/trace.h"

/* Kinds without an entry have the word of another kind, or say all themselves. */
static const char *const meanings[SCHED_EVENT_COUNT][2] = {
    [SCHED_CREATED] = {"created", "a new goroutine exists"},
    [SCHED_READIED] = {"readied", "a goroutine may run. In brackets is why: it is new, was woken, "
                                  "yields, was preempted (stopped), or its I/O is there"},
    [SCHED_PUT] = {"put", "into a queue, where it waits for a worker"},
    [SCHED_TAKEN] = {"took", "out of a queue, to run it"},
    [SCHED_DISPATCHED] = {"ran", "the worker begins to run it, or goes on with it. In the same "
                                 "slice: the time that the goroutine before it has had counts on"},
    [SCHED_PARKED] = {"parked", "a goroutine waits, and is in no queue. In brackets is for what"},
    [SCHED_ENDED] = {"ended", "a goroutine is over"},
    [SCHED_CALL_BEGUN] = {"call", "into the kernel, where its thread may have to wait"},
    [SCHED_CALLED] = {"called a child", "it runs as a plain function call"},
    [SCHED_STALLED] = {"stalled", "a child at the sync has not returned yet"},
    [SCHED_SYNCED] = {"sync", "where a function waits for the children that it has started"},
    [SCHED_JOINED] = {"joined", "all children have returned"},
    [SCHED_STOLEN] = {"stole", "took out of the queue of another worker"},
    [SCHED_MOVED] = {"moved", "several at once, from one queue to another"},
    [SCHED_OVERFLOWED] = {"moved", "several at once, from one queue to another"},
    [SCHED_SPUN] = {"spin", "search for work"},
    [SCHED_SLEPT] = {"sleep", "the thread waits in the kernel until it is woken"},
    [SCHED_THREAD_STARTED] = {"started M1", "a new thread of the system, called M1"},
    [SCHED_P_TAKEN] = {"got P0", "the thread has P0 now, and so may run goroutines"},
    [SCHED_P_IDLED] = {"left P0 idle", "no thread has P0 now"},
    [SCHED_P_HANDED_OFF] = {"handed off P0", "its thread is in a call, so another may have P0"},
    [SCHED_PREEMPT_ASKED] = {"slice", "how long a worker may go on until it is asked to run "
                                      "another goroutine"},
    [SCHED_TASKS_PUBLISHED] = {"published", "thieves may take it from now on"},
    [SCHED_TASK_TAKEN_BACK] = {"took back", "a published task that no thief has taken"},
    [SCHED_TASK_STOLEN] = {"stole", "took out of the queue of another worker"},
    [SCHED_TASK_SPAWNED] = {"spawned", "a child may run beside the function that started it"},
    [SCHED_TASK_BEGUN] = {"began", "the child runs, on top of the function that waits"},
};

json_t *trace_words_to_json(const struct sched_trace *trace)
{
    bool happened[SCHED_EVENT_COUNT] = {false};
    json_t *words = json_object();
    for (size_t i = 0; i < trace->count; i++)
        happened[trace->event[i].kind] = true;
    for (int kind = 0; kind < SCHED_EVENT_COUNT; kind++)
        if (happened[kind] && meanings[kind][0])
            json_object_set_new(words, meanings[kind][0], json_string(meanings[kind][1]));
    return words;
}
