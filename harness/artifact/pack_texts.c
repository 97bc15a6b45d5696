/* pack_texts.c - the files of an artifact that are not copied: README.md, Dockerfile, reproduce.sh,
 * claims.json; see pack.h.
 *
 * The first three are in harness/artifact/, with @WORDS@ for what the runs say.
 */
#include "harness/artifact/pack_internal.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/host/data_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WORDS_MAX = 16 };

struct word {
    const char *name; /* with its @ at both ends */
    char *text;
};

struct words {
    struct word word[WORDS_MAX];
    size_t count;
};

static void word_add(struct words *words, const char *name, char *text)
{
    if (words->count == WORDS_MAX)
        abort();
    words->word[words->count++] = (struct word){name, text};
}

static const struct word *word_at(const struct words *words, const char *at)
{
    for (size_t i = 0; i < words->count; i++)
        if (strncmp(at, words->word[i].name, strlen(words->word[i].name)) == 0)
            return &words->word[i];
    return NULL;
}

/* Words of the environment --------------------------------------------------------------------- */

/* "20260131T000000Z" of "2026-01-31T12:30:00Z": the day that the packages are of. */
static char *snapshot_of(const char *taken)
{
    return text_format("%.4s%.2s%.2sT000000Z", taken, strlen(taken) > 6 ? taken + 5 : "",
                       strlen(taken) > 9 ? taken + 8 : "");
}

/* The Debian release whose compiler measured, and a dated image of it. */
static const struct release {
    const char *compiler; /* is part of what it says of itself */
    const char *codename, *image;
} releases[] = {{"(Debian 12.", "bookworm", "debian:bookworm-20250811-slim"},
                {"(Debian 14.", "trixie", "debian:trixie-20250811-slim"}};

/* The first one if there is none; then *note says so. */
static const struct release *release_of(const char *compiler, char **note)
{
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        if (strstr(compiler, releases[i].compiler)) {
            *note = xstrdup("");
            return &releases[i];
        }
    *note = text_format("# The runs were measured with %s, which this release does not have: "
                        "simulated samples need not be equal here.\n",
                        compiler);
    return &releases[0];
}

static char *minutes(double seconds)
{
    return text_format("%.0f", fmax(1, ceil(seconds / 60)));
}

/* Tables --------------------------------------------------------------------------------------- */

static size_t claims_of_kind(const struct packed_run *run, const char *kind)
{
    size_t count = 0;
    json_each(claim, run->claims)
        count += strcmp(field_text(claim, "kind"), kind) == 0;
    return count;
}

static char *runs_table(const struct packing *packing)
{
    char *text;
    FILE *to = memory_stream(&text, NULL);
    fprintf(to, "| run | exact | ratios | verdicts | quick, min | full, min | page |\n"
                "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < packing->count; i++) {
        const struct packed_run *run = &packing->runs[i];
        char path[PACK_PATH_SIZE];
        struct stat page;
        static const char *const pages[] = {"report.html", "repro.html"};
        fprintf(to, "| %s | %zu | %zu | %zu | %.1f | %.1f |", run->name,
                claims_of_kind(run, "exact"), claims_of_kind(run, "ratio"),
                claims_of_kind(run, "verdict"), run->quick_seconds / 60, run->full_seconds / 60);
        for (int k = 0; k < 2; k++) {
            snprintf(path, sizeof path, "%s/%s", run->folder, pages[k]);
            if (stat(path, &page) == 0)
                fprintf(to, " [%s](runs/%s/%s)", pages[k], run->name, pages[k]);
        }
        fprintf(to, " |\n");
    }
    fclose(to);
    return text;
}

static char *outside_list(const struct packing *packing)
{
    char *text;
    FILE *to = memory_stream(&text, NULL);
    if (packing->pack->outside[0])
        fprintf(
            to,
            "| `outside/` | designs that live outside the tree; `reproduce.sh` builds them |\n");
    fclose(to);
    return text;
}

/* Filling -------------------------------------------------------------------------------------- */

static void words_make(struct words *words, const struct packing *packing)
{
    const struct pack *pack = packing->pack;
    const json_t *environment = packing->runs[0].environment;
    const json_t *cpu = json_object_get(environment, "cpu");
    const json_t *build = json_object_get(environment, "build");
    const json_t *memory = json_object_get(environment, "memory");
    char *note;
    const struct release *release = release_of(field_text(build, "compiler"), &note);
    word_add(words, "@TITLE@", xstrdup(pack->title ? pack->title : packing->base));
    word_add(words, "@REVISION@", xstrdup(packing->runs[0].revision));
    word_add(words, "@SNAPSHOT@", snapshot_of(field_text(environment, "taken")));
    word_add(words, "@IMAGE@", xstrdup(release->image));
    word_add(words, "@NOTE@", note);
    word_add(words, "@CODENAME@", xstrdup(release->codename));
    word_add(words, "@CPU@",
             text_format("%s, %s, %.0f GiB", field_text(cpu, "model"),
                         counted((uint64_t)field_integer(cpu, "threads"), "hardware thread").s,
                         field_number(memory, "total_bytes") / (1 << 30)));
    word_add(words, "@KERNEL@",
             xstrdup(field_text(json_object_get(environment, "kernel"), "release")));
    word_add(words, "@COMPILER@", xstrdup(field_text(build, "compiler")));
    word_add(words, "@TAKEN@", xstrdup(field_text(environment, "taken")));
    word_add(words, "@RUNS@", runs_table(packing));
    word_add(words, "@OUTSIDE@", outside_list(packing));
    word_add(words, "@CLAIMS@", text_format("%zu", pack->claims));
    word_add(words, "@TOLERANCE@", text_format("%.3g", 100 * pack->tolerance));
    word_add(words, "@QUICK@", minutes(fmin(pack->quick_seconds, 600)));
    word_add(words, "@FULL@", minutes(pack->full_seconds));
}

static void words_print(FILE *to, const char *text, const struct words *words)
{
    while (*text) {
        const struct word *word = *text == '@' ? word_at(words, text) : NULL;
        if (word)
            fputs(word->text, to);
        else
            fputc(*text, to);
        text += word ? strlen(word->name) : 1;
    }
}

static bool text_fill(const struct packing *packing, const char *from, const char *to, mode_t mode,
                      const struct words *words)
{
    char place[PACK_PATH_SIZE], name[PACK_NAME_SIZE], path[PACK_PATH_SIZE + 2 * PACK_NAME_SIZE];
    snprintf(name, sizeof name, "harness/artifact/%s", from);
    data_find(name, place, sizeof place);
    char *text = file_read(place, NULL, packing->to), *filled;
    if (!text)
        return false;
    size_t size;
    FILE *stream = memory_stream(&filled, &size);
    words_print(stream, text, words);
    fclose(stream);
    snprintf(path, sizeof path, "%s/%s", packing->draft, to);
    bool ok = file_replace(path, filled, size, packing->to) && chmod(path, mode) == 0;
    free(text);
    free(filled);
    return ok;
}

static bool claims_write(const struct packing *packing)
{
    char path[PACK_PATH_SIZE + 2 * PACK_NAME_SIZE];
    json_t *all = json_array();
    for (size_t i = 0; i < packing->count; i++)
        json_array_extend(all, packing->runs[i].claims);
    json_t *json = json_pack("{si ss sf so}", "schema", 1, "revision", packing->runs[0].revision,
                             "tolerance", packing->pack->tolerance, "claims", all);
    snprintf(path, sizeof path, "%s/claims.json", packing->draft);
    bool ok = file_replace_json(path, json, packing->to);
    json_decref(json);
    return ok;
}

bool pack_write_texts(const struct packing *packing)
{
    static const struct {
        const char *from, *to;
        mode_t mode;
    } files[] = {{"README.in", "README.md", 0644},
                 {"Dockerfile.in", "Dockerfile", 0644},
                 {"reproduce.in", "reproduce.sh", 0755}};
    char licence[PACK_PATH_SIZE + 2 * PACK_NAME_SIZE], copy[PACK_PATH_SIZE + 2 * PACK_NAME_SIZE];
    struct words words = {.count = 0};
    words_make(&words, packing);
    snprintf(licence, sizeof licence, "%s/source/LICENSE", packing->draft);
    snprintf(copy, sizeof copy, "%s/LICENSE", packing->draft);
    bool ok = file_copy(licence, copy, packing->to);
    for (size_t i = 0; ok && i < sizeof files / sizeof *files; i++)
        ok = text_fill(packing, files[i].from, files[i].to, files[i].mode, &words);
    for (size_t i = 0; i < words.count; i++)
        free(words.word[i].text);
    return ok && claims_write(packing);
}
