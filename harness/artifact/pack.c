/* pack.c - see pack.h. */
#include "harness/artifact/pack.h"

#include "harness/artifact/claims.h"
#include "harness/artifact/pack_internal.h"
#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/process.h"
#include "harness/base/text.h"
#include "harness/records/run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_S = 600 };

/* Commands ------------------------------------------------------------------------------------- */

/* Runs a shell's script with up to three words as $1 to $3, NULL-terminated. False, and "cannot
 * VERB $1REST" with its last complaint, if it fails. */
static bool shell(struct error *to, const char *verb, const char *rest, const char *script,
                  const char *const *words)
{
    const char *argv[8] = {"/bin/sh", "-c", script, "sh"};
    struct process_result result;
    for (size_t i = 0; words[i]; i++)
        argv[4 + i] = words[i];
    int failed = process_run(argv[0], argv, LIMIT_S, &result);
    if (failed)
        return error_quote(to, "cannot %s %s%s: cannot start a shell: %s", verb, words[0], rest,
                           strerror(-failed));
    bool ok =
        result.end == PROCESS_ENDED && WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0;
    if (!ok)
        error_quote(to, "cannot %s %s%s: %s", verb, words[0], rest,
                    *result.messages ? result.messages : "it was ended");
    process_result_free(&result);
    return ok;
}

/* Sources -------------------------------------------------------------------------------------- */

static bool revision_check(const struct packing *packing, const struct packed_run *run)
{
    const char *revision = run->revision;
    if (!*revision || strcmp(revision, "unknown") == 0)
        return error_quote(packing->to,
                           "%s: its program was built outside a git repository, so that its "
                           "sources are not known; measure it with a build of a commit",
                           run->folder);
    return !strstr(revision, "-dirty") ||
           error_quote(packing->to,
                       "%s: its program had changes that no commit has (%s); commit them, "
                       "build, and measure anew",
                       run->folder, revision);
}

static bool sources_pack(const struct packing *packing)
{
    if (!shell(packing->to, "take the sources of revision",
               " from the git repository around the current folder",
               "git rev-parse --verify --quiet \"$1^{commit}\" >/dev/null || "
               "{ echo \"no commit $1\" >&2; exit 1; }; "
               "mkdir \"$2/source\" && top=$(git rev-parse --show-toplevel) && "
               "git -C \"$top\" archive \"$1\" | tar -x -C \"$2/source\"",
               (const char *const[]){packing->runs[0].revision, packing->draft, NULL}))
        return false;
    for (const char *const *file = packing->pack->outside; *file; file++)
        if (!shell(packing->to, "pack", "",
                   "mkdir -p \"$2/outside\" && cp -- \"$1\" \"$2/outside/\"",
                   (const char *const[]){*file, packing->draft, NULL}))
            return false;
    return true;
}

/* A design outside the tree was linked into the program, and nobody but the user has its source. */
static bool outside_check(const struct packing *packing, const struct packed_run *run)
{
    const json_t *build = json_object_get(run->environment, "build");
    size_t linked = json_array_size(json_object_get(build, "outside")), sources = 0;
    while (packing->pack->outside[sources])
        sources++;
    return sources >= linked ||
           error_quote(packing->to,
                       "%s: %s from outside the tree took part; name the C file of each with "
                       "--source FILE.c",
                       run->folder, counted(linked, "design").s);
}

/* Runs ----------------------------------------------------------------------------------------- */

static bool run_load(struct packing *packing, struct packed_run *run, const char *folder)
{
    struct error *to = packing->to;
    *run = (struct packed_run){.folder = folder, .name = claims_run_name(folder)};
    run->claims = claims_of(folder, to);
    if (!run->claims)
        return false;
    run->environment = run_folder_environment(folder, to);
    if (*to->text)
        return false;
    run->revision = field_text(json_object_get(run->environment, "build"), "revision");
    for (size_t i = 0; i + 1 < packing->count; i++)
        if (strcmp(packing->runs[i].name, run->name) == 0)
            return error_quote(
                to, "%s and %s are both named %s; measure one of them with another --name",
                packing->runs[i].folder, folder, run->name);
    if (!revision_check(packing, run) || !outside_check(packing, run))
        return false;
    if (strcmp(run->revision, packing->runs[0].revision) != 0)
        return error_quote(to, "%s is of revision %s and %s of %s; an artifact has one revision",
                           folder, run->revision, packing->runs[0].folder,
                           packing->runs[0].revision);
    return packed_run_commands(run, to);
}

static bool runs_load(struct packing *packing)
{
    size_t count = 0;
    while (packing->pack->runs[count])
        count++;
    packing->runs = xcalloc(count, sizeof *packing->runs);
    for (size_t i = 0; i < count; i++) {
        packing->count = i + 1;
        *packing->to->text = '\0';
        if (!run_load(packing, &packing->runs[i], packing->pack->runs[i]))
            return false;
        packing->pack->claims += json_array_size(packing->runs[i].claims);
        packing->pack->quick_seconds += packing->runs[i].quick_seconds;
        packing->pack->full_seconds += packing->runs[i].full_seconds;
    }
    return true;
}

static bool run_pack(const struct packing *packing, const struct packed_run *run)
{
    char path[PACK_PATH_SIZE + 2 * PACK_NAME_SIZE];
    snprintf(path, sizeof path, "%s/runs/%s", packing->draft, run->name);
    if (!shell(packing->to, "copy", "", "mkdir -p \"$2\" && cp -R -- \"$1/.\" \"$2/\"",
               (const char *const[]){run->folder, path, NULL}))
        return false;
    const char *const texts[] = {run->quick, run->full};
    static const char *const names[] = {"quick.cmd", "full.cmd"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/runs/%s/%s", packing->draft, run->name, names[i]);
        if (!file_replace(path, texts[i], strlen(texts[i]), packing->to))
            return false;
    }
    return true;
}

/* All ------------------------------------------------------------------------------------------ */

static bool draft_fill(const struct packing *packing)
{
    bool ok = folder_make(packing->scratch, packing->to) &&
              folder_make(packing->draft, packing->to) && sources_pack(packing);
    for (size_t i = 0; ok && i < packing->count; i++)
        ok = run_pack(packing, &packing->runs[i]);
    return ok && pack_write_texts(packing);
}

/* The draft becomes pack->out: a folder is renamed, a file is packed by tar. */
static bool draft_publish(const struct packing *packing)
{
    const char *out = packing->pack->out;
    if (packing->archive)
        return shell(packing->to, "write", "",
                     "tar -cJf \"$1\" --owner=0 --group=0 --sort=name -C \"$2\" -- \"$3\" || "
                     "{ rm -f -- \"$1\"; exit 1; }",
                     (const char *const[]){out, packing->scratch, packing->base, NULL});
    return rename(packing->draft, out) == 0 ||
           error_quote(packing->to, "cannot make the folder %s: %s", out, strerror(errno));
}

/* OUT.packing/BASE is the folder until it is whole. */
static bool names_make(struct packing *packing)
{
    const char *out = packing->pack->out;
    packing->archive = text_ends_with(out, ".tar.xz");
    size_t length = strlen(out) - (packing->archive ? strlen(".tar.xz") : 0);
    while (length > 1 && out[length - 1] == '/')
        length--;
    const char *slash = memrchr(out, '/', length);
    size_t from = slash ? (size_t)(slash - out) + 1 : 0;
    if (length - from >= sizeof packing->base || length >= sizeof packing->scratch - 16)
        return error_quote(packing->to, "%.64s...: the path is too long", out);
    snprintf(packing->base, sizeof packing->base, "%.*s", (int)(length - from), out + from);
    snprintf(packing->scratch, sizeof packing->scratch, "%.*s.packing", (int)length, out);
    snprintf(packing->draft, sizeof packing->draft, "%s/%s", packing->scratch, packing->base);
    return access(out, F_OK) != 0 ||
           error_quote(packing->to, "%s is there already; an artifact is a new folder or file",
                       out);
}

bool pack_make(struct pack *pack, struct error *error)
{
    struct packing packing = {.pack = pack, .to = error};
    if (!names_make(&packing))
        return false;
    bool ok = runs_load(&packing);
    if (ok) {
        run_folder_remove(packing.scratch); /* of a packing that was killed */
        ok = draft_fill(&packing) && draft_publish(&packing);
        run_folder_remove(packing.scratch);
    }
    for (size_t i = 0; i < packing.count; i++)
        packed_run_free(&packing.runs[i]);
    free(packing.runs);
    return ok;
}
