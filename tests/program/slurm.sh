#!/bin/bash
# slurm.sh - a sweep on a real cluster of Slurm: slurmctld, slurmd and munge, on loopback, several nodes on
# this machine. `make test-slurm` runs it; it is no part of `make test`, for it takes a minute or two, root, and
# Debian's packages, which it installs where they are missing.
#
#     tests/program/slurm.sh build/schedlab
#
# A node is lost in the middle of a sweep of 200 simulated cells, and the controller is restarted: the sweep
# ends complete, with every cell once, and with the bytes of --engine local. A cell that always ends its
# job ends as failed. Prints TAP.
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/program/cluster.sh
. "$tree/tests/program/cluster.sh"
need slurmctld=slurmctld slurmd=slurmd munged=munge sbatch=slurm-client
[ "$(id -u)" = 0 ] || {
    echo 'Bail out! slurmd takes root'
    exit 1
}

# The cluster -----------------------------------------------------------------------------------

nodes=4
ports=$((20000 + $$ % 20000))
mkdir -p state spool munge
chmod 755 munge
head -c 1024 /dev/urandom >munge/key
chmod 600 munge/key
cat >slurm.conf <<EOF
ClusterName=loop
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$ports
AuthType=auth/munge
AuthInfo=socket=$scratch/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool/%n
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd-%n.pid
SlurmctldLogFile=$scratch/log/slurmctld
SlurmdLogFile=$scratch/log/slurmd-%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1
ReturnToService=2
SlurmdTimeout=8
SlurmctldTimeout=8
InactiveLimit=0
KillWait=1
MinJobAge=10
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=n[1-$nodes] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[$((ports + 1))-$((ports + nodes))] CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
EOF
export SLURM_CONF=$scratch/slurm.conf

idle() { [ "$(sinfo -h -N -o '%T' | grep -c idle)" -ge "$1" ]; }

start munged --foreground --force --key-file="$scratch/munge/key" --socket="$scratch/munge/socket" \
    --pid-file="$scratch/munge/pid" --log-file="$scratch/munge/log" --seed-file="$scratch/munge/seed"
until_true [ -S munge/socket ]
start slurmctld -D
controller=$last
slurmds=()
for i in $(seq $nodes); do
    mkdir -p "spool/n$i"
    start slurmd -D -N "n$i"
    slurmds[i]=$last
done
if ! until_true idle $nodes; then
    echo 'Bail out! the cluster does not come up'
    sinfo -N
    tail -n 20 log/* munge/log
    exit 1
fi
echo "# $(slurmctld -V), $nodes nodes on one machine"

queue() { squeue -h -r | wc -l; }

# Ends a node as a power cut does: its slurmd and all that runs on it, together. Only processes of this
# cluster have its configuration and the node's name.
node_kill() {
    local process environment doomed=("${slurmds[$1]}")
    for process in /proc/[0-9]*; do
        environment=$({ tr '\0' '\n' <"$process/environ"; } 2>/dev/null)
        case $'\n'$environment$'\n' in
        *$'\n'"SLURM_CONF=$SLURM_CONF"$'\n'*) ;;
        *) continue ;;
        esac
        case $'\n'$environment$'\n' in
        *$'\n'"SLURMD_NODENAME=n$1"$'\n'*) doomed+=("${process#/proc/}") ;;
        esac
    done
    kill -KILL "${doomed[@]}"
    wait "${slurmds[$1]}"
}

reference_make
touch slow
sweep_begin loop.yaml --name lost --engine slurm --job-seconds 10
until_true have lost 20
busy() { squeue -h -r -t RUNNING -w n2 | grep -q .; }
until_true busy
node_kill 2 2>/dev/null
until_true have lost 80
rm slow
kill -TERM $controller
wait $controller
sleep 2
start slurmctld -D
sweep_end
check sweep_outlives_a_node_and_a_restart [ $status = 0 ]
check each_cell_is_there_once [ "$(cells)" = "200 200 {'ok'}" ]
check results_are_those_of_one_machine same
check the_node_took_something_with_it [ "$(find "$folder/jobs" -name '[2-9]-*.list' | wc -l)" -gt 0 ]
check no_job_is_left [ "$(queue)" = 0 ]
sed 's/^/# /' err
start slurmd -D -N n2
slurmds[2]=$last

no_folder() { [ "$status $(find results -maxdepth 1 -name "$1-*" | wc -l) $(queue)" = '1 0 0' ]; }
sweep loop.yaml --engine slurm --name nowhere --sbatch=--partition=nowhere
check a_partition_that_is_not_there_leaves_nothing no_folder nowhere
check and_is_named grep -q 'sbatch: .*partition specified: nowhere' err
sed 's/^SlurmctldPort=.*/SlurmctldPort=1/' slurm.conf >silent.conf
SLURM_CONF=$scratch/silent.conf sweep loop.yaml --engine slurm --name silent
check nor_does_a_controller_that_does_not_answer no_folder silent
check and_that_is_told grep -q 'squeue: .*Unable to contact' err

file bad.yaml sim:server64,cores=8 'gmp, perm' 2
sed -i 's/reps: 5/reps: 1/' bad.yaml
sweep bad.yaml --engine slurm --name bad
check a_cell_that_ends_its_jobs_fails [ "$status $(grep -c '3 jobs began it' "$folder/samples.jsonl")" = '0 2' ]
check and_no_other [ "$(grep -c '"status":"ok"' "$folder/samples.jsonl")" = 2 ]

sweep_begin loop.yaml --name stopped --engine slurm --job-seconds 10
until_true have stopped 5
kill -TERM $sweeper
sweep_end
check a_signal_ends_the_sweep [ $status = 1 ]
empty() { [ "$(queue)" = 0 ]; }
check and_its_jobs until_true empty
folder=$(ls -d results/stopped-*)
sweep --resume "$folder" --engine slurm
check it_is_resumed same

file native.yaml native 'gmp, grq' '1, 2'
sed -i 's/min_time_ms: 0/min_time_ms: 100/' native.yaml
# The most jobs that a node had at a time; several are handed in at once.
alone() { sort -n seen | tail -n 1; }
nodes_look() {
    while :; do
        squeue -h -r -t RUNNING -o %N 2>/dev/null | sort | uniq -c | awk '{ print $1 }'
        sleep 0.1
    done >seen
}
nodes_look &
looker=$!
sweep native.yaml --engine slurm --name native --job-seconds 1
kill $looker
wait $looker 2>/dev/null
check native_cells_are_measured [ "$status $(grep -c '"host":' "$folder/samples.jsonl")" = '0 40' ]
check each_with_a_node_to_itself [ "$(alone)" = 1 ]
finish
