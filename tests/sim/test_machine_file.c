/* test_machine_file.c - what a model of a machine may say, what it then means, and that every
 * mistake is one line that names the file, the line and what is valid. */
#include "harness/models/machine_file.h"

#include "harness/host/data_folder.h"
#include "harness/models/machine_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_SIZE = 8192 };

/* A whole model, a key a line where a test replaces it. */
static const char model_text[] =
    "title: A test\n"
    "cores: 16\n"
    "smt: 2\n"
    "group: 8\n"
    "socket: 16\n"
    "clock: 2 GHz\n"
    "l1: {size: 32 KiB, ways: 8, hit: 1 cycle, replacement: plru}\n"
    "l2: {size: 512 KiB, ways: 8, hit: 12 cycles, replacement: plru, inclusive: yes}\n"
    "l3: {size: 16 MiB, ways: 16, hit: 20.5 ns, replacement: lru, inclusive: no}\n"
    "prefetch: yes\n"
    "clean: {near: 20 ns, socket: 80 ns, remote: 190 ns}\n"
    "dirty: {near: 21 ns, socket: 81 ns, remote: 191 ns}\n"
    "upgrade: {near: 18 ns, socket: 79 ns, remote: 189 ns}\n"
    "memory: {local: 90 ns, remote: 200 ns}\n"
    "block: 1.5 cycles\n"
    "store: 1 cycle\n"
    "atomic: 8 cycles\n"
    "fence: 20 cycles\n"
    "branch: 15 cycles\n"
    "window: 30 ns\n"
    "relax: 40 cycles\n"
    "work: 4 cycles\n"
    "now: 25 ns\n"
    "call: 60 ns\n"
    "wait: 500 ns\n"
    "wake: 900 ns\n"
    "wakeup: 2.5 us\n"
    "switch: 1 us\n"
    "signal: 2 us\n"
    "start: 15 us\n"
    "end: 30 us\n"
    "slice: 3 ms\n"
    "slack: 50 us\n"
    "membarrier: 3 us\n"
    "interrupt: 1 us\n"
    "network: {median: 10 us, p99: 30 us}\n"
    "file: {median: 0, p99: 0}\n"
    "lookahead: 400 ps\n"
    "sources:\n"
    "  - of: [cores, smt, group, socket, clock, l1, l2, l3.size, l3.ways, l3.hit]\n"
    "    source: a page\n"
    "  - of: [l3.replacement, l3.inclusive, prefetch, clean, dirty, upgrade, memory, lookahead]\n"
    "    source: another one\n"
    "  - of: [block, store, atomic, fence, branch, window, relax, work, now, call, wait, wake, "
    "wakeup, switch]\n"
    "    source: a third\n"
    "  - {of: [signal, start, end, slice, slack, membarrier, interrupt, network, file], source: "
    "the last}\n";

static char file_path[64];

static int file_make(void **state)
{
    (void)state;
    snprintf(file_path, sizeof file_path, "/tmp/test_machine_file.XXXXXX");
    int fd = mkstemp(file_path);
    return fd < 0 || close(fd) < 0 ? -1 : 0;
}

static int file_remove(void **state)
{
    (void)state;
    return unlink(file_path);
}

static struct machine_file *load(const char *text, struct error *error)
{
    FILE *to = fopen(file_path, "w");
    if (!to)
        abort();
    fputs(text, to);
    fclose(to);
    return machine_file_load(file_path, error);
}

/* The model with one part replaced; the number of its line. */
static int replaced(char text[TEXT_SIZE], const char *part, const char *other)
{
    const char *at = strstr(model_text, part);
    assert_non_null(at);
    snprintf(text, TEXT_SIZE, "%.*s%s%s", (int)(at - model_text), model_text, other,
             at + strlen(part));
    int line = 1;
    for (const char *before = model_text; before < at; before++)
        line += *before == '\n';
    return line;
}

static struct machine_file *load_replaced(const char *part, const char *other)
{
    char text[TEXT_SIZE];
    struct error error = {0};
    replaced(text, part, other);
    struct machine_file *file = load(text, &error);
    if (!file)
        fail_msg("%s", error.text);
    return file;
}

/* With that part replaced the file is wrong there, `below` lines further down, and the message has
 * both parts. */
static void expect_error(const char *part, const char *other, int below, const char *says,
                         const char *too)
{
    char text[TEXT_SIZE], place[128];
    struct error error = {0};
    int line = replaced(text, part, other) + below;
    struct machine_file *file = load(text, &error);
    if (file)
        fail_msg("accepted: %s", other);
    snprintf(place, sizeof place, "%s:%d: ", file_path, line);
    if (strncmp(error.text, place, strlen(place)) != 0 || !strstr(error.text, says) ||
        !strstr(error.text, too) || strchr(error.text, '\n'))
        fail_msg("expected line %d, \"%s\" and \"%s\"; got \"%s\"", line, says, too, error.text);
}

static void every_key_is_read(void **state)
{
    (void)state;
    struct machine_file *file = load_replaced("title", "title");
    const struct sim_model *model = &file->model;
    assert_string_equal(file->title, "A test");
    assert_int_equal(model->cores, 16);
    assert_int_equal(model->smt, 2);
    assert_int_equal(model->group, 8);
    assert_int_equal(model->socket, 16);
    assert_int_equal(model->clock_khz, 2000000);
    assert_int_equal(model->l1.size, 32 << 10);
    assert_int_equal(model->l1.ways, 8);
    assert_int_equal(model->l1.hit_ps, 500);
    assert_int_equal(model->l1.replacement, SIM_PLRU);
    assert_int_equal(model->l2.hit_ps, 6000);
    assert_true(model->l2.inclusive);
    assert_int_equal(model->l3.size, 16 << 20);
    assert_int_equal(model->l3.hit_ps, 20500);
    assert_int_equal(model->l3.replacement, SIM_LRU);
    assert_false(model->l3.inclusive);
    assert_true(model->prefetch);
    assert_int_equal(model->clean_ps[SIM_NEAR], 20000);
    assert_int_equal(model->dirty_ps[SIM_SOCKET], 81000);
    assert_int_equal(model->upgrade_ps[SIM_REMOTE], 189000);
    assert_int_equal(model->memory_ps[0], 90000);
    assert_int_equal(model->memory_ps[1], 200000);
    assert_int_equal(model->block_ps, 750);
    assert_int_equal(model->store_ps, 500);
    assert_int_equal(model->atomic_ps, 4000);
    assert_int_equal(model->fence_ps, 10000);
    assert_int_equal(model->branch_ps, 7500);
    assert_int_equal(model->window_ps, 30000);
    assert_int_equal(model->relax_ps, 20000);
    assert_int_equal(model->clock_ps, 25000);
    assert_int_equal(model->call_ps, 60000);
    assert_int_equal(model->wait_ps, 500000);
    assert_int_equal(model->wake_ps, 900000);
    assert_int_equal(model->wakeup_ps, 2500000);
    assert_int_equal(model->switch_ps, 1000000);
    assert_int_equal(model->signal_ps, 2000000);
    assert_int_equal(model->start_ps, 15000000);
    assert_int_equal(model->end_ps, 30000000);
    assert_int_equal(model->slice_ps, INT64_C(3000000000));
    assert_int_equal(model->slack_ps, 50000000);
    assert_int_equal(model->membarrier_ps, 3000000);
    assert_int_equal(model->interrupt_ps, 1000000);
    assert_int_equal(model->network.median_ps, 10000000);
    assert_int_equal(model->network.p99_ps, 30000000);
    assert_int_equal(model->file.p99_ps, 0);
    assert_int_equal(model->lookahead_ps, 400);
    assert_int_equal(strncmp(model->name, "test_machine_file", 17), 0);
    machine_file_free(file);
}

static void sources_are_found_by_key_and_by_section(void **state)
{
    (void)state;
    struct machine_file *file = load_replaced("title", "title");
    size_t size = machine_key_find("l1.size"), words = machine_key_find("l3.replacement");
    assert_string_equal(machine_file_source(file, &machine_keys[size]), "a page");
    assert_string_equal(machine_file_source(file, &machine_keys[words]), "another one");
    machine_file_free(file);
}

static void a_file_may_have_prices_of_a_virtual_machine(void **state)
{
    (void)state;
    struct machine_file *file = load_replaced("title", "title");
    assert_false(machine_file_has_vm(file));
    machine_file_free(file);
    file = load_replaced("sources:\n", "vm: {wake: 5 us, end: 9 us}\nsources:\n"
                                       "  - {of: [vm], source: a guest}\n");
    assert_true(machine_file_has_vm(file));
    assert_string_equal(machine_file_vm_source(file), "a guest");
    assert_int_equal(file->vm.of[machine_key_find("wake")].number, INT64_C(5000000));
    assert_false(file->vm.of[machine_key_find("wakeup")].given);
    assert_int_equal(file->model.wake_ps, 900000);
    machine_file_free(file);
    expect_error("sources:\n", "vm: {wake: 5 us}\nsources:\n", 0, "vm has no source", "[vm]");
    expect_error("sources:\n",
                 "vm: {wake: 5 us}\nsources:\n  - {of: [vm], source: a}\n"
                 "  - {of: [vm], source: b}\n",
                 3, "vm has two sources", "one");
    expect_error("sources:\n", "vm: {wake: 5}\nsources:\n  - {of: [vm], source: a}\n", 0,
                 "wake is 5", "in cycles");
    expect_error("sources:\n", "vm: {cores: 5}\nsources:\n", 0, "vm has no key \"cores\"", "wake");
}

static void expect_lookahead(const char *part, const char *other, int64_t ps)
{
    char text[TEXT_SIZE];
    struct error error = {0};
    replaced(text, part, other);
    char *given = strstr(text, "lookahead: 400 ps\n"); /* its source may stay */
    memmove(given, given + 18, strlen(given + 18) + 1);
    struct machine_file *file = load(text, &error);
    if (!file)
        fail_msg("%s", error.text);
    assert_int_equal(file->model.lookahead_ps, ps);
    machine_file_free(file);
}

static void lookahead_is_the_smallest_latency_between_cores(void **state)
{
    (void)state;
    expect_lookahead("smt: 2", "smt: 2", 500); /* siblings meet in their L1 */
    expect_lookahead("smt: 2", "smt: 1", 18000);
    expect_lookahead("smt: 2\ngroup: 8", "smt: 1\ngroup: 1", 79000);
    expect_lookahead("smt: 2\ngroup: 8\nsocket: 16", "smt: 1\ngroup: 1\nsocket: 1", 189000);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    expect_error("cores: 16", "cores: 257", 0, "cores is 257", "1 to 256");
    expect_error("cores: 16", "cores: 24", 0, "cores is 24", "multiples of socket");
    expect_error("group: 8", "group: 9", 0, "group is 9", "multiples of smt");
    expect_error("socket: 16", "socket: 4", 0, "socket is 4", "multiples of group");
    expect_error("size: 512 KiB", "size: 500 KiB", 0, "l2.size", "power of two");
    expect_error("size: 16 MiB, ways: 16", "size: 12 MiB, ways: 16", 0, "l3.size",
                 "a power of two times 64 bytes times ways");
    expect_error("size: 512 KiB", "size: 16 KiB", 0, "l2.size is 16384", "l2.inclusive no");
    expect_error("size: 32 KiB", "size: 8 MiB", 0, "l1.size is 8 MiB", "to 4194240 B");
    expect_error("local: 90 ns", "local: 1 s", 0, "memory.local is 1 s", "0 to 100 us");
    expect_error("size: 32 KiB, ways: 8", "size: 48 KiB, ways: 12", 0, "l1.ways is 12", "lru");
    expect_error("median: 10 us, p99: 30 us", "median: 10 us, p99: 9 us", 0, "network.p99",
                 "the median or more");
    expect_error("lookahead: 400 ps", "lookahead: 501 ps", 0, "lookahead is 501 ps", "0 to 500 ps");
    expect_error("lookahead: 400 ps", "lookahead: 2 ns", 0, "lookahead is 2 ns;", "0 to 500 ps");
    expect_error("call: 60 ns", "call: 1.2345 ns", 0, "call is 1.2345 ns", "three decimals");
    expect_error("block: 1.5 cycles", "block: 0", 0, "block is 0", "1 ps to 1 s");
    expect_error("slice: 3 ms", "slice: 10 cycles", 0, "slice is 5000 ps", "1 us to 1 s");
}

static void plru_of_other_ways_is_lru(void **state)
{
    (void)state;
    struct machine_file *file =
        load_replaced("size: 32 KiB, ways: 8, hit: 1 cycle, replacement: plru",
                      "size: 48 KiB, ways: 12, hit: 1 cycle, replacement: lru");
    assert_int_equal(file->model.l1.ways, 12);
    machine_file_free(file);
}

static void numbers_need_units_that_fit(void **state)
{
    (void)state;
    expect_error("call: 60 ns", "call: 60", 0, "call is 60", "in cycles, ps, ns, us, ms or s");
    expect_error("call: 60 ns", "call: 60 KiB", 0, "call is 60 KiB", "in cycles");
    expect_error("call: 60 ns", "call: -1 ns", 0, "call is -1 ns", "valid:");
    expect_error("call: 60 ns", "call: 1.2345 ns", 0, "call is 1.2345 ns", "valid:");
    expect_error("clock: 2 GHz", "clock: 2 ns", 0, "clock is 2 ns", "in MHz or GHz");
    expect_error("cores: 16", "cores: 1.5", 0, "cores is 1.5", "1 to 256");
    expect_error("prefetch: yes", "prefetch: maybe", 0, "prefetch is maybe", "no, yes");
    expect_error("replacement: lru", "replacement: fifo", 0, "l3.replacement is fifo", "lru, plru");
    expect_error("size: 512 KiB", "size: 99999999999999999999 KiB", 0, "l2.size", "1 GiB");
}

static void keys_must_be_right(void **state)
{
    (void)state;
    expect_error("prefetch: yes", "prefetsh: yes", 0, "a machine has no key \"prefetsh\"",
                 "the nearest is \"prefetch\"");
    expect_error("ways: 16", "way: 16", 0, "l3 has no key \"way\"", "ways");
    expect_error("ways: 8, hit: 1 cycle", "ways: 8, hit: 1 cycle, inclusive: no", 0,
                 "l1 has no key \"inclusive\"", "size");
    expect_error("near: 20 ns, ", "", 0, "lacks the key \"clean.near\"",
                 "unchanged, in the same L3 group; valid: 0 to 100 us");
    expect_error("title: A test\n", "", 0, "lacks the key \"title\"", "");
    expect_error("call: 60 ns", "call: 60 ns\ncall: 61 ns", 1, "call is given twice", "");
    expect_error("clean: {near: 20 ns, socket: 80 ns, remote: 190 ns}", "clean: 20 ns", 0,
                 "clean must have keys", "");
    expect_error("call: 60 ns", "call: [60 ns]", 0, "call must be a single value", "");
    expect_error("call: 60 ns", "call: {", 2, "not valid YAML", "");
}

static void each_number_has_one_source(void **state)
{
    (void)state;
    expect_error("network, file]", "network]", -9, "file.median has no source", "[file.median]");
    expect_error("network, file]", "network, file, l1.size]", 0, "l1.size has two sources", "one");
    expect_error("network, file]", "network, files]", 0, "\"files\", which is no key", "file");
    expect_error("    source: a page\n", "", -1, "a source lacks the key \"source\"", "");
}

static void files_that_cannot_be_read_say_why(void **state)
{
    (void)state;
    struct error error = {0};
    assert_null(machine_file_load("/nowhere/at-all.yaml", &error));
    assert_non_null(strstr(error.text, "cannot read /nowhere/at-all.yaml: No such file"));
}

static void shipped_models_are_right(void **state)
{
    (void)state;
    struct error error;
    char **names = data_folder_names("machines", &error);
    assert_non_null(names);
    assert_non_null(names[0]);
    for (char **name = names; *name; name++) {
        struct machine_spec spec;
        char text[64];
        snprintf(text, sizeof text, "sim:%s", *name);
        if (!machine_spec_parse(&spec, text, &error))
            fail_msg("%s", error.text);
        assert_string_equal(spec.text, text);
        assert_string_equal(spec.model.name, *name);
        machine_spec_free(&spec);
    }
    data_folder_names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(sources_are_found_by_key_and_by_section),
        cmocka_unit_test(a_file_may_have_prices_of_a_virtual_machine),
        cmocka_unit_test(lookahead_is_the_smallest_latency_between_cores),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(plru_of_other_ways_is_lru),
        cmocka_unit_test(numbers_need_units_that_fit),
        cmocka_unit_test(keys_must_be_right),
        cmocka_unit_test(each_number_has_one_source),
        cmocka_unit_test(files_that_cannot_be_read_say_why),
        cmocka_unit_test(shipped_models_are_right),
    };
    return cmocka_run_group_tests(tests, file_make, file_remove);
}
