/* model.c - the machine that tests run on: no real one, round numbers. */
#include "model.h"

enum { NS = 1000, US = 1000000 };

const struct sim_model sim_model_plain = {
    .name = "plain",
    .cores = 16,
    .smt = 1,
    .group = 8,
    .socket = 16,
    .l1 = {32 << 10, 8, 300, SIM_LRU, false},
    .l2 = {1 << 20, 8, 4 * NS, SIM_LRU, false},
    .l3 = {32 << 20, 16, 14 * NS, SIM_LRU, false},
    .clean_ps = {25 * NS, 90 * NS, 200 * NS},
    .dirty_ps = {25 * NS, 90 * NS, 200 * NS},
    .upgrade_ps = {20 * NS, 80 * NS, 180 * NS},
    .memory_ps = {90 * NS, 160 * NS},
    .block_ps = 500,
    .store_ps = 300,
    .atomic_ps = 5 * NS,
    .fence_ps = 5 * NS,
    .relax_ps = 12 * NS,
    .work_ps = 1 * NS,
    .clock_ps = 20 * NS,
    .call_ps = 100 * NS,
    .wait_ps = 600 * NS,
    .wake_ps = 800 * NS,
    .wakeup_ps = 3 * US,
    .switch_ps = 1200 * NS,
    .signal_ps = 2 * US,
    .start_ps = 10 * US,
    .slice_ps = 3000 * (int64_t)US,
    .slack_ps = 50 * US,
    .membarrier_ps = 2 * US,
    .network = {5 * US, 20 * US},
    .file = {50 * US, 200 * US},
    .lookahead_ps = 12 * NS,
};
