/* cell_store.c - see cell_store.h. */
#include "harness/plan/cell_store.h"

#include "harness/base/files.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/host/topology.h"
#include "harness/models/machine_start.h"
#include "harness/records/hosts_used.h"
#include "harness/records/records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = CELL_STORE_FOLDER_MAX + 96, NAME_SIZE = 256 };

/* Folders ------------------------------------------------------------------------------------- */

static bool complain(struct error *error, const char *what, const char *path)
{
    return error_set(error, "cannot %s %s: %s", what, path, strerror(errno));
}

static bool store_folder_make(const char *path, struct error *error)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return true;
    if (errno == EEXIST && stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return true;
        errno = ENOTDIR;
    }
    return complain(error, "make the folder", path);
}

bool cell_store_make(const char *folder, struct error *error)
{
    char path[PATH_SIZE];
    if (!*folder || strlen(folder) > CELL_STORE_FOLDER_MAX)
        return error_set(error, "%s; valid: the path of a folder",
                         *folder ? "the folder's path is too long" : "the folder's path is empty");
    for (const char *slash = folder + 1; (slash = strchr(slash, '/')); slash++) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - folder), folder);
        if (!store_folder_make(path, error))
            return false;
    }
    return store_folder_make(folder, error);
}

static bool name_is_shard(const char *name)
{
    return strlen(name) == 2 && strspn(name, "0123456789abcdef") == 2;
}

bool cell_store_is_one(const char *folder)
{
    DIR *dir = opendir(folder);
    bool good = dir != NULL;
    size_t shards = 0;
    for (const struct dirent *entry; good && (entry = readdir(dir));) {
        shards += name_is_shard(entry->d_name);
        good = *entry->d_name == '.' || name_is_shard(entry->d_name);
    }
    if (dir)
        closedir(dir);
    return good && shards > 0;
}

/* Files --------------------------------------------------------------------------------------- */

static void path_of(char path[PATH_SIZE], const char *folder, const char *id)
{
    snprintf(path, PATH_SIZE, "%.*s/%.2s/%s.json", CELL_STORE_FOLDER_MAX, folder, id, id);
}

bool cell_store_has(const char *folder, const char *id)
{
    char path[PATH_SIZE];
    path_of(path, folder, id);
    return access(path, F_OK) == 0;
}

json_t *cell_store_get(const char *folder, const char *id, struct error *error)
{
    char path[PATH_SIZE];
    json_error_t wrong;
    error->text[0] = '\0';
    path_of(path, folder, id);
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return NULL;
    json_t *result = json_load_file(path, 0, &wrong);
    if (result && strcmp(field_text(result, "unit"), id) == 0 &&
        field_integer(result, "schema") == CELL_STORE_SCHEMA &&
        json_is_object(json_object_get(result, "record")))
        return result;
    error_print(error, "%s is no result of that cell%s%s; remove it to measure it again", path,
                result ? "" : ": ", result ? "" : wrong.text);
    json_decref(result);
    return NULL;
}

/* A name that no other process takes, beside the file's. */
static void draft_name(char draft[PATH_SIZE], const char *folder, const char *id)
{
    char host[NAME_SIZE] = "";
    gethostname(host, sizeof host - 1);
    snprintf(draft, PATH_SIZE, "%.*s/%.2s/.%s-%.32s-%ld", CELL_STORE_FOLDER_MAX, folder, id, id,
             host, (long)getpid());
}

/* Gives the draft its name, unless another is there, and takes the draft's away. File systems
 * without hard links can only rename, which puts the last one in place of the first. */
static bool draft_settle(const char *draft, const char *path)
{
    bool done = link(draft, path) == 0 || errno == EEXIST;
    if (!done && (errno == EPERM || errno == ENOTSUP || errno == EMLINK))
        return rename(draft, path) == 0;
    int why = errno;
    unlink(draft);
    errno = why;
    return done;
}

/* As path_of(), in a subfolder that is there. */
static bool path_make(char path[PATH_SIZE], const char *folder, const char *id, struct error *error)
{
    snprintf(path, PATH_SIZE, "%.*s/%.2s", CELL_STORE_FOLDER_MAX, folder, id);
    if (!store_folder_make(path, error))
        return false;
    path_of(path, folder, id);
    return true;
}

static bool text_put(const char *folder, const char *id, const char *text, size_t size,
                     struct error *error)
{
    char path[PATH_SIZE], draft[PATH_SIZE];
    if (!path_make(path, folder, id, error))
        return false;
    draft_name(draft, folder, id);
    if (!file_replace(draft, text, size, error))
        return false;
    return draft_settle(draft, path) || complain(error, "write", path);
}

bool cell_store_put(const char *folder, const char *id, const json_t *record, double seconds,
                    bool here, struct error *error)
{
    json_t *result = json_pack("{si ss}", "schema", CELL_STORE_SCHEMA, "unit", id);
    if (here)
        hosts_used_mark(result);
    json_object_set_new(result, "seconds", json_real(seconds));
    json_object_set_new(result, "record", json_incref((json_t *)(uintptr_t)record));
    char *text = result ? json_dumps(result, JSON_COMPACT) : NULL;
    if (!text)
        memory_die();
    bool ok = text_put(folder, id, text, strlen(text), error);
    free(text);
    json_decref(result);
    return ok;
}

bool cell_store_kind_is(const char *path, struct error *error)
{
    char cpu[NAME_SIZE], host[NAME_SIZE] = "", draft[PATH_SIZE];
    topology_processor(cpu, sizeof cpu);
    gethostname(host, sizeof host - 1);
    snprintf(draft, sizeof draft, "%.3900s.%.32s-%ld", path, host, (long)getpid());
    if (access(path, F_OK) < 0) {
        if (!file_replace(draft, cpu, strlen(cpu), error))
            return false;
        if (!draft_settle(draft, path))
            return complain(error, "write", path);
    }
    char *kind = file_read(path, NULL, error);
    if (kind)
        kind[strcspn(kind, "\n")] = '\0';
    bool same = kind && strcmp(kind, cpu) == 0;
    if (kind && !same)
        error_print(error,
                    "%s has the processor \"%s\", and native cells of this sweep are measured on "
                    "\"%s\"; valid: machines of one kind, or --mix-machines",
                    host, cpu, kind);
    free(kind);
    return same;
}

/* All of them --------------------------------------------------------------------------------- */

/* True if this is the name of a result's file; then id is that of its content. */
static bool name_is_result(const char *name, char id[CELL_BLOCK_ID_SIZE])
{
    snprintf(id, CELL_BLOCK_ID_SIZE, "%.16s", name);
    return cell_id_is_valid(id) && strcmp(name + CELL_BLOCK_ID_SIZE - 1, ".json") == 0;
}

/* False, and errno, if it cannot be read. */
static bool shard_each(const char *path, bool (*fn)(void *arg, const char *id), void *arg,
                       bool *going_on)
{
    DIR *dir = opendir(path);
    char id[CELL_BLOCK_ID_SIZE];
    if (!dir)
        return false;
    errno = 0;
    for (const struct dirent *entry; *going_on && (entry = readdir(dir)); errno = 0)
        if (name_is_result(entry->d_name, id))
            *going_on = fn(arg, id);
    int wrong = *going_on ? errno : 0;
    closedir(dir);
    errno = wrong;
    return wrong == 0;
}

bool cell_store_each(const char *folder, bool (*fn)(void *arg, const char *id), void *arg,
                     bool *all, struct error *error)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return complain(error, "read", folder);
    *all = true;
    for (const struct dirent *entry; *all && (entry = readdir(dir));) {
        char path[PATH_SIZE];
        if (!name_is_shard(entry->d_name))
            continue;
        snprintf(path, sizeof path, "%.*s/%.2s", CELL_STORE_FOLDER_MAX, folder, entry->d_name);
        if (!shard_each(path, fn, arg, all)) {
            complain(error, "read", path);
            closedir(dir);
            return false;
        }
    }
    closedir(dir);
    return true;
}

/* Joining ------------------------------------------------------------------------------------- */

struct join {
    const char *folder, *from;
    struct cell_store_joined *joined;
    struct error *error;
};

/* Simulated ones, and those without a number, may have been measured twice, on two hosts, and then
 * say the same. */
static bool results_agree(const json_t *a, const json_t *b)
{
    const json_t *record = json_object_get(a, "record");
    if (machine_text_is_simulated(field_text(record, "machine")) || !record_is(record, "ok"))
        return json_equal(record, json_object_get(b, "record"));
    return json_equal(a, b);
}

static bool join_compare(const struct join *join, const char *id)
{
    json_t *a = cell_store_get(join->folder, id, join->error);
    json_t *b = a ? cell_store_get(join->from, id, join->error) : NULL;
    bool agree = a && b && results_agree(a, b);
    if (a && b && !agree)
        error_print(join->error,
                    "cell %s of %s contradicts that of another folder: measured on %s and on %s; "
                    "valid: folders that agree on what they have in common",
                    id, join->from, field_text(b, "host"), field_text(a, "host"));
    json_decref(a);
    json_decref(b);
    return agree;
}

/* Copies are put on the disk all at once, at the end. */
static bool copy_write(const struct join *join, const char *id, const char *to, const char *text,
                       size_t size)
{
    char draft[PATH_SIZE];
    draft_name(draft, join->folder, id);
    FILE *file = fopen(draft, "we");
    bool ok = file && fwrite(text, 1, size, file) == size;
    ok = file && fclose(file) == 0 && ok;
    return (ok && draft_settle(draft, to)) || complain(join->error, "write", to);
}

/* Another name for the file, which never changes; where that cannot be, a copy. */
static bool result_copy(const struct join *join, const char *id)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    path_of(from, join->from, id);
    size_t size;
    join->joined->unwritten = !path_make(to, join->folder, id, join->error);
    if (join->joined->unwritten || link(from, to) == 0)
        return !join->joined->unwritten;
    char *text = file_read(from, &size, join->error);
    if (!text)
        return false;
    join->joined->unwritten = !copy_write(join, id, to, text, size);
    free(text);
    return !join->joined->unwritten;
}

static bool join_one(void *join_void, const char *id)
{
    struct join *join = join_void;
    if (cell_store_has(join->folder, id)) {
        join->joined->repeated++;
        return join_compare(join, id);
    }
    json_t *result = cell_store_get(join->from, id, join->error);
    json_decref(result);
    if (!result)
        return false;
    join->joined->added++;
    return result_copy(join, id);
}

bool cell_store_join(const char *folder, const char *from, struct cell_store_joined *joined,
                     struct error *error)
{
    struct join join = {folder, from, joined, error};
    bool all;
    if (!cell_store_each(from, join_one, &join, &all, error) || !all)
        return false;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    joined->unwritten = fd < 0 || syncfs(fd) < 0;
    if (joined->unwritten)
        complain(error, "write", folder);
    if (fd >= 0)
        close(fd);
    return !joined->unwritten;
}
