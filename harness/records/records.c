/* records.c - see records.h: making, appending and reading records. */
#include "harness/records/records.h"

#include "harness/base/fnv1a.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/counters/counter_names.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum {
    RESERVE_AT_LEAST =
        256 << 10, /* no record comes near it: the largest part are histogram buckets */
    RESERVE_STEP = 1 << 20,
};

/* The end of a line. */
#define CHECK_FORMAT ",\"check\":\"%016" PRIx64 "\"}\n"
enum { CHECK_SIZE = sizeof ",\"check\":\"0123456789abcdef\"}\n" - 1 };

void record_cell_id(char id[CELL_ID_SIZE], const char *variant, const char *workload, int workers,
                    const char *machine)
{
    char number[16];
    snprintf(number, sizeof number, "%d", workers);
    const char *const parts[] = {variant, workload, number, machine};
    uint64_t hash = FNV1A_SEED;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) /* the NUL keeps them apart */
        hash = fnv1a(hash, parts[i], strlen(parts[i]) + 1);
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

void record_skip(json_t *record, const char *why)
{
    json_object_set_new(record, "status", json_string("skipped"));
    json_object_set_new(record, "reason", json_string(why));
}

bool record_is(const json_t *record, const char *status)
{
    return strcmp(field_text(record, "status"), status) == 0;
}

const json_t *record_event(const json_t *record, const char *name)
{
    size_t prefix = strlen(COUNTER_SDE_PREFIX);
    json_each(event, json_object_get(record, "events")) {
        const char *has = field_text(event, "name");
        if (strcmp(has, name) == 0 ||
            (strncmp(has, COUNTER_SDE_PREFIX, prefix) == 0 && strcmp(has + prefix, name) == 0))
            return event;
    }
    return NULL;
}

double record_event_value(const json_t *event)
{
    double per_op = field_number(event, "per_op");
    return isnan(per_op) ? field_number(event, "value") : per_op;
}

/* The upper end of the bucket that holds the quantile. */
static double bucket_quantile(const json_t *latency, double quantile)
{
    double wanted = ceil(quantile * field_number(latency, "count")), seen = 0;
    json_each(bucket, json_object_get(latency, "buckets")) {
        seen += json_number_value(json_array_get(bucket, 1));
        if (seen >= wanted)
            return fmin(json_number_value(json_array_get(bucket, 0)),
                        field_number(latency, "max_ns")); /* a bucket may end after the longest */
    }
    return NAN;
}

double record_latency_ns(const json_t *record, double quantile)
{
    static const struct {
        double quantile;
        const char *key;
    } known[] = {
        {0.5, "p50_ns"}, {0.9, "p90_ns"}, {0.99, "p99_ns"}, {0.999, "p999_ns"}, {1, "max_ns"}};
    const json_t *latency = json_object_get(record, "latency");
    if (!(quantile >= 1) && !(field_number(latency, "count") * (1 - quantile) >= 1))
        return NAN;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].quantile == quantile)
            return field_number(latency, known[i].key);
    return bucket_quantile(latency, quantile);
}

char *record_event_names(const json_t *record, const char *separator)
{
    char *names = NULL;
    size_t i;
    const json_t *event;
    FILE *to = memory_stream(&names, NULL);
    json_array_foreach(json_object_get(record, "events"), i, event)
        fprintf(to, "%s%s", i ? separator : "", field_text(event, "name"));
    fclose(to);
    return names;
}

/* The lock goes when the file is closed, however the process ends. */
static int file_open(struct record_file *file, const char *path, int flags)
{
    *file = (struct record_file){.fd = -1};
    if (snprintf(file->path, sizeof file->path, "%s", path) >= (int)sizeof file->path)
        return -ENAMETOOLONG;
    file->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
    if (file->fd < 0)
        return -errno;
    if (flock(file->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        close(file->fd);
        file->fd = -1;
        return -EWOULDBLOCK;
    }
    return 0;
}

int record_file_create(struct record_file *file, const char *path)
{
    return file_open(file, path, O_EXCL);
}

int record_file_open(struct record_file *file, const char *path)
{
    return file_open(file, path, 0);
}

int record_file_cut(struct record_file *file, int64_t whole)
{
    /* Also gives back what an earlier writer had reserved. */
    if (ftruncate(file->fd, whole) < 0 || lseek(file->fd, whole, SEEK_SET) < 0)
        return -errno;
    file->size = whole;
    return 0;
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

/* 0 or -errno; also where there is nothing to wait for. */
static int file_sync(const struct record_file *file)
{
    return fsync(file->fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
}

/* The record's line, whose last key is the hash of all that stands before it; free() it. */
static char *line_of(const json_t *record)
{
    char *text = json_dumps(record, JSON_COMPACT), *line = NULL;
    if (!text)
        memory_die();
    size_t size = strlen(text) - 1; /* without the closing brace */
    line = text_format("%.*s" CHECK_FORMAT, (int)size, text, fnv1a(FNV1A_SEED, text, size));
    free(text);
    return line;
}

int record_file_append(struct record_file *file, const json_t *record)
{
    char *line = line_of(record);
    size_t size = strlen(line);
    ssize_t n;
    do {
        n = write(file->fd, line, size);
    } while (n < 0 && errno == EINTR);
    int error = n < 0 ? -errno : 0;
    free(line);
    if (n >= 0 && (size_t)n < size)
        error = -ENOSPC;
    file->behind = file->safe_elsewhere;
    if (!error && !file->behind)
        error = file_sync(file);
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
    int error = file->behind ? file_sync(file) : 0;
    if (file->reserved > file->size && ftruncate(file->fd, file->size) < 0 &&
        !error) /* gives the rest back */
        error = -errno;
    if (close(file->fd) < 0 && !error)
        error = -errno;
    file->fd = -1;
    return error;
}

/* Reading ------------------------------------------------------------------------------------- */

int record_reader_open(struct record_reader *reader, const char *path)
{
    *reader = (struct record_reader){.number = 0};
    if (snprintf(reader->path, sizeof reader->path, "%s", path) >= (int)sizeof reader->path)
        return -ENAMETOOLONG;
    reader->from = fopen(path, "re");
    return reader->from ? 0 : -errno;
}

/* The tree holds the hashes themselves. */
static void hash_forget(void *hash)
{
    (void)hash;
}

void record_reader_close(struct record_reader *reader)
{
    if (reader->from)
        fclose(reader->from);
    free(reader->line);
    tdestroy(reader->hashes, hash_forget);
    *reader = (struct record_reader){.number = 0};
}

static bool reader_is_at_end(struct record_reader *reader)
{
    int next = fgetc(reader->from);
    if (next != EOF)
        ungetc(next, reader->from);
    return next == EOF && !ferror(reader->from);
}

bool record_is_whole(const json_t *record, struct error *wrong)
{
    static const char *const texts[] = {"cell", "variant", "workload"};
    const json_t *schema = json_object_get(record, "schema");
    if (!json_is_integer(schema) || json_integer_value(schema) != RECORD_SCHEMA) {
        char *is = schema ? json_dumps(schema, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        error_print(wrong, "its schema is %.32s; this program reads %d", is ? is : "none",
                    RECORD_SCHEMA);
        free(is);
        return false;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (*field_text(record, texts[i]))
            continue;
        error_print(wrong, "it has no %s", texts[i]);
        return false;
    }
    bool has_workers = json_is_integer(json_object_get(record, "workers"));
    error_print(wrong, "%s",
                has_workers ? "its status is none of ok, failed, skipped" : "it has no workers");
    return has_workers &&
           (record_is(record, "ok") || record_is(record, "failed") || record_is(record, "skipped"));
}

/* True if the line still has the hash that was written with it, or has none, as lines by hand and
 * by earlier versions. Takes the hash out of the record. */
static bool line_is_unchanged(const char *line, size_t length, json_t *record)
{
    char end[CHECK_SIZE + 1];
    if (!json_object_get(record, "check"))
        return true;
    if (length <= CHECK_SIZE)
        return false;
    size_t size = length - CHECK_SIZE;
    snprintf(end, sizeof end, CHECK_FORMAT, fnv1a(FNV1A_SEED, line, size));
    json_object_del(record, "check");
    return memcmp(line + size, end, CHECK_SIZE) == 0;
}

json_t *record_line_parse(const char *line, size_t length)
{
    json_t *object = json_loadb(line, length, 0, NULL);
    if (json_is_object(object) && line_is_unchanged(line, length, object))
        return object;
    json_decref(object);
    return NULL;
}

static enum record_read line_read(struct record_reader *reader, json_t **record,
                                  struct error *error)
{
    struct error wrong;
    ssize_t length = getline(&reader->line, &reader->capacity, reader->from);
    if (length <= 0) {
        if (!ferror(reader->from))
            return RECORD_READ_END;
        error_print(error, "%s: %s", reader->path, strerror(errno));
        return RECORD_READ_BAD;
    }
    json_error_t where = {.text = "no JSON object"};
    reader->length = (size_t)length;
    reader->number++;
    bool ends = reader->line[length - 1] == '\n';
    *record = ends ? json_loadb(reader->line, reader->length, 0, &where) : NULL;
    bool is_object = json_is_object(*record);
    if (is_object) {
        reader->whole += length;
        if (record_is_whole(*record, &wrong)) {
            if (line_is_unchanged(reader->line, reader->length, *record))
                return RECORD_READ;
            strcpy(wrong.text, "it was changed after it was measured: its check does not fit");
        }
    }
    json_decref(*record);
    error_print(error, "%s:%zu: not a record: %s", reader->path, reader->number,
                is_object ? wrong.text : where.text);
    /* A power cut may leave a newline on the disk and not what stood before it. */
    return !is_object && reader_is_at_end(reader) ? RECORD_READ_TORN : RECORD_READ_BAD;
}

static int hash_compare(const void *a, const void *b)
{
    return (a > b) - (a < b);
}

/* True if such a line was given here before: 64 bits of hash do not meet by chance. */
static bool line_is_known(struct record_reader *reader, const char *line, size_t length)
{
    const void *hash = (const void *)(uintptr_t)fnv1a(FNV1A_SEED, line, length);
    if (tfind(hash, &reader->hashes, hash_compare))
        return true;
    if (!tsearch(hash, &reader->hashes, hash_compare))
        memory_die();
    return false;
}

/* Makes all lines before the one at hand known. False if they cannot be read again. */
static bool lines_remember(struct record_reader *reader)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    off_t here = ftello(reader->from);
    bool ok = here >= 0 && fseeko(reader->from, 0, SEEK_SET) == 0;
    for (size_t i = 1; ok && i < reader->number; i++) {
        length = getline(&line, &capacity, reader->from);
        ok = length > 0;
        if (ok)
            line_is_known(reader, line, (size_t)length);
    }
    free(line);
    return fseeko(reader->from, here, SEEK_SET) == 0 && ok;
}

/* True if the record lies behind all that were read before it. */
static bool record_is_behind(struct record_reader *reader, const json_t *record)
{
    const json_t *seed = json_object_get(record, "seed");
    const json_t *position = json_object_get(record, "position");
    if (!json_is_integer(seed) || !json_is_integer(position))
        return false;
    json_int_t s = json_integer_value(seed), p = json_integer_value(position);
    if (reader->placed && (s < reader->seed || (s == reader->seed && p <= reader->position)))
        return false;
    reader->placed = true;
    reader->seed = s;
    reader->position = p;
    return true;
}

/* Sets *again to whether the line of the record just read was there before. False if the file
 * cannot be read again. */
static bool line_is_again(struct record_reader *reader, const json_t *record, bool *again)
{
    *again = false;
    if (record_is_behind(reader, record) && !reader->hashes)
        return true;
    if (!reader->hashes && !lines_remember(reader))
        return false;
    *again = line_is_known(reader, reader->line, reader->length);
    return true;
}

enum record_read record_reader_next(struct record_reader *reader, json_t **record,
                                    struct error *error)
{
    enum record_read read;
    while ((read = line_read(reader, record, error)) == RECORD_READ) {
        bool again;
        if (!line_is_again(reader, *record, &again)) {
            error_print(error, "%s: %s", reader->path, strerror(errno));
            json_decref(*record);
            return RECORD_READ_BAD;
        }
        if (!again)
            break;
        json_decref(*record);
        reader->flaws.doubled++;
    }
    reader->flaws.torn = read == RECORD_READ_TORN;
    return read;
}

/* A place in a run is that of one sample. False and one line in error if another has it. */
static bool place_is_free(json_t *places, const json_t *record, const struct record_reader *reader,
                          struct error *error)
{
    char key[64];
    const json_t *seed = json_object_get(record, "seed");
    const json_t *position = json_object_get(record, "position");
    if (!json_is_integer(seed) || !json_is_integer(position))
        return true;
    snprintf(key, sizeof key, "position %lld of seed %lld", json_integer_value(position),
             json_integer_value(seed));
    const json_t *line = json_object_get(places, key);
    if (line)
        error_print(error, "%s:%zu: another sample with %s than on line %lld", reader->path,
                    reader->number, key, (long long)json_integer_value(line));
    else
        json_object_set_new(places, key, json_integer((json_int_t)reader->number));
    return !line;
}

/* Adds all records to the array. False and one line in error if one cannot be read. */
static bool records_read(struct record_reader *reader, json_t *records, struct error *error)
{
    json_t *places = json_object(), *record;
    enum record_read read;
    bool ok = true;
    while (ok && (read = record_reader_next(reader, &record, error)) == RECORD_READ) {
        ok = place_is_free(places, record, reader, error);
        json_array_append_new(records, record);
    }
    json_decref(places);
    if (ok && read == RECORD_READ_END && json_array_size(records) == 0)
        error_print(error, "%s: it holds no sample", reader->path);
    return ok && read != RECORD_READ_BAD && json_array_size(records) > 0;
}

json_t *record_file_read(const char *path, struct record_flaws *flaws, struct error *error)
{
    struct record_reader reader;
    int result = record_reader_open(&reader, path);
    if (result)
        return error_null(error, "%s: %s", path, strerror(-result));
    json_t *records = json_array();
    bool ok = records_read(&reader, records, error);
    if (flaws)
        *flaws = reader.flaws;
    record_reader_close(&reader);
    if (ok)
        return records;
    json_decref(records);
    return NULL;
}
