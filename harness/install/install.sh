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

# Each installed file is named here, from $to on: only these are removed, and folders that are empty then.
list=share/schedlab/installed

put() { # MODE FROM TO
    install -D -m "$1" "$2" "$to/$3"
    echo "$3" >>"$to/$list.new"
}

uninstall() {
    [ -f "$to/$list" ] || return 0
    local file
    while read -r file; do
        rm -f "$to/$file"
    done <"$to/$list"
    rm -f "$to/$list"
    for file in bin libexec/schedlab share/schedlab share/doc/schedlab share/man \
        share/bash-completion share/zsh; do
        [ ! -d "$to/$file" ] || find "$to/$file" -depth -type d -empty -delete
    done
}

# "NAME IDEA" of each command
commands() { "$build/schedlab" --help | sed -nE 's/^  ([a-z]+)  +(.*)/\1 \2/p'; }

page() { # NAME IDEA, --help on standard input
    awk -f harness/install/man.awk -v name="$1" -v idea="$2" -v version="$version" >"$scratch"
    put 644 "$scratch" "share/man/man1/$1.1"
}

install_all() {
    local file name idea
    put 755 "$build/schedlab" bin/schedlab
    for name in schedlab-sim schedlab-trace; do
        put 755 "$build/$name" "libexec/schedlab/$name"
    done
    for file in "$build"/peers/*; do
        [ -f "$file" ] && [ -x "$file" ] && put 755 "$file" "libexec/schedlab/peers/${file##*/}"
    done
    for file in harness/{machines,experiments,replays,sweeps}/*.yaml plots/*.gp; do
        put 644 "$file" "share/schedlab/$file"
    done
    for file in README.md CHANGELOG.md CITATION.cff LICENSE NOTICE; do
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
    mv "$to/$list.new" "$to/$list"
}

case $action in
    install)
        for name in schedlab schedlab-sim schedlab-trace; do
            [ -x "$build/$name" ] || { echo "make install: $build/$name is missing; \`make build trace\` builds it" >&2; exit 1; }
        done
        if [ "$to/share/schedlab" -ef . ]; then
            echo "make install: $to/share/schedlab is the folder of the sources; valid: another PREFIX" >&2
            exit 2
        fi
        uninstall # of an older version, whose files may have had other names
        scratch=$(mktemp)
        trap 'rm -f "$scratch"' EXIT
        mkdir -p "$to/share/schedlab"
        : >"$to/$list.new"
        install_all
        echo "schedlab $version is in $to; \`make uninstall PREFIX=$PREFIX${DESTDIR:+ DESTDIR=$DESTDIR}\` removes it"
        ;;
    uninstall) uninstall ;;
    *) echo "install.sh: $action is not valid; valid: install, uninstall" >&2; exit 2 ;;
esac
