#!/bin/bash
# new_variant.sh - a new variant as a copy of another one, with its places in the tree.
#
#     harness/author/new_variant.sh NAME FROM
#
# `make new-variant NAME=mine FROM=gmp` calls it, in the folder of the sources. It writes sched_variants/NAME/NAME.c, a line in the
# registry, a paragraph of sched_variants/README.md to fill in, and examples/NAME.yaml, an experiment that compares the two. Where FROM cites
# a work, docs/PAPERS.md names the copy too.
set -euo pipefail
name=${1:-} from=${2:-}
registry=sched_variants/registry.c

fail() {
    echo "make new-variant: $1" >&2
    exit 2
}
known=$(sed -nE 's/^ +X\(([a-z0-9_]+)\).*/\1/p' $registry)
[ -n "$name" ] && [ -n "$from" ] || fail "expected NAME and FROM, for example \`make new-variant NAME=mine FROM=gmp\`"
[[ $name =~ ^[a-z][a-z0-9_]*$ ]] || fail "NAME=$name is no word of a-z, 0-9 and _"
grep -qx "$from" <<<"$known" || fail "FROM=$from is no variant; valid: $(echo $known | sed 's/ /, /g')"
! grep -qx "$name" <<<"$known" || fail "NAME=$name is a variant already; valid: another word"
[ ! -e "workloads/$name.c" ] || fail "NAME=$name is a workload; valid: another word"
for file in "sched_variants/$name" "examples/$name.yaml"; do
    [ ! -e "$file" ] || fail "$file is there already"
done

# The code: FROM's names become NAME's; the head is the author's to write.
mkdir "sched_variants/$name"
for file in "sched_variants/$from"/*; do
    sed -E "s/\b$from\b/$name/g; s/\b${from}_/${name}_/g" "$file" >"sched_variants/$name/$(basename "$file" | sed "s/^$from/$name/")"
done
code=sched_variants/$name/$name.c
awk -v name="$name" -v from="$from" '
    NR == 1 { print "/* " name " - a copy of " from ", to be changed: say here what it does otherwise, and why."; inside = 1 }
    inside && /\*\// { print " *\n * Source: schedlab.\n */"; inside = 0; next }
    !inside { print }' "$code" >"$code.new"
mv "$code.new" "$code"
sed -i -E "s/^(    \.idea = ).*/\1\"a copy of $from, to be changed\",/; s/^(    \.source = ).*/\1\"schedlab\",/" "$code"

# The registry: behind the last line of the list.
awk -v name="$name" '
    /^    X\([a-z0-9_]+\)$/ && !done { printf "%-99s\\\n    X(%s)\n", $0, name; done = 1; next }
    { print }' $registry >$registry.new
mv $registry.new $registry
grep -qE "X\($name\)" $registry || fail "$registry has no list to which $name could be added"

# The paragraph, in front of the first heading behind the variants.
awk -v name="$name" -v from="$from" '
    /^## / && seen && !done && !($2 in variants) { paragraph(); done = 1 }
    /^## / { seen = seen || ($2 in variants) }
    function paragraph() {
        print "## " name "\n\n- **Idea**: a copy of `" from "`, to be changed."
        print "- **Wins when** ...\n- **Loses when** ...\n- **Source**: ...\n- **Departs**: ...\n- **Status**: begun.\n"
    }
    BEGIN { split("'"$(echo $known)"'", words, " "); for (i in words) variants[words[i]] }
    { print }' sched_variants/README.md >sched_variants/README.new
mv sched_variants/README.new sched_variants/README.md

# The papers: a work that the copy cites names it among its files.
papers=docs/PAPERS.md
for file in "sched_variants/$name"/*; do
    sed -nE 's/^### (\[[^]]+\])$/\1/p' $papers | while read -r key; do
        grep -qF -- "$key" "$file" || continue
        awk -v heading="### $key" -v file="$file" '
            /^##/ { listing = 0; inside = $0 == heading }
            inside && /^Files:/ { listing = 1 }
            listing && /^$/ { print last ", `" file "`"; last = ""; listing = inside = 0; print; next }
            listing { if (last != "") print last; last = $0; next }
            { print }
            END { if (listing) print last ", `" file "`" }' $papers >$papers.new
        mv $papers.new $papers
    done
done

cat >"examples/$name.yaml" <<END
# $name beside $from: a first experiment, to be filled in.
#
# Command:  build/schedlab repro examples/$name.yaml --quick
id: ${name^}1
title: $name beside $from
claim: $name is as fast as $from. Say here what you expect of it.
source: examples/$name.yaml
why: |
  So far $name is a copy of $from. Say here why it should win, on what, and by how much.
refuted: A throughput of $name that is more than a tenth below $from's.
lesson:
  supported: Say when to take $name, and at what price.
  refuted: Say what to take instead.
machines: [native, sim:desktop8]
parts:
  - id: speed
    question: Is $name as fast as $from?
    factor: variant
    levels: [$from, $name]
    workload: ["spawn,n=2000", "pingpong,rounds=500"]
    workers: 2
    expect:
      - {says: It is no slower, role: claim, level: $name, over: $from, at_least: 0.9}
END
echo "sched_variants/$name/$name.c is a copy of $from; next: make, build/schedlab run $name $from fib,n=20," \
    "build/schedlab repro examples/$name.yaml --quick, and docs/ADDING.md"
