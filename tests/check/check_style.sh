#!/bin/sh
# check_style.sh - the measurable part of the style, as a test. Prints one line per offence; exit 1 if there is any.
set -eu
cd "$(dirname "$0")/../.."

offences=$(mktemp)
trap 'rm -f "$offences"' EXIT
report() { cat >>"$offences"; }

roots='sched_variants workloads harness include tests plots docs examples .ci'
code=$(find $roots -type f \( -name '*.c' -o -name '*.cc' -o -name '*.h' -o -name '*.S' -o -name '*.cpp' \) 2>/dev/null | sort)
scripts=$(find $roots -type f \( -name '*.sh' -o -name '*.gp' -o -name run \) 2>/dev/null | sort)
texts=$(find $roots -type f \( -name '*.md' -o -name '*.yaml' \) 2>/dev/null | sort)
top=$(find . -maxdepth 1 -type f \( -name Makefile -o -name '*.md' -o -name '.clang-*' \))

# A function's body lies between a brace alone in the first column and its partner. A column is a character, whatever
# the locale: bytes that go on with one, of UTF-8, do not count.
LC_ALL=C awk '
    FNR == 1 { if (lines > 800) printf "%s: %d lines, 800 at most\n", file, lines; file = FILENAME; start = 0 }
    { lines = FNR }
    /^\{/ { start = FNR }
    /^\}/ { if (start && FNR - start + 1 > 70)
                printf "%s:%d: function of %d lines, 70 at most\n", file, start, FNR - start + 1
            start = 0 }
    length($0) > 100 { columns = $0; gsub(/[\200-\277]/, "", columns)
                       if (length(columns) > 100) printf "%s:%d: %d columns, 100 at most\n", file, FNR, length(columns) }
    END { if (lines > 800) printf "%s: %d lines, 800 at most\n", file, lines }' $code | report

# search WHAT REGEX FILE...
search() {
    what=$1 regex=$2
    shift 2
    [ $# -eq 0 ] || grep -nE "$regex" /dev/null "$@" | sed "s|\$|   <- $what|" | report
}
search "tabs" "$(printf '\t')" $code
search "trailing white space" '[[:space:]]$' $code $scripts
search "work left undone" '\b(TO''DO|FIX''ME|XX''X|HA''CK)\b' $code $scripts $top
search "thread-local outside machine/native" '_Thread_lo[c]al|__thre[a]d\b|\bthread_lo[c]al\b' \
    $(echo "$code" | grep -E '^(sched_variants|workloads)/' | grep -v '^sched_variants/machine/native/')
search "a test that waits for wall time" '\b(u?sleep|nanosleep|clock_nanosleep|machine_sleep) ?\(' \
    $(echo "$code" | grep '^tests/')
search "a test that waits for wall time" '(^|[;&|({[:space:]])sleep [0-9.]' $(echo "$scripts" | grep '^tests/program/test_')
search "a place that was to be filled in" '@[A-Z]+@' $(find README.md docs -maxdepth 1 -name '*.md')
search "a path of one machine" '/(wo[r]k|fa[r]m|ho[m]e)/[a-z]|\.\./sha[r]ed' $code $scripts $texts $top

if [ -s "$offences" ]; then
    cat "$offences"
    exit 1
fi
