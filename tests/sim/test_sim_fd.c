/* test_sim_fd.c - descriptors and pollers of the simulated machine, on the kernel of fake_sim.h:
 * what the real machine's do as well (descriptor_scenes.h), and what only virtual time shows.
 */
#define machine_fd_open sim_fd_open
#define machine_fd_pipe sim_fd_pipe
#define machine_fd_eventfd sim_fd_eventfd
#define machine_fd_listen sim_fd_listen
#define machine_fd_port sim_fd_port
#define machine_fd_accept sim_fd_accept
#define machine_fd_dial sim_fd_dial
#define machine_fd_dialled sim_fd_dialled
#define machine_fd_read sim_fd_read
#define machine_fd_write sim_fd_write
#define machine_fd_shutdown sim_fd_shutdown
#define machine_fd_close sim_fd_close
#define machine_poller sim_poller
#define machine_poller_new sim_poller_new
#define machine_poller_free sim_poller_free
#define machine_poller_add sim_poller_add
#define machine_poller_arm sim_poller_arm
#define machine_poller_remove sim_poller_remove
#define machine_poller_wait sim_poller_wait
#define machine_poller_break sim_poller_break
#define machine_has_uring sim_has_uring
#define machine_thread_start sim_thread_start
#define machine_thread_join sim_thread_join
#define machine_now sim_machine_now

#include "tests/support/fake_sim.h"

/* This program has the real machine already, so the other one comes under names of its own. */
// NOLINTBEGIN(bugprone-suspicious-include)
#include "machine/sim/fd.c"
#include "machine/sim/file.c"
#include "machine/sim/pipe.c"
#include "machine/sim/poll.c"
#include "machine/sim/socket.c"
// NOLINTEND(bugprone-suspicious-include)

#include "tests/runtime/descriptor_scenes.h"

#include <stdio.h>

/* Nothing here lasts longer, but who dials a full listener. */
static void settle(void)
{
    fake_wait(SHORT_NS);
}

/* The scenes leave nothing behind: no number, no event. */
static int all_is_closed(void **state)
{
    (void)state;
    settle();
    for (int number = 0; number < table_size; number++)
        if (table[number])
            return -1;
    return fake.events;
}

static int64_t network_ns(void)
{
    return sim_model.network.median_ps / PS_PER_NS;
}

/* Time ---------------------------------------------------------------------------------------- */

static void each_call_costs_its_price(void **state)
{
    (void)state;
    int ends[2] = {-1, -1};
    char bytes[640];
    int64_t call = sim_model.call_ps, before = fake.spent_ps;
    assert_int_equal(machine_fd_pipe(ends, false), 0);
    assert_int_equal(fake.spent_ps - before, call);
    fake.touched = 0;
    assert_int_equal(machine_fd_write(ends[1], bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(fake.touched, sizeof bytes);
    assert_int_equal(machine_fd_read(ends[0], bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(fake.touched, 2 * sizeof bytes);
    before = fake.spent_ps;
    assert_int_equal(read_one(ends[0]), -EAGAIN);
    pair_close(ends);
    assert_int_equal(fake.spent_ps - before, 3 * call);
    before = fake.spent_ps;
    assert_int_equal(read_one(ends[0]), -EBADF);
    assert_int_equal(fake.spent_ps - before, call);
}

/* Going to sleep costs the sleeper, waking him costs who writes. */
static void waking_costs_who_wakes(void **state)
{
    (void)state;
    int ends[2] = {-1, -1};
    char byte;
    assert_int_equal(machine_fd_pipe(ends, true), 0);
    struct caller reader = {.fd = ends[0], .size = 1, .bytes = &byte};
    int64_t before = fake.spent_ps;
    caller_start(&reader);
    settle();
    assert_int_equal(fake.spent_ps - before, sim_model.call_ps + sim_model.wait_ps);
    before = fake.spent_ps;
    fake.woken = 0;
    put(ends[1]);
    assert_int_equal(fake.woken, 1);
    machine_thread_join(&reader.thread);
    assert_int_equal(fake.spent_ps - before, sim_model.call_ps + sim_model.wake_ps);
    pair_close(ends);
}

static void bytes_take_the_latency_of_the_network(void **state)
{
    (void)state;
    int listener = machine_fd_listen(false), ends[2];
    connected(listener, ends);
    int64_t start = machine_now();
    put(ends[0]);
    while (read_one(ends[1]) == -EAGAIN)
        continue;
    assert_in_range(machine_now() - start, network_ns(), network_ns() + network_ns() / 4);
    pair_close(ends);
    start = machine_now();
    ends[0] = machine_fd_dial(machine_fd_port(listener), true);
    assert_in_range(machine_now() - start, 2 * network_ns(), 2 * network_ns() + network_ns() / 4);
    assert_int_equal(machine_fd_accept(listener, false), -EAGAIN);
    settle();
    ends[1] = machine_fd_accept(listener, false);
    assert_true(ends[1] >= 0);
    pair_close(ends);
    machine_fd_close(listener);
}

static int64_t ever_shorter(const struct sim_latency *latency)
{
    static int64_t less;
    return latency->median_ps - (less += 10000) % latency->median_ps;
}

/* A shorter latency does not overtake a longer one, nor does the end overtake the data. */
static void a_stream_stays_in_order(void **state)
{
    (void)state;
    int listener = machine_fd_listen(true), ends[2];
    ends[0] = machine_fd_dial(machine_fd_port(listener), true);
    ends[1] = machine_fd_accept(listener, true);
    fake.latency_ps = ever_shorter;
    for (int i = 0; i < 200; i++) {
        char byte = (char)i;
        assert_int_equal(machine_fd_write(ends[0], &byte, 1), 1);
    }
    assert_int_equal(machine_fd_shutdown(ends[0], false), 0);
    for (int i = 0; i < 200; i++) {
        char byte = 0;
        assert_int_equal(machine_fd_read(ends[1], &byte, 1), 1);
        assert_int_equal(byte, (char)i);
    }
    assert_int_equal(read_one(ends[1]), 0);
    fake.latency_ps = NULL;
    pair_close(ends);
    machine_fd_close(listener);
}

static void a_window_is_what_a_writer_gets(void **state)
{
    (void)state;
    static char much[1 << 20];
    int listener = machine_fd_listen(false), ends[2];
    connected(listener, ends);
    assert_int_equal(machine_fd_write(ends[0], much, sizeof much), SOCKET_WINDOW);
    assert_int_equal(machine_fd_write(ends[0], much, 1), -EAGAIN);
    settle();
    assert_int_equal(machine_fd_read(ends[1], much, WINDOW_TOLD - 1), WINDOW_TOLD - 1);
    settle();
    assert_int_equal(machine_fd_write(ends[0], much, 1), -EAGAIN);
    assert_int_equal(read_one(ends[1]), 1);
    assert_int_equal(machine_fd_write(ends[0], much, 1), -EAGAIN); /* the news takes its time */
    settle();
    assert_int_equal(machine_fd_write(ends[0], much, sizeof much), WINDOW_TOLD);
    pair_close(ends);
    machine_fd_close(listener);
}

/* A writer that has never found it full is told nothing when there is more room. */
static void room_is_told_to_who_lacked_it(void **state)
{
    (void)state;
    static char much[SOCKET_WINDOW];
    struct machine_poller *poller = poller_make();
    int listener = machine_fd_listen(false), ends[2] = {-1, -1};
    connected(listener, ends);
    assert_int_equal(machine_poller_add(poller, ends[0], true, 1), 0);
    assert_int_equal(look(poller, 8, 0).count, 1);
    assert_int_equal(machine_fd_write(ends[0], much, 100000), 100000);
    settle();
    assert_int_equal(machine_fd_read(ends[1], much, sizeof much), 100000);
    settle();
    assert_int_equal(look(poller, 8, 0).count, 0);
    assert_int_equal(machine_fd_write(ends[0], much, sizeof much), SOCKET_WINDOW);
    settle();
    assert_int_equal(machine_fd_read(ends[1], much, SOCKET_WINDOW / 3), SOCKET_WINDOW / 3);
    settle();
    assert_int_equal(look(poller, 8, 0).count, 1);
    pair_close(ends);
    machine_fd_close(listener);
    machine_poller_free(poller);
}

/* A write that has sent something says how much, and the next one says what went wrong. */
static void an_error_waits_for_the_next_call(void **state)
{
    (void)state;
    static char much[2 * SOCKET_WINDOW];
    int listener = machine_fd_listen(true);
    int fd = machine_fd_dial(machine_fd_port(listener), true);
    int peer = machine_fd_accept(listener, true);
    struct caller writer = {.fd = fd, .write = true, .size = sizeof much, .bytes = much};
    caller_start(&writer);
    settle();
    machine_fd_close(peer);
    machine_thread_join(&writer.thread);
    assert_int_equal(writer.result, SOCKET_WINDOW);
    assert_int_equal(machine_fd_write(fd, much, 1), -ECONNRESET);
    assert_int_equal(machine_fd_write(fd, much, 1), -EPIPE);
    machine_fd_close(fd);
    machine_fd_close(listener);
}

/* Dialling ------------------------------------------------------------------------------------ */

/* The first 4096 wait to be accepted; the next one asks again after a second, and gives up after
 * 127. */
static void a_full_listener_lets_others_come_again(void **state)
{
    (void)state;
    static int fd[BACKLOG_MAX];
    int listener = machine_fd_listen(false), port = machine_fd_port(listener);
    for (int i = 0; i < BACKLOG_MAX; i++) {
        fd[i] = machine_fd_dial(port, true);
        assert_true(fd[i] >= 0);
    }
    settle();
    int64_t start = machine_now();
    assert_int_equal(machine_fd_dial(port, true), -ETIMEDOUT);
    assert_in_range(machine_now() - start, INT64_C(127) * LONG_NS, INT64_C(128) * LONG_NS);
    int late = machine_fd_dial(port, false);
    settle();
    assert_int_equal(machine_fd_dialled(late), -EAGAIN);
    assert_int_equal(state_of(late), 0);
    machine_fd_close(machine_fd_accept(listener, false));
    fake_wait(LONG_NS);
    settle();
    assert_int_equal(machine_fd_dialled(late), 0);
    machine_fd_close(late);
    machine_fd_close(listener);
    for (int i = 0; i < BACKLOG_MAX; i++)
        machine_fd_close(fd[i]);
}

/* At every moment between the first word and the last: nothing is left, nobody is told wrongly. */
static void dialling_can_end_at_any_time(void **state)
{
    (void)state;
    for (int64_t ns = 0; ns < 4 * network_ns(); ns += network_ns() / 3) {
        for (int who = 0; who < 3; who++) {
            int listener = machine_fd_listen(false);
            int fd = machine_fd_dial(machine_fd_port(listener), false), error;
            fake_wait(ns);
            if (who == 0)
                machine_fd_close(fd);
            else if (who == 1)
                machine_fd_close(listener);
            else
                assert_int_equal(machine_fd_shutdown(fd, true), 0);
            settle();
            if (who == 1) {
                error = machine_fd_dialled(fd);
                assert_true(error == -ECONNREFUSED || error == -ECONNRESET);
                assert_int_equal(read_one(fd), 0);
            } else if (who == 2) {
                int64_t n = read_one(fd);
                assert_true(n == -ECONNRESET || n == 0);
            }
            if (who != 0)
                machine_fd_close(fd);
            if (who != 1)
                machine_fd_close(listener);
        }
    }
}

static void ports_are_handed_out_in_turn(void **state)
{
    (void)state;
    int first = machine_fd_listen(false), second = machine_fd_listen(false);
    int port = machine_fd_port(second);
    assert_int_equal(port, machine_fd_port(first) + 1);
    machine_fd_close(second);
    second = machine_fd_listen(false);
    assert_int_equal(machine_fd_port(second), port + 1);
    machine_fd_close(first);
    machine_fd_close(second);
}

/* Numbers ------------------------------------------------------------------------------------- */

static void the_lowest_number_is_taken(void **state)
{
    (void)state;
    int fd[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(fd[i] = machine_fd_eventfd(false), FD_FIRST + i);
    machine_fd_close(fd[2]);
    machine_fd_close(fd[0]);
    assert_int_equal(machine_fd_eventfd(false), fd[0]);
    assert_int_equal(machine_fd_eventfd(false), fd[2]);
    for (int i = 0; i < 4; i++)
        machine_fd_close(fd[i]);
}

static void a_full_table_is_an_error(void **state)
{
    (void)state;
    int ends[2], listener = machine_fd_listen(false);
    int client = machine_fd_dial(machine_fd_port(listener), true), whole = limit;
    settle();
    limit = client + 2; /* one more */
    assert_int_equal(machine_fd_pipe(ends, false), -EMFILE);
    limit = client + 1;
    assert_int_equal(machine_fd_eventfd(false), -EMFILE);
    assert_int_equal(machine_fd_listen(false), -EMFILE);
    assert_int_equal(machine_fd_dial(1, false), -EMFILE);
    assert_int_equal(machine_fd_open("/etc/passwd", false), -EMFILE);
    assert_int_equal(machine_fd_accept(listener, false), -EMFILE);
    limit = whole;
    int accepted = machine_fd_accept(listener, false); /* it has stayed for the next */
    assert_true(accepted >= 0);
    machine_fd_close(accepted);
    machine_fd_close(client);
    machine_fd_close(listener);
}

/* Closing takes the number away; the call that waits goes on, and the peer sees no end before. */
static void closing_leaves_who_waits_in_the_kernel(void **state)
{
    (void)state;
    int ends[2] = {-1, -1};
    char byte = 0;
    assert_int_equal(machine_fd_pipe(ends, true), 0);
    struct caller reader = {.fd = ends[0], .size = 1, .bytes = &byte};
    caller_start(&reader);
    fake_wait(SHORT_NS);
    machine_fd_close(ends[0]);
    assert_int_equal(read_one(ends[0]), -EBADF);
    assert_int_equal(machine_fd_write(ends[1], "y", 1), 1);
    machine_thread_join(&reader.thread);
    assert_int_equal(reader.result, 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(machine_fd_write(ends[1], "y", 1), -EPIPE);
    machine_fd_close(ends[1]);
}

/* Files --------------------------------------------------------------------------------------- */

static void a_file_keeps_what_is_written(void **state)
{
    (void)state;
    files_keep_what_is_written("/tmp/schedlab-test-that-only-the-simulated-machine-has");
    assert_int_equal(access("/tmp/schedlab-test-that-only-the-simulated-machine-has", F_OK), -1);
}

/* Through /proc as well, under a path that leads to other files later. */
static void files_of_the_host_can_be_read(void **state)
{
    (void)state;
    int before = -1;
    for (int round = 0; round < 2; round++) {
        FILE *host = tmpfile();
        char path[64], bytes[64] = "";
        assert_non_null(host);
        fprintf(host, "round %d", round);
        fflush(host);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(host));
        int fd = machine_fd_open(path, false), other = machine_fd_open(path, false);
        assert_true(fd >= 0 && other >= 0);
        assert_ptr_equal(file_of(table[fd])->content, file_of(table[other])->content);
        assert_int_equal(machine_fd_read(fd, bytes, sizeof bytes), 7);
        assert_int_equal(bytes[6], '0' + round);
        machine_fd_close(other);
        machine_fd_close(before);
        before = fd;
        fclose(host);
    }
    machine_fd_close(before);
    assert_int_equal(machine_fd_open("/etc", false), -EISDIR);
    assert_int_equal(machine_fd_open("/dev/null", false), -ENXIO);
}

/* Readers of one descriptor take turns at the device and its position; the end costs no time. */
static void readers_of_one_file_take_turns(void **state)
{
    (void)state;
    enum { READERS = 4 };
    struct caller reader[READERS];
    char bytes[READERS];
    int fd = machine_fd_open("/tmp/turns", true);
    int64_t device = sim_model.file.median_ps / PS_PER_NS, start = machine_now();
    assert_int_equal(machine_fd_write(fd, "abcd", READERS), READERS);
    assert_true(machine_now() - start >= device);
    machine_fd_close(fd);
    fd = machine_fd_open("/tmp/turns", false);
    start = machine_now();
    for (int i = 0; i < READERS; i++) {
        reader[i] = (struct caller){.fd = fd, .size = 1, .bytes = &bytes[i]};
        caller_start(&reader[i]);
    }
    for (int i = 0; i < READERS; i++) {
        machine_thread_join(&reader[i].thread);
        assert_int_equal(reader[i].result, 1);
    }
    assert_in_range(machine_now() - start, READERS * device, READERS * device + device);
    assert_memory_equal(bytes, "abcd", READERS);
    start = machine_now();
    assert_int_equal(read_one(fd), 0);
    assert_true(machine_now() - start < device);
    machine_fd_close(fd);
}

/* Pollers ------------------------------------------------------------------------------------- */

/* Not even an error is told before it is asked for. */
static void nothing_is_told_before_it_is_armed(void **state)
{
    (void)state;
    struct machine_poller *poller = poller_make();
    int ends[2] = {-1, -1};
    pipe_make(ends);
    assert_int_equal(machine_poller_add(poller, ends[0], false, 1), 0);
    machine_fd_close(ends[1]);
    assert_int_equal(look(poller, 8, 0).count, 0);
    assert_int_equal(machine_poller_arm(poller, ends[0], MACHINE_READ, 1), 0);
    assert_int_equal(look(poller, 8, 0).what[0], BOTH);
    machine_fd_close(ends[0]);
    machine_poller_free(poller);
}

static void waits_last_their_time_and_the_slack(void **state)
{
    (void)state;
    struct machine_poller *poller = poller_make();
    int64_t start = machine_now(), slack = sim_model.slack_ps / PS_PER_NS;
    assert_int_equal(look(poller, 8, SHORT_NS).count, 0);
    assert_in_range(machine_now() - start, SHORT_NS + slack, SHORT_NS + slack + 1000);
    int fd = machine_fd_eventfd(false);
    uint64_t one = 1;
    assert_int_equal(machine_poller_add(poller, fd, true, 1), 0);
    assert_int_equal(look(poller, 8, 0).count, 1);
    struct caller writer = {.fd = fd, .write = true, .size = sizeof one, .bytes = (char *)&one};
    caller_start(&writer);
    assert_int_equal(look(poller, 8, INT64_MAX).count, 1);
    machine_thread_join(&writer.thread);
    machine_fd_close(fd);
    machine_poller_free(poller);
    assert_false(machine_has_uring());
}

#define TEST(name) cmocka_unit_test_teardown(name, all_is_closed)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESCRIPTOR_SCENES(TEST),
        TEST(each_call_costs_its_price),
        TEST(waking_costs_who_wakes),
        TEST(bytes_take_the_latency_of_the_network),
        TEST(a_stream_stays_in_order),
        TEST(a_window_is_what_a_writer_gets),
        TEST(room_is_told_to_who_lacked_it),
        TEST(an_error_waits_for_the_next_call),
        TEST(a_full_listener_lets_others_come_again),
        TEST(dialling_can_end_at_any_time),
        TEST(ports_are_handed_out_in_turn),
        TEST(the_lowest_number_is_taken),
        TEST(a_full_table_is_an_error),
        TEST(closing_leaves_who_waits_in_the_kernel),
        TEST(a_file_keeps_what_is_written),
        TEST(files_of_the_host_can_be_read),
        TEST(readers_of_one_file_take_turns),
        TEST(nothing_is_told_before_it_is_armed),
        TEST(waits_last_their_time_and_the_slack),
    };
    fake_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
