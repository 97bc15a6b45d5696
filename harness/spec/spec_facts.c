/* spec_facts.c - specifications that are kept, and what they say; see spec.h. */
#include "harness/base/memory.h"
#include "harness/spec/kept.h"
#include "harness/spec/spec.h"
#include "workloads/workload.h"

#include <string.h>

static struct kept kept_variants, kept_workloads;

const struct variant_spec *variant_spec_kept(const char *text, struct error *error)
{
    struct variant_spec spec;
    const void *found = kept_find(&kept_variants, text);
    if (found || !variant_spec_parse(&spec, text, error))
        return found;
    return kept_add(&kept_variants, text, spec.text, &spec, sizeof spec);
}

const struct workload_spec *workload_spec_kept(const char *text, struct error *error)
{
    struct workload_spec spec;
    const void *found = kept_find(&kept_workloads, text);
    if (found || !workload_spec_parse(&spec, text, error))
        return found;
    return kept_add(&kept_workloads, text, spec.text, &spec, sizeof spec);
}

char *variant_spec_canonical(const char *text, struct error *error)
{
    const struct variant_spec *spec = variant_spec_kept(text, error);
    return spec ? xstrdup(spec->text) : NULL;
}

char *workload_spec_canonical(const char *text, struct error *error)
{
    const struct workload_spec *spec = workload_spec_kept(text, error);
    return spec ? xstrdup(spec->text) : NULL;
}

bool variant_spec_is_moot(const char *text, struct error *why)
{
    bool vain = false;
    struct variant_spec spec;
    if (!kept_find(&kept_variants, text) && variant_spec_parse_vain(&spec, text, &vain, why))
        kept_add(&kept_variants, text, spec.text, &spec, sizeof spec);
    return vain;
}

bool workload_spec_fits(const char *text, int64_t workers, struct error *error)
{
    struct error unused;
    const struct workload_spec *spec = workload_spec_kept(text, error);
    bool fits = spec && workload_spec_fit_workers(spec, workers, error);
    if (spec)
        workload_spec_set_workers(spec, 1, &unused);
    return fits;
}

bool workload_spec_number(const char *text, const char *parameter, int64_t *value)
{
    struct error error;
    const struct workload_spec *spec = workload_spec_kept(text, &error);
    const struct param *table = spec ? spec->workload->params : NULL;
    const struct param *param = table ? param_find(table, parameter) : NULL;
    bool is_number = param && param_takes_numbers(param) && !spec->per_worker[param - table];
    if (is_number)
        *value = *param_field(spec->params, param);
    return is_number;
}

bool workload_spec_has_latency(const char *text)
{
    struct error error;
    const struct workload_spec *spec = workload_spec_kept(text, &error);
    return spec && spec->workload->has_latency && spec->workload->has_latency(spec->params);
}

bool workload_spec_finds(const char *text, const char *name)
{
    struct error error;
    const struct workload_spec *spec = workload_spec_kept(text, &error);
    const char *const *find = spec ? spec->workload->finds : NULL;
    for (; find && *find; find++)
        if (strcmp(*find, name) == 0)
            return true;
    return false;
}
