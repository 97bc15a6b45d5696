/* conform_lines.c - see conform_lines.h. */
#include "conform_lines.h"
#include "harness/base/suggest.h"
#include "harness/spec/outside.h"
#include "workloads/workload.h"

#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int worker_counts[WORKER_COUNTS] = {1, 2, 4, 16};

struct suite suite = {.seed = 20260101, .jobs = 1, .every = 1};

/* Lines ------------------------------------------------------------------------------------- */

/* One of the numbers of workers that a case may have under the present settings. */
static int worker_count_at(int place, bool steals)
{
    int min = steals && suite.whole->workers_min < 2 ? 2 : suite.whole->workers_min;
    int first = 0, end = 0;
    while (worker_counts[first] < min)
        first++;
    while (end < WORKER_COUNTS && worker_counts[end] <= suite.whole->workers_max)
        end++;
    return worker_counts[end > first ? first + place % (end - first) : first];
}

/* The whole suite takes for each case of each variant 1 and 2 workers, or 1, 4 and 16. It takes one
 * number where the variant's threads do not depend on it, and with settings to which the number
 * does not matter. --short takes one number throughout, and settings other than the defaults under
 * every second or fourth variant only. With --every N other cases come under every Nth variant, and
 * workloads half as often, since all of them do what the cases do; with settings both come half
 * as often again. The places of case and variant say which: so each case
 * meets each number under some variant, and each variant in some case. Whoever asks for lines
 * without --short gets them at all numbers.
 */
static bool is_due(const struct conform_cell *cell, int every, bool steals)
{
    const struct whole_run *whole = suite.whole;
    int place = suite.row++ + suite.column;
    if (place % every != 0 || (steals && (cell->workers == 1 || cell->ops->forkjoin == FJ_GO)))
        return false;
    if (suite.workers ||
        (!suite.brief && !whole->own && (suite.glob || suite.words_count || suite.outside)))
        return true;
    if (suite.brief || whole->one || cell->ops->single_threaded || cell->ops->thread_per_g)
        return cell->workers == worker_count_at(place / every, steals);
    return cell->workers == 1 || (cell->workers == 2) == (place % 2 == 0);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* --every N, of the defaults; twice as rarely under other settings. */
static int every_nth(void)
{
    return suite.every > 1 && suite.whole->one ? 2 * suite.every : suite.every;
}

bool case_is_due(const struct conform_cell *cell, bool has_settings, bool steals)
{
    int every = larger(suite.whole->short_every, every_nth());
    if (has_settings)
        every = 2 * suite.whole->short_every;
    return is_due(cell, suite.brief ? every : 1, steals);
}

bool workload_is_due(const struct conform_cell *cell)
{
    int every = suite.every > 1 ? 2 * every_nth() : suite.whole->short_every;
    return is_due(cell, suite.brief ? every : 1, false);
}

/* One line ---------------------------------------------------------------------------------- */

void line_name(struct line *line, const char *name, const struct conform_cell *cell)
{
    if (!remedy_of(name))
        support_fail(__FILE__, __LINE__, "%s has no row in conform_remedies.c", name);
    const char *comma = cell->settings ? "," : "", *settings = cell->settings ? cell->settings : "";
    snprintf(line->text, sizeof line->text, "%s %s%s%s workers=%d", name, cell->ops->name, comma,
             settings, cell->workers);
    snprintf(line->path, sizeof line->path, "%s%s%s/%s", cell->ops->name, comma, settings, name);
}

/* True if the glob matches. Notes whether its part before the slash matches a variant. */
static bool glob_matches(const struct line *line, int workers)
{
    if (!suite.glob)
        return true;
    char part[256], path[300];
    snprintf(part, sizeof part, "%.*s", (int)strcspn(suite.glob, "/"), suite.glob);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(line->path, "/"), line->path);
    suite.glob_variant_found |= fnmatch(part, path, 0) == 0;
    snprintf(path, sizeof path, "%s/workers=%d", line->path, workers);
    return fnmatch(suite.glob, line->path, 0) == 0 || fnmatch(suite.glob, path, 0) == 0;
}

bool line_begin(struct line *line, int workers)
{
    bool wanted = glob_matches(line, workers);
    for (int i = 0; i < suite.words_count; i++) {
        bool found = strstr(line->text, suite.words[i]) != NULL;
        suite.words_found |= (uint64_t)found << (i & 63);
        wanted = wanted && found;
    }
    if (!wanted)
        return false;
    line->number = ++suite.lines;
    if (suite.list)
        puts(line->text);
    return !suite.list && suite.lines % suite.jobs == suite.job;
}

static void print_output(const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = strchrnul(text, '\n');
        printf("#   %.*s\n", (int)(end - text), text);
    }
}

void line_end_text(const struct support_report *report, char *problem, size_t size)
{
    int status = report->status;
    if (status < 0)
        snprintf(problem, size, "killed by signal %d (%s)", -status, strsignal(-status));
    else
        snprintf(problem, size, "ended with status %d", status);
}

/* In one write, since processes share the output. */
void line_print(const struct line *line, const struct conform_cell *cell, const char *problem,
                const struct support_report *report)
{
    bool failed = problem && *problem;
    atomic_fetch_add(&suite.shared->failures, failed);
    printf("%sok %d - %s\n", failed ? "not " : "", line->number, line->text);
    if (failed) {
        printf("#   %s; seed %" PRIu64 "\n", problem, cell->seed);
        printf("#   remedy: %s\n", remedy_of(line->text));
        print_output(report->output);
    }
    fflush(stdout);
}

void line_skip(const struct line *line, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", suite.lines, line->text, why);
    fflush(stdout);
}

/* The command line -------------------------------------------------------------------------- */

void suite_wrong(const char *wrong)
{
    fprintf(stderr, "conformance: %s\n", wrong);
    exit(2);
}

static const char *of_short(void)
{
    return suite.brief ? " of --short" : "";
}

static void offer_cases(struct suggest *near, const struct conform_case *cases)
{
    for (; cases->name; cases++)
        suggest_offer(near, cases->name);
}

static void offer_variants(struct suggest *near)
{
    for (size_t v = 0; sched_variants[v]; v++)
        suggest_offer(near, sched_variants[v]->name);
    for (size_t v = 0; outside_variants[v]; v++)
        suggest_offer(near, outside_variants[v]->name);
}

static void offer_all_cases(struct suggest *near)
{
    for (size_t w = 0; workloads[w]; w++)
        suggest_offer(near, workloads[w]->name);
    offer_cases(near, conform_goroutine_cases);
    offer_cases(near, conform_thread_cases);
    offer_cases(near, conform_timer_cases);
    offer_cases(near, conform_select_cases);
    offer_cases(near, conform_lock_cases);
    offer_cases(near, conform_io_cases);
    offer_cases(near, conform_preempt_cases);
    offer_cases(near, conform_mixed_cases_FJ_GO);
}

/* Names the first word that no line has, and what it may have meant. */
static _Noreturn void misuse_words(void)
{
    static const char *const counts[] = {"workers=1", "workers=2", "workers=4", "workers=16"};
    char wrong[2 * SUGGEST_TEXT_SIZE];
    int i = 0;
    while (i < suite.words_count && (suite.words_found >> (i & 63) & 1))
        i++;
    if (i == suite.words_count)
        suite_wrong("no line has all that was asked for; --list prints the lines");
    struct suggest near = suggest_for(suite.words[i] + strspn(suite.words[i], " "));
    offer_variants(&near);
    for (size_t w = 0; w < sizeof counts / sizeof *counts; w++)
        suggest_offer(&near, counts[w]);
    offer_all_cases(&near);
    snprintf(wrong, sizeof wrong, "no line%s has \"%s\"; %s", of_short(), suite.words[i],
             suggest_text(&near, "", "--list").s);
    suite_wrong(wrong);
}

/* Names what the part of the glob that matches nothing may have meant: the variant, or the case. */
static _Noreturn void misuse_glob(void)
{
    static const char small[] = "conform_every_workload_small ";
    const char *part = suite.glob;
    char word[128], wrong[2 * SUGGEST_TEXT_SIZE];
    if (suite.glob_variant_found)
        part = strchrnul(suite.glob, '/');
    part += strspn(part, "/*?");
    if (strncmp(part, small, sizeof small - 1) == 0)
        part += sizeof small - 1;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(part, "/,*?[ "), part);
    struct suggest near = suggest_for(word);
    if (suite.glob_variant_found)
        offer_all_cases(&near);
    else
        offer_variants(&near);
    snprintf(wrong, sizeof wrong,
             "no line%s matches \"%s\"; valid are globs over VARIANT[,SETTINGS]/CASE[/workers=N]; "
             "%s: %s",
             of_short(), suite.glob, suite.glob_variant_found ? "cases" : "variants",
             suggest_text(&near, "", "--list").s);
    suite_wrong(wrong);
}

void suite_misuse(void)
{
    if (suite.glob && suite.words_count == 0)
        misuse_glob();
    misuse_words();
}

static int number_parse(const char *text, int max)
{
    char *end;
    long number = strtol(text, &end, 10);
    return *text && !*end && number >= 1 && number <= max ? (int)number : 0;
}

enum { EVERY_MAX = 4, WORKERS_MAX = 64, JOBS_MAX = 64 };

void suite_parse(int argc, char **argv)
{
    static const struct option options[] = {
        {"short", no_argument, NULL, 's'},         {"every", required_argument, NULL, 'e'},
        {"workers", required_argument, NULL, 'w'}, {"jobs", required_argument, NULL, 'j'},
        {"seed", required_argument, NULL, 'r'},    {"case", required_argument, NULL, 'c'},
        {"machine", required_argument, NULL, 'm'}, {"list", no_argument, NULL, 'l'},
        {"outside", no_argument, NULL, 'o'},       {0}};
    opterr = 0;
    suite.glob = getenv("CASE");
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        char *end = NULL;
        if (c == 's')
            suite.brief = true;
        else if (c == 'l')
            suite.list = true;
        else if (c == 'o')
            suite.outside = true;
        else if (c == 'c')
            suite.glob = optarg;
        else if (c == 'm')
            suite.machine = optarg;
        else if (c == 'r')
            suite.seed = strtoull(optarg, &end, 0);
        if (c == '?' || (end && (*end || end == optarg)) ||
            (c == 'e' && !(suite.every = number_parse(optarg, EVERY_MAX))) ||
            (c == 'w' && !(suite.workers = number_parse(optarg, WORKERS_MAX))) ||
            (c == 'j' && !(suite.jobs = number_parse(optarg, JOBS_MAX))))
            suite_wrong(
                "valid options: --short, --every N (1 to 4), --workers N (1 to 64), --jobs N (1 "
                "to 64), --seed N (a number), --case GLOB, --machine MACHINE, --outside, --list");
    }
    if (suite.every > 1 && !suite.brief)
        suite_wrong("--every N goes with --short");
    if (suite.glob && !*suite.glob)
        suite.glob = NULL;
    suite.words = argv + optind;
    suite.words_count = argc - optind;
}
