/* slv.c - see slv.h: what making and taking share. */
#include "harness/author/slv.h"
#include "harness/author/slv_internal.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/base/text.h"
#include "harness/host/data_folder.h"
#include "harness/spec/outside.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 16 };

const char *const slv_configs[SLV_CONFIGS] = {"release", "sim", "trace", "hunt"};

/* A file of the data, and one of the headers. */
static const char datum[] = "plots/style.gp", header[] = "sched_variants/sched.h";

/* The folder of this program. */
static void self_folder(char folder[SLV_PATH_SIZE])
{
    ssize_t length = readlink("/proc/self/exe", folder, SLV_PATH_SIZE - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

/* Takes path. */
static bool is_there(char *path)
{
    bool there = access(path, R_OK) == 0;
    free(path);
    return there;
}

/* build/schedlab, build/release/schedlab and PREFIX/bin/schedlab. */
static bool author_find(struct slv_tools *tools)
{
    static const char *const places[] = {".", "..", "../libexec/schedlab"};
    char self[SLV_PATH_SIZE];
    self_folder(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (!is_there(text_format("%s/%s/author/release.sh", self, places[i])))
            continue;
        snprintf(tools->objects, sizeof tools->objects, "%.*s/%s", SLV_PATH_SIZE / 2, self,
                 places[i]);
        snprintf(tools->author, sizeof tools->author, "%.*s/%s/author", SLV_PATH_SIZE / 2, self,
                 places[i]);
        return true;
    }
    return false;
}

/* Headers lie in PREFIX/include/schedlab, or where the data lie. */
static bool roots_find(struct slv_tools *tools)
{
    if (!data_find(datum, tools->data, sizeof tools->data))
        return false;
    tools->data[strlen(tools->data) - strlen(datum) - 1] = '\0';
    char *installed = text_format("%s/../../include/schedlab", tools->data);
    snprintf(tools->root, sizeof tools->root, "%s", installed);
    free(installed);
    if (!is_there(text_format("%s/%s", tools->root, header)))
        memcpy(tools->root, tools->data, sizeof tools->root);
    return is_there(text_format("%s/%s", tools->root, header));
}

bool slv_tools_find(struct slv_tools *tools, struct error *to)
{
    struct error error;
    bool found = author_find(tools) && roots_find(tools);
    for (size_t i = 0; found && i < SLV_MUST; i++)
        found = slv_has_config(tools, slv_configs[i]);
    if (!found)
        return error_quote(to, "this program has no build/author beside it, or not all of it, "
                               "which compiles variants of others; `make` leaves it");
    char *path = text_format("%s/abi", tools->author);
    char *abi = file_read(path, NULL, &error);
    free(path);
    if (!abi)
        return error_quote(to, "%s", error.text);
    snprintf(tools->abi, sizeof tools->abi, "%.*s", (int)strcspn(abi, "\n"), abi);
    free(abi);
    return true;
}

bool slv_is_name(const char *name)
{
    const char *at = name;
    while (islower((unsigned char)*at) ||
           (at > name && (isdigit((unsigned char)*at) || *at == '_')))
        at++;
    return !*at && at > name;
}

/* Scratch ------------------------------------------------------------------------------------- */

bool slv_scratch_make(char folder[SLV_PATH_SIZE], struct error *to)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, SLV_PATH_SIZE, "%s/schedlab-XXXXXX", base && *base ? base : "/tmp");
    return mkdtemp(folder) ||
           error_quote(to, "cannot make the folder %s: %s", folder, strerror(errno));
}

void slv_scratch_remove(const char *folder)
{
    const char *const argv[] = {"rm", "-rf", "--", folder, NULL};
    struct error nobody;
    slv_do("rm", argv, false, "remove a folder", &nobody);
}

/* Programs ------------------------------------------------------------------------------------ */

bool slv_do(const char *program, const char *const *argv, bool warns, const char *what,
            struct error *to)
{
    char path[SLV_PATH_SIZE];
    struct process_result result;
    if (strchr(program, '/'))
        snprintf(path, sizeof path, "%s", program);
    else if (!process_find(program, path, sizeof path))
        return error_quote(to, "cannot %s: there is no program %s", what, program);
    int error = process_run(path, argv, 0, &result);
    if (error != 0)
        return error_quote(to, "cannot %s: %s", what, strerror(-error));
    bool done = WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0;
    if (warns || !done)
        fwrite(result.messages, 1, result.messages_size, stderr);
    if (!done)
        error_quote(to, "cannot %s", what);
    process_result_free(&result);
    return done;
}

bool slv_has_config(const struct slv_tools *tools, const char *config)
{
    return is_there(text_format("%s/%s.sh", tools->author, config));
}

bool slv_script(const struct slv_tools *tools, const char *config, const char *action,
                const char *const *words, const char *what, struct error *to)
{
    char *script = text_format("%s/%s.sh", tools->author, config);
    size_t count = 0, given = 0;
    while (words[given])
        given++;
    const char **argv = xcalloc(given + WORDS_MAX, sizeof *argv);
    const char *const first[] = {"sh", script, action, tools->root, tools->objects};
    for (; count < sizeof first / sizeof first[0]; count++)
        argv[count] = first[count];
    for (size_t i = 0; i < given; i++)
        argv[count++] = words[i];
    bool done = slv_do("sh", argv, config == slv_configs[0], what, to);
    free(argv);
    free(script);
    return done;
}

void slv_with_tell(const char *const *files, size_t count)
{
    char *with = NULL;
    FILE *to = memory_stream(&with, NULL);
    for (size_t i = 0; i < count; i++)
        shell_option_print(to, SLV_WITH, files[i]);
    fclose(to);
    setenv(OUTSIDE_WITH, with, true);
    free(with);
}

/* A string of C. */
static void quoted_print(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        fputc(isprint((unsigned char)*text) && !strchr("\"\\?", *text) ? *text : '_', to);
    fputs("\"", to);
}

/* "-DKIND(X)=X(name) ...", "-DORIGINS=..." of the variants or of the workloads; and of variants
 * that are misfits, "-DOUTSIDE_MISFITS(X)=X(name, reason) ...". All are to be freed. */
static void lists_make(const struct slv_part *parts, size_t count, bool workloads, char **names,
                       char **misfits, char **origins)
{
    size_t size;
    FILE *name_list = memory_stream(names, &size), *misfit_list = memory_stream(misfits, &size);
    FILE *origin_list = memory_stream(origins, &size);
    fprintf(name_list, "-DOUTSIDE_%s(X)=", workloads ? "WORKLOADS" : "VARIANTS");
    fprintf(misfit_list, "-DOUTSIDE_%sMISFITS(X)=", workloads ? "WORKLOAD_" : "");
    fprintf(origin_list, "-DOUTSIDE_%sORIGINS=", workloads ? "WORKLOAD_" : "");
    for (size_t i = 0; i < 2 * count; i++) {
        const struct slv_part *part = &parts[i % count];
        if (part->workload != workloads || (part->misfit != NULL) != (i >= count))
            continue;
        fprintf(part->misfit ? misfit_list : name_list, "X(%s%s", part->name,
                part->misfit  ? ", "
                : !workloads  ? ""
                : part->forks ? ", FORKJOIN"
                              : ", GOROUTINE");
        if (part->misfit)
            quoted_print(misfit_list, part->misfit);
        fputs(") ", part->misfit ? misfit_list : name_list);
        fputs("ORIGIN(", origin_list);
        quoted_print(origin_list, part->origin);
        fputs("),", origin_list);
    }
    fclose(name_list);
    fclose(misfit_list);
    fclose(origin_list);
}

/* The lists of variants and workloads, as macros for outside.c. */
static bool list_compile(const struct slv_tools *tools, const char *config, const char *object,
                         const struct slv_part *parts, size_t count, struct error *to)
{
    char *lists[6];
    lists_make(parts, count, false, &lists[0], &lists[1], &lists[2]);
    lists_make(parts, count, true, &lists[3], &lists[4], &lists[5]);
    char *source = text_format("%s/harness/spec/outside.c", tools->root);
    const char *const words[] = {source,   object,   lists[0], lists[1],
                                 lists[2], lists[3], lists[5], NULL};
    bool done = slv_script(tools, config, "list", words, "compile the lists of what is there", to);
    free(source);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        free(lists[i]);
    return done;
}

bool slv_link(const struct slv_tools *tools, const char *script, const char *config,
              const char *folder, const char *program, const struct slv_part *parts, size_t count,
              struct error *to)
{
    char *path = text_format("%s/%s", folder, program);
    char *list = text_format("%s/list.%s.o", folder, config);
    char **words = xcalloc(count + 3, sizeof *words);
    size_t to_link = 0;
    words[to_link++] = path;
    words[to_link++] = list;
    for (size_t i = 0; i < count; i++)
        if (!parts[i].misfit)
            words[to_link++] = text_format("%s/%s.%s.o", folder, parts[i].name, config);
    bool done =
        list_compile(tools, config, list, parts, count, to) &&
        slv_script(tools, script, "link", (const char *const *)words, "link a program with it", to);
    texts_free(words, to_link);
    return done;
}
