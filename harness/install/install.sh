#!/bin/bash
# install.sh - puts built programs, their data, manual pages and completions below PREFIX, or removes them.
#
#     harness/install/install.sh install|uninstall BUILD
#
# `make install` and `make uninstall` call it, from the folder of the sources, with BUILD=build. PREFIX and
# DESTDIR are taken from the environment. The manual pages are made of what each command's --help prints.
set -euo pipefail
action=$1 build=$2
PREFIX=${PREFIX:-/usr/local}
to=${DESTDIR:-}$PREFIX

case $PREFIX in
    /*) ;;
    *) echo "make $action: PREFIX=$PREFIX is not valid; valid: a path that begins with /" >&2; exit 2 ;;
esac

# Names each installed file from $to on, and with a slash at its end each folder that was made for one, parents first; ./ is $to.
# Only these are removed, and folders only if they are empty then.
list=share/schedlab/installed

put_folder() { # FOLDER, and those above it
    [ ! -d "$to/$1" ] || return 0
    [[ $1 != */* ]] || put_folder "${1%/*}"
    install -d -m 755 "$to/$1"
    echo "$1/" >>"$listed"
}

# Files that keep their name wait until put_waiting(), which starts one process for a folder of them.
declare -A waiting=() # by mode and folder, a line each
put() { # MODE FROM TO
    put_folder "${3%/*}"
    if [ "${2##*/}" = "${3##*/}" ]; then
        waiting[$1 ${3%/*}]+=$2$'\n'
    else
        install -m "$1" "$2" "$to/$3"
    fi
    echo "$3" >>"$listed"
}

put_waiting() {
    local key files
    for key in "${!waiting[@]}"; do
        mapfile -t files <<<"${waiting[$key]%$'\n'}"
        install -m "${key%% *}" -t "$to/${key#* }" "${files[@]}"
    done
    waiting=()
}

uninstall() { # prints the folders that stay, since they hold something else
    [ -f "$to/$list" ] || return 1
    local file folders=() i
    while read -r file; do
        case $file in
            */) folders+=("$file") ;;
            *) rm -f "$to/$file" || return 3 ;;
        esac
    done <"$to/$list"
    rm -f "$to/$list"
    for ((i = ${#folders[@]} - 1; i >= 0; i--)); do
        file=$to/${folders[i]#./} # rmdir takes no path that ends in "."
        rmdir "${file%/}" 2>/dev/null || true
    done
    for file in "${folders[@]}"; do
        [ ! -d "$to/$file" ] || echo "$file"
    done
}

# "NAME IDEA" of each command
commands() { "$build/schedlab" --help | sed -nE 's/^  ([a-z]+)  +(.*)/\1 \2/p'; }

page() { # NAME IDEA, --help on standard input
    awk -f harness/install/man.awk -v name="$1" -v idea="$2" -v version="$version" >"$scratch"
    put 644 "$scratch" "share/man/man1/$1.1"
}

# For `schedlab build`: scripts, headers, and the objects that the scripts link.
install_author() {
    local file
    for file in "$build"/author/*; do
        put 644 "$file" "libexec/schedlab/author/${file##*/}"
    done
    for file in $(grep -oh '"\$objects"/[^ ]*' "$build"/author/*.sh | cut -d / -f 2- | sort -u); do
        put 644 "$build/$file" "libexec/schedlab/$file"
    done
    for file in $(find sched_variants workloads -name '*.h') harness/spec/outside.[ch]; do
        put 644 "$file" "include/schedlab/$file"
    done
    put 644 include/schedlab/schedlab.h include/schedlab/schedlab.h
}

install_all() {
    local file name idea
    put 755 "$build/schedlab" bin/schedlab
    for name in schedlab-sim schedlab-trace schedlab-hunt; do
        put 755 "$build/$name" "libexec/schedlab/$name"
    done
    for file in "$build"/peers/*; do
        [ -f "$file" ] && [ -x "$file" ] && put 755 "$file" "libexec/schedlab/peers/${file##*/}"
    done
    install_author
    for file in harness/{machines,experiments,experiments/disputes,replays,sweeps,lessons}/*.yaml harness/replays/*.slp harness/viewer/* harness/artifact/*.in plots/*.gp; do
        put 644 "$file" "share/schedlab/$file"
    done
    for file in results/reference/{repro,disputes}/repro.json.xz; do
        put 644 "$file" "share/schedlab/$file"
    done
    for file in CHANGELOG.md CITATION.cff LICENSE NOTICE; do
        put 644 "$file" "share/doc/schedlab/$file"
    done
    for file in examples/*; do
        put 644 "$file" "share/doc/schedlab/$file"
    done
    put 644 harness/install/schedlab.bash share/bash-completion/completions/schedlab
    put 644 harness/install/_schedlab share/zsh/site-functions/_schedlab
    version=$("$build/schedlab" --version | cut -d ' ' -f 2)
    "$build/schedlab" --help | page schedlab 'a testbed of goroutine schedulers'
    commands | while read -r name idea; do
        "$build/schedlab" "$name" --help | page "schedlab-$name" "$idea"
    done
    put_waiting
    put 644 "$listed" "$list"
}

case $action in
    install)
        for name in schedlab schedlab-sim schedlab-trace schedlab-hunt; do
            [ -x "$build/$name" ] || { echo "make install: $build/$name is missing; \`make build trace hunt\` builds it" >&2; exit 1; }
        done
        if [ "$to/share/schedlab" -ef . ]; then
            echo "make install: $to/share/schedlab is the folder of the sources; valid: another PREFIX" >&2
            exit 2
        fi
        scratch=$(mktemp) listed=$(mktemp)
        trap 'rm -f "$scratch" "$listed"' EXIT
        uninstall >"$listed" || true # an older version, whose files may have had other names
        [ -d "$to" ] || echo ./ >>"$listed"
        (umask 022 && mkdir -p "$to")
        install_all
        echo "schedlab $version is in $to; \`make uninstall PREFIX=$PREFIX${DESTDIR:+ DESTDIR=$DESTDIR}\` removes it"
        ;;
    uninstall)
        code=0
        stay=$(uninstall) || code=$?
        [ $code != 1 ] || { echo "make uninstall: nothing is installed in $to; valid: PREFIX and DESTDIR of \`make install\`" >&2; exit 2; }
        [ $code = 0 ] || { echo "make uninstall: not all of $to could be removed" >&2; exit 1; }
        echo "schedlab is removed from $to${stay:+; folders with other files stay: $(echo $stay)}"
        ;;
    *) echo "install.sh: $action is not valid; valid: install, uninstall" >&2; exit 2 ;;
esac
