#!/bin/bash
# validate_replay.sh - are the times of Go programs predicted by replays of their traces?
#
#     harness/audit/validate_replay.sh [build/schedlab [sim:MODEL]]
#
# tests/traces/ has each program's trace with one and with two processors, and how long it took then. Each trace is
# replayed with both numbers, natively and simulated. Where it is not its own number, computing is scaled to what it was
# in the other trace, since the clock of the machine drifted between them. Prints rows of docs/VALIDATION.md. Native
# samples that lost time, or shared the physical core with another guest (docs/MEASURING.md), do not count where a cell
# has three others; the last line says how many there were. Six minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
schedlab=$(realpath "${1:-build/schedlab}")
model=${2:-sim:desktop8}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 - "$schedlab" "$model" "$scratch" <<'END'
import json, lzma, statistics, subprocess, sys

schedlab, model, scratch = sys.argv[1:]
elapsed = {}
for row in open("tests/traces/elapsed.tsv").read().splitlines()[1:]:
    name, processors, traced, untraced, *_ = row.split("\t")
    elapsed[name, int(processors)] = float(traced) / 1000, float(untraced) / 1000
facts, native = {}, {}
for name, processors in elapsed:
    path = f"{scratch}/{name}-p{processors}"
    with open(path, "wb") as to:
        to.write(lzma.open(f"tests/traces/{name}-p{processors}.trace.xz").read())
    out = subprocess.run([schedlab, "import", path, "-o", path + ".slp", "--format", "json"], check=True, capture_output=True)
    facts[name, processors] = json.loads(out.stdout)


def replay(name, processors, workers, *machine):
    scale = round(100 * facts[name, workers]["computing_ns"] / facts[name, processors]["computing_ns"])
    command = [schedlab, "run", "gmp", f"replay,file={scratch}/{name}-p{processors}.slp,scale={scale}", "--workers", str(workers),
               "--format", "json", "--reps", "5", *machine]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["records"]


def found(records):
    # The first call has cold stacks and queues, and the trace has such times already.
    last = {key: statistics.median(record["found_last"][key] for record in records) for key in records[0]["found_last"]}
    times = [call["time_ns"] / call.get("calls", 1) for record in records for call in record["iterations"]]
    return last | {"warm_ns": statistics.median(times)}


def wide(record):  # as validate_native.c has it
    return max(probe["wide_ns"] / probe["compute_ns"] for probe in map(record["probe"].get, ("before", "after")))


for _ in range(3):
    for name, processors in elapsed:
        for workers in (1, 2):
            native.setdefault((name, processors, workers), []).extend(replay(name, processors, workers))
samples = [record for records in native.values() for record in records]
alone = statistics.quantiles(map(wide, samples), n=20)[0]
undisturbed = []
for cell, records in native.items():
    quiet = [record for record in records if not record.get("marks")]
    best = [record for record in quiet if wide(record) <= 1.2 * alone]
    undisturbed.append(len(best))
    native[cell] = next(chosen for chosen in (best, quiet, records) if len(chosen) >= 3)


def off(value, true):
    return f"{value:.1f} ({100 * (value / true - 1):+.0f} %)"


print("| program | trace at | predicted for | Go, traced | Go, not traced | native | simulated |\n|---|---|---|---|---|---|---|")
late = []
for (name, processors, workers), records in native.items():
    traced, untraced = elapsed[name, workers]
    measured, simulated = found(records), found(replay(name, processors, workers, "--machine", model))
    print(f"| {name} | {processors} | {workers} | {traced:.1f} | {untraced:.1f} | {off(measured['warm_ns'] / 1e6, traced)} "
          f"| {off(simulated['warm_ns'] / 1e6, traced)} |")
    if workers == processors:
        go = facts[name, workers]["runnable_to_running"]["started_and_woken"]
        late.append(f"| {name} | {workers} | " + " | ".join(
            f"{each[key] / 1e3:.1f}" for key in ("late_p50_ns", "late_p99_ns")
            for each in ({"late_p50_ns": go["p50_ns"], "late_p99_ns": go["p99_ns"]}, measured, simulated)) + " |")
print("\n| program | at | p50: Go | native | simulated | p99: Go | native | simulated |\n|---|---|---|---|---|---|---|---|")
print("\n".join(late))
print(f"\n{sum(undisturbed)} of {len(samples)} native samples were disturbed by nothing; "
      f"{sum(n < 3 for n in undisturbed)} of {len(native)} cells have fewer than three, and take others too")
END
