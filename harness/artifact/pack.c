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

/* Runs a shell's script with up to three words as $1 to $3. False and its last complaint in error.
 */
static bool shell(const char *script, const char *const words[3], char *error, size_t error_size)
{
    const char *const argv[] = {"/bin/sh", "-c", script, "sh", words[0], words[1], words[2], NULL};
    struct process_result result;
    int failed = process_run(argv[0], argv, LIMIT_S, &result);
    if (failed)
        return error_set(error, error_size, "cannot start a shell: %s", strerror(-failed));
    bool ok =
        result.end == PROCESS_ENDED && WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0;
    if (!ok) {
        snprintf(error, error_size, "%s", *result.messages ? result.messages : "it was ended");
        text_one_line(error);
    }
    process_result_free(&result);
    return ok;
}

/* Sources -------------------------------------------------------------------------------------- */

static bool revision_check(const struct packed_run *run, char *error, size_t error_size)
{
    const char *revision = run->revision;
    if (!*revision || strcmp(revision, "unknown") == 0)
        snprintf(error, error_size,
                 "%s: its program was built outside a git repository, so that its sources are not "
                 "known; measure it with a build of a commit",
                 run->folder);
    else if (strstr(revision, "-dirty"))
        snprintf(error, error_size,
                 "%s: its program had changes that no commit has (%s); commit them, build, and "
                 "measure anew",
                 run->folder, revision);
    else
        return true;
    return false;
}

static bool sources_pack(const struct packing *packing, char *error, size_t error_size)
{
    const char *revision = packing->runs[0].revision;
    char why[512];
    if (!shell("git rev-parse --verify --quiet \"$1^{commit}\" >/dev/null || "
               "{ echo \"no commit $1\" >&2; exit 1; }; "
               "mkdir \"$2/source\" && top=$(git rev-parse --show-toplevel) && "
               "git -C \"$top\" archive \"$1\" | tar -x -C \"$2/source\"",
               (const char *const[3]){revision, packing->draft, ""}, why, sizeof why)) {
        snprintf(error, error_size,
                 "cannot take the sources of revision %s from the git repository around the "
                 "current folder: %s",
                 revision, why);
        return false;
    }
    for (const char *const *file = packing->pack->outside; *file; file++)
        if (!shell("mkdir -p \"$2/outside\" && cp -- \"$1\" \"$2/outside/\"",
                   (const char *const[3]){*file, packing->draft, ""}, why, sizeof why))
            return error_set(error, error_size, "cannot pack %s: %s", *file, why);
    return true;
}

/* A design outside the tree was linked into the program, and nobody but the user has its source. */
static bool outside_check(const struct packing *packing, const struct packed_run *run, char *error,
                          size_t error_size)
{
    const json_t *build = json_object_get(run->environment, "build");
    size_t linked = json_array_size(json_object_get(build, "outside")), sources = 0;
    while (packing->pack->outside[sources])
        sources++;
    if (sources >= linked)
        return true;
    snprintf(error, error_size,
             "%s: %s from outside the tree took part; name the C file of each with --source FILE.c",
             run->folder, counted(linked, "design").s);
    return false;
}

/* Runs ----------------------------------------------------------------------------------------- */

static bool run_load(struct packing *packing, struct packed_run *run, const char *folder,
                     char *error, size_t error_size)
{
    *run = (struct packed_run){.folder = folder, .name = claims_run_name(folder)};
    run->claims = claims_of(folder, error, error_size);
    if (!run->claims)
        return false;
    run->environment = run_folder_environment(folder, error, error_size);
    if (*error)
        return false;
    run->revision = field_text(json_object_get(run->environment, "build"), "revision");
    for (size_t i = 0; i + 1 < packing->count; i++)
        if (strcmp(packing->runs[i].name, run->name) == 0) {
            snprintf(error, error_size,
                     "%s and %s are both named %s; measure one of them with another --name",
                     packing->runs[i].folder, folder, run->name);
            return false;
        }
    if (!revision_check(run, error, error_size) || !outside_check(packing, run, error, error_size))
        return false;
    if (strcmp(run->revision, packing->runs[0].revision) != 0) {
        snprintf(error, error_size,
                 "%s is of revision %s and %s of %s; an artifact has one revision", folder,
                 run->revision, packing->runs[0].folder, packing->runs[0].revision);
        return false;
    }
    return packed_run_commands(run, error, error_size);
}

static bool runs_load(struct packing *packing, char *error, size_t error_size)
{
    size_t count = 0;
    while (packing->pack->runs[count])
        count++;
    packing->runs = xcalloc(count, sizeof *packing->runs);
    for (size_t i = 0; i < count; i++) {
        packing->count = i + 1;
        *error = '\0';
        if (!run_load(packing, &packing->runs[i], packing->pack->runs[i], error, error_size))
            return false;
        packing->pack->claims += json_array_size(packing->runs[i].claims);
        packing->pack->quick_seconds += packing->runs[i].quick_seconds;
        packing->pack->full_seconds += packing->runs[i].full_seconds;
    }
    return true;
}

static bool run_pack(const struct packing *packing, const struct packed_run *run, char *error,
                     size_t error_size)
{
    char path[PACK_PATH_SIZE + 2 * PACK_NAME_SIZE], why[512];
    snprintf(path, sizeof path, "%s/runs/%s", packing->draft, run->name);
    if (!shell("mkdir -p \"$2\" && cp -R -- \"$1/.\" \"$2/\"",
               (const char *const[3]){run->folder, path, ""}, why, sizeof why))
        return error_set(error, error_size, "cannot copy %s: %s", run->folder, why);
    const char *const texts[] = {run->quick, run->full};
    static const char *const names[] = {"quick.cmd", "full.cmd"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/runs/%s/%s", packing->draft, run->name, names[i]);
        if (!file_replace(path, texts[i], strlen(texts[i]), error, error_size))
            return false;
    }
    return true;
}

/* All ------------------------------------------------------------------------------------------ */

static bool draft_fill(const struct packing *packing, char *error, size_t error_size)
{
    bool ok = folder_make(packing->scratch, error, error_size) &&
              folder_make(packing->draft, error, error_size) &&
              sources_pack(packing, error, error_size);
    for (size_t i = 0; ok && i < packing->count; i++)
        ok = run_pack(packing, &packing->runs[i], error, error_size);
    return ok && pack_write_texts(packing, error, error_size);
}

/* The draft becomes pack->out: a folder is renamed, a file is packed by tar. */
static bool draft_publish(const struct packing *packing, char *error, size_t error_size)
{
    char why[512];
    if (!packing->archive) {
        if (rename(packing->draft, packing->pack->out) == 0)
            return true;
        return error_set(error, error_size, "cannot make the folder %s: %s", packing->pack->out,
                         strerror(errno));
    }
    if (shell("tar -cJf \"$2\" --owner=0 --group=0 --sort=name -C \"$1\" -- \"$3\" || "
              "{ rm -f -- \"$2\"; exit 1; }",
              (const char *const[3]){packing->scratch, packing->pack->out, packing->base}, why,
              sizeof why))
        return true;
    return error_set(error, error_size, "cannot write %s: %s", packing->pack->out, why);
}

/* OUT.packing/BASE is the folder until it is whole. */
static bool names_make(struct packing *packing, char *error, size_t error_size)
{
    const char *out = packing->pack->out;
    packing->archive = text_ends_with(out, ".tar.xz");
    size_t length = strlen(out) - (packing->archive ? strlen(".tar.xz") : 0);
    while (length > 1 && out[length - 1] == '/')
        length--;
    const char *slash = memrchr(out, '/', length);
    size_t from = slash ? (size_t)(slash - out) + 1 : 0;
    if (length - from >= sizeof packing->base || length >= sizeof packing->scratch - 16)
        return error_set(error, error_size, "%.64s...: the path is too long", out);
    snprintf(packing->base, sizeof packing->base, "%.*s", (int)(length - from), out + from);
    snprintf(packing->scratch, sizeof packing->scratch, "%.*s.packing", (int)length, out);
    snprintf(packing->draft, sizeof packing->draft, "%s/%s", packing->scratch, packing->base);
    if (access(out, F_OK) == 0)
        return error_set(error, error_size,
                         "%s is there already; an artifact is a new folder or file", out);
    return true;
}

bool pack_make(struct pack *pack, char *error, size_t error_size)
{
    struct packing packing = {.pack = pack};
    if (!names_make(&packing, error, error_size))
        return false;
    bool ok = runs_load(&packing, error, error_size);
    if (ok) {
        run_folder_remove(packing.scratch); /* of a packing that was killed */
        ok = draft_fill(&packing, error, error_size) && draft_publish(&packing, error, error_size);
        run_folder_remove(packing.scratch);
    }
    for (size_t i = 0; i < packing.count; i++)
        packed_run_free(&packing.runs[i]);
    free(packing.runs);
    return ok;
}
