/* test_fuzz.c - wrong files and specifications at random: whatever they hold, what reads them takes
 * them or says why not, in one line, or of a file in a line for each mistake.
 *
 * Mutates the project's own sweeps, models of machines, experiments and programs, specifications,
 * and records. Under AddressSanitizer this finds a reader that reads or writes out of bounds.
 * `make fuzz` tries more, from another seed each time:
 *   FUZZ_COUNT=N  so many mutations of each kind; default COUNT
 *   FUZZ_SEED=N   default 1
 * The input is written down before it is read. The first line says where it lies, for a program
 * that dies of it.
 */
#include "harness/base/build_info.h"
#include "harness/base/yaml_reader.h"
#include "harness/models/machine_file.h"
#include "harness/plan/sweep_file.h"
#include "harness/programs/service.h"
#include "harness/records/records.h"
#include "harness/repro/experiment.h"
#include "harness/spec/spec.h"
#include "workloads/program.h"

#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    COUNT = 200,
    TEXTS_MAX = 64,
    LIMIT_S = 120, /* for one input; only what never ends takes so long */
};

/* Random numbers: splitmix64, which differs from no seed to the next in quality. */
static uint64_t random_state;

static uint64_t random_next(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t random_below(size_t n)
{
    return n > 0 ? (size_t)(random_next() % n) : 0;
}

/* Texts to begin with ------------------------------------------------------------------------- */

struct texts {
    char *text[TEXTS_MAX];
    size_t count;
};

static char *file_read(const char *path)
{
    FILE *from = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0;
    if (!from || getdelim(&text, &capacity, '\0', from) < 0)
        fail_msg("cannot read %s", path);
    fclose(from);
    return text;
}

static struct texts texts_of(const char *pattern)
{
    struct texts texts = {.count = 0};
    char path[4096];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", build_source_dir(), pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc && texts.count < TEXTS_MAX; i++)
        texts.text[texts.count++] = file_read(found.gl_pathv[i]);
    globfree(&found);
    return texts;
}

static void texts_free(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->text[i]);
}

/* Mutations ----------------------------------------------------------------------------------- */

static const char *const words[] = {"",
                                    "-1",
                                    "0",
                                    "1e309",
                                    "18446744073709551616",
                                    "nan",
                                    "[",
                                    "]",
                                    "{",
                                    "}",
                                    ":",
                                    "- ",
                                    "&a",
                                    "*a",
                                    "\n",
                                    "\t",
                                    "on",
                                    "=",
                                    "off",
                                    "sim:",
                                    ",",
                                    "#",
                                    "'",
                                    "\"",
                                    "\\",
                                    "\xff",
                                    "99999999999999999999",
                                    "%s",
                                    "64",
                                    "~",
                                    "null",
                                    "|\n",
                                    "<<: *a"};

/* Replaces `cut` bytes at `at` by so many others. */
static char *spliced(char *text, size_t at, size_t cut, const char *with, size_t size)
{
    size_t length = strlen(text);
    at = at > length ? length : at;
    cut = cut > length - at ? length - at : cut;
    char *made = malloc(length - cut + size + 1);
    assert_non_null(made);
    memcpy(made, text, at);
    memcpy(made + at, with, size);
    memcpy(made + at + size, text + at + cut, length - at - cut + 1);
    free(text);
    return made;
}

/* One line of the text, its newline included, from somewhere. */
static const char *some_line(const char *text, size_t *size)
{
    const char *line = text + random_below(strlen(text) + 1);
    while (line > text && line[-1] != '\n')
        line--;
    *size = strcspn(line, "\n");
    *size += line[*size] == '\n';
    return line;
}

static char *mutated_once(char *text)
{
    size_t at = random_below(strlen(text) + 1), size;
    char byte = (char)(1 + random_below(255)), line[512];
    const char *word = words[random_below(sizeof words / sizeof *words)], *from;
    switch (random_below(6)) {
    case 0:
        return spliced(text, at, 1, &byte, 1);
    case 1:
        return spliced(text, at, 0, word, strlen(word));
    case 2:
        return spliced(text, at, 1 + random_below(40), "", 0);
    case 3:
        at += strcspn(text + at, " :,=\n");
        return spliced(text, at + 1, strcspn(text + at + (text[at] != '\0'), " :,=\n"), word,
                       strlen(word));
    default: /* a line again, or in the place of another one */
        from = some_line(text, &size);
        size = size < sizeof line ? size : sizeof line;
        memcpy(line, from, size);
        from = some_line(text, &at);
        return spliced(text, (size_t)(from - text), random_below(2) ? at : 0, line, size);
    }
}

static char *mutated(const char *text)
{
    char *made = strdup(text);
    for (size_t n = 1 + random_below(4); n > 0; n--)
        made = mutated_once(made);
    return made;
}

/* Readers ------------------------------------------------------------------------------------- */

static char input_path[64];
static bool input_is_wanted; /* by whoever looks into a failure */

/* Each returns true if it took the text, or false and why not. */
static bool sweep_takes(const char *text, struct error *error)
{
    struct sweep_file *sweep = sweep_file_parse(input_path, text, strlen(text), error);
    if (sweep)
        sweep_file_free(sweep);
    return sweep;
}

static bool model_takes(const char *text, struct error *error)
{
    (void)text;
    struct machine_file *file = machine_file_load(input_path, error);
    if (file)
        machine_file_free(file);
    return file;
}

static bool experiment_takes(const char *text, struct error *error)
{
    (void)text;
    struct experiment *experiment = experiment_load(input_path, error);
    if (experiment)
        experiment_free(experiment);
    return experiment;
}

static bool variant_takes(const char *text, struct error *error)
{
    struct variant_spec spec;
    bool taken = variant_spec_parse(&spec, text, error);
    if (taken)
        variant_spec_free(&spec);
    return taken;
}

static bool workload_takes(const char *text, struct error *error)
{
    struct workload_spec spec;
    bool taken = workload_spec_parse(&spec, text, error);
    if (taken)
        workload_spec_free(&spec);
    return taken;
}

static bool program_takes(const char *text, struct error *error)
{
    (void)text;
    struct program *program = program_load(input_path, error->text, sizeof error->text);
    program_free(program);
    return program;
}

static bool service_takes(const char *text, struct error *error)
{
    (void)text;
    struct service *service = service_load(input_path, error);
    service_free(service);
    return service;
}

static bool records_take(const char *text, struct error *error)
{
    (void)text;
    json_t *records = record_file_read(input_path, NULL, error);
    json_decref(records);
    return records;
}

/* The loop ------------------------------------------------------------------------------------ */

static uint64_t asked(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void input_write(const char *text)
{
    FILE *to = fopen(input_path, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

/* At least one line and at most `most`, each with text. */
static bool are_lines(const char *text, int most)
{
    int lines = 0;
    for (const char *line = text; line; lines++) {
        const char *end = strchr(line, '\n');
        if (line[0] == '\0' || line[0] == '\n')
            return false;
        line = end ? end + 1 : NULL;
    }
    return lines <= most;
}

static void try_each(const struct texts *texts, uint64_t count, int lines,
                     bool (*takes)(const char *text, struct error *error))
{
    static struct error error;
    size_t taken = 0;
    for (uint64_t i = 0; i < count; i++) {
        char *text = mutated(texts->text[random_below(texts->count)]);
        input_write(text);
        *error.text = '\0';
        alarm(LIMIT_S);
        bool was_taken = takes(text, &error);
        alarm(0);
        free(text);
        taken += was_taken;
        bool is_bug = strstr(error.text, "libcyaml") != NULL; /* it refuses what the reader took */
        input_is_wanted = !was_taken && (is_bug || !are_lines(error.text, lines));
        if (input_is_wanted)
            fail_msg("%s is refused by \"%s\", which is not 1 to %d lines", input_path, error.text,
                     lines);
    }
    print_message("# %zu of %llu taken\n", taken, (unsigned long long)count);
}

static int input_begin(void **state)
{
    (void)state;
    random_state = asked("FUZZ_SEED", 1);
    snprintf(input_path, sizeof input_path, "/tmp/schedlab-fuzz.XXXXXX");
    int fd = mkstemp(input_path);
    if (fd < 0)
        return -1;
    print_message("# FUZZ_SEED=%llu, the input lies in %s\n", (unsigned long long)random_state,
                  input_path);
    return close(fd);
}

/* The input that a test has failed of stays. */
static int input_end(void **state)
{
    (void)state;
    return input_is_wanted ? 0 : unlink(input_path);
}

static void files_are_taken_or_refused(const char *pattern,
                                       bool (*takes)(const char *text, struct error *error))
{
    struct texts texts = texts_of(pattern);
    try_each(&texts, asked("FUZZ_COUNT", COUNT), YAML_MISTAKES_MAX + 1, takes);
    texts_free(&texts);
}

static void sweeps_are_taken_or_refused(void **state)
{
    (void)state;
    files_are_taken_or_refused("harness/sweeps/*.yaml", sweep_takes);
}

static void models_are_taken_or_refused(void **state)
{
    (void)state;
    files_are_taken_or_refused("harness/machines/*.yaml", model_takes);
}

static void experiments_are_taken_or_refused(void **state)
{
    (void)state;
    files_are_taken_or_refused("harness/experiments/e*.yaml", experiment_takes);
}

static void programs_are_taken_or_refused(void **state)
{
    (void)state;
    struct texts texts = texts_of("examples/*.slp");
    try_each(&texts, asked("FUZZ_COUNT", COUNT), 1, program_takes);
    texts_free(&texts);
    files_are_taken_or_refused("examples/service.yaml", service_takes);
}

static void specifications_are_taken_or_refused(void **state)
{
    (void)state;
    static char *const variants[] = {"gmp,lock=ticket,runnext=off,tick=64,steal=half",
                                     "grq,lock=mcs,netpoll=thread", "contsteal,frames=pooled",
                                     "perm,victims=random,preempt=signal,slice_ns=1m"};
    static char *const others[] = {"fib,n=20,spawn=both", "mpmc,messages=2k,buffer=0",
                                   "uts,tree=t1", "hog,hogs=2,chunks=200,calls=check"};
    struct texts texts = {.count = 4};
    memcpy(texts.text, variants, sizeof variants);
    try_each(&texts, asked("FUZZ_COUNT", COUNT), 1, variant_takes);
    memcpy(texts.text, others, sizeof others);
    try_each(&texts, asked("FUZZ_COUNT", COUNT), 1, workload_takes);
}

static json_t *record_make(int seed)
{
    return json_pack("{si ss ss ss ss ss ss ss si si}", "schema", RECORD_SCHEMA, "cell", "c",
                     "status", "ok", "variant", "gmp", "variant_name", "gmp", "workload", "fib",
                     "answer", "1", "digest", "1", "seed", seed, "workers", 2);
}

static void records_are_taken_or_refused(void **state)
{
    (void)state;
    struct record_file file;
    unlink(input_path); /* no file of records is ever overwritten */
    assert_int_equal(record_file_create(&file, input_path), 0);
    for (int seed = 0; seed < 20; seed++) {
        json_t *record = record_make(seed);
        assert_int_equal(record_file_reserve(&file), 0);
        assert_int_equal(record_file_append(&file, record), 0);
        json_decref(record);
    }
    assert_int_equal(record_file_close(&file), 0);
    struct texts texts = {.text = {file_read(input_path)}, .count = 1};
    try_each(&texts, asked("FUZZ_COUNT", COUNT), 1, records_take);
    texts_free(&texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_are_taken_or_refused),
        cmocka_unit_test(models_are_taken_or_refused),
        cmocka_unit_test(experiments_are_taken_or_refused),
        cmocka_unit_test(programs_are_taken_or_refused),
        cmocka_unit_test(specifications_are_taken_or_refused),
        cmocka_unit_test(records_are_taken_or_refused),
    };
    return cmocka_run_group_tests(tests, input_begin, input_end);
}
