/* error.c - see error.h. */
#include "harness/base/error.h"

#include "harness/base/text.h"

#include <stdarg.h>
#include <stdio.h>

void error_print(struct error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
}

bool error_quote(struct error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    text_one_line(error->text);
    return false;
}
