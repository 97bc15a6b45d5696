#!/bin/bash
# check_orders.sh - the memory order of each labelled access is the one in tests/check/orders.tsv.
#
#     tests/check/check_orders.sh [--write]
#
# No test on x86-64 sees a release that has become relaxed: its processors keep the order anyhow, and so does the
# simulated machine. So an order is changed at two places or at none. A row is a file, a label as the protocol's essay
# defines it, and the order of each access that carries it; --write makes the table anew.
# Prints one line per offence; exit 1 if there is any.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
table=tests/check/orders.tsv

rows() {
    printf 'file\tlabel\torders\n'
    python3 - <<'END'
import pathlib, re
def marked(comment):  # its label, if it begins with one, and its lines
    label = re.match(r"/\*\s*([A-Z]+[0-9]+)\b", comment[0])
    return ("\1" + label[1] + "\2" if label else "") + "\3\n" * comment[0].count("\n") + "\3"
orders = {}  # path, label -> orders of all accesses
for path in sorted(pathlib.Path("sched_variants").rglob("*.[ch]")):
    text = re.sub(r"/\*.*?\*/", marked, path.read_text(), flags=re.S)
    statement, here, before = "", [], []  # a comment of its own is about all up to an empty line
    for line in text.split("\n"):
        names, code = re.findall("\1(.*?)\2", line), re.sub("\1.*?\2|\3", "", line).rstrip(" \\")
        if not code.strip():
            before = before + names if line.strip() else []
            continue
        statement, here = statement + code, here + names
        if not names and not code.endswith((";", "{", "}")):
            continue
        found = [] if "INVARIANT(" in statement else re.findall(r"memory_order_(\w+)", statement)
        for name in here + before:
            orders.setdefault((str(path), name), []).extend(found)
        statement, here = "", []
for (path, name), found in sorted(orders.items()):
    if found:
        print(path, name, " ".join(sorted(found)), sep="\t")
END
}

if [ "${1:-}" = --write ]; then
    rows >$table
    exit
fi
[ -f $table ] || { echo "$table is missing"; exit 1; }
offences=$(rows | diff $table - | sed -n -e "s|^< |$table has, and the source has not: |p" -e "s|^> |the source has, and $table has not: |p")
[ -z "$offences" ] || {
    printf '%s\n' "$offences" "if the change is meant: tests/check/check_orders.sh --write"
    exit 1
}
