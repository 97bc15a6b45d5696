/* counted.c - see counted.h. */
#include "harness/counted.h"

#include <inttypes.h>
#include <stdio.h>

struct counted counted(uint64_t count, const char *noun)
{
    struct counted text;
    snprintf(text.s, sizeof text.s, "%" PRIu64 " %.40s%s", count, noun, count == 1 ? "" : "s");
    return text;
}
