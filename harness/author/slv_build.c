/* slv_build.c - see slv.h: `schedlab build`. */
#include "harness/author/slv.h"
#include "harness/author/slv_internal.h"

#include "harness/base/build_info.h"
#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "sched.h"
#include "workloads/workload.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLICIES = FJ_LINKED + 1 };

struct making {
    const struct slv_order *order;
    const char *const *sources; /* the order's, or those of its folder */
    char **found;               /* those of the folder, NULL-terminated; else NULL */
    struct slv_tools tools;
    struct slv_part part;
    char folder[SLV_PATH_SIZE];
    struct error *to;
};

/* Names --------------------------------------------------------------------------------------- */

/* "mine" of "src/mine.c" and of the folder "src/mine/". */
static char *name_of_file(const char *path)
{
    size_t whole = strlen(path);
    while (whole > 1 && path[whole - 1] == '/')
        whole--;
    char *plain = xstrndup(path, whole);
    const char *base = text_base_name(plain);
    size_t length = strlen(base);
    char *name = xstrndup(base, length > 2 && text_ends_with(base, ".c") ? length - 2 : length);
    free(plain);
    return name;
}

static bool name_check(const struct making *making, const char *name)
{
    if (!slv_is_name(name))
        return error_quote(making->to,
                           "the name would be \"%s\"; expected a word of a-z, 0-9 and "
                           "_, by the file's name or --name",
                           name);
    bool is_variant = text_is_word(name, sched_variant_words);
    return (!is_variant && !text_is_word(name, workload_words)) ||
           error_quote(making->to, "%s is a %s of schedlab's own; choose another name with --name",
                       name, is_variant ? "variant" : "workload");
}

static int is_source(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strlen(entry->d_name) > 2 &&
           text_ends_with(entry->d_name, ".c");
}

/* A folder stands for its C files, in the order of their names. */
static bool sources_find(struct making *making)
{
    const char *folder = making->order->sources[0];
    struct stat status;
    struct dirent **entries;
    making->sources = making->order->sources;
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return true;
    if (making->order->sources[1])
        return error_quote(making->to, "%s is a folder, which is built alone", folder);
    int count = scandir(folder, &entries, is_source, alphasort);
    if (count < 0)
        return error_quote(making->to, "cannot read %s: %s", folder, strerror(errno));
    making->found = xcalloc((size_t)count + 1, sizeof *making->found);
    making->sources = (const char *const *)making->found;
    for (int i = 0; i < count; i++) {
        making->found[i] = text_format("%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return count > 0 ||
           error_quote(making->to, "%s has no C file; expected one or more, NAME.c", folder);
}

static bool sources_check(const struct making *making)
{
    for (const char *const *source = making->sources; *source; source++) {
        if (strlen(*source) < 3 || !text_ends_with(*source, ".c"))
            return error_quote(making->to, "%s is no C file; expected NAME.c", *source);
        if (access(*source, R_OK) != 0)
            return error_quote(making->to, "cannot read %s: %s", *source, strerror(errno));
    }
    return true;
}

/* Objects ------------------------------------------------------------------------------------- */

/* The i-th source by that action. Adds its object to words. */
static bool source_compile(const struct making *making, const char *config, const char *action,
                           size_t i, char **words, size_t *count)
{
    const char *source = making->sources[i];
    char *object = words[*count] = text_format("%s/%zu.%s.o", making->folder, *count, config);
    char *what = text_format("compile %s (%s)", source, config);
    const char *const compiled[] = {source, object, making->part.name, NULL};
    bool done = slv_script(&making->tools, config, action, compiled, what, making->to);
    free(what);
    ++*count;
    return done;
}

/* Does the object open frames of fork/join? So far it is compiled for FJ_GO. */
static bool forks(const struct making *making, const char *config, const char *object)
{
    struct error nobody;
    const char *const words[] = {object, NULL};
    return slv_script(&making->tools, config, "forks", words, "look at its frames", &nobody);
}

/* Compiles the i-th source once, or once per policy if it is a workload that opens frames. */
static bool source_make(struct making *making, const char *config, size_t i, char **words,
                        size_t *count)
{
    static const char *const policies[] = {"FJ_GO", "FJ_HELP", "FJ_WORK", "FJ_LINKED"};
    if (!making->part.workload)
        return source_compile(making, config, "compile", i, words, count);
    if (!source_compile(making, config, "workload", i, words, count))
        return false;
    if (!forks(making, config, words[*count - 1]))
        return true;
    making->part.forks = true;
    free(words[--*count]);
    bool done = true;
    for (size_t p = 0; done && p < POLICIES; p++)
        done = source_compile(making, config, policies[p], i, words, count);
    return done;
}

/* All sources into folder/NAME.CONFIG.o. */
static bool object_make(struct making *making, const char *config)
{
    size_t sources = 0, count = 1;
    bool done = true;
    while (making->sources[sources])
        sources++;
    char **words = xcalloc(POLICIES * sources + 2, sizeof *words);
    words[0] = text_format("%s/%s.%s.o", making->folder, making->part.name, config);
    for (size_t i = 0; done && i < sources; i++)
        done = source_make(making, config, i, words, &count);
    done = done && slv_script(&making->tools, config, "join", (const char *const *)words,
                              "join the files", making->to);
    texts_free(words, count);
    return done;
}

static bool defines(const struct making *making, const char *before, const char *after)
{
    struct error nobody;
    char *object = text_format("%s/%s.release.o", making->folder, making->part.name);
    char *symbol = text_format("%s%s%s", before, making->part.name, after);
    const char *const words[] = {object, symbol, NULL};
    bool does = slv_script(&making->tools, slv_configs[0], "defines", words, symbol, &nobody);
    free(symbol);
    free(object);
    return does;
}

/* By what it defines. A workload is compiled otherwise, so once more. */
static bool kind_find(struct making *making)
{
    const char *name = making->part.name;
    if (!object_make(making, slv_configs[0]))
        return false;
    if (defines(making, "", "_ops"))
        return true;
    making->part.workload = defines(making, "workload_", "");
    if (making->part.workload)
        return object_make(making, slv_configs[0]);
    return error_quote(making->to,
                       "%s defines neither `const struct sched_ops %s_ops` nor `const struct "
                       "workload workload_%s`; say by --name which name it defines, or give it "
                       "this one, as RUNQ_VARIANT(%s, ...) does",
                       making->sources[0], name, name, name);
}

/* A program with it answers, so nothing is missing, and its lists are right. */
static bool trial(const struct making *making)
{
    char *program = text_format("%s/schedlab", making->folder);
    const char *const argv[] = {program, "list", making->part.name, NULL};
    bool done = slv_link(&making->tools, slv_configs[0], slv_configs[0], making->folder, "schedlab",
                         &making->part, 1, making->to) &&
                slv_do(program, argv, false, "take it for a variant or a workload", making->to);
    free(program);
    return done;
}

/* The file ------------------------------------------------------------------------------------ */

static bool about_write(const struct making *making)
{
    char *path = text_format("%s/about.json", making->folder);
    json_t *about =
        json_pack("{ss sb sb ss ss ss}", "name", making->part.name, "workload",
                  making->part.workload, "forks", making->part.forks, "abi", making->tools.abi,
                  "version", build_version(), "revision", build_revision());
    bool done = file_replace_json(path, about, making->to);
    json_decref(about);
    free(path);
    return done;
}

/* Members have the names of configurations: release.o, not NAME.release.o. */
static bool archive_write(const struct making *making, const char *output)
{
    char *members[SLV_CONFIGS + 1] = {text_format("%s/about.json", making->folder)};
    size_t count = 1;
    bool done = true;
    for (size_t i = 0; done && i < SLV_CONFIGS; i++) {
        char *from = text_format("%s/%s.%s.o", making->folder, making->part.name, slv_configs[i]);
        if (i < SLV_MUST || access(from, R_OK) == 0) {
            members[count] = text_format("%s/%s.o", making->folder, slv_configs[i]);
            done = rename(from, members[count++]) == 0 ||
                   error_quote(making->to, "cannot rename %s: %s", from, strerror(errno));
        }
        free(from);
    }
    char *fresh = text_format("%s/fresh.slv", making->folder);
    const char *argv[SLV_CONFIGS + 5] = {"ar", "qcD", fresh};
    for (size_t i = 0; i < count; i++)
        argv[3 + i] = members[i];
    done = done && slv_do("ar", argv, true, "write the file", making->to) &&
           file_copy(fresh, output, making->to);
    free(fresh);
    for (size_t i = 0; i <= SLV_CONFIGS; i++)
        free(members[i]);
    return done;
}

static bool make_it(struct making *making, const char *output)
{
    if (!kind_find(making))
        return false;
    for (size_t i = 1; i < SLV_CONFIGS; i++)
        if ((i < SLV_MUST || slv_has_config(&making->tools, slv_configs[i])) &&
            !object_make(making, slv_configs[i]))
            return false;
    return trial(making) &&
           (!making->order->conformance ||
            slv_conforms(&making->tools, making->folder, &making->part, making->order, output,
                         making->to)) &&
           about_write(making) && archive_write(making, output);
}

bool slv_build(const struct slv_order *order, char **path, struct error *error)
{
    struct making making = {.order = order, .to = error};
    making.part.name = order->name ? xstrdup(order->name) : name_of_file(order->sources[0]);
    making.part.origin = xstrdup(order->sources[0]);
    *path = order->output ? xstrdup(order->output) : text_format("%s.slv", making.part.name);
    bool done = sources_find(&making) && sources_check(&making) &&
                name_check(&making, making.part.name) && slv_tools_find(&making.tools, making.to) &&
                slv_scratch_make(making.folder, making.to);
    if (done) {
        done = make_it(&making, *path);
        slv_scratch_remove(making.folder);
    }
    for (size_t i = 0; making.found && making.found[i]; i++)
        free(making.found[i]);
    free(making.found);
    free(making.part.name);
    free(making.part.origin);
    if (!done) {
        free(*path);
        *path = NULL;
    }
    return done;
}
