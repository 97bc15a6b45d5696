/* same_work.c - see same_work.h.
 *
 * The book is one JSON object: {"workload seed workers": {"variant": {"D": samples}}}.
 */
#include "harness/records/same_work.h"

#include "harness/base/json_fields.h"
#include "harness/base/memory.h"
#include "harness/records/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 1024 };

static const char WRONG_DIGEST[] = "digest disagrees: ";

struct same_work {
    json_t *votes;
};

/* The verdict on one workload and seed. */
struct reference {
    const char *digest; /* NULL: split votes, or none */
    bool serial;        /* it is the serial run's */
    size_t votes, voters;
};

struct same_work *same_work_make(void)
{
    struct same_work *book = xmalloc(sizeof *book);
    book->votes = json_object();
    return book;
}

void same_work_free(struct same_work *book)
{
    json_decref(book->votes);
    free(book);
}

static bool was_failed_for_digest(const json_t *record)
{
    return record_is(record, "failed") &&
           strncmp(field_text(record, "reason"), WRONG_DIGEST, sizeof WRONG_DIGEST - 1) == 0;
}

static bool has_vote(const json_t *record)
{
    return json_object_get(record, "digest") &&
           (record_is(record, "ok") || was_failed_for_digest(record));
}

/* Work that is given per worker differs by their number. */
static void key_text(const json_t *record, char key[KEY_SIZE])
{
    const char *workload = field_text(record, "workload");
    json_int_t workers = strstr(workload, "/worker") ? field_integer(record, "workers") : 0;
    snprintf(key, KEY_SIZE, "%s %lld %lld", workload, field_integer(record, "seed"), workers);
}

static json_t *object_at(json_t *object, const char *key)
{
    json_t *inner = json_object_get(object, key);
    if (!inner) {
        inner = json_object();
        json_object_set_new(object, key, inner);
    }
    return inner;
}

void same_work_add(struct same_work *book, const json_t *record)
{
    if (!has_vote(record))
        return;
    char key[KEY_SIZE];
    const char *vote = field_text(record, "digest");
    key_text(record, key);
    json_t *votes = object_at(object_at(book->votes, key), field_text(record, "variant_name"));
    json_int_t samples = field_integer(votes, vote);
    json_object_set_new(votes, vote, json_integer(samples + 1));
}

/* The digest that most samples of one variant gave; NULL if two are equally frequent. */
static const char *vote_of_variant(json_t *samples_by_digest)
{
    const char *best = NULL, *digest;
    json_int_t best_samples = 0;
    json_t *samples;
    json_object_foreach(samples_by_digest, digest, samples)
    {
        json_int_t n = json_integer_value(samples);
        if (n == best_samples)
            best = NULL;
        if (n > best_samples) {
            best = digest;
            best_samples = n;
        }
    }
    return best;
}

static struct reference reference_find(json_t *variants)
{
    struct reference reference = {.digest = NULL};
    const char *name;
    json_t *samples_by_digest;
    json_t *serial = json_object_get(variants, "serial");
    if (serial && vote_of_variant(serial))
        return (struct reference){.digest = vote_of_variant(serial), .serial = true};

    json_t *tally = json_object(); /* {digest: variants} */
    json_object_foreach(variants, name, samples_by_digest)
    {
        const char *vote = vote_of_variant(samples_by_digest);
        if (!vote)
            continue;
        json_int_t n = field_integer(tally, vote) + 1;
        json_object_set_new(tally, vote, json_integer(n));
        reference.voters++;
        if ((size_t)n > reference.votes) {
            reference.votes = (size_t)n;
            reference.digest = vote;
        }
    }
    json_decref(tally);
    if (reference.votes * 2 <= reference.voters)
        reference.digest = NULL;
    return reference;
}

bool same_work_judge(const struct same_work *book, const json_t *record, bool final,
                     struct error *reason)
{
    if (!has_vote(record))
        return false;
    char key[KEY_SIZE];
    const char *vote = field_text(record, "digest");
    key_text(record, key);
    struct reference reference = reference_find(json_object_get(book->votes, key));
    if (!reference.digest) {
        error_print(reason, "%sit is %s, and the variants are split without a majority",
                    WRONG_DIGEST, vote);
        return final;
    }
    if (strcmp(reference.digest, vote) == 0)
        return false;
    if (reference.serial)
        error_print(reason, "%sit is %s, but the serial run has %s", WRONG_DIGEST, vote,
                    reference.digest);
    else
        error_print(reason, "%sit is %s, but %zu of %zu variants have %s", WRONG_DIGEST, vote,
                    reference.votes, reference.voters, reference.digest);
    return true;
}

void same_work_judge_all(json_t *records)
{
    struct same_work *book = same_work_make();
    json_each(record, records)
        same_work_add(book, record);
    json_each(record, records) {
        struct error reason;
        if (same_work_judge(book, record, true, &reason)) {
            record_fail(record, reason.text);
        } else if (was_failed_for_digest(record)) {
            json_object_set_new(record, "status", json_string("ok"));
            json_object_del(record, "reason");
        }
    }
    same_work_free(book);
}
