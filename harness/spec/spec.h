/* spec.h - specifications: "gmp,tick=64" into a variant and its knobs, "fib,n=30" into a workload
 * and its parameters.
 *
 * Callers: list, run, sweep and sample, on thread stacks. One grammar everywhere:
 *
 *     NAME[,KEY=VALUE]...     VALUE is a word of the table or a number
 *
 * A number may end in k, M, G (powers of 1000) or Ki, Mi, Gi (powers of 1024). If its unit is
 * "bytes", it may end in B, KiB, MiB or GiB too; if it is "ns", in ns, us, ms or s. The canonical
 * text is the name and then, in the order of the table, the keys whose values differ from the
 * default, as plain numbers or words. Two specifications mean the same exactly if their canonical
 * texts are equal.
 *
 * A parameter of a workload may be a number "per worker": "uneven,tasks=1000/worker" has 64000
 * tasks on 64 workers. So the work grows with the workers, and the specification stays the same.
 *
 * NAME may also be a preset of preset.h, which stands for a variant and some settings; settings
 * behind it replace its own. The canonical text begins with the preset if that leaves fewer
 * settings to be named, and two at the most. If two presets leave equally many, it is the one that
 * was named. Only then may two canonical texts mean the same.
 *
 * Beside sched_variants[] there are `serial`: no scheduler, workload->run_serial() as plain C;
 * `elision`: none either, workload_elision(); and other runtimes (peer_table.h).
 */
#ifndef SCHEDLAB_SPEC_H
#define SCHEDLAB_SPEC_H

#include "harness/base/error.h"

#include "param.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_ops;
struct workload;

/* Settings that every variant has beside its own knobs, spelled likewise: "gmp,malloc=glibc". */
struct variant_common {
    int64_t malloc; /* enum allocator */
};
extern const struct param variant_common_params[];

struct variant_spec {
    const struct sched_ops *ops;
    void *knobs; /* ops->knobs_size bytes, filled */
    struct variant_common common;
    char *text; /* canonical: knobs, then common settings */
};

struct workload_spec {
    const struct workload *workload;
    void *params;
    int64_t *per_worker; /* of each parameter of the table: N if it is "N/worker", else 0 */
    char *text;
};

/* The i-th variant, in the order of `schedlab list`; NULL past the last one. */
const struct sched_ops *spec_variant(size_t i);

/* All workloads, those from outside the tree last; NULL-terminated. The program's. */
const struct workload *const *spec_workloads(void);

/* The baselines without a scheduler; none of their functions is set. */
extern const struct sched_ops spec_serial, spec_elision;

/* Is it one of them? They have one thread, the caller's. */
static inline bool spec_is_serial(const struct sched_ops *ops)
{
    return ops == &spec_serial || ops == &spec_elision;
}

/* Parse: true, and *spec is to be freed; or false, nothing to free, and one line in error (no
 * newline) that names what is wrong and what is valid. Both call the owner's optional check(). */
bool variant_spec_parse(struct variant_spec *spec, const char *text, struct error *error);
bool workload_spec_parse(struct workload_spec *spec, const char *text, struct error *error);
/* The same for a workload that is in no list; text begins with its name. */
bool workload_spec_parse_of(struct workload_spec *spec, const struct workload *workload,
                            const char *text, struct error *error);

/* The same; *vain: true if it is wrong only because a knob changes nothing (void_knobs.h). */
bool variant_spec_parse_vain(struct variant_spec *spec, const char *text, bool *vain,
                             struct error *error);

/* The same for sched_variants[] alone, where a scheduler of this program is needed. */
bool scheduler_spec_parse(struct variant_spec *spec, const char *text, struct error *error);

/* The same for those who only read, where a text is met many times: it is parsed once, and the
 * specification is kept for the rest of the process. NULL and one line in error. */
const struct variant_spec *variant_spec_kept(const char *text, struct error *error);
const struct workload_spec *workload_spec_kept(const char *text, struct error *error);

/* The canonical text, to be freed; NULL and one line in error. */
char *variant_spec_canonical(const char *text, struct error *error);
char *workload_spec_canonical(const char *text, struct error *error);
/* True if so many workers are enough for what the specification asks for. If not, one line in error
 * says how many are. */
bool workload_spec_takes_workers(const struct workload_spec *spec, int64_t workers,
                                 struct error *error);
/* Gives parameters that are "N/worker" their value for so many workers; until then they have that
 * for one. False and one line in error if one cannot be that large. May be called again. */
bool workload_spec_set_workers(const struct workload_spec *spec, int64_t workers,
                               struct error *error);

/* Both: it takes so many workers, and has its numbers for them, also where it is a kept one: then
 * until the next call. */
bool workload_spec_fit_workers(const struct workload_spec *spec, int64_t workers,
                               struct error *error);
/* The same of a text. */
bool workload_spec_fits(const char *text, int64_t workers, struct error *error);
/* True if the workload of that specification records latencies. False if the specification is
 * wrong. */
bool workload_spec_has_latency(const char *text);
/* True if the parameter is a number there, and the same on any number of workers; then *value. */
bool workload_spec_number(const char *text, const char *parameter, int64_t *value);
/* True if the workload has a finding of that name. */
bool workload_spec_finds(const char *text, const char *name);
/* True if only a knob that changes nothing makes the variant wrong. why: the line that
 * variant_spec_parse() then gives. */
bool variant_spec_is_moot(const char *text, struct error *why);
void variant_spec_free(struct variant_spec *spec); /* free() rules: all zero is fine */
void workload_spec_free(struct workload_spec *spec);

/* Parts, for tables and messages ------------------------------------------------------------- */

/* A struct, so that a call can stand in an argument list. */
struct param_text {
    char s[512];
};

/* "chain" or "64" */
struct param_text param_value_text(const struct param *param, int64_t value);

/* "0 to 1024 dispatches or random", "chain, all, none" */
struct param_text param_range_text(const struct param *param);

/* {"tick": 64, "wake": "chain", ...}: every key of the table. Owned by the caller. */
json_t *params_to_json(const void *owner, const struct param *table);

/* The same for a variant's knobs and its common settings. */
json_t *variant_settings_to_json(const struct variant_spec *spec);

/* How many parameters it has, without the {0} at its end; of NULL 0. */
size_t params_count(const struct param *table);

/* The value of text: a word of the parameter's or a number in its range. False if it is neither. */
bool param_parse_value(const struct param *param, const char *text, int64_t *value);

/* A number as in a specification; unit: that of a parameter, or NULL: any suffix. False if text is
 * not a whole number, is in another unit or does not fit. */
bool spec_parse_number(const char *text, const char *unit, int64_t *value);

/* The same for the option of that name ("workers" for --workers) from min to max; unit "": a pure
 * number. False and one line in error that says what is valid. */
bool option_number(const char *option, const char *text, int64_t min, int64_t max, const char *unit,
                   int64_t *value, struct error *error);

/* The same for a time ("200ms", "24.1us"), or a plain number of times plain_ns. */
bool option_time(const char *option, const char *text, int64_t plain_ns, int64_t min_ns,
                 int64_t max_ns, int64_t *value, struct error *error);

#endif
