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
man=$to/share/man/man1
completions=("$to/share/bash-completion/completions/schedlab" "$to/share/zsh/site-functions/_schedlab")

case $PREFIX in
    /*) ;;
    *) echo "make $action: PREFIX=$PREFIX is not valid; valid: a path that begins with /" >&2; exit 2 ;;
esac

uninstall() {
    rm -f "$to/bin/schedlab" "$man/schedlab.1" "$man"/schedlab-*.1 "${completions[@]}"
    rm -rf "$to/libexec/schedlab" "$to/share/schedlab" "$to/share/doc/schedlab"
}

# "NAME IDEA" of each command
commands() { "$build/schedlab" --help | sed -nE 's/^  ([a-z]+)  +(.*)/\1 \2/p'; }

page() { # NAME IDEA, --help on standard input
    awk -f harness/install/man.awk -v name="$1" -v idea="$2" -v version="$version" >"$man/$1.1"
    chmod 644 "$man/$1.1"
}

install_all() {
    local folder name idea
    install -D -m 755 "$build/schedlab" "$to/bin/schedlab"
    for name in schedlab-sim schedlab-trace; do
        install -D -m 755 "$build/$name" "$to/libexec/schedlab/$name"
    done
    for name in "$build"/peers/*; do
        [ -f "$name" ] && [ -x "$name" ] && install -D -m 755 "$name" "$to/libexec/schedlab/peers/${name##*/}"
    done
    for folder in harness/machines harness/experiments harness/replays harness/sweeps; do
        install -d "$to/share/schedlab/$folder"
        install -m 644 $folder/*.yaml "$to/share/schedlab/$folder"
    done
    install -d "$to/share/schedlab/plots" "$to/share/doc/schedlab" "$man"
    install -m 644 plots/*.gp "$to/share/schedlab/plots"
    install -m 644 README.md CHANGELOG.md CITATION.cff LICENSE NOTICE "$to/share/doc/schedlab"
    install -D -m 644 harness/install/schedlab.bash "${completions[0]}"
    install -D -m 644 harness/install/_schedlab "${completions[1]}"
    version=$("$build/schedlab" --version | cut -d ' ' -f 2)
    "$build/schedlab" --help | page schedlab 'a testbed of goroutine schedulers'
    commands | while read -r name idea; do
        "$build/schedlab" "$name" --help | page "schedlab-$name" "$idea"
    done
}

case $action in
    install)
        for name in schedlab schedlab-sim schedlab-trace; do
            [ -x "$build/$name" ] || { echo "make install: $build/$name is missing; \`make build trace\` builds it" >&2; exit 1; }
        done
        uninstall # of an older version, whose files may have had other names
        install_all
        echo "schedlab $version is in $to; \`make uninstall PREFIX=$PREFIX\` removes it"
        ;;
    uninstall) uninstall ;;
    *) echo "install.sh: $action is not valid; valid: install, uninstall" >&2; exit 2 ;;
esac
