/* spec_facts.c - what a specification of a workload says of it; see spec.h. */
#include "harness/spec/spec.h"
#include "workloads/workload.h"

#include <string.h>

bool workload_spec_number(const char *text, const char *parameter, int64_t *value)
{
    struct workload_spec spec;
    char error[256];
    if (!workload_spec_parse(&spec, text, error, sizeof error))
        return false;
    const struct param *table = spec.workload->params, *param = param_find(table, parameter);
    bool is_number = param && param_takes_numbers(param) && !spec.per_worker[param - table];
    if (is_number)
        *value = *param_field(spec.params, param);
    workload_spec_free(&spec);
    return is_number;
}

bool workload_spec_has_latency(const char *text)
{
    char error[256];
    struct workload_spec spec;
    if (!workload_spec_parse(&spec, text, error, sizeof error))
        return false;
    bool has = spec.workload->has_latency && spec.workload->has_latency(spec.params);
    workload_spec_free(&spec);
    return has;
}

bool workload_spec_finds(const char *text, const char *name)
{
    char error[256];
    struct workload_spec spec;
    bool found = false;
    if (!workload_spec_parse(&spec, text, error, sizeof error))
        return false;
    for (const char *const *find = spec.workload->finds; find && *find; find++)
        found = found || strcmp(*find, name) == 0;
    workload_spec_free(&spec);
    return found;
}
