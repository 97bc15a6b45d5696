/* gotrace_source.c - see gotrace_source.h. */
#include "harness/gotrace/gotrace_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MINOR_LEAST = 22, COPY_SIZE = 1 << 16, OLDER_SIZE = 32 };

static bool starts_with(const struct gotrace_source *source, const char *text)
{
    return source->bytes && source->size >= strlen(text) &&
           memcmp(source->bytes, text, strlen(text)) == 0;
}

/* "6000 GoStart p=0 g=1 off=120 g=1", as `go tool trace -d` printed until Go 1.21. */
static bool is_older_text(const struct gotrace_source *source)
{
    char line[128] = "";
    int end = 0;
    if (!source->bytes)
        return false;
    memcpy(line, source->bytes, source->size < sizeof line ? source->size : sizeof line - 1);
    return sscanf(line, "%*d %*31[A-Za-z] p=%*d g=%*d off=%n", &end) == 0 && end > 0;
}

/* The kind of file that the bytes are, for people who took the wrong one. */
static const char *other_kind(const struct gotrace_source *source)
{
    static const char wire[] = "the text of `go tool trace -d=wire`; take -d=parsed";
    static const char profile[] = "a profile as `go tool pprof` prints it; a profile has no events";
    static const char dump[] = "a profile of net/http/pprof; take /debug/pprof/trace";
    static const struct {
        const char *bytes, *kind;
    } kinds[] = {
        {"\xfd"
         "7zXZ",
         "compressed; run xz -d"},
        {"\x1f\x8b", "compressed; run gzip -d, if it is a trace and not a profile"},
        {"(\xb5/\xfd", "compressed; run zstd -d"},
        {"Trace Go", wire},
        {"EventBatch ", wire},
        {"Event ", "the table of `go tool trace -d=footprint`; take -d=parsed"},
        {"File: ", profile},
        {"Type: ", profile},
        {"Main binary filename", profile},
        {"PeriodType: ", profile},
        {"Showing nodes", profile},
        {"goroutine ", dump},
        {"heap profile", dump},
        {"threadcreate profile", dump},
        {"--- ", dump},
        {"\x7f"
         "ELF",
         "a program"},
        {"schedlab-program", "a program file; run it with replay,file="},
        {"{", "JSON"},
    };
    if (source->size == 0)
        return "empty";
    if (is_older_text(source))
        return "the text of the older format, which Go prints up to 1.21; valid: of Go 1.22 or "
               "later";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (starts_with(source, kinds[i].bytes))
            return kinds[i].kind;
    return "something else";
}

static bool other_refuse(const struct gotrace_source *source, const char *path, struct error *to)
{
    return error_quote(to,
                       "%s: no execution trace of Go (it is %s); runtime/trace and `go test "
                       "-trace` write them",
                       path, other_kind(source));
}

/* The Go that wrote a trace of the older format whose head has this number. Versions without a
 * format of their own kept the head of the one before: Go 1.20 writes that of 1.19. */
static void older_writer(unsigned minor, char text[OLDER_SIZE])
{
    static const unsigned heads[] = {5, 7, 8, 9, 10, 11, 19, 21, MINOR_LEAST};
    unsigned last = minor;
    for (size_t i = 0; i + 1 < sizeof heads / sizeof *heads; i++)
        last = heads[i] == minor ? heads[i + 1] - 1 : last;
    snprintf(text, OLDER_SIZE, last > minor + 1 ? "1.%u to 1.%u" : "1.%u or 1.%u", minor, last);
    if (last == minor)
        snprintf(text, OLDER_SIZE, "1.%u", minor);
}

static bool head_check(struct gotrace_source *source, const char *path, struct error *to)
{
    char head[GOTRACE_HEAD_SIZE + 1] = "", rest[GOTRACE_HEAD_SIZE] = "";
    unsigned minor = 0;
    memcpy(head, source->bytes ? source->bytes : (const uint8_t *)"",
           source->size < GOTRACE_HEAD_SIZE ? source->size : GOTRACE_HEAD_SIZE);
    if (sscanf(head, "go 1.%3u %15s", &minor, rest) != 2 || strcmp(rest, "trace") != 0)
        return other_refuse(source, path, to);
    if (minor < MINOR_LEAST) {
        char writer[OLDER_SIZE];
        older_writer(minor, writer);
        return error_quote(to,
                           "%s: a trace that Go %s wrote, in the older format of Go up to 1.21; "
                           "valid: of Go 1.22 or later",
                           path, writer);
    }
    snprintf(source->version, sizeof source->version, "1.%u", minor);
    return true;
}

static bool bytes_map(struct gotrace_source *source, FILE *from, const char *path, struct error *to)
{
    struct stat info;
    if (fstat(fileno(from), &info) < 0)
        return error_quote(to, "%s: cannot be read: %s", path, strerror(errno));
    source->size = (size_t)info.st_size;
    if (source->size == 0)
        return true;
    void *bytes = mmap(NULL, source->size, PROT_READ, MAP_PRIVATE, fileno(from), 0);
    if (bytes == MAP_FAILED)
        return error_quote(to, "%s: cannot be mapped: %s", path, strerror(errno));
    source->bytes = bytes;
    return true;
}

/* A pipe cannot be read twice. Only the beginning of what is no trace is copied. */
static bool pipe_map(struct gotrace_source *source, FILE *from, const char *path, struct error *to)
{
    char copy[COPY_SIZE];
    FILE *draft = gotext_draft();
    size_t size, all = 0;
    bool is_good = draft != NULL;
    while (is_good && (size = fread(copy, 1, sizeof copy, from)) > 0) {
        is_good = fwrite(copy, 1, size, draft) == size;
        if ((all += size) == size && memcmp(copy, "go 1.", size < 5 ? size : 5) != 0)
            break;
    }
    if (!is_good || fflush(draft) != 0)
        is_good = error_quote(to, "%s: cannot be copied to a file in $TMPDIR or /var/tmp: %s", path,
                              strerror(errno));
    else
        is_good = bytes_map(source, draft, path, to);
    if (draft)
        fclose(draft);
    return is_good;
}

static bool text_take(struct gotrace_source *source, FILE *from, const char *path,
                      struct gotrace_tables *tables, struct error *to)
{
    static const char one[] = "M";
    source->text = gotext_read(from, tables);
    if (source->text) {
        snprintf(source->version, sizeof source->version, "1.%d or later", MINOR_LEAST);
        return true;
    }
    if (errno != 0)
        return error_quote(to, "%s: cannot be copied to a file in $TMPDIR or /var/tmp: %s", path,
                           strerror(errno));
    const struct gotrace_source other = {.bytes = (const uint8_t *)one, .size = 1};
    return other_refuse(&other, path, to);
}

bool gotrace_source_open(const char *path, struct gotrace_source *source,
                         struct gotrace_tables *tables, struct error *to)
{
    struct stat info;
    bool is_input = strcmp(path, "-") == 0, is_good;
    int fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    path = is_input ? "standard input" : path;
    FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
    if (!from || fstat(fd, &info) < 0) {
        error_quote(to, "%s: cannot be opened: %s", path, strerror(errno));
        if (from)
            fclose(from);
        else if (fd >= 0)
            close(fd);
        return false;
    }
    int first = S_ISDIR(info.st_mode) ? EOF : getc(from);
    if (first != EOF)
        ungetc(first, from);
    if (S_ISDIR(info.st_mode))
        is_good = error_quote(to, "%s: a folder, not a file with a trace", path);
    else if (first == 'M')
        is_good = text_take(source, from, path, tables, to);
    else
        is_good = (S_ISREG(info.st_mode) ? bytes_map : pipe_map)(source, from, path, to) &&
                  head_check(source, path, to);
    fclose(from);
    return is_good;
}

void gotrace_source_close(struct gotrace_source *source)
{
    if (source->bytes)
        munmap((void *)(uintptr_t)source->bytes, source->size);
    if (source->text)
        gotext_close(source->text);
    *source = (struct gotrace_source){.size = 0};
}
