# tap.sh - what the end-to-end tests begin with: tests/test_*.sh source it with their own arguments.
#
# Leaves the path of the program in $schedlab, of the source tree in $tree, and makes an empty folder
# the current one, which goes away at the end. What a command printed is shown if it lies in out, err.
set -uo pipefail
# Under a hook or `git rebase --exec` these name the caller's repository, which is not for tests to write to.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_PREFIX
schedlab=$(realpath "${1:-build/schedlab}")
tree=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
count=0 bad=0

report() { # OK NAME
    count=$((count + 1))
    if [ "$1" = 1 ]; then
        echo "ok $count - $2"
    else
        bad=$((bad + 1))
        echo "not ok $count - $2"
        head -qn 20 out err 2>/dev/null | cut -c 1-400 | sed 's/^/# /'
    fi
}

check() { # NAME COMMAND...: the command succeeds
    local name=$1 good=0
    shift
    "$@" >/dev/null 2>&1 && good=1
    report $good "$name"
}

finish() { # the last command of a test
    echo "1..$count"
    [ $bad = 0 ]
}
