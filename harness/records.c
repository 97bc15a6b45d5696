/* records.c - see records.h: making, appending and reading records. */
#define _GNU_SOURCE
#include "harness/records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    RESERVE_AT_LEAST =
        256 << 10, /* no record comes near it: the largest part are histogram buckets */
    RESERVE_STEP = 1 << 20,
};

static uint64_t fnv1a(uint64_t hash, const char *text)
{
    do {
        hash ^= (unsigned char)*text;
        hash *= UINT64_C(0x100000001b3);
    } while (*text++); /* the NUL too, so that parts cannot run into one another */
    return hash;
}

void record_cell_id(char id[CELL_ID_SIZE], const char *variant, const char *workload, int workers,
                    const char *machine)
{
    char number[16];
    snprintf(number, sizeof number, "%d", workers);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = fnv1a(hash, variant);
    hash = fnv1a(hash, workload);
    hash = fnv1a(hash, number);
    hash = fnv1a(hash, machine);
    hash ^= hash >> 48; /* the bits that 12 digits leave out */
    snprintf(id, CELL_ID_SIZE, "%012" PRIx64, hash & ((UINT64_C(1) << 48) - 1));
}

void record_time_text(char text[32])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void record_fail(json_t *record, const char *reason)
{
    json_object_set_new(record, "status", json_string("failed"));
    json_t *text = json_string(reason);
    json_object_set_new(record, "reason", text ? text : json_string("reason is not UTF-8"));
}

const char *record_text(const json_t *record, const char *key)
{
    const char *text = json_string_value(json_object_get(record, key));
    return text ? text : "";
}

int record_file_create(struct record_file *file, const char *path)
{
    *file = (struct record_file){.fd = -1};
    if (strlen(path) >= sizeof file->path)
        return -ENAMETOOLONG;
    memcpy(file->path, path, strlen(path) + 1);
    file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return file->fd < 0 ? -errno : 0;
}

int record_file_reserve(struct record_file *file)
{
    if (file->reserved - file->size >= RESERVE_AT_LEAST)
        return 0;
    int64_t reserved = file->size + RESERVE_STEP;
    int error;
    do {
        error = fallocate(file->fd, FALLOC_FL_KEEP_SIZE, 0, reserved) < 0 ? -errno : 0;
    } while (error == -EINTR);
    /* File systems that cannot promise room show a full disk only when writing. */
    if (error && error != -EOPNOTSUPP && error != -ENOSYS)
        return error;
    file->reserved = reserved;
    return 0;
}

int record_file_append(struct record_file *file, const json_t *record)
{
    char *line = json_dumps(record, JSON_COMPACT);
    if (!line)
        abort();
    size_t size = strlen(line);
    line[size++] = '\n'; /* in place of the NUL */
    ssize_t n;
    do {
        n = write(file->fd, line, size);
    } while (n < 0 && errno == EINTR);
    int error = n < 0 ? -errno : 0;
    free(line);
    if (n >= 0 && (size_t)n < size)
        error = -ENOSPC;
    if (!error && fsync(file->fd) < 0 && errno != EINVAL && errno != EROFS)
        error = -errno;
    if (error) {
        /* Half a line would make the next reader stumble. Nothing more can be done if this fails
         * too: readers leave out a last line without a newline. */
        if (ftruncate(file->fd, file->size) == 0)
            lseek(file->fd, file->size, SEEK_SET);
        return error;
    }
    file->size += (int64_t)size;
    return 0;
}

int record_file_close(struct record_file *file)
{
    if (file->fd < 0)
        return 0;
    int error = 0;
    if (file->reserved > file->size &&
        ftruncate(file->fd, file->size) < 0) /* gives the rest back */
        error = -errno;
    if (close(file->fd) < 0 && !error)
        error = -errno;
    file->fd = -1;
    return error;
}

json_t *record_file_read(const char *path, char *error, size_t error_size)
{
    FILE *from = fopen(path, "re");
    if (!from) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        return NULL;
    }
    json_t *records = json_array();
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t length;
    while (records && (length = getline(&line, &capacity, from)) > 0 && line[length - 1] == '\n') {
        number++;
        json_error_t where;
        json_t *record = json_loadb(line, (size_t)length, 0, &where);
        if (!json_is_object(record)) {
            snprintf(error, error_size, "%s:%zu: not a record: %s", path, number,
                     record ? "no JSON object" : where.text);
            json_decref(record);
            json_decref(records);
            records = NULL;
        } else {
            json_array_append_new(records, record);
        }
    }
    if (records && ferror(from)) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        json_decref(records);
        records = NULL;
    }
    free(line);
    fclose(from);
    return records;
}
