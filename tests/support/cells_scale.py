#!/usr/bin/env python3
"""Makes a sweep of many cells, and results that look as if they had been measured, to see how planning
and merging grow.

    tests/support/cells_scale.py sweep CELLS >sweep.yaml           CELLS of one repetition, a multiple of 1000
    schedlab sweep sweep.yaml --seed 1 --plan --format json | tests/support/cells_scale.py results A B
                                                           results of them in the folders A and B, of which
                                                           every tenth is in both
"""
import json
import os
import sys


def sweep(cells):
    rings = ", ".join(str(16 << i) for i in range(5))
    ticks = ", ".join(str(i) for i in range(20))
    sizes = ", ".join(f'"fib,n={n}"' for n in range(1, 11))
    print("name: scale-of-cells\ntitle: Many cells\nreps: 1\nmin_time_ms: 0\nwarmup: 0\nevents: [none]\ngroups:")
    print("  - id: all\n    question: How many?\n    figure: heatmap\n    baseline: \"gmp,tick=0,ring=16\"\n    variants: [gmp]")
    print(f"    knob: {{name: ring, values: [{rings}]}}\n    knob2: {{name: tick, values: [{ticks}]}}")
    print(f"    workloads: [{sizes}]\n    workers: [{', '.join(str(w) for w in range(1, cells // 1000 + 1))}]")


def results(folders):
    for i, line in enumerate(sys.stdin):
        line = line.strip().rstrip(",")
        if not line.startswith('{"id"'):
            continue
        cell = json.loads(line)
        record = {"schema": 2, "cell": cell["cell"], "variant": cell["variant"], "workload": cell["workload"],
                  "workers": cell["workers"], "machine": cell["machine"], "seed": 1, "status": "ok",
                  "throughput": 1e6 + i, "digest": "1", "answer": "1",
                  "iterations": [{"time_ns": 1000 + i + k, "ops": 1} for k in range(30)]}
        text = json.dumps({"schema": 1, "unit": cell["id"], "host": "fake", "cpu": "fake", "seconds": 1.0,
                           "record": record})
        for k, folder in enumerate(folders):
            if i % 10 == 0 or i % len(folders) == k:
                os.makedirs(f"{folder}/{cell['id'][:2]}", exist_ok=True)
                with open(f"{folder}/{cell['id'][:2]}/{cell['id']}.json", "w") as to:
                    to.write(text)


if sys.argv[1:2] == ["sweep"]:
    sweep(int(sys.argv[2]))
elif sys.argv[1:2] == ["results"] and len(sys.argv) > 3:
    results(sys.argv[2:])
else:
    sys.exit(__doc__)
