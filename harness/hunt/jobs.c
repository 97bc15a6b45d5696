/* jobs.c - see jobs.h.
 *
 * A job writes a report of each execution into a pipe of its own. The parent reads the pipes in
 * turn, so a job gets ahead of the others by no more than a pipe holds. Details of a failure are in
 * memory that job and parent share.
 */
#include "harness/hunt/jobs.h"

#include "harness/base/memory.h"
#include "harness/base/monotonic.h"
#include "harness/hunt/coverage.h"
#include "harness/hunt/orders.h"
#include "harness/hunt/processes.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REPORTS = 1024 };

/* An execution, as its job tells it. The first one of a job says that it has learnt. */
struct report {
    uint64_t order, points, accesses;
    uint64_t end; /* enum hunt_end */
};

/* A failure, shared by the job that found it and the parent. */
struct found {
    bool is_one;
    struct hunt_plan plan;
    struct hunt_outcome outcome;
    struct hunt_switch planned[HUNT_SWITCHES_MAX], switches[HUNT_SWITCHES_MAX];
};

struct job {
    pid_t pid; /* 0: it has ended */
    int from;  /* pipe */
    struct found *found;
    struct hunt_cover *cover; /* shared, as found is; NULL: not wanted */
    size_t bytes, taken;      /* of reports */
    struct report report[REPORTS];
};

enum next { NEXT_REPORT, NEXT_NONE, NEXT_TIME };

/* Failures ------------------------------------------------------------------------------------ */

static struct found *found_new(void)
{
    return shared_new(sizeof(struct found));
}

static void found_put(struct found *found, const struct hunt_plan *plan,
                      const struct hunt_outcome *outcome)
{
    found->plan = *plan;
    found->outcome = *outcome;
    memcpy(found->planned, plan->switches, plan->switch_count * sizeof *plan->switches);
    memcpy(found->switches, outcome->switches, outcome->switch_count * sizeof *outcome->switches);
    found->is_one = true;
}

static void failure_set(struct campaign *campaign, const struct hunt_outcome *outcome)
{
    if (campaign->failure)
        free(campaign->failure->switches);
    free(campaign->failure);
    campaign->failure = outcome_copy(outcome);
}

static void found_take(struct found *found, struct campaign *campaign)
{
    size_t size = found->plan.switch_count * sizeof *found->planned;
    struct hunt_switch *planned = xmalloc(size + 1);
    found->outcome.switches = found->switches;
    campaign->plan = found->plan;
    campaign->plan.switches = memcpy(planned, found->planned, size);
    failure_set(campaign, &found->outcome);
}

/* The execution of campaign->plan ended the process that ran it. */
static void death_take(struct campaign *campaign, int64_t number, int status)
{
    struct hunt_outcome outcome = {.end = HUNT_CRASH};
    char how[HUNT_TEXT_SIZE / 2];
    process_death_text(status, how, sizeof how);
    if (process_was_ended(status)) {
        fprintf(stderr,
                "schedlab hunt: the process of execution %" PRId64
                " was ended from outside (%s), which is no finding; hunt again\n",
                number, how);
        exit(EXIT_FAILURE);
    }
    snprintf(outcome.text, sizeof outcome.text, "its process ended: %s\n",
             *how ? how : "exit status 0");
    failure_set(campaign, &outcome);
}

/* A process leaves there for its parent what it has met. */
static struct hunt_cover *cover_new(const struct campaign *campaign)
{
    return campaign->cover ? shared_new(sizeof *campaign->cover) : NULL;
}

static void cover_take(struct campaign *campaign, struct hunt_cover *cover)
{
    if (!cover)
        return;
    coverage_join(campaign->cover, cover);
    munmap(cover, sizeof *cover);
}

/* Jobs ---------------------------------------------------------------------------------------- */

static bool fails(const struct campaign *campaign, uint64_t end)
{
    return campaign->plan.oracles >> end & 1;
}

/* Pre: the process is the job's own. */
static _Noreturn void job_main(struct campaign *campaign, int64_t first, int64_t jobs, int to,
                               const struct job *job)
{
    struct report report = {0};
    bool goes_on = true;
    campaign_learn(campaign);
    hunt_cover(job->cover);
    if (write(to, &report, sizeof report) != sizeof report)
        _exit(EXIT_SUCCESS);
    for (int64_t i = first; goes_on && (!campaign->executions_max || i < campaign->executions_max);
         i += jobs) {
        campaign_plan(campaign, i);
        const struct hunt_outcome *outcome = campaign_execute(campaign, &campaign->plan);
        report = (struct report){outcome->order, outcome->points, outcome->accesses, outcome->end};
        goes_on = !fails(campaign, outcome->end);
        if (!goes_on)
            found_put(job->found, &campaign->plan, outcome);
        goes_on &= write(to, &report, sizeof report) == sizeof report; /* at once: PIPE_BUF */
    }
    _exit(EXIT_SUCCESS);
}

static void job_start(struct job *jobs, int number, int count, struct campaign *campaign)
{
    struct job *job = &jobs[number];
    int ends[2];
    if (pipe(ends) != 0) {
        fprintf(stderr, "schedlab hunt: no pipe can be made: %s\n", strerror(errno));
        exit(EXIT_FAILURE);
    }
    job->found = found_new();
    job->cover = cover_new(campaign);
    job->pid = process_new();
    if (job->pid == 0) {
        for (int i = 0; i < number; i++)
            close(jobs[i].from);
        close(ends[0]);
        job_main(campaign, number, count, ends[1], job);
    }
    close(ends[1]);
    job->from = ends[0];
}

static void job_end(struct job *job, struct campaign *campaign)
{
    int status;
    if (job->pid) {
        kill(job->pid, SIGKILL);
        process_wait(job->pid, &status);
    }
    close(job->from);
    cover_take(campaign, job->cover);
    munmap(job->found, sizeof *job->found);
}

/* The status of a job that has closed its pipe. */
static int job_status(struct job *job)
{
    int status;
    process_wait(job->pid, &status);
    job->pid = 0;
    return status;
}

/* Milliseconds until then, rounded up; -1: there is no limit. */
static int left_ms(int64_t until_ns)
{
    int64_t left = until_ns - monotonic_ns();
    if (until_ns == 0)
        return -1;
    return left <= 0 ? 0 : (int)((left + 999999) / 1000000);
}

static enum next job_next(struct job *job, int64_t until_ns, struct report *report)
{
    if (job->bytes - job->taken < sizeof *report) {
        struct pollfd in = {.fd = job->from, .events = POLLIN};
        while (poll(&in, 1, left_ms(until_ns)) <= 0)
            if (left_ms(until_ns) == 0)
                return NEXT_TIME;
        ssize_t got = read(job->from, job->report, sizeof job->report);
        job->taken = 0;
        job->bytes = got > 0 ? (size_t)got : 0;
    }
    if (job->bytes - job->taken < sizeof *report)
        return NEXT_NONE;
    memcpy(report, (const char *)job->report + job->taken, sizeof *report);
    job->taken += sizeof *report;
    return NEXT_REPORT;
}

static void count(struct campaign *campaign, struct orders *orders, const struct report *report)
{
    campaign->executions++;
    campaign->points += report->points;
    campaign->accesses += report->accesses;
    orders_add(orders, report->order);
}

/* Goes through the reports by number. */
static void reports_take(struct campaign *campaign, struct job *jobs, int count_of_jobs,
                         struct orders *orders)
{
    struct report report;
    int64_t began_ns = monotonic_ns();
    int64_t until_ns = campaign->time_ns ? began_ns + campaign->time_ns : 0;
    while (!campaign->failure &&
           (!campaign->executions_max || campaign->executions < campaign->executions_max)) {
        int64_t i = campaign->executions;
        struct job *job = &jobs[i % count_of_jobs];
        enum next next = job_next(job, until_ns, &report);
        if (next == NEXT_TIME)
            break;
        campaign_plan(campaign, i);
        if (next == NEXT_NONE) {
            campaign->executions++;
            death_take(campaign, i, job_status(job));
            break;
        }
        count(campaign, orders, &report);
        if (fails(campaign, report.end))
            found_take(job->found, campaign);
        if (until_ns && campaign->executions % count_of_jobs == 0 && left_ms(until_ns) == 0)
            break;
    }
    campaign->took_ns = monotonic_ns() - began_ns;
}

/* False: a job has died meanwhile. */
static bool all_have_learnt(struct campaign *campaign, struct job *jobs, int count_of_jobs)
{
    struct report report;
    for (int i = 0; i < count_of_jobs; i++) {
        if (job_next(&jobs[i], 0, &report) == NEXT_REPORT)
            continue;
        campaign_plan(campaign, i);
        death_take(campaign, i, job_status(&jobs[i]));
        return false;
    }
    return true;
}

void jobs_run(struct campaign *campaign, int count_of_jobs)
{
    count_of_jobs = processes_of(count_of_jobs);
    if (campaign->executions_max && count_of_jobs > campaign->executions_max)
        count_of_jobs = (int)campaign->executions_max;
    struct job *jobs = xcalloc((size_t)count_of_jobs, sizeof *jobs);
    struct orders *orders = orders_new();
    for (int i = 0; i < count_of_jobs; i++)
        job_start(jobs, i, count_of_jobs, campaign);
    if (all_have_learnt(campaign, jobs, count_of_jobs))
        reports_take(campaign, jobs, count_of_jobs, orders);
    campaign->orders = orders_count(orders);
    campaign->unseen = orders_unseen(orders);
    for (int i = 0; i < count_of_jobs; i++)
        job_end(&jobs[i], campaign);
    orders_free(orders);
    free(jobs);
}

/* One execution ------------------------------------------------------------------------------- */

void jobs_replay(struct campaign *campaign)
{
    struct found *found = found_new();
    struct hunt_cover *cover = cover_new(campaign);
    int status;
    pid_t pid = process_new();
    if (pid == 0) {
        campaign_learn(campaign);
        hunt_cover(cover);
        found_put(found, &campaign->plan, campaign_execute(campaign, &campaign->plan));
        _exit(EXIT_SUCCESS);
    }
    process_wait(pid, &status);
    campaign->executions = 1;
    if (!found->is_one) {
        death_take(campaign, 0, status);
    } else {
        campaign->points = found->outcome.points;
        campaign->accesses = found->outcome.accesses;
        if (found->outcome.end != HUNT_DONE)
            found_take(found, campaign);
    }
    cover_take(campaign, cover);
    munmap(found, sizeof *found);
}

bool jobs_minimise(struct campaign *campaign, int most)
{
    struct found *found = found_new();
    int status;
    pid_t pid = process_new();
    if (pid == 0) {
        campaign_learn(campaign);
        if (campaign_minimise(campaign, most))
            found_put(found, &campaign->plan, campaign->failure);
        _exit(EXIT_SUCCESS);
    }
    process_wait(pid, &status);
    bool is_fewer = found->is_one;
    if (is_fewer)
        found_take(found, campaign);
    munmap(found, sizeof *found);
    return is_fewer;
}

FILE *jobs_tell(struct campaign *campaign,
                void (*tell)(FILE *to, const struct hunt_outcome *outcome))
{
    FILE *told = tmpfile(); /* the child shares it */
    int status;
    if (!told)
        return NULL;
    pid_t pid = process_new();
    if (pid == 0) {
        campaign_learn(campaign);
        campaign->plan.keeps_events = true;
        const struct hunt_outcome *outcome = campaign_execute(campaign, &campaign->plan);
        tell(told, outcome);
        bool same = outcome->end == (campaign->failure ? campaign->failure->end : HUNT_DONE);
        _exit(fflush(told) == 0 && same ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    process_wait(pid, &status);
    rewind(told);
    if (status == 0)
        return told;
    fclose(told);
    return NULL;
}
