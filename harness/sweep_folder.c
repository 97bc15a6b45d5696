/* sweep_folder.c - see sweep_folder.h. */
#define _GNU_SOURCE
#include "harness/sweep_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAME_TRIES = 100, PATH_SIZE = 4096 };

bool sweep_folder_make(const char *results, const char *name, char *folder, size_t folder_size,
                       char *error, size_t error_size)
{
    if (mkdir(results, 0777) < 0 && errno != EEXIST) {
        snprintf(error, error_size, "cannot make the folder %s: %s", results, strerror(errno));
        return false;
    }
    char started[32], again[16] = "";
    time_t now = time(NULL);
    struct tm utc;
    strftime(started, sizeof started, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    /* Two sweeps of one name may start in the same second. */
    for (int i = 2; i <= NAME_TRIES; i++) {
        int length = snprintf(folder, folder_size, "%s/%s-%s%s", results, name, started, again);
        if (length < 0 || (size_t)length >= folder_size)
            errno = ENAMETOOLONG;
        else if (mkdir(folder, 0777) == 0)
            return true;
        if (errno != EEXIST)
            break;
        snprintf(again, sizeof again, "-%d", i);
    }
    snprintf(error, error_size, "cannot make the folder %s: %s", folder, strerror(errno));
    return false;
}

bool sweep_folder_write(const char *path, const char *text, size_t size, char *error,
                        size_t error_size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    ssize_t written = 0;
    while (fd >= 0 && size > 0 && (written = write(fd, text, size)) >= 0) {
        text += written;
        size -= (size_t)written;
    }
    bool ok = fd >= 0 && written >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    int why = errno;
    if (fd >= 0 && close(fd) < 0 && ok) {
        why = errno;
        ok = false;
    }
    if (!ok)
        snprintf(error, error_size, "cannot write %s: %s", path, strerror(why));
    return ok;
}

static char *read_failed(const char *path, int problem, char *error, size_t error_size)
{
    snprintf(error, error_size, "cannot read %s: %s", path, strerror(problem));
    return NULL;
}

/* All bytes of a file, to be freed; NULL and one line in error if they cannot be read. */
static char *file_read(const char *path, size_t *size, char *error, size_t error_size)
{
    FILE *from = fopen(path, "re");
    if (!from)
        return read_failed(path, errno, error, error_size);
    char *text = NULL, part[8192];
    size_t n;
    FILE *to = open_memstream(&text, size);
    if (!to)
        abort();
    do {
        n = fread(part, 1, sizeof part, from);
        fwrite(part, 1, n, to);
    } while (n == sizeof part);
    int failed = ferror(from) ? errno : 0;
    fclose(from);
    if (fclose(to) != 0)
        abort();
    if (!failed)
        return text;
    free(text);
    return read_failed(path, failed, error, error_size);
}

bool sweep_folder_replace(const char *path, const char *text, size_t size, char *error,
                          size_t error_size)
{
    char draft[PATH_SIZE];
    if (snprintf(draft, sizeof draft, "%s.new", path) >= (int)sizeof draft) {
        snprintf(error, error_size, "cannot write %.64s...: %s", path, strerror(ENAMETOOLONG));
        return false;
    }
    unlink(draft); /* of a writer that was killed */
    bool ok = sweep_folder_write(draft, text, size, error, error_size);
    if (ok && rename(draft, path) < 0) {
        snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
        ok = false;
    }
    if (!ok)
        unlink(draft);
    return ok;
}

bool sweep_folder_copy(const char *from, const char *to, char *error, size_t error_size)
{
    size_t size;
    char *text = file_read(from, &size, error, error_size);
    bool ok = text && sweep_folder_write(to, text, size, error, error_size);
    free(text);
    return ok;
}

bool sweep_folder_copy_over(const char *from, const char *to, char *error, size_t error_size)
{
    size_t size;
    char *text = file_read(from, &size, error, error_size);
    bool ok = text && sweep_folder_replace(to, text, size, error, error_size);
    free(text);
    return ok;
}
