/* tbb.cpp - the fork/join workloads on oneTBB: a task_group per activation, child stealing.
 *
 * One arena of as many slots as workers; the first thread takes one of them.
 */
#include "forkjoin.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include <vector>

static uint64_t fib_one(uint64_t n)
{
    if (n <= 2)
        return n > 0;
    uint64_t x;
    tbb::task_group children;
    children.run([&x, n] { x = fib_one(n - 1); });
    uint64_t y = fib_one(n - 2);
    children.wait();
    return x + y;
}

static uint64_t fib_both(uint64_t n)
{
    if (n <= 2)
        return n > 0;
    uint64_t x, y;
    tbb::task_group children;
    children.run([&x, n] { x = fib_both(n - 1); });
    children.run([&y, n] { y = fib_both(n - 2); });
    children.wait();
    return x + y;
}

static void fib_run(void *state, struct peer_outcome *out)
{
    const struct fib *fib = static_cast<struct fib *>(state);
    fib_finish(fib, fib->both ? fib_both(fib->n) : fib_one(fib->n), out);
}

static void msort_merge(struct leaf_span a, struct leaf_span b, uint64_t *to, size_t cutoff)
{
    if (a.count + b.count <= cutoff) {
        leaf_merge(a, b, to);
        return;
    }
    struct leaf_span high_a, high_b;
    size_t low = msort_merge_halve(&a, &b, &high_a, &high_b);
    tbb::task_group child;
    child.run([=] { msort_merge(a, b, to, cutoff); });
    msort_merge(high_a, high_b, to + low, cutoff);
    child.wait();
}

static void msort_sort(const struct msort &all, const uint64_t *in, uint64_t *to, uint64_t *tmp,
                       size_t n)
{
    if (n <= all.cutoff) {
        leaf_sort(in, to, tmp, n);
        return;
    }
    size_t half = n / 2;
    tbb::task_group child;
    child.run([&all, in, to, tmp, half] { msort_sort(all, in, tmp, to, half); });
    msort_sort(all, in + half, tmp + half, to + half, n - half);
    child.wait();
    struct leaf_span a = {tmp, half}, b = {tmp + half, n - half};
    if (all.parallel_merge)
        msort_merge(a, b, to, all.cutoff);
    else
        leaf_merge(a, b, to);
}

static void msort_run(void *state, struct peer_outcome *out)
{
    const struct msort *all = static_cast<struct msort *>(state);
    msort_sort(*all, all->in, all->to, all->tmp, all->n);
    msort_finish(all, out);
}

static void matmul_multiply(const struct matmul &self)
{
    if (matmul_is_small(&self)) {
        matmul_block(&self);
        return;
    }
    struct matmul low, high;
    if (matmul_halve(&self, &low, &high)) {
        tbb::task_group child;
        child.run([&low] { matmul_multiply(low); });
        matmul_multiply(high);
        child.wait();
    } else {
        matmul_multiply(low);
        matmul_multiply(high);
    }
}

static void matmul_run(void *state, struct peer_outcome *out)
{
    const struct matmul *root = static_cast<struct matmul *>(state);
    matmul_multiply(*root);
    matmul_finish(root, out);
}

static struct uts_count uts_visit(const struct uts *uts, const struct uts_node &node)
{
    uint32_t children = uts_children_of(uts, &node);
    struct uts_count count = uts_count_one(&node, children);
    if (children == 0)
        return count;
    std::vector<struct uts_count> below(children);
    tbb::task_group group;
    for (uint32_t i = 0; i < children; i++) {
        struct uts_node child = uts_child(&node, i);
        group.run([&below, uts, i, child] { below[i] = uts_visit(uts, child); });
    }
    group.wait();
    for (const struct uts_count &part : below)
        uts_add(&count, &part);
    return count;
}

static void uts_run(void *state, struct peer_outcome *out)
{
    const struct uts *uts = static_cast<struct uts *>(state);
    uts_finish(uts_visit(uts, uts_root(uts)), out);
}

static const struct peer_workload workloads[] = {
    {"fib", fib_init, fib_run, nullptr},
    {"nqueens", queens_init, queens_run<tbb::task_group>, nullptr},
    {"skynet", skynet_init, skynet_run<tbb::task_group>, nullptr},
    {"mergesort", msort_init, msort_run, msort_check},
    {"matmul", matmul_init, matmul_run, matmul_check},
    {"uts", uts_init, uts_run, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

int main(int argc, char **argv)
{
    struct peer_run run = peer_parse(argc, argv);
    size_t workers = static_cast<size_t>(run.workers);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    tbb::task_arena arena(run.workers);
    arena.execute([&run] { peer_measure(&run, workloads); });
    return peer_print(&run, "oneTBB", TBB_runtime_version());
}
