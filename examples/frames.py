#!/usr/bin/env python3
"""frames.py - which variant is fastest on what, and what it counts: a run in data frames.

    schedlab sweep smoke && python3 examples/frames.py results/smoke-...

Needs pandas (Debian: python3-pandas).
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import schedlab  # noqa: E402

if len(sys.argv) < 2:
    sys.exit("frames.py: which run? A folder that `schedlab sweep` wrote, then perhaps a baseline")
try:
    run = schedlab.load(sys.argv[1])
except FileNotFoundError as error:
    sys.exit(f"frames.py: {error}")
baseline = sys.argv[2] if len(sys.argv) > 2 else run.cells.variant.iloc[0]

# 1. Multiples of the baseline: a table for each question, a row for each machine, workload and number of workers.
try:
    cells = schedlab.ratios(run.cells[run.cells.status == "ok"], baseline)
except ValueError as error:
    sys.exit(f"frames.py: {error}")
print(f"Multiples of {baseline}:")
for group, rows in cells[cells.ratio.notna()].groupby("group", sort=False):
    # pivot() refuses what has two numbers for one place; pivot_table() would take their mean.
    table = rows.pivot(index=["machine", "workload", "workers"], columns="variant", values="ratio")
    print(f"\n{group}", table.round(2).to_string(na_rep="-"), sep="\n")

# 2. Does a sample's throughput depend on when it was measured? Blocks come one after the other.
samples = run.samples[run.samples.status == "ok"]
if samples.block.nunique() > 2:
    places = ["variant", "workload", "workers", "machine", "cell"]
    drift = samples.groupby(places, dropna=False)[["block", "throughput"]].corr().iloc[0::2, -1]
    print("\nCells whose throughput goes with the block most:", drift.droplevel(-1).abs().nlargest(3).round(2).to_string(), sep="\n")
else:
    print("\nWhether throughput goes with the block takes three blocks or more.")

# 3. The counts that differ most between variants, on the first workload: of one question, machine and number of workers.
if run.events.empty:
    print("\nThis run has no counts. `schedlab report` writes events.tsv, and takes the samples for it.")
    sys.exit()
place = ["group", "machine", "workload", "workers"]
events = run.events[run.events.per_op.notna()].merge(run.cells[["group", "cell", "machine"]], on=["group", "cell"])
first = events[place].iloc[0]
counts = events[(events[place] == first).all(axis=1)].pivot(index="event", columns="variant", values="per_op")
least, most = counts.min(axis=1), counts.max(axis=1)
counts["times"] = most / least
counts = counts[(most > 0.01) & (least > 0)]  # what one variant never does has no multiple
print(f"\nCounts per operation that differ most on {first.workload}, workers={first.workers}, {first.machine}:",
      counts.nlargest(5, "times").to_string(na_rep="-"), sep="\n")
