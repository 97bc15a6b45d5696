/* outside_with.c - see outside.h: the files of this program on a command line. */
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/spec/outside.h"

#include <stdlib.h>
#include <string.h>

/* "mine.slv" of "mine.slv 0123456789abcdef". */
static void origins_print(FILE *to, const char *const *origins)
{
    for (; *origins; origins++) {
        const char *digest = strrchr(*origins, ' ');
        char *file = text_format("./%.*s", digest ? (int)(digest - *origins) : 0, *origins);
        if (digest)
            shell_option_print(to, "--with", file);
        free(file);
    }
}

void outside_with_print(FILE *to)
{
    const char *with = getenv(OUTSIDE_WITH);
    if (!outside_origins[0] && !outside_workload_origins[0])
        return;
    if (with) {
        fputs(with, to);
        return;
    }
    origins_print(to, outside_origins);
    origins_print(to, outside_workload_origins);
}
