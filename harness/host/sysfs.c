/* sysfs.c - see sysfs.h. */
#include "harness/host/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 4096 };

static FILE *open_list(const char *root, const char *path, va_list args)
{
    char whole[SYSFS_PATH_SIZE];
    int at = snprintf(whole, sizeof whole, "%s/", root);
    if (at < 0 || at >= (int)sizeof whole)
        return NULL;
    int length = vsnprintf(whole + at, sizeof whole - (size_t)at, path, args);
    return length < (int)sizeof whole - at ? fopen(whole, "re") : NULL;
}

FILE *tree_open(const char *root, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    FILE *file = open_list(root, path, args);
    va_end(args);
    return file;
}

static bool text_list(const char *root, char *text, size_t size, const char *path, va_list args)
{
    FILE *file = open_list(root, path, args);
    if (!file)
        return false;
    bool got = fgets(text, (int)size, file) != NULL;
    fclose(file);
    if (!got)
        return false;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return true;
}

bool sysfs_text(const char *root, char *text, size_t size, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    bool got = text_list(root, text, size, path, args);
    va_end(args);
    return got;
}

static bool number_parse(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno != 0)
        return false;
    *value = number;
    return true;
}

bool sysfs_number(const char *root, int64_t *value, const char *path, ...)
{
    char text[64];
    va_list args;
    va_start(args, path);
    bool got = text_list(root, text, sizeof text, path, args);
    va_end(args);
    return got && number_parse(text, value);
}

bool sysfs_chosen(const char *root, char *word, size_t size, const char *path, ...)
{
    char text[256];
    va_list args;
    va_start(args, path);
    bool got = text_list(root, text, sizeof text, path, args);
    va_end(args);
    const char *open = got ? strchr(text, '[') : NULL;
    const char *close = open ? strchr(open, ']') : NULL;
    if (!close || close == open + 1)
        return false;
    snprintf(word, size, "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

/* hwloc's parser skips what it does not understand. */
static hwloc_bitmap_t cpus_parse(const char *list)
{
    if (strspn(list, "0123456789,-") != strlen(list))
        return NULL;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (*list && hwloc_bitmap_list_sscanf(set, list) != 0) {
        hwloc_bitmap_free(set);
        return NULL;
    }
    return set;
}

hwloc_bitmap_t sysfs_cpus(const char *root, const char *path, ...)
{
    char text[LINE_SIZE];
    va_list args;
    va_start(args, path);
    bool got = text_list(root, text, sizeof text, path, args);
    va_end(args);
    return got ? cpus_parse(text) : NULL;
}

/* False unless the line begins with the key and a number follows. */
static bool key_line(const char *line, const char *key, int64_t *value)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0 || !line[length] || !strchr(": \t", line[length]))
        return false;
    line += length + strspn(line + length, ": \t");
    char *end;
    errno = 0;
    long long number = strtoll(line, &end, 10);
    bool kilo = strncmp(end, " kB", 3) == 0;
    if (end == line || errno != 0 || (kilo && __builtin_mul_overflow(number, 1024, &number)))
        return false;
    *value = number;
    return true;
}

bool sysfs_key(const char *root, int64_t *value, const char *key, const char *path, ...)
{
    char line[LINE_SIZE];
    va_list args;
    va_start(args, path);
    FILE *file = open_list(root, path, args);
    va_end(args);
    bool got = false;
    while (file && !got && fgets(line, sizeof line, file))
        got = key_line(line, key, value);
    if (file)
        fclose(file);
    return got;
}

static bool cpuinfo_has_flag(const char *root, const char *flag)
{
    char *line = NULL;
    size_t size = 0, length = strlen(flag);
    bool found = false;
    FILE *file = tree_open(root, "proc/cpuinfo");
    while (file && !found && getline(&line, &size, file) >= 0) {
        if (strncmp(line, "flags", 5) != 0)
            continue;
        for (const char *at = line; !found && (at = strstr(at, flag)); at += length)
            found = at[-1] == ' ' && (at[length] == ' ' || at[length] == '\n');
        break;
    }
    if (file)
        fclose(file);
    free(line);
    return found;
}

bool sysfs_is_virtual(const char *root)
{
    char text[64];
    return cpuinfo_has_flag(root, "hypervisor") ||
           sysfs_text(root, text, sizeof text, "sys/hypervisor/type") ||
           sysfs_text(root, text, sizeof text, "proc/device-tree/hypervisor/compatible");
}
