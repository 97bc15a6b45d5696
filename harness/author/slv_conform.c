/* slv_conform.c - `schedlab build --conformance`: the suite of all variants on one from outside the
 * tree, and a brief hunt of it.
 *
 * The suite is a program of the tests, one for real threads and one for simulated machines. Either
 * runs cases in processes of their own, so a crash or a hang is a failed case, and the others go
 * on. On simulated machines a hang is known by the machine's own clock (tests/support/support.c),
 * so it is the same case on every host.
 */
#include "harness/author/slv_internal.h"

#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Where nothing is wrong, a suite takes six seconds on real threads, half a minute on a simulated
 * machine, and the hunt four seconds. */
enum { TOLD_MAX = 10, SUITE_MAX_S = 120, SIM_SUITE_MAX_S = 600, HUNT_MAX_S = 120 };

static const char *const hunt_campaigns[][2] = {{"sc", "surw"}, {"tso", "random"}};

struct conforming {
    const struct slv_tools *tools;
    const char *folder;
    const struct slv_part *part;
    const struct slv_order *order;
    const char *output; /* the file that there is not yet: each command below makes it first */
    struct error *to;
};

/* Runs argv, whose first word is the program; true, and *result is to be freed. */
static bool run(const struct conforming *conforming, const char *const *argv, int most_s,
                struct process_result *result)
{
    int error = process_run(argv[0], argv, most_s, result);
    return error == 0 ||
           error_quote(conforming->to, "cannot run %s: %s", argv[0], strerror(-error));
}

static bool succeeded(const struct process_result *result)
{
    return result->end == PROCESS_ENDED && WIFEXITED(result->status) &&
           WEXITSTATUS(result->status) == 0;
}

/* "schedlab build mine.c --output fresh.slv", the order without conformance. */
static void build_print(FILE *to, const struct slv_order *order)
{
    fputs("schedlab build", to);
    for (const char *const *source = order->sources; *source; source++) {
        fputc(' ', to);
        shell_word_print(to, *source);
    }
    shell_option_print(to, "--name", order->name);
    shell_option_print(to, "--output", order->output);
}

/* The suite ----------------------------------------------------------------------------------- */

/* "not ok 3 - CASE VARIANT[,SETTINGS] workers=N" as the command that runs this case alone. */
static void again_print(const struct conforming *conforming, const char *line, size_t length)
{
    static const char dash[] = " - ";
    char *text = xstrndup(line, length);
    char *name = strstr(text, dash), *workers = strrchr(text, ' ');
    char *variant = name && workers > name ? memrchr(name, ' ', (size_t)(workers - name)) : NULL;
    if (variant && variant > name + sizeof dash - 2) {
        *variant = *workers = '\0';
        char *glob = text_format("%s/%s/%s", variant + 1, name + sizeof dash - 1, workers + 1);
        fputs("#   again: CASE=", stderr);
        shell_word_print(stderr, glob);
        fputc(' ', stderr);
        build_print(stderr, conforming->order);
        fputs(" --conformance", stderr);
        shell_option_print(stderr, "--machine", conforming->order->machine);
        fputc('\n', stderr);
        free(glob);
    }
    free(text);
}

/* The first cases that fail, with the reason of each and how to have it again, and how many hold.
 */
static void findings_print(const struct conforming *conforming, const char *lines,
                           const char *where)
{
    size_t held = 0, all = 0;
    for (const char *line = lines, *end; *line; line = end + (*end == '\n')) {
        end = strchrnul(line, '\n');
        bool holds = strncmp(line, "ok ", 3) == 0, fails = strncmp(line, "not ok ", 7) == 0;
        held += holds;
        all += holds || fails;
        bool tells = fails || (*line == '#' && strncmp(line, "#     ", 6) != 0);
        if (!tells || all - held > TOLD_MAX)
            continue;
        fprintf(stderr, "%.*s\n", (int)(end - line), line);
        if (fails)
            again_print(conforming, line, (size_t)(end - line));
    }
    fprintf(stderr, "%zu of %s of the conformance suite hold on %s\n", held, counted(all, "case").s,
            where);
}

enum { END_SIZE = 512 };

/* True, and its own line complained, if the program had nothing to say of the variant: it was
 * misused, or could not start. */
static bool was_refused(const struct conforming *conforming, const struct process_result *result)
{
    if (result->end != PROCESS_ENDED || !WIFEXITED(result->status) ||
        WEXITSTATUS(result->status) <= 1)
        return false;
    char end[END_SIZE];
    process_end_text(result, end, sizeof end);
    error_quote(conforming->to, "%s was not tried: %s", conforming->part->name, end);
    return true;
}

static bool suite_ended(const struct conforming *conforming, const struct process_result *result,
                        const char *where, int most_s)
{
    const char *name = conforming->part->name;
    if (was_refused(conforming, result))
        return false;
    findings_print(conforming, result->output, where);
    if (succeeded(result))
        return true;
    if (result->end != PROCESS_ENDED)
        return error_quote(conforming->to,
                           "%s holds up the conformance suite: it was ended after %d s", name,
                           most_s);
    return error_quote(conforming->to, "%s does what no variant may: see the cases above", name);
}

static bool suite_passed(const struct conforming *conforming)
{
    const char *machine = conforming->order->machine;
    const char *script = machine ? "conformance-sim" : "conformance";
    const char *config = machine ? "sim" : "release";
    if (!slv_has_config(conforming->tools, script))
        return error_quote(conforming->to,
                           "there is no conformance suite for %s beside this program; `make %s"
                           "build/%s/tests/conformance` builds it",
                           machine ? "simulated machines" : "real threads",
                           machine ? "CONFIG=sim " : "", config);
    if (!slv_link(conforming->tools, script, config, conforming->folder, script, conforming->part,
                  1, conforming->to))
        return false;
    char *program = text_format("%s/%s", conforming->folder, script);
    const char *const argv[] = {program, "--outside", machine ? "--machine" : NULL, machine, NULL};
    struct process_result result;
    int most_s = machine ? SIM_SUITE_MAX_S : SUITE_MAX_S;
    bool done = run(conforming, argv, most_s, &result);
    if (done) {
        done = suite_ended(conforming, &result, machine ? machine : "real threads", most_s);
        process_result_free(&result);
    }
    free(program);
    return done;
}

/* The hunt ------------------------------------------------------------------------------------ */

/* How the first executions failed, and how to replay each: of the file, which is built first. */
static void failures_print(const struct conforming *conforming, const char *lines)
{
    static const char replay[] = "replay: ";
    int failed = 0;
    for (const char *line = lines, *end; *line; line = end + (*end == '\n')) {
        end = strchrnul(line, '\n');
        bool fails = strncmp(line, "failed: ", 8) == 0;
        bool replays = strncmp(line, replay, sizeof replay - 1) == 0;
        failed += fails;
        if (failed > TOLD_MAX || (!fails && !replays))
            continue;
        if (replays) {
            fputs(replay, stderr);
            build_print(stderr, conforming->order);
            fputs(" && ", stderr);
            line += sizeof replay - 1;
        }
        fprintf(stderr, "%.*s\n", (int)(end - line), line);
    }
    fprintf(stderr, "%s of the hunt failed, of 20 executions each\n",
            counted((size_t)failed, "scenario").s);
}

static bool hunted(const struct conforming *conforming, const char *program, const char *memory,
                   const char *algorithm)
{
    const char *const argv[] = {program,
                                "--campaign",
                                conforming->part->name,
                                "--memory",
                                memory,
                                "--algorithm",
                                algorithm,
                                "--workers",
                                "3",
                                "--executions",
                                "20",
                                "--results",
                                conforming->folder,
                                NULL};
    struct process_result result;
    slv_with_tell(&conforming->output, 1);
    if (!run(conforming, argv, HUNT_MAX_S, &result))
        return false;
    bool done = succeeded(&result);
    if (!done && !was_refused(conforming, &result)) {
        failures_print(conforming, result.output);
        error_quote(conforming->to,
                    result.end == PROCESS_ENDED ? "%s is wrong in a schedule of the hunt: see above"
                                                : "%s holds up the hunt: it was ended",
                    conforming->part->name);
    }
    process_result_free(&result);
    return done;
}

/* Twenty executions of each scenario, which finds what is wrong in many schedules. */
static bool hunt_passed(const struct conforming *conforming)
{
    if (!slv_has_config(conforming->tools, "hunt"))
        return true;
    if (!slv_link(conforming->tools, "hunt", "hunt", conforming->folder, "hunt", conforming->part,
                  1, conforming->to))
        return false;
    char *program = text_format("%s/hunt", conforming->folder);
    bool done = true;
    for (size_t i = 0; done && i < sizeof hunt_campaigns / sizeof hunt_campaigns[0]; i++)
        done = hunted(conforming, program, hunt_campaigns[i][0], hunt_campaigns[i][1]);
    if (done)
        fprintf(stderr, "a brief hunt found nothing\n");
    free(program);
    return done;
}

bool slv_conforms(const struct slv_tools *tools, const char *folder, const struct slv_part *part,
                  const struct slv_order *order, const char *output, struct error *to)
{
    const struct conforming conforming = {tools, folder, part, order, output, to};
    if (part->workload)
        return error_quote(to,
                           "%s is a workload, and the conformance suite is for "
                           "variants",
                           part->name);
    return suite_passed(&conforming) && hunt_passed(&conforming);
}
