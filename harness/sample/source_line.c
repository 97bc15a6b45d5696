/* source_line.c - see source_line.h. */
#if defined(SCHEDLAB_SIM)
#include "harness/sample/source_line.h"

#include "harness/base/build_info.h"
#include "harness/base/memory.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char unknown[] = "(unknown)";

/* A run of instructions of one compiled function. */
struct code {
    Dwarf_Addr begin, end;
    Dwarf_Die function;
};

/* A source file that was compiled, with what it became. The list is made once, because libdw looks
 * through all that the file declares each time it is asked. */
struct unit {
    struct unit *next;
    Dwarf_Off offset;
    size_t count;
    struct code *code;
};

struct source_lines {
    int fd;
    Dwarf *dwarf;
    struct unit *units;
};

struct source_lines *source_lines_open(void)
{
    struct source_lines *lines = xcalloc(1, sizeof *lines);
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
    for (struct unit *unit = lines->units, *next; unit; unit = next) {
        next = unit->next;
        free(unit->code);
        free(unit);
    }
    dwarf_end(lines->dwarf);
    if (lines->fd >= 0)
        close(lines->fd);
    free(lines);
}

/* The part of the path inside the folder of the sources. */
static const char *path_inside(const char *path)
{
    const char *folder = build_source_dir();
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) == 0 && path[length] == '/')
        path += length + 1;
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

static void unit_add(struct unit *unit, Dwarf_Die *function)
{
    Dwarf_Addr base, begin, end;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(function, at, &base, &begin, &end)) > 0) {
        array_add(unit->code, unit->count) = (struct code){begin, end, *function};
    }
}

static struct unit *unit_of(struct source_lines *lines, Dwarf_Die *die)
{
    Dwarf_Off offset = dwarf_dieoffset(die);
    struct unit *unit = lines->units;
    while (unit && unit->offset != offset)
        unit = unit->next;
    if (unit)
        return unit;
    unit = xcalloc(1, sizeof *unit);
    *unit = (struct unit){.next = lines->units, .offset = offset};
    lines->units = unit;
    Dwarf_Die child;
    for (int end = dwarf_child(die, &child); end == 0; end = dwarf_siblingof(&child, &child))
        if (dwarf_tag(&child) == DW_TAG_subprogram)
            unit_add(unit, &child);
    return unit;
}

/* Simulated code lies behind all other code (Makefile). */
extern const char simulated_start[] __asm__("__start_simulated_text");

void source_lines_read(struct source_lines *lines)
{
    Dwarf_Aranges *ranges;
    Dwarf_Lines *unused_lines;
    size_t count, unused_count;
    if (!lines || dwarf_getaranges(lines->dwarf, &ranges, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Addr start;
        Dwarf_Off offset;
        Dwarf_Die die;
        Dwarf_Arange *range = dwarf_onearange(ranges, i);
        if (dwarf_getarangeinfo(range, &start, NULL, &offset) != 0 ||
            start < (uintptr_t)simulated_start || !dwarf_offdie(lines->dwarf, offset, &die))
            continue;
        unit_of(lines, &die);
        dwarf_getsrclines(&die, &unused_lines, &unused_count);
    }
}

static int range_compare(const void *a_, const void *b_)
{
    const struct source_range *a = a_, *b = b_;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

size_t source_ranges(struct source_lines *lines, const char *folder, struct source_range **ranges)
{
    Dwarf_Aranges *aranges;
    size_t all = 0, count = 0;
    *ranges = NULL;
    if (!lines || dwarf_getaranges(lines->dwarf, &aranges, &all) != 0)
        return 0;
    *ranges = xcalloc(all + 1, sizeof **ranges);
    for (size_t i = 0; i < all; i++) {
        Dwarf_Addr start;
        Dwarf_Word length;
        Dwarf_Off offset;
        Dwarf_Die die;
        Dwarf_Arange *range = dwarf_onearange(aranges, i);
        if (dwarf_getarangeinfo(range, &start, &length, &offset) != 0 ||
            !dwarf_offdie(lines->dwarf, offset, &die) || !dwarf_diename(&die) ||
            strncmp(path_inside(dwarf_diename(&die)), folder, strlen(folder)) != 0)
            continue;
        (*ranges)[count++] = (struct source_range){start, start + length};
    }
    qsort(*ranges, count, sizeof **ranges, range_compare);
    return count;
}

/* Replaces *die by its child that holds pc; false if none does. */
static bool descend(Dwarf_Die *die, uintptr_t pc)
{
    Dwarf_Die child;
    int end = dwarf_child(die, &child);
    while (end == 0 && dwarf_haspc(&child, pc) <= 0)
        end = dwarf_siblingof(&child, &child);
    if (end == 0)
        *die = child;
    return end == 0;
}

/* The compiled function that has the instruction, and what it took in; returns how many. */
static size_t scopes_find(struct source_lines *lines, uintptr_t pc,
                          Dwarf_Die inside[SOURCE_INLINED_MAX])
{
    Dwarf_Die die;
    size_t depth = 0, i = 0;
    if (!lines || !dwarf_addrdie(lines->dwarf, pc, &die))
        return 0;
    const struct unit *unit = unit_of(lines, &die);
    while (i < unit->count && (pc < unit->code[i].begin || pc >= unit->code[i].end))
        i++;
    if (i == unit->count)
        return 0;
    die = unit->code[i].function;
    do {
        int tag = dwarf_tag(&die);
        if (dwarf_diename(&die) && (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram))
            inside[depth++] = die;
    } while (depth < SOURCE_INLINED_MAX && descend(&die, pc));
    return depth;
}

size_t source_functions(struct source_lines *lines, uintptr_t pc,
                        char functions[SOURCE_INLINED_MAX][SOURCE_TEXT])
{
    Dwarf_Die inside[SOURCE_INLINED_MAX];
    size_t depth = scopes_find(lines, pc, inside), i;
    for (i = 0; i < depth; i++)
        snprintf(functions[i], SOURCE_TEXT, "%s", dwarf_diename(&inside[depth - 1 - i]));
    return depth;
}

bool source_line_find(struct source_lines *lines, uintptr_t pc, struct source_line *found)
{
    char functions[SOURCE_INLINED_MAX][SOURCE_TEXT];
    Dwarf_Die unit;
    int number = 0;
    *found = (struct source_line){.line = 0};
    strcpy(found->function, unknown);
    strcpy(found->file, unknown);
    size_t depth = source_functions(lines, pc, functions);
    if (depth == 0)
        return false;
    strcpy(found->function, functions[0]);
    if (depth > 1)
        strcpy(found->inside, functions[depth - 1]);
    Dwarf_Line *line = dwarf_addrdie(lines->dwarf, pc, &unit) ? dwarf_getsrc_die(&unit, pc) : NULL;
    const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!path)
        return false;
    snprintf(found->file, sizeof found->file, "%s", path_inside(path));
    dwarf_lineno(line, &number);
    found->line = number;
    return true;
}
static int number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_attr_integrate(die, name, &attribute))
        dwarf_formudata(&attribute, &number);
    return (int)number;
}

/* The file of the number that an attribute of the unit has. */
static const char *file_of(Dwarf_Die *unit, unsigned number)
{
    Dwarf_Files *files;
    size_t count;
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

bool source_line_outside(struct source_lines *lines, uintptr_t pc, const char *folder,
                         struct source_line *found)
{
    Dwarf_Die inside[SOURCE_INLINED_MAX], unit;
    size_t depth = scopes_find(lines, pc, inside);
    Dwarf_Line *line =
        depth && dwarf_addrdie(lines->dwarf, pc, &unit) ? dwarf_getsrc_die(&unit, pc) : NULL;
    const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    *found = (struct source_line){.line = 0};
    if (!path || dwarf_lineno(line, &found->line) != 0)
        return false;
    while (strncmp(path_inside(path), folder, strlen(folder)) == 0) {
        if (--depth == 0)
            return false;
        found->line = number_of(&inside[depth], DW_AT_call_line);
        path = file_of(&unit, (unsigned)number_of(&inside[depth], DW_AT_call_file));
        if (!path)
            return false;
    }
    snprintf(found->file, sizeof found->file, "%s", path_inside(path));
    snprintf(found->function, sizeof found->function, "%s", dwarf_diename(&inside[depth - 1]));
    found->first = number_of(&inside[depth - 1], DW_AT_decl_line);
    return true;
}
#else
/* Only simulated samples need it, and only their program is linked with libdw. */
typedef int source_line_is_empty;
#endif
