/* machine_keys.h - the keys of a machine model: what each means, its unit, its range.
 *
 * Callers: machine_file.c and machine_spec.c, which fill a struct machine_values from a file and
 * from a specification; code that lists or writes models. Texts are the same everywhere:
 *
 *     counts      8
 *     sizes       32 KiB       B, KiB, MiB, GiB; also Ki, Mi, Gi
 *     times       1.5 cycles   cycle, cycles, ps, ns, us, ms, s; up to three decimals
 *     clock rate  4.5 GHz      MHz, GHz; up to three decimals
 *     words       lru          those of the key
 *
 * The space may be missing, and 0 needs no unit. A time in cycles follows the clock rate.
 */
#ifndef SCHEDLAB_MACHINE_KEYS_H
#define SCHEDLAB_MACHINE_KEYS_H

#include "harness/base/error.h"

#include "machine/sim/model.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum machine_kind { MACHINE_COUNT, MACHINE_BYTES, MACHINE_TIME, MACHINE_CLOCK, MACHINE_WORD };

struct machine_key {
    const char *name; /* "l1.size" */
    enum machine_kind kind;
    size_t offset;           /* in struct sim_model */
    size_t size;             /* of the field there: an int, a bool or an int64_t */
    int64_t min, max;        /* inclusive; of a time in ps, of a clock rate in kHz */
    const char *const *word; /* of a word's key, by value */
    const char *help;
};

/* In the order of the table, which is that of canonical texts. */
enum {
    MACHINE_CORES,
    MACHINE_SMT,
    MACHINE_GROUP,
    MACHINE_SOCKET,
    MACHINE_KEYS_BEFORE_LOOKAHEAD = 56,
    MACHINE_LOOKAHEAD = MACHINE_KEYS_BEFORE_LOOKAHEAD,
    MACHINE_KEYS
};
extern const struct machine_key machine_keys[MACHINE_KEYS];

/* A value as it was given: a time is a number of ps, or of thousandths of a cycle. */
struct machine_value {
    int64_t number;
    bool given, cycles;
};
struct machine_values {
    struct machine_value of[MACHINE_KEYS];
};

/* MACHINE_KEYS if there is none of that name. */
size_t machine_key_find(const char *name);

/* "32 KiB" into *value. False, and in error "l1.size is ...; valid: ..." if it is none. */
bool machine_value_parse(const struct machine_key *key, const char *text,
                         struct machine_value *value, struct error *error);

/* A struct, so that a call can stand in an argument list. */
struct machine_text {
    char s[160];
};

/* The shortest text that gives this value, with or without a space before the unit. */
struct machine_text machine_value_text(const struct machine_key *key, struct machine_value value,
                                       bool space);

/* "1 to 256", "0 ps to 1 s": what is valid. */
struct machine_text machine_key_range_text(const struct machine_key *key);

/* The model that these values make; all keys but lookahead must be given. A lookahead that is not
 * given is as long as may be. Sets no name. MACHINE_KEYS if all is well; else the key whose value
 * is impossible, and one line in error. */
size_t machine_model_make(struct sim_model *model, const struct machine_values *values,
                          struct error *error);

/* The value of a key in a model: ps, bytes, kHz, a count or the number of a word. */
int64_t machine_model_get(const struct sim_model *model, const struct machine_key *key);

/* {"cores": 8, "l1.size": 32768, "l1.hit": 185, "prefetch": "yes", ...}: bytes, ps, kHz; owned by
 * the caller. */
json_t *machine_model_to_json(const struct sim_model *model);

#endif
