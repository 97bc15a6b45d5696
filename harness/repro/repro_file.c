/* repro_file.c - see repro_file.h. */
#include "harness/repro/repro_file.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/base/text.h"
#include "harness/evidence/metric.h"
#include "harness/models/machine_spec.h"
#include "harness/repro/outcome.h"
#include "harness/repro/popular_claims.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, WHERE_SIZE = 256 };

/* Checking ------------------------------------------------------------------------------------- */

/* Each of the keys, ended by NULL, has a text. */
static bool has_texts(struct error *to, const json_t *object, const char *where,
                      const char *const *keys)
{
    if (!json_is_object(object))
        return error_quote(to, "%s is not an object", where);
    for (; *keys; keys++)
        if (!json_is_string(json_object_get(object, *keys)))
            return error_quote(to, "%s has no text \"%s\"", where, *keys);
    return true;
}

static bool has_list(struct error *to, const json_t *object, const char *where, const char *key)
{
    return json_is_array(json_object_get(object, key)) ||
           error_quote(to, "%s has no list \"%s\"", where, key);
}

static bool has_verdict(struct error *to, const json_t *object, const char *where)
{
    const char *text = field_text(object, "verdict");
    return repro_file_verdict(object) != VERDICT_NONE || strcmp(text, "none") == 0 ||
           error_quote(to,
                       "%s has the verdict \"%.40s\"; valid: supported, refuted, undecided, "
                       "not run, machines disagree, none",
                       where, text);
}

typedef bool check_of(struct error *to, const json_t *one, const char *where);

/* Each element of the list at the key is right. */
static bool has_each(struct error *to, const json_t *object, const char *where, const char *key,
                     check_of *check)
{
    char inside[WHERE_SIZE];
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(object, key), i, one)
    {
        snprintf(inside, sizeof inside, "%.160s%s%s[%zu]", where, *where ? "." : "", key, i);
        if (!check(to, one, inside))
            return false;
    }
    return true;
}

static bool column_check(struct error *to, const json_t *column, const char *where)
{
    const char *const texts[] = {"verdict", NULL};
    return has_texts(to, column, where, texts) && has_verdict(to, column, where) &&
           (json_is_object(json_object_get(column, "effect")) ||
            error_quote(to, "%s has no object \"effect\"", where)) &&
           (json_is_object(json_object_get(column, "level")) ||
            error_quote(to, "%s has no object \"level\"", where));
}

static bool expectation_check(struct error *to, const json_t *expectation, const char *where)
{
    const char *const texts[] = {"says", "verdict", "expected", "metric", "level", NULL};
    const char *const of_table[] = {"says", "wanted", NULL};
    const json_t *table = json_object_get(expectation, "table");
    char inside[WHERE_SIZE];
    if (!has_texts(to, expectation, where, texts) || !has_verdict(to, expectation, where) ||
        !has_list(to, expectation, where, "columns"))
        return false;
    snprintf(inside, sizeof inside, "%.160s.table", where);
    if (table && !has_texts(to, table, inside, of_table))
        return false;
    json_int_t decisive = field_integer(expectation, "decisive");
    if (decisive < 0 ||
        (size_t)decisive >= json_array_size(json_object_get(expectation, "columns")))
        return error_quote(to, "%s: \"decisive\" is none of its columns", where);
    return has_each(to, expectation, where, "columns", column_check);
}

static bool part_check(struct error *to, const json_t *part, const char *where)
{
    const char *const texts[] = {"id", "question", "factor", "metric", "figure", NULL};
    const char *const lists[] = {"levels", "variants", "workloads", "workers", "expectations"};
    if (!has_texts(to, part, where, texts))
        return false;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (!has_list(to, part, where, lists[i]))
            return false;
    return has_each(to, part, where, "expectations", expectation_check);
}

static bool place_check(struct error *to, const json_t *place, const char *where)
{
    const char *const texts[] = {"machine", "verdict", "state", NULL};
    if (!has_texts(to, place, where, texts) || !has_verdict(to, place, where) ||
        !has_list(to, place, where, "parts"))
        return false;
    if (strchr(field_text(place, "folder"), '/'))
        return error_quote(to, "%s: \"folder\" is not the name of one", where);
    return has_each(to, place, where, "parts", part_check);
}

static bool experiment_check(struct error *to, const json_t *experiment, const char *where)
{
    const char *const texts[] = {"id",  "title",   "claim",   "source",
                                 "why", "refuted", "verdict", NULL};
    return has_texts(to, experiment, where, texts) && has_verdict(to, experiment, where) &&
           has_list(to, experiment, where, "machines") &&
           has_each(to, experiment, where, "machines", place_check) &&
           (!json_object_get(experiment, "guests") ||
            (has_list(to, experiment, where, "guests") &&
             has_each(to, experiment, where, "guests", place_check)));
}

static bool claim_check(struct error *to, const json_t *claim, const char *where)
{
    const char *const texts[] = {"id", "who", "says", "go", NULL};
    static const char *const sides[] = {"gmp", "itself", NULL};
    if (!has_texts(to, claim, where, texts))
        return false;
    if (json_object_get(claim, "kind")) /* of an earlier version, with a verdict of another kind */
        return true;
    if (!text_is_word(field_text(claim, "degree"), claim_degrees))
        return error_quote(to,
                           "%s has the degree \"%.40s\"; valid: right, imprecise, outdated, "
                           "wrong",
                           where, field_text(claim, "degree"));
    for (size_t i = 0; sides[i]; i++) {
        const json_t *side = json_object_get(claim, sides[i]);
        if (!text_is_word(field_text(side, "agreement"), claim_agreements) ||
            !json_is_array(json_object_get(side, "parts")))
            return error_quote(to, "%s has no object \"%s\" with an agreement and a list of parts",
                               where, sides[i]);
    }
    return true;
}

/* It has all keys that readers rely on. */
static bool is_whole(struct error *to, const json_t *repro)
{
    const char *const texts[] = {"name", "began", "written", "revision", NULL};
    if (!json_is_object(repro))
        return error_quote(to, "it is not an object");
    if (field_integer(repro, "schema") != REPRO_SCHEMA)
        return error_quote(to, "its schema is not %d", REPRO_SCHEMA);
    if (!has_texts(to, repro, "it", texts) || !has_list(to, repro, "it", "experiments") ||
        !has_list(to, repro, "it", "claims"))
        return false;
    if (!json_is_object(json_object_get(repro, "run")))
        return error_quote(to, "it has no object \"run\"");
    return has_each(to, repro, "", "experiments", experiment_check) &&
           has_each(to, repro, "", "claims", claim_check);
}

/* Reading -------------------------------------------------------------------------------------- */

bool repro_file_is_there(const char *folder)
{
    char path[PATH_SIZE];
    return snprintf(path, sizeof path, "%s/repro.json", folder) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

json_t *repro_file_read(const char *folder, struct error *error)
{
    char path[PATH_SIZE];
    struct error wrong;
    json_error_t where;
    if (snprintf(path, sizeof path, "%s/repro.json", folder) >= (int)sizeof path)
        return error_null(error, "%.64s...: the path is too long", folder);
    json_t *repro = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    char packed[PATH_SIZE + 4];
    snprintf(packed, sizeof packed, "%s.xz", path);
    if (!repro && access(path, F_OK) != 0 && access(packed, F_OK) == 0)
        return error_null(error, "%s is not there, but packed; unpack it: xz -dk %s", path, packed);
    if (!repro)
        return error_null(error, "%s:%d: %s", path, where.line > 0 ? where.line : 1, where.text);
    if (is_whole(&wrong, repro))
        return repro;
    error_print(error, "%s: %s", path, wrong.text);
    json_decref(repro);
    return NULL;
}

/* Content -------------------------------------------------------------------------------------- */

enum verdict repro_file_verdict(const json_t *object)
{
    return verdict_of_text(field_text(object, "verdict"));
}

bool repro_file_lacks(const json_t *object)
{
    enum verdict verdict = repro_file_verdict(object);
    return verdict == VERDICT_UNDECIDED || verdict == VERDICT_NOT_RUN;
}

const json_t *repro_file_decisive(const json_t *expectation)
{
    return json_array_get(json_object_get(expectation, "columns"),
                          (size_t)field_integer(expectation, "decisive"));
}

bool repro_file_is_of_misses(const json_t *expectation)
{
    return strstr(field_text(expectation, "metric"), "_MISS") != NULL;
}

const char *repro_file_slower(const json_t *expectation, const json_t *column)
{
    static const char *const keys[] = {"variant", "workload", "machine"};
    const json_t *level = json_object_get(column, "level"), *over = json_object_get(column, "over");
    const json_t *effect = json_object_get(column, "effect");
    bool more =
        json_is_true(json_object_get(effect, "infinite")) || field_number(effect, "median") > 1;
    bool faster = more == (strcmp(field_text(expectation, "metric"), "throughput") == 0);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(field_text(level, keys[i]), field_text(over, keys[i])) != 0)
            return field_text(faster ? over : level, keys[i]);
    return faster == (field_integer(level, "workers") > field_integer(over, "workers"))
               ? "fewer workers"
               : "more workers";
}

char *repro_file_regimes(const json_t *column)
{
    const json_t *regimes = json_object_get(column, "regimes");
    const char *differ = field_text(regimes, "differ");
    bool said = strcmp(field_text(column, "lacks"), verdict_lack_text(LACK_REGIMES)) == 0;
    if (!regimes || (said && !*differ))
        return NULL;
    if (said)
        return text_format("the regimes differ in %s", differ);
    return text_format("two regimes: %s%s%s", field_text(regimes, "text"),
                       *differ ? "; they differ in " : "", differ);
}

char *repro_file_disturbed(const json_t *object)
{
    const json_t *disturbed = json_object_get(object, "disturbed");
    json_int_t samples = field_integer(disturbed, "samples");
    if (samples == 0)
        return NULL;
    return text_format(
        "%lld of %s marked as disturbed, %lld measured again", field_integer(disturbed, "marked"),
        counted((uint64_t)samples, "native sample").s, field_integer(disturbed, "repeated"));
}

static const json_t *with_id(const json_t *list, const char *id)
{
    json_each(one, list) {
        if (strcmp(field_text(one, "id"), id) == 0)
            return one;
    }
    return NULL;
}

const json_t *repro_file_entry(const json_t *repro, const char *list, const char *id)
{
    return with_id(json_object_get(repro, list), id);
}

const json_t *repro_file_part(const json_t *place, const char *id)
{
    return with_id(json_object_get(place, "parts"), id);
}

const json_t *repro_file_expectation(const json_t *part, json_int_t number)
{
    json_each(one, json_object_get(part, "expectations")) {
        if (field_integer(one, "number") == number)
            return one;
    }
    return NULL;
}

const char *repro_file_role(const json_t *expectation)
{
    const char *role = field_text(expectation, "role");
    return *role ? role : role_name(ROLE_CLAIM);
}

bool repro_file_is_claim(const json_t *expectation)
{
    return strcmp(repro_file_role(expectation), role_name(ROLE_CLAIM)) == 0;
}

const char *repro_file_told(const json_t *expectation)
{
    const char *told = field_text(expectation, "told");
    return *told ? told : field_text(expectation, "verdict");
}

const char *repro_file_said(const json_t *object)
{
    const char *said = field_text(object, "said");
    return *said ? said : field_text(object, "verdict");
}

/* How far a ratio is from 1; -1 of what is none. */
static double strength(const json_t *expectation)
{
    const json_t *column = repro_file_decisive(expectation);
    double median = field_number(json_object_get(column, "effect"), "median");
    bool ratio = json_object_get(column, "over") != NULL;
    return ratio && median > 0 && isfinite(median) ? fabs(log(median)) : -1;
}

/* True if the claim says more than the one found before. */
static bool says_more(const json_t *claim, const json_t *found)
{
    enum verdict verdict = repro_file_verdict(claim), before = repro_file_verdict(found);
    return !found || verdict > before ||
           (verdict == before && verdict == VERDICT_SUPPORTED && strength(claim) > strength(found));
}

const json_t *repro_file_main(const json_t *place, const json_t **part)
{
    const json_t *found = NULL;
    *part = NULL;
    json_each(one, json_object_get(place, "parts")) {
        json_each(expectation, json_object_get(one, "expectations")) {
            if (!repro_file_is_claim(expectation) || !says_more(expectation, found))
                continue;
            found = expectation;
            *part = one;
        }
    }
    return found;
}

struct repro_sum repro_file_sum(const json_t *list)
{
    struct repro_sum sum = {{0}};
    json_each(one, list)
        sum.of[repro_file_verdict(one)]++;
    return sum;
}

const char *repro_file_place_name(const json_t *place)
{
    const char *machine = field_text(place, "machine");
    return strcmp(machine, EXPERIMENT_MACHINES) == 0 ? "several machines" : machine;
}

/* Figures -------------------------------------------------------------------------------------- */

json_t *repro_file_groups(const json_t *part)
{
    static const char *const sides[] = {"over", "level"};
    json_t *seen = json_object(), *groups = json_array();
    json_each(expectation, json_object_get(part, "expectations")) {
        json_each(column, json_object_get(expectation, "columns")) {
            for (size_t s = 0; s < 2; s++) {
                const char *group = field_text(json_object_get(column, sides[s]), "group");
                if (!*group || json_object_get(seen, group))
                    continue;
                json_object_set_new(seen, group, json_true());
                json_array_append_new(groups, json_string(group));
            }
        }
    }
    json_decref(seen);
    return groups;
}

bool repro_file_is_drawn(const json_t *part)
{
    const char *metric = field_text(part, "metric");
    return strcmp(metric, "order") != 0 &&
           (!metric_is_finding(metric) || strcmp(field_text(part, "figure"), "throughput") != 0);
}

bool repro_file_figure(const char *folder, const json_t *place, const json_t *part,
                       const char *group, char *path, size_t path_size)
{
    const char *run = field_text(place, "folder");
    const char *const kinds[] = {field_text(part, "figure"), "throughput", "events", "latency"};
    for (size_t i = 0; *run && i < sizeof kinds / sizeof kinds[0]; i++)
        if (snprintf(path, path_size, "%s/%s/figures/%s-%s.svg", folder, run, group, kinds[i]) <
                (int)path_size &&
            access(path, R_OK) == 0)
            return true;
    return false;
}

/* Guests --------------------------------------------------------------------------------------- */

static size_t differences_of(const json_t *guest, const json_t *host,
                             void (*what)(const struct repro_difference *difference, void *arg),
                             void *arg)
{
    size_t count = 0;
    json_each(part, json_object_get(guest, "parts")) {
        const char *id = field_text(part, "id");
        json_each(expectation, json_object_get(part, "expectations")) {
            const json_t *there = repro_file_expectation(repro_file_part(host, id),
                                                         field_integer(expectation, "number"));
            if (!there || repro_file_verdict(there) == repro_file_verdict(expectation))
                continue;
            struct repro_difference difference = {.guest = field_text(guest, "machine"),
                                                  .part = id,
                                                  .expectation = expectation,
                                                  .of_host = there};
            if (what)
                what(&difference, arg);
            count++;
        }
    }
    return count;
}

static bool was_measured(const json_t *place)
{
    return strcmp(field_text(place, "state"), "done") == 0;
}

size_t repro_file_differences(const json_t *experiment,
                              void (*what)(const struct repro_difference *difference, void *arg),
                              void *arg)
{
    size_t count = 0;
    json_each(guest, json_object_get(experiment, "guests")) {
        json_each(host, json_object_get(experiment, "machines")) {
            if (was_measured(guest) && was_measured(host) &&
                machine_spec_is_guest_of(field_text(guest, "machine"), field_text(host, "machine")))
                count += differences_of(guest, host, what, arg);
        }
    }
    return count;
}
