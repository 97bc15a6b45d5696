/* sweep_resume.c - see sweep_resume.h. */
#include "harness/sweep/sweep_resume.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/doctor/environment.h"
#include "harness/plan/sweep_origin.h"

#include <string.h>

enum { PATH_SIZE = 4096 };

/* The run that is being resumed, on the way to an answer. */
struct check {
    struct sweep_resume *resume;
    json_t *then;         /* the run's environment */
    json_t *differences;  /* lines */
    char copy[PATH_SIZE]; /* path of the run's sweep.yaml */
    struct error *error;
};

static void differ(struct check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void differ(struct check *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    json_array_append_new(check->differences, json_vsprintf(format, args));
    va_end(args);
}

/* The file that the run was begun with must be the one in its folder, and the user's. */
static bool files_compare(struct check *check)
{
    char copy[FINGERPRINT_SIZE], given[FINGERPRINT_SIZE];
    const json_t *numbers = json_object_get(check->then, "sweep");
    const char *begun = field_text(numbers, "fingerprint");
    const char *file = check->resume->file;
    if (!sweep_origin_fingerprint(check->copy, copy, check->error) ||
        (file && !sweep_origin_fingerprint(file, given, check->error)))
        return false;
    if (*begun && strcmp(begun, copy) != 0)
        differ(check, "%s was changed since the run began", check->copy);
    if (file && strcmp(given, copy) != 0) {
        differ(check, "%s differs from %s", file, check->copy);
        check->resume->other_file = true;
    }
    return true;
}

static void programs_compare(struct check *check, const json_t *now)
{
    for (enum origin_part part = 0; part < ORIGIN_PARTS; part++) {
        const char *was = sweep_origin_part(check->then, part);
        const char *is = sweep_origin_part(now, part);
        if (strcmp(was, is) == 0)
            continue;
        check->resume->elsewhere |= part == ORIGIN_CPU;
        differ(check, "%s: the run began with %s, this is %s", sweep_origin_part_name(part), was,
               is);
    }
}

/* Refuses, or with force says what differs. */
static bool differences_judge(const struct check *check, FILE *messages)
{
    size_t count = json_array_size(check->differences);
    if (count > 0 && !check->resume->force)
        return error_set(check->error, "%s; --force goes on nevertheless",
                         json_string_value(json_array_get(check->differences, 0)));
    json_each(line, check->differences)
        fprintf(messages, "in spite of it: %s\n", json_string_value(line));
    return true;
}

/* Adds this resumption to what will be the run's environment, with what had changed. */
static void resumption_add(struct check *check, const json_t *now)
{
    json_t *resumed = json_object_get(check->then, "resumed");
    if (!json_is_array(resumed)) {
        resumed = json_array();
        json_object_set_new(check->then, "resumed", resumed);
    }
    json_array_append_new(resumed, json_pack("{ss ss sO}", "taken", field_text(now, "taken"),
                                             "revision", sweep_origin_part(now, ORIGIN_REVISION),
                                             "differences", check->differences));
    check->resume->environment = json_incref(check->then);
}

/* Pre: nothing differs, or all differences are forgiven. */
static struct sweep_file *sweep_load(struct check *check)
{
    const char *path = check->resume->other_file ? check->resume->file : check->copy;
    struct sweep_file *sweep = sweep_file_load(path, check->error);
    if (!sweep)
        return NULL;
    int64_t seed = field_integer(json_object_get(check->then, "sweep"), "seed");
    sweep_origin_apply_machine(check->then, sweep);
    if (!check->resume->other_file)
        sweep_origin_apply(check->then, sweep);
    sweep->seed = seed;
    return sweep;
}

static struct sweep_file *check_and_load(struct check *check, FILE *messages)
{
    json_t *now = environment_to_json();
    programs_compare(check, now);
    struct sweep_file *sweep = NULL;
    if (files_compare(check) && differences_judge(check, messages))
        sweep = sweep_load(check);
    if (sweep)
        resumption_add(check, now);
    json_decref(now);
    return sweep;
}

static void copy_path(const struct sweep_resume *resume, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/sweep.yaml", resume->folder);
}

/* Positions and blocks of a run of several seeds begin anew with each; only parts of one run can be
 * merged into something that goes on. */
static bool seeds_are_one(const struct check *check)
{
    json_t *seeds = json_object();
    json_each(part, json_object_get(check->then, "merged")) {
        json_each(seed, json_object_get(part, "seeds")) {
            char text[32];
            snprintf(text, sizeof text, "%lld", json_integer_value(seed));
            json_object_set_new(seeds, text, json_true());
        }
    }
    size_t count = json_object_size(seeds);
    json_decref(seeds);
    if (count > 1)
        error_print(
            check->error,
            "%s was merged from runs of %zu seeds; valid is one of those runs: resume it, and "
            "merge again",
            check->resume->folder, count);
    return count <= 1;
}

struct sweep_file *sweep_resume_load(struct sweep_resume *resume, FILE *messages,
                                     struct error *error)
{
    struct check check = {.resume = resume, .error = error};
    check.then = sweep_origin_read(resume->folder, error);
    if (!check.then)
        return NULL;
    check.differences = json_array();
    copy_path(resume, check.copy);
    const json_t *options = json_object_get(check.then, "sweep");
    resume->hyperfine = strcmp(field_text(options, "timer"), "hyperfine") == 0;
    struct sweep_file *sweep = NULL;
    if (seeds_are_one(&check))
        sweep = check_and_load(&check, messages);
    json_decref(check.differences);
    json_decref(check.then);
    return sweep;
}

bool sweep_resume_record(struct sweep_resume *resume, struct error *error)
{
    char path[PATH_SIZE], fingerprint[FINGERPRINT_SIZE];
    copy_path(resume, path);
    if (resume->other_file) {
        if (!file_copy(resume->file, path, error) ||
            !sweep_origin_fingerprint(path, fingerprint, error))
            return false;
        json_object_set_new(json_object_get(resume->environment, "sweep"), "fingerprint",
                            json_string(fingerprint));
    }
    snprintf(path, sizeof path, "%s/environment.json", resume->folder);
    return file_replace_json(path, resume->environment, error);
}

void sweep_resume_free(struct sweep_resume *resume)
{
    json_decref(resume->environment);
    resume->environment = NULL;
}
