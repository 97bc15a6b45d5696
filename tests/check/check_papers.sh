#!/bin/bash
# check_papers.sh - citations and docs/PAPERS.md agree.
#
#     a key, a name and a year in brackets, that a source or a text uses has an entry
#     a source that uses a key is among the files that the key's entry names, and each of these uses it
#     an entry whose heading is no key is about a work cited in words: its files hold these words
#
# An entry is a heading, "### [Key]" or "### words", and a paragraph that begins with "Files:" and
# names the files in backticks. A key is a capital, letters, a digit and perhaps more, or whatever
# heads an entry in brackets. Prints one line per offence; exit 1 if there is any.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
papers=docs/PAPERS.md

# a mutant's patch repeats what its file cites
sources=$(find sched_variants workloads harness plots tests examples Makefile -type f ! -name '*.md' ! -name '*.patch' | sort)
texts=$(find . \( -path ./build -o -path ./.git -o -path './results/*' \) -prune -o \
    -type f -name '*.md' ! -path "./$papers" -print | sort)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "HEADING|FILE" for every file that an entry names; "HEADING|" for an entry that names none.
entries() {
    awk '
        function end_entry() { if (heading != "" && !files) print heading "|" }
        /^##/ { end_entry(); heading = ""; listing = 0 }
        /^### / { heading = substr($0, 5); files = 0 }
        /^$/ { listing = 0 }
        /^Files:/ { listing = 1 }
        heading != "" && listing {
            for (rest = $0; match(rest, /`[^`]+`/); rest = substr(rest, RSTART + RLENGTH)) {
                print heading "|" substr(rest, RSTART + 1, RLENGTH - 2)
                files++
            }
        }
        END { end_entry() }' $papers
}

# Behind a name stands an array's index, before a parenthesis a link.
without_digit=$(sed -nE 's/^### \[([A-Za-z]+)\]$/|\1/p' $papers | tr -d '\n')
key="(?<![\\w\\])])\\[([A-Z][A-Za-z]*[0-9][0-9.]*$without_digit)\\](?!\\()"

sed -n 's/^### //p' $papers | sort >"$work/headings"
entries | sort -u >"$work/entries"
grep -oPH "$key" $sources | sed -E 's/^(.*):(\[.*)$/\2|\1/' | sort -u >"$work/used"

offences() {
    uniq -d "$work/headings" | sed "s|^|$papers: two entries for |"
    grep -oPnH "$key" $sources $texts | awk -v papers=$papers 'NR == FNR { entry[$0] = 1; next }
        match($0, /\[[^[]*$/) { key = substr($0, RSTART)
            if (!(key in entry)) print substr($0, 1, RSTART - 2) ": " key " has no entry in " papers }' "$work/headings" -
    comm -13 "$work/entries" "$work/used" | awk -F '|' -v papers=$papers 'NR == FNR { entry[$0] = 1; next }
        $1 in entry { print papers ": " $1 " does not name " $2 }' "$work/headings" -
    while IFS='|' read -r heading file; do
        if [ -z "$file" ]; then
            echo "$papers: $heading names no files"
        elif [ ! -f "$file" ]; then
            echo "$papers: $heading names $file, which does not exist"
        elif ! grep -qF -- "$heading" "$file"; then
            echo "$papers: $heading names $file, which does not cite it"
        fi
    done <"$work/entries"
}

offences >"$work/offences"
if [ -s "$work/offences" ]; then
    cat "$work/offences"
    exit 1
fi
