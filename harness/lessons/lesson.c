/* lesson.c - see lesson.h: reading and checking. */
#include "harness/lessons/lesson.h"

#include "harness/base/memory.h"
#include "harness/base/suggest.h"
#include "harness/base/yaml_reader.h"
#include "harness/host/data_folder.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, PLACE_SIZE = 64 };

/* Schema --------------------------------------------------------------------------------------- */

static const cyaml_schema_field_t stop_fields[] = {
    YAML_TEXT("event", struct lesson_stop, event),
    YAML_TEXT("says", struct lesson_stop, says),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t stop_schema = YAML_ENTRY(struct lesson_stop, stop_fields);

static const cyaml_schema_field_t run_fields[] = {
    YAML_TEXT("says", struct lesson_run, says),
    YAML_TEXT("command", struct lesson_run, command),
    YAML_LIST("expect", struct lesson_run, expect, yaml_text),
    YAML_MAY_TEXT("shows", struct lesson_run, shows),
    YAML_MAY_TEXT("tells", struct lesson_run, tells),
    YAML_MAY_LIST("stops", struct lesson_run, stops, stop_schema),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t run_schema = YAML_ENTRY(struct lesson_run, run_fields);

static const cyaml_schema_field_t lesson_fields[] = {
    YAML_MAY_TEXT("part", struct lesson, part),
    YAML_TEXT("title", struct lesson, title),
    YAML_TEXT("question", struct lesson, question),
    YAML_TEXT("text", struct lesson, text),
    YAML_TEXT("learned", struct lesson, learned),
    YAML_MAY_TEXT("account", struct lesson, account),
    YAML_LIST("runs", struct lesson, runs, run_schema),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t lesson_schema = YAML_FILE(struct lesson, lesson_fields);

static const struct yaml_owner owners[] = {
    {lesson_fields, "a lesson"}, {run_fields, "a run"}, {stop_fields, "a stop"}, {NULL, NULL}};

/* Checks --------------------------------------------------------------------------------------- */

static bool regex_check(const struct yaml_reader *reader, const char *text, const char *place)
{
    regex_t regex;
    char why[128];
    int wrong = regcomp(&regex, text, REG_EXTENDED | REG_NEWLINE | REG_NOSUB);
    if (wrong) {
        regerror(wrong, &regex, why, sizeof why);
        return yaml_complain(reader, yaml_line(reader, "%s", place),
                             "\"%s\" is no regular expression: %s", text, why);
    }
    regfree(&regex);
    return true;
}

/* Its word, with a blank or the end behind it. */
static bool begins_with(const char *command, const char *word)
{
    size_t length = strlen(word);
    return strncmp(command, word, length) == 0 && (!command[length] || command[length] == ' ');
}

static bool command_check(const struct yaml_reader *reader, const struct lesson_run *run,
                          const char *place)
{
    size_t line = yaml_line(reader, "%s/command", place);
    const char *command = run->command;
    bool is_trace = begins_with(command, "trace");
    if (!is_trace && !begins_with(command, "run") && !begins_with(command, "diff"))
        return yaml_complain(reader, line,
                             "the command is \"%s\"; valid: run, trace or diff, and its arguments",
                             command);
    if (strstr(command, "native"))
        return yaml_complain(reader, line,
                             "the command runs on real threads, where no two runs are "
                             "the same; valid: --machine sim:MODEL");
    if (begins_with(command, "run") && !strstr(command, "--machine sim:"))
        return yaml_complain(reader, line,
                             "the command has no machine; valid: --machine sim:MODEL, "
                             "where each run is the same");
    if (run->stops_count > 0 &&
        (!is_trace || strstr(command, "--format") || strstr(command, "--replay")))
        return yaml_complain(reader, line,
                             "a run with stops has the command \"%s\"; valid: trace "
                             "without --format and --replay",
                             command);
    return true;
}

static bool run_check(const struct yaml_reader *reader, struct lesson_run *run, unsigned r)
{
    char place[PLACE_SIZE], at[2 * PLACE_SIZE];
    snprintf(place, sizeof place, "runs/%u", r);
    run->line = yaml_line(reader, "%s", place);
    bool ok = command_check(reader, run, place);
    for (unsigned i = 0; i < run->expect_count; i++) {
        snprintf(at, sizeof at, "%s/expect/%u", place, i);
        ok = regex_check(reader, run->expect[i], at) && ok;
    }
    snprintf(at, sizeof at, "%s/shows", place);
    if (run->shows)
        ok = regex_check(reader, run->shows, at) && ok;
    for (unsigned i = 0; i < run->stops_count; i++) {
        snprintf(at, sizeof at, "%s/stops/%u/event", place, i);
        run->stops[i].line = yaml_line(reader, "%s", at);
        ok = regex_check(reader, run->stops[i].event, at) && ok;
    }
    return ok;
}

static bool lesson_check(const struct yaml_reader *reader, struct lesson *lesson)
{
    bool ok = true;
    for (unsigned r = 0; r < lesson->runs_count; r++)
        ok = run_check(reader, &lesson->runs[r], r) && ok;
    return ok;
}

/* Reading -------------------------------------------------------------------------------------- */

static void lesson_free(struct lesson *lesson)
{
    free(lesson->name);
    free(lesson->path);
    yaml_data_free(&lesson_schema, lesson, 0);
}

/* NULL, and a line in error for each mistake: "PATH:LINE: ...". */
static struct lesson *lesson_load(const char *path, struct error *error)
{
    static const struct yaml_schema schema = {
        .value = &lesson_schema, .owners = owners, .where = "harness/lessons/lesson.h"};
    struct yaml_reader reader;
    if (!yaml_reader_open(&reader, path, error))
        return NULL;
    struct lesson *lesson = yaml_reader_load(&reader, &schema, NULL);
    if (lesson && (!lesson_check(&reader, lesson) || *error->text)) {
        lesson_free(lesson);
        lesson = NULL;
    }
    yaml_reader_close(&reader);
    if (lesson)
        lesson->path = xstrdup(path);
    return lesson;
}

/* Reads the file with that name. Its number must be the one that is due. */
static bool lessons_add(struct lessons *lessons, const char *folder, const char *name,
                        struct error *error)
{
    char path[PATH_SIZE];
    size_t number = lessons->count + 1;
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    if (strtoul(name, NULL, 10) != number || strlen(name) < 4 || name[2] != '-')
        return error_set(error, "%s: the name is not valid; valid: %02zu-NAME.yaml", path, number);
    struct lesson *lesson = lesson_load(path, error);
    if (!lesson)
        return false;
    lesson->number = (unsigned)number;
    lesson->name = xstrdup(name);
    array_add(lessons->list, lessons->count) = lesson;
    return true;
}

bool lessons_load(struct lessons *lessons, struct error *error)
{
    char folder[PATH_SIZE / 2];
    *lessons = (struct lessons){NULL, 0};
    if (!data_folder_find("lessons", folder, sizeof folder, error))
        return false;
    char **names = data_folder_names("lessons", error);
    bool ok = names != NULL;
    for (size_t i = 0; ok && names[i]; i++)
        ok = lessons_add(lessons, folder, names[i], error);
    data_folder_names_free(names);
    if (ok && lessons->count == 0) {
        error_print(error, "there is no lesson in %s", folder);
        ok = false;
    }
    if (!ok)
        lessons_free(lessons);
    return ok;
}

void lessons_free(struct lessons *lessons)
{
    for (size_t i = 0; i < lessons->count; i++)
        lesson_free(lessons->list[i]);
    free(lessons->list);
    *lessons = (struct lessons){NULL, 0};
}

const struct lesson *lesson_find(const struct lessons *lessons, const char *text, char *valid,
                                 size_t valid_size)
{
    char *end;
    struct suggest near = suggest_for(text);
    unsigned long number = strtoul(text, &end, 10);
    bool is_number = *text && !*end;
    for (size_t i = 0; i < lessons->count; i++) {
        const struct lesson *lesson = lessons->list[i];
        if ((is_number && lesson->number == number) || strcmp(text, lesson->name) == 0 ||
            strcmp(text, lesson->name + 3) == 0)
            return lesson;
        suggest_offer(&near, lesson->name + 3);
    }
    if (is_number || near.count == 0)
        snprintf(valid, valid_size, "valid: 1 to %zu", lessons->count);
    else
        snprintf(valid, valid_size, "%s", suggest_text(&near, "", "`schedlab lesson`").s);
    return NULL;
}
