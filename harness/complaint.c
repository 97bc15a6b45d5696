/* complaint.c - see complaint.h. */
#include "harness/complaint.h"

#include "harness/spec.h"

#include <stdarg.h>
#include <stdio.h>

bool complain(const struct complaint *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(to->text, to->size, format, args);
    va_end(args);
    spec_one_line(to->text);
    return false;
}
