/* git_build.c - see git_build.h. */
#include "harness/sweep/git_build.h"

#include "harness/base/files.h"
#include "harness/base/process.h"
#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUILD_LIMIT_S = 1800, LINE_SIZE = 512 };

/* Runs a command; its first line of output goes to line. 0, or -1 and the last line of what it had
 * to complain of in error. */
static int command(const char *const *argv, char *line, size_t line_size, struct error *error)
{
    struct process_result result;
    int failed = process_run(argv[0], argv, BUILD_LIMIT_S, &result);
    if (failed) {
        error_print(error, "cannot start %s: %s", argv[0], strerror(-failed));
        return -1;
    }
    bool ok =
        result.end == PROCESS_ENDED && WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0;
    if (ok && line)
        snprintf(line, line_size, "%.*s", (int)strcspn(result.output, "\n"), result.output);
    size_t end = strlen(result.messages);
    while (end > 0 && result.messages[end - 1] == '\n')
        result.messages[--end] = '\0';
    const char *last = strrchr(result.messages, '\n');
    if (result.end == PROCESS_TIMED_OUT)
        error_print(error, "it takes more than %d s", BUILD_LIMIT_S);
    else if (!ok)
        error_print(error, "%s", last ? last + 1 : result.messages);
    process_result_free(&result);
    return ok ? 0 : -1;
}

/* env finds the command in PATH, which process_run() does not. */
#define COMMAND(...)                                                                               \
    (const char *const[])                                                                          \
    {                                                                                              \
        "/usr/bin/env", __VA_ARGS__, NULL                                                          \
    }

bool git_build_find(struct git_build *revision, const char *text, struct error *error)
{
    char commit[LINE_SIZE], top[REVISION_PATH_SIZE];
    struct error why;
    for (int i = 0; i < 2; i++) {
        const char *program = i == 0 ? "git" : "make";
        if (process_find(program, top, sizeof top))
            continue;
        return error_set(error, "--git takes %s, which is missing; the Debian package %s has it",
                         program, program);
    }
    snprintf(commit, sizeof commit, "%s^{commit}", text);
    if (command(COMMAND("git", "rev-parse", "--show-toplevel"), top, sizeof top, &why) < 0)
        return error_set(error, "--git takes a git repository around the current folder: %s",
                         why.text);
    if (*text == '-' || command(COMMAND("git", "rev-parse", "--verify", "--short=12", commit),
                                revision->name, sizeof revision->name, &why) < 0)
        return error_set(error, "\"%s\" is no commit of %s; valid is what `git log` takes", text,
                         top);
    int length = snprintf(revision->program, sizeof revision->program,
                          "%s/build/revisions/%s/build/schedlab", top, revision->name);
    if (length < (int)sizeof revision->program)
        return true;
    return error_set(error, "%.64s...: the path is too long", top);
}

/* The folder of the check-out: the program's path without its end. */
static void revision_folder(const struct git_build *revision, char folder[REVISION_PATH_SIZE])
{
    size_t length = strlen(revision->program) - strlen("/build/schedlab");
    snprintf(folder, REVISION_PATH_SIZE, "%.*s", (int)length, revision->program);
}

/* The line that says what went wrong: the first one with an error of a compiler or linker; else
 * what stands before make's first own complaint; else the last one. NULL if there are no lines.
 * Cuts the text into lines. */
static const char *line_of_error(char *text)
{
    const char *last = NULL, *before_make = NULL;
    for (char *line; (line = strsep(&text, "\n"));) {
        if (strstr(line, "error: ") || strstr(line, "undefined reference"))
            return line;
        if (!before_make && strstr(line, ": *** "))
            before_make = last ? last : line;
        if (*line)
            last = line;
    }
    return before_make ? before_make : last;
}

/* Writes the build's complaint into error. why: how the build ended. */
static void explain_build(const struct git_build *revision, const char *log, const char *why,
                          struct error *error)
{
    struct error unread;
    char *text = file_read(log, NULL, &unread);
    const char *line = text ? line_of_error(text) : NULL;
    error_print(error, "cannot build %s: %.400s; all that make said is in %s", revision->name,
                *why   ? why
                : line ? line
                       : "it said nothing",
                log);
    text_one_line(error->text);
    free(text);
}

static bool revision_make(const struct git_build *revision, const char *folder, struct error *error)
{
    char log[REVISION_PATH_SIZE + 16];
    struct error why;
    snprintf(log, sizeof log, "%s.log", folder);
    if (command(COMMAND("-u", "MAKEFLAGS", "-u", "MAKELEVEL", "sh", "-c",
                        "exec make -C \"$1\" build >\"$2\" 2>&1", "sh", folder, log),
                NULL, 0, &why) == 0)
        return true;
    explain_build(revision, log, why.text, error);
    return false;
}

bool git_build_make(const struct git_build *revision, FILE *messages, struct error *error)
{
    char folder[REVISION_PATH_SIZE], makefile[REVISION_PATH_SIZE + 16];
    struct error why;
    revision_folder(revision, folder);
    snprintf(makefile, sizeof makefile, "%s/Makefile", folder);
    fprintf(messages, "building revision %s in %s\n", revision->name, folder);
    /* Forced, since git may still know a work tree whose folder is gone. */
    if (access(makefile, F_OK) != 0 &&
        command(COMMAND("git", "worktree", "add", "--force", "--detach", folder, revision->name),
                NULL, 0, &why) < 0)
        return error_set(error, "cannot check out %s: %s", revision->name, why.text);
    if (!revision_make(revision, folder, error))
        return false;
    if (access(revision->program, X_OK) == 0)
        return true;
    return error_set(error, "`make build` of %s made no %s", revision->name, revision->program);
}
