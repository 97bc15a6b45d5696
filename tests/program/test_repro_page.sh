#!/bin/bash
# test_repro_page.sh - the page of a reproduction and the catalogue, from the outside: what they say about known
# verdicts, that the page needs nothing but itself, and what happens where something is missing or damaged.
#
#     tests/program/test_repro_page.sh build/schedlab
#
# Prints TAP. One reproduction is measured, of orders, which are the same each time; the other is made up, so that
# every number is known, and its texts hold what HTML and Markdown would stumble over. Needs the program, gnuplot,
# bash, the usual tools and python3.
. "$(dirname "$0")/../tap.sh"

# run COMMAND ARGUMENT...: leaves out, err and status.
run() {
    "$schedlab" "$@" >out 2>err </dev/null
    status=$?
}
has() { grep -qF -- "$1" "$2"; }
lacks() { [ -s "$2" ] && ! grep -qE -- "$1" "$2"; }

# A measured one ---------------------------------------------------------------------------------------

cat >S.yaml <<'END'
id: S
title: An order
claim: The newest first.
source: here
why: because
refuted: if not
machines: [native, "sim:desktop8"]
events: [none]
min_time_ms: 0
warmup: 0
parts:
  - id: spawn
    variant: "gmp,preempt=none"
    factor: runnext
    levels: [on, off]
    workload: order,n=10
    metric: order
    expect:
      - {says: The newest first, exactly: 9 0-8}
  - id: speed
    question: Is anything done?
    variant: gmp
    factor: runnext
    levels: [off, on]
    workload: "yield,n=10"
    expect:
      - {says: Something is done, at_least: 1}
END
run repro S.yaml --quick
folder=$(sed -n 's|.*verdicts in \(.*\)/repro.json$|\1|p' err)
page=$folder/repro.html
check run_ends_with_a_page [ "$status" = 0 ] && check page_is_named has "$page, 1 experiment, figures of 2 runs" err
check page_is_whole [ "$(tail -n 1 "$page")" = '</html>' ]
check each_run_has_its_report [ "$(ls "$folder"/S@native/report.html "$folder"/S@sim-desktop8/report.html | wc -l)" = 2 ]
check figures_of_both_machines [ "$(grep -c '<figcaption>' "$page")" = 2 ]
check orders_have_no_figure lacks 'spawn-throughput' "$page"
check own_experiment_is_repeated_by_its_file has "schedlab repro $folder/experiments/S.yaml --quick</code>" "$page"
check page_fetches_nothing lacks '(src|href)="https?:|url\(|@import' "$page"
cp "$page" before.html
run report "$folder" --no-figures
check report_makes_the_same_page cmp before.html "$page"
rm -r "$folder/S@native/figures" "$page"
run report "$folder"
check report_draws_and_makes_it_again cmp before.html "$page"
run repro S.yaml --quick --no-report --machine native --name bare
check no_report_makes_no_page [ "$status $(ls results/bare-*/repro.html 2>/dev/null | wc -l)" = '0 0' ]

# A made-up one ----------------------------------------------------------------------------------------

# Beside the hog: E3, refuted on native, supported on the simulated machine, undecided for want of cores.
mkdir made
cat >make.py <<'END'
import json, sys
def column(verdict, effect, reason=None, lacks=None):
    side = {"variant": "gmp", "workload": "yield", "workers": 2, "machine": "native", "group": "hog", "n": 6, "median": 10}
    c = {"verdict": verdict, "effect": effect, "level": side, "over": dict(side, variant="gmp,runnext=off")}
    return c | ({"reason": reason} if reason else {}) | ({"lacks": lacks} if lacks else {})
def expectation(number, verdict, column):
    return {"number": number, "says": "It is <twice> & more", "verdict": verdict, "level": "on", "over": "off",
            "metric": "throughput", "expected": "at least 2.00\u00d7", "at_least": 2, "deterministic": False,
            "decisive": 0, "columns": [column], "source": "a paper | s.2"}
def place(machine, verdict, *expectations):
    return {"machine": machine, "verdict": verdict, "state": "done", "seconds": 1, "parts": [{
        "id": "hog", "question": "Why <b>?", "factor": "runnext", "levels": ["off", "on"], "baseline": "off",
        "metric": "throughput", "figure": "throughput", "full": False, "variants": ["gmp"], "workloads": ["yield"],
        "workers": [2], "expectations": list(expectations)}]}
yes = {"exact": False, "median": 3, "lo": 2.5, "hi": 3.5, "text": "3.00\u00d7 (2.50\u00d7 to 3.50\u00d7)"}
no = {"exact": False, "median": 1, "lo": 0.9, "hi": 1.1, "text": "1.00\u00d7 (0.90\u00d7 to 1.10\u00d7)"}
far = {"exact": False, "median": 900, "lo": 800, "hi": 1000, "text": "900\u00d7 (800\u00d7 to 1000\u00d7)"}
experiment = {"id": "E3", "title": "Slots <script>alert(1)</script>", "claim": "A claim & `code`", "source": "here",
    "why": "First *paragraph*.\n\nSecond.", "refuted": "if not", "verdict": "machines disagree", "machines": [
        place("native", "refuted", expectation(1, "refuted", column("refuted", no, "it is 1.00")),
              expectation(2, "undecided", column("undecided", {"exact": False}, "64 workers take as many cores", "cores"))),
        place("sim:desktop8", "supported", expectation(1, "supported", column("supported", yes)),
              expectation(2, "supported", column("supported", far)))]}
nothing = {"agreement": "not measured", "parts": []}
claims = [{"id": "1.2", "degree": "wrong", "who": "a post", "says": "It is <LIFO>.", "go": "A FIFO; `runqget`.",
           "gmp": {"agreement": "agrees", "parts": [{"expectation": "E3/hog#1", "verdict": "supported", "machines": "native"}]},
           "itself": {"agreement": "differs", "runtime": "Go 1.19.8", "parts": [{"expectation": "G1/ten", "verdict": "refuted", "machines": "native"}]}},
          {"id": "1.3", "degree": "outdated", "who": "a note", "says": "It is slow.", "go": "It is not.", "gmp": nothing,
           "itself": nothing, "not_shown": "there is nothing to run"},
          {"id": "1.4", "degree": "right", "who": "a note", "says": "It is so.", "go": "It is.", "gmp": nothing,
           "itself": {"agreement": "not run", "parts": [{"expectation": "G1/ten", "verdict": "not run", "machines": "native"}],
                      "reason": "G1/ten: native: peer:go is not built here"}, "not_shown": "there is no gmp"}]
repro = {"schema": 1, "name": "made", "began": "2026-01-31T10:15:00Z", "written": "2026-01-31T10:25:00Z",
         "finished": True, "revision": "abc", "run": {"form": "quick", "which": "own", "machines": [],
         "experiments": ["E3"], "all": False, "claims": True}, "experiments": [experiment], "claims": claims}
exec(sys.argv[1] if len(sys.argv) > 1 else "")
json.dump(repro, open("made/repro.json", "w"))
END
python3 make.py
printf '{"cpu": {"model": "A & B", "usable_threads": 4}}' >made/environment.json
run report made
page=made/repro.html
check made_up_page_is_made [ "$status" = 0 ]
check texts_are_escaped lacks '<script>alert|<twice>|<b>\?' "$page"
# row NAME: the numbers of a row of the sums.
row() { tr -d '\n' <"$page" | grep -oP ">$1(</a>)?</th>\K(<td[^>]*>\d+</td>)+" | grep -oP '>\K\d+' | paste -sd ' '; }
check sums_of_experiments [ "$(row Experiments)" = '0 0 1 0 0' ]
check sums_by_machine [ "$(row 'on native') / $(row 'on sim:desktop8')" = '0 1 0 0 0 / 1 0 0 0 0' ]
check sums_of_single_claims [ "$(row 'Single claims')" = '2 1 0 1 0' ]
check sums_of_claims [ "$(row All) / $(row 'a post')" = '1 0 1 1 1 0 0 1 1 / 0 0 0 1 1 0 0 1 0' ]
check disagreement_is_told has 'machines disagree' "$page"
check undecided_says_what_it_lacks has 'Lacks cores: 64 workers take as many cores' "$page"
check catalogue_is_repeated_by_its_id has '<code>schedlab repro E3 --quick</code>' "$page"
check claim_leads_to_its_experiment has 'href="#E3">E3/hog#1</a>' "$page"
check claims_have_three_columns [ "$(sed -n '/class="claims/,$p' "$page" | grep -o '<th scope="col">.*</th>' | paste -sd ' ')" = \
    '<th scope="col">claim</th> <th scope="col">what it says</th> <th scope="col">degree</th> <th scope="col">what Go&#39;s source does</th> <th scope="col">our gmp</th> <th scope="col">Go 1.19.8</th>' ]
check a_degree_is_no_verdict has '<td><strong>wrong</strong>' "$page"
check gmp_agrees_with_the_source has '<span class="mark supported">✓ agrees</span><br><a class="id" href="#E3">E3/hog#1</a>' "$page"
check go_itself_may_differ has '<span class="mark refuted">✗ differs</span><br><a class="id">G1/ten</a>' "$page"
check a_claim_that_nothing_measures_says_so has 'Nothing measures it: there is nothing to run' "$page"
check a_claim_of_go_alone_says_so has 'Nothing is run of gmp: there is no gmp' "$page"
check a_go_that_is_not_there_is_not_run has '– not run</span><br><a class="id">G1/ten</a><span class="range"> not run on native</span><p class="note">G1/ten: native: peer:go is not built here' "$page"
check machine_is_named has 'on A &amp; B with 4 hardware threads' "$page"
check paragraphs_are_two has '<p>Second.</p>' "$page"

# The strips: "class, x of the dot, x and width of the band".
cat >strips.py <<'END'
import re
strips = {}
for name, text in re.findall(r'<svg class="against (\w+)"[^>]*aria-label="([^"]*)".*?</svg>', open("made/repro.html").read(), re.S):
    pass
for m in re.finditer(r'<svg class="against (\w+)"[^>]*aria-label="measured ([^ ]*).*?</svg>', open("made/repro.html").read(), re.S):
    band = re.search(r'class="band" x="([\d.]+)" y="\d+" width="([\d.]+)"', m[0])
    strips[m[2]] = (m[1], float(re.search(r'cx="([\d.]+)"', m[0])[1]), float(band[1]), float(band[1]) + float(band[2]), m[0])
END
names="exec(open('strips.py').read()); no, yes, far = strips['1.00×'], strips['3.00×'], strips['900×']"
json refuted_is_drawn_outside 'no[0] == "refuted" and no[1] < no[2]' made/repro.json
json supported_is_drawn_inside 'yes[0] == "supported" and yes[2] < yes[1] < yes[3]' made/repro.json
json open_range_reaches_the_edge 'yes[3] == 200 and no[3] == 200' made/repro.json
json far_apart_is_logarithmic '"; logarithmic" in far[4] and "; logarithmic" not in yes[4]' made/repro.json
json nothing_is_drawn_without_a_number 'len(strips) == 3' made/repro.json
names=

# Roles: the strongest claim stands for the machine, sizes have no colour, and the lesson stands with the verdict.
python3 make.py '
native, sim = experiment["machines"]
native["parts"][0]["expectations"][0].update(role="size", told="smaller")
native["parts"][0]["expectations"][1].update(role="claim", told="undecided")
native.update(verdict="undecided", said="claim undecided; 0 of 1 size as expected")
experiment.update(verdict="undecided", said="claim undecided; 0 of 1 size as expected", lesson="Take <it>.")'
run report made
sed -n '/class="summary"/,/<\/table>/p' "$page" | tr -d '\n' >summary
check the_lesson_stands_in_the_summary contains summary '<p class="lesson">Take &lt;it&gt;.</p><span class="wanted">claim undecided; 0 of 1 size as expected'
check the_strongest_claim_stands_for_the_machine has '900×' summary
check sizes_are_no_main_number lacks '>1.00×' summary
check a_size_is_told_as_found has '<span class="mark told">↓ smaller</span>' "$page"
check a_size_is_drawn_without_colour has 'class="against" viewBox' "$page"

# A table: two levels by two workloads, of which one cell is refuted, one undecided, and one expects nothing.
tabled='
def cell(number, level, at, wanted, verdict, text, reason=None):
    c = {"verdict": verdict, "effect": {"exact": True, "text": text}, "level": {"variant": "gmp"}} | ({"reason": reason} if reason else {})
    return {"number": number, "says": f"So: {number}", "verdict": verdict, "level": level, "metric": "STEALS", "expected": "exactly",
            "deterministic": True, "decisive": 0, "columns": [c],
            "table": {"number": 1, "says": "So it is", "column": at, "wanted": wanted}}
tab = experiment["machines"][0]["parts"][0]
tab.update(workloads=["spawn,n=9", "spawn,n=9,creators=2"], expectations=[
    cell(1, "off", 1, "51", "supported", "51.0"), cell(2, "on", 0, "52", "refuted", "62.0", "it is 62.0"),
    cell(3, "on", 1, "53", "undecided", "", "the cell <failed>")])'
python3 make.py "$tabled"
run report made
cat >grid.py <<'END'
import re
text = open("made/repro.html").read()
found = re.search(r'<table class="grid">.*?</table>', text, re.S)[0]
rows = [[re.sub("<[^>]*>", "", c) for c in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)] for row in re.findall("<tr>.*?</tr>", found, re.S)]
END
names="exec(open('grid.py').read())"
json table_is_one_grid 'len(re.findall("class=.grid.", text)) == 1 and rows[0] == ["runnext", "default", "creators=2"]' made/repro.json
json table_has_levels_for_rows 'rows[1] == ["off", "\u2013", "51"]' made/repro.json
json missed_cells_say_both 'rows[2] == ["on", "\u2717 62.0 asked 52", "? asked 53"]' made/repro.json
names=
check table_sums_up has '1 of 3 cells as expected; all with <code>spawn,n=9</code>.' "$page"
check table_says_what_cells_lack has '1 cell: the cell &lt;failed&gt;' "$page"
sed -n '/class="experiment"/,$p' "$page" >section
check table_stands_in_place_of_its_cells lacks 'So: [123]' section

# Mistakes ---------------------------------------------------------------------------------------------

# damaged NAME PART CODE: with repro changed by the code, the report is refused in one line.
damaged() {
    python3 make.py "$3"
    misuse "$1" "$2" -- report made
}
damaged other_schema 'made/repro.json: its schema is not 1' 'repro["schema"] = 7'
damaged no_experiments 'it has no list "experiments"' 'del repro["experiments"]'
damaged no_title 'experiments[0] has no text "title"' 'del experiment["title"]'
damaged unknown_verdict 'experiments[0].machines[0] has the verdict "maybe"; valid: supported' \
    'experiment["machines"][0]["verdict"] = "maybe"'
damaged no_such_column '.expectations[1]: "decisive" is none of its columns' \
    'experiment["machines"][1]["parts"][0]["expectations"][1]["decisive"] = 1'
damaged table_without_text '.expectations[1].table has no text "wanted"' "$tabled"'; del tab["expectations"][1]["table"]["wanted"]'
damaged folder_elsewhere '"folder" is not the name of one' 'experiment["machines"][0]["folder"] = "../elsewhere"'
damaged broken_claim 'claims[1] has no text "go"' 'del claims[1]["go"]'
damaged no_such_degree 'claims[1] has the degree "true"; valid: right, imprecise' 'claims[1]["degree"] = "true"'
damaged no_such_agreement 'claims[0] has no object "gmp" with an agreement' 'claims[0]["gmp"] = {"agreement": "refuted", "parts": []}'
python3 make.py 'claims[0] = {"id": "1.2", "kind": "wrong", "who": "a post", "says": "x", "go": "x", "shown_by": [], "verdict": "refuted"}'
run report made
check claims_of_earlier_versions_have_a_degree [ "$status" = 0 ] && check they_have_no_answers [ "$(grep -c '– not measured' "$page")" = 5 ]
echo '{"schema": 1,' >made/repro.json
misuse torn_file 'made/repro.json:' -- report made
mkdir empty
misuse folder_that_is_none 'empty is not a run' -- report empty
python3 make.py
misuse json_is_for_runs 'the answers of a reproduction are in made/repro.json' -- report made --format json
rm made/environment.json
run report made
check unknown_machine_leaves_the_page [ "$status" = 0 ] && check unknown_machine_is_told has 'the machine is not known' "$page"
mkdir made/E3@native
python3 make.py 'experiment["machines"][0]["folder"] = "E3@native"'
printf 'no record\n' >made/E3@native/samples.jsonl
run report made
check broken_run_is_told_and_the_page_made [ "$status $(wc -l <err)" = '1 2' ] && check broken_run_is_named has 'E3@native: ' err
check broken_run_is_on_the_page has 'samples.jsonl' "$page"

# The catalogue ----------------------------------------------------------------------------------------

python3 make.py
run repro --catalogue pages
check catalogue_is_written [ "$status" = 0 ]
check every_experiment_has_a_page [ "$(ls pages/experiments/*.md | wc -l)" = "$(ls "$tree"/harness/experiments/[adeg]*.yaml | wc -l)" ]
check without_a_reference_it_says_so has 'No reference reproduction is committed yet' pages/experiments/E3.md
check calls_are_those_of_the_file has ' --workers 32 --machine sim:server64 --warmup 0 --iterations 1 --min-time 1ms' pages/experiments/E21.md
check calls_are_those_of_the_native_machine has ' --workers 1 --warmup 0 --iterations 1 --min-time 100ms' pages/experiments/E21.md
check an_order_is_shown has ' order,n=300 --workers 1' pages/experiments/E12.md && check and_not_timed lacks 'run .* order,.* --iterations' pages/experiments/E12.md
check and_in_the_index has 'No reference reproduction is committed yet' pages/EXPERIMENTS.md
run repro --catalogue pages --reference made
check reference_is_in_the_index has '| ≠ **machines disagree**<br>native: refuted<br>sim:desktop8: supported | native: 1.00× (0.90× to 1.10×), expected at least 2.00×' \
    pages/EXPERIMENTS.md
check the_index_draws_it contains pages/EXPERIMENTS.md 'expected at least 2.00×<br>`····──●─···········░░░░░`<br>sim:desktop8: '
check reference_is_on_the_page contains pages/experiments/E3.md '- native: ✗ **refuted**, hog#1: 1.00×'
python3 make.py '
for expectation in experiment["machines"][0]["parts"][0]["expectations"]:
    expectation["columns"][0]["why"] = "5 ns more | of it"'
run repro --catalogue reasons --reference made
check the_page_says_why_it_is_slower has '✗ **refuted** | 1.00× (0.90× to 1.10×) | `gmp`: 5 ns more \| of it |' reasons/experiments/E3.md
check and_what_is_lacking_before_it has '| 64 workers take as many cores<br>`gmp`: 5 ns more' reasons/experiments/E3.md
python3 make.py '
experiment["machines"][0]["parts"][0]["expectations"][0]["columns"][0]["regimes"] = {"of": "ratios", "low": 2, "high": 4,
    "low_median": 0.5, "high_median": 1, "text": "2 of 6 at 0.50", "differ": "STEALS 8 and 0.5", "values": [1, 0.5, 1, 0.5, 1, 1]}'
run report made
check two_regimes_have_their_shares has 'two regimes: 2 of 6 at 0.50; they differ in STEALS 8 and 0.5</p>' "$page"
check so_says_the_table_of_cells has '<td colspan="6" class="note">two regimes: 2 of 6 at 0.50; they differ' "$page"
check and_dots has 'Ratios of blocks in run order: 6 good' "$page"
python3 make.py
check claims_have_their_answers_in_the_index has '| ✓ **agrees**<br>[E12](experiments/E12.md)/order\#7, [E24](experiments/E24.md)/structures\#1 | ✗ **differs**<br>[G1](experiments/G1.md)/ten,' \
    pages/EXPERIMENTS.md
check the_index_names_the_go_that_was_run has "| what Go's source does | our gmp | Go 1.19.8 |" pages/EXPERIMENTS.md
check others_are_not_measured has 'does not have it' pages/experiments/E1.md
python3 make.py 'experiment["later"] = True'
run repro --catalogue later --reference made
check a_later_build_is_told has 'form; that of E3 is of a later build, measured alone. The claims' later/EXPERIMENTS.md
python3 make.py
cp -r pages again
run repro --catalogue again --reference made
check the_same_again diff -r pages again
check links_lead_somewhere [ -z "$(grep -oP '\]\(\Kexperiments/[^)]*' pages/EXPERIMENTS.md | while read -r link; do [ -e "pages/$link" ] || echo "$link"; done)" ]

# Tables of the catalogue's: the values of the file, with what the reference found otherwise.
python3 make.py "$tabled"'
experiment["id"], tab["id"] = "E6", "beats"'
run repro --catalogue tables --reference made
check catalogue_has_tables has '| `61` | 61 | 61 (✗ **refuted** on native: 62.0) | 61 (? **undecided** on native) |' tables/experiments/E6.md
check catalogue_table_is_one_row [ "$(grep -c '^| 1 to 36 | [a-z]* | Arrivals at a beat of T meet' tables/experiments/E6.md)" = 1 ]
check catalogue_sums_up has '| 1 to 3 | native | ✗ **refuted** | 1 of 3 cells as expected | |' tables/experiments/E6.md

# A figure beside the page: from the reference's run, and then without that run.
mkdir made/E3@native/figures
cp "$folder/S@native/figures/speed-throughput.svg" made/E3@native/figures/hog-throughput.svg
python3 make.py 'experiment["machines"][0]["folder"] = "E3@native"'
run repro --catalogue pages --reference made
check figure_is_an_svg python3 -c "import xml.dom.minidom as x; x.parse('pages/experiments/E3-hog-native.svg')"
check figure_is_on_the_page has ' On native.](E3-hog-native.svg)' pages/experiments/E3.md
rm -r again made/E3@native
cp -r pages again
run repro --catalogue again --reference made
check figure_stays_without_the_run diff -r pages again
run repro --catalogue own --reference "$folder"
check only_experiments_of_the_catalogue_have_figures [ "$status $(ls own/experiments/*.svg 2>/dev/null | wc -l)" = '0 0' ]

misuse catalogue_takes_no_ids 'leave out E3' -- repro --catalogue pages E3
misuse reference_takes_a_catalogue '--reference takes --catalogue' -- repro --reference made
misuse reference_is_none '--reference: empty/repro.json' -- repro --catalogue pages --reference empty
touch plain
run repro --catalogue plain/x
check folder_that_cannot_be [ "$status $(wc -l <err)" = '1 1' ]
finish
