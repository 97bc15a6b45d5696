/* conform_remedies.c - which function of a variant to look at when a case fails (conform_lines.h).
 *
 * A case fails where the variant breaks the contract in sched.h, or runq.h for a queue alone; put,
 * get and steal there are ready, pick and steal here. So the rows name its members.
 */
#include "conform_lines.h"

#include <string.h>

static const struct remedy {
    const char *name, *text;
} remedies[] = {
    {"conform_all_spawned_run_once",
     "ready() or put() loses a G, or pick(), get() or steal() gives one out twice"},
    {"conform_yield_lets_others_run",
     "ready() with READY_YIELD must queue the G behind those that wait, and pick() must find them"},
    {"conform_sleep_not_early", "ready() must queue a G that wakes once, and only when it is told"},
    {"conform_join_sees_result",
     "the G handed over by ready() needs a release, and pick() or steal() an acquire"},
    {"conform_deep_spawn_tree", "a full queue must give Gs up, not drop them: look at ready() or "
                                "put() where there is no room"},
    {"conform_no_lost_wakeup_pingpong",
     "has_work() says no while a G waits, or steal() and pick() do not look where ready() put it"},
    {"conform_no_lost_wakeup_bursts",
     "has_work() says no while a G waits: a put before a full fence must be seen behind it"},
    {"conform_chan_keeps_order", "ready() runs or wakes others in the caller's place, or twice"},
    {"conform_chan_try_never_parks", "ready() or pick() parks or runs a G of its own accord"},
    {"conform_close_wakes_all", "ready() loses a G where many are readied one after another"},
    {"conform_mutex_excludes",
     "a G is on two workers at once: pick() or steal() gives it out twice"},
    {"conform_cond_wakes", "ready() loses a G that was woken, or has_work() does not see it"},
    {"conform_waitgroup_releases_all", "ready() loses a G, or has_work() says no while one waits"},
    {"conform_has_work_sees_what_is_queued",
     "has_work() must say yes as soon as ready() has returned, for every place of a G"},
    {"conform_sem_admits_so_many", "a G is on two workers at once: look at pick() and steal()"},
    {"conform_once_runs_once", "ready() loses a G that waited, or pick() gives one out twice"},
    {"conform_rwmutex_excludes", "a G is on two workers at once: look at pick() and steal()"},
    {"conform_select_is_fair", "ready() runs a G twice, or pick() starves some of those that wait"},
    {"conform_select_default_never_parks", "ready() or pick() parks or runs a G of its own accord"},
    {"conform_select_loses_no_wakeup", "ready() loses a G, or has_work() says no while one waits"},
    {"conform_select_exactly_one_case_goes_ahead", "pick() or steal() gives a G out twice"},
    {"conform_select_storm", "a G is lost by ready() or given out twice by pick() or steal()"},
    {"conform_select_times_out", "ready() with READY_WOKEN must queue a G that a timer released"},
    {"conform_timer_happens_once", "ready() queues a G that a timer released twice, or not at all"},
    {"conform_timer_stop_is_in_time", "pick() must not wait: a timer is looked at between two Gs"},
    {"conform_timer_leaves_nothing_stale", "the variant keeps a G that has ended: look at ended()"},
    {"conform_timer_is_seen_without_waiting", "pick() must not wait, nor run Gs itself"},
    {"conform_timer_reset_to_later", "ready() must queue a G that a timer released, once"},
    {"conform_timer_func_is_a_goroutine", "ready() with READY_INJECTED loses a new G"},
    {"conform_ticker_ticks_and_drops", "ready() must queue a G that a timer released, once"},
    {"conform_timer_happens_beside_a_busy_worker",
     "has_work() or steal() does not see what an idle worker could take"},
    {"conform_timers_seeded_stress",
     "a G is lost by ready() or given out twice; the seed repeats it"},
    {"conform_forkjoin_fib",
     "look at .forkjoin: with FJ_GO children are Gs, and ready() must queue each"},
    {"conform_forkjoin_wide",
     "many children of one G: a full queue must give them up, not drop them"},
    {"conform_forkjoin_nested", "ready() with READY_PARENT loses the parent, or pick() gives it out"
                                " before it is off its stack"},
    {"conform_forkjoin_chain", "ready() with READY_PARENT loses the parent of a long chain"},
    {"conform_forkjoin_in_goroutines", "ready() with READY_PARENT loses a G beside goroutines"},
    {"conform_forkjoin_reaches_a_second_worker",
     "steal() finds nothing where there is work, or has_work() lets the others sleep"},
    {"conform_forkjoin_yields_and_goes", "ready() with READY_YIELD loses a G that has open frames"},
    {"conform_forkjoin_joins_after_yield", "ready() with READY_YIELD loses a G with open frames"},
    {"conform_seeded_stress", "a G is lost by ready() or given out twice; the seed repeats it"},
    {"conform_pipes_carry_all", "ready() with READY_POLLED or READY_INJECTED loses a G"},
    {"conform_tcp_echoes", "ready() with READY_POLLED or READY_INJECTED loses a G; with the latter"
                           " m->p may be NULL"},
    {"conform_sleeps_end_beside_io", "ready() with READY_POLLED must queue behind the others"},
    {"conform_io_close_ends_reads",
     "ready() with READY_INJECTED loses a G; m->p may be NULL there"},
    {"conform_io_deadline_not_early", "ready() with READY_INJECTED queues a G twice, or too early"},
    {"conform_registers_survive",
     "pick() or steal() gives out a stopped G before it is off its stack"},
    {"conform_who_is_stopped_returns",
     "ready() with READY_PREEMPTED must queue the G behind those that wait"},
    {"conform_the_end_of_a_stack_is_left_alone", "ready() uses much of the G's own stack"},
    {"conform_locked_leaves_its_child_to_others",
     "a G behind a worker that sleeps: steal() or drain() must reach it"},
    {"conform_locked_leaves_whom_it_woke_to_others",
     "a G behind a worker that sleeps: steal() or drain() must reach it"},
    {"conform_call_leaves_whom_its_thread_woke_to_others",
     "a G behind a worker in a call: drain() or steal() must reach it"},
    {"conform_locked_sleeps_end", "has_work() or drain() leaves a G on a thread that sleeps"},
    {"conform_workers_leave_their_timers", "drain() must leave nothing on a retired P"},
    {"conform_calls_return", "ready() with READY_INJECTED loses a G; m->p may be NULL there"},
    {"conform_loops_of_calls_end_their_slices",
     "ready() with READY_PREEMPTED must queue the G behind those that wait"},
    {"conform_locked_stays_on_its_thread",
     "with READY_INJECTED the G goes where every worker looks: look at ready()"},
    {"conform_workers_come_and_go", "drain() must move all Gs of a retired P, each once"},
    {"conform_workers_leave_their_queue", "drain() must move all Gs of a retired P, each once"},
    {"conform_threads_outside_start_goroutines",
     "ready() with READY_INJECTED may use neither m->p nor m->variant"},
    {"conform_live_gs_zero_after", "a G was lost by ready(), so it never ended, or runs too late"},
    {"conform_deadlock_is_reported",
     "has_work() must say no where nothing is queued, and pick() may not wait"},
    {"conform_misuse_is_fatal", "a hook of the variant ends the process before, or holds it up"},
    {"conform_left_behind_is_not_waited_for_without_end", "drain() or fini() waits for a thread"},
    {"conform_stack_overflow_is_reported", "pick() gives out a G whose stack is in use"},
    {"conform_stack_overflow_after_stops_is_reported",
     "pick() or steal() gives out a stopped G before it is off its stack"},
    {"conform_every_workload_small",
     "a G is lost or run twice: look at ready(), pick(), steal(), and live_gs_max for its size"},
};

const char *remedy_of(const char *line)
{
    size_t length = strcspn(line, " ,");
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (strlen(remedies[i].name) == length && strncmp(remedies[i].name, line, length) == 0)
            return remedies[i].text;
    return NULL;
}
