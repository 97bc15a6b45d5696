/* goroutines.h - what the goroutine-style peers of C and C++ have in common: parameters, and how
 * answer and digest are made, as in the workloads of the same names.
 *
 * Each peer starts its threads or fibers, and lets them talk, in its runtime's own way. A message
 * that was not the expected one, which the workload's verify() would find, ends the process.
 */
#ifndef SCHEDLAB_PEER_GOROUTINES_H
#define SCHEDLAB_PEER_GOROUTINES_H

#include "peer.h"

/* The i-th of `parts` even shares of n. */
static inline uint64_t share_of(uint64_t n, uint64_t parts, uint64_t i)
{
    return n / parts + (i < n % parts);
}

/* Does work; for 0 rounds there is not even a call. */
static inline void work_if(uint64_t rounds)
{
    if (rounds)
        peer_work(rounds);
}

/* spawn --------------------------------------------------------------------------------------- */

struct spawn {
    uint64_t n, creators;
    bool batch;
    uint64_t *marks; /* mark i is the i-th goroutine's, and becomes i + 1 */
};

static inline void *spawn_init(struct peer_run *run)
{
    struct spawn *self = (struct spawn *)peer_alloc(1, sizeof *self);
    self->n = (uint64_t)peer_param_number(run, "n");
    self->creators = (uint64_t)peer_param_number(run, "creators");
    self->batch = peer_param_is(run, "mode", "batch", "one");
    self->marks = (uint64_t *)peer_alloc(self->n, sizeof *self->marks);
    return self;
}

static inline void spawn_finish(struct spawn *self, struct peer_outcome *out)
{
    for (uint64_t i = 0; i < self->n; i++) {
        if (self->marks[i] != i + 1)
            peer_fail("spawn: number %" PRIu64 " left %" PRIu64, i, self->marks[i]);
        out->answer += self->marks[i];
        out->digest += peer_mix(self->marks[i]);
        self->marks[i] = 0;
    }
    out->ops = self->n;
}

/* pingpong ------------------------------------------------------------------------------------ */

enum { PAIR_SHIFT = 40 };

struct pair {
    uint64_t tag, sum, ping_wrong, pong_wrong;
};

struct pingpong {
    uint64_t rounds, pairs, capacity;
    struct pair *pair;
};

static inline void *pingpong_init(struct peer_run *run)
{
    struct pingpong *self = (struct pingpong *)peer_alloc(1, sizeof *self);
    self->rounds = (uint64_t)peer_param_number(run, "rounds");
    self->pairs = (uint64_t)peer_param_number(run, "pairs");
    self->capacity = (uint64_t)peer_param_number(run, "capacity");
    peer_param_no_latency(run);
    peer_param_number(run, "hog_chunks"); /* of no hog */
    peer_param_text(run, "queue");        /* of no victim */
    if (peer_param_number(run, "hogs") || peer_param_number(run, "victims"))
        peer_unsupported("hogs and victims beside the pairs: peers have none");
    if (strcmp(peer_param_text(run, "locked"), "none") != 0)
        peer_unsupported("locked: nobody but Go locks its own to threads");
    self->pair = (struct pair *)peer_alloc(self->pairs, sizeof *self->pair);
    for (uint64_t i = 0; i < self->pairs; i++)
        self->pair[i].tag = i << PAIR_SHIFT;
    return self;
}

static inline void pingpong_finish(const struct pingpong *self, struct peer_outcome *out)
{
    for (uint64_t i = 0; i < self->pairs; i++) {
        const struct pair *pair = &self->pair[i];
        if (pair->ping_wrong || pair->pong_wrong)
            peer_fail("pingpong: pair %" PRIu64 " got %" PRIu64 " wrong messages", i,
                      pair->ping_wrong + pair->pong_wrong);
        out->answer += pair->sum;
        out->digest += peer_mix(pair->tag ^ pair->sum);
    }
    out->ops = self->pairs * self->rounds;
}

/* ring ---------------------------------------------------------------------------------------- */

struct ring {
    uint64_t n;
    int64_t hops;
    uint64_t *visits, last_holder;
};

static inline void *ring_init(struct peer_run *run)
{
    struct ring *self = (struct ring *)peer_alloc(1, sizeof *self);
    self->n = (uint64_t)peer_param_number(run, "n");
    self->hops = peer_param_number(run, "hops");
    self->visits = (uint64_t *)peer_alloc(self->n, sizeof *self->visits);
    return self;
}

static inline void ring_finish(const struct ring *self, struct peer_outcome *out)
{
    uint64_t visits = 0;
    for (uint64_t i = 0; i < self->n; i++) {
        visits += self->visits[i];
        out->digest += peer_mix((i << 40) ^ self->visits[i]);
    }
    out->answer = self->last_holder + 1;
    out->ops = visits - 1;
}

/* yield --------------------------------------------------------------------------------------- */

struct yield {
    uint64_t n, yielders;
    uint64_t *done;
};

static inline void *yield_init(struct peer_run *run)
{
    struct yield *self = (struct yield *)peer_alloc(1, sizeof *self);
    self->n = (uint64_t)peer_param_number(run, "n");
    self->yielders = (uint64_t)peer_param_number(run, "yielders");
    self->done = (uint64_t *)peer_alloc(self->yielders, sizeof *self->done);
    return self;
}

static inline void yield_finish(struct yield *self, struct peer_outcome *out)
{
    for (uint64_t i = 0; i < self->yielders; i++) {
        out->answer += self->done[i];
        out->digest += peer_mix((i << 40) ^ self->done[i]);
        self->done[i] = 0;
    }
    out->ops = out->answer;
}

/* prodcons ------------------------------------------------------------------------------------ */

struct prodcons {
    uint64_t messages, buffer, work;
    uint64_t received, sum, wrong; /* the consumer's */
};

static inline void *prodcons_init(struct peer_run *run)
{
    struct prodcons *self = (struct prodcons *)peer_alloc(1, sizeof *self);
    self->messages = (uint64_t)peer_param_number(run, "messages");
    self->buffer = (uint64_t)peer_param_number(run, "buffer");
    self->work = (uint64_t)peer_param_number(run, "work");
    return self;
}

static inline void prodcons_finish(const struct prodcons *self, struct peer_outcome *out)
{
    if (self->wrong)
        peer_fail("prodcons: %" PRIu64 " messages came out of order", self->wrong);
    out->ops = self->received;
    out->answer = self->sum;
    out->digest = peer_mix(self->sum) + peer_mix(~self->received);
}

/* mpmc ---------------------------------------------------------------------------------------- */

struct mpmc_consumer {
    uint64_t *next; /* per producer: the smallest number that may still come */
    uint64_t received, sum, wrong;
};

struct mpmc {
    uint64_t messages, producers, consumers, buffer, work;
    struct mpmc_consumer *consumer;
};

static inline void *mpmc_init(struct peer_run *run)
{
    struct mpmc *self = (struct mpmc *)peer_alloc(1, sizeof *self);
    self->messages = (uint64_t)peer_param_number(run, "messages");
    self->producers = (uint64_t)peer_param_number(run, "producers");
    self->consumers = (uint64_t)peer_param_number(run, "consumers");
    self->buffer = (uint64_t)peer_param_number(run, "buffer");
    self->work = (uint64_t)peer_param_number(run, "work");
    self->consumer = (struct mpmc_consumer *)peer_alloc(self->consumers, sizeof *self->consumer);
    for (uint64_t i = 0; i < self->consumers; i++)
        self->consumer[i].next = (uint64_t *)peer_alloc(self->producers + 8, sizeof(uint64_t));
    return self;
}

static inline void mpmc_take(struct mpmc_consumer *self, uint64_t producers, uint64_t message)
{
    uint64_t producer = message >> PAIR_SHIFT;
    uint64_t number = message & ((UINT64_C(1) << PAIR_SHIFT) - 1);
    self->received++;
    self->sum += peer_mix(message);
    if (producer < producers) {
        self->wrong += number < self->next[producer];
        self->next[producer] = number + 1;
    } else {
        self->wrong++;
    }
}

static inline void mpmc_finish(struct mpmc *self, struct peer_outcome *out)
{
    for (uint64_t i = 0; i < self->consumers; i++) {
        struct mpmc_consumer *consumer = &self->consumer[i];
        if (consumer->wrong)
            peer_fail("mpmc: %" PRIu64 " messages were repeated or out of order", consumer->wrong);
        out->ops += consumer->received;
        out->answer += consumer->sum;
        consumer->received = consumer->sum = 0;
        memset(consumer->next, 0, self->producers * sizeof *consumer->next);
    }
    out->digest = out->answer + peer_mix(out->ops);
}

/* sieve --------------------------------------------------------------------------------------- */

struct sieve {
    uint64_t primes, last_prime;
    uint64_t *found; /* in order */
    uint64_t *sent;  /* stage 0 is the generator */
};

static inline bool is_prime(uint64_t number)
{
    for (uint64_t divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return true;
}

static inline void *sieve_init(struct peer_run *run)
{
    struct sieve *self = (struct sieve *)peer_alloc(1, sizeof *self);
    self->primes = (uint64_t)peer_param_number(run, "primes");
    self->found = (uint64_t *)peer_alloc(self->primes, sizeof *self->found);
    self->sent = (uint64_t *)peer_alloc(self->primes, sizeof *self->sent);
    self->last_prime = 1;
    for (uint64_t i = 0; i < self->primes; i++) {
        do
            self->last_prime++;
        while (!is_prime(self->last_prime));
    }
    return self;
}

static inline void sieve_finish(const struct sieve *self, uint64_t found, struct peer_outcome *out)
{
    if (found != self->primes)
        peer_fail("sieve: %" PRIu64 " primes came out", found);
    for (uint64_t i = 0; i < self->primes; i++) {
        out->ops += self->sent[i];
        out->digest += peer_mix(self->found[i] ^ (self->sent[i] << 32));
    }
    out->answer = self->found[self->primes - 1];
}

/* mutex --------------------------------------------------------------------------------------- */

struct locks {
    uint64_t n, goroutines, work, think;
    uint64_t *locked;
    char pad[64];
    uint64_t counter; /* protected by the peer's mutex */
    char pad_end[64];
};

static inline void *locks_init(struct peer_run *run)
{
    struct locks *self = (struct locks *)peer_alloc(1, sizeof *self);
    self->n = (uint64_t)peer_param_number(run, "n");
    self->goroutines = (uint64_t)peer_param_number(run, "goroutines");
    self->work = (uint64_t)peer_param_number(run, "work");
    self->think = (uint64_t)peer_param_number(run, "think");
    peer_param_no_latency(run);
    self->locked = (uint64_t *)peer_alloc(self->goroutines, sizeof *self->locked);
    return self;
}

/* With the mutex held. An increment is lost where two are inside. */
static inline void locks_increment(struct locks *self)
{
    uint64_t counter = self->counter;
    work_if(self->work);
    self->counter = counter + 1;
}

static inline void locks_finish(struct locks *self, struct peer_outcome *out)
{
    for (uint64_t i = 0; i < self->goroutines; i++) {
        out->ops += self->locked[i];
        out->digest += peer_mix((i << 40) ^ self->locked[i]);
    }
    out->answer = self->counter;
    out->digest += peer_mix(~out->answer);
    self->counter = 0;
}

#endif
