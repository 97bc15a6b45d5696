/* lrq_walk.c - in which order a thief visits its victims; lrq.h has the contract of walks. */
#include "lrq.h"
#include "sched.h"

static const struct lrq_knobs *knobs_of(const struct m *m)
{
    return m->sched->knobs;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* All numbers from 1 to n that are coprime to n; n changes seldom, if ever. */
static void coprimes_update(struct lrq *mine, uint32_t n)
{
    machine_free(mine->coprimes);
    mine->coprimes = sched_zalloc(n * sizeof *mine->coprimes, "steal.order");
    mine->walk_n = n;
    mine->coprimes[0] = 1;
    mine->walk_steps = 1;
    for (uint32_t i = 2; i <= n; i++)
        if (gcd(i, n) == 1)
            mine->coprimes[mine->walk_steps++] = i;
}

static size_t met_words(uint32_t n)
{
    return (n + 63) / 64;
}

/* A search through n victims begins that has met nobody. */
static MACHINE_TAKES_NO_TIME void met_clear(struct lrq *mine, uint32_t n)
{
    if (mine->walk_n != n) {
        machine_free(mine->met);
        mine->met = sched_zalloc(met_words(n) * sizeof *mine->met, "steal.met");
        mine->walk_n = n;
    }
    for (size_t i = 0; i < met_words(n); i++)
        mine->met[i] = 0;
}

static MACHINE_TAKES_NO_TIME uint32_t met_missed(const struct lrq *mine)
{
    uint32_t met = 0;
    for (size_t i = 0; i < met_words(mine->walk_n); i++)
        met += (uint32_t)__builtin_popcountll(mine->met[i]);
    return mine->walk_n - met;
}

/* Where queues are the threads', these move from core to core with their Ps, so each search orders
 * anew. The thief stands for an M that is still being made, since it passes itself by. */
static void order_ms(struct m *m, struct lrq *mine, uint32_t n)
{
    uint32_t near = 0, far = n;
    for (const struct m *other = sched_first_m(m->sched); other; other = other->all_link) {
        if ((uint32_t)other->id >= n)
            continue;
        if (other != m && m_is_far_from(m, m_core(other)))
            mine->order[--far] = (uint32_t)other->id;
        else
            mine->order[near++] = (uint32_t)other->id;
    }
    mine->walk_steps = near;
    while (near < far)
        mine->order[near++] = (uint32_t)m->id;
}

static void order_ps(struct m *m, struct lrq *mine, uint32_t n)
{
    uint32_t near = 0, far = n;
    for (uint32_t i = 0; i < n; i++)
        if (m_is_far_from(m, (int32_t)i))
            mine->order[--far] = i;
        else
            mine->order[near++] = i;
    mine->walk_steps = near;
}

/* A walk through n of them begins, as randomOrder's. A step that is drawn until it is coprime is
 * any of those as likely as from a table of them, which would be one for each n here. */
static void walk_begin_part(struct walk *walk, uint32_t n)
{
    if (n == 0) /* never: the thief is near itself, and a part of nobody is not begun */
        return;
    walk->n = n;
    walk->at = (uint32_t)(m_random(walk->draws) >> 32) % n;
    do
        walk->step = (uint32_t)(m_random(walk->draws) >> 32) % n + 1;
    while (gcd(walk->step, n) != 1);
}

static void walk_start_near(struct walk *walk, struct lrq *mine, uint32_t n, int64_t pass)
{
    struct m *m = walk->draws;
    bool ps = m->variant != mine, fresh = mine->walk_n != n;
    if (fresh) {
        machine_free(mine->order);
        mine->order = sched_zalloc(n * sizeof *mine->order, "steal.order");
        mine->walk_n = n;
    }
    if (ps && fresh)
        order_ps(m, mine, n);
    else if (!ps && (fresh || pass == 0))
        order_ms(m, mine, n);
    walk_begin_part(walk, mine->walk_steps);
}

void walk_next_near(struct walk *walk, uint32_t *victim)
{
    const struct lrq *mine = walk->mine;
    uint32_t near = mine->walk_steps, far = mine->walk_n - near;
    if (walk->left + 1 == far)
        walk_begin_part(walk, far);
    *victim = mine->order[(walk->left < far ? near : 0) + walk->at];
    walk->at = (walk->at + walk->step) % walk->n;
}

struct walk walk_start(struct m *m, struct lrq *mine, uint32_t n, uint32_t self, int64_t pass)
{
    struct walk walk = {.step = 1, .left = n, .n = n, .mine = mine};
    uint32_t random;
    INVARIANT(n > 0);
    INVARIANT(lrq_is_valid(mine));
    switch (knobs_of(m)->victim) {
    case VICTIM_FIXED:
        walk.at = (self + 1) % n;
        break;
    case VICTIM_LAST:
        walk.at = (uint32_t)mine->last_victim % n;
        break;
    case VICTIM_ZERO:
        break;
    case VICTIM_ROTATE:
        walk.at = (uint32_t)(m_random(m) >> 32) % n;
        break;
    case VICTIM_RANDOM:
        walk.draws = m;
        if (pass == 0)
            met_clear(mine, n);
        break;
    case VICTIM_NEAR:
        if (m->sched->groups) {
            walk.draws = m;
            mine->near = true;
            walk_start_near(&walk, mine, n, pass);
            break;
        }
        __attribute__((fallthrough)); /* all are near */
    default:
        random = (uint32_t)(m_random(m) >> 32);
        if (mine->walk_n != n)
            coprimes_update(mine, n);
        walk.at = random % n;
        walk.step = mine->coprimes[random / n % mine->walk_steps];
    }
    return walk;
}

void lrq_found_nothing(struct m *m, const struct lrq *mine)
{
    stat_add(&m->stats, STAT_STEALS_FAILED, 1);
    if (knobs_of(m)->victim == VICTIM_RANDOM)
        stat_add(&m->stats, STAT_VICTIMS_MISSED, met_missed(mine));
    sched_event(m, SCHED_FOUND_NOTHING, NULL, 0, 0);
}
