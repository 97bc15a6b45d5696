/* gotrace_tables.c - see gotrace_tables.h. */
#include "harness/gotrace/gotrace_tables.h"

#include "harness/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_STACK = 3, EVENT_STRING = 5, IDS_MAX = 1 << 24, FRAMES_MAX = 1024 };

bool gotrace_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* Room for the element of that number; the array, perhaps elsewhere, with zeros behind *count. */
static void *with_room(void *array, size_t wanted, size_t *count, size_t *max, size_t size)
{
    if (wanted >= *max) {
        *max = *max ? *max : 256;
        while (wanted >= *max)
            *max *= 2;
        array = xrealloc(array, *max * size);
    }
    if (wanted >= *count) {
        memset((char *)array + *count * size, 0, (wanted + 1 - *count) * size);
        *count = wanted + 1;
    }
    return array;
}

bool gotrace_tables_strings(struct gotrace_tables *tables, const uint8_t *at, const uint8_t *end)
{
    for (at++; at < end;) {
        uint64_t id, size;
        if (*at++ != EVENT_STRING || !gotrace_varint(&at, end, &id) || id >= IDS_MAX ||
            !gotrace_varint(&at, end, &size) || size > (size_t)(end - at))
            return false;
        tables->strings = with_room(tables->strings, id, &tables->strings_count,
                                    &tables->strings_max, sizeof *tables->strings);
        tables->strings[id] = (struct gotrace_text){(const char *)at, size};
        at += size;
    }
    return true;
}

/* A frame is its place in the program, its function, its file and its line. */
static bool frame_read(struct gotrace_tables *tables, const uint8_t **at, const uint8_t *end)
{
    uint64_t place, function, file, line;
    if (!gotrace_varint(at, end, &place) || !gotrace_varint(at, end, &function) ||
        !gotrace_varint(at, end, &file) || !gotrace_varint(at, end, &line))
        return false;
    size_t number = tables->frames_count;
    tables->frames = with_room(tables->frames, number, &tables->frames_count, &tables->frames_max,
                               sizeof *tables->frames);
    tables->frames[number] = function < IDS_MAX ? (uint32_t)function : 0;
    return true;
}

bool gotrace_tables_stacks(struct gotrace_tables *tables, const uint8_t *at, const uint8_t *end)
{
    for (at++; at < end;) {
        uint64_t id, count;
        if (*at++ != EVENT_STACK || !gotrace_varint(&at, end, &id) || id >= IDS_MAX ||
            !gotrace_varint(&at, end, &count) || count > FRAMES_MAX)
            return false;
        tables->stacks = with_room(tables->stacks, id, &tables->stacks_count, &tables->stacks_max,
                                   sizeof *tables->stacks);
        tables->stacks[id] = (struct gotrace_stack){tables->frames_count, count};
        for (uint64_t i = 0; i < count; i++) {
            if (!frame_read(tables, &at, end)) {
                tables->stacks[id].count = i;
                return false;
            }
        }
    }
    return true;
}

uint64_t gotrace_tables_add(struct gotrace_tables *tables, const char *start, size_t size)
{
    size_t id = tables->strings_count > 0 ? tables->strings_count : 1;
    tables->strings = with_room(tables->strings, id, &tables->strings_count, &tables->strings_max,
                                sizeof *tables->strings);
    tables->strings[id] = (struct gotrace_text){start, size};
    return id;
}

uint64_t gotrace_tables_add_stack(struct gotrace_tables *tables, const uint32_t *functions,
                                  size_t count)
{
    size_t id = tables->stacks_count > 0 ? tables->stacks_count : 1;
    tables->stacks = with_room(tables->stacks, id, &tables->stacks_count, &tables->stacks_max,
                               sizeof *tables->stacks);
    tables->stacks[id] = (struct gotrace_stack){tables->frames_count, count};
    for (size_t i = 0; i < count; i++) {
        size_t number = tables->frames_count;
        tables->frames = with_room(tables->frames, number, &tables->frames_count,
                                   &tables->frames_max, sizeof *tables->frames);
        tables->frames[number] = functions[i];
    }
    return id;
}

const char *gotrace_tables_string(const struct gotrace_tables *tables, uint64_t id, size_t *size)
{
    bool is_there = id < tables->strings_count && tables->strings[id].start;
    *size = is_there ? tables->strings[id].size : 0;
    return is_there ? tables->strings[id].start : "";
}

size_t gotrace_tables_frames(const struct gotrace_tables *tables, uint64_t stack)
{
    return stack < tables->stacks_count ? tables->stacks[stack].count : 0;
}

uint64_t gotrace_tables_frame(const struct gotrace_tables *tables, uint64_t stack, size_t frame)
{
    return frame < gotrace_tables_frames(tables, stack)
               ? tables->frames[tables->stacks[stack].first + frame]
               : 0;
}

void gotrace_tables_clear(struct gotrace_tables *tables)
{
    tables->strings_count = tables->stacks_count = tables->frames_count = 0;
}

void gotrace_tables_free(struct gotrace_tables *tables)
{
    free(tables->strings);
    free(tables->stacks);
    free(tables->frames);
    *tables = (struct gotrace_tables){.strings = NULL};
}
