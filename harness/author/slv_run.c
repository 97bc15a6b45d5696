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
#include "sched.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES_MAX = 16, ERROR_SIZE = 1024 };

static const char ending[] = ".slv", with_option[] = "--with";

struct taking {
    struct slv_tools tools;
    char *files[FILES_MAX]; /* as the user wrote them */
    struct slv_part parts[FILES_MAX];
    size_t count;
    uint64_t digest;       /* of all that the program is made of */
    bool has[SLV_CONFIGS]; /* this program and all files have its objects */
    struct complaint to;
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

/* Name and kind, by about.json of a file that fits this program; false and a line if not. */
static bool part_know(struct taking *taking, const char *file, struct slv_part *part)
{
    size_t size = 0;
    char *text = member_read(file, "about.json", &size);
    json_t *about = text ? json_loadb(text, size, 0, NULL) : NULL;
    bool known = false;
    if (!about || !*field_text(about, "name"))
        complaint_make(&taking->to, "%s is no file that `schedlab build` has written", file);
    else if (strcmp(field_text(about, "abi"), taking->tools.abi) != 0)
        complaint_make(&taking->to,
                       "%s was built for schedlab %s (%s), %s, and does not fit this one, %s; "
                       "build it again with `schedlab build`",
                       file, field_text(about, "version"), field_text(about, "revision"),
                       field_text(about, "abi"), taking->tools.abi);
    else
        known = true;
    if (known) {
        part->name = xstrdup(field_text(about, "name"));
        part->workload = json_is_true(json_object_get(about, "workload"));
        part->forks = json_is_true(json_object_get(about, "forks"));
    }
    json_decref(about);
    free(text);
    return known;
}

/* The number of the file among those taken, or -1 and a line. */
static int file_take(struct taking *taking, const char *word, size_t length)
{
    char *file = xstrndup(word, length), error[ERROR_SIZE];
    size_t size;
    for (size_t i = 0; i < taking->count; i++) {
        if (strcmp(taking->files[i], file) == 0) {
            free(file);
            return (int)i;
        }
    }
    char *bytes = file_read(file, &size, error, sizeof error);
    struct slv_part *part = &taking->parts[taking->count];
    if (!bytes)
        complaint_make(&taking->to, "%s", error);
    else if (taking->count == FILES_MAX)
        complaint_make(&taking->to, "more than %d such files", FILES_MAX);
    else if (part_know(taking, file, part)) {
        uint64_t digest = fnv1a(FNV1A_SEED, bytes, size);
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
                return complaint_make(&taking->to,
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

static bool objects_take_out(struct taking *taking, const char *folder)
{
    for (size_t k = 0; k < SLV_CONFIGS; k++) {
        taking->has[k] = slv_has_config(&taking->tools, slv_configs[k]);
        for (size_t i = 0; i < taking->count; i++) {
            char *member = text_format("%s.o", slv_configs[k]);
            char *path = text_format("%s/%s.%s", folder, taking->parts[i].name, member);
            size_t size = 0;
            char *bytes = member_read(taking->files[i], member, &size);
            bool done =
                bytes ? file_replace(path, bytes, size, taking->to.text, taking->to.size)
                      : k >= SLV_MUST || complaint_make(&taking->to, "%s has no %s: it is torn",
                                                        taking->files[i], member);
            taking->has[k] &= bytes != NULL;
            free(bytes);
            free(path);
            free(member);
            if (!done)
                return false;
        }
    }
    return true;
}

/* For what the program looks for beside itself. */
static bool links_make(const struct taking *taking, const char *folder)
{
    char *share = text_format("%s/share", folder), *data = text_format("%s/schedlab", share);
    char *peers = text_format("%s/bin/peers", folder);
    char *theirs = text_format("%s/peers", taking->tools.objects);
    bool done = folder_make(share, taking->to.text, taking->to.size) &&
                ((symlink(taking->tools.data, data) == 0 && symlink(theirs, peers) == 0) ||
                 complaint_make(&taking->to, "cannot link %s: %s", data, strerror(errno)));
    free(theirs);
    free(peers);
    free(data);
    free(share);
    return done;
}

static bool programs_make(struct taking *taking, const char *folder)
{
    static const char *const programs[SLV_CONFIGS] = {"schedlab", "schedlab-sim", "schedlab-trace",
                                                      "schedlab-hunt"};
    char *bin = text_format("%s/bin", folder);
    bool done = folder_make(bin, taking->to.text, taking->to.size) &&
                objects_take_out(taking, bin) && links_make(taking, folder);
    if (done)
        fprintf(stderr, "schedlab: linking a program with %s%s, once\n", taking->parts[0].name,
                taking->count > 1 ? " and others" : "");
    for (size_t k = 0; done && k < SLV_CONFIGS; k++)
        done = !taking->has[k] || slv_link(&taking->tools, slv_configs[k], slv_configs[k], bin,
                                           programs[k], taking->parts, taking->count, &taking->to);
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
    if (folder_make(base, taking->to.text, taking->to.size) &&
        folder_make(own, taking->to.text, taking->to.size))
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
    bool done = folder_make(fresh, taking->to.text, taking->to.size) &&
                programs_make(taking, fresh) &&
                (rename(fresh, folder) == 0 || access(folder, R_OK) == 0 ||
                 complaint_make(&taking->to, "cannot rename %s: %s", fresh, strerror(errno)));
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
            complaint_make(&taking->to, "--with is without its file; expected --with NAME.slv");
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

void slv_run(int argc, char **argv, char *error, size_t error_size)
{
    struct taking taking = {.to = {error, error_size}};
    if (!slv_tools_find(&taking.tools, &taking.to))
        return;
    taking.digest = digest_of_program(&taking.tools);
    char **words = words_make(&taking, argc, argv);
    char *folder = words && names_differ(&taking) ? cache_folder(&taking) : NULL;
    if (folder && program_make(&taking, folder)) {
        char *program = text_format("%s/bin/schedlab", folder);
        execv(program, words);
        complaint_make(&taking.to, "cannot execute %s: %s", program, strerror(errno));
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
    }
}
