/* source_line.c - see source_line.h. */
#if defined(SCHEDLAB_SIM)
#include "harness/source_line.h"

#include "harness/environment.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char unknown[] = "(unknown)";

struct source_lines {
    int fd;
    Dwarf *dwarf;
};

struct source_lines *source_lines_open(void)
{
    struct source_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        abort();
    lines->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    lines->dwarf = lines->fd >= 0 ? dwarf_begin(lines->fd, DWARF_C_READ) : NULL;
    if (lines->dwarf)
        return lines;
    source_lines_close(lines);
    return NULL;
}

void source_lines_close(struct source_lines *lines)
{
    if (!lines)
        return;
    dwarf_end(lines->dwarf);
    if (lines->fd >= 0)
        close(lines->fd);
    free(lines);
}

/* The part of the path inside the folder of the sources. */
static const char *path_inside(const char *path)
{
    const char *folder = environment_source_dir();
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) == 0 && path[length] == '/')
        path += length + 1;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

size_t source_functions(struct source_lines *lines, uintptr_t pc,
                        char functions[SOURCE_INLINED_MAX][SOURCE_TEXT])
{
    Dwarf_Die unit, *scopes;
    size_t n = 0;
    if (!lines || !dwarf_addrdie(lines->dwarf, pc, &unit))
        return 0;
    int count = dwarf_getscopes(&unit, pc, &scopes);
    for (int i = 0; i < count && n < SOURCE_INLINED_MAX; i++) {
        int tag = dwarf_tag(&scopes[i]);
        const char *name = dwarf_diename(&scopes[i]);
        if (name && (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram))
            snprintf(functions[n++], SOURCE_TEXT, "%s", name);
        if (tag == DW_TAG_subprogram)
            break;
    }
    if (count > 0)
        free(scopes);
    return n;
}

bool source_line_find(struct source_lines *lines, uintptr_t pc, struct source_line *found)
{
    char functions[SOURCE_INLINED_MAX][SOURCE_TEXT];
    Dwarf_Die unit;
    int number = 0;
    *found = (struct source_line){.line = 0};
    strcpy(found->function, unknown);
    strcpy(found->file, unknown);
    if (source_functions(lines, pc, functions) == 0)
        return false;
    strcpy(found->function, functions[0]);
    Dwarf_Line *line = dwarf_addrdie(lines->dwarf, pc, &unit) ? dwarf_getsrc_die(&unit, pc) : NULL;
    const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!path)
        return false;
    snprintf(found->file, sizeof found->file, "%s", path_inside(path));
    dwarf_lineno(line, &number);
    found->line = number;
    return true;
}
#else
/* Only simulated samples need it, and only their program is linked with libdw. */
typedef int source_line_is_empty;
#endif
