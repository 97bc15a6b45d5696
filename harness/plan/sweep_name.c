/* sweep_name.c - see sweep_name_is_valid() in sweep_file.h: apart, for programs without sweeps. */
#include "harness/plan/sweep_file.h"

#include <string.h>

/* Names become parts of paths, commands and table rows. */
bool sweep_name_is_valid(const char *name)
{
    static const char valid[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    return *name && name[strspn(name, valid)] == '\0' && !strchr(".-_", *name) &&
           strlen(name) <= SWEEP_NAME_MAX;
}
