/* trace_options.c - see trace_options.h. */
#include "harness/options/trace_options.h"

#include "harness/base/error.h"
#include "harness/base/json_fields.h"
#include "harness/options/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct trace_only *trace_option_only(const char *text)
{
    struct error error;
    struct trace_only *only = text ? trace_only_parse(text, &error) : NULL;
    if (text && !only)
        cli_misuse("--only=%s: %s", text, error.text);
    return only;
}

int64_t trace_option_call(const json_t *record, const struct sched_trace *trace, int warmup)
{
    if (warmup == 0 || trace->count == 0)
        return 0;
    int64_t began_ns = field_integer(record, "timed_began_ns") - trace->since_ns;
    return began_ns * 1000 - trace->event[0].when_ps;
}

void trace_option_output_check(const char *path)
{
    if (!path)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        cli_misuse("--output: cannot write %s: %s", path, strerror(errno));
    close(fd);
}

FILE *trace_option_output_open(const char *path)
{
    FILE *to = path ? fopen(path, "we") : stdout;
    if (!to)
        cli_give_up("%s", strerror(errno));
    return to;
}

void trace_option_output_close(FILE *to)
{
    if (to != stdout && fclose(to) != 0)
        cli_give_up("%s", strerror(errno));
}
