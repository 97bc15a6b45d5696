/* replay_file.c - see replay_file.h. */
#include "harness/trace/replay_file.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/base/yaml_place.h"
#include "harness/host/data_folder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { INSIDE_SIZE = 256 };

bool replay_file_open(struct replay_file *file, const char *name, struct error *error)
{
    char inside[INSIDE_SIZE], problem[256];
    size_t size, line;
    *file = (struct replay_file){.error = error, .ok = true};
    snprintf(inside, sizeof inside, "harness/replays/%s.yaml", name);
    data_find(inside, file->path, sizeof file->path);
    char *text = file_read(file->path, &size, error);
    if (!text)
        return false;
    file->place = yaml_place_open(text, size, &line, problem, sizeof problem);
    free(text);
    return file->place || error_set(error, "%s:%zu: %s", file->path, line, problem);
}

void replay_file_close(struct replay_file *file)
{
    yaml_place_close(file->place);
}

void replay_place(char place[REPLAY_PLACE], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(place, REPLAY_PLACE, format, args);
    va_end(args);
}

void replay_file_complain(struct replay_file *file, const char *at, const char *what)
{
    if (file->ok)
        error_print(file->error, "%s:%zu: %s%s", file->path, yaml_place_line(file->place, at), at,
                    what);
    file->ok = false;
}

char *replay_file_text(struct replay_file *file, bool optional, const char *format, ...)
{
    char at[REPLAY_PLACE];
    va_list args;
    va_start(args, format);
    vsnprintf(at, sizeof at, format, args);
    va_end(args);
    const char *text = yaml_place_text(file->place, at);
    if (!text && !optional)
        replay_file_complain(file, at, " is missing");
    return text ? xstrdup(text) : NULL;
}

int replay_file_number(struct replay_file *file, const char *at, int otherwise, int most)
{
    if (otherwise && !replay_file_has(file, "%s", at))
        return otherwise;
    char *text = replay_file_text(file, false, "%s", at), *end = text, what[48];
    long number = text ? strtol(text, &end, 10) : 0;
    bool ok = text && *text && *end == '\0' && number >= 1 && number <= most;
    free(text);
    snprintf(what, sizeof what, ": expected 1 to %d", most);
    if (!ok)
        replay_file_complain(file, at, what);
    return ok ? (int)number : 1;
}

char *replay_file_degree(struct replay_file *file, const char *at)
{
    static const char *const degrees[] = {"right", "imprecise", "outdated", "wrong", NULL};
    char *degree = replay_file_text(file, false, "%s", at);
    if (degree && !text_is_word(degree, degrees))
        replay_file_complain(file, at, ": no degree; valid: right, imprecise, outdated, wrong");
    return degree;
}

void replay_file_keys(struct replay_file *file, const char *at, const char *const *keys)
{
    const char *key;
    for (size_t i = 0; (key = yaml_place_key(file->place, at, i)); i++) {
        char place[REPLAY_PLACE], what[256] = ": no such key; valid:";
        if (text_is_word(key, keys))
            continue;
        replay_place(place, "%s%s%s", at, *at ? "/" : "", key);
        for (size_t k = 0; keys[k]; k++)
            text_add(what, sizeof what, "%s %s", k ? "," : "", keys[k]);
        replay_file_complain(file, place, what);
    }
}

bool replay_file_has(const struct replay_file *file, const char *format, ...)
{
    char at[REPLAY_PLACE];
    va_list args;
    va_start(args, format);
    vsnprintf(at, sizeof at, format, args);
    va_end(args);
    return yaml_place_exists(file->place, at);
}
