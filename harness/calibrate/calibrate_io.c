/* calibrate_io.c - see calibrate.h: connections, pipes, files.
 *
 * A byte goes to and fro between two threads on two cores. They ask again and again without
 * waiting, so the time includes no sleep. Half of it, less a call, is the way from one end to the
 * other. Files are read where the kernel has them in memory.
 */
#include "harness/calibrate/calibrate.h"

#include "machine.h"

#include <errno.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { TRIPS = 1000, STACK_SIZE = 64 << 10, BLOCK = 4096, FILE_BLOCKS = 256 };

#define TRIP_NS_MAX INT64_C(1000000000)

/* The descriptors that the other end reads and writes. */
struct ends {
    int in, out;
};

static bool byte_get(int fd)
{
    char byte;
    int64_t result, until = machine_now() + TRIP_NS_MAX;
    while ((result = machine_fd_read(fd, &byte, 1)) == -EAGAIN)
        if (machine_now() > until)
            return false;
    return result == 1;
}

static bool byte_put(int fd)
{
    return machine_fd_write(fd, "x", 1) == 1;
}

/* Ends when its input does. */
static void echo_main(void *arg)
{
    const struct ends *ends = arg;
    while (byte_get(ends->in) && byte_put(ends->out))
        continue;
}

/* The samples: ns from one end to the other; returns how many. */
static size_t trips_measure(const struct ends *near, struct ends *far, double call,
                            double samples[TRIPS])
{
    struct machine_thread thread;
    size_t count = 0;
    if (machine_thread_start(&thread, echo_main, far, STACK_SIZE, 1) != 0)
        return 0;
    for (int i = -TRIPS / 10; i < TRIPS; i++) { /* the first ones warm up */
        int64_t start = machine_now();
        if (!byte_put(near->out) || !byte_get(near->in))
            break;
        if (i >= 0)
            samples[count++] = fmax(0, (double)(machine_now() - start) / 2 - call);
    }
    machine_fd_close(near->out);
    if (near->in != near->out)
        machine_fd_close(near->in);
    machine_thread_join(&thread);
    machine_fd_close(far->in);
    if (far->in != far->out)
        machine_fd_close(far->out);
    return count;
}

/* Both ends of a connection over the loopback interface; false: there is none. */
static bool connection_make(struct ends *near, struct ends *far)
{
    int listener = machine_fd_listen(true);
    if (listener < 0)
        return false;
    int dialled = machine_fd_dial(machine_fd_port(listener), false);
    int accepted = dialled < 0 ? -1 : machine_fd_accept(listener, false);
    for (int64_t until = machine_now() + TRIP_NS_MAX;
         dialled >= 0 && accepted == -EAGAIN && machine_now() < until;)
        accepted = machine_fd_accept(listener, false);
    machine_fd_close(listener);
    *near = (struct ends){dialled, dialled};
    *far = (struct ends){accepted, accepted};
    if (dialled >= 0 && accepted < 0)
        machine_fd_close(dialled);
    return dialled >= 0 && accepted >= 0;
}

static bool pipes_make(struct ends *near, struct ends *far)
{
    int there[2], back[2];
    if (machine_fd_pipe(there, false) != 0)
        return false;
    if (machine_fd_pipe(back, false) != 0) {
        machine_fd_close(there[0]);
        machine_fd_close(there[1]);
        return false;
    }
    *near = (struct ends){back[0], there[1]};
    *far = (struct ends){there[0], back[1]};
    return true;
}

/* Adds both figures of TRIPS samples; of fewer, why they are absent. */
static void add(struct calibrate *to, const char *median, const char *p99, double *samples,
                size_t count, const char *why)
{
    if (count < TRIPS) {
        calibrate_absent(to, median, "%s", why);
        calibrate_absent(to, p99, "%s", why);
        return;
    }
    calibrate_add(to, median, samples, count);
    double slow = gsl_stats_quantile_from_sorted_data(samples, 1, count, 0.99);
    calibrate_add(to, p99, &slow, 1);
}

static void measure_trips(struct calibrate *to, const char *median, const char *p99,
                          bool (*make)(struct ends *near, struct ends *far), double call)
{
    static double samples[TRIPS];
    struct ends near, far;
    size_t count = 0;
    const char *why = "the other end did not answer";
    if (to->cpus_count < 2)
        why = "there is no second core for the other end";
    else if (make(&near, &far))
        count = trips_measure(&near, &far, call, samples);
    add(to, median, p99, samples, count, why);
}

/* Blocks of a file that has just been written, in an order nobody can guess. */
static size_t reads_measure(int fd, double samples[TRIPS])
{
    static char block[BLOCK];
    uint32_t seed = 1;
    for (int i = 0; i < FILE_BLOCKS; i++)
        if (write(fd, block, BLOCK) != BLOCK)
            return 0;
    for (int i = 0; i < TRIPS; i++) {
        seed = seed * 1664525 + 1013904223;
        int64_t start = machine_now();
        if (pread(fd, block, BLOCK, (off_t)(seed >> 16) % FILE_BLOCKS * BLOCK) != BLOCK)
            return 0;
        samples[i] = (double)(machine_now() - start);
    }
    return TRIPS;
}

static void measure_file(struct calibrate *to, double call)
{
    static double samples[TRIPS];
    FILE *file = tmpfile();
    size_t count = file ? reads_measure(fileno(file), samples) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < count; i++)
        samples[i] = fmax(0, samples[i] - call);
    add(to, "file.median", "file.p99", samples, count, "cannot write and read a temporary file");
}

void calibrate_io(struct calibrate *to)
{
    double call = calibrate_median(to, "call");
    measure_trips(to, "network.median", "network.p99", connection_make, call);
    measure_trips(to, "pipe, one way", "pipe, one way, p99", pipes_make, call);
    measure_file(to, call);
}
