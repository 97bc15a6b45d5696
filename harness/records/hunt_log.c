/* hunt_log.c - see hunt_log.h. */
#include "harness/records/hunt_log.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };
enum { LEVEL_MAX = 63 }; /* bits of a hash that are zero */

static bool path_of(const char *folder, char path[PATH_SIZE])
{
    return snprintf(path, PATH_SIZE, "%s/hunt.jsonl", folder) < PATH_SIZE;
}

bool hunt_log_is_one(const char *folder)
{
    char path[PATH_SIZE];
    return path_of(folder, path) && access(path, F_OK) == 0;
}

static bool fail(const char *path, int number, struct error *error)
{
    if (number == -EWOULDBLOCK)
        error_print(error, "%s: another process hunts into it", path);
    else
        error_print(error, "%s: %s", path, strerror(-number));
    return false;
}

char *hunt_log_cell_text(const json_t *cell)
{
    return text_format("%s %s %lld %s %s", field_text(cell, "variant"),
                       field_text(cell, "workload"), field_integer(cell, "workers"),
                       field_text(cell, "memory"), field_text(cell, "algorithm"));
}

static char *key_of(const json_t *cell, json_int_t seed, json_int_t from)
{
    char *text = hunt_log_cell_text(cell);
    char *key = text_format("%s %lld %lld", text, seed, from);
    free(text);
    return key;
}

json_t *hunt_log_part(const struct hunt_log *log, const json_t *cell, json_int_t seed,
                      json_int_t from)
{
    char *key = key_of(cell, seed, from);
    json_t *part = json_object_get(log->known, key);
    free(key);
    return part;
}

/* Takes the part; one that is there already is dropped. */
static void part_keep(struct hunt_log *log, json_t *part)
{
    char *key = key_of(part, field_integer(part, "seed"), field_integer(part, "from"));
    if (!json_object_get(log->known, key)) {
        json_object_set(log->known, key, part);
        json_array_append(log->parts, part);
    }
    json_decref(part);
    free(key);
}

static void begin(struct hunt_log *log)
{
    *log = (struct hunt_log){.parts = json_array(), .known = json_object(), .file.fd = -1};
}

static bool header_is_valid(const json_t *header)
{
    return field_integer(header, "schema") == HUNT_LOG_SCHEMA &&
           json_array_size(json_object_get(header, "cells")) > 0 &&
           json_array_size(json_object_get(header, "seeds")) > 0 &&
           field_integer(header, "executions") > 0;
}

static bool part_is_valid(const json_t *part)
{
    json_int_t level = field_integer(json_object_get(part, "orders"), "level");
    return *field_text(part, "variant") && *field_text(part, "workload") &&
           *field_text(part, "memory") && *field_text(part, "algorithm") &&
           json_is_integer(json_object_get(part, "from")) && field_integer(part, "from") >= 0 &&
           field_integer(part, "executions") > 0 && level >= 0 && level <= LEVEL_MAX;
}

/* A power cut may leave the newline of the last line on the disk, and not what stood before it. */
static bool line_is_torn(const char *line, size_t length, FILE *from)
{
    json_t *json = json_loadb(line, length, 0, NULL);
    bool is_json = json_is_object(json);
    json_decref(json);
    if (is_json)
        return false;
    int next = fgetc(from);
    if (next != EOF)
        ungetc(next, from);
    return next == EOF && !ferror(from);
}

/* Sets *whole to the bytes up to the end of the last whole line. */
static bool lines_read(struct hunt_log *log, FILE *from, const char *path, int64_t *whole,
                       struct error *error)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    bool valid = true;
    for (*whole = 0; valid && (length = getline(&line, &room, from)) > 0; *whole += length) {
        if (line[length - 1] != '\n')
            break;
        json_t *json = record_line_parse(line, (size_t)length);
        if (!json && line_is_torn(line, (size_t)length, from))
            break;
        valid = number++ == 0 ? header_is_valid(json) : part_is_valid(json);
        if (!valid)
            json_decref(json);
        else if (number == 1)
            log->header = json;
        else
            part_keep(log, json);
    }
    free(line);
    if (valid && log->header)
        return true;
    return error_set(error, "%s:%zu: no line of a campaign of this version", path,
                     number ? number : 1);
}

bool hunt_log_open(struct hunt_log *log, const char *folder, bool writes, struct error *error)
{
    char path[PATH_SIZE];
    int64_t whole;
    begin(log);
    if (!path_of(folder, path))
        return fail("the folder", -ENAMETOOLONG, error);
    FILE *from = fopen(path, "re");
    if (!from)
        return fail(path, -errno, error);
    int failed = writes ? record_file_open(&log->file, path) : 0;
    bool ok = failed ? fail(path, failed, error) : lines_read(log, from, path, &whole, error);
    fclose(from);
    if (ok && writes) {
        failed = record_file_cut(&log->file, whole);
        ok = !failed || fail(path, failed, error);
    }
    return ok;
}

static bool append(struct hunt_log *log, const json_t *line, struct error *error)
{
    int failed = record_file_reserve(&log->file);
    if (!failed)
        failed = record_file_append(&log->file, line);
    return !failed || fail(log->file.path, failed, error);
}

bool hunt_log_create(struct hunt_log *log, const char *folder, json_t *header, struct error *error)
{
    char path[PATH_SIZE];
    begin(log);
    log->header = header;
    if (!path_of(folder, path))
        return fail("the folder", -ENAMETOOLONG, error);
    int failed = record_file_create(&log->file, path);
    return failed ? fail(path, failed, error) : append(log, header, error);
}

bool hunt_log_covers(const struct hunt_log *log)
{
    return json_is_true(json_object_get(log->header, "coverage"));
}

bool hunt_log_add(struct hunt_log *log, json_t *part, struct error *error)
{
    bool added = append(log, part, error);
    part_keep(log, part);
    return added;
}

void hunt_log_close(struct hunt_log *log)
{
    record_file_close(&log->file);
    json_decref(log->header);
    json_decref(log->known);
    json_decref(log->parts);
}
