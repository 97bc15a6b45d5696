#!/bin/bash
# test_repro_docs.sh - docs/EXPERIMENTS.md, docs/experiments/ and docs/DISPUTES.md are what the experiments' files and
# the committed reference reproductions give. Where not, `make docs` writes them anew.
#
#     tests/program/test_repro_docs.sh build/schedlab
#
# Prints TAP. Figures are compared by name: they were drawn where the reference was made.
. "$(dirname "$0")/../tap.sh"
mkdir -p fresh/experiments reference disputes
cp "$tree"/docs/experiments/*.svg fresh/experiments 2>/dev/null

xz -dc "$tree/results/reference/repro/repro.json.xz" >reference/repro.json 2>err
check reference_is_unpacked [ $? = 0 ]
check catalogue_is_written "$schedlab" repro --catalogue fresh --reference reference
for file in EXPERIMENTS.md $( (cd "$tree/docs" && ls -d experiments/*.md; cd "$scratch/fresh" && ls -d experiments/*.md) | sort -u); do
    diff "$tree/docs/$file" "fresh/$file" >out 2>err
    check "docs/$file is what \`make docs\` writes" cmp "$tree/docs/$file" "fresh/$file"
done
for file in fresh/experiments/*.svg; do
    [ ! -e "$file" ] || check "a page shows ${file#fresh/}" grep -qrF "($(basename "$file"))" fresh/experiments --include='*.md'
done

# Disputes have a page and records of their own, and leave those of the catalogue alone.
xz -dc "$tree/results/reference/disputes/repro.json.xz" >disputes/repro.json 2>err
check records_of_disputes_are_unpacked [ $? = 0 ]
check records_of_disputes_are_small [ "$(stat -c %s "$tree/results/reference/disputes/repro.json.xz")" -le 204800 ]
cp -r fresh before
check disputes_are_written "$schedlab" repro --catalogue fresh --reference disputes disputes
diff "$tree/docs/DISPUTES.md" fresh/DISPUTES.md >out 2>err
check "docs/DISPUTES.md is what \`make docs\` writes" cmp "$tree/docs/DISPUTES.md" fresh/DISPUTES.md
rm -f fresh/DISPUTES.md
check the_catalogue_stays diff -r before fresh
python3 - "$tree" >out 2>err <<'END'
import glob, json, re, sys
page = open(sys.argv[1] + "/docs/DISPUTES.md").read()
entries = {e["id"]: e for e in json.load(open("disputes/repro.json"))["experiments"]}
files = [open(f).read() for f in glob.glob(sys.argv[1] + "/harness/experiments/disputes/*.yaml")]
hits = misses = 0
kinds = {}
for text in files:
    field = lambda key: re.search(r"^ *%s: (.*)$" % key, text, re.M).group(1)
    id = field("id")
    verdict = entries[id]["verdict"] if id in entries else "not measured"
    assert "## %s: " % id in page and "**Predicted** on %s: %s. " % (field("predicted"), field("verdict")) in page, id
    hits += verdict == field("verdict")
    misses += verdict in ("supported", "refuted") and verdict != field("verdict")
    kinds[id] = 3 if verdict not in ("supported", "refuted") else 0 if verdict != field("verdict") else \
        1 if verdict == "refuted" else 2
    kinds[id] = 2 * kinds[id] + ("open: true" not in text)
    told = re.search(r"## %s: .*?\*\*Found\*\*: (.*?)\n" % id, page, re.S).group(1)
    assert (told == "not measured") == (id not in entries), id
assert "Of our predictions %d came true, %d missed, and %d are not decided." % (
    hits, misses, len(files) - hits - misses) in page
# The order is that of interest: where we were wrong, refuted, supported, not decided; open ones first.
order = sorted(kinds, key=lambda id: (kinds[id], int(id[1:])))
assert re.findall(r"^\| (X\d+) \|", page, re.M) == order and re.findall(r"^## (X\d+):", page, re.M) == order
END
check each_dispute_is_told_with_its_prediction [ $? = 0 ]
finish
