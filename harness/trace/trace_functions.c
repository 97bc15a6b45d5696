/* trace_functions.c - the functions of goroutines, where the workload has names for them. */
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/spec/spec.h"
#include "harness/trace/trace.h"
#include "workloads/workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MAX = 8, SHOWN_MAX = 24, WIDTH = 10 };

/* As sched_trace_name(), but asks the workload: "main.serve", or "main.serve, copy 2" where there
 * are several. NULL: it has no name for it. */
static char *function_of(const struct sched_trace *trace, const struct workload_spec *spec,
                         uint32_t number)
{
    uint32_t path[LEVELS_MAX], at = number, copy = 0;
    size_t levels = 0;
    while (levels < LEVELS_MAX && at < trace->gs && trace->g[at].parent != 0) {
        if (trace->g[at].by_task)
            return NULL;
        memmove(path + 1, path, levels++ * sizeof *path);
        path[0] = trace->g[at].child;
        at = trace->g[at].parent;
    }
    const char *function = NULL;
    if (at == 1 && levels > 0)
        function = spec->workload->function(spec->params, path, levels, &copy);
    if (!function)
        return NULL;
    return copy > 0 ? text_format("%s, copy %" PRIu32, function, copy) : xstrdup(function);
}

json_t *trace_functions_to_json(const struct sched_trace *trace, const struct workload_spec *spec)
{
    if (!spec->workload->function)
        return NULL;
    json_t *functions = json_object();
    for (uint32_t i = 1; i < trace->gs; i++) {
        char name[SCHED_TRACE_NAME];
        char *function = function_of(trace, spec, i);
        if (function)
            json_object_set_new(functions, sched_trace_name(trace, i, false, name),
                                json_string(function));
        free(function);
    }
    return functions;
}

void trace_functions_print(json_t *functions, FILE *to)
{
    size_t shown = 0, count = json_object_size(functions);
    const char *name;
    json_t *function;
    if (count > 0)
        fputs("\nFunctions of goroutines:\n", to);
    json_object_foreach(functions, name, function) if (shown++ < SHOWN_MAX)
        fprintf(to, "  %-*s %s\n", WIDTH, name, json_string_value(function));
    if (count > SHOWN_MAX)
        fprintf(to, "  and %zu more with --format json\n", count - SHOWN_MAX);
}
