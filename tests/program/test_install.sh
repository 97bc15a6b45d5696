#!/bin/bash
# test_install.sh - an installed program works below any PREFIX, for any user, without the folder that it
# was built in; its manual pages and completions name what the program takes.
#
#     tests/program/test_install.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"
build=$(dirname "$schedlab")
stage=$scratch/stage prefix=$scratch/stage/opt/lab

install_sh() { # ACTION, as make calls it
    (cd "$tree" && PREFIX=/opt/lab DESTDIR=$stage harness/install/install.sh "$1" "$build") >out 2>err </dev/null
    status=$?
}

# As another user, where there is a right to become one; in an empty folder of that user's.
installed=$prefix/bin/schedlab
mkdir home
chmod 755 "$scratch"
as=()
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chown 65534:65534 home
fi
run() {
    (cd home && exec "${as[@]}" "$installed" "$@") >out 2>err </dev/null
    status=$?
}
ran() { # NAME PART -- ARGUMENT...
    local name=$1 part=$2 good=0
    shift 3
    run "$@"
    [ $status = 0 ] && contains out "$part" && good=1
    report $good "$name"
}

mkdir -p "$prefix/share/man/man7"
install_sh install
check install [ $status = 0 ]
check it_says_how_to_remove_it contains out "\`make uninstall PREFIX=/opt/lab DESTDIR=$stage\` removes it"
check every_command_has_a_page [ "$(ls "$prefix/share/man/man1" | wc -l)" = \
    $(("$("$schedlab" --help | grep -cE '^  [a-z]+  +')" + 1)) ]

# Data -------------------------------------------------------------------------------------------

sed 's/desktop8/mine/' "$prefix/share/schedlab/harness/machines/desktop8.yaml" >"$prefix/share/schedlab/harness/machines/mine.yaml"
ran machines_are_the_installed_ones 'mine' -- list machines
ran simulator_is_found 'sim:mine' -- run gmp pingpong,rounds=50 --machine sim:mine --workers 1
ran experiments_are_found 'E28' -- repro --list
ran textbook_is_found 'fib(4)' -- trace --replay fib4 --policy task
ran examples_and_their_programs_are_found 'G3 G5 G7' -- trace --replay stealing
ran lessons_are_found 'ran: 1 0 2-3' -- lesson 3
ran viewer_is_found 'class="events"' -- trace gmp fib,n=3 --format page
ran native_trace_is_found 'gmp' -- trace gmp fib,n=3 --machine native --workers 1
export CCACHE_DISABLE=1 # a compiler that is one would want a folder in the home of root
ran a_queue_is_built_with_the_installed_header 'locked.slv' -- build "$prefix/share/doc/schedlab/examples/locked.c"
cat >home/small.yaml <<'EOF'
name: small
title: A small sweep
reps: 2
min_time_ms: 0
warmup: 0
events: [none]
groups:
  - id: one
    question: Which?
    baseline: gmp
    variants: [gmp, grq]
    workers: [1]
    workloads: [pingpong]
EOF
ran sweep_draws_and_reports 'here/small-' -- sweep small.yaml --results here
check figures_are_drawn compgen -G 'home/here/small-*/figures/*.svg'

# Manual pages and completions -------------------------------------------------------------------

check page_has_the_options grep -q '^\.B.*\\-\\-workers=N' "$prefix/share/man/man1/schedlab-run.1"
check page_has_the_version grep -q "schedlab $(sed -n 's/^VERSION := //p' "$tree/Makefile")" "$prefix/share/man/man1/schedlab.1"

# offers LINE WORD: what bash offers for the last word of LINE has WORD. bash breaks words at = and :.
offers() {
    PATH=$prefix/bin:$PATH bash -c '
        compopt() { :; }
        . "$1"
        COMP_LINE=$2 COMP_POINT=${#2}
        last=${2##*[[:space:]]}
        [[ $last == *[=:] ]] && last=${last: -1} || last=${last##*[=:]}
        COMP_WORDS=(schedlab "$last") COMP_CWORD=1
        _schedlab
        [[ " ${COMPREPLY[*]} " == *" $3 "* ]]' offers "$prefix/share/bash-completion/completions/schedlab" "$@"
}
check offers_commands offers 'schedlab r' run
check offers_options offers 'schedlab run gmp --work' --workers=
check offers_variants offers 'schedlab run gm' gmp
check offers_settings offers 'schedlab run gmp,run' gmp,runnext=off
check offers_values offers 'schedlab run gmp,runnext=' off
check offers_settings_after_settings offers 'schedlab run gmp,runnext=off,ti' off,tick=
check offers_parameters offers 'schedlab run gmp fib,' fib,n=
check offers_machines offers 'schedlab run gmp fib --machine sim:d' desktop8
check offers_topics offers 'schedlab list va' variants
check offers_experiments offers 'schedlab repro E2' E28

# zsh_offers LINE WORD: the same of zsh, with functions in the place of the builtins that ask the line editor.
zsh_offers() {
    PATH=$prefix/bin:$PATH zsh -f -c '
        compadd() { shift ${@[(i)--]}; print -l -- "$@"; }
        _describe() { print -l -- ${${(P)2}%%:*}; }
        compset() { :; }
        _files() { print a-file; }
        words=(${(z)1}) fpath=($2) CURRENT=0
        [[ $1 == *" " ]] && words+=("")
        CURRENT=$#words
        autoload -U _schedlab && _schedlab' offers "$1" "$prefix/share/zsh/site-functions" >out 2>err
    [ ! -s err ] && grep -qxF -- "$2" out
}
if command -v zsh >/dev/null; then
    check zsh_offers_commands zsh_offers 'schedlab r' run
    check zsh_offers_options zsh_offers 'schedlab run gmp --work' --workers=
    check zsh_offers_variants zsh_offers 'schedlab run ' gmp
    check zsh_offers_settings zsh_offers 'schedlab run gmp,runnext=off,ti' tick=
    check zsh_offers_machines zsh_offers 'schedlab run gmp fib --machine sim:d' sim:desktop8
    check zsh_offers_machines_behind_a_sign zsh_offers 'schedlab run gmp fib --machine=sim:d' sim:desktop8
    check zsh_offers_experiments zsh_offers 'schedlab repro E2' E28
    check zsh_offers_files zsh_offers 'schedlab sweep ex' a-file
else
    report 1 'zsh_offers # SKIP there is no zsh'
fi

# Removal ----------------------------------------------------------------------------------------

install_sh install
check install_again [ $status = 0 ]
install_sh uninstall
check uninstall [ $status = 0 ]
check what_was_installed_is_gone [ "$(cd "$prefix" && find . -type f)" = ./share/schedlab/harness/machines/mine.yaml ]
check folders_of_others_stay [ -d "$prefix/share/man/man7" ]
check folders_that_were_made_are_gone [ "$(cd "$prefix" && find . -type d | sort | xargs)" = \
    '. ./share ./share/man ./share/man/man7 ./share/schedlab ./share/schedlab/harness ./share/schedlab/harness/machines' ]
check it_says_which_folders_stay contains out 'folders with other files stay: '
install_sh uninstall
check nothing_to_uninstall refused "nothing is installed in $stage/opt/lab; valid: PREFIX"
rm -r "$prefix"
install_sh install
install_sh uninstall
check a_prefix_that_was_made_is_gone [ ! -e "$prefix" ]
(cd "$tree" && PREFIX=lab DESTDIR=$stage harness/install/install.sh install "$build") >out 2>err
status=$?
check prefix_is_absolute refused 'PREFIX=lab is not valid; valid: a path that begins with /'

finish
