#!/bin/bash
# validate_replay.sh - are the times of Go programs predicted by replays of their traces?
#
#     harness/audit/validate_replay.sh [build/schedlab [sim:MODEL]]
#
# tests/traces/ has each program's trace with one and with two processors, and how long it took then. Each trace is
# replayed with both numbers, natively, on sim:desktop8, and on sim:MODEL if it is given: a model of this machine, as
# `schedlab calibrate` writes it. Where it is not its own number, computing is scaled to what it was in the other trace,
# since the clock of the machine drifted between them. Prints the tables of docs/VALIDATION.md, and of how many cells
# the rules hold. Native samples that lost time, or shared the physical core with another guest (docs/MEASURING.md), do
# not count where a cell has three others; the last line says how many there were. Six minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
schedlab=$(realpath "${1:-build/schedlab}")
model=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 - "$schedlab" "$model" "$scratch" <<'END'
import json, lzma, math, statistics, subprocess, sys

schedlab, model, scratch = sys.argv[1:]
machines = {"native": [], "simulated": ["--machine", "sim:desktop8"]} | ({"on its model": ["--machine", model]} if model else {})
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


def wide(record):  # as validate_native.c has it; infinite if no probe could measure
    probes = [record.get("probe", {}).get(when, {}) for when in ("before", "after")]
    times = [(probe.get("wide_ns"), probe.get("compute_ns")) for probe in probes]
    return max((w / c for w, c in times if isinstance(w, float) and isinstance(c, float)), default=math.inf)


for _ in range(3):
    for name, processors in elapsed:
        for workers in (1, 2):
            native.setdefault((name, processors, workers), []).extend(replay(name, processors, workers))
samples = [record for records in native.values() for record in records]
known = [value for value in map(wide, samples) if math.isfinite(value)]
alone = statistics.quantiles(known, n=20)[0] if len(known) > 1 else math.inf
undisturbed = []
for cell, records in native.items():
    quiet = [record for record in records if not record.get("marks")]
    best = [record for record in quiet if wide(record) <= 1.2 * alone]
    undisturbed.append(len(best))
    native[cell] = next(chosen for chosen in (best, quiet, records) if len(chosen) >= 3)
measured = {cell: {machine: found(replay(*cell, *options)) if options else found(native[cell])
                   for machine, options in machines.items()} for cell in native}


def table(*words):
    print("|", " | ".join(words), "|\n" + "|---" * len(words) + "|")


def row(*words):
    print("|", " | ".join(map(str, words)), "|")


def told(held):
    return ", ".join(f"{machine} {sum(each[machine] for each in held)}" for machine in machines)


table("program", "trace at", "predicted for", "Go, traced", "Go, not traced", *machines)
held = []
for (name, processors, workers), of in measured.items():
    traced, untraced = elapsed[name, workers]
    off = {machine: of[machine]["warm_ns"] / 1e6 / traced - 1 for machine in machines}
    row(name, processors, workers, f"{traced:.1f}", f"{untraced:.1f}",
        *(f"{of[machine]['warm_ns'] / 1e6:.1f} ({100 * off[machine]:+.0f} %)" for machine in machines))
    held.append({machine: abs(off[machine]) <= (0.1 if workers == processors else 0.15) for machine in machines})
print(f"\nWithin 10 % at the number of the trace and 15 % at the other one, of {len(held)}: {told(held)}\n")

table("program", "at", *(f"p{p}: {word}" if word == "Go" else word for p in (50, 99) for word in ("Go", *machines)))
held = []
for (name, processors, workers), of in measured.items():
    if workers != processors:
        continue
    words, go = [], facts[name, workers]["runnable_to_running"]["started_and_woken"]
    for p in (50, 99):
        true, values = go[f"p{p}_ns"], {machine: of[machine][f"late_p{p}_ns"] for machine in machines}
        words += [f"{value / 1e3:.1f}" for value in (true, *values.values())]
        held.append({machine: true <= 1.5 * value and value <= 1.5 * true for machine, value in values.items()})
    row(name, workers, *words)
print(f"\nWithin a factor of 1.5, of {len(held)}: {told(held)}")
print(f"\n{sum(undisturbed)} of {len(samples)} native samples were disturbed by nothing; "
      f"{sum(n < 3 for n in undisturbed)} of {len(native)} cells have fewer than three, and take others too")
END
