/* boost.cpp - the goroutine workloads, and fork/join by joining fibers, on Boost.Fiber.
 *
 * With one worker the first thread's round robin; with more, a thread each under the work-stealing
 * algorithm as it is by default, without sleeping. Fibers have the default stacks. A buffered
 * channel of Boost's has a size that is a power of two and holds one message less than that.
 */
#include "forkjoin.h"
#include "goroutines.h"

#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/all.hpp>
#include <boost/version.hpp>

#include <deque>
#include <memory>
#include <thread>
#include <vector>

using boost::fibers::channel_op_status;
using boost::fibers::fiber;
template <typename T> using unbuffered = boost::fibers::unbuffered_channel<T>;
template <typename T> using buffered = boost::fibers::buffered_channel<T>;

static void join_all(std::vector<fiber> &fibers)
{
    for (fiber &each : fibers)
        each.join();
}

/* Nobody begins before all exist. */
class gate
{
    boost::fibers::mutex mutex;
    boost::fibers::condition_variable opened;
    bool is_open = false;

  public:
    void wait()
    {
        std::unique_lock<boost::fibers::mutex> lock(mutex);
        opened.wait(lock, [this] { return is_open; });
    }

    void open()
    {
        std::unique_lock<boost::fibers::mutex> lock(mutex);
        is_open = true;
        opened.notify_all();
    }
};

static void time_fibers(gate &begin, std::vector<fiber> &fibers, struct peer_outcome *out)
{
    int64_t start = peer_now();
    begin.open();
    join_all(fibers);
    out->time_ns = peer_now() - start;
}

static void require_power_of_two(const char *key, uint64_t size)
{
    if (size == 1 || (size & (size - 1)) != 0)
        peer_unsupported("%s=%" PRIu64 ": sizes are powers of two from 2 on, or 0", key, size);
}

template <typename Use> static void with_channel(uint64_t buffer, Use use)
{
    require_power_of_two("buffer", buffer);
    if (buffer == 0) {
        unbuffered<uint64_t> channel;
        use(channel);
    } else {
        buffered<uint64_t> channel(buffer);
        use(channel);
    }
}

/* spawn --------------------------------------------------------------------------------------- */

static void spawn_create(struct spawn *spawn, uint64_t first, uint64_t end)
{
    std::vector<fiber> children;
    if (spawn->batch)
        children.reserve(end - first);
    for (uint64_t i = first; i < end; i++) {
        fiber child([spawn, i] { spawn->marks[i] += i + 1; });
        if (spawn->batch)
            children.push_back(std::move(child));
        else
            child.join();
    }
    join_all(children);
}

static void spawn_run(void *state, struct peer_outcome *out)
{
    struct spawn *spawn = static_cast<struct spawn *>(state);
    int64_t start = peer_now();
    if (spawn->creators == 1) {
        spawn_create(spawn, 0, spawn->n);
    } else {
        std::vector<fiber> creators;
        for (uint64_t c = 0; c < spawn->creators; c++)
            creators.emplace_back(spawn_create, spawn, spawn->n * c / spawn->creators,
                                  spawn->n * (c + 1) / spawn->creators);
        join_all(creators);
    }
    out->time_ns = peer_now() - start;
    spawn_finish(spawn, out);
}

/* pingpong ------------------------------------------------------------------------------------ */

template <typename Channel>
static void ping(struct pair *pair, uint64_t rounds, Channel &there, Channel &back, gate &begin)
{
    uint64_t tag = pair->tag, sum = 0, wrong = 0;
    begin.wait();
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t message = 0;
        there.push(tag | i);
        wrong += back.pop(message) != channel_op_status::success;
        wrong += message != (tag | (2 * i + 1));
        sum += message - tag;
    }
    pair->sum = sum;
    pair->ping_wrong = wrong;
}

template <typename Channel>
static void pong(struct pair *pair, uint64_t rounds, Channel &there, Channel &back)
{
    uint64_t tag = pair->tag, wrong = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t message = 0;
        wrong += there.pop(message) != channel_op_status::success;
        wrong += message != (tag | i);
        back.push(tag | (2 * (message - tag) + 1));
    }
    pair->pong_wrong = wrong;
}

template <typename Channel, typename... Size>
static void play(struct pingpong *all, struct peer_outcome *out, Size... size)
{
    gate begin;
    std::deque<Channel> there, back;
    std::vector<fiber> fibers;
    for (uint64_t i = 0; i < all->pairs; i++) {
        there.emplace_back(size...);
        back.emplace_back(size...);
        struct pair *pair = &all->pair[i];
        Channel &to = there.back(), &from = back.back();
        fibers.emplace_back([=, &to, &from] { pong(pair, all->rounds, to, from); });
        fibers.emplace_back([=, &to, &from, &begin] { ping(pair, all->rounds, to, from, begin); });
    }
    time_fibers(begin, fibers, out);
}

static void pingpong_run(void *state, struct peer_outcome *out)
{
    struct pingpong *all = static_cast<struct pingpong *>(state);
    require_power_of_two("capacity", all->capacity);
    if (all->capacity == 0)
        play<unbuffered<uint64_t>>(all, out);
    else
        play<buffered<uint64_t>>(all, out, all->capacity);
    pingpong_finish(all, out);
}

/* ring ---------------------------------------------------------------------------------------- */

static void ring_node(struct ring *ring, uint64_t index, unbuffered<int64_t> &in,
                      unbuffered<int64_t> &out, boost::fibers::promise<void> &arrived)
{
    int64_t expected = ring->hops - static_cast<int64_t>(index), token;
    uint64_t visits = 0;
    while (in.pop(token) == channel_op_status::success) {
        if (token != expected)
            peer_fail("ring: node %" PRIu64 " got a wrong token", index);
        expected -= static_cast<int64_t>(ring->n);
        visits++;
        if (token > 0) {
            out.push(token - 1);
        } else {
            ring->last_holder = index;
            arrived.set_value();
        }
    }
    ring->visits[index] = visits;
}

static void ring_run(void *state, struct peer_outcome *out)
{
    struct ring *ring = static_cast<struct ring *>(state);
    std::deque<unbuffered<int64_t>> channels(ring->n);
    std::vector<fiber> nodes;
    boost::fibers::promise<void> arrived;
    for (uint64_t i = 0; i < ring->n; i++) {
        unbuffered<int64_t> &in = channels[i], &next = channels[(i + 1) % ring->n];
        nodes.emplace_back([=, &in, &next, &arrived] { ring_node(ring, i, in, next, arrived); });
    }
    int64_t start = peer_now();
    channels[0].push(ring->hops);
    arrived.get_future().wait();
    out->time_ns = peer_now() - start;
    for (unbuffered<int64_t> &channel : channels)
        channel.close();
    join_all(nodes);
    ring_finish(ring, out);
}

/* yield --------------------------------------------------------------------------------------- */

static void yield_run(void *state, struct peer_outcome *out)
{
    struct yield *all = static_cast<struct yield *>(state);
    gate begin;
    std::vector<fiber> fibers;
    for (uint64_t i = 0; i < all->yielders; i++) {
        fibers.emplace_back([all, i, &begin] {
            uint64_t share = share_of(all->n, all->yielders, i), done = 0;
            begin.wait();
            while (done < share) {
                boost::this_fiber::yield();
                done++;
            }
            all->done[i] = done;
        });
    }
    time_fibers(begin, fibers, out);
    yield_finish(all, out);
}

/* prodcons ------------------------------------------------------------------------------------ */

template <typename Channel> static void produce(struct prodcons *all, Channel &channel, gate &begin)
{
    begin.wait();
    for (uint64_t i = 0; i < all->messages; i++) {
        work_if(all->work);
        channel.push(i);
    }
    channel.close();
}

template <typename Channel> static void consume(struct prodcons *all, Channel &channel)
{
    uint64_t received = 0, sum = 0, wrong = 0, message;
    while (channel.pop(message) == channel_op_status::success) {
        wrong += message != received++;
        sum += message;
        work_if(all->work);
    }
    all->received = received;
    all->sum = sum;
    all->wrong = wrong;
}

template <typename Channel>
static void stream(struct prodcons *all, Channel &channel, struct peer_outcome *out)
{
    gate begin;
    fiber consumer([all, &channel] { consume(all, channel); });
    fiber producer([all, &channel, &begin] { produce(all, channel, begin); });
    int64_t start = peer_now();
    begin.open();
    producer.join();
    consumer.join();
    out->time_ns = peer_now() - start;
}

static void prodcons_run(void *state, struct peer_outcome *out)
{
    struct prodcons *all = static_cast<struct prodcons *>(state);
    with_channel(all->buffer, [=](auto &channel) { stream(all, channel, out); });
    prodcons_finish(all, out);
}

/* mpmc ---------------------------------------------------------------------------------------- */

template <typename Channel>
static void serve(struct mpmc *all, Channel &channel, struct peer_outcome *out)
{
    gate begin;
    std::vector<fiber> consumers, producers;
    for (uint64_t i = 0; i < all->consumers; i++) {
        consumers.emplace_back([all, i, &channel] {
            uint64_t message;
            while (channel.pop(message) == channel_op_status::success) {
                mpmc_take(&all->consumer[i], all->producers, message);
                work_if(all->work);
            }
        });
    }
    for (uint64_t i = 0; i < all->producers; i++) {
        producers.emplace_back([all, i, &channel, &begin] {
            uint64_t share = share_of(all->messages, all->producers, i);
            begin.wait();
            for (uint64_t number = 0; number < share; number++) {
                work_if(all->work);
                channel.push(i << PAIR_SHIFT | number);
            }
        });
    }
    int64_t start = peer_now();
    begin.open();
    join_all(producers);
    channel.close();
    join_all(consumers);
    out->time_ns = peer_now() - start;
}

static void mpmc_run(void *state, struct peer_outcome *out)
{
    struct mpmc *all = static_cast<struct mpmc *>(state);
    with_channel(all->buffer, [=](auto &channel) { serve(all, channel, out); });
    mpmc_finish(all, out);
}

/* sieve --------------------------------------------------------------------------------------- */

using stage_channel = unbuffered<uint64_t>;

static void sieve_generate(struct sieve *sieve, stage_channel &out)
{
    uint64_t sent = 0;
    for (uint64_t number = 2; number <= sieve->last_prime; number++, sent++)
        out.push(number);
    sieve->sent[0] = sent;
    out.close();
}

static void sieve_filter(struct sieve *sieve, uint64_t stage, uint64_t prime, stage_channel &in,
                         stage_channel &out)
{
    uint64_t sent = 0, number;
    while (in.pop(number) == channel_op_status::success) {
        if (number % prime != 0) {
            out.push(number);
            sent++;
        }
    }
    sieve->sent[stage] = sent;
    out.close();
}

static void sieve_run(void *state, struct peer_outcome *out)
{
    struct sieve *sieve = static_cast<struct sieve *>(state);
    std::deque<stage_channel> channels;
    std::vector<fiber> stages;
    uint64_t found = 0, number;
    int64_t start = peer_now();
    channels.emplace_back();
    stages.emplace_back([sieve, &first = channels.back()] { sieve_generate(sieve, first); });
    while (found < sieve->primes && channels.back().pop(number) == channel_op_status::success) {
        sieve->found[found++] = number;
        if (found == sieve->primes)
            break;
        stage_channel &in = channels.back();
        channels.emplace_back();
        stages.emplace_back([sieve, found, number, &in, &next = channels.back()] {
            sieve_filter(sieve, found, number, in, next);
        });
    }
    while (channels.back().pop(number) == channel_op_status::success)
        found++; /* too many */
    join_all(stages);
    out->time_ns = peer_now() - start;
    sieve_finish(sieve, found, out);
}

/* mutex --------------------------------------------------------------------------------------- */

static void mutex_run(void *state, struct peer_outcome *out)
{
    struct locks *all = static_cast<struct locks *>(state);
    gate begin;
    boost::fibers::mutex mutex;
    std::vector<fiber> fibers;
    for (uint64_t i = 0; i < all->goroutines; i++) {
        fibers.emplace_back([all, i, &begin, &mutex] {
            uint64_t share = share_of(all->n, all->goroutines, i), locked = 0;
            begin.wait();
            while (locked < share) {
                {
                    std::unique_lock<boost::fibers::mutex> lock(mutex);
                    locks_increment(all);
                }
                locked++;
                work_if(all->think);
            }
            all->locked[i] = locked;
        });
    }
    time_fibers(begin, fibers, out);
    locks_finish(all, out);
}

/* Fork/join ----------------------------------------------------------------------------------- */

static uint64_t fib_one(uint64_t n)
{
    if (n <= 2)
        return n > 0;
    uint64_t x;
    fiber child([&x, n] { x = fib_one(n - 1); });
    uint64_t y = fib_one(n - 2);
    child.join();
    return x + y;
}

static uint64_t fib_both(uint64_t n)
{
    if (n <= 2)
        return n > 0;
    uint64_t x, y;
    fiber first([&x, n] { x = fib_both(n - 1); });
    fiber second([&y, n] { y = fib_both(n - 2); });
    first.join();
    second.join();
    return x + y;
}

static void fib_run(void *state, struct peer_outcome *out)
{
    const struct fib *fib = static_cast<struct fib *>(state);
    fib_finish(fib, fib->both ? fib_both(fib->n) : fib_one(fib->n), out);
}

/* As forkjoin.h asks for it. */
struct child_fibers {
    std::vector<fiber> all;

    template <typename Body> void run(const Body &body)
    {
        all.emplace_back(body);
    }

    void wait()
    {
        join_all(all);
    }
};

/* --------------------------------------------------------------------------------------------- */

static const struct peer_workload workloads[] = {
    {"spawn", spawn_init, spawn_run, nullptr},
    {"yield", yield_init, yield_run, nullptr},
    {"pingpong", pingpong_init, pingpong_run, nullptr},
    {"ring", ring_init, ring_run, nullptr},
    {"prodcons", prodcons_init, prodcons_run, nullptr},
    {"mpmc", mpmc_init, mpmc_run, nullptr},
    {"sieve", sieve_init, sieve_run, nullptr},
    {"mutex", locks_init, mutex_run, nullptr},
    {"fib", fib_init, fib_run, nullptr},
    {"nqueens", queens_init, queens_run<child_fibers>, nullptr},
    {"skynet", skynet_init, skynet_run<child_fibers>, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

/* The first thread measures, the others steal until it is done. */
static void measure_stealing(struct peer_run *run)
{
    using boost::fibers::algo::work_stealing;
    uint32_t workers = static_cast<uint32_t>(run->workers);
    std::mutex mutex;
    boost::fibers::condition_variable_any ended;
    bool done = false;
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i < workers; i++) {
        threads.emplace_back([&, workers] {
            boost::fibers::use_scheduling_algorithm<work_stealing>(workers);
            std::unique_lock<std::mutex> lock(mutex);
            ended.wait(lock, [&done] { return done; });
        });
    }
    boost::fibers::use_scheduling_algorithm<work_stealing>(workers);
    peer_measure(run, workloads);
    {
        std::unique_lock<std::mutex> lock(mutex);
        done = true;
    }
    ended.notify_all();
    for (std::thread &thread : threads)
        thread.join();
}

int main(int argc, char **argv)
{
    struct peer_run run = peer_parse(argc, argv);
    char version[32];
    snprintf(version, sizeof version, "%d.%d", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000);
    if (run.workers == 1)
        peer_measure(&run, workloads);
    else
        measure_stealing(&run);
    return peer_print(&run, "Boost.Fiber", version);
}
