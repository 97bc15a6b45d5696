/* audit_replay.c - see audit.h: the sample that a sweep would have taken, out of more than that. */
#include "harness/audit/audit.h"
#include "harness/base/json_fields.h"

#include "harness/plan/stopping_rule.h"
#include "harness/records/records.h"

#include <stdio.h>
#include <string.h>

struct plan *audit_plan(const struct sweep_file *sweep)
{
    struct plan *plan = plan_make(sweep);
    plan_multiply(plan, audit_sides, AUDIT_SIDES);
    return plan;
}

static void key_make(char key[CELL_ID_SIZE + 24], const char *cell, json_int_t block)
{
    snprintf(key, CELL_ID_SIZE + 24, "%s/%" JSON_INTEGER_FORMAT, cell, block);
}

void audit_pool_make(struct audit_pool *pool, const json_t *records)
{
    char key[CELL_ID_SIZE + 24];
    *pool = (struct audit_pool){.records = json_object()};
    json_each(record, (json_t *)records) {
        json_int_t block = field_integer(record, "block");
        key_make(key, field_text(record, "cell"), block);
        json_object_set(pool->records, key, record);
        pool->blocks = block >= pool->blocks ? block + 1 : pool->blocks;
    }
}

void audit_pool_free(struct audit_pool *pool)
{
    json_decref(pool->records);
}

/* Takes from the pool, for each cell that the sweep would have measured, the sample of the block
 * `at`. A cell that has no sample there was given up. */
static void block_take(const struct audit_pool *pool, json_int_t at, unsigned block,
                       struct plan *plan, json_t *round)
{
    char key[CELL_ID_SIZE + 24];
    for (size_t i = 0; i < plan->count; i++) {
        struct cell *cell = &plan->cells[i];
        if (cell->why == WHY_NONE)
            continue;
        key_make(key, cell->id, at);
        json_t *record = json_copy(json_object_get(pool->records, key));
        cell->given_up = !record;
        if (!record)
            continue;
        json_object_set_new(record, "block", json_integer(block));
        json_object_set_new(record, "why", json_string(why_text(cell->why)));
        stopping_rule_note(cell, record);
        json_array_append_new(round, record);
    }
}

/* Notes the cells of one round that is over. */
static void rounds_note(struct audit_rounds *rounds, const struct stopping_rule *rule,
                        unsigned blocks)
{
    rounds->blocks_least =
        rounds->count == 0 || blocks < rounds->blocks_least ? blocks : rounds->blocks_least;
    rounds->blocks_most = blocks > rounds->blocks_most ? blocks : rounds->blocks_most;
    rounds->count++;
    for (size_t i = 0; i < rule->plan->count; i++) {
        const struct cell *cell = &rule->plan->cells[i];
        const char *stop = stopping_rule_stop(rule, cell);
        rounds->by_width += strcmp(stop, "width") == 0;
        rounds->at_limit += strcmp(stop, "limit") == 0 || strcmp(stop, "class-limit") == 0;
        for (size_t k = 0; k < cell->notes_count; k++)
            rounds->after_blocks += cell->notes[k].why != WHY_BLOCK;
    }
}

json_t *audit_round_next(const struct sweep_file *sweep, struct audit_pool *pool,
                         struct audit_rounds *rounds)
{
    struct plan *plan = audit_plan(sweep);
    struct stopping_rule rule;
    json_t *round = json_array();
    unsigned block = 0;
    stopping_rule_begin(&rule, sweep, plan);
    bool over = false;
    while (!over && pool->next + block < pool->blocks) {
        over = stopping_rule_next(&rule, block) == 0;
        if (!over)
            block_take(pool, pool->next + block, block, plan, round);
        block += !over;
    }
    over = over || stopping_rule_next(&rule, block) == 0;
    pool->next += block;
    if (over && block > 0) {
        rounds_note(rounds, &rule, block);
    } else {
        json_decref(round);
        round = NULL;
    }
    stopping_rule_end(&rule);
    plan_free(plan);
    return round;
}
