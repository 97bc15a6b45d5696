/* replay_file.c - see replay_file.h. */
#include "harness/trace/replay_file.h"

#include "harness/base/files.h"
#include "harness/base/memory.h"
#include "harness/base/yaml_place.h"
#include "harness/host/data_folder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACE_SIZE = 128, INSIDE_SIZE = 256 };

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

void replay_file_complain(struct replay_file *file, const char *at, const char *what)
{
    if (file->ok)
        error_print(file->error, "%s:%zu: %s%s", file->path, yaml_place_line(file->place, at), at,
                    what);
    file->ok = false;
}

char *replay_file_text(struct replay_file *file, bool optional, const char *format, ...)
{
    char at[PLACE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(at, sizeof at, format, args);
    va_end(args);
    const char *text = yaml_place_text(file->place, at);
    if (!text && !optional)
        replay_file_complain(file, at, " is missing");
    return text ? xstrdup(text) : NULL;
}

bool replay_file_has(const struct replay_file *file, const char *format, ...)
{
    char at[PLACE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(at, sizeof at, format, args);
    va_end(args);
    return yaml_place_exists(file->place, at);
}
