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

refused() { # PART: the last command left status 2, nothing in out, and one line with PART in err
    [ $status = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$1" err
}

misuse() { # NAME PART -- ARGUMENT...: the script's run(), which leaves out, err and status, is refused
    local name=$1 part=$2
    shift 3
    run "$@"
    check "$name" refused "$part"
}

json() { # NAME EXPRESSION [FILE]: python's, over the JSON in FILE or out, as `j`; $names may say more
    check "$1" python3 -c "
import json, sys
j = json.load(open('${3:-out}'))
${names:-}
sys.exit(not ($2))"
}

finish() { # the last command of a test
    echo "1..$count"
    [ $bad = 0 ]
}
