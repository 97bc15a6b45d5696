#!/bin/bash
# test_list.sh - `schedlab list`: all names on a screen, all of a topic, one name whole; and each knob moves the counters
# that it names.
#
#     tests/program/test_list.sh build/schedlab
#
# Prints TAP.
. "$(dirname "$0")/../tap.sh"

run() { # ARGUMENT...: leaves out, err, status
    "$schedlab" "$@" >out 2>err </dev/null
    status=$?
}
shows() { # PART...: the last command was good, and each part is in out
    local part
    [ $status = 0 ] && [ ! -s err ] || return 1
    for part in "$@"; do contains out "$part" || return 1; done
}
listed() { # NAME ARGUMENT -- PART...: `list ARGUMENT` shows the parts
    local name=$1 argument=$2
    shift 3
    run list $argument
    check "$name" shows "$@"
}

# All -----------------------------------------------------------------------------------------

run list --format json
mv out all.json
run list
mv out all
check all_names_fit_a_screen awk 'length($0) > 80 { exit 1 } END { exit NR > 60 }' all
check no_line_is_cut_short [ "$(grep -c '\.\.\.$' all)" = 0 ]
names='lines = [l.split() for l in open("all")]; heads = [l[0] for l in lines if l]'
json every_name_has_a_line \
    "all(heads.count(x['name']) == 1 for k in ('variants', 'workloads') for x in j[k] if ':' not in x['name'])" all.json
names='text = open("all").read()'
json every_preset_has_a_name_there "all(p['name'] in text for p in j['presets'])" all.json
run list all
check all_is_the_default cmp -s out all
names=
json json_has_every_knob_in_full \
    "len(j['variants']) >= 9 and all(set(k) >= {'key','default','unit','source','help','range','group','decisive','moves'} for v in j['variants'] for k in v['knobs']) and len(j['workloads']) >= 17" all.json
json json_has_presets \
    "all(p['variant'] in [v['name'] for v in j['variants']] and p['settings'] for p in j['presets']) and len(j['presets']) >= 2" all.json
json json_says_what_changes_nothing \
    "any('runnext_cap' in m['knobs'].split() and m['with'] == 'runnext=off' and m['why'] for v in j['variants'] for m in v['no_effect'])" all.json

# Topics --------------------------------------------------------------------------------------

listed variants_have_knobs_and_sources variants -- contsteal 'tokio-1.51 ' runnext_cap=3 Vyukov12 malloc=jemalloc
listed presets_say_what_they_leave_out presets -- 'is           permits spinners=all' 'left out     Tasks that are known to block'
run list presets --format json
mv out presets.json
json presets_are_a_topic "list(j) == ['presets'] and all(p['left_out'] for p in j['presets'])" presets.json
listed workloads_have_parameters workloads -- mergesort n=1000000
listed events_have_meanings events -- STEALS 'those of the warm-up' SIM_L1D_MISS_FALSE_SHARING PAPI_TOT_CYC
check default_events_are_marked grep -q '^\* STEALS ' out
check events_without_a_mark_are_not_counted_by_default grep -q '^  SIM_L2_MISS_CONFLICT ' out
run list events --format json
json default_events_are_known "{e['name']: e['default'] for e in (j['events']['events'] if 'events' in j['events'] else j['events'])}['sde:::schedlab::SIM_L1D_MISS']"
listed machines_are_there machines -- desktop8
listed knobs_have_owners knobs -- tasksteal=handover jemalloc
groups=$(grep -E '^[a-z]+$' out | tr '\n' ' ')
check knobs_are_grouped [ "$groups" = 'queues stealing waking slices calls descriptors timers locks memory ' ]
# Within a group no decisive knob stands behind one that is not.
check decisive_knobs_come_first awk '/^[a-z]*$/ { fine = 0 } /^  [a-z_]+ / { fine = 1 } /^\* / && fine { exit 1 }' out
for topic in variants workloads knobs events machines sim:server64; do
    run list $topic
    check "$topic fit 80 columns" awk 'length($0) > 80 { exit 1 }' out
done

# One name ------------------------------------------------------------------------------------

listed a_variant_is_explained gmp -- Vyukov12 sched_variants/gmp/gmp.c 'compared in  D1' '* tick            61' \
    '  take            batch' 'runnext_cap inherit runnext_wake runnext_owner backoff_ns' 'schedlab run gmp grq'
check its_knobs_are_grouped [ "$(grep -E '^[a-z]+$' out | tr '\n' ' ')" = "$groups" ]
check its_decisive_knobs_come_first awk '/^[a-z]*$/ { fine = 0 } /^  [a-z_]+ / { fine = 1 } /^\* / && fine { exit 1 }' \
    <(sed -n '/^Knobs:/,/^Knobs that/p' out)
listed a_workload_is_explained pingpong -- 'round trip' E3 fidelity 'hogs           0' 'schedlab run gmp grq pingpong,rounds='
listed its_findings_are_named wakers -- network_over_timer
listed a_knob_is_explained tick -- 'default      61' '0 to 1024 dispatches or random' 'proc.go findRunnable' \
    'perm, gmp, tasksteal' 'D5 A look at the global queue' 'TICK_POLLS, GRQ_HITS' 'schedlab run gmp gmp,tick=1'
listed owner_leaves_fork_join_alone owner -- 'Children of' 'fork/join'
listed a_private_slot_wakes_in_vain backoff_ns -- 'unless runnext_wake=off'
listed a_knob_may_move_no_counter threads_max -- 'no counter'
listed a_setting_of_all_variants_is_explained malloc -- 'variants     all'
listed an_event_is_explained STEALS -- sde:::schedlab::STEALS 'a count' E9 'moved by     steal' '--events STEALS'
mv out short
run list sde:::schedlab::STEALS
check it_is_found_by_its_full_name cmp -s out short
listed an_event_of_the_processor_is_explained PAPI_TOT_CYC -- cycles 'the processor (pmu)'
listed a_preset_is_explained tokio-1.50 -- 'a preset of gmp' runnext_cap=3 'left out'
listed a_peer_is_explained peer:go -- 'a variant' goroutines
listed an_experiment_says_what_shows_it E3 -- 'E3: an experiment' 'FIFO, runnext or LIFO' \
    'schedlab repro --explain E3'
listed an_experiment_in_small_letters e3 -- 'E3: an experiment'
listed a_name_has_all_its_roles calls -- 'calls: a workload' 'calls: a knob' 'calls: a parameter' 'CALLS: an event'
run list calls --format json
json the_same_for_programs \
    "[r['role'] for r in j['roles']] == ['workload', 'knob', 'parameter', 'event'] and j['roles'][1]['default'] == 'sysmon' and 'HANDOFFS' in j['roles'][1]['moves'] and any(e['id'] == 'E16' for e in j['roles'][1]['experiments'])"
# Experiments are those whose files say so.
for knob in take victim lock; do
    run list $knob --format json
    ids=$(grep -lE "^ +factor: $knob\$" "$tree"/harness/experiments/e*.yaml | xargs sed -n 's/^id: //p' | tr '\n' ' ')
    names= json "experiments of $knob are all there" \
        "set('$ids'.split()) <= {e['id'] for e in j['roles'][0]['experiments']} and len('$ids') > 0"
done

# Each knob moves what it says ------------------------------------------------------------------

# An event is moved if its counts with the setting are all above, or all below, those without it. Each seed is another
# timing, so that chance cannot part two ranges for long. One worker has one timing, and two seeds are enough.
run list knobs --format json
python3 - "$schedlab" <<'EOF' >moves 2>&1
import json, subprocess, sys
program, seen = sys.argv[1], {}
for knob in json.load(open("out"))["knobs"]:
    seen.setdefault(knob["key"], knob)
runs = {}  # knobs with the same base and workload share one run
for key, knob in seen.items():
    words = knob["example"].split()
    if not knob["moves"]:
        continue
    if words[:2] != ["schedlab", "run"] or knob["example"].count(key + "=") != 1:
        print(key, "has no example:", knob["example"])
        continue
    at = words.index("--events")
    runs.setdefault((words[2], *words[4:at]), []).append((knob, words[3], words[at + 1]))
for (base, *where), knobs in runs.items():
    seeds = "2" if where[where.index("--workers") + 1] == "1" else "4"
    once = ["--reps", seeds, "--iterations", "1", "--warmup", "0", "--format", "json"]
    events = ["--events", ",".join({event: 1 for knob, setting, named in knobs for event in named.split(",")})]
    ran = subprocess.run([program, "run", base] + [k[1] for k in knobs] + where + events + once, capture_output=True, text=True)
    if ran.returncode:
        print(ran.args, ran.stderr)
        continue
    sides = {}
    for record in json.loads(ran.stdout)["records"]:
        sides.setdefault(record["variant"], []).append({e["name"].split("::")[-1]: e.get("value") for e in record["events"]})
    without, *others = sides.values()
    for (knob, *rest), side in zip(knobs, others, strict=True):
        for event in knob["moves"]:
            one, other = ([counts[event] for counts in s] for s in (without, side))
            if not (max(one) < min(other) or max(other) < min(one)):
                print(knob["key"], "does not move", event, one, other, "in", knob["example"])
print("checked", sum(1 for k in seen.values() if k["moves"]))
EOF
cp moves out
check each_knob_moves_all_that_it_names [ "$(grep -cE '^checked [4-9][0-9]$' moves) $(wc -l <moves)" = '1 1' ]

# Wrong names, completion, colour ---------------------------------------------------------------

misuse near_variant '"gmp"' -- list gpm
misuse near_topic '"variants"' -- list variant
misuse near_event '"VICTIM_PROBES"' -- list VICTIM_PROBE
misuse near_machine '"sim:desktop8"' -- list desktop8
misuse far_off_name 'valid: all, variants, presets, workloads, knobs, events' -- list qqqqqqqqqqqq
misuse settings_are_no_name 'valid is a name without, "gmp"' -- list gmp,tick=4
misuse two_names 'one topic or name at a time' -- list knobs events
misuse unknown_format table -- list --format tabel
run list --format words
check words_have_all_kinds shows 'topic knobs' 'variant gmp,runnext=off' 'workload fib' 'knob tick' 'event STEALS' 'machine sim:desktop8'
check words_are_there_once [ -z "$(sort out | uniq -d)" ]
tty() { # VARIABLE=VALUE...: out is what a terminal gets of `list gmp`
    env -u NO_COLOR TERM=xterm "$@" python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$schedlab" list gmp >out 2>err </dev/null
}
tty A=1
check headings_are_bold_on_a_terminal contains out $'\033[1mgmp: a variant'
tty NO_COLOR=1
check unless_somebody_wants_no_colour [ "$(grep -c $'\033' out)" = 0 ]
run list gmp
check and_nowhere_else [ "$(grep -c $'\033' out)" = 0 ]
finish
