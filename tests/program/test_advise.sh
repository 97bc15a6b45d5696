#!/bin/bash
# test_advise.sh - schedlab advise: how many workers a program can use, and what limits it.
#
#     tests/program/test_advise.sh build/schedlab
#
# The limits of the programs here are known from how they are written. Prints TAP.
. "$(dirname "$0")/../tap.sh"

# run ARGUMENT...: leaves out, err, status.
run() {
    timeout 600 "$schedlab" advise "$@" >out 2>err </dev/null
    status=$?
}

# advised NAME <STEPS: a program of these is judged, with up to 4 workers.
advised() {
    { echo 'schedlab-program 1' && cat; } >"$1.slp"
    run "$1.slp" --machine sim:desktop8 --workers 4
}

# A goroutine after the other: only one worker has something to do.
for i in 1 2 3 4 5 6 7 8; do
    printf 'goroutine g%d\n%s\nrun 100us\n%s\nend\n' $i "$([ $i = 1 ] || echo wait)" "$([ $i = 8 ] || echo wake g$((i + 1)))"
done | advised chain
check a_chain_is_limited_by_its_dependencies grep -q '^limit  *dependency' out
check more_workers_do_not_help_it grep -q '^workers  *1: more take less' out
check it_is_told_in_ten_lines sh -c '[ $(wc -l <out) -le 12 ]'

for i in $(seq 16); do
    printf 'goroutine g%d\nrun 200us\nend\n' $i
done | advised free
check independent_goroutines_are_limited_by_cores grep -q '^limit  *cores' out
check each_worker_helps_them grep -q '^workers  *4, and more may still help' out
check no_decision_is_their_problem grep -q '^advice .*the scheduler is not the problem' out

for i in $(seq 8); do
    printf 'goroutine g%d\nlock mu\nrun 100us\nunlock mu\nlock mu\nrun 100us\nunlock mu\nend\n' $i
done | advised lock
check one_lock_is_named grep -q '^limit  *lock' out

advised outside <<'END'
goroutine a
poll at 1ms
begin
run 10us
done
end
goroutine b
poll at 5ms
begin
run 10us
done
end
END
check arrivals_from_outside_are_named grep -q '^limit  *outside' out

run "$tree/examples/service.slp" --machine sim:desktop8
check what_no_step_says_is_named grep -q '^limit  *costs' out

# Two connections that are busy for most of the time: a request waits behind the one before it. The second service has
# a client for each connection, which waits for its reply.
for loop in 'rate: 1500' 'think: 200us'; do
    printf 'service: s\nclients: 2\nrequests: 100\n%s\nclasses:\n- name: c\n  steps: [read, call 1ms, write]\n' "$loop" \
        >"${loop%%:*}.yaml"
    "$schedlab" import "${loop%%:*}.yaml" -o "${loop%%:*}.slp" >/dev/null
done
run rate.slp --machine sim:desktop8 --workers 2
check connections_that_are_too_few_are_found grep -qE '^connections    twice as many, .*: p99 -[3-9][0-9] %' out
check they_are_the_advice grep -q '^advice .*twice the connections take' out
check twice_the_arrivals_are_tried grep -qE '^arrivals       twice as fast: p99 \+[0-9]{2,} %' out
run think.slp --machine sim:desktop8 --workers 2
check connections_of_clients_that_wait_are_untold grep -q '^connections    cannot be told: requests come after replies' out
check twice_the_program_is_tried grep -q '^copies         two of the program' out

# Connections as a trace with regions has them: what comes from outside, and requests. One of them is started.
advised own <<'END'
goroutine main
go a
end
goroutine a
lock mu
unlock mu
poll at 1ms
begin
call 2ms
wake b
wait
done
poll at 1100us
begin
lock mu
run 10us
unlock mu
done
send log
end
goroutine b
wait
wake a
poll at 2ms
begin
run 10us
done
poll at 3ms
begin
run 10us
done
receive log
end
END
check connections_of_a_program_are_found grep -qE '^connections    twice as many, .*: p99 [-+][0-9]+ %' out

{ echo schedlab-program 1 && for ((i = 0; i < 128; i++)); do printf 'goroutine g%d main.part\nrun 60us\nend\n' $i; done; } >wide.slp
run wide.slp
check up_to_128_workers_are_tried grep -qE '^time .* on 64, [0-9.]+ .?.s on 128$' out

run free.slp --machine sim:desktop8 --workers 2 --format json
check all_cases_are_in_json python3 -c 'import json
advice = json.load(open("out"))
assert [case["workers"] for case in advice["ladder"]] == [1, 2] and advice["workers"] == 2 and len(advice["changes"]) == 13
assert advice["connections"] == 0 and [load["name"] for load in advice["loads"]] == ["copies"]
assert all("absent" in case or case["makespan_ns"] > 0 for case in advice["changes"])
assert 1.8 < advice["ladder"][0]["makespan_ns"] / advice["ladder"][1]["makespan_ns"] < 2.2'
cp out first
run free.slp --machine sim:desktop8 --workers 2 --format json
check an_advice_is_the_same_twice cmp -s first out

run lock.slp --machine sim:desktop8 --workers 4 --format page -o lock.html
cp out said
run lock.slp --machine sim:desktop8 --workers 4 --format page
check a_page_goes_to_its_file_or_standard_output sh -c '[ ! -s said ] && cmp -s lock.html out'
run lock.slp --machine sim:desktop8 --workers 4
check a_page_has_the_lines_and_a_figure_of_each_kind python3 -c 'import html, re
page = open("lock.html").read()
for line in open("out").read().splitlines()[1:]:
    name, text = line[:14].strip(), line[15:]
    if len(line.split()[0]) <= 14:
        assert f"<dt>{html.escape(name)}</dt>\n<dd>{html.escape(text)}</dd>" in page, line
assert page.count("<figure>") == 3 and page.count("class=\"chance\"") == 14
assert len(re.findall("class=\"k[0-6]\"", page)) >= 7 and "for locks longer than for workers" in page'
check a_page_is_whole_html python3 -c 'import html.parser
open_tags, void = [], {"meta", "line", "rect", "circle", "br"}
class Reader(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes): tag in void or open_tags.append(tag)
    def handle_endtag(self, tag): tag in void or (lambda was: was == tag or exit(f"{tag} ends {was}"))(open_tags.pop())
Reader().feed(open("lock.html").read())
assert not open_tags, open_tags'
check a_page_fetches_nothing_and_has_no_script sh -c '! grep -qiE "<script|https?:|url\(|@import|src=|<link" lock.html'

echo 'schedlab-program 1
goroutine a
wait
end' >wrong.slp
misuse a_wrong_program_is_named 'wrong.slp:3: a wait that nobody wakes' -- wrong.slp
misuse a_program_has_to_be_given 'which program?' --
misuse only_pages_go_to_files 'only --format=page writes a file' -- free.slp -o free.html
misuse real_machines_give_no_advice 'comes from a simulated machine' -- free.slp --machine native
finish
