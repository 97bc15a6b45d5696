#!/bin/bash
# test_report_clicks.sh - the report as headless Chromium has it, by clicks, keys and links: what the reader filters, orders and pins,
# and that all numbers with another baseline are those of compare.
#
#     tests/program/test_report_clicks.sh build/schedlab
#
# Prints TAP. Needs the program, chromium, tsc, eslint and python3.
. "$(dirname "$0")/../tap.sh"

. "$tree/tests/support/browse.sh"

cat >small.yaml <<'END'
name: small
title: 'Who? </script><b> `x`'
reps: 8
min_time_ms: 0
groups:
  - id: queues
    question: 'Is "one" < many & </script>?'
    baseline: gmp
    machine: "sim:desktop8"
    variants: [grq, perm, gmp]
    workloads: ["fib,n=12", "spawn,n=200"]
    workers: [2, 4]
  - id: waits
    question: Who waits longest?
    baseline: grq
    figure: latency
    machine: "sim:desktop8"
    variants: [grq, gmp]
    workloads: ["pingpong,rounds=50,pairs=4,latency=on"]
    workers: [2]
  - id: counts
    question: What do they do?
    baseline: gmp
    figure: events
    machine: "sim:desktop8"
    variants: [grq, gmp]
    workloads: ["fib,n=12"]
    workers: [4]
  - id: plain
    question: What is left of plain C?
    baseline: serial
    machine: "sim:desktop8"
    variants: [serial, gmp, "gmp,tick=7"]
    workloads: ["fib,n=11"]
    workers: [1]
END
"$schedlab" sweep small.yaml --seed 3 --figure none --results results >out 2>err
run=$(tail -n 1 out)

# with_test: the page of the run with test.js behind its own script; what that finds is JSON in <pre id="found">.
with_test() {
    sed 's|</body></html>$||' "$run/report.html" >tested.html
    printf '<script>\n(() => {\nconst found = {};\n%s\n%s\n})();\n</script></body></html>\n' "$(cat test.js)" \
        'const pre = document.createElement("pre"); pre.id = "found"; pre.textContent = JSON.stringify(found); document.body.append(pre);' >>tested.html
}

cat >common.js <<'END'
const data = JSON.parse(document.getElementById('pins').textContent);
const rows = () => [...document.querySelectorAll('#group-queues tr[data-cell]')].filter((row) => !row.hidden)
    .map((row) => ({...row.dataset, over: row.querySelector('.over').textContent, range: row.querySelector('.over-range').textContent}));
const type = (key, value) => {
    const field = document.getElementById(`filter-${key}`);
    field.value = value;
    field.dispatchEvent(new Event('input', {bubbles: true}));
};
const card = document.getElementById('answer-queues');
const marks = () => [...card.querySelectorAll('.ratios a')].filter((mark) => mark.style.display !== 'none' && !mark.closest('tr').hidden)
    .map((mark) => ({cell: mark.getAttribute('href').replace('#cell-', ''), x: parseFloat(mark.querySelector('use').getAttribute('x')), untold: mark.classList.contains('untold')}));
const press = (key, on = document.body) => on.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
const text = (selector) => (document.querySelector(selector) || {textContent: ''}).textContent;
END

# Filters, baselines, links -----------------------------------------------------------------------------------------

cat common.js - >test.js <<'END'
found.folds_open = document.querySelectorAll('.card[open]').length;
found.bottoms = [...document.querySelectorAll('.answer')].map((answer) => answer.getBoundingClientRect().bottom + scrollY);
found.lines = [...document.querySelectorAll('.card .line')].filter((line) => line.getClientRects().length).map((line) => line.getClientRects()[0].height / parseFloat(getComputedStyle(line).lineHeight));
found.told = [...document.querySelectorAll('.card > summary')].map((fold) => [fold.querySelector('.line').textContent, !!fold.querySelector('.sure'), fold.querySelectorAll('.glance use').length]);
const glance = () => [...card.querySelectorAll('.glance g')].filter((lane) => lane.style.display !== 'none')
    .flatMap((lane) => [...lane.querySelectorAll('use')].filter((use) => use.style.display !== 'none')
        .map((use) => [lane.dataset.variant, parseFloat(use.getAttribute('x')), parseFloat(use.getAttribute('y'))]));
found.glance_words = [...card.querySelectorAll('.glance text')].map((text) => text.textContent);
found.glance_line = parseFloat(card.querySelector('.glance .one').getAttribute('d').slice(1));
found.glance_bars = card.querySelector('.glance g[data-variant=grq] path').getAttribute('d');
found.glance = glance();
found.opened = rows();
found.marks = marks();
document.querySelector('#group-queues tr[data-variant=grq] button.pin').click();
found.pinned = rows();
found.moved = marks();
found.glance_moved = glance();
found.glance_line_moved = parseFloat(card.querySelector('.glance .one').getAttribute('d').slice(1));
found.glance_words_moved = [...card.querySelectorAll('.glance text')].map((text) => text.textContent);
found.caption = card.querySelector('caption').textContent;
found.select = document.getElementById('pin-queues').value;
found.hash = location.hash;
document.querySelector('#group-queues tr[data-variant=gmp][data-workers="2"] button.workers').click();
found.across = rows();
found.across_select = document.getElementById('pin-queues').value;
found.across_head = text('#group-queues .pinnable thead th:nth-child(5)');
found.across_hash = location.hash;
found.command = text('#group-queues .pinned-note code');
type('workload', 'fib');
type('workers', '2');
found.filtered = rows();
found.filtered_marks = marks();
found.filtered_items = [...card.querySelectorAll('.answers li')].filter((item) => !item.hidden).length;
found.hidden_cards = [...document.querySelectorAll('.answer')].filter((answer) => answer.hidden).map((answer) => answer.id);
found.note = !card.querySelector('.filtered').hidden;
found.shown = document.getElementById('shown').textContent;
found.sections = [...document.querySelectorAll('section[id^=group-]')].filter((section) => !section.hidden).map((section) => section.id);
found.folds = [...document.querySelectorAll('#cells details')].filter((fold) => !fold.hidden).length;
type('variant', 'perm | GRQ');
found.either = rows();
type('variant', 'perm');
found.glance_filtered = glance();
found.keys_shown = [...card.querySelectorAll('.key>span')].filter((item) => !item.hidden).map((item) => item.dataset.variant);
found.title = [document.querySelector("h1").textContent, document.title];
found.question = card.querySelector('h3').textContent;
document.querySelector('.view-bar button').click();
found.reset = rows();
found.reset_hash = location.hash;
found.scripts = document.querySelectorAll('h1 b, h3 b').length;
END
with_test
browse tested.html
check console_is_silent test ! -s said
check questions_are_folded_at_first found 'f["folds_open"] == 0 and len(f["told"]) == 4'
check three_fit_a_screen found 'sum(bottom <= 900 for bottom in f["bottoms"]) >= 3'
check each_is_told_in_one_line found 'all(0.5 < lines < 1.5 for lines in f["lines"]) and all(line.endswith(".") and len(line) < 120 for line, *_ in f["told"])'
check each_has_a_small_chart found '[n for *_, n in f["told"]] == [6, 2, 2, 3] and [sure for _, sure, _ in f["told"]] == [True, True, False, True]'
check its_rows_are_workloads_by_short_names found 'f["glance_words"][:2] == ["fib", "spawn"] and len({y for *_, y in f["glance"]}) >= 2'
check its_line_at_1_has_sides_and_numbers found '{"\u2190 slower", "than gmp", "faster \u2192", "1\u00d7"} <= set(f["glance_words"]) and len(f["glance_words"]) <= 8'
check the_baseline_is_on_the_line found '[x for variant, x, _ in f["glance"] if variant == "gmp"] == [f["glance_line"]] * 2'
check its_marks_have_intervals found 'f["glance_bars"].count("M") == 2'
check a_pin_moves_the_small_chart found '[x for variant, x, _ in f["glance_moved"] if variant == "grq"] == [f["glance_line_moved"]] * 2 and f["glance_moved"] != f["glance"]'
check and_names_the_pin found '"than grq" in f["glance_words_moved"]'
check the_small_chart_is_filtered found '[variant for variant, *_ in f["glance_filtered"]] == ["perm"]'
check rows_are_all_there_at_first found 'len(f["opened"]) == 12 and f["reset"] == f["opened"] and f["reset_hash"] == ""'
check a_click_pins found 'f["select"] == "grq" and all((x["over"] == "1.00×") == (x["range"] == "baseline") == (x["variant"] == "grq") for x in f["pinned"])'
check a_pin_moves_the_marks found 'len(f["moved"]) == 6 and f["moved"] != f["marks"] and "multiple of grq" in f["caption"]'
check a_mark_at_the_baseline_is_not_hollow found 'not [m for m, x in zip(f["moved"], [0, 1, 2] * 2) if x == 0][0]["untold"]'
check the_address_has_the_pin found '"pin.queues=grq" in f["hash"]'
check a_cell_of_other_workers_is_pinned found '(f["across_select"] == "gmp@2" and f["across_head"] == "over gmp at 2 workers" and "pin.queues=gmp%402" in f["across_hash"] and
    sum(x["range"] == "baseline" for x in f["across"]) == 2 and len(f["across"]) == 12)'
check the_command_for_the_same_numbers_is_told found '"compare --each" in f["command"] and f["command"].count(":group=queues/") == 2 and "variant=gmp/workers=2" in f["command"]'
check rows_are_filtered found 'len(f["filtered"]) == 3 and {x["workload"] for x in f["filtered"]} == {"fib,n=12"} and f["shown"] == "3 of 19 rows, 1 of 4 questions"'
check marks_are_those_of_the_filtered_workers found '{m["cell"] for m in f["filtered_marks"]} == {x["cell"] for x in f["filtered"]}'
check answers_are_filtered found 'f["filtered_items"] == 1 and f["hidden_cards"] == ["answer-waits", "answer-counts", "answer-plain"] and f["note"]'
check empty_parts_are_hidden found 'f["sections"] == ["group-queues"] and f["folds"] == 1'
check one_of_several_is_enough found '[x["variant"] for x in f["either"]] == ["grq", "perm"]'
check the_key_is_filtered found 'f["keys_shown"] == ["perm"]'
check names_are_no_markup found 'f["title"] == ["Who? </script><b> x", "Who? </script><b> `x`"] and f["question"] == "Is \"one\" < many & </script>?" and f["scripts"] == 0'

# The sign of a difference that is not shown, of each multiple: in the page as it is written, and after a pin.
cat >signs.py <<'END'
import html, json, re, sys
page = open(sys.argv[1] + "/report.html").read()
pins = json.loads(re.search(r'id="pins">(.*?)</script>', page, re.S).group(1))["groups"]["queues"]
found = json.loads(html.unescape(re.search('<pre id="found">(.*?)</pre>', open("dom").read(), re.S).group(1)))
rows = re.findall(r'<tr [^>]*data-cell=.*?</tr>', page.split('id="group-queues"')[1].split("</section>")[0], re.S)
written = {re.search('data-cell="(.*?)"', row).group(1): re.search('class="number over">(.*?)<', row).group(1) for row in rows}
signs = set()
for baseline, over in ("gmp", written), ("grq", {row["cell"]: row["over"] for row in found["pinned"]}):
    for cell, entry in zip(pins["cells"], pins["pins"][baseline][""].split(";")):
        ratio, beside, mark = entry.split(",")
        sign = "~ " if mark in "nw" and beside != "b" else ""
        assert over[cell] == f"{sign}{ratio}×", (cell, over[cell], entry)
        signs.add(sign)
assert signs == {"", "~ "}, signs
END
check what_is_not_shown_has_a_sign python3 signs.py "$run"
browse 'tested.html#view?variant=perm&pin.queues=grq'
check a_link_filters_and_pins found '{x["variant"] for x in f["opened"]} == {"perm"} and [x["over"] for x in f["opened"]] == [x["over"] for x in f["pinned"]]'
browse 'tested.html#view?pin.queues=gmp%402&sort=-median'
check a_link_pins_across_workers found '[(x["cell"], x["over"]) for x in f["opened"]] == [(x["cell"], x["over"]) for x in f["across"]]'

# One address has the pin, the filter and the cell that was opened.
cat common.js - >test.js <<'END'
const opened = () => [...document.querySelectorAll('.cells tr.at')].map((row) => [row.id.replace('cell-', ''), row.closest('details').open]);
found.opened = opened();
found.rows = rows();
found.hash = location.hash;
const ways = {link: '#group-queues tr:not([hidden]) td a.id', mark: '#answer-queues tr:not([hidden]) .ratios a:not([style*=none])', part: 'nav a[href="#cells"]'};
found.ways = Object.entries(ways).map(([way, where]) => {
    const node = document.querySelector(where);
    node.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
    return [way, node.getAttribute('href').replace('#cell-', ''), location.hash, opened()];
});
END
with_test
browse 'tested.html#view?pin.queues=grq&variant=perm'
check a_click_keeps_the_view found '(f["opened"] == [] and [w[0] for w in f["ways"]] == ["link", "mark", "part"] and all("variant=perm" in w[2] and "pin.queues=grq" in w[2] for w in f["ways"]) and
    all(w[2].endswith("&cell=" + w[1]) and w[3] == [[w[1], True]] for w in f["ways"][:2]) and f["ways"][2][2] == f["ways"][1][2])'
cell=$(sed -n 's/.*&amp;cell=\([^"]*\)".*/\1/p' dom)
browse "tested.html#view?variant=perm&pin.queues=grq&cell=$cell"
check a_link_has_pin_filter_and_cell found "f['opened'] == [['$cell', True]] and {x['variant'] for x in f['rows']} == {'perm'} and 'pin.queues=grq' in f['hash'] and 'cell=$cell' in f['hash']"
browse "tested.html#cell-$cell"
check a_link_to_a_cell_opens_it found "f['opened'] == [['$cell', True]]"

# To the digit: every entry of every baseline is what compare says, of the same workers and of others, of rates and of latencies.
cat >digits.py <<'END'
import html, json, re, subprocess, sys
program, run = sys.argv[1:]
groups = json.loads(re.search(r'id="pins">(.*?)</script>', open(run + "/report.html").read(), re.S).group(1))["groups"]
cells = {(f[0], f[7]): (f[1], f[3], f[5 + 1]) for f in (line.split("\t") for line in open(run + "/cells.tsv").read().splitlines()[1:])}
digits = lambda x: "%.*f" % (4 if x < 0.0995 else 0 if x >= 99.95 else 1 if x >= 9.995 else 2, x)
letters = {"faster": "f", "slower": "s", "~": "n", "few": "w"}
def entries_of(group, variant, a, b, metric):
    text = subprocess.run([program, "compare", "--each", f"{run}:group={group}/variant={variant}/workers={a}", f"{run}:group={group}/workers={b}",
        "--metric", metric, "--format", "json"], capture_output=True, text=True, check=True).stdout
    return {(p["variant_b"], p["workload"]): f'{digits(p["ratio"]["ratio"])},{digits(p["ratio"]["lo"])} {digits(p["ratio"]["hi"])},{letters[p["verdict"]]}'
        for p in json.loads(text)["pairs"]}
compared = marks = 0
for group, of in groups.items():
    for metric, pins in ("p99" if "latencies" in of else "throughput", of.get("latencies", of["pins"])), :
        for variant, by_workers in pins.items():
            for pinned, text in by_workers.items():
                for workers in {cells[group, cell][2] for cell in of["cells"]}:
                    if pinned == workers:
                        continue # as without a count
                    said = entries_of(group, variant, pinned or workers, workers, metric)
                    for cell, entry in zip(of["cells"], text.split(";")):
                        own = cells[group, cell]
                        if own[2] == workers and (own[0] != variant or pinned):
                            assert entry == said[own[:2]], (group, variant, pinned, own, entry, said[own[:2]])
                            compared += 1
                            marks += entry[-1] in "fs"
assert compared >= 30 and marks >= 10, (compared, marks)
END
check all_numbers_and_marks_are_those_of_compare python3 digits.py "$schedlab" "$run"

# The first screen has the same, without a script.
cat >screen.py <<'END'
import html, json, re, subprocess, sys
program, run = sys.argv[1:]
page = open(run + "/report.html").read()
card = re.search(r'<article class="answer" id="answer-queues".*?</article>', page, re.S).group(0)
titles = dict(re.findall(r'<title>(.*?): (.*?)</title>', card))
text = subprocess.run([program, "compare", "--each", f"{run}:group=queues/variant=gmp/workers=4", f"{run}:group=queues/workers=4", "--format", "json"],
    capture_output=True, text=True, check=True).stdout
words = {"faster": "faster", "slower": "slower", "~": "none", "few": "few"}
pairs = json.loads(text)["pairs"]
assert len(pairs) == 4
for p in pairs:
    digits = lambda x: "%.*f" % (4 if x < 0.0995 else 0 if x >= 99.95 else 1 if x >= 9.995 else 2, x)
    r = p["ratio"]
    want = f'{digits(r["ratio"])}× ({digits(r["lo"])} to {digits(r["hi"])}), {words[p["verdict"]]}'
    assert titles[f'{p["variant_b"]} on {p["workload"]}'] == want, (titles, want)
assert 'class="says"' in card and "How sure:" in card and "8 samples a cell, 4 workers" in card, card
END
check the_first_screen_has_the_numbers_of_compare python3 screen.py "$schedlab" "$run"

says() { check "$1" grep -qE -- "$2" "$run/report.html"; }
says counts_are_told_in_a_sentence '<p class="says">[A-Z_0-9]+ per (million operations|operation): <b class="name">grq</b> [0-9.<]'
says with_what_is_counted '<p class="note">[A-Z_0-9]+: [a-z][^<]{10,}\.</p>'
says plain_c_is_the_measure_of_its_question '<p class="says">Beside <b class="name">serial</b>: <b class="name">gmp</b> 0\.[0-9]+×'
says plain_c_has_no_trace '<div>No trace: it has no scheduler of this program\.</div>'
check and_nothing_parts_from_it test -z "$(grep -E 'diff <span class="base">serial' "$run/report.html")"

# At hand, in order, by keys --------------------------------------------------------------------------------------------

cat common.js - >test.js <<'END'
const mark = card.querySelector('.ratios a');
mark.dispatchEvent(new MouseEvent('mouseenter'));
found.tip = text('#tip');
found.tip_samples = [...document.querySelectorAll('#tip .strip path[class]')].map((path) => path.getAttribute('d').match(/M/g).length).reduce((a, b) => a + b, 0);
mark.dispatchEvent(new MouseEvent('mouseleave'));
found.tip_gone = document.getElementById('tip').hidden;
press('j');
found.folded = document.activeElement === card.querySelector('summary') && !card.querySelector('details').open;
press('o');
found.first = document.activeElement === card.querySelector('.chart');
press('ArrowRight', document.activeElement);
press('ArrowRight', document.activeElement);
found.stepped = text('#tip');
press('p', document.activeElement);
found.pinned = document.getElementById('pin-queues').value;
found.unfolded = [...card.querySelectorAll('details')].every((fold) => fold.open);
press('Enter', card.querySelector('.chart'));
found.cell = !!document.querySelector('.cells tr.at') && document.querySelector('.cells tr.at').closest('details').open;
press('j');
press('g');
found.part = document.querySelector('#group-waits details.part').open;
press('?');
found.help = text('#keys');
found.help_shown = !document.getElementById('keys').hidden;
press('r');
found.reset = document.getElementById('pin-queues').value;
press('/');
found.focus = document.activeElement.id;
const median = () => [...document.querySelectorAll('#group-queues tbody')].map((body) => [...body.querySelectorAll('tr[data-cell]')]
    .map((row) => parseFloat(row.children[2].textContent.replace('~ ', '')) * (/ M/.test(row.children[2].textContent) ? 1e6 : 1e3)));
found.before = median();
document.querySelector('#group-queues .pinnable thead th:nth-child(3) button').click();
found.down = median();
found.sort_hash = location.hash;
document.querySelector('#group-queues .pinnable thead th:nth-child(3) button').click();
found.up = median();
document.querySelector('#group-queues .pinnable thead th:nth-child(3) button').click();
found.after = median();
END
with_test
browse tested.html
check console_is_silent_of_keys test ! -s said
check a_mark_tells_its_cell found '(all(part in f["tip"] for part in ("grq on fib,n=12, 4 workers", "median ", "95 % interval", "8 of 8 samples", "× gmp (", "samples in run order")) and
    f["tip_samples"] == 8 and f["tip_gone"])'
check keys_go_to_a_question_and_its_marks found 'f["folded"] and f["first"] and f["stepped"].startswith("perm on fib,n=12")'
check a_key_pins_the_cell_at_hand found 'f["pinned"] == "perm@4" and f["reset"] == "gmp"'
check a_key_unfolds found 'f["unfolded"] and f["part"]'
check a_key_leads_to_the_cell found 'f["cell"]'
check keys_are_told found 'f["help_shown"] and "next question" in f["help"] and f["focus"] == "filter-variant"'
check a_click_sorts found '(f["down"] == [sorted(x, reverse=True) for x in f["before"]] and f["up"] == [sorted(x) for x in f["before"]] and f["after"] == f["before"] and
    "sort=-median" in f["sort_hash"])'

# From a cell to its events -------------------------------------------------------------------------------------------------

# commands KIND: what the page of the browser has for grq on fib, in a shell's words.
cat >commands.py <<'END'
import html, re, sys
page = html.unescape(open("dom").read()).replace("&gt;", ">")
rows = re.findall(r'<tr id="cell-[^>]*>(.*?)</tr>\s*<tr class="more"[^>]*>(.*?)</tr>', page, re.S)
for head, more in rows:
    text = re.sub(r"<[^>]*>", "", head).split()
    for way in re.findall(r"<div.*?</div>", more, re.S):
        kind = re.sub(r"<[^>]*>", "", way)
        if text[:2] == ["grq", "4"] and " fib,n=12 " in kind and kind.startswith(sys.argv[1]) and " hidden" not in way.split(">")[0]:
            print(re.sub(r"<[^>]*>", "", re.search(r"<code>(.*?)</code>", way, re.S).group(1)))
            raise SystemExit
END
mkdir build && ln -s "$schedlab" build/schedlab

# follows NAME KIND STATUS: the command of this kind runs.
follows() {
    local good=0
    python3 commands.py "$2" >command
    sh -e ./command >out 2>err </dev/null
    [ $? = "$3" ] && [ -s command ] && good=1
    report $good "$1"
}

printf '%s\n' "press('?');" | cat common.js - >test.js
with_test
browse tested.html
follows a_cell_is_measured_again Again 0
check by_the_same_name grep -q '^grq ' out
follows a_cell_says_why Why 0
check with_an_account_of_time grep -q 'of stall per operation' out
follows a_cell_leads_to_its_trace Trace 0
page=$(sed 's/.* --output //' command)
check the_trace_is_a_page grep -q '<!DOCTYPE html>' "$page"
check of_a_call_that_finds_memory_warm grep -q -- ' --warmup 1 --output ' command
check which_the_page_knows grep -qE '"call_ps": ?[0-9]' "$page"
follows a_cell_leads_to_where_it_parts_from_the_baseline 'Where it parts from gmp' 1
check by_another_file test "$page" != "$(sed 's/.* >//' command)"
page=$(sed 's/.* >//' command)
check the_page_opens_there grep -q 'They part at event ' "$page"
browse 'tested.html#view?pin.queues=perm'
follows and_from_the_pinned_baseline 'Where it parts from perm' 1
check the_command_has_the_pinned_baseline grep -q '^build/schedlab diff perm grq fib,n=12 --workers 4 --machine sim:desktop8 --seed ' command
browse 'tested.html#view?pin.queues=grq'
python3 commands.py 'Where it parts' >command
check a_cell_does_not_part_from_itself test ! -s command

check the_script_is_sound script_is_sound report

finish
