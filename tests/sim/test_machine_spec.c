/* test_machine_spec.c - what a specification of a machine means, its canonical text, and that every
 * mistake is one line that says what is valid. */
#include "harness/models/machine_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct machine_spec parse(const char *text)
{
    struct error error = {0};
    struct machine_spec spec;
    if (!machine_spec_parse(&spec, text, &error))
        fail_msg("%s: %s", text, error.text);
    return spec;
}

static void expect_error(const char *text, const char *part, const char *other)
{
    struct error error = {0};
    struct machine_spec spec;
    if (machine_spec_parse(&spec, text, &error))
        fail_msg("accepted: %s as %s", text, spec.text);
    if (!strstr(error.text, part) || !strstr(error.text, other) || strchr(error.text, '\n'))
        fail_msg("%s: expected \"%s\" and \"%s\"; got \"%s\"", text, part, other, error.text);
}

/* The canonical text, which is that of itself, and of the same model. */
static void expect_text(const char *text, const char *canonical)
{
    struct machine_spec spec = parse(text), again = parse(canonical);
    assert_string_equal(spec.text, canonical);
    assert_string_equal(again.text, canonical);
    for (size_t i = 0; i < MACHINE_KEYS; i++)
        assert_int_equal(machine_model_get(&spec.model, &machine_keys[i]),
                         machine_model_get(&again.model, &machine_keys[i]));
    machine_spec_free(&spec);
    machine_spec_free(&again);
}

static void expect_shape(const char *text, int cores, int smt, int group, int socket)
{
    struct machine_spec spec = parse(text);
    assert_int_equal(spec.model.cores, cores);
    assert_int_equal(spec.model.smt, smt);
    assert_int_equal(spec.model.group, group);
    assert_int_equal(spec.model.socket, socket);
    machine_spec_free(&spec);
}

static void native_is_a_machine_too(void **state)
{
    (void)state;
    struct machine_spec spec = parse("native");
    assert_false(spec.simulated);
    assert_string_equal(spec.text, "native");
    machine_spec_free(&spec);
}

static void keys_override_the_model(void **state)
{
    (void)state;
    struct machine_spec spec =
        parse("sim:desktop8,l1.size=64Ki,l2.ways=16,dirty.remote=300ns,lookahead=0,prefetch=no,"
              "slice=10ms,clock=4GHz,l2.hit=12.5cycles,l3.replacement=lru,memory.local=0.1 us");
    assert_true(spec.simulated);
    assert_string_equal(spec.model.name, "desktop8");
    assert_int_equal(spec.model.l1.size, 64 << 10);
    assert_int_equal(spec.model.l2.ways, 16);
    assert_int_equal(spec.model.dirty_ps[SIM_REMOTE], 300000);
    assert_int_equal(spec.model.lookahead_ps, 0);
    assert_false(spec.model.prefetch);
    assert_int_equal(spec.model.slice_ps, INT64_C(10000000000));
    assert_int_equal(spec.model.clock_khz, 4000000);
    assert_int_equal(spec.model.l2.hit_ps, 3125);
    assert_int_equal(spec.model.l3.replacement, SIM_LRU);
    assert_int_equal(spec.model.memory_ps[0], 100000);
    machine_spec_free(&spec);
}

static void texts_are_canonical(void **state)
{
    (void)state;
    expect_text("sim:desktop8", "sim:desktop8");
    expect_text("sim:desktop8,lookahead=0,cores=4", "sim:desktop8,cores=4,lookahead=0");
    expect_text("sim:desktop8,l1.size=65536B", "sim:desktop8,l1.size=64KiB");
    expect_text("sim:desktop8,l1.size=64Ki,l1.ways=8,cores=8", "sim:desktop8,l1.size=64KiB");
    expect_text("sim:desktop8,dirty.remote=1300ns", "sim:desktop8,dirty.remote=1.3us");
    expect_text("sim:desktop8,dirty.remote=1234567ps", "sim:desktop8,dirty.remote=1234.567ns");
    expect_text("sim:desktop8,l2.hit=20cycles", "sim:desktop8,l2.hit=20cycles");
    expect_text("sim:desktop8,clock=4000MHz", "sim:desktop8,clock=4GHz");
    expect_text("sim:desktop8,cores=4,group=4,smt=1", "sim:desktop8,cores=4");
    expect_text("sim:desktop8,cores=4,group=2", "sim:desktop8,cores=4,group=2");
}

static void cycles_follow_the_clock(void **state)
{
    (void)state;
    struct machine_spec slow = parse("sim:desktop8,clock=1GHz,l3.hit=50cycles,call=100ns");
    assert_int_equal(slow.model.l3.hit_ps, 50000);
    assert_int_equal(slow.model.call_ps, 100000);
    machine_spec_free(&slow);
}

static void shape_follows_cores(void **state)
{
    (void)state;
    expect_shape("sim:desktop8,cores=1", 1, 1, 1, 1);
    expect_shape("sim:desktop8,cores=3", 3, 1, 3, 3);
    expect_shape("sim:desktop8,cores=8", 8, 1, 8, 8);
    expect_shape("sim:desktop8,cores=16", 16, 1, 8, 8);
    expect_shape("sim:desktop8,cores=256", 256, 1, 8, 8);
    expect_shape("sim:server64,cores=4", 4, 1, 4, 4);
    expect_shape("sim:server64,cores=16", 16, 1, 8, 16);
    expect_shape("sim:server64,cores=96", 96, 1, 8, 48);
    expect_shape("sim:server64,cores=128", 128, 1, 8, 64);
    expect_shape("sim:server128,cores=192", 192, 1, 8, 64);
    expect_shape("sim:laptop,cores=1", 1, 1, 1, 1);
    expect_shape("sim:laptop,cores=4", 4, 2, 4, 4);
    expect_shape("sim:desktop8,smt=2,cores=16,group=16,socket=16", 16, 2, 16, 16);
    expect_shape("sim:desktop8,cores=16,socket=16", 16, 1, 8, 16);
}

static void a_part_of_a_group_keeps_its_l3(void **state)
{
    (void)state;
    struct machine_spec whole = parse("sim:desktop8"), part = parse("sim:desktop8,cores=2");
    assert_int_equal(part.model.l3.size, whole.model.l3.size);
    machine_spec_free(&whole);
    machine_spec_free(&part);
}

static void a_guest_has_the_prices_of_a_virtual_machine(void **state)
{
    (void)state;
    struct machine_spec host = parse("sim:desktop8"), guest = parse("sim:desktop8,host=vm");
    assert_int_equal(host.model.interrupt_ps, INT64_C(800000));
    assert_int_equal(guest.model.interrupt_ps, INT64_C(6700000));
    assert_int_equal(guest.model.wake_ps, INT64_C(6800000));
    assert_int_equal(guest.model.call_ps, host.model.call_ps);
    machine_spec_free(&host);
    machine_spec_free(&guest);
    expect_text("sim:desktop8,wake=1us,host=vm,cores=4", "sim:desktop8,host=vm,cores=4,wake=1us");
    expect_text("sim:desktop8,host=vm,wake=6.8us", "sim:desktop8,host=vm");
    expect_text("sim:desktop8,wake=6.8us", "sim:desktop8,wake=6.8us");
    char *of = machine_spec_guest("sim:desktop8,cores=4,wake=1us");
    assert_string_equal(of, "sim:desktop8,host=vm,cores=4,wake=1us");
    assert_true(machine_spec_is_guest_of(of, "sim:desktop8,cores=4,wake=1us"));
    assert_false(machine_spec_is_guest_of(of, "sim:desktop8,cores=4"));
    assert_false(machine_spec_is_guest_of(of, of));
    assert_null(machine_spec_guest(of));
    assert_null(machine_spec_guest("native"));
    free(of);
    expect_error("sim:desktop8,host=metal", "host is metal", "valid: vm, or leave it out");
    expect_error("sim:desktop8,host", "host is empty", "vm");
    expect_error("sim:desktop8,host=vm,host=vm", "host is given twice", "");
    expect_error("sim:desktop8,hots=vm", "unknown key \"hots\"", "the nearest is \"host\"");
}

static void mistakes_say_what_is_valid(void **state)
{
    (void)state;
    expect_error("real", "unknown machine \"real\"", "native, sim:MODEL");
    expect_error("sim:", "unknown model \"\"", "desktop8");
    expect_error("sim:dekstop8", "unknown model \"dekstop8\"", "the nearest is \"desktop8\"");
    expect_error("sim:nowhere.yaml", "cannot read nowhere.yaml", "No such file");
    expect_error("sim:desktop8,l1.sise=1", "unknown key \"l1.sise\"", "the nearest is \"l1.size\"");
    expect_error("sim:desktop8,cores", "cores has no value", "1 to 256");
    expect_error("sim:desktop8,cores=", "cores has no value", "1 to 256");
    expect_error("sim:desktop8,cores=0", "cores is 0", "1 to 256");
    expect_error("sim:desktop8,cores=300", "cores is 300", "1 to 256");
    expect_error("sim:desktop8,call=5", "call is 5", "in cycles, ps, ns, us, ms or s");
    expect_error("sim:desktop8,prefetch=on", "prefetch is on", "no, yes");
    expect_error("sim:desktop8,cores=4,cores=5", "cores is given twice", "");
    expect_error("sim:desktop8,,cores=4", "a key is missing", "KEY=VALUE");
    expect_error("sim:desktop8,", "a key is missing", "KEY=VALUE");
    expect_error("sim:desktop8,lookahead=1ms", "lookahead is", "the smallest latency with which");
    expect_error("sim:desktop8,l1.size=33Ki", "l1.size", "a power of two times");
    expect_error("sim:server64,cores=12", "cores is 12", "the nearest valid: 8 or 16");
    expect_error("sim:server64,cores=72", "cores is 72", "the nearest valid: 64 or 80");
    expect_error("sim:laptop,cores=3", "cores is 3", "the nearest valid: 2 or 4");
    expect_error("sim:desktop8,seed=4", "unknown key \"seed\"", "valid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_is_a_machine_too),
        cmocka_unit_test(keys_override_the_model),
        cmocka_unit_test(texts_are_canonical),
        cmocka_unit_test(cycles_follow_the_clock),
        cmocka_unit_test(shape_follows_cores),
        cmocka_unit_test(a_part_of_a_group_keeps_its_l3),
        cmocka_unit_test(a_guest_has_the_prices_of_a_virtual_machine),
        cmocka_unit_test(mistakes_say_what_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
