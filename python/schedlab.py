"""schedlab.py - a run of schedlab as data frames.

    import schedlab
    run = schedlab.load("results/default-20260131T101500Z")
    run.cells       one row per cell and question: median, lo, hi of the throughput, speedup, n ...
    run.samples     one row per sample: throughput, time_ns, ops, core distance, marks
    run.events      one row per cell and event: per_op with its interval; absent says why there is none
    run.latencies   one row per cell and quantile, in ns
    run.structures  one row per cell and structure on which simulated cores stalled
    run.environment, run.sweep   what was run, and on what

    schedlab.ratios(run.cells, "gmp")    each cell's median over that variant's, by workload and workers

One file, without installation. It needs pandas (Debian: python3-pandas). Columns are those of the .tsv files that
`schedlab report` writes; results/README.md is their dictionary. An event has one name in all of them, that of a column of
run.samples: STEALS, without the component before it. What could not be measured is NaN or None, never zero.
"""
import json
import lzma
import pathlib
from dataclasses import dataclass, field

import pandas as pd

TABLES = {"cells": "cells.tsv", "events": "events.tsv", "latencies": "latency.tsv", "structures": "structures.tsv"}


@dataclass
class Run:
    """A folder that `schedlab sweep` wrote."""
    folder: pathlib.Path
    cells: pd.DataFrame
    samples: pd.DataFrame
    events: pd.DataFrame
    latencies: pd.DataFrame
    structures: pd.DataFrame
    environment: dict = field(default_factory=dict)
    sweep: str = ""


def _table(folder, name):
    """An empty frame if the run has no such table."""
    path = folder / name
    if not path.exists():
        return pd.DataFrame()
    return pd.read_csv(path, sep="\t", na_values=["NA"], keep_default_na=False, dtype={"cell": str})


def _records(folder):
    """The lines of samples.jsonl, packed or not. The last one may be torn where a run was killed."""
    plain, packed = folder / "samples.jsonl", folder / "samples.jsonl.xz"
    opened = open(plain, encoding="utf-8") if plain.exists() else lzma.open(packed, "rt", encoding="utf-8")
    with opened as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                return


def _short(event):
    """The name of an event without its component: STEALS of sde:::schedlab::STEALS."""
    return event.rsplit("::", 1)[-1]


def _samples(folder):
    keys = ["cell", "variant", "workload", "workers", "machine", "block", "status", "reason", "throughput", "time_ns", "ops",
            "threads", "seed", "command"]
    rows = []
    for record in _records(folder):
        row = {key: record.get(key) for key in keys}
        if row["status"] != "ok":
            row["throughput"] = None
        row["disturbed"] = bool(record.get("marks"))
        row.update({f"latency_{key}": value for key, value in record.get("latency", {}).items() if key.endswith("_ns")})
        for event in record.get("events", []):
            row[_short(event["name"])] = event.get("per_op", event.get("value"))
        rows.append(row)
    return pd.DataFrame(rows)


def load(folder):
    """Loads a run. FileNotFoundError names what is missing, and the command that makes it."""
    folder = pathlib.Path(folder)
    if not (folder / "samples.jsonl").exists() and not (folder / "samples.jsonl.xz").exists():
        raise FileNotFoundError(f"{folder} has no samples.jsonl: is it a folder that `schedlab sweep` wrote?")
    if not (folder / "cells.tsv").exists():
        raise FileNotFoundError(f"{folder} has no tables yet: run `schedlab report {folder}`")
    environment, sweep = folder / "environment.json", folder / "sweep.yaml"
    tables = {name: _table(folder, file) for name, file in TABLES.items()}
    if not tables["events"].empty:
        tables["events"]["event"] = tables["events"]["event"].map(_short)
    return Run(
        folder=folder,
        samples=_samples(folder),
        environment=json.loads(environment.read_text(encoding="utf-8")) if environment.exists() else {},
        sweep=sweep.read_text(encoding="utf-8") if sweep.exists() else "",
        **tables,
    )


def ratios(cells, baseline):
    """The cells with a column `ratio`: their median over that of the baseline on the same question, workload, workers and
    machine. Intervals of ratios take the samples: `schedlab compare` and the report have them."""
    keys = ["group", "workload", "workers", "machine"]
    base = cells[cells.variant == baseline][keys + ["median"]].rename(columns={"median": "base"})
    if base.empty:
        known = ", ".join(sorted(cells.variant.unique()))
        raise ValueError(f'no cell of the variant "{baseline}"; valid: {known}')
    joined = cells.merge(base, on=keys, how="left")
    joined["ratio"] = joined["median"] / joined["base"]
    return joined.drop(columns="base")
