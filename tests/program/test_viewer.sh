#!/bin/bash
# test_viewer.sh - the page of a trace as headless Chromium has it, by clicks, keys and links: after each event it has what the table
# of steps has.
#
#     tests/program/test_viewer.sh build/schedlab
#
# Prints TAP. Needs the program, chromium, tsc and python3.
. "$(dirname "$0")/../tap.sh"

. "$tree/tests/support/browse.sh"

# with_test FILE: the page with this script behind its own; what it finds is JSON in <pre id="found">.
with_test() {
    sed -e '$d' "$1" >tested.html
    printf '</script><script>\n%s\n</script></body></html>\n' "$(cat test.js)" >>tested.html
}

cat >test.js <<'END'
(() => {
const run = page.lead.run, tell = (id) => id ? run.name(id) : null;
const lanes = () => Array.from({length: run.lanes}, (_, lane) => {
    const m = run.mOf(lane);
    return {runs: m < 0 ? null : tell(run.top(m)), runnext: tell(run.next[lane]), queue: run.queues[1 + lane].map(tell),
        tasks: m < 0 ? null : run.queues[1 + run.lanes + m].map(tell)};
});
const all = () => ({lanes: lanes(), global: run.queues[0].map(tell)});
const press = (key, options) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, ...options}));
const found = {opened: location.hash, at: run.at + 1, followed: page.followed, texts: run.texts.length};
found.boxes_opened = [page.input('ms').checked, page.input('arrows').checked];
press(' ');
found.played = [page.playing];
page.input('speed').value = '60';
page.input('speed').dispatchEvent(new Event('change'));
found.played.push(page.playing);
press(' ');
found.played.push(page.playing);
const fold = page.lead.root.querySelector('details');
found.folds = ['', 'beforeprint', 'afterprint'].map((event) => { if (event) dispatchEvent(new Event(event)); return fold.open; });
found.meanings = Object.fromEntries([...page.lead.root.querySelectorAll('dt')].map((word) => [word.textContent, word.nextSibling.textContent]));
found.forwards = [];
for (let i = 0; i < run.count; i++) { page.goTo(i); found.forwards.push(all()); }
found.end = run.at + 1;
found.same = true;
for (let i = run.count - 1; i >= 0; i--) {
    page.goTo(i);
    found.same = found.same && JSON.stringify(all()) === JSON.stringify(found.forwards[i]);
}
found.words = Array.from({length: run.count}, (_, i) => run.words(i));
found.names = Array.from({length: run.count}, (_, i) => run.g[i] ? run.name(run.g[i]) : '');
document.getElementById('ahead').click();
document.getElementById('ahead').click();
found.clicked = run.at + 1;
press('ArrowRight', {shiftKey: true});
press('ArrowLeft');
found.pressed = run.at + 1;
press('f');
found.follows = page.followed;
press('n');
found.next = run.g[run.at];
press('End');
found.last = run.at + 1;
document.getElementById('find').value = 'no such words';
document.getElementById('next').click();
found.unfound = page.lead.say.textContent;
document.getElementById('find').value = 'ended';
document.getElementById('next').click();
found.ended = run.words(run.at);
const [from, to] = [page.lead.from, page.lead.to];
found.searches = ['g', 'g3', '3', 'main', 'created g', 'd g1', 'put', 'g1 ', 'g1 into', 'g3.1', 'a', 'n', 'spins', '0', 'z', '.', 'fib(2)', 'spawned fib', 'd fib(', '(2'].map((asked) => {
    const finder = run.finder(asked), is = (id) => [asked, `g${asked}`].includes(run.name(id).toLowerCase());
    const wrong = [...Array(run.count).keys()].filter((i) => finder.fits(i) !== (run.words(i).toLowerCase().includes(asked) || (run.g[i] > 0 && is(run.g[i]))));
    return [asked, wrong.length, [...Array(run.count).keys()].filter(finder.fits).length];
});
page.lead.show(0.4 * run.last, 0.6 * run.last);
const [panned] = [page.lead.from];
press('d');
found.right_by = (page.lead.from - panned) / (page.lead.to - page.lead.from);
press('a');
found.back_by = (page.lead.from - panned) / (page.lead.to - page.lead.from);
page.lead.show(from, to);
press('+');
found.closer = (page.lead.to - page.lead.from) / (to - from);
found.woken = [...Array(run.gs).keys()].flatMap((id) => run.life(id)).map((part) => part[3]).filter((why) => why.startsWith('woken by ')).sort();
found.states = run.life(3).map((part) => part[2]);
found.arrows = run.arrows[4].reduce((sum, steal) => sum + steal, 0);
found.stops = page.stops.map((stop) => stop.says);
found.steps = [...run.hidden.keys()].filter((i) => !run.hidden[i]);
found.note = document.querySelector('.note').textContent;
found.ns = [...run.ns];
found.lines = Array.from({length: run.count}, (_, i) => {
    page.goTo(i);
    const at = run.lastLine(i), code = at < 0 ? null : run.source.functions[run.source.sites[run.site[at] - 1][1]];
    const line = at < 0 ? 0 : run.source.sites[run.site[at] - 1][0];
    return at < 0 ? null : [at === i, code.file, code.name, line, code.text.split('\n')[line - code.first]];
});
found.source = page.views.map((view) => { page.goTo(5); view.tellSource(5); return view.source.textContent; });
found.marks = run.marks.map(([, kinds, lanes]) => [...kinds].map((kind, k) => [kind, lanes[k]]));
found.waiting = run.services.map((_, k) => [...run.lengths[run.lanes + 1 + k][1]]);
found.legend = page.lead.legend().textContent;
found.whos = Array.from({length: run.count}, (_, i) => run.who(i));
found.others = page.views.map((view) => view.run.at);
found.parting = page.views.map((view) => page.parts < 0 ? '' : view.run.words(page.partsOf(view.run)));
if (page.parts >= 0) page.goTo(page.parts - 2);
found.moved = page.views.map((view) => view.run.at - Math.max(page.partsOf(view.run), 0));
page.render(); /* the browser would, in its own time */
found.hash = location.hash;
found.say = page.lead.say.textContent;
found.boxes = document.querySelectorAll('.p').length;
found.places = Array.from({length: run.count}, (_, i) => {
    page.goTo(i);
    page.lead.tell();
    return [...page.lead.ps.querySelectorAll('.p')].slice(0, run.lanes).map((box) => [box.querySelectorAll('.cells .cell.slot:not(.free)').length,
        box.querySelectorAll('.cells .cell.slot.free').length, box.querySelectorAll('.cells .cell:not(.slot):not(.free)').length, box.querySelectorAll('.cells .cell.free:not(.slot)').length]);
});
found.corners = page.views.map((view) => [view.canvas.getBoundingClientRect().left, view.canvas.getBoundingClientRect().top]);
document.body.style.width = '380px'; /* as on a phone */
document.querySelector('.now').style.gridTemplateColumns = '1fr';
found.right = Math.max(...[...document.querySelectorAll('.now, .now > *, .p, .source pre')].map((box) => box.getBoundingClientRect().right));
page.render();
found.labels = [1, 0.6, 0.35, 0.2, 0.1].map((part) => { /* [left, right] of each label of the time axis */
    const put = CanvasRenderingContext2D.prototype.fillText, labels = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const half = this.measureText(text).width / 2;
        if (y < 12) labels.push([x - half, x + half, text]);
    };
    page.lead.show(0, part * run.last);
    page.lead.draw();
    CanvasRenderingContext2D.prototype.fillText = put;
    return labels;
});
const tall = page.lead.height();
press('m');
found.taller = page.lead.height() - tall;
page.lead.draw();
found.threads = run.states.map(([begins, ends, states]) => [...begins].map((begin, i) => [begin, ends[i], run.stateName(states[i])]));
press('m');
found.again = page.lead.height() === tall;
const pre = document.createElement('pre');
pre.id = 'found';
pre.textContent = JSON.stringify(found);
document.body.append(pre);
})();
END

# same_as_steps: every lane after every event is as in the table of steps.
same='len(f["forwards"]) == len(j["steps"]) and all(
    all(a["runs"] == b["runs"] and a["runnext"] == b["runnext"] and a["queue"] == b["queue"] and
        (a["tasks"] is None or a["tasks"] == b["tasks"]) for a, b in zip(x["lanes"], s["lanes"])) and
    x["global"] == s["global"] for x, s in zip(f["forwards"], j["steps"]))'
# marks_are_those: sleeps, waits for I/O and what sysmon does are as many as in the table, and each wait ends.
marks_are_those='(lambda marks, of: marks(0, 0) == of("PARKED", "(sleep)") and marks(0, 1) + marks(0, 2) == of("READIED", "is over)") and
    marks(1, 0) == of("PARKED", "(reading)") + of("PARKED", "(writing)") and marks(1, 1) == of("READIED", "(I/O)") + of("READIED", "(injected)") and
    len(f["marks"][2]) == sum(s["m_self"] < 0 for s in j["steps"]) == f["whos"].count("sysmon") and
    all(not w or (w[-1] == 0 and min(w) >= 0) for w in f["waiting"]))(
    lambda row, kind: [m[0] for m in f["marks"][row]].count(kind),
    lambda event, end: sum(s["event"] == event and s["text"].endswith(end) for s in j["steps"]))'
# wakers_are_those: each goroutine that another one wakes says which, and where.
wakers_are_those='f["woken"] == sorted("woken by %s%s" % (ran + " on " if ran and ran != s["g"] else "", s["who"])
    for s in j["steps"] if s["text"].endswith("(woken)")
    for ran in [s["lanes"][int(s["who"][1:])]["runs"] if s["who"][0] == j["lane"] else None])'
for what in "gmp order,n=20,mode=steal" "gmp,ring=4 order,n=12" "perm spawn,n=30" "tasksteal fib,n=6" "contsteal,frames=pooled fib,n=6" \
    "gmp calls,n=2,sleep_ns=1000000" "gmp timers,n=6,ns=100000" "gmp pipes,n=4" "gmp slice,chunks=20000" "grq pingpong,rounds=10" "kthread spawn,n=3"; do
    name=$(tr -c 'a-z0-9\n' _ <<<"$what")
    "$schedlab" trace $what --workers 2 --format page --output run.html 2>err
    "$schedlab" trace $what --workers 2 --whole --format json --output steps.json 2>err
    with_test run.html
    browse tested.html
    check "console_is_silent_$name" test ! -s said
    check "states_are_those_of_the_steps_$name" found "$same"
    check "going_back_undoes_all_$name" found 'f["same"]'
    check "lines_change_no_time_$name" found '[round(1000 * ns) for ns in f["ns"]] == [s["when_ps"] - j["steps"][0]["when_ps"] for s in j["steps"]]'
    check "marks_are_those_of_the_steps_$name" found "$marks_are_those"
    check "wakers_are_those_of_the_steps_$name" found "$wakers_are_those"
done
"$schedlab" trace gmp order,n=20,mode=steal --workers 2 --format page --output run.html 2>err
"$schedlab" trace gmp order,n=20,mode=steal --workers 2 --whole --format json --output steps.json 2>err
with_test run.html
browse 'tested.html#e=30&g=5&m=1&a=0'
check a_link_opens_its_event found 'f["at"] == 30 and f["followed"] == 5'
check a_link_shows_its_lanes_and_arrows found 'f["boxes_opened"] == [True, False] and "&m=1&a=0" in f["hash"]'
check the_speed_changes_while_it_plays found 'f["played"][0] and f["played"][1] and f["played"][0] != f["played"][1] and f["played"][2] == 0'
check the_words_of_events_have_meanings found '{"created", "readied", "put", "took", "ran", "ended", "stole", "spin"} <= set(f["meanings"]) and all(f["meanings"].values()) and "parked" not in f["meanings"]'
check words_are_unfolded_on_paper found 'f["folds"] == [False, True, False]'
check the_legend_tells_what_is_drawn found '"what each worker (P) runs; yellow: it spins" in f["legend"] and "from a queue that is stolen from" in f["legend"]'
check clicks_step found 'f["clicked"] == 3'
check keys_step found 'f["pressed"] == 12'
check a_goroutine_is_followed found 'f["follows"] == 0 and f["next"] >= 0'
check the_end_is_a_key found 'f["last"] == len(f["forwards"])'
check what_is_not_there_is_said found 'f["unfound"].startswith("No event fits")'
check words_are_found found '"ended" in f["ended"]'
check searches_find_what_is_told found 'all(wrong == 0 for _, wrong, _ in f["searches"]) and {asked for asked, _, n in f["searches"] if n} >= {"g3", "main", "created g", "a"}'
check keys_pan_by_a_quarter found 'abs(f["right_by"] - 0.25) < 0.01 and abs(f["back_by"]) < 0.01'
check plus_goes_closer found '0.4 < f["closer"] < 0.6'
check goroutines_have_the_names_of_the_program found '"main" in f["names"] and "G19" in f["names"] and f["words"] == [s["text"] for s in j["steps"]]'
check a_steal_says_how_many_of_how_many grep -qE 'stole [0-9]+ of the [0-9]+ in the queue of P0' run.html
check what_main_starts_has_its_line found 'all(f["lines"][i][0] and "go(order_member_main" in f["lines"][i][4]
    for i, s in enumerate(j["steps"]) if s["event"] == "CREATED" and s["text"] != "created main" and i > 8)'
check lines_are_those_of_the_source found 'all(x[4] == open("'"$tree"'/" + x[1]).read().split("\n")[x[3] - 1] for x in f["lines"] if x)'
check what_the_scheduler_does_has_no_line found 'f["lines"][0] is None'
check labels_of_times_stand_apart found 'all(len(labels) > 1 and all(a[1] + 4 < b[0] for a, b in zip(labels, labels[1:])) for labels in f["labels"])'
check it_fits_a_phone found 'f["right"] <= 380'
check labels_of_times_differ found 'all(len({label[2] for label in labels}) == len(labels) for labels in f["labels"])'
check the_line_is_shown found '"order_run_beside_blocker(), workloads/order.c:" in f["source"][0] and "P0 is here" in f["source"][0]'
check a_life_has_its_states found 'f["states"][0] == "runnable" and "running" in f["states"]'
check steals_are_arrows found 'f["arrows"] > 0'
check the_address_has_the_state found 'f["hash"].startswith("#e=") and "&z=" in f["hash"]'
check each_worker_has_a_box found 'f["boxes"] == 3'
check an_empty_runnext_is_drawn found 'all(full + free == 1 and full == bool(s["lanes"][k]["runnext"]) for x, s in zip(f["places"], j["steps"]) for k, (full, free, *_) in enumerate(x))'
check so_are_free_cells_of_queues found '{used + free for x in f["places"] for *_, used, free in x} == {max(len(lane["queue"]) for s in j["steps"] for lane in s["lanes"])}'
"$schedlab" trace gmp,runnext=off order,n=6 --workers 1 --format page --output run.html 2>err
with_test run.html
browse tested.html
check without_runnext_there_is_no_slot found 'all(full + free == 0 for x in f["places"] for full, free, *_ in x)'
# Lanes of timers, the poller and sysmon have marks with words, and say what no event tells.
shows() {
    "$schedlab" trace $1 --format page --output run.html 2>err
    with_test run.html
    browse tested.html
}
shows "gmp pingpong,rounds=3 --workers 1"
check a_life_says_who_woke_it found '{"woken by G0 on P0", "woken by G1 on P0"} <= set(f["woken"])'
for machine in sim:desktop8 native; do
    [ $machine = native ] && [ ! -x "${schedlab%/*}/schedlab-trace" ] && continue
    shows "gmp spawn,n=8 --workers 1 --warmup 2 --machine $machine"
    check "a_page_opens_on_the_call_after_those_that_warm_up_${machine%:*}" found '(f["names"].index("G16") == f["at"] - 1 and
        "Calls to warm up come first: the one after them begins at" in f["note"])'
done
shows "gmp spawn,n=8 --workers 1 --warmup 2 --most 40"
check a_call_that_was_not_kept_is_told grep -q 'the 40 events that were kept (--most) end before the call after --warmup=2 begins' err
check its_page_says_so found '"--most keeps more" in f["note"]'
for part in --whole '--from 0'; do
    shows "gmp spawn,n=8 --workers 1 $part"
    check "a_page_of_the_whole_opens_on_start_up_${part//[- ]/_}" found 'f["at"] == 1 and "opens on" not in f["note"]'
done
shows "gmp timers,n=12,ns=200000 --workers 2"
check a_sleep_found_by_another_worker_is_marked found '[2, -1] in f["marks"][0] and "◆ it is over, found by another worker" in f["legend"]'
check rows_without_events_are_told found '"No event of poller or sysmon in this run." in f["legend"]'
shows "gmp slice,chunks=40000 --workers 1"
check sysmon_asks_a_worker found 'f["marks"][2] == [[3, 0]] * 2 and "A look that changes nothing leaves no event." in f["legend"]'
shows "gmp calls,n=1,measure=handoff,sleep_ns=1000000 --workers 1"
check a_thread_goes_into_a_call_without_its_p found '[[part[2] for part in m] for m in f["threads"]] == [["P0", "P0, in a call", "in a call", "P0"], ["P0", "P0, spins", "spins", "parked"]]'
check lanes_of_ms_come_and_go_with_m found 'f["taller"] > 32 and f["again"]'
check sysmon_takes_a_p_and_starts_a_thread found 'f["marks"][2] == [[2, 0], [0, -1]]'
shows "gmp,netpoll=thread pipes,n=3 --workers 1"
check the_thread_of_the_poller_is_told found '"The thread of netpoll=thread has no M either" in f["legend"]'
"$schedlab" trace gmp uneven,tasks=300,rounds=20000,shape=tree --workers 3 --only stolen,P1 --whole --format json --output steps.json 2>err
shows "gmp uneven,tasks=300,rounds=20000,shape=tree --workers 3 --only stolen,P1"
check a_page_steps_through_what_is_chosen found 'f["steps"] == [s["index"] for s in j["steps"]] and f["clicked"] == f["steps"][1] + 1'
check it_says_so found '"Steps are those of stolen,P1 only; the lanes have all." in f["note"]'
"$schedlab" diff gmp gmp,runnext=off order,n=12 --workers 2 --format page >run.html 2>err
check a_difference_is_a_failure_still [ $? = 1 ]
rm steps.json
with_test run.html
browse tested.html
check console_is_silent_of_two test ! -s said
check two_runs_stand_where_they_part found 'f["at"] == 6'
check they_lie_side_by_side found 'f["corners"][0][0] + 400 < f["corners"][1][0] and f["corners"][0][1] == f["corners"][1][1]'
check both_are_there found 'len(f["others"]) == 2'
check the_sentence_names_goroutines grep -q 'They part at event 6: gmp put G0 into runnext on P0' dom
"$schedlab" diff gmp gmp,runnext=off order,n=12 --workers 2 --warmup 1 --format page >run.html 2>err
with_test run.html
browse tested.html
check two_runs_part_in_the_call_after_those_that_warm_up found 'f["parting"] == ["put G12 into runnext", "put G12 into its own queue"] and f["words"][f["at"] - 1] == f["parting"][0]'
check steps_before_that_are_the_same_in_both found 'f["moved"] == [-2, -2]'
# A search over more events than a slice holds says how far it is, finds what is there, and ends where the reader goes elsewhere.
mv test.js all.kept
cat >test.js <<'END'
const found = {}, {say, run} = page.lead;
const ask = (words) => { document.getElementById('find').value = words; return page.search(1); };
const pre = document.createElement('pre');
pre.id = 'found';
document.body.append(pre);
(async () => {
page.sliceMs = -1;
page.goTo(0);
let searching = ask('no such words');
found.tells = say.textContent;
await searching;
found.unfound = say.textContent;
await ask('ended g1999');
found.at = run.words(run.at);
searching = ask('no such words');
page.goTo(7);
await searching;
page.render();
found.left = [run.at, say.textContent];
searching = ask('no such words');
await ask('created main');
await searching;
page.render();
found.said = say.textContent;
pre.textContent = JSON.stringify(found);
})();
END
shows "gmp spawn,n=2000 --workers 2"
mv all.kept test.js
check console_is_silent_of_a_long_search test ! -s said
check a_long_search_says_how_far_it_is found 're.fullmatch("Searching for .no such words.: [0-9]*0 % of the events have been looked at.", f["tells"])'
check a_long_search_comes_to_its_end found 'f["unfound"] == "No event fits \"no such words\"." and f["at"] == "ended G1999"'
check whoever_goes_elsewhere_ends_a_search found 'f["left"][0] == 7 and not f["left"][1].startswith(("Searching", "No event"))'
check another_search_ends_the_one_before found '"created main" in f["said"]'
# Real threads, whose trace has no lines; the events are those of their own run.
if [ -x "${schedlab%/*}/schedlab-trace" ]; then
    for what in "gmp uneven,tasks=60,rounds=4000" "gmp pipes,n=4" "perm spawn,n=30" "tasksteal fib,n=8"; do
        name=native_$(tr -c 'a-z0-9\n' _ <<<"$what")
        shows "$what --workers 2 --machine native"
        check "console_is_silent_$name" test ! -s said
        check "going_back_undoes_all_$name" found 'f["same"] and f["end"] == len(f["names"])'
        check "it_shows_what_main_runs_$name" found '"_run(), workloads/" in f["source"][0] and "Real threads record no lines" in f["source"][0]'
        check "waits_end_$name" found 'all(not w or min(w) >= 0 for w in f["waiting"])'
    done
else
    echo "# real threads are not looked at: make trace builds schedlab-trace"
fi
# A program's goroutines have its names.
printf 'schedlab-program 1\ngoroutine main main.main\n  go store\n  wait it\n  end\ngoroutine store main.store\n  run 50us\n  wake main\n  end\n' >named.slp
"$schedlab" trace gmp replay,file=named.slp --workers 2 --format page --output run.html 2>err
rm -f steps.json
with_test run.html
browse tested.html
check console_is_silent_of_a_program test ! -s said
check goroutines_have_their_functions found '{"G0 main.main", "G0.0 main.store"} <= set(f["names"])'
check and_in_the_words found 'any("readied G0.0 main.store" in w for w in f["words"])'
check and_are_found_by_both found 'all(wrong == 0 for _, wrong, _ in f["searches"])'
# The textbook's runs stop after each row of its tables.
"$schedlab" trace --replay fib4 --policy continuation --processors 2 >table 2>err
"$schedlab" trace --replay fib4 --policy continuation --processors 2 --format page --output run.html 2>err
rm -f steps.json
with_test run.html
browse tested.html
check console_is_silent_of_a_replay test ! -s said
check it_stops_after_each_row found '[s.split(":")[0] for s in f["stops"]] == ["Row %d" % i for i in range(1, 15)]'
check rows_say_what_the_book_has found '(sum("As in the book." in s for s in f["stops"]) == 8 and
    sum("An erratum of the book." in s for s in f["stops"]) == 2 and
    "T1 fib(1) [c(fib(3))]; T2 c(main)*, 1! [c(fib(4))]. The book has T1 fib(1); T2 c(main)*, 1! [c(fib(4))]. The run: T1 popped" in f["stops"][9])'
# names_are NAME...: in the events, the words, the lanes and the search, and no others. G#2 is the goroutine in which a thief's tasks run.
names_are() {
    found "(set(f['names']) - {'', 'G#2'} == set('$*'.split()) <= set(re.findall(r'fib\\(\\d\\)|main', ' '.join(f['stops']))) and
        {'fib(3)', 'fib(4)'} <= {lane['runs'] for x in f['forwards'] for lane in x['lanes']} and
        not any(re.search(r'\\b[GT]\\d', words) for words in f['words']) and all(wrong == 0 for _, wrong, _ in f['searches']) and
        {asked for asked, _, n in f['searches'] if n} >= {'fib(2)', '(2'})"
}
check names_are_those_of_the_book names_are main 'fib(1)' 'fib(2)' 'fib(3)' 'fib(4)'
check it_says_how_goroutines_are_named grep -q '<p class="note">[^<]*is named by what it computes' dom
check it_has_the_lines_of_fib found 'any(x and x[1] == "workloads/fib.c" for x in f["lines"])'
shows "--replay fib4 --policy task"
check tasks_have_the_names_of_the_book names_are main 'fib(1)' 'fib(2)' 'fib(3)' 'fib(4)'
shows "--replay fib4 --policy continuation --processors 1"
check who_is_called_has_no_name_of_its_own names_are main 'fib(2)' 'fib(3)' 'fib(4)'
for policy in "" "--policy static" "--policy continuation"; do
    "$schedlab" trace --replay fib4 $policy --format page >out 2>err
    check "one_table_is_a_page_${policy//[- ]/_}" [ "$? $(grep -c 'valid: --policy=task, or' err)" = '2 1' ]
done
"$schedlab" trace gmp order,n=3 --format page --output /nowhere/run.html >out 2>err
check a_page_that_cannot_be_written_is_one_line [ "$(wc -l <err)" = 1 ]

check the_scripts_are_sound script_is_sound trace_run trace

finish
