/* files.c - see files.h. */
#include "harness/base/files.h"

#include "harness/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

char *file_read(const char *path, size_t *size, struct error *error)
{
    char *text = NULL, part[8192];
    size_t n, all;
    FILE *from = fopen(path, "re"), *to = memory_stream(&text, &all);
    do {
        n = from ? fread(part, 1, sizeof part, from) : 0;
        fwrite(part, 1, n, to);
    } while (n == sizeof part);
    bool ok = from && !ferror(from);
    int why = errno;
    if (from)
        fclose(from);
    memory_stream_close(to);
    if (size)
        *size = all;
    if (ok)
        return text;
    error_print(error, "cannot read %s: %s", path, strerror(why));
    free(text);
    return NULL;
}

/* A file that must not be there. 0 or an error number. */
static int file_create(const char *path, const char *text, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    ssize_t written = 0;
    if (fd < 0)
        return errno;
    while (size > 0 && (written = write(fd, text, size)) >= 0) {
        text += written;
        size -= (size_t)written;
    }
    int why = written < 0 || (fsync(fd) < 0 && errno != EINVAL) ? errno : 0;
    return close(fd) < 0 && !why ? errno : why;
}

bool file_replace(const char *path, const char *text, size_t size, struct error *error)
{
    char draft[PATH_SIZE];
    if (snprintf(draft, sizeof draft, "%s.new", path) >= (int)sizeof draft)
        return error_set(error, "cannot write %.64s...: %s", path, strerror(ENAMETOOLONG));
    unlink(draft); /* of a writer that was killed */
    int why = file_create(draft, text, size);
    if (!why && rename(draft, path) < 0)
        why = errno;
    if (!why)
        return true;
    error_print(error, "cannot write %s: %s", path, strerror(why));
    unlink(draft);
    return false;
}

bool file_replace_json(const char *path, const json_t *json, struct error *error)
{
    char *text = json_dumps(json, JSON_INDENT(2));
    if (!text)
        memory_die();
    bool ok = file_replace(path, text, strlen(text), error);
    free(text);
    return ok;
}

bool file_replace_by(const char *path, void (*write)(FILE *to, const void *arg), const void *arg,
                     struct error *error)
{
    char *text = NULL;
    size_t size;
    FILE *to = memory_stream(&text, &size);
    write(to, arg);
    memory_stream_close(to);
    bool ok = file_replace(path, text, size, error);
    free(text);
    return ok;
}

bool file_copy(const char *from, const char *to, struct error *error)
{
    size_t size;
    char *text = file_read(from, &size, error);
    bool ok = text && file_replace(to, text, size, error);
    free(text);
    return ok;
}

bool folder_make(const char *path, struct error *error)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    return error_set(error, "cannot make the folder %s: %s", path, strerror(errno));
}
