#!/bin/bash
# test_repro_docs.sh - docs/EXPERIMENTS.md and docs/experiments/ are what the experiments' files and the committed
# reference reproduction give. Where not, `make docs` writes them anew.
#
#     tests/program/test_repro_docs.sh build/schedlab
#
# Prints TAP. Figures are compared by name: they were drawn where the reference was made.
. "$(dirname "$0")/../tap.sh"
mkdir -p fresh/experiments reference
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
finish
