/* slv_run.c - see slv.h: a command line that names .slv files. */
#include "harness/author/slv.h"
#include "harness/author/slv_internal.h"

#include "harness/base/build_info.h"
#include "harness/base/files.h"
#include "harness/base/fnv1a.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/base/text.h"
#include "harness/spec/spec.h"
#include "sched.h"
#include "workloads/workload.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES_MAX = 16 };

static const char ending[] = ".slv", with_option[] = SLV_WITH;

struct taking {
    struct slv_tools tools;
    char *files[FILES_MAX]; /* as the user wrote them */
    struct slv_part parts[FILES_MAX];
    char *misfits[FILES_MAX][SLV_CONFIGS]; /* why there is no object of it; NULL: there is one */
    bool unknown[FILES_MAX]; /* nobody knows whether it holds a variant or a workload */
    size_t count;
    bool goes_on; /* the command makes cells: one that does not fit is a failed cell of its own */
    uint64_t digest;       /* of all that the program is made of */
    bool has[SLV_CONFIGS]; /* this program and all files have its objects */
    struct error *to;
};

/* Words --------------------------------------------------------------------------------------- */

/* The length of a path to such a file at the beginning of a word, "mine.slv" of
 * "mine.slv,tick=64"; 0: it is none. */
static size_t path_length(const char *word)
{
    size_t length = strcspn(word, ",");
    size_t least = sizeof ending - 1;
    return *word != '-' && length > least && strncmp(word + length - least, ending, least) == 0
               ? length
               : 0;
}

bool slv_is_meant(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], with_option) == 0)
        return true;
    if (argc > 1 && strcmp(argv[1], "build") == 0)
        return false;
    for (int i = 2; i < argc; i++)
        if (path_length(argv[i]) > 0)
            return true;
    return false;
}

/* Files --------------------------------------------------------------------------------------- */

/* A member of the archive, to be freed; NULL if it has none. */
static char *member_read(const char *file, const char *member, size_t *size)
{
    char path[SLV_PATH_SIZE];
    const char *const argv[] = {"ar", "p", file, member, NULL};
    struct process_result result;
    if (!process_find("ar", path, sizeof path) || process_run(path, argv, 0, &result) != 0)
        return NULL;
    char *bytes = NULL;
    if (WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0 && result.output_size > 0) {
        bytes = result.output;
        *size = result.output_size;
        result.output = NULL;
    }
    process_result_free(&result);
    return bytes;
}

/* Is it the beginning of an archive, and not all of it? The header of a member has its size. */
static bool is_torn(const char *bytes, size_t size)
{
    static const char magic[] = "!<arch>\n";
    enum { MAGIC = sizeof magic - 1, HEADER = 60, SIZE_AT = 48, DIGITS = 10 };
    size_t at = MAGIC;
    if (memcmp(bytes, magic, size < MAGIC ? size : MAGIC) != 0)
        return false;
    while (at + HEADER <= size) {
        char digits[DIGITS + 1] = "";
        memcpy(digits, bytes + at + SIZE_AT, DIGITS);
        if (!isdigit((unsigned char)*digits)) /* strtoul() would take a minus */
            return true;
        at += HEADER + strtoul(digits, NULL, 10);
        at += at % 2;
    }
    return at != size;
}

/* Name and kind, by about.json of a file that fits this program; false and a line if it does not,
 * or is none. The name is NULL if nobody knows it. */
static bool part_know(struct taking *taking, const char *file, bool torn, struct slv_part *part)
{
    size_t size = 0;
    char *text = member_read(file, "about.json", &size);
    json_t *about = text ? json_loadb(text, size, 0, NULL) : NULL;
    bool known = false;
    if (torn)
        error_quote(taking->to,
                    "%s is a torn object, whose end is missing; build it again with `schedlab "
                    "build`",
                    file);
    else if (!about || !*field_text(about, "name"))
        error_quote(taking->to, "%s is no file that `schedlab build` has written", file);
    else if (strcmp(field_text(about, "abi"), taking->tools.abi) != 0)
        error_quote(taking->to,
                    "%s was built for schedlab %s (%s), %s, and does not fit this one, %s; "
                    "build it again with `schedlab build`",
                    file, field_text(about, "version"), field_text(about, "revision"),
                    field_text(about, "abi"), taking->tools.abi);
    else
        known = true;
    if (about && *field_text(about, "name")) {
        part->name = xstrdup(field_text(about, "name"));
        part->workload = json_is_true(json_object_get(about, "workload"));
        part->forks = json_is_true(json_object_get(about, "forks"));
    }
    json_decref(about);
    free(text);
    return known;
}

/* True if a variant that cannot be taken, for the reason complained, can have a stand-in under its
 * name, or that of its file: then the reason is kept. */
static bool misfit_take(struct taking *taking, const char *file, struct slv_part *part)
{
    taking->unknown[taking->count] = !part->name;
    if (!part->name && text_ends_with(file, ending)) {
        const char *base = text_base_name(file);
        part->name = xstrndup(base, strlen(base) - (sizeof ending - 1));
    }
    if (!taking->goes_on || !part->name || part->workload || !slv_is_name(part->name) ||
        text_is_word(part->name, sched_variant_words) || text_is_word(part->name, workload_words)) {
        free(part->name);
        part->name = NULL;
        return false;
    }
    for (size_t k = 0; k < SLV_CONFIGS; k++)
        taking->misfits[taking->count][k] = xstrdup(taking->to->text);
    *taking->to->text = '\0';
    return true;
}

/* The number of the file among those taken, or -1 and a line. */
static int file_take(struct taking *taking, const char *word, size_t length)
{
    char *file = xstrndup(word, length);
    struct error error;
    size_t size;
    for (size_t i = 0; i < taking->count; i++) {
        if (strcmp(taking->files[i], file) == 0) {
            free(file);
            return (int)i;
        }
    }
    char *bytes = file_read(file, &size, &error);
    struct slv_part *part = &taking->parts[taking->count];
    if (!bytes)
        error_quote(taking->to, "%s", error.text);
    else if (taking->count == FILES_MAX)
        error_quote(taking->to, "more than %d such files", FILES_MAX);
    else if (part_know(taking, file, is_torn(bytes, size), part) ||
             misfit_take(taking, file, part)) {
        const char *misfit = taking->misfits[taking->count][0];
        uint64_t digest = fnv1a(FNV1A_SEED, bytes, size);
        if (misfit)
            digest = fnv1a(digest, misfit, strlen(misfit));
        part->origin = text_format("%s %016" PRIx64, text_base_name(file), digest);
        taking->digest = fnv1a(taking->digest, (const char *)&digest, sizeof digest);
        taking->files[taking->count] = file;
        free(bytes);
        return (int)taking->count++;
    }
    free(bytes);
    free(file);
    return -1;
}

static bool names_differ(const struct taking *taking)
{
    for (size_t i = 0; i < taking->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(taking->parts[i].name, taking->parts[k].name) == 0)
                return error_quote(taking->to,
                                   "%s and %s both hold %s; give one of "
                                   "them another name (schedlab build --name)",
                                   taking->files[k], taking->files[i], taking->parts[i].name);
    return true;
}

/* The program --------------------------------------------------------------------------------- */

/* Changes whenever this program or another of its configurations does. */
static uint64_t digest_of_program(const struct slv_tools *tools)
{
    uint64_t digest = fnv1a(FNV1A_SEED, tools->abi, strlen(tools->abi));
    struct stat status = {0};
    for (size_t i = 0; i <= SLV_CONFIGS; i++) {
        char *path = i < SLV_CONFIGS ? text_format("%s/%s.sh", tools->author, slv_configs[i])
                                     : xstrdup("/proc/self/exe");
        if (stat(path, &status) == 0) {
            char *seen = text_format("%jd %jd.%09ld", (intmax_t)status.st_size,
                                     (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
            digest = fnv1a(digest, seen, strlen(seen));
            free(seen);
        }
        free(path);
    }
    return fnv1a(digest, build_revision(), strlen(build_revision()));
}

/* A file without an object that it must have fails on the machines that this is for. */
static bool object_take_out(struct taking *taking, const char *folder, size_t i, size_t k)
{
    char *member = text_format("%s.o", slv_configs[k]);
    char *path = text_format("%s/%s.%s", folder, taking->parts[i].name, member);
    size_t size = 0;
    char *bytes = member_read(taking->files[i], member, &size);
    bool done = !bytes || file_replace(path, bytes, size, taking->to);
    if (!bytes && k < SLV_MUST)
        taking->misfits[i][k] =
            text_format("%s has no %s, for %s: build it again with "
                        "`schedlab build`",
                        taking->files[i], member, k == 0 ? "real threads" : "simulated machines");
    taking->has[k] &= bytes || k < SLV_MUST;
    free(bytes);
    free(path);
    free(member);
    return done;
}

static bool objects_take_out(struct taking *taking, const char *folder)
{
    for (size_t k = 0; k < SLV_CONFIGS; k++) {
        taking->has[k] = slv_has_config(&taking->tools, slv_configs[k]);
        for (size_t i = 0; i < taking->count; i++)
            if (!taking->misfits[i][k] && !object_take_out(taking, folder, i, k))
                return false;
    }
    return true;
}

/* For what the program looks for beside itself. */
static bool links_make(const struct taking *taking, const char *folder)
{
    char *share = text_format("%s/share", folder), *data = text_format("%s/schedlab", share);
    char *peers = text_format("%s/bin/peers", folder);
    char *theirs = text_format("%s/peers", taking->tools.objects);
    bool done = folder_make(share, taking->to) &&
                ((symlink(taking->tools.data, data) == 0 && symlink(theirs, peers) == 0) ||
                 error_quote(taking->to, "cannot link %s: %s", data, strerror(errno)));
    free(theirs);
    free(peers);
    free(data);
    free(share);
    return done;
}

static const char *const programs[SLV_CONFIGS] = {"schedlab", "schedlab-sim", "schedlab-trace",
                                                  "schedlab-hunt"};

/* Does the program start, so that its lists are right? If not, its line is complained. */
static bool starts(struct taking *taking, const char *bin, const char *name)
{
    char *program = text_format("%s/%s", bin, name);
    const char *const argv[] = {program, "--version", NULL};
    struct process_result result;
    int error = process_run(program, argv, 0, &result);
    bool done = error == 0 && WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0;
    if (!done) {
        const char *line = error == 0 ? result.messages : "it cannot be executed";
        line += strncmp(line, "schedlab: ", 10) == 0 ? 10 : 0;
        int length = (int)strcspn(line, "\n");
        if (length > 0)
            error_quote(taking->to, "%.*s", length, line);
        else
            error_quote(taking->to, "a program with it does not start (wait status %d)",
                        result.status);
    }
    if (error == 0)
        process_result_free(&result);
    free(program);
    return done;
}

/* Links the program of a configuration with these parts, and tries that of real threads. */
static bool program_link(struct taking *taking, const char *bin, size_t k, const char *name,
                         const struct slv_part *parts, size_t count)
{
    return slv_link(&taking->tools, slv_configs[k], slv_configs[k], bin, name, parts, count,
                    taking->to) &&
           (k > 0 || starts(taking, bin, name));
}

/* Tries each part alone. One with which no program can be made is a misfit, which the program kept
 * in the cache remembers: so a single part is tried a second time. True if there are any. */
static bool misfits_find(struct taking *taking, const char *bin, size_t k)
{
    static const char trial[] = "trial";
    const struct error kept = *taking->to;
    bool found = false;
    for (size_t i = 0; i < taking->count; i++) {
        struct slv_part *part = &taking->parts[i];
        if (part->misfit || part->workload || program_link(taking, bin, k, trial, part, 1))
            continue;
        found = true;
        part->misfit = taking->misfits[i][k] =
            text_format("%s does not fit: %s", taking->files[i], taking->to->text);
        fprintf(stderr, "schedlab: %s; its cells fail\n", part->misfit);
        for (size_t other = k + 1; other < SLV_CONFIGS; other++)
            if (!taking->misfits[i][other])
                taking->misfits[i][other] = xstrdup(part->misfit);
    }
    char *path = text_format("%s/%s", bin, trial);
    remove(path);
    free(path);
    error_quote(taking->to, "%s", found ? "" : kept.text);
    return found;
}

static bool program_of(struct taking *taking, const char *bin, size_t k)
{
    for (size_t i = 0; i < taking->count; i++)
        taking->parts[i].misfit = taking->misfits[i][k];
    return program_link(taking, bin, k, programs[k], taking->parts, taking->count) ||
           (misfits_find(taking, bin, k) &&
            program_link(taking, bin, k, programs[k], taking->parts, taking->count));
}

static bool programs_make(struct taking *taking, const char *folder)
{
    char *bin = text_format("%s/bin", folder);
    bool done =
        folder_make(bin, taking->to) && objects_take_out(taking, bin) && links_make(taking, folder);
    if (done)
        fprintf(stderr, "schedlab: linking a program with %s%s, once\n", taking->parts[0].name,
                taking->count > 1 ? " and others" : "");
    for (size_t k = 0; done && k < SLV_CONFIGS; k++)
        done = !taking->has[k] || program_of(taking, bin, k);
    free(bin);
    return done;
}

/* Its folder in the user's cache, to be freed; made if it is not there. */
static char *cache_folder(const struct taking *taking)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *base = cache && *cache ? xstrdup(cache) : text_format("%s/.cache", home ? home : "/tmp");
    char *own = text_format("%s/schedlab", base);
    char *folder = NULL;
    if (folder_make(base, taking->to) && folder_make(own, taking->to))
        folder = text_format("%s/%016" PRIx64, own, taking->digest);
    free(own);
    free(base);
    return folder;
}

/* Another one may make it at the same time: the first that is whole stays. */
static bool program_make(struct taking *taking, const char *folder)
{
    if (access(folder, R_OK) == 0)
        return true;
    char *fresh = text_format("%s.%d", folder, (int)getpid());
    bool done = folder_make(fresh, taking->to) && programs_make(taking, fresh) &&
                (rename(fresh, folder) == 0 || access(folder, R_OK) == 0 ||
                 error_quote(taking->to, "cannot rename %s: %s", fresh, strerror(errno)));
    if (access(fresh, R_OK) == 0)
        slv_scratch_remove(fresh);
    free(fresh);
    return done;
}

/* Running ------------------------------------------------------------------------------------- */

/* The command line for the other program, to be freed: names in place of paths. NULL and a line. */
static char **words_make(struct taking *taking, int argc, char **argv)
{
    char **words = xcalloc((size_t)argc + 1, sizeof *words);
    int from = 1, to = 0, number = 0;
    words[to++] = xstrdup(argv[0]);
    while (number >= 0 && from < argc && strcmp(argv[from], with_option) == 0) {
        if (from + 1 == argc)
            error_quote(taking->to, "--with is without its file; expected --with NAME.slv");
        number = from + 1 < argc ? file_take(taking, argv[from + 1], strlen(argv[from + 1])) : -1;
        from += 2;
    }
    for (; number >= 0 && from < argc; from++) {
        size_t length = path_length(argv[from]);
        number = length > 0 ? file_take(taking, argv[from], length) : 0;
        if (number >= 0)
            words[to++] = length > 0
                              ? text_format("%s%s", taking->parts[number].name, argv[from] + length)
                              : xstrdup(argv[from]);
    }
    if (number >= 0)
        return words;
    texts_free(words, (size_t)to);
    return NULL;
}

/* Is it one of the commands that make cells? */
static bool makes_cells(int argc, char **argv)
{
    static const char *const commands[] = {"run", "compare", "sweep", "repro", NULL};
    int at = 1;
    while (at + 1 < argc && strcmp(argv[at], with_option) == 0)
        at += 2;
    return at < argc && text_is_word(argv[at], commands);
}

/* Does the word name that, "mine" or "mine,tick=64"? */
static bool is_named(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (!word[length] || word[length] == ',');
}

static bool is_workload(const struct taking *taking, const char *word)
{
    char *name = xstrndup(word, strcspn(word, ","));
    bool is = text_is_word(name, workload_words);
    for (size_t i = 0; i < taking->count; i++)
        is |= taking->parts[i].workload && strcmp(taking->parts[i].name, name) == 0;
    free(name);
    return is;
}

/* The file in whose place there should be a workload, if nobody knows what it holds: -1 if there is
 * none. A sweep or an experiment names workloads in its file. */
static int in_workloads_place(const struct taking *taking, char *const *words)
{
    int found = -1;
    if (!words[1] || strcmp(words[1], "run") != 0)
        return -1;
    for (size_t w = 2; words[w]; w++) {
        if (is_workload(taking, words[w]))
            return -1;
        for (size_t i = 0; i < taking->count; i++)
            if (taking->unknown[i] && is_named(words[w], taking->parts[i].name))
                found = (int)i;
    }
    return found;
}

/* True if no file is a misfit, or some cells need not fail: then each misfit is told. Else the
 * first is complained. A sweep or an experiment names variants in its file. */
static bool one_fits(const struct taking *taking, char *const *words)
{
    const char *misfit = NULL;
    for (size_t i = 0; i < taking->count && !misfit; i++)
        misfit = taking->misfits[i][0];
    if (!misfit)
        return true;
    int place = in_workloads_place(taking, words);
    if (place >= 0)
        return error_quote(taking->to, "%s", taking->misfits[place][0]);
    bool fits = words[1] && (strcmp(words[1], "sweep") == 0 || strcmp(words[1], "repro") == 0);
    for (size_t i = 0; i < taking->count; i++)
        fits |= !taking->parts[i].workload && !taking->misfits[i][0];
    for (size_t i = 2; words[1] && words[i] && !fits; i++) {
        struct error unused;
        char *canonical = variant_spec_canonical(words[i], &unused);
        fits = canonical != NULL;
        free(canonical);
    }
    if (!fits)
        return error_quote(taking->to, "%s", misfit);
    for (size_t i = 0; i < taking->count; i++)
        if (taking->misfits[i][0])
            fprintf(stderr, "schedlab: %s; its cells fail\n", taking->misfits[i][0]);
    return true;
}

void slv_run(int argc, char **argv, struct error *error)
{
    struct taking taking = {.to = error, .goes_on = makes_cells(argc, argv)};
    if (!slv_tools_find(&taking.tools, taking.to))
        return;
    taking.digest = digest_of_program(&taking.tools);
    char **words = words_make(&taking, argc, argv);
    char *folder =
        words && names_differ(&taking) && one_fits(&taking, words) ? cache_folder(&taking) : NULL;
    if (folder && program_make(&taking, folder)) {
        char *program = text_format("%s/bin/schedlab", folder);
        slv_with_tell((const char *const *)taking.files, taking.count);
        execv(program, words);
        error_quote(taking.to, "cannot execute %s: %s", program, strerror(errno));
        free(program);
    }
    free(folder);
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
    for (size_t i = 0; i < taking.count; i++) {
        free(taking.files[i]);
        free(taking.parts[i].name);
        free(taking.parts[i].origin);
        for (size_t k = 0; k < SLV_CONFIGS; k++)
            free(taking.misfits[i][k]);
    }
}
