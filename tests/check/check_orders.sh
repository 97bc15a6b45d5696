#!/bin/bash
# check_orders.sh - the memory order of each labelled access is the one in tests/check/orders.tsv.
#
#     tests/check/check_orders.sh [--write]
#
# No test on x86-64 sees a release that has become relaxed: its processors keep the order anyhow, and so does the
# simulated machine. So an order is changed at two places or at none. A row is a file, a label as the protocol's essay
# defines it, and the orders of the accesses that carry it, each once; --write makes the table anew.
# Prints one line per offence; exit 1 if there is any.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
table=tests/check/orders.tsv

rows() {
    printf 'file\tlabel\torders\n'
    python3 - <<'END'
import pathlib, re
label = re.compile(r"/\* ([A-Z]+[0-9]+)\b")
orders = {}
for path in sorted(pathlib.Path("sched_variants").rglob("*.[ch]")):
    statement = ""
    for line in path.read_text().split("\n"):
        statement += line
        if not label.search(line) and not re.search(r"[;{}]\s*(/\*.*|\\)?$", line):
            continue
        for name in label.findall(line):
            found = re.findall(r"memory_order_(\w+)", statement)
            orders.setdefault((str(path), name), set()).update(found)
        statement = ""
for (path, name), found in sorted(orders.items()):
    if found:
        print(path, name, " ".join(sorted(found)), sep="\t")
END
}

if [ "${1:-}" = --write ]; then
    rows >$table
    exit
fi
offences=$(rows | diff $table - | sed -n -e "s|^< |$table has, and the source has not: |p" -e "s|^> |the source has, and $table has not: |p")
[ -z "$offences" ] || {
    printf '%s\n' "$offences" "if the change is meant: tests/check/check_orders.sh --write"
    exit 1
}
