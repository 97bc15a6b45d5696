# cluster.sh - what tests/program/slurm.sh and tests/program/ssh.sh have in common: daemons that stand for a cluster on this
# machine, and sweeps on it. They source it after tap.sh. All that was started is stopped at the end, by its number.

# need PROGRAM=PACKAGE...: installs what is missing. Debian would also start such daemons as services of
# this machine, which a policy-rc.d forbids.
need() {
    local pair policy=/usr/sbin/policy-rc.d missing=() own=0
    for pair; do
        PATH=$PATH:/usr/sbin command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        echo "Bail out! packages are missing; type: sudo apt-get install ${missing[*]}"
        exit 1
    fi
    [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && own=1; }
    apt-get -qq update >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "${missing[@]}" >/dev/null
    local status=$?
    [ $own = 0 ] || rm -f $policy
    [ $status = 0 ] || exit 1
}

# Daemons ---------------------------------------------------------------------------------------

mkdir -p log bin
chmod 755 "$scratch"

start() { # PROGRAM...: in the foreground of a process of its own, whose number is left in $last
    "$@" >>log/output 2>&1 </dev/null &
    last=$!
}
stop_all() {
    local left
    mapfile -t left < <(jobs -pr)
    if [ ${#left[@]} -gt 0 ]; then
        kill -TERM "${left[@]}" 2>/dev/null
        sleep 1
        kill -KILL "${left[@]}" 2>/dev/null
    fi
    wait
    rm -rf "$scratch"
}
trap stop_all EXIT
# Until COMMAND succeeds, for a minute at most.
until_true() {
    local i
    for i in $(seq 300); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.2
    done
    return 1
}

# Sweeps ----------------------------------------------------------------------------------------

# A program whose simulated samples of perm end the job that measures them, and take a while if asked to.
cp "$schedlab" bin/schedlab
cat >bin/schedlab-sim <<EOF
#!/bin/sh
case "\$*" in *perm*) kill -KILL \$PPID ;; esac
[ -e "$scratch/slow" ] && sleep 0.3
echo "\${CLUSTER_NODE:-here}" >>"$scratch/nodes"
exec "$schedlab-sim" "\$@"
EOF
chmod +x bin/schedlab-sim

# file NAME MACHINE VARIANTS WORKERS
file() {
    printf 'name: loop\ntitle: A sweep on a cluster\nreps: 5\nmin_time_ms: 0\nwarmup: 0\nevents: [none]\n'
    printf 'seed: 1\nmachine: %s\ngroups:\n  - id: one\n    question: Which?\n' "$2"
    printf '    baseline: gmp\n    variants: [%s]\n    workers: [%s]\n' "$3" "$4"
    printf '    workloads: ["fib,n=12", "spawn,n=200"]\n'
} >"$1"
# Nothing is known of how long cells take: so there are jobs of five, enough for all machines.
times_forget() { rm -f */*/timings.json; }
sweep() { # ARGUMENT...: leaves out, err, status and folder
    times_forget
    bin/schedlab sweep "$@" --no-report >out 2>err </dev/null
    status=$?
    folder=$(tail -n 1 out)
}
# The same beside this script, whose number is left in $sweeper. Shells let what they start so ignore Ctrl-C.
sweep_begin() {
    times_forget
    env --default-signal=INT bin/schedlab sweep "$@" --no-report >out 2>err </dev/null &
    sweeper=$!
}
sweep_end() {
    wait $sweeper
    status=$?
    folder=$(tail -n 1 out)
}
results() { find "$1/cells" -name '*.json' 2>/dev/null | wc -l; }
have() { [ "$(results "$(ls -d results/"$1"-*)")" -ge "$2" ]; }
same() { cmp -s reference "$folder/samples.jsonl"; }
# How many samples, how many places of a sweep they are of, and how they ended.
cells() { python3 -c "
import json
rows = [json.loads(l) for l in open('$folder/samples.jsonl')]
print(len(rows), len({(r['cell'], r['block']) for r in rows}), {r['status'] for r in rows})"; }

# 200 simulated cells, and what one machine makes of them.
reference_make() {
    file loop.yaml sim:server64,cores=8 'gmp, grq, tasksteal, static' '1, 2, 3, 4, 8'
    sweep loop.yaml --name local --results alone
    check local_sweep_is_complete [ "$status $(cells)" = "0 200 200 {'ok'}" ]
    cp "$folder/samples.jsonl" reference
}
