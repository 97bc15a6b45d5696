# Completion of schedlab for bash: commands, options, and every name that `schedlab list` knows.
#
# Asks the program that stands on the command line, so that it offers what that program takes.

_schedlab_options() { # PROGRAM COMMAND
    "$1" "$2" --help 2>/dev/null | sed -nE 's/^ +(-., )?(--[a-z0-9-]+=?).*/\2/p'
}

# The words of some kinds that go on with what is typed. Settings follow a comma: of "gmp,runnext=off,ti"
# the part before the last comma stays.
_schedlab_words() { # PROGRAM TYPED KIND...
    local program=$1 typed=$2 kept= part=$2
    shift 2
    if [[ $typed == *,* ]]; then
        kept=${typed%,*},
        part=${typed%%,*},${typed##*,}
    fi
    "$program" list --format words 2>/dev/null | awk -v kinds=" $* " -v part="$part" -v kept="$kept" '
        index(kinds, " " $1 " ") && index($2, part) == 1 {
            comma = index($2, ",")
            if (kept == "" && comma) next
            print kept == "" ? $2 : kept substr($2, comma + 1)
        }'
}

_schedlab() {
    local line=${COMP_LINE:0:COMP_POINT} typed command= word kinds=
    typed=${line##*[[:space:]]}
    local -a words
    read -ra words <<<"$line"
    local program=${words[0]}
    [ ${#words[@]} -gt 1 ] && [ "${words[1]}" != "$typed" ] && command=${words[1]}
    if [ -z "$command" ]; then
        COMPREPLY=($(compgen -W "$("$program" --help 2>/dev/null | sed -nE 's/^  ([a-z]+)  +.*/\1/p')" -- "$typed"))
        return
    fi
    case $typed in
        --machine=*) typed=${typed#*=} kinds=machine ;;
        -*) COMPREPLY=($(compgen -W "$(_schedlab_options "$program" "$command")" -- "$typed"))
            [[ ${COMPREPLY-} == *= ]] && compopt -o nospace
            return ;;
    esac
    case ${words[-1]} in --machine) kinds=machine ;; esac
    [ ${#words[@]} -gt 2 ] && [ "${words[-2]}" = --machine ] && [ -n "$typed" ] && kinds=machine
    if [ -z "$kinds" ]; then
        case $command in
            run | trace | diff | hunt) kinds="variant workload" ;;
            list) kinds="topic variant workload knob event machine" ;;
            micro) kinds=variant ;;
            repro) kinds=experiment ;;
            lesson) kinds=lesson ;;
        esac
    fi
    [ -n "$kinds" ] && COMPREPLY=($(_schedlab_words "$program" "$typed" $kinds))
    [ ${#COMPREPLY[@]} -gt 0 ] || { compopt -o default; return; }
    [[ ${COMPREPLY-} == *= || ${#COMPREPLY[@]} -gt 1 ]] && compopt -o nospace
    # bash breaks words at "=" and ":"; what it holds for typed already is not offered again
    word=${COMP_WORDS[COMP_CWORD]}
    [[ $word == [=:] ]] && word=
    local before=${typed%"$word"}
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
}

complete -F _schedlab schedlab
