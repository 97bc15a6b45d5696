# fake_slurm.sh - stands in for sbatch, squeue, scancel and scontrol, one after whose name it was called by a link.
#
# Callers: test_engine.sh. Jobs run at once, but not while squeue has to tell something else. Each
# runs in a process of its own. Files in $FAKE_SLURM tell of them: jobs/N-TASK has the number of the
# process and the job's name. $FAKE_SLURM/calls has each program that was called, with its
# arguments. Four files make a controller that does not answer. As long as one of them holds lines,
# each call takes one away and fails. deaf is of squeue, stuck of scancel, away and late of sbatch;
# it takes the jobs with late, but not with away. Each line of `waits` is, for one call of squeue,
# why a job waits. `later` becomes `deaf` when jobs are taken. $FAKE_SLURM/max is MaxArraySize. All
# jobs are in a hidden partition, and wait two seconds where there is a file `slow`; where there is
# `completing`, one stays in that state.
cd "$FAKE_SLURM" || exit 1
mkdir -p jobs
echo "${0##*/} $*" >>calls
fails() { # FILE
    [ -s "$1" ] || return 1
    sed -i 1d "$1"
    echo "${0##*/}: error: Unable to contact slurm controller (connect failure)" >&2
}
case ${0##*/} in
sbatch)
    fails away && exit 1
    for option; do
        case $option in
        --array=0-*) last=${option#--array=0-} ;;
        --output=*) log=${option#--output=} ;;
        --job-name=*) name=${option#--job-name=} ;;
        esac
        script=$option
    done
    if [ -s max ] && [ "$last" -ge "$(cat max)" ]; then
        echo 'sbatch: error: Batch job submission failed: Invalid job array specification' >&2
        exit 1
    fi
    number=$(wc -l <calls)
    echo "$script" >>scripts
    for task in $(seq 0 "$last"); do
        SLURM_ARRAY_TASK_ID=$task setsid bash -c '
            echo "$$ $1" >"jobs/$2"
            [ ! -e slow ] || sleep 2
            while [ -s waits ] || [ -s deaf ] || [ -e later ]; do sleep 0.05; done
            sh "$3" >"$4" 2>&1 </dev/null
            rm -f "jobs/$2"' job "$name" "$number-$task" "$script" "${log/\%a/$task}" >/dev/null 2>&1 &
        until [ -e "jobs/$number-$task" ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
    done
    [ ! -e later ] || mv later deaf
    fails late && exit 1
    echo "$number"
    ;;
squeue)
    fails deaf && exit 1
    # Jobs in a hidden partition, and wishes that leave no job to be listed.
    case $* in *--all*) ;; *) exit 0 ;; esac
    [ -z "${SQUEUE_STATES-}${SQUEUE_PARTITION-}" ] || exit 0
    [ -z "${SLURM_CLUSTERS-}" ] || echo "CLUSTER: $SLURM_CLUSTERS"
    case $* in
    *--states=all*--format=%o) cat scripts ;;
    *--states=*COMPLETING*"%T %r")
        [ ! -e completing ] || echo COMPLETING None
        if [ -s waits ]; then
            echo "PENDING $(head -n 1 waits)"
            sed -i 1d waits
        else
            find jobs -type f -exec echo RUNNING None \;
        fi ;;
    esac
    ;;
scontrol)
    printf 'Configuration data\nMaxArraySize            = %s\nMaxJobCount             = 10000\n' "$(cat max)"
    ;;
scancel)
    fails stuck && exit 1
    [ -z "${SCANCEL_STATE-}" ] || exit 0
    for job in jobs/*; do
        [ -e "$job" ] || continue
        read -r pid name <"$job" && [ "--name=$name" = "$1" ] && kill -KILL -- "-$pid" && rm -f "$job"
    done
    ;;
esac
