/* claims.c - see claims.h. */
#include "harness/artifact/claims.h"

#include "harness/artifact/claims_internal.h"
#include "harness/base/fnv1a.h"
#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/records/run_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, STAMP_SIZE = sizeof "-20260131T235959Z" - 1 };

const char *const claim_outcome_words[CLAIM_OUTCOMES] = {"equal", "within", "differs", "open",
                                                         "missing"};

char *claims_run_name(const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    size_t from = length;
    while (from > 0 && folder[from - 1] != '/')
        from--;
    size_t size = length - from;
    const char *name = folder + from;
    if (size > STAMP_SIZE && name[size - 1] == 'Z' && name[size - STAMP_SIZE] == '-')
        size -= STAMP_SIZE;
    return xstrndup(name, size);
}

json_t *claim_hash(const json_t *json)
{
    char *text = json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
    if (!text)
        memory_die();
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx",
             (unsigned long long)fnv1a(FNV1A_SEED, text, strlen(text)));
    free(text);
    return json_string(hash);
}

void claim_put_interval(json_t *claim, double value, double lo, double hi)
{
    if (isfinite(value))
        json_object_set_new(claim, "value", json_real(value));
    if (isfinite(lo) && isfinite(hi)) {
        json_object_set_new(claim, "lo", json_real(lo));
        json_object_set_new(claim, "hi", json_real(hi));
    }
}

json_t *claims_of(const char *folder, struct error *error)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/repro.json", folder);
    if (access(path, R_OK) == 0)
        return claims_of_reproduction(folder, path, error);
    if (run_folder_is_run(folder))
        return claims_of_run(folder, error);
    run_folder_explain(folder, error);
    return NULL;
}

/* Holding -------------------------------------------------------------------------------------- */

/* A block that one of the two has not measured is null there, or beyond the end. */
static enum claim_outcome hold_exact(const json_t *claim, const json_t *other, char *reason,
                                     size_t size)
{
    const json_t *its = json_object_get(other, "samples"), *sample;
    size_t i, common = 0;
    json_array_foreach(json_object_get(claim, "samples"), i, sample)
    {
        const json_t *again = json_array_get(its, i);
        if (!json_is_string(sample) || !json_is_string(again))
            continue;
        common++;
        if (json_equal(sample, again))
            continue;
        snprintf(reason, size, "sample %zu is another one: %.4g in place of %.4g", i + 1,
                 field_number(other, "value"), field_number(claim, "value"));
        return CLAIM_DIFFERS;
    }
    if (common > 0)
        return CLAIM_EQUAL;
    snprintf(reason, size, "no sample that both have");
    return CLAIM_OPEN;
}

static bool is_turned(const char *one, const char *other)
{
    static const char *const pairs[][2] = {{"faster", "slower"}, {"supported", "refuted"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < 2; k++)
            if (strcmp(one, pairs[i][k]) == 0 && strcmp(other, pairs[i][1 - k]) == 0)
                return true;
    return false;
}

static enum claim_outcome hold_verdict(const char *mine, const char *its, char *reason, size_t size)
{
    if (strcmp(mine, its) == 0)
        return CLAIM_WITHIN;
    snprintf(reason, size, "%s in place of %s", its, mine);
    return strcmp(its, "undecided") == 0 || strcmp(its, "few") == 0 ? CLAIM_OPEN : CLAIM_DIFFERS;
}

static enum claim_outcome hold_ratio(const json_t *claim, const json_t *other, double tolerance,
                                     char *reason, size_t size)
{
    const char *mine = field_text(claim, "verdict"), *its = field_text(other, "verdict");
    double lo = field_number(claim, "lo"), hi = field_number(claim, "hi");
    double other_lo = field_number(other, "lo"), other_hi = field_number(other, "hi");
    if (is_turned(mine, its) || !isfinite(lo) || !isfinite(hi))
        return hold_verdict(mine, its, reason, size);
    if (!isfinite(other_lo) || !isfinite(other_hi)) {
        snprintf(reason, size, "too few samples for an interval");
        return CLAIM_OPEN;
    }
    if (other_lo <= hi * (1 + tolerance) && other_hi >= lo / (1 + tolerance))
        return CLAIM_WITHIN;
    snprintf(reason, size, "%.3g (%.3g to %.3g) in place of %.3g (%.3g to %.3g)",
             field_number(other, "value"), other_lo, other_hi, field_number(claim, "value"), lo,
             hi);
    return CLAIM_DIFFERS;
}

enum claim_outcome claim_hold(const json_t *claim, const json_t *other, double tolerance,
                              struct error *reason)
{
    const char *kind = field_text(claim, "kind");
    *reason->text = '\0';
    if (!other) {
        error_print(reason, "not measured");
        return CLAIM_MISSING;
    }
    if (strcmp(kind, "exact") == 0)
        return hold_exact(claim, other, reason->text, sizeof reason->text);
    if (strcmp(kind, "ratio") == 0)
        return hold_ratio(claim, other, tolerance, reason->text, sizeof reason->text);
    return hold_verdict(field_text(claim, "verdict"), field_text(other, "verdict"), reason->text,
                        sizeof reason->text);
}
