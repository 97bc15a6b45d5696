#!/bin/bash
# scaling_falls.sh - the tables of docs/SCALING.md: how each design scales, and where more cores make it slower.
#
#     harness/audit/scaling_falls.sh RUN [SCHEDLAB]
#
# RUN is the folder of a run of harness/sweeps/scaling.yaml, or has a folder cells/ of `schedlab run --cell`. The first
# table has the throughput of one worker, and the speed-ups over it. The second has each curve that falls below 0.9 of
# what fewer workers reached. It tells how many reached most, how much of that the most workers that fall keep, and where
# their time went. Stall is time that cores waited for memory. Idle is time without work while some could run. Both are
# shares of the cores' time. The structures with the longest stalls follow.
#
# With SCHEDLAB, each of these cells runs again with structures that cost nothing: the first, then the first three. Then
# the kernel is nearly free (PRICES). The first such machine on which the cell has 1.1 times its throughput is told, with
# what the most workers keep of the best on that machine. Otherwise the largest gain is told, and the cell is open. A run
# that fails, or gives no answer in five minutes, gains nothing; its command is printed on standard error.
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: $0 RUN [SCHEDLAB]" >&2; exit 2; }
[ -r "$1/samples.jsonl" ] || [ -d "$1/cells" ] || { echo "$0: $1 has neither samples.jsonl nor cells/" >&2; exit 2; }
python3 - "$@" <<'END'
import glob, json, os, shlex, statistics, subprocess, sys

FALLS, MOVES = 0.9, 1.1
PRICES = "call=10ns,wake=100ns,wakeup=100ns,interrupt=10ns"
run, schedlab = sys.argv[1], sys.argv[2:]
records = []
if os.path.exists(f"{run}/samples.jsonl"):
    records = [json.loads(line) for line in open(f"{run}/samples.jsonl")]
else:
    records = [json.load(open(path))["record"] for path in sorted(glob.glob(f"{run}/cells/*/*.json"))]
curves, absent = {}, {}
for record in records:
    key = record["workload"], record["variant"]
    if record["status"] == "ok":
        curves.setdefault(key, {}).setdefault(record["workers"], []).append(record)
    else:
        absent.setdefault(key, []).append((record["workers"], record["status"], record.get("reason", "")))


def throughput(samples):
    return statistics.median(sample["throughput"] for sample in samples)


def where(sample):
    """Shares of the cores' time, and the structures in the order of their stalls."""
    structures = sorted(sample["structures"], key=lambda s: -s["stall_ns"])
    stall = sum(s["stall_ns"] for s in structures)
    time = sample["core_time"]
    cores = time["elapsed_ns"] * sample["workers"]
    named = [(s["name"], s["stall_ns"] / stall) for s in structures if stall]
    return stall / cores, time["wasted_ns"] / cores, named


def again(sample, workers, what):
    words = [schedlab[0]] + shlex.split(sample["command"])[1:] + ["--timeout", "300", "--format", "json"]
    words[words.index("--workers") + 1] = str(workers)
    words[words.index("--machine") + 1] += "," + what
    done = subprocess.run(words, stdout=subprocess.PIPE)
    records = json.loads(done.stdout)["records"] if done.stdout else []
    if done.returncode or any(record["status"] != "ok" for record in records):
        print(f"no answer: {shlex.join(words)}", file=sys.stderr)
        return 0
    return throughput(records)


def freed(curve, best, most):
    sample = curve[most][0]
    names = [name for name, share in where(sample)[2]]
    tried = []
    for what in [",".join(f"{name}=free" for name in names[:n]) for n in (1, 3) if names] + [PRICES]:
        tried.append((again(sample, most, what), what))
        if tried[-1][0] >= MOVES * throughput(curve[most]):
            break
    at_most, what = max(tried)
    gain = at_most / throughput(curve[most])
    at_best = again(sample, best, what)
    kept = f"{at_most / at_best:.2f}" if at_best else "-"
    return f"`{what}` | {gain:.2f} | {kept} | {'' if gain >= MOVES else 'open'}"


def number(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 2 else f"{x:.2f}"


columns = sorted({workers for curve in curves.values() for workers in curve} - {1})
print("| workload | variant | one core, M/s | " + " | ".join(map(str, columns)) + " |")
print("|---" * (3 + len(columns)) + "|")
for (workload, variant), curve in sorted(curves.items()):
    if 1 in curve:
        one = throughput(curve[1])
        cells = [number(throughput(curve[w]) / one) if w in curve else "-" for w in columns]
        print(f"| `{workload}` | {variant} | {number(one / 1e6)} | " + " | ".join(cells) + " |")
print("\n| workload | variant | best at | at | keeps | stall | idle | structures, by their share of the stall | " +
      ("if free | gains | keeps then | |" if schedlab else ""))
print("|---" * (12 if schedlab else 8) + "|")
for (workload, variant), curve in sorted(curves.items()):
    best_of_fewer = {w: max((b for b in curve if b < w), key=lambda b: throughput(curve[b]), default=w) for w in curve}
    low = [w for w, best in best_of_fewer.items() if throughput(curve[w]) < FALLS * throughput(curve[best])]
    if low:
        most = max(low)
        best = best_of_fewer[most]
        kept = throughput(curve[most]) / throughput(curve[best])
        stall, idle, structures = where(curve[most][0])
        names = ", ".join(f"`{name}` {100 * share:.0f} %" for name, share in structures[:3])
        print(f"| `{workload}` | {variant} | {best} | {most} | {kept:.2f} | {100 * stall:.0f} % | {100 * idle:.0f} % | {names} |" +
              (" " + freed(curve, best, most) + " |" if schedlab else ""), flush=True)
for (workload, variant), cells in sorted(absent.items()):
    for workers, status, reason in sorted(cells):
        print(f"\n{variant}, {workload}, {workers} workers: {status}: {reason}")
END
