/* replay_speed.c - see replay_speed.h.
 *
 * The speed is of tries of about a millisecond, so that the machine's own interrupts are in them as
 * they are in a program. On one virtual machine a tick comes each millisecond and takes 13 us, and
 * others come beside it. The middle half of tries of 5 us left these out, and all that was computed
 * took 3 to 5 % too long. The mean is that of the faster half, without the fastest. For three
 * milliseconds of the first calibration the monitor, which has just begun to wait, interrupts every
 * 20 us, and tries take half as long again. The price of a call is the mean of the middle half of
 * its tries.
 *
 * Rejected: to compute until the clock says so. While another program has the core, its time would
 * count as the goroutine's. Beside other load half of the calls then took as long as on a quiet
 * machine, where counted rounds took twice as long, as a program does. Without it the two agree
 * within 1 %. The clock of the thread's own time would be right, but takes 0.6 us to read.
 */
#include "workload.h"

#include "replay_speed.h"

#include <stdlib.h>

enum { TRIES = 128, LOOKS = 16, WORK_TRIES = 12, ROUNDS = 800000 };

/* Makes a try; returns how long it took. */
typedef double speed_try(struct io *io);

static double try_clock(struct io *io)
{
    (void)io;
    int64_t start_ns = go_now(), end_ns = start_ns;
    for (int i = 0; i < LOOKS; i++)
        end_ns = go_now();
    return (double)(end_ns - start_ns) / LOOKS;
}

static double try_write(struct io *io)
{
    uint64_t one = 1;
    int64_t start_ns = go_now();
    io_write_all(io, &one, sizeof one);
    int64_t end_ns = go_now();
    io_read(io, &one, sizeof one);
    return (double)(end_ns - start_ns);
}

static double try_read(struct io *io)
{
    uint64_t one = 1;
    io_write_all(io, &one, sizeof one);
    int64_t start_ns = go_now();
    io_read(io, &one, sizeof one);
    return (double)(go_now() - start_ns);
}

static int compare_ns(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The mean of the middle half, less off_ns; at least 0. */
static double middle_ns(speed_try *try, struct io *io, double off_ns)
{
    double ns[TRIES], sum_ns = 0;
    for (int i = 0; i < TRIES; i++)
        ns[i] = try(io);
    qsort(ns, TRIES, sizeof ns[0], compare_ns);
    for (int i = TRIES / 4; i < TRIES - TRIES / 4; i++)
        sum_ns += ns[i];
    double mean_ns = 2 * sum_ns / TRIES - off_ns;
    return mean_ns > 0 ? mean_ns : 0;
}

/* A try of ROUNDS takes so long. */
static double work_ns(int tries)
{
    double ns[WORK_TRIES], sum_ns = 0;
    for (int i = 0; i < tries; i++) {
        int64_t start_ns = go_now();
        go_work(ROUNDS);
        ns[i] = (double)(go_now() - start_ns);
    }
    qsort(ns, (size_t)tries, sizeof ns[0], compare_ns);
    int used = tries / 2 - 1;
    for (int i = 1; i <= used; i++)
        sum_ns += ns[i];
    return sum_ns > 0 ? sum_ns / used : 1;
}

static void descriptors_measure(struct replay_speed *speed)
{
    struct io *io;
    if (io_eventfd(&io, IO_POLLED) != 0)
        return; /* the program's own are opened next, and fail with a reason */
    speed->write_ns = middle_ns(try_write, io, speed->clock_ns);
    speed->read_ns = middle_ns(try_read, io, speed->clock_ns);
    io_free(io);
}

void replay_speed_measure(struct replay_speed *speed, bool has_descriptors)
{
    bool is_first = speed->rounds_per_ns == 0;
    if (!is_first && go_now() - speed->measured_ns < REPLAY_SPEED_OLD_NS)
        return;
    if (is_first) {
        speed->clock_ns = middle_ns(try_clock, NULL, 0);
        if (has_descriptors)
            descriptors_measure(speed);
    }
    speed->rounds_per_ns = ROUNDS / work_ns(is_first ? WORK_TRIES : WORK_TRIES / 2);
    if (is_first || speed->slowest > speed->rounds_per_ns)
        speed->slowest = speed->rounds_per_ns;
    if (is_first || speed->fastest < speed->rounds_per_ns)
        speed->fastest = speed->rounds_per_ns;
    speed->measured_ns = go_now();
}

void replay_speed_print(const struct replay_speed *speed, FILE *to)
{
    double drift = speed->slowest > 0 ? speed->fastest / speed->slowest - 1 : 0;
    if (drift > REPLAY_SPEED_DRIFT)
        fprintf(to, "the machine's speed drifted by %.1f %% between calls\n", 100 * drift);
}
