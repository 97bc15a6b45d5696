# fake_slurm.sh - stands in for sbatch, squeue and scancel, one after whose name it was called by a link.
#
# Who calls: test_engine.sh. Jobs run at once, each in a process of its own, and are known by the files
# in $FAKE_SLURM: jobs/N-TASK, whose content is the number of the process and the job's name. $FAKE_SLURM/calls
# tells who was called with what; as long as $FAKE_SLURM/deaf holds lines, squeue does not answer and takes one away.
cd "$FAKE_SLURM" || exit 1
mkdir -p jobs
echo "${0##*/} $*" >>calls
case ${0##*/} in
sbatch)
    for option; do
        case $option in
        --array=0-*) last=${option#--array=0-} ;;
        --output=*) log=${option#--output=} ;;
        --job-name=*) name=${option#--job-name=} ;;
        esac
        script=$option
    done
    number=$(wc -l <calls)
    for task in $(seq 0 "$last"); do
        SLURM_ARRAY_TASK_ID=$task setsid bash -c '
            echo "$$ $1" >"jobs/$2"
            sh "$3" >"$4" 2>&1 </dev/null
            rm -f "jobs/$2"' job "$name" "$number-$task" "$script" "${log/\%a/$task}" >/dev/null 2>&1 &
        until [ -e "jobs/$number-$task" ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
    done
    echo "$number"
    ;;
squeue)
    if [ -s deaf ]; then
        sed -i 1d deaf
        echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2
        exit 1
    fi
    find jobs -type f -exec echo RUNNING \;
    ;;
scancel)
    for job in jobs/*; do
        [ -e "$job" ] || continue
        read -r pid name <"$job" && [ "--name=$name" = "$1" ] && kill -KILL -- "-$pid" && rm -f "$job"
    done
    ;;
esac
