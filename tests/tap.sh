# tap.sh - what the end-to-end tests begin with: tests/program/test_*.sh source it with their own arguments.
#
# Leaves the path of the program in $schedlab, of the source tree in $tree, and makes an empty folder
# the current one, which goes away at the end. The output of a command is shown if it lies in out, err.
set -uo pipefail
# Under a hook or `git rebase --exec` these name the caller's repository, which is not for tests to write to.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_PREFIX
unset COLUMNS # output that is no terminal would be as wide
schedlab=$(realpath "${1:-build/schedlab}")
tree=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
count=0 bad=0

# A version manager's python3 is a script that searches for the real one, which takes 0.5 s of CPU time each time.
mkdir .bin
python=$(command -pv python3) && ln -s "$python" .bin/python3 && PATH=$scratch/.bin:$PATH

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

contains() { # FILE PART, without a process
    local text
    IFS= read -r -d '' text <"$1"
    [[ $text == *"$2"* ]]
}

refused() { # PART: the last command left status 2, nothing in out, and one line with PART in err
    local text
    IFS= read -r -d '' text <err
    [ $status = 2 ] && [ ! -s out ] && [[ $text == *"$1"*$'\n' && ${text%$'\n'} != *$'\n'* ]]
}

misuse() { # NAME PART -- ARGUMENT...: the script's run(), which leaves out, err and status, is refused
    local name=$1 part=$2
    shift 3
    run "$@"
    check "$name" refused "$part"
}

# begun: reads descriptor 3 up to the line that says that a sweep has begun, and leaves it in $begun. Warnings may come
# before that line: a busy machine causes them.
begun() {
    begun=
    until [[ $begun == *' into '* ]]; do IFS= read -r begun <&3 || return; done
}

# unchecked FILE: takes the hashes out of a samples.jsonl, so that its records can be made others.
unchecked() { sed -i 's/,"check":"[0-9a-f]*"}$/}/' "$1"; }

# One Python answers all of a script: its start takes longer than most answers.
json_answers='
import json, os, sys
def words():
    text = b""
    while more := os.read(0, 65536):
        *whole, text = (text + more).split(b"\0")
        yield from (word.decode() for word in whole)
words = words()
for folder, names, expression, file in zip(words, words, words, words):
    try:
        os.chdir(folder)
        scope = {"json": json, "sys": sys, "j": json.load(open(file))}
        exec(names, scope)
        answer = "1" if eval("(" + expression + ")", scope) else "0"
    except Exception as e:
        answer = "0 " + repr(e).replace("\n", " ")
    print(answer, flush=True)
'
json() { # NAME EXPRESSION [FILE]: python's, over the JSON in FILE or out, as `j`; $names may say more
    local good=0 why=
    if [ -z "${json_pid:-}" ]; then
        coproc json { exec python3 -c "$json_answers"; }
        json_pid=$json_PID
        disown "$json_pid" # no `wait` of a script is for it
    fi
    printf '%s\0' "$PWD" "${names:-}" "$2" "${3:-out}" >&"${json[1]}"
    read -r good why <&"${json[0]}"
    report "${good:-0}" "$1"
    [ -z "$why" ] || echo "# $why"
}

finish() { # the last command of a test
    echo "1..$count"
    [ $bad = 0 ]
}
