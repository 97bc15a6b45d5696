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

# 1. Multiples of the baseline, a row for each workload and number of workers.
try:
    cells = schedlab.ratios(run.cells[run.cells.status == "ok"], baseline)
except ValueError as error:
    sys.exit(f"frames.py: {error}")
table = cells.pivot_table(index=["workload", "workers"], columns="variant", values="ratio")
print(f"Multiples of {baseline}:", table.round(2).to_string(), sep="\n")

# 2. Does a sample's throughput depend on when it was measured? Blocks come one after the other.
samples = run.samples[run.samples.status == "ok"]
if samples.block.nunique() > 2:
    drift = samples.groupby(["variant", "workload", "workers"])[["block", "throughput"]].corr().iloc[0::2, -1]
    print("\nCells whose throughput goes with the block most:", drift.droplevel(-1).abs().nlargest(3).round(2).to_string(), sep="\n")
else:
    print("\nWhether throughput goes with the block takes three blocks or more.")

# 3. The counts that differ most between variants, on the first workload.
events = run.events[(run.events.workload == run.events.workload.iloc[0]) & run.events.per_op.notna()]
spread = events.groupby("event").per_op.agg(["min", "max"])
spread = spread[(spread["max"] > 0.01) & (spread["min"] > 0)]  # what one variant never does has no multiple
spread["times"] = spread["max"] / spread["min"]
print(f"\nCounts per operation that differ most on {events.workload.iloc[0]}:", spread.nlargest(5, "times").to_string(), sep="\n")
