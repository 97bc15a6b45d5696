#!/bin/bash
# test_export.sh - schedlab export: each format as its own reader would take it, and no lost or invented number.
#
#     tests/program/test_export.sh build/schedlab
#
# Prints TAP. Exports a run that it makes, with a failed cell and a value to be quoted added by hand.
. "$(dirname "$0")/../tap.sh"

run() {
    "$schedlab" export "$@" >out 2>err </dev/null
    status=$?
}

python() { # NAME SCRIPT: over `records`, all of the run, and `text`, what was exported
    local good=0
    python3 - <<END && good=1
import csv, io, json, re
records = [json.loads(line) for line in open('run/samples.jsonl')]
text = open('out', newline='').read()
ok = [r for r in records if r['status'] == 'ok']
def near(a, b): return abs(a - b) <= 1e-9 * abs(b)
$2
END
    report $good "$1"
}

cat >sweep.yaml <<'EOF2'
name: small
title: Something to export
reps: 3
min_time_ms: 1
warmup: 0
events: [PAPI_L1_DCM, "sde:::schedlab::DISPATCHES", "sde:::schedlab::DEQUE_MAX", "sde:::schedlab::PROCESS_CPU_NS"]
groups:
  - {id: a, question: Is it there?, baseline: gmp, variants: [gmp, "gmp,tick=64,runnext=off"], workloads: ["fib,n=8", "pingpong,rounds=50,latency=on"], workers: [1, 2]}
EOF2
"$schedlab" sweep sweep.yaml --results results --no-report >folder 2>err || { cat err && exit 1; }
mv "$(cat folder)" run
python3 - <<'EOF2'
import json
def calm(record): # undisturbed, and all of one core distance
    record.pop('marks', None)
    record.pop('check', None)
    if record['workers'] > 1:
        record['probe'] = {when: {'line_ns': 70.0, 'compute_ns': 9.0} for when in ('before', 'after')}
    return json.dumps(record)
lines = [calm(json.loads(line)) for line in open('run/samples.jsonl')]
failed = dict(json.loads(lines[0]), position=1000, cell='0123456789ab', variant='static', status='failed',
              reason='said "no", twice:\nno, no')
skipped = {k: v for k, v in failed.items() if k not in ('time_ns', 'ops', 'throughput', 'events', 'iterations')}
skipped |= {'position': 1001, 'cell': 'ba9876543210', 'variant': 'kthread', 'status': 'skipped', 'reason': 'too many threads'}
mixed = dict(json.loads(lines[0]), position=1002, cell='0123456789ab', variant='static')
with open('run/samples.jsonl', 'w') as file:
    file.writelines(line + '\n' for line in lines)
    for record in failed, skipped, mixed:
        file.write(json.dumps(record) + '\n')
    file.write('{"schema": 1, "cell": ')  # the writer was killed here
EOF2
run run --to csv
mv err torn.err
sed -i '$ d' run/samples.jsonl
cp out torn.csv
grep -q 'schedlab export: run/samples.jsonl: its last line is not whole; left out.*sweep --resume run' torn.err &&
    report 1 a_torn_last_line_is_said || report 0 a_torn_last_line_is_said
run run --to csv
grep -q 'not whole' err && report 0 a_whole_last_line_is_not || report 1 a_whole_last_line_is_not
[ $status = 0 ] && cmp -s out torn.csv && report 1 a_torn_last_line_is_left_out || report 0 a_torn_last_line_is_left_out

# CSV
[ "$(tail -c 2 out | od -An -tx1 | tr -d " ")" = 0d0a ] && report 1 csv_lines_end_in_crlf || report 0 csv_lines_end_in_crlf
python csv_has_a_line_per_sample "
rows = list(csv.DictReader(io.StringIO(text), strict=True))
assert len(rows) == len(records) == 27
assert all(len(row) == len(rows[0]) and None not in row for row in rows)
assert [row['cell'] for row in rows] == [r['cell'] for r in records]"
python csv_keeps_texts "
rows = list(csv.DictReader(io.StringIO(text), strict=True))
for row, r in zip(rows, records):
    assert row['variant'] == r['variant'] and row['workload'] == r['workload'] and row['reason'] == r.get('reason', '')"
python csv_keeps_numbers "
rows = list(csv.DictReader(io.StringIO(text), strict=True))
for row, r in zip(rows, records):
    assert ('time_ns' in r) == (row['time_ns'] != '')
    if r['status'] == 'ok':
        assert int(row['time_ns']) == r['time_ns'] and int(row['iterations']) == len(r['iterations'])
        assert near(float(row['throughput']), r['throughput'])
        assert row['knobs.tick'] == str(r['knobs']['tick']) and row['pin'] == 'false'
        assert (row['latency.p99_ns'] != '') == ('latency' in r)"
python csv_absent_is_empty "
rows = list(csv.DictReader(io.StringIO(text), strict=True))
for row, r in zip(rows, records):
    for e in r.get('events', []):
        column = 'event.' + e['name'].replace('sde:::schedlab::', '')
        assert row[column] == str(e.get('value', ''))"

# Google Benchmark
run run --to gbench
python gbench_has_every_good_sample_as_repetition "
b = json.loads(text)['benchmarks']
good = [r for r in ok if r['variant'] != 'static']
assert len(b) == len(good) == 24
for x, r in zip(b, good):
    distance = '/distance:near' if r['workers'] > 1 else ''
    assert x['name'] == x['run_name'] == '%s/%s/workers:%d%s' % (r['variant'], r['workload'], r['workers'], distance)
    assert x.get('line_ns') == (70 if distance else None) and 'label' not in x
    assert x['run_type'] == 'iteration' and x['repetitions'] == 3 and x['time_unit'] == 'ns'
    assert x['iterations'] == r['ops'] and near(x['real_time'], r['time_ns'] / r['ops'])
for name in {x['name'] for x in b}:
    same = [x for x in b if x['name'] == name]
    assert [x['repetition_index'] for x in same] == [0, 1, 2] and len({x['family_index'] for x in same}) == 1
assert len({x['family_index'] for x in b}) == 8"
python gbench_has_counters_and_cpu_time "
b = json.loads(text)['benchmarks']
good = [r for r in ok if r['variant'] != 'static']
for x, r in zip(b, good):
    e = {e['name']: e for e in r['events']}
    assert near(x['DISPATCHES'], e['sde:::schedlab::DISPATCHES']['per_op'])
    assert x['DEQUE_MAX'] == e['sde:::schedlab::DEQUE_MAX']['value']
    assert ('PAPI_L1_DCM' in x) == ('per_op' in e['PAPI_L1_DCM'])
    assert near(x['cpu_time'], e['sde:::schedlab::PROCESS_CPU_NS']['per_op'])"
grep -q "3 samples left out" err && report 1 what_is_left_out_is_said || report 0 what_is_left_out_is_said

# benchstat. Its grammar: golang.org/design/14313-benchmark-format.
run run --to benchstat
python benchstat_follows_the_grammar "
lines = text.splitlines()
number = r'[-+]?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?'
assert text.endswith('\n') and 'pkg: schedlab' in lines and 'goos: linux' in lines
for line in lines:
    assert re.fullmatch(r'[a-z][^A-Z\s]*: \S.*', line) or re.fullmatch(r'Benchmark[A-Z]\S* [1-9][0-9]*( ' + number + r' \S+)+', line), line"
python benchstat_has_every_good_sample "
lines = [line.split() for line in text.splitlines() if line.startswith('Benchmark')]
good = sorted((r for r in ok if r['variant'] != 'static'), key=lambda r: r['workers'] > 1)
assert len(lines) == len(good) == 24
for line, r in zip(lines, good):
    variant = r['variant'].replace(',', '/')
    assert line[0] == 'Benchmark%s/%s/P=%d-%d' % (variant[0].upper() + variant[1:], r['workload'].replace(',', '/'), r['workers'], r['workers'])
    units = dict(zip(line[3::2], map(float, line[2::2])))
    assert int(line[1]) == r['ops'] and near(units['ns/op'], r['time_ns'] / r['ops'])
    assert len(units) == len(line[2:]) // 2 and 'DISPATCHES/op' in units and 'DEQUE_MAX' in units
    assert ('p99-ns' in units) == ('latency' in r)
    assert units.get('line-ns') == (70 if r['workers'] > 1 else None)"
python benchstat_has_a_line_of_configuration_before_each_distance "
lines = text.splitlines()
at = lines.index('distance: near')
assert all('/P=1-1 ' in line for line in lines[:at] if line.startswith('Benchmark'))
assert all('/P=2-2 ' in line for line in lines[at + 1:])"

# Without events, what compare.py of Google Benchmark reads of each repetition is there nevertheless
sed 's/^events: .*/events: [none]/' sweep.yaml >none.yaml
"$schedlab" sweep none.yaml --results results --no-report --reps 1 >folder 2>err
run "$(cat folder)" --to gbench
python gbench_has_what_compare_py_reads "
b = json.loads(text)['benchmarks']
assert len(b) == 8
for x in b:
    assert {'name', 'run_type', 'repetitions', 'iterations', 'real_time', 'cpu_time', 'time_unit'} <= set(x), x
    assert x['cpu_time'] > 0"

# Cells that differ in their side, or in what they count, alone
mkdir apart
python3 - <<'EOF2'
import json
first = json.loads(open('run/samples.jsonl').readline())
with open('apart/samples.jsonl', 'w') as file:
    for cell, side, events in ('a', 'a', 1), ('b', 'b', 1), ('c', None, 3), ('d', None, 4):
        record = dict(first, cell=cell, position=ord(cell), events=first['events'][:events])
        if side: record['side'] = side
        file.write(json.dumps(record) + '\n')
EOF2
run apart --to gbench
python gbench_names_side_and_events "
b = json.loads(text)['benchmarks']
names = [x['name'].split('/', 2)[2] for x in b]
workers = json.loads(open('apart/samples.jsonl').readline())['workers']
plain, distance = 'workers:%d' % workers, '/distance:near' if workers > 1 else ''
assert names[:2] == [plain + '/side:a' + distance, plain + '/side:b' + distance], names
events = plain + '/events:PAPI_L1_DCM+sde:::schedlab::DISPATCHES+sde:::schedlab::DEQUE_MAX'
assert names[2:] == [events + distance, events + '+sde:::schedlab::PROCESS_CPU_NS' + distance], names
assert [x['repetitions'] for x in b] == [1] * 4"
run apart --to benchstat
python benchstat_names_side_and_events "
names = [line.split()[0] for line in text.splitlines() if line.startswith('Benchmark')]
assert len(set(names)) == 4 and '/side=a/P=' in names[0] and '/events=PAPI_L1_DCM+sde' in names[2], names"

# Core distances, and samples that were disturbed
mkdir distances
python3 - <<'EOF2'
import json
first = json.loads(open('run/samples.jsonl').readline())
near, far, mixed = (70.0, 71.0), (300.0, 310.0), (70.0, 300.0)
cells = {'x': (2, [near] * 4 + [far] * 3 + [mixed], [near]), 'y': (2, [near] * 2 + [far] * 2, []),
         'z': (1, [None] * 3, [None]), 'w': (1, [None] * 2, [None])}
position = 0
with open('distances/samples.jsonl', 'w') as file:
    for cell, (workers, calm, marked) in cells.items():
        for i, probe in enumerate(calm + marked):
            record = dict(first, cell=cell, workers=workers, position=position, workload='fib,n=%d' % ord(cell))
            record.pop('probe', None)
            if probe:
                record['probe'] = {'before': {'line_ns': probe[0]}, 'after': {'line_ns': probe[1]}}
            if i >= len(calm):
                record['marks'] = ['steal']
            position += 1
            file.write(json.dumps(record) + '\n')
EOF2
run distances --to gbench
python gbench_keeps_distances_apart_and_leaves_out_what_the_report_does "
import collections
b = json.loads(text)['benchmarks']
names = collections.Counter(x['name'].split('n=', 1)[1] for x in b)
x, y, z, w = ('%d/workers:%d' % (ord(c), n) for c, n in zip('xyzw', (2, 2, 1, 1)))
assert names == {x + '/distance:near': 4, x + '/distance:far': 3, y + '/distance:all': 4, z: 3, w + '/distance:all': 3}, names
assert [x['label'] for x in b if 'label' in x] == ['disturbed']
assert all(e['repetitions'] == names[e['name'].split('n=', 1)[1]] for e in b)
context = json.loads(text)['context']
assert 70 < context['distance_near_ns'] < 71 and 300 < context['distance_far_ns'] < 310"
what_was_left_out_is_said() {
    check "disturbed_samples_are_said_$1" grep -q ': 2 samples left out: marked as disturbed$' err
    check "rare_distances_are_said_$1" grep -q ': 1 sample left out: of no one core distance' err
    check "distances_together_are_said_$1" grep -q ': distance "all" of 2 cells: no core distance has 3 ' err
}
what_was_left_out_is_said gbench
run distances --to benchstat
python benchstat_keeps_distances_apart "
counts, distance = {}, None
for line in text.splitlines():
    if line.startswith('distance: '): distance = line.split()[1]
    if line.startswith('Benchmark'): counts[distance] = counts.get(distance, 0) + 1
assert counts == {None: 3, 'near': 4, 'far': 3, 'all': 7}, counts"
what_was_left_out_is_said benchstat
run distances --to csv
python csv_has_all_samples_with_marks_and_distances "
rows = list(csv.DictReader(io.StringIO(text), strict=True))
assert len(rows) == 20 and sum(row['marks'] == 'steal' for row in rows) == 3
assert [sum(row['distance'] == distance for row in rows) for distance in ('near', 'far', 'mixed', '')] == [7, 5, 1, 7]"
check csv_leaves_nothing_out [ ! -s err ]

# Tidy: a line per sample and metric, which are the numbers of the records.
run run --to tidy
python tidy_has_the_numbers_of_the_records "
rows = list(csv.DictReader(io.StringIO(text), strict=True))
assert list(rows[0]) == ['cell', 'variant', 'workload', 'workers', 'machine', 'block', 'status', 'disturbed', 'distance', 'metric', 'value', 'missing']
good = [r for r in ok if r['cell'] != '0123456789ab']
assert sum(row['metric'] == 'throughput' for row in rows) == len(records)
values = sorted(float(row['value']) for row in rows if row['metric'] == 'throughput' and row['value'])
assert len(values) == len(good) and all(near(a, b) for a, b in zip(values, sorted(r['throughput'] for r in good)))
dispatches = sorted(float(row['value']) for row in rows if row['metric'] == 'DISPATCHES')
wanted = sorted(e['per_op'] for r in good for e in r['events'] if e['name'].endswith('DISPATCHES'))
assert len(dispatches) == len(wanted) > 0 and all(near(a, b) for a, b in zip(dispatches, wanted))
assert any(row['metric'] == 'p50_ns' for row in rows)"
python tidy_has_no_zero_for_what_is_absent "
rows = list(csv.DictReader(io.StringIO(text), strict=True))
absent = sum('absent' in e for r in ok if r['cell'] != '0123456789ab' for e in r['events'] if e['name'] == 'PAPI_L1_DCM')
assert sum(row['metric'] == 'PAPI_L1_DCM' and row['value'] == '' for row in rows) == absent
assert all(row['value'] == '' for row in rows if row['status'] != 'ok')
assert all((row['value'] == '') == (row['missing'] != '') for row in rows)
reasons = {r['reason'] for r in records if r.get('reason')} | {e['absent'] for r in ok for e in r['events'] if 'absent' in e}
assert len(reasons & {row['missing'] for row in rows}) >= 2, {row['missing'] for row in rows}"

# The data dictionary has a row, with meaning and unit, for each column of csv: of this run, of a simulated one, and of
# each key that a record may have. And for each of tidy.
sed 's/^reps: 3/reps: 1/; s/workers: \[1, 2\]/workers: [2], machine: "sim:desktop8"/; /^events:/d' sweep.yaml >simulated.yaml
"$schedlab" sweep simulated.yaml --results results --no-report >folder 2>err || cat err
run "$(cat folder)" --to csv
cp out simulated.csv
run run --to csv
cp out native.csv
run run --to tidy
PYTHONPATH=$tree/tests/support TREE=$tree python every_column_has_a_row "
import documented, os, pathlib
readme = pathlib.Path(os.environ['TREE'], 'results/README.md').read_text()
def rows(heading):
    part = readme.split('### Columns of ' + heading + '\n')[1].split('\n#')[0]
    return [re.fullmatch(r'\| .(\S+). \| (.+?) \| (.+) \|', line) for line in part.split('\n') if line.startswith('| \x60')]
def patterns(heading):
    made = [re.escape(row[1]).replace('NAME', '[^ ]+').replace('QUANTILE', '(p[0-9]+|max)_ns') for row in rows(heading)]
    assert all(row and row[2] and row[3] for row in rows(heading)) and len(made) == len(set(made))
    return made
def lacking(columns, heading):
    return [c for c in columns if not any(re.fullmatch(p, c) for p in patterns(heading))]
columns = {c for name in ('native.csv', 'simulated.csv') for c in next(csv.reader(open(name, newline='')))}
assert len(columns) > 150 and not lacking(columns, 'csv'), lacking(columns, 'csv')
objects = {'knobs', 'params', 'events', 'probe', 'probe.before', 'probe.before.pairs', 'probe.after', 'latency', 'latency.buckets',
           'outside', 'found', 'found_last', 'core_time', 'waits', 'structures', 'sites', 'runtime', 'request_parts', 'request_parts.parts', 'request_parts.classes',
           'request_parts.absent'} # an absent object is a column that is empty
keys = {k for k in documented.tables_of(readme)['samples.jsonl'] if '[]' not in k and k not in objects and not k.isupper()}
assert len(keys) > 50 and not lacking(keys, 'csv'), lacking(keys, 'csv')
assert [row[1] for row in rows('tidy')] == next(csv.reader([text.split('\n')[0].strip()]))"
check lists_of_objects_are_no_column sh -c '! head -n 1 simulated.csv | tr , "\n" | grep -qE "^(structures|sites)"'

# LaTeX: tables that any compiler takes, with the numbers of the report.
run run --to latex
python latex_is_whole "
body = re.sub(r'\\\\[\\\\&%\$#_{}]', '', text) # without what is escaped
assert body.count('{') == body.count('}') and text.count('\\\\begin{') == text.count('\\\\end{')
rows = [line for line in text.split('\\n') if line.startswith('\\\\quad')]
assert rows and all(line.endswith('\\\\\\\\') for line in rows)
assert all(line.count(' & ') + line.count('multicolumn{2}') == 3 for line in rows), rows
assert not re.search(r'(?<!\\\\)[_#%]', body.split('\\n', 2)[2]), 'something is not escaped'"
python latex_has_the_medians_of_the_tables "
cells = list(csv.DictReader(open('run/cells.tsv'), delimiter='\t'))
assert text.count('baseline') >= 1 and 'schedlab sweep' in text and 'toprule' in text
assert sum(line.startswith('\\\\quad') for line in text.split('\\n')) == len(cells)"

# A table of more rows than a page has breaks, with its head on each page; and the signs that TeX's first fonts have others for.
sed -e "s/^reps: 3/reps: 1/; /^events:/d; s/Is it there?/'Is \"it\" <= 5 | > 3?'/; s/workers: \[1, 2\]/workers: [1]/" \
    -e "s/workloads: .*\], workers/workloads: [$(seq -s ', ' -f '"order,n=%g"' 3 22)], workers/" sweep.yaml >long.yaml
"$schedlab" sweep long.yaml --results results --no-report >folder 2>err || cat err
run "$(cat folder)" --to latex
python latex_breaks_a_long_table_over_pages "
assert text.count('\\\\begin{longtable}') == 1 and text.count('\\\\end{longtable}') == 1 and 'begin{table}' not in text
head, rows = text.split('\\\\endfoot\\n')
assert head.count('variant & workers') == 2 and head.index('endfirsthead') < head.index('endhead')
assert head.index('caption') < head.index('label') < head.index('toprule')
assert sum(line.startswith('\\\\quad') for line in rows.split('\\n')) == 40 and rows.count('}} \\\\\\\\*\\n') == 20"
check latex_has_signs_that_every_font_has grep -qF "{Is \`\`it'' \\textless{}= 5 \\textbar{} \\textgreater{} 3? " out

# Names that are markup, or commands of TeX, gnuplot and the shell, are text everywhere.
cat >hostile.yaml <<'END'
name: hostile
title: &name '</title><script>alert(1)</script> "a" it''s & {x}_y^2 \alpha @z ~n %d #1 $HOME `id` --x a---b c''''d e,,f "''g''"'
reps: 1
warmup: 0
iterations: 1
groups:
  - {id: all, question: *name, baseline: grq, variants: [grq, gmp], workloads: ["spawn,n=9"], workers: [1], machine: sim:laptop}
END
"$schedlab" sweep hostile.yaml --results results >folder 2>err || cat err
hostile=$(tail -n 1 folder)
cat >hostile.py <<'END'
import html, re, sys, xml.etree.ElementTree
folder, exported = sys.argv[1], open(sys.argv[2]).read()
name = re.search("title: &name '(.*)'\n", open('hostile.yaml').read()).group(1).replace("''", "'")
page = open(folder + '/report.html').read()
assert html.unescape(re.search('<title>(.*?)</title>', page, re.S).group(1)) == name
heads = [html.unescape(re.sub('</?code>', '`', head)) for head in re.findall('<h1>(.*?)</h1>', page)]
assert name in heads and '<script>alert' not in page, heads
figure = xml.etree.ElementTree.parse(folder + '/figures/all-throughput.svg')
words = [''.join(each.itertext()).strip() for each in figure.iter('{http://www.w3.org/2000/svg}text')]
assert name in " ".join(words), words
caption = re.search(r'\\caption\{(.*?) Operations a second', exported).group(1)
signs = {'textasciicircum': '^', 'textasciitilde': '~', 'textasciigrave': '`', 'textbackslash': '\0', 'textless': '<', 'textgreater': '>'}
assert not re.search("--|,,|'''", caption), caption # TeX would make one sign of them
caption = re.sub(r'\\(text[a-z]+)\{\}', lambda found: signs[found.group(1)], caption)
caption = re.sub(r'\\([&%$#_{}])', r'\1', caption.replace("``", '"').replace("''", '"').replace('{}', '')).replace('\0', '\\')
assert caption == name, caption
END
run "$hostile" --to latex
check hostile_names_are_text_in_page_figure_and_latex python3 hostile.py "$hostile" out
mkdir -p again/figures && cp "$hostile"/*.tsv again/ && cp "$hostile/figures/draw.sh" again/figures/
check the_shell_takes_hostile_names_as_they_are sh -c 'PLOTS="$1/plots" sh again/figures/draw.sh && python3 -c "
import re, sys
a, b = (re.findall(\"<text.*?</text>\", open(path).read(), re.S) for path in sys.argv[1:])
assert a == b and a" again/figures/all-throughput.svg "$2/figures/all-throughput.svg"' - "$tree" "$hostile"
run "$hostile" --to csv
check csv_is_whole_beside_hostile_names python3 -c '
import csv
rows = list(csv.DictReader(open("out")))
assert len(rows) == 2 and {row["variant"] for row in rows} == {"grq", "gmp"}, rows'

# A caption says where: a simulated run is on no real threads, and its command has the machine that the command line said.
captions() { grep '^.caption' out; }
cat >mixed.yaml <<'END'
name: mixed
title: Real threads and simulated ones
reps: 1
warmup: 0
iterations: 1
groups:
  - {id: real, question: Real?, baseline: grq, variants: [grq, gmp], workloads: ["spawn,n=9"], workers: [1]}
  - {id: not, question: Not real?, baseline: grq, variants: [grq, gmp], workloads: ["spawn,n=9"], workers: [1], machine: sim:laptop}
END
"$schedlab" sweep mixed.yaml --results results --no-report >folder 2>err || cat err
run "$(cat folder)" --to latex
check a_caption_of_each_machine sh -c 'grep -c "^.caption" out | grep -qx 2 && grep -q "Real? Operations a second on real threads" out &&
    grep -q "Not real? Operations a second on the simulated machine sim:laptop, " out && ! grep -q "on native" out'
check the_file_says_the_machine sh -c '! grep -qF -e "-{}-machine" out'
"$schedlab" sweep mixed.yaml --machine sim:desktop8 --what-if grq.lock=free --results results --no-report >folder 2>err || cat err
run "$(cat folder)" --to latex
check a_simulated_run_is_on_no_real_threads sh -c '[ "$(grep -c "^.caption.*on the simulated machine sim:desktop8, " out)" = 2 ] && ! grep -q "real threads\|on native" out'
check what_if_is_another_machine [ "$(captions | grep -c 'on the simulated machine sim:desktop8,grq.lock=free, ')" = 2 ]
check the_command_has_its_machine [ "$(captions | grep -cF -e '-{}-machine sim:desktop8 -{}-what-if grq.lock=free}.')" = 4 ]

# The same run as data frames. The first python3 may not be the distribution's, which has pandas.
for pandas in python3 /usr/bin/python3; do
    "$pandas" -c 'import pandas' 2>/dev/null && break
done
PYTHONPATH=$tree/python "$pandas" - >frames 2>&1 <<'END'
import json
import schedlab
run = schedlab.load('run')
records = [json.loads(line) for line in open('run/samples.jsonl') if line.endswith('}\n')]
good = [r for r in records if r['status'] == 'ok']
assert len(run.samples) == len(records)
wanted = sum(r['throughput'] for r in good)
assert abs(run.samples.throughput.sum() - wanted) < 1e-9 * wanted
assert run.samples[run.samples.status != 'ok'].throughput.isna().all(), 'a failed sample has no throughput'
assert run.events[run.events.event == 'PAPI_L1_DCM'].n.notna().all()
assert 'DISPATCHES' in set(run.events.event) <= set(run.samples.columns), 'an event has one name'
ratios = schedlab.ratios(run.cells[run.cells.status == 'ok'], 'gmp')
assert (ratios[ratios.variant == 'gmp'].ratio.dropna() == 1).all() and len(ratios) > 4
for wrong in (lambda: schedlab.ratios(run.cells, 'gnp'), lambda: schedlab.load('nowhere')):
    try:
        wrong()
    except (ValueError, FileNotFoundError) as error:
        assert 'valid: ' in str(error) or 'samples.jsonl' in str(error)
    else:
        raise AssertionError('nothing was said')
print('well')
END
check a_run_is_data_frames sh -c "grep -qx well frames || { cat frames >&2; false; }"
check the_example_of_data_frames_runs sh -c "$pandas '$tree/examples/frames.py' run gmp >shown 2>&1 && grep -q '^Multiples of gmp' shown &&
    grep -q '^Counts per operation that differ most on .*, workers=1, native:' shown"
# One workload on two machines: half as much again natively, 50 times as much on the simulated one. Their mean is nobody's.
mkdir machines
cp run/samples.jsonl machines
python3 - <<'END'
import csv
rows = list(csv.DictReader(open('run/cells.tsv'), delimiter='\t'))
base = next(row for row in rows if row['variant'] == 'gmp' and row['workers'] == '2')
with open('machines/cells.tsv', 'w') as file:
    made = csv.DictWriter(file, rows[0].keys(), delimiter='\t', lineterminator='\n')
    made.writeheader()
    for machine, times in ('native', 1.5), ('sim:desktop8', 50):
        made.writerow(dict(base, machine=machine, cell='a' + machine, status='ok', median=1000))
        made.writerow(dict(base, machine=machine, cell='b' + machine, status='ok', median=1000 * times, variant='grq'))
END
check the_example_tells_machines_apart sh -c "$pandas '$tree/examples/frames.py' machines gmp >shown 2>&1 &&
    grep -qE '^native .* 1\.0 +1\.5$' shown && grep -qE '^sim:desktop8 .* 1\.0 +50\.0$' shown"
check a_run_without_counts_says_so grep -q '^This run has no counts' shown

# Records of other programs
mkdir damaged
cp run/samples.jsonl damaged
printf '{"cpu":\n' >damaged/environment.json
run damaged --to gbench
[ $status = 1 ] && grep -q 'damaged/environment.json:2: ' err && report 1 broken_environment_is_named || report 0 broken_environment_is_named
: >damaged/samples.jsonl
run damaged --to gbench
[ $status = 1 ] && grep -q 'damaged/samples.jsonl: it holds no sample' err && report 1 no_samples_are_told || report 0 no_samples_are_told

# Where to
run run --to benchstat
cp out whole
run run --to benchstat --output file
[ $status = 0 ] && [ ! -s out ] && cmp -s file whole && report 1 output_goes_to_a_file || report 0 output_goes_to_a_file
run run --to csv --output /dev/full
[ $status = 1 ] && grep -q /dev/full err && report 1 a_full_disk_is_told || report 0 a_full_disk_is_told
run run --to csv --output no/such/file
[ $status = 1 ] && grep -q no/such/file err && report 1 no_such_folder_is_told || report 0 no_such_folder_is_told
mkdir broken && echo nonsense >broken/samples.jsonl
run broken --to csv
[ $status = 1 ] && grep -q "broken/samples.jsonl:1" err && report 1 broken_records_are_told || report 0 broken_records_are_told

# Misuse
misuse no_run "which run?" -- --to csv
misuse no_format "valid: gbench, benchstat, csv, tidy, latex" -- run
misuse unknown_format 'the nearest is "benchstat"' -- run --to benchtat
misuse not_a_run "is not a run" -- . --to csv
misuse two_runs "one run at a time" -- run run --to csv
misuse unknown_option 'the nearest is "--output"' -- run --to csv --outptu x

finish
