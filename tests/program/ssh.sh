#!/bin/bash
# ssh.sh - a sweep on machines without a cluster's scheduler: GNU parallel over ssh, to two sshd on loopback
# with ports, keys and configuration of their own, which stand for two machines. `make test-ssh` runs it; it is no
# part of `make test`, for it takes a minute or two and Debian's packages, which it installs where they are missing.
#
#     tests/program/ssh.sh build/schedlab
#
# A machine is lost in the middle of a sweep of 200 simulated cells: the sweep ends complete, with every cell
# once, and with the bytes of --engine local. Ctrl-C, and the end of the sweep's process, end what runs on
# the machines. Prints TAP.
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/program/cluster.sh
. "$tree/tests/program/cluster.sh"
need sshd=openssh-server ssh=openssh-client parallel=parallel pgrep=procps

# The machines ----------------------------------------------------------------------------------

port=$((20000 + $$ % 20000))
ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f host
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd # where sshd of root lives without privileges
export PARALLEL_HOME=$scratch/parallel
sshds=()
node_start() { # 1 or 2
    cat >"sshd$1" <<EOF
Port $((port + $1))
ListenAddress 127.0.0.1
HostKey $scratch/host
AuthorizedKeysFile $scratch/key.pub
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PidFile none
Banner $scratch/banner
SetEnv CLUSTER_NODE=n$1
EOF
    start "$(PATH=$PATH:/usr/sbin command -v sshd)" -D -e -f "$scratch/sshd$1"
    sshds[$1]=$last
    until_true ssh "n$1" true
}
# All below a process.
below() {
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        below "$child"
    done
}
# Ends a machine as a power cut does: its sshd and all that runs below it, together.
node_kill() {
    local doomed
    mapfile -t doomed < <(below "${sshds[$1]}")
    kill -KILL "${sshds[$1]}" "${doomed[@]}"
    wait "${sshds[$1]}"
}
works() { [ -n "$(below "${sshds[$1]}")" ]; }
nothing_works() { ! works 1 && ! works 2; }
on() { grep -c "^$1$" nodes; }

echo 'Authorized use only; all activity is recorded.' >banner
cat >config <<EOF
Host n1
    Port $((port + 1))
Host n2
    Port $((port + 2))
Host *
    HostName 127.0.0.1
    IdentityFile $scratch/key
    IdentitiesOnly yes
    UserKnownHostsFile $scratch/known
    StrictHostKeyChecking no
EOF
# Stands in for an entry in ~/.ssh/config.
printf '#!/bin/sh\nexec %s -F %s/config "$@"\n' "$(command -v ssh)" "$scratch" >bin/ssh
chmod +x bin/ssh
PATH=$scratch/bin:$PATH
printf '2/%s\n' n1 n2 >hosts
if ! node_start 1 || ! node_start 2; then
    echo 'Bail out! the machines do not come up'
    tail -n 20 log/output
    exit 1
fi
echo "# $(ssh -V 2>&1), $(parallel --version | head -n 1), two machines on one"
parallel_sweep() { sweep "$@" --engine parallel --sshloginfile hosts; }
parallel_begin() { sweep_begin "$@" --engine parallel --sshloginfile hosts; }

# Sweeps on them --------------------------------------------------------------------------------

reference_make
rm nodes
parallel_sweep loop.yaml --name both --job-seconds 10
check each_cell_is_there_once [ "$status $(cells)" = "0 200 200 {'ok'}" ]
check results_are_those_of_one_machine same
check both_machines_measured [ "$(($(on n1) > 0)) $(($(on n2) > 0)) $(on here)" = '1 1 0' ]

touch slow
parallel_begin loop.yaml --name lost --job-seconds 10
until_true have lost 20
until_true works 2
node_kill 2 2>/dev/null
until_true have lost 60
rm slow
sweep_end
check sweep_outlives_a_machine [ $status = 0 ]
check each_cell_is_there_once_all_the_same [ "$(cells)" = "200 200 {'ok'}" ]
check results_are_still_those_of_one_machine same
check the_machine_took_something_with_it [ "$(find "$folder/jobs" -name '[2-9]-*.list' | wc -l)" -gt 0 ]
check it_is_left_out_afterwards grep -q 'Removed n2' "$folder"/jobs/2-simulated-0.log

echo 2/n2 >gone
sweep loop.yaml --name none --engine parallel --sshloginfile gone
check no_machine_at_all_is_an_error [ "$status $(grep -c '3 times in a row.*Removed n2' err)" = '1 1' ]
node_start 2

file bad.yaml sim:server64,cores=8 'gmp, perm' 2
sed -i 's/reps: 5/reps: 1/' bad.yaml
parallel_sweep bad.yaml --name bad
check a_cell_that_ends_its_jobs_fails [ "$status $(grep -c '3 jobs began it' "$folder/samples.jsonl")" = '0 2' ]
check and_no_other [ "$(grep -c '"status":"ok"' "$folder/samples.jsonl")" = 2 ]

# The same however the sweep is ended; KILL leaves it no time to cancel anything.
touch slow
for signal in INT KILL; do
    parallel_begin loop.yaml --name "stopped-$signal" --job-seconds 10
    until_true have "stopped-$signal" 5
    kill -$signal $sweeper
    sweep_end 2>/dev/null
    check "${signal}_ends_the_sweep" [ $status != 0 ]
    check "${signal}_ends_what_runs_on_the_machines" until_true nothing_works
done
rm slow
folder=$(ls -d results/stopped-INT-*)
parallel_sweep --resume "$folder"
check it_is_resumed same

file native.yaml native 'gmp, grq' '1, 2'
parallel_sweep native.yaml --name native --job-seconds 1
check native_cells_are_measured [ "$status $(grep -c '"host":' "$folder/samples.jsonl")" = '0 40' ]
finish
