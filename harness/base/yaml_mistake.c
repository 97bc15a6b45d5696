/* yaml_mistake.c - see yaml_mistake.h. */
#include "harness/base/yaml_mistake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mistake_log(cyaml_log_t level, void *context, const char *format, va_list args)
{
    (void)level;
    struct yaml_mistake *mistake = context;
    char line[sizeof mistake->message];
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = '\0';
    if (!*mistake->message) {
        const char *message = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
        snprintf(mistake->message, sizeof mistake->message, "%s", message);
        return;
    }
    if (mistake->parts == YAML_MISTAKE_DEPTH)
        return;
    unsigned entry;
    char *part = mistake->part[mistake->parts];
    if (sscanf(line, " in mapping field '%63[^']'", part) == 1) {
        mistake->is_key[mistake->parts++] = true;
    } else if (sscanf(line, " in sequence entry '%u'", &entry) == 1 && entry > 0) {
        snprintf(part, sizeof mistake->part[0], "%u", entry - 1);
        mistake->is_key[mistake->parts++] = false;
    }
}

void yaml_mistake_place(const struct yaml_mistake *mistake, int skip,
                        char place[YAML_MISTAKE_PLACE])
{
    place[0] = '\0';
    for (int i = mistake->parts - 1; i >= skip; i--) {
        size_t length = strlen(place);
        snprintf(place + length, YAML_MISTAKE_PLACE - length, "%s%s", length ? "/" : "",
                 mistake->part[i]);
    }
}

const char *yaml_mistake_key(const struct yaml_mistake *mistake)
{
    for (int i = 0; i < mistake->parts; i++)
        if (mistake->is_key[i])
            return mistake->part[i];
    return "the file";
}

/* The allocator for libcyaml: others replace and free what it allocates, so it must be realloc()
 * and free(). */
static void *memory(void *context, void *pointer, size_t size)
{
    (void)context;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

cyaml_config_t yaml_mistake_config(struct yaml_mistake *mistake)
{
    return (cyaml_config_t){
        .log_fn = mistake ? mistake_log : NULL,
        .log_ctx = mistake,
        .log_level = CYAML_LOG_ERROR,
        .mem_fn = memory,
        .flags = CYAML_CFG_DEFAULT,
    };
}
