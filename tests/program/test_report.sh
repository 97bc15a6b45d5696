#!/bin/bash
# test_report.sh - the report from the outside: what the page says about known samples, that it needs
# nothing but itself, and what happens where something is missing.
#
#     tests/program/test_report.sh build/schedlab
#
# Prints TAP. The run is made up here, so that every number of the page is known; names and reasons
# hold what HTML, gnuplot and a shell would stumble over. Needs the program, gnuplot, bash and the
# usual tools.
. "$(dirname "$0")/../tap.sh"
plots=$tree/plots

# lacks NAME REGEX FILE: the file is there, and no line of it matches.
lacks() {
    local good=0
    grep -qE -- "$2" "$3"
    [ $? = 1 ] && good=1
    report $good "$1"
}

# run STATUS NAME ARGUMENT...: leaves out and err.
run() {
    local wanted=$1 name=$2 good=0
    shift 2
    "$schedlab" report "$@" >out 2>err </dev/null
    [ $? = "$wanted" ] && good=1
    report $good "$name"
}

# one_line NAME PART: standard error is one line that holds PART.
one_line() {
    local good=0
    [ "$(wc -l <err)" = 1 ] && grep -qF -- "$2" err && good=1
    report $good "$1"
}

# The run -------------------------------------------------------------------------------------------

folder="$scratch/a <run> & 'more'"
mkdir "$folder"

cat >"$folder/sweep.yaml" <<'END'
name: made-up
title: 'Who wins? <script>alert("title")</script> & more'
groups:
  - id: structures
    question: 'Is "gmp" > grq & why?'
    baseline: grq
    variants: [kthread, grq, gmp, tasksteal, contsteal]
    workloads: [arrivals, mpmc, yield]
    workers: [1, 2]
  - id: tick
    question: Is 61 special?
    figure: knob
    baseline: gmp
    variants: [gmp]
    knob: {name: tick, values: [0, 1, 16, 61, 1024, random]}
    workloads: [yield]
    workers: [2]
  - id: map
    question: Does ring go with tick?
    figure: heatmap
    baseline: gmp
    variants: [gmp]
    knob: {name: ring, values: [4, 16, 256]}
    knob2: {name: tick, values: [1, 61, random]}
    workloads: [yield]
    workers: [2]
  - id: lengths
    question: From which length on is gmp faster?
    figure: surface
    parameter: rounds
    baseline: grq
    variants: [grq, gmp]
    workloads: ["uneven,rounds=10", "uneven,rounds=100"]
    workers: [1, 2]
  - id: numbers
    question: Do many cost what few do?
    figure: scale
    baseline: gmp
    variants: [gmp, contsteal]
    workloads: ["crowd,n=1000", "crowd,n=100000"]
    workers: [1]
  - id: tails
    question: Who has the longest tail?
    figure: latency
    baseline: gmp
    variants: [grq, gmp]
    workloads: [arrivals]
    workers: [2]
END
cat >"$folder/environment.json" <<'END'
{"cpu": {"model": "Slow & <old> 1000", "usable_threads": 2, "cache_bytes": 49152,
   "caches": [{"level": 1, "kind": "data", "bytes": 32768, "line_bytes": 64, "count": 2, "threads_each": 1}]},
 "kernel": {"name": "Linux", "release": "0.99"},
 "settings": {"governor": {"absent": "cannot read the <governor>"},
   "turbo": {"absent": "run `make <turbo>` & more, a ` alone"}, "list": [1, [2]]},
 "doctor": {"findings": [
   {"id": "governor", "level": "warn", "fact": "<powersave> on 2", "why": "the clock & more",
    "change": "echo performance | tee 'x'"},
   {"id": "boost", "level": "unknown", "fact": "cannot read it", "why": "who knows"},
   {"id": "swap", "level": "ok", "fact": "none", "why": "slow"}, 17],
  "counting": [{"id": "presets", "name": "PAPI presets", "available": 0, "listed": {"absent": "?"},
    "wanted_available": 0, "wanted": 5, "reason": "no <PMU>", "change": "buy one"}]},
 "sweep": {"seed": 4711, "reps": 5, "warmup": 1, "width": 5}}
END

# record BLOCK VARIANT KNOBS WORKLOAD WORKERS GROUPS REST
position=0
declare -A ids
record() {
    local cell="$2 $4 $5"
    [ "${ids[$cell]:-}" ] || ids[$cell]=$(printf '%s' "$cell" | cksum | awk '{ printf "%012x", $1 }')
    printf '{"schema":2,"cell":"%s","block":%d,"position":%d,"groups":[%s],' "${ids[$cell]}" "$1" $position "$6"
    printf '"started":"2026-01-31T23:59:59Z","variant":"%s","variant_name":"%s","knobs":{%s},' \
        "$2" "${2%%,*}" "$3"
    printf '"workload":"%s","workload_name":"%s","params":{},"op":"round trip","workers":%d,' \
        "$4" "$4" "$5"
    printf '"machine":"native","seed":4711,"command":"build/schedlab run %s %s --workers %d",%s}\n' \
        "$2" "$4" "$5" "$7"
    position=$((position + 1))
}

# ok THROUGHPUT STEALS [LATENCY]: the rest of a record.
ok() {
    printf '"status":"ok","throughput":%s,"time_ns":1e9,"ops":%s,"digest":"0x1","events":[' "$1" "$1"
    printf '{"name":"PAPI_L1_DCM","source":"pmu","absent":"no counters in this <machine>"},'
    printf '{"name":"perf::TASK-CLOCK","source":"soft","absent":"no clock"},'
    printf '{"name":"perf::PAGE-FAULTS","source":"soft","absent":"no %s"},' "$([ "${3:-}" ] && echo pages || echo clock)"
    printf '{"name":"sde:::schedlab::STEALS","source":"sde","value":%s,"per_op":%s},' "$2" "$2"
    printf '{"name":"sde:::schedlab::DEQUE_MAX","source":"sde","value":17}]'
    [ -z "${3:-}" ] || printf ',"latency":{"count":100000,"p50_ns":%s,"p90_ns":%s,"p99_ns":%s,"p999_ns":%s,%s}' \
        "$3" "${3}0" "${3}00" "${3}000" "\"max_ns\":${3}0000,\"buckets\":[]"
}

# crowd BLOCK VARIANT N NS BYTES: a first round of NS for each of N goroutines, and a later one of a tenth.
crowd() {
    local calls="\"warmup\":0,\"iterations\":[{\"time_ns\":$(($3 * $4)),\"ops\":$3},{\"time_ns\":$(($3 * $4 / 10)),\"ops\":$3}]"
    record "$1" "$2" '' "crowd,n=$3" 1 '"numbers"' "$calls,$(ok 1000 0)" >piece # no pipe: record counts
    sed "s/\"workload_name\":\"[^\"]*\"/\"workload_name\":\"crowd\"/
        s/\"params\":{}/\"params\":{\"n\":$3}/
        s/\"events\":\[/&{\"name\":\"sde:::schedlab::PROCESS_MEMORY_PER_G\",\"source\":\"sde\",\"value\":$5},/" piece
}

# The seven samples of every cell are m-3 .. m+3 percent; so gmp on arrivals is exactly 2 of grq.
for block in 0 1 2 3 4 5 6; do
    noise=$((97 + block))
    for workers in 1 2; do
        for workload in arrivals mpmc yield; do
            groups='"structures"'
            [ $workload$workers = arrivals2 ] && groups='"structures","tails"'
            record $block grq '' $workload $workers "$groups" "$(ok $((1000 * noise * workers)) 0 7)"
            [ $workload$workers = yield2 ] && groups='"structures","tick","map"'
            record $block gmp '"ring":256,"tick":61' $workload $workers "$groups" "$(ok $((2000 * noise * workers)) 0.5 2)"
            near=1990 # not told apart from gmp
            [ $workload$workers = arrivals2 ] && near=1600
            record $block tasksteal '' $workload $workers '"structures"' \
                "$(ok $((near * noise * workers)) 0.25)"
        done
        if [ $block = 2 ]; then
            record $block contsteal '' mpmc $workers '"structures"' \
                '"status":"failed","reason":"wrong <script>alert(1)</script> & answer","output":"<b>tail</b>\n"'
        else
            record $block contsteal '' mpmc $workers '"structures"' "$(ok 999999999 1)"
        fi
    done
    for tick in 0 1 16 1024; do
        groups='"tick"'
        [ $tick = 1 ] && groups='"tick","map"'
        record $block gmp,tick=$tick "\"tick\":$tick" yield 2 "$groups" "$(ok $((1500 * noise * 2 + tick)) 0.5)"
    done
    record $block gmp,tick=random '"tick":"random"' yield 2 '"tick","map"' "$(ok $((1500 * noise * 2)) 0.5)"
    # In the map, ring=4,tick=1 is near gmp, ring=4,tick=random fails, ring=16 has one of its three.
    record $block gmp,ring=4 '"ring":4' yield 2 '"map"' "$(ok $((6000 * noise * 2)) 0.5)"
    record $block gmp,tick=1,ring=4 '"ring":4' yield 2 '"map"' "$(ok $((1980 * noise * 2)) 0.5)"
    record $block gmp,tick=random,ring=4 '"ring":4' yield 2 '"map"' '"status":"failed","reason":"lost a G"'
    record $block gmp,ring=16 '"ring":16' yield 2 '"map"' "$(ok $((2500 * noise * 2)) 0.5)"
    # gmp is slower with short tasks, and with long ones on two workers not measured.
    for workers in 1 2; do
        record $block grq '' uneven,rounds=10 $workers '"lengths"' "$(ok $((2000 * noise)) 0)"
        record $block gmp '' uneven,rounds=10 $workers '"lengths"' "$(ok $((1000 * noise)) 0)"
        record $block grq '' uneven,rounds=100 $workers '"lengths"' "$(ok $((1000 * noise)) 0)"
    done
    record $block gmp '' uneven,rounds=100 1 '"lengths"' "$(ok $((1500 * noise)) 0)"
    for variant in gmp contsteal; do
        crowd $block $variant 1000 $((40 * noise)) 4500
        crowd $block $variant 100000 $((50 * noise)) 4352
    done
done >"$folder/samples.jsonl"
record 0 grq '' ring 4 '"crowd"' "$(ok 1000 0)" >>"$folder/samples.jsonl"
record 0 kthread '' mpmc 2 '"structures"' \
    '"status":"skipped","reason":"a million \"threads\" > 8000"' >>"$folder/samples.jsonl"
cksum <"$folder/samples.jsonl" >samples.before

# Files of a report ---------------------------------------------------------------------------------

page=$folder/report.html
run 0 report_succeeds "$folder"
one_line report_says_where_the_page_is report.html
for table in samples cells events latency scale; do
    check "report_writes_$table" test -s "$folder/$table.tsv"
done
for figure in structures-throughput structures-speedup structures-events structures-latency \
    tick-knob map-heatmap lengths-surface numbers-scale tails-latency; do
    for format in svg pdf png; do
        check "report_draws_${figure}_$format" test -s "$folder/figures/$figure.$format"
    done
done
check figures_of_the_same_cells_are_drawn_once test ! -e "$folder/figures/tails-throughput.svg"
check report_changes_no_sample test "$(cksum <"$folder/samples.jsonl")" = "$(cat samples.before)"

# Text of the page ----------------------------------------------------------------------------------

says() { check "page_says_$1" grep -qF -- "$2" "$page"; }
says title '<h1>Who wins? &lt;script&gt;alert(&quot;title&quot;)&lt;/script&gt; &amp; more</h1>'
says question 'Is &quot;gmp&quot; &gt; grq &amp; why?'
says a_line_on_each_variant '<dt class="name">grq</dt>'
says a_line_on_each_workload '<dt class="name">yield</dt>'
lacks no_line_on_what_is_not_there '<dt class="name">(uthread|fib)</dt>' "$page"
says sizes_are_a_sentence 'from crowd,n=1000 to crowd,n=100000: <b class="name">gmp</b> 1.00 ms to 1.00 ms, <b class="name">contsteal</b> 1.00 ms'
says sentence_with_leader 'is among the fastest on all 3 workloads, alone on 1 of them, by 1.25× over the next'
says sentence_of_two 'is the quickest for 99 % of operations on <span class="name">arrivals</span>, by 3.50× over grq.'
says sureness '◪◪</span> 2 with several ahead of others</span>'
says samples_behind_it '7 samples a cell, 2 workers'
says mark_with_its_numbers '<title>tasksteal on arrivals: 1.60× (1.55 to 1.66), faster</title>'
says missing_failed_cell 'is missing: failed: 1 of 7 samples failed: wrong &lt;script&gt;alert(1)&lt;/script&gt; &amp; answer'
says missing_skipped_cell 'is missing: skipped: a million &quot;threads&quot; &gt; 8000'
says winner_with_multiple '<b>1.25×</b> tasksteal'
says winner_over_baseline '<b>2.00×</b> grq'
says latency '99 % of operations within'
says sizes_are_no_race 'This asks what one of many costs, not who is faster'
says efficiency '<td class="number">100 %</td>'
says who_is_not_told_apart '<td class="tie">several not told apart</td>'
says failure 'wrong &lt;script&gt;alert(1)&lt;/script&gt; &amp; answer'
says output_of_failure '&lt;b&gt;tail&lt;/b&gt;'
says skip 'a million &quot;threads&quot; &gt; 8000'
says absent_event 'no counters in this &lt;machine&gt;'
absent() { check "page_says_$1" grep -qzP "<td>$2</td>\s*<td>$3" "$page"; }
absent in_all_cells 'in all cells' 'no counters in'
absent in_some_cells_by_all_names_of_a_row 'in some cells, for other reasons in all others' 'no clock'
absent in_some_cells 'in some cells, for other reasons in all others' 'no pages'
says machine 'Slow &amp; &lt;old&gt; 1000, 2 hardware threads, Linux 0.99'
says absent_fact '<th scope="row">governor</th>'
says reason_of_an_absent_fact 'not known: cannot read the &lt;governor&gt;'
says code_in_a_reason 'run <code>make &lt;turbo&gt;</code> &amp; more, a ` alone'
says bytes_with_unit '<td>48 KiB</td>'
says caches '32 KiB each, lines of 64 B, 2 of them'
says settings '<th scope="row">seed</th>'
says settings_have_units '<td>5 %</td>'
says value_of_a_setting '<td>4711</td>'
lacks page_misses_no_sweep_file 'nothing says what the groups ask' "$page"
lacks page_has_no_json '<td>[{[]|&quot;: ?[{[0-9&]' "$page"
says command 'build/schedlab run gmp,tick=16 yield --workers 2'
says strip_of_a_cell 'Samples in run order: 7 good"'
says strip_of_a_failed_cell 'Samples in run order: 6 good, 1 bad"'
says where_the_events_of_absent_rows_are 'Events that were absent in every column are in the section on sources.'
says peak '17.0 in all'
says more_workers_than_cores '1 cell of this group had more workers than the 2 usable hardware threads'
says workers_and_cores '<td class="number">4 on 2</td>'
says interval '388 k to 412 k'
says disturbance '<td class="failed">warn</td>'
says what_was_found '<td>&lt;powersave&gt; on 2</td>'
says what_it_does '<td>the clock &amp; more</td>'
says command_against_it '<code>echo performance | tee &#39;x&#39;</code>'
says disturbances_in_short '1 warn, 0 note, 1 unknown, 1 ok'
says well 'Found well: swap (none).'
says countable '<td class="number">0 of 5</td>'
says count_that_is_unknown '<td class="number">0 of -</td>'
says obstacle 'no &lt;PMU&gt;: <code>buy one</code>'
lacks page_has_no_number_for_a_failed_cell '1\.00 G' "$page"

# Form of the page ----------------------------------------------------------------------------------

lacks page_escapes_scripts '<script>alert' "$page"
lacks page_fetches_nothing '(src|srcset|data|action|poster)=|<link|<iframe|@import|url\((\"|'\'')?[^#)]' "$page"
lacks page_links_nowhere_else 'href=.(https?:|//|file:)' "$page"
check page_is_complete test "$(head -c 15 "$page")$(tail -n 1 "$page")" = '<!DOCTYPE html></html>'

balanced() {
    local tag
    for tag in html head body main header nav section h1 h2 table thead tbody tr th td div figure \
        figcaption svg details summary ul li dl dt dd p span a b g; do
        test "$(grep -oE "<$tag[ >]" "$page" | wc -l)" = "$(grep -oF "</$tag>" "$page" | wc -l)" || return 1
    done
}
check page_closes_what_it_opens balanced
ids() { grep -oE " id=[\"'][^\"']*" "$page" | sed "s/^ id=.//" | sort; }
check page_has_no_id_twice test -z "$(ids | uniq -d)"
check page_links_lead_somewhere test -z "$(grep -oE "href=[\"']#[^\"']*" "$page" | sed 's/^href=.#//' \
    | sort -u | comm -23 - <(ids | sort -u))"
check page_names_every_figure test "$(grep -c 'role="img" aria-label="[A-Z]' "$page")" -ge 7
check page_names_every_header test -z "$(grep -oE '<th( [^>]*)?>' "$page" | grep -v scope=)"
check page_has_the_command_of_every_cell test -z "$(tail -n +2 "$folder/cells.tsv" | cut -f 8 | sort -u \
    | sed 's/^/cell-/' | comm -23 - <(ids))"
for need in 'prefers-color-scheme:dark' '@media print' 'name="viewport"' 'lang="en"'; do
    check "page_has_$need" grep -qF -- "$need" "$page"
done

# Figures -------------------------------------------------------------------------------------------

drawn() { check "figure_$1" grep -qF -- "$3" "$folder/figures/$2.svg"; }
drawn asks_the_question structures-throughput 'Is "gmp" > grq &amp; why?'
drawn names_machine_and_run structures-throughput 'Linux 0.99, machine native'
drawn says_that_workers_take_turns crowd-throughput 'More workers than 2 hardware threads take turns.'
lacks no_figure_says_so_without_need 'take turns' "$folder/figures/structures-throughput.svg"
drawn says_how_many_samples structures-throughput ', 7 samples a cell'
says how_many_samples ', 1 to 7 samples a cell'
drawn has_units structures-throughput 'round trips per second'
drawn has_the_color_of_gmp structures-throughput 'rgb(  0, 114, 178)'
drawn shows_a_failed_cell structures-throughput 'failed'
drawn shows_a_skipped_cell structures-throughput 'skipped'
drawn shows_a_value structures-throughput '400k'
drawn shows_multiple_of_baseline structures-throughput '2.00×'
drawn names_the_source structures-events 'source sde'
drawn names_the_event structures-events 'STEALS per operation'
drawn shows_speedup structures-speedup '2.00×'
drawn marks_the_default tick-knob 'default 61'
drawn has_a_word_on_the_axis tick-knob 'random'
drawn says_what_stands_apart tick-knob '(logarithmic; 0 and words stand apart)'
drawn shows_a_multiple_in_a_cell map-heatmap '>3.00×<'
drawn shows_no_difference_in_a_cell map-heatmap '>~0.99×<'
drawn shows_a_slower_cell map-heatmap '>0.75×<'
drawn shows_a_failed_cell_of_a_map map-heatmap '>failed<'
drawn names_both_knobs map-heatmap '>tick<'
drawn explains_the_grey map-heatmap '~ no difference shown'
drawn explains_the_colours map-heatmap 'Coloured: shown to differ'
lacks figure_explains_only_what_is_there 'too few' "$folder/figures/map-heatmap.svg"
check baseline_table_says_what_is_shown test "$(grep -cE '^map.*(faster|slower|none|NA|distances).(all|near|far|quiet|NA)$' "$folder/baseline.tsv")" = 7
check baseline_table_knows_the_failed_one grep -qE '^map.gmp.gmp,tick=random,ring=4.*failed.NA.NA.NA.NA.NA$' "$folder/baseline.tsv"
drawn names_what_a_surface_is_of lengths-surface '>gmp on uneven<'
drawn names_its_axes lengths-surface '>rounds<'
drawn shows_where_it_is_slower lengths-surface '>0.50×<'
drawn shows_where_it_is_faster lengths-surface '>1.50×<'
drawn explains_the_line_between lengths-surface 'Thick line: here the multiple crosses 1'
drawn crosses_out_what_is_not_there lengths-surface '>not measured<'
drawn draws_that_line lengths-surface 'stroke-width="3.00"'
lacks maps_of_knobs_have_no_such_line 'Thick line|stroke-width="3.00"' "$folder/figures/map-heatmap.svg"
drawn shows_the_first_round_apart numbers-scale 'ns each, first round, 1 worker'
drawn shows_later_rounds numbers-scale 'ns each, later rounds, 1 worker'
drawn shows_what_each_takes numbers-scale 'bytes each, at the most, 1 worker'
drawn says_that_axes_are_logarithmic numbers-scale 'Both axes are logarithmic'
drawn explains_the_first_round numbers-scale 'for the first'
lacks figure_misses_no_curve 'no numbers' "$folder/figures/numbers-scale.svg"
drawn has_powers_of_ten numbers-scale '100k'
drawn has_percentiles tails-latency '99.9 %'
drawn has_time_units tails-latency ' µs'

# By hand, from elsewhere, without the program's texts.
mkdir elsewhere
for call in "throughput structures" "speedup structures" "events structures" "latency tails" "scale numbers" "metric structures"; do
    set -- $call
    check "plots_${1}_runs_by_hand" gnuplot -d -c "$plots/$1.gp" "$folder" "$2" "elsewhere/$1"
done
check plots_knob_runs_by_hand gnuplot -d -c "$plots/knob.gp" "$folder" tick elsewhere/knob tick 61
check plots_heatmap_runs_by_hand gnuplot -d -c "$plots/heatmap.gp" "$folder" map elsewhere/heatmap ring 256 tick 61
check plots_surface_runs_by_hand gnuplot -d -c "$plots/surface.gp" "$folder" lengths elsewhere/surface rounds '10 100'
check plots_write_all_formats test "$(find elsewhere -type f -size +0 | wc -l)" = 27
# For a paper: no words but those of the figure, as wide as was asked, and in LaTeX.
run 0 figures_for_a_paper "$folder" --paper --column 85mm --latex
paper=$folder/paper
check each_page_is_told test "$(grep -c '/paper/.*\.pdf$' out)" = "$(ls "$paper"/*.svg | wc -l)"
# fits WIDTH HEIGHT: no page of a paper is larger, in mm, and no text of it smaller than 6 pt; every word is on the page.
fits() {
    python3 -c '
import glob, re, sys
folder, width, height = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
names = sorted(glob.glob(glob.escape(folder) + "/*.svg"))
assert any(name.endswith("-2.svg") for name in names) or height > 110
for name in names:
    box = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ([0-9.]+)", open(name[:-4] + ".pdf", "rb").read())
    points = [float(n) for n in box.groups()]
    assert points[0] <= width / 25.4 * 72 + 1 and points[1] <= height / 25.4 * 72 + 1, (name, points)
    svg = open(name).read()
    across = float(re.search(r"viewBox=\"0 0 (\d+)", svg)[1])
    sizes = [float(n) for n in re.findall(r"font-size=\"([0-9.]+)\"", svg)]
    assert min(sizes) * points[0] / across >= 5.99, (name, min(sizes), points[0] / across)
    for x, turn, size, anchor, words in re.findall(r"translate\(([-\d.]+),[-\d.]+\)( rotate\([-\d.]+\))?\"[^>]*font-size=\"([\d.]+)\" *[^>]*?text-anchor=\"(\w+)\">\s*<text>(.*?)</text>", svg, re.S):
        wide = 0.5 * float(size) * len(re.sub(r"<[^>]*>|&\w+;", "", words).strip())
        left = float(x) - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        assert turn or left >= -1 and left + wide <= across + 1, (name, words)' "$paper" "$1" "$2"
}
check one_column_fits fits 85 110
for figure in structures-throughput structures-speedup structures-events structures-latency tick-knob map-heatmap numbers-scale tails-latency; do
    check "a_paper_has_$figure" test -s "$paper/$figure.pdf" -a -s "$paper/$figure.svg" -a -s "$paper/$figure-latex.pdf" -a -s "$paper/$figure-latex.tex"
    check "${figure}_is_as_wide_as_a_column" python3 -c '
import re, sys
for name in sys.argv[1:]:
    width = float(re.search(rb"/MediaBox \[ 0 0 ([0-9.]+)", open(name, "rb").read())[1])
    assert abs(width - 85 / 25.4 * 72) < 1, (name, width)' "$paper/$figure.pdf" "$paper/$figure-latex.pdf"
    lacks "${figure}_has_no_prose" 'Run a |95 % interval|Who wins' "$paper/$figure.svg"
    check "${figure}_is_what_latex_takes" python3 -c '
import re, sys
text = open(sys.argv[1]).read()
words = re.findall(r"\\strut\{\}(.*?)\}\}%", text)
assert words and not any(re.search(r"(?<!\\)[_%&#]", word) for word in words), words
assert re.search(r"\\includegraphics\[[^]]*\]\{" + sys.argv[2] + r"-latex\}", text) and "/" + sys.argv[2] not in text' "$paper/$figure-latex.tex" $figure
done
cp -r "$paper" paper.before
check a_paper_says_how_it_is_drawn env PLOTS="$plots" sh "$paper/draw.sh"
check that_draws_the_same sh -c 'for f in paper.before/*.svg; do cmp "$f" "$1/${f##*/}" || exit 1; done' - "$paper"
cp -r "$folder/figures" figures.before
check the_page_s_figures_have_their_commands env PLOTS="$plots" sh "$folder/figures/draw.sh"
check they_draw_the_same_too sh -c 'for f in figures.before/*.svg; do cmp "$f" "$1/${f##*/}" || exit 1; done' - "$folder/figures"
cp "$paper/structures-throughput.svg" "$paper/structures-throughput-3.svg"
run 0 two_columns_without_hue "$folder" --paper --column 178 --colours grey --font 'DejaVu Serif'
check two_columns_fit fits 178 200
check older_pages_are_gone test ! -e "$paper/structures-throughput-2.svg" -a ! -e "$paper/structures-throughput-3.pdf"
check the_font_is_the_one_asked_for grep -q 'font-family="DejaVu Serif"' "$paper/structures-throughput.svg"
check grey_has_no_hue python3 -c '
import re, sys
for name in sys.argv[1:]:
    colours = set(re.findall(r"rgb\( *(\d+), *(\d+), *(\d+)\)", open(name).read()))
    colours.discard(("148", "0", "211"))  # of the empty plot that opens a panel: nothing is drawn
    assert colours and all(r == g == b for r, g, b in colours), (name, colours)' "$paper"/*.svg
# Structures have colours of their own; in grey they are told apart by hatches.
mkdir stalls && printf 'group\tworkload\tvariant\tworkers\tstructure\tshare\tstall_ns\n' >stalls/structures.tsv
for structure in chan g stack lock; do
    printf 'what\tfib\t%s\t2\t%s\t0.25\t10\n' gmp $structure grq $structure
done >>stalls/structures.tsv
check stalls_are_drawn_for_paper gnuplot -d -e 'SL_COLUMN=85; SL_COLOURS="grey"' -c "$plots/stalls.gp" stalls what stalls/what
check grey_stalls_are_hatched grep -q 'url(#gpPat' stalls/what.svg
check grey_stalls_have_no_hue python3 -c '
import re
colours = re.findall(r"rgb\( *(\d+), *(\d+), *(\d+)\)", open("stalls/what.svg").read())
assert colours and all(r == g == b for r, g, b in colours if (r, g, b) != ("148", "0", "211")), colours'
check two_columns_are_wider python3 -c '
import re, sys
width = float(re.search(rb"/MediaBox \[ 0 0 ([0-9.]+)", open(sys.argv[1], "rb").read())[1])
assert abs(width - 178 / 25.4 * 72) < 1, width' "$paper/structures-throughput.pdf"
for wrong in "--column 85mm" "--latex" "--paper --column 9mm" "--paper --column wide" "--paper --font x;y" "--paper --no-figures" "--paper --format json"; do
    run 2 "misuse_of_a_paper_${wrong//[^a-z0-9]/_}" "$folder" $wrong
    check "it_is_one_line_${wrong//[^a-z0-9]/_}" test "$(wc -l <err)" = 1
done
# The other figures are drawn in one format.
cp -r "$plots" svg && sed -i 's/"svg pdf png"/"svg"/' svg/style.gp
gnuplot -d -c svg/metric.gp "$folder" tails elsewhere/p50 '' '' p50
check plots_show_a_quantile_of_each_cell grep -qF '>p50 of the latencies<' elsewhere/p50.svg
gnuplot -d -c svg/metric.gp "$folder" structures elsewhere/steals '' '' STEALS
check plots_show_an_event_of_each_cell grep -qE '>STEALS per ' elsewhere/steals.svg
gnuplot -d -c svg/metric.gp "$folder" structures elsewhere/nowhere '' '' NO_SUCH_EVENT
check plots_say_what_was_not_measured grep -qF '>not measured<' elsewhere/nowhere.svg
cat >marks.gp <<END
load "$plots/style.gp"
SL_STRANGERS = "one two three four"
VARIATIONS = "gmp gmp,tick=1 gmp,tick=2 gmp,tick=3 gmp,tick=4 gmp,tick=5"
do for [a in SL_STRANGERS] { do for [b in SL_STRANGERS] {
    if (a ne b && (sl_hue(a) == sl_hue(b) || sl_point(a, SL_STRANGERS) == sl_point(b, SL_STRANGERS))) { print a, " is ", b }
} }
do for [a in VARIATIONS] { do for [b in VARIATIONS] {
    if (a ne b && (sl_color(a, VARIATIONS) == sl_color(b, VARIATIONS) \
        || sl_point(a, VARIATIONS) == sl_point(b, VARIATIONS))) { print a, " is ", b }
} }
if (sl_wrap_spec("calls,n=50,sleep_ns=1000000", 12) ne "calls,n=50,\nsleep_ns=1000000") { print "not after a comma" }
if (sl_own_knobs("a,x=1,y=2", "a,x=1,y=2 a,x=1") ne "y=2") { print "own" }
if (sl_own_knobs("a,x=1", "a,x=1,y=2 a,x=1") ne "plain") { print "plain" }
if (sl_common("a,x=1,y=2 a,x=1") ne "a,x=1") { print "common" }
END
gnuplot -d marks.gp >out 2>&1
check plots_tell_variants_and_variations_apart test ! -s out
gnuplot -d -c svg/throughput.gp "$folder" map elsewhere/map '' '' gmp
check plots_mark_what_is_not_shown grep -qF '>~0.99×<' elsewhere/map.svg
check plots_explain_the_mark grep -qF '~: no difference shown.' elsewhere/map.svg
check plots_do_not_mark_what_is_shown grep -qF '>3.00×<' elsewhere/map.svg
mkdir unlike && cp "$folder/cells.tsv" unlike
awk -F'\t' -v OFS='\t' '$11 == "slower" { $8 = $9 = $10 = $12 = "NA"; $11 = "distances" } 1' "$folder/baseline.tsv" >unlike/baseline.tsv
gnuplot -d -c svg/throughput.gp unlike map elsewhere/unlike '' '' gmp
check plots_say_which_cells_have_no_distance_in_common grep -qF '>distances<' elsewhere/unlike.svg
check plots_explain_that_word grep -qF 'distances: no core distance has' elsewhere/unlike.svg
gnuplot -d -c svg/heatmap.gp unlike map elsewhere/unlike-heatmap ring 256 tick 61
check and_so_do_maps grep -qF '>distances<' elsewhere/unlike-heatmap.svg
gnuplot -d -c "$plots/terminal.gp" "$folder" map 120 0 gmp >text 2>err
check terminal_marks_what_is_not_shown grep -qE 'gmp,tick=1,ring=4 .* ~0.99× *$' text
check terminal_does_not_mark_what_is_shown grep -qE 'gmp,ring=4 .* 3.00× *$' text
mkdir rare gap
grep -v 'contsteal.*bytes' "$folder/scale.tsv" | grep -v first_ns >gap/scale.tsv
gnuplot -d -c svg/scale.gp gap numbers elsewhere/gap
check plots_name_the_curve_without_numbers grep -qF '>no numbers: contsteal<' elsewhere/gap.svg
lacks plots_explain_no_round_that_is_not_shown 'first round' elsewhere/gap.svg
awk 'BEGIN { FS = OFS = "\t" } NR > 1 && $11 != "NA" { $11 /= 1e5; $12 /= 1e5; $13 /= 1e5 } 1' "$folder/events.tsv" >rare/events.tsv
gnuplot -d -c svg/events.gp rare structures elsewhere/rare '' '' sde:::schedlab::STEALS
check plots_count_rare_events_per_million grep -qF 'STEALS per million operations' elsewhere/rare.svg
check plots_have_digits_of_rare_events grep -qF '>5.00<' elsewhere/rare.svg
gnuplot -d -c "$plots/throughput.gp" "$folder" nothing elsewhere/nothing >out 2>err
check plots_fail_without_the_group test $? = 1
one_line plots_name_the_missing_group "no rows of group 'nothing'"

# Again, and for programs ---------------------------------------------------------------------------

cp "$page" page.before
run 0 report_again "$folder" --no-figures
check report_again_is_the_same cmp -s "$page" page.before
run 0 report_as_json "$folder" --no-figures --format json
for part in '"outcome": "won"' '"efficiency": 1.0' '"outcome": "several not told apart"' '"fastest": "gmp"' '"next": "tasksteal"' '"status": "failed"' '"question": "Is 61 special?"' \
    '"class": "all"' '"more_workers_than_cores": true' '"n_all": 7' 'figures/tick-knob.svg"'; do
    check "json_has_$part" grep -qF -- "$part" out
done
check json_is_whole test "$(head -n 1 out)$(tail -n 1 out)" = '{}'

# Many variants ------------------------------------------------------------------------------------------

mkdir -p deep/er/many
cat >deep/er/many/sweep.yaml <<'END'
name: many
title: Many variants
groups:
  - {id: a, question: all?, baseline: gmp, variants: [gmp], knob: {name: tick, values: [1, 61]}, figure: knob, workloads: [yield], workers: [1, 2]}
  - {id: b, question: all?, baseline: gmp, variants: [gmp], knob: {name: tick, values: [1, 61]}, figure: knob, workloads: [yield], workers: [1]}
END
for tick in $(seq 1 150); do
    record 0 "gmp,tick=$tick" "\"tick\":$tick" yield 1 '"b"' "$(ok 1000 0)"
done >deep/er/many/samples.jsonl
record 0 gmp '' yield 1 '"b"' "$(ok 1000 0)" >>deep/er/many/samples.jsonl
for tick in $(seq 1 80); do
    for workers in 3 4; do record 0 "gmp,tick=$tick" "\"tick\":$tick" yield $workers '"a"' "$(ok 1000 0)"; done
done >>deep/er/many/samples.jsonl
run 0 report_of_many_variants deep/er/many --no-figures
check many_variants_have_their_own_baseline_alone grep -qF '"left_out":"Other baselines are left out' deep/er/many/report.html
check and_fewer_those_of_the_same_workers grep -qF '"left_out":"Baselines of other workers are left out' deep/er/many/report.html
check many_variants_take_no_megabytes [ "$(grep -F '"left_out":"Other' deep/er/many/report.html | wc -c)" -lt 600000 ]

# Three samples a cell ---------------------------------------------------------------------------------

mkdir -p deep/er/few
cp "$folder"/{sweep.yaml,environment.json} deep/er/few/
grep -E '"block":[0-2],' "$folder/samples.jsonl" >deep/er/few/samples.jsonl
run 0 report_of_few_samples deep/er/few
run 0 few_samples_as_json deep/er/few --no-figures --format json
check few_samples_have_no_interval_on_the_page grep -qF '<td class="range">too few</td>' deep/er/few/report.html
lacks few_samples_have_no_range_on_the_page '<td class="range">[0-9.]+ [kM]? ?to' deep/er/few/report.html
check few_samples_have_no_interval_in_answers grep -qF '(too few samples for an interval)' deep/er/few/report.html
check few_samples_have_a_reason_in_json grep -qF '"absent": "too few samples: a 95 % interval takes 6"' out
lacks few_samples_have_no_ends_in_json '"(lo|hi)": (0|[2-9]|1\.[0-9]*[1-9])' out
for figure in structures-throughput structures-speedup structures-events tick-knob tails-latency; do
    check "few_samples_are_said_in_$figure" grep -qE 'too few( samples)?' "deep/er/few/figures/$figure.svg"
done
check few_samples_stand_beside_the_value grep -qF '>too few<' deep/er/few/figures/structures-throughput.svg
map=deep/er/few/figures/map-heatmap.svg
check few_samples_of_a_map_are_explained grep -qF '>? too few samples<' $map
check few_samples_of_a_map_have_their_mark grep -qE '>\?3.0[0-9]×<' $map
lacks few_samples_of_a_map_need_no_other_key 'no difference shown|Coloured|Mann|rgb\(232' $map
check enough_samples_need_no_such_word test -z "$(grep -l "too few" "$folder"/figures/{structures,tick,tails}-{throughput,speedup,knob,latency}.svg 2>/dev/null)"

# Mistakes ------------------------------------------------------------------------------------------

run 2 misuse_without_run
one_line misuse_without_run_asks 'which run?'
run 2 misuse_two_runs "$folder" "$folder"
run 2 misuse_not_a_run "$scratch/a <run>"
one_line misuse_not_a_run_names_the_nearest "$folder"
mkdir -p alone/empty
run 2 misuse_no_run_near "$scratch/alone/empty"
one_line misuse_no_run_near_says_what_is_valid 'schedlab sweep'
run 2 misuse_folder_of_runs "$scratch"
one_line misuse_folder_of_runs_names_one "$folder"
run 2 misuse_format "$folder" --format htm
one_line misuse_format_names_the_nearest 'the nearest is "html"'

mkdir tools
for tool in "$schedlab"; do ln -s "$tool" tools/; done
rm "$page"
PATH=$scratch/tools run 1 no_gnuplot_is_a_failure "$folder"
one_line no_gnuplot_names_the_package gnuplot-nox
check no_gnuplot_still_writes_the_page grep -qF 'not told apart' "$page"
check no_gnuplot_is_said_on_the_page grep -qF 'figures are missing' "$page"

printf '#!/bin/sh\necho "line 1: cannot do it" >&2\nexit 1\n' >tools/gnuplot
chmod +x tools/gnuplot
PATH=$scratch/tools:$PATH run 1 broken_gnuplot_is_a_failure "$folder"
one_line broken_gnuplot_is_quoted 'cannot do it'

copy() { rm -rf copy && mkdir copy && cp "$folder"/{sweep.yaml,environment.json,samples.jsonl} copy/; }
copy
echo 'groups: [' >copy/sweep.yaml
run 1 bad_sweep_file_is_a_failure copy --no-figures
one_line bad_sweep_file_is_named 'copy/sweep.yaml:'
check bad_sweep_file_still_writes_the_page grep -qF 'id="group-structures"' copy/report.html
copy
printf '{"cpu":\n' >copy/environment.json
run 1 bad_environment_is_a_failure copy --no-figures
one_line bad_environment_is_named 'copy/environment.json:2: '
lacks bad_environment_is_not_missing 'has no environment.json' copy/report.html
copy
sed -i '/"reason":"wrong/d' copy/samples.jsonl
run 0 without_its_failed_sample_a_cell_is_good copy --no-figures
check page_has_the_number_of_a_good_cell grep -qF '1.00 G' copy/report.html
copy
rm copy/sweep.yaml copy/environment.json
run 0 records_alone_are_enough copy --no-figures
check records_alone_are_told_of grep -qF 'warning: copy has no environment.json' err
check records_alone_say_what_is_unknown grep -qF 'the machine is not known' copy/report.html
check records_alone_say_what_is_missing grep -qF 'it is unknown what the groups ask' copy/report.html
check records_alone_have_no_disturbances grep -qF 'did not record what doctor finds' copy/report.html
copy
sed -i 's/"sweep": {/&"fingerprint": "0123456789abcdef", /' copy/environment.json
run 0 changed_sweep_file_is_no_failure copy --no-figures
check changed_sweep_file_is_told grep -qF 'warning: copy/sweep.yaml was changed since the run' err
check changed_sweep_file_is_on_the_page grep -qF 'was changed since the run' copy/report.html
copy
sed -i 's/"variant":"grq"/"variant":"grq2"/' copy/samples.jsonl
run 0 unknown_variants_are_no_failure copy --no-figures
check unknown_variants_are_told grep -qF 'warning: the records have 1 variant that this program does not know' err
check unknown_variants_are_named grep -qF 'measured them: grq2' err
check unknown_variants_are_on_the_page grep -qF 'this program does not know' copy/report.html
copy
sed -i '3s/.*/not JSON/' copy/samples.jsonl
run 1 bad_record_is_a_failure copy --no-figures
one_line bad_record_is_named 'samples.jsonl:3'
copy
mkdir -p copy/report.html/in-the-way
run 1 unwritable_page_is_a_failure copy --no-figures
one_line unwritable_page_is_named 'copy/report.html'
copy
mkdir beside
ln -s ../beside copy/figures
run 1 figures_elsewhere_are_a_failure copy
one_line figures_elsewhere_are_named 'cannot make copy/figures: '
check nothing_is_drawn_elsewhere [ -z "$(ls beside)" ]
copy
mkdir copy/comparisons
cat >"copy/comparisons/before & after.json" <<'END'
{"a": {"side": "old", "revision": "0123"}, "b": {"side": "new", "run": "results/x"},
 "warnings": ["different <machines>"],
 "pairs": [
  {"workload": "yield", "workers": 2, "variant_a": "gmp", "variant_b": "grq", "median_a": 1000,
   "median_b": 2500, "ratio": {"ratio": 2.5, "lo": 2.4, "hi": 2.6}, "p_adjusted": 0.0001,
   "superiority": 1, "class": "near", "verdict": "faster"},
  {"workload": "mpmc", "workers": 1, "variant_a": "gmp", "variant_b": "gmp", "median_a": 1000,
   "median_b": 1000, "ratio": {"ratio": 1, "lo": 0.9, "hi": 1.1}, "p_adjusted": 0.5,
   "superiority": 0.5, "verdict": "~"},
  {"workload": "chan", "workers": 2, "variant_a": "gmp", "variant_b": "gmp", "median_a": 1000,
   "median_b": 3000, "verdict": "distances"},
  {"workload": "sem", "workers": 2, "variant_a": "gmp", "variant_b": "gmp", "median_a": 1000,
   "median_b": 3000, "verdict": "moods"},
  {"workload": "ring", "workers": 1, "variant_a": "gmp", "variant_b": "gmp", "verdict": "none",
   "reason": "it <failed>"}],
 "geomean": {"ratio": 1.58, "lo": 1.5, "hi": 1.7, "n": 2}}
END
echo '{"taken": "2026-01-31T12:00:00Z", "cpu": {"model": "x"}, "build": {"revision": "abc"}, "alpha": 0.05, "samples": 10, "cells": 12,
  "holds": true,
  "false_positives": {"comparisons": 200, "found": 9, "too_few": 6, "share": 0.045, "lo": 0.02, "hi": 0.083, "allowed": 18, "holds": true},
  "power": [{"slowdown_percent": 5, "comparisons": 20, "found": 18, "found_adjusted": 11, "too_few": 1, "share": 0.9, "lo": 0.7, "hi": 0.98}],
  "order": {"comparisons": 40, "decided": 30, "undecided": 2, "reversed": 0, "swapped": 40, "swapped_changed": 0, "holds": true}}' \
    >copy/audit.json
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' variant workload inside_ns outside_ns ratio rest_ns rest_lo_ns flag \
    gmp yield 1500000 4e6 2.667 -2e6 -3e6 'start-up <of 2 ms>' >copy/outside.tsv
cp copy/samples.jsonl copy/kept
run 0 extra_files_are_read copy --no-figures
page=copy/report.html
says comparison '<h3>before &amp; after</h3>'
says comparison_sides 'new, run results/x'
says comparison_warning 'different &lt;machines&gt;'
says comparison_ratio '<td class="number">2.50×</td>'
says comparison_interval '0.90 to 1.10'
says comparison_p '&lt;0.001'
says comparison_without_difference 'no difference shown</td>'
says_twice() { check "page_shows_$1" [ "$(grep -oF -- "$2" "$page" | wc -l)" = 2 ]; }
says_twice comparisons_without_a_verdict_also_of_an_earlier_version 'not comparable</td>'
says comparison_reason 'it &lt;failed&gt;'
says comparison_mean '<b>1.58×</b> (1.50 to 1.70) over 2 pairs'
says audit '9 of 200'
says audit_holds 'alpha 0.05: it holds'
says audit_counts '18 of 20'
says audit_power '90 %'
says audit_corrected '<td>11</td>'
says audit_cells_are_its_own 'revision abc, on 12 cells of its own'
says audit_too_few 'had 6 comparisons of equals, which are left out, and 1 of slowdowns, which count as not found'
says outside_rest '<td class="number">-2.00 ms</td>'
lacks outside_has_room_for_no_ends_of_intervals 'rest lo|-3.00 ms' copy/report.html
says audit_order 'of 40 verdicts 30 were shown in both orders and 0 of these turned around'
says outside '<td class="number">1.50 ms</td>'
says outside_flag '<td class="failed">start-up &lt;of 2 ms&gt;</td>'
check extra_sections_are_linked grep -qF 'href="#comparisons"' copy/report.html
lacks no_section_without_its_file 'id="(comparisons|outside|distances)"' "$folder/report.html"

rm copy/comparisons/* && echo '{"pairs": [{"workload": 1}]}' >copy/comparisons/x.json
run 1 bad_comparison_is_a_failure copy --no-figures
one_line bad_comparison_is_named 'copy/comparisons/x.json: pair 1:'
says bad_comparison 'copy/comparisons/x.json: pair 1:'
lacks bad_comparison_has_no_section 'id="comparisons"' copy/report.html
echo '[' >copy/comparisons/x.json
echo '{"false_positives": 3}' >copy/audit.json
printf 'a\tb\n1\n' >copy/outside.tsv
run 1 bad_extra_files_are_a_failure copy --no-figures
check each_bad_file_is_one_line test "$(wc -l <err)" = 3
for part in comparisons/x.json audit.json outside.tsv:2; do
    check "bad_file_is_named_$part" grep -qF "copy/$part" err
done
copy
lacks figures_that_are_there_are_not_missed 'asks for a figure' "$folder/report.html"
sed -i 's/,"latency":{[^}]*}//' copy/samples.jsonl
run 0 figure_without_numbers_is_no_failure copy --no-figures
check figure_without_numbers_is_told grep -q 'asks for a figure of latency, but the records' copy/report.html
copy
lacks as_many_cores_as_workers_are_not_remarked 'more workers than cores' "$folder/report.html"
sed -i '1,4s/"status":"ok"/"status":"ok","probe":{"cores":[0]}/; 1,4s/"workers":1/"workers":2/' copy/samples.jsonl
run 0 more_workers_than_cores_are_no_failure copy --no-figures
check more_workers_than_cores_are_told grep -q '4 samples had more workers than cores, up to 2 on 1' copy/report.html
copy
lacks samples_that_settled_are_not_remarked 'ended at its limit' "$folder/report.html"
sed -i '1,2s/"status":"ok"/"status":"ok","warmup_rule":"limit"/' copy/samples.jsonl
run 0 samples_that_did_not_settle_are_no_failure copy --no-figures
check samples_that_did_not_settle_are_remarked grep -q 'The warm-up of 2 of [0-9]* samples ended at its limit' copy/report.html
copy
lacks steal_that_is_known_is_not_remarked 'Steal is not known' "$folder/report.html"
sed -i '1,3s/"status":"ok"/"status":"ok","steal_share":{"absent":"x"}/' copy/samples.jsonl
run 0 steal_that_nobody_told_is_no_failure copy --no-figures
check steal_that_nobody_told_is_remarked grep -q 'Steal is not known of 3 of [0-9]* samples' copy/report.html
copy
lacks a_load_that_is_met_is_not_remarked 'load not met' "$folder/report.html"
sed -i '1,5s/"status":"ok"/"status":"ok","print":"load not met: 28 of 50 requests\/s\\n"/' copy/samples.jsonl
run 0 a_load_that_is_not_met_is_no_failure copy --no-figures
check a_load_that_is_not_met_is_remarked grep -q 'Requests came faster .* load not met in [1-5] of [0-9]* samples, the first: 28 of 50 requests/s' copy/report.html
check a_load_that_is_not_met_is_told_on_the_terminal grep -q '^schedlab report: .* on . worker.*: load not met in ' err
check a_load_that_is_not_met_is_in_the_table grep -q 'load not met in [1-5] of' copy/cells.tsv
"$schedlab" compare "$folder" copy >out 2>err
check a_load_that_is_not_met_warns_who_compares grep -q 'B: .* worker.*: load not met in ' err
copy
lacks samples_that_took_their_time_are_not_remarked 'ended before their calls' "$folder/report.html"
sed -i '1,3s/"status":"ok"/"status":"ok","short_ns":5,"outside":{"wall_ns":2e9}/' copy/samples.jsonl
run 0 samples_cut_short_are_no_failure copy --no-figures
cp copy/outside.tsv .
check samples_cut_short_are_told grep -q '3 of [0-9]* samples ended before their calls took the time' copy/report.html
copy
touch copy/figures
run 1 unwritable_figures_are_a_failure copy
one_line unwritable_figures_are_named 'copy/figures'
copy
: >copy/samples.jsonl
run 1 no_samples_are_a_failure copy
one_line no_samples_say_so 'copy/samples.jsonl: it holds no sample'
copy
sed -i '2s/"schema":2/"schema":99/' copy/samples.jsonl
run 1 another_schema_is_a_failure copy
one_line another_schema_is_named 'copy/samples.jsonl:2: not a record: its schema is 99; this program reads 2'
copy
sed -n 3,5p copy/samples.jsonl >again && cat again >>copy/samples.jsonl
run 0 doubled_lines_are_left_out copy --no-figures
check doubled_lines_are_counted grep -q 'copy/samples.jsonl: 3 lines were there before' err
check doubled_lines_change_no_table cmp copy/cells.tsv "$folder/cells.tsv"

# The committed run is what this program makes of its records. Digits may depend on the libraries.
mkdir reference
cp "$tree"/results/reference/{*.json,sweep.yaml,samples.jsonl.xz} reference
xz -d reference/samples.jsonl.xz
run 0 reference_is_reported reference --no-figures
# With its figures, 1.4 MB, the page of the default sweep has 3 MB at most.
check reference_has_a_page_with_room_for_figures [ "$(wc -c <reference/report.html)" -lt 1600000 ]
for table in "$tree"/results/reference/*.tsv; do
    name=${table##*/}
    keys() { awk -F'\t' '{ print NF, $1, $2, $4, $7 }' "$1"; }
    check "reference_has_the_columns_of_$name" cmp <(head -n 1 "reference/$name") <(head -n 1 "$table")
    check "reference_has_the_rows_of_$name" cmp <(keys "reference/$name") <(keys "$table")
done

# The schema of the records tells of every column and key; outside.tsv is of a run above.
xz -dc "$tree/results/reference/repro/repro.json.xz" >reference/repro.json
"$tree/tests/support/documented.py" "$tree/results/README.md" \
    reference/*.{tsv,json,jsonl} outside.tsv >out 2>err
check readme_has_every_column_and_key test "$? $(wc -c <out)" = '0 0'

finish
