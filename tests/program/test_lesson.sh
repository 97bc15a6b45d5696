#!/bin/bash
# test_lesson.sh - each lesson's runs print what it says of them; its page stops where the captions are, and the committed
# pages have the words of the lessons.
#
#     tests/program/test_lesson.sh build/schedlab
#
# The data of committed pages (times, steps) may be of an older revision: a change of a scheduler would else have to
# commit twelve pages. Their words may not.
#
# Prints TAP. Needs the program, chromium and python3.
. "$(dirname "$0")/../tap.sh"

run() {
    "$schedlab" "$@" >out 2>err </dev/null
    status=$?
}

# done_with PART: the last command succeeded in silence, and printed PART.
done_with() { [ $status = 0 ] && [ ! -s err ] && contains out "$1"; }

lessons=("$tree"/harness/lessons/*.yaml)
run lesson
check the_course_is_listed done_with 'A loop that starts 20 goroutines'
check the_list_has_all_lessons [ "$(grep -cE '^ ?[0-9]+  ' out)" = ${#lessons[@]} ]
for file in "${lessons[@]}"; do
    name=$(basename "$file" .yaml)
    title=$(sed -n 's/^title: //p' "$file")
    run lesson "$((10#${name%%-*}))"
    check "runs_print_what_is_said_${name//-/_}" done_with "$title"
    check "lines_fit_${name//-/_}" python3 -c '
import sys
assert all(len(line.rstrip("\n")) <= 80 or line.startswith(("$ ", "  | ")) for line in open("out"))'
done
run lesson stealing
cp out named
run lesson 03-stealing
check names_stand_for_numbers cmp -s named out

# Misuse ---------------------------------------------------------------------------------------------

misuse a_number_that_is_none 'valid: 1 to ' -- lesson 99
misuse a_near_name_is_offered 'the nearest is "stealing"' -- lesson steeling
misuse one_lesson_at_a_time 'one lesson at a time' -- lesson 1 2
misuse a_page_is_of_one_lesson '--format=page is of one lesson' -- lesson --format page
misuse pages_are_of_all '--pages writes all lessons' -- lesson 1 --pages x
misuse pages_are_pages 'leave out --format' -- lesson --pages x --format page
misuse a_format_that_is_none 'valid: text, page' -- lesson 1 --format pdf
run lesson --pages /nowhere/x
check a_folder_that_cannot_be_made_is_one_line [ $status = 1 -a "$(wc -l <err)" = 1 ]

# Wrong files: a program in build/ reads the data beside that folder -----------------------------------

mkdir -p lab/build lab/harness/lessons
cp "$schedlab" lab/build/
cp -r "$tree/harness/viewer" "$tree/harness/machines" lab/harness/
ln -s "$(realpath "$tree/build/schedlab-sim")" lab/build/schedlab-sim
whole='title: T
question: Q
text: A text.
learned: An answer.
runs:
  - says: S
    command: trace gmp order,n=3 --workers 1
    expect: ["ran G2"]
    tells: It ends.
    stops:
      - {event: "ran G2", says: Here.}
      - {event: "20", says: There.}'
# wrong NAME WHERE STATUS SED PART: the lesson with that change is refused at that line, and the message has PART.
wrong() {
    sed "$4" <<<"$whole" >lab/harness/lessons/01-it.yaml
    lab/build/schedlab lesson 1 >out 2>err
    status=$?
    check "$1" eval "[ $status = $3 ] && contains err '01-it.yaml:$2' && contains err '$5' && [ \"\$(wc -l <err)\" = 1 ]"
}
sed '' <<<"$whole" >lab/harness/lessons/01-it.yaml
lab/build/schedlab lesson 1 >out 2>err
check a_lesson_of_ones_own contains out 'There.'
check what_it_tells_comes_behind_the_run sh -c '[ "$(tail -n 5 out)" = "    There.

It ends.

Learned: An answer." ]'
wrong an_unknown_key '2: ' 1 's/^question/qestion/' question
wrong a_missing_key '' 1 '/^text/d' text
wrong a_key_of_a_stop_is_named '11: ' 1 's/says: Here/say: Here/' says
wrong a_regex_that_is_none '8: ' 1 '0,/ran G2/s//(ran/' 'is no regular expression'
wrong a_command_that_is_none '7: ' 1 's/trace gmp/sweep gmp/' 'valid: run, trace or diff'
wrong a_run_has_a_machine '7: ' 1 's/trace gmp/run gmp/;/stops/,$d' 'valid: --machine sim:MODEL'
wrong real_threads_are_never_the_same '7: ' 1 's/1$/1 --machine native/' 'real threads'
wrong stops_are_of_a_trace '7: ' 1 's/trace gmp/diff gmp gmp/' 'valid: trace without --format and --replay'
wrong rows_of_a_textbook_are_its_stops '7: ' 1 's/trace gmp.*/trace --replay fib4/' 'valid: trace without --format and --replay'
wrong what_is_not_printed_fails '6: ' 1 '0,/ran G2/s//ran G20/' 'does not print "ran G20"'
wrong a_stop_that_is_nowhere_fails '11: ' 1 's/event: .ran G2/event: "ran G20/' 'no event after step 0 fits'
wrong stops_are_in_order '12: ' 1 's/"20"/created G0/' 'no event after step'
wrong a_command_that_fails '6: ' 1 's/order,n=3/ordre/' 'ordre'
mv lab/harness/lessons/01-it.yaml lab/harness/lessons/02-it.yaml
lab/build/schedlab lesson >out 2>err
check numbers_have_no_gap contains err 'valid: 01-NAME.yaml'
rm lab/harness/lessons/*

# Pages ------------------------------------------------------------------------------------------------

run lesson --pages pages
check pages_are_written [ $status = 0 -a "$(ls pages/[01]*.html | wc -l)" = ${#lessons[@]} ]
check a_page_leads_to_the_next_ones python3 -c '
import pathlib, re
pages = sorted(pathlib.Path("pages").glob("[01]*.html"))
for i, page in enumerate(pages):
    links = dict(re.findall("rel=\"(\\w+)\" href=\"(.+?)\"", page.read_text()))
    wanted = {"prev": i > 0 and pages[i - 1].name, "next": i + 1 < len(pages) and pages[i + 1].name}
    assert links == {k: v for k, v in wanted.items() if v}, (page, links)'
check every_link_of_the_course_is_there python3 -c '
import pathlib, re
for name in ("index.html", "README.md"):
    links = re.findall("(?:href=\"|\\]\\()([^\")]+)", pathlib.Path("pages", name).read_text())
    assert len(links) == '${#lessons[@]}' and all(pathlib.Path("pages", link).exists() for link in links), links'
check each_stop_of_a_run_without_a_script_has_its_table python3 -c '
import pathlib, re
for page in pathlib.Path("pages").glob("[01]*.html"):
    text = page.read_text()
    tables = re.findall("<noscript><pre class=\"code\">(.*?)</pre>\\s*</noscript>", text, re.S)
    assert len(tables) == text.count("<ol class=\"stops\">") > 0 and all(tables), page'
# A reader predicts before the answer is there: the first output is folded or has a player, and accounts come behind all runs.
check answers_come_behind_the_runs python3 -c '
import pathlib, re
for page in pathlib.Path("pages").glob("[01]*.html"):
    text = page.read_text()
    first, second = text.index("<h2>Run 1"), text.index("<h2>Run 2")
    fold = re.search("<details class=.answer.><summary>Predict, then see what it prints</summary>\s*<pre.*</details>", text[first:second], re.S)
    assert bool(fold) != ("class=\"events\"" in text[first:second]), page
    assert text.find("<h2>What popular") == -1 or text.index("<h2>What popular") > text.rindex("<h2>Run "), page'
check the_index_is_a_course sh -c '[ "$(grep -c "<h2>" pages/index.html)" = 4 ] && [ "$(grep -c "<details>" pages/index.html)" = '${#lessons[@]}' ]'
check the_list_has_its_parts sh -c '"$1" lesson | grep -qx Time' - "$schedlab"
run lesson 8 --format page
check a_page_is_the_same_each_time cmp -s out pages/08-*.html
check pages_are_small [ -z "$(find pages -size +150k)" ]
check the_committed_pages_have_the_words_of_the_lessons python3 -c '
import pathlib, re, sys
def words(path):
    text = path.read_text()
    if path.suffix == ".md":
        return text
    text = "".join(re.findall("<article>.*?</article>", text, re.S))
    text = re.sub("<pre.*?</pre>|<script.*?</script>", "", text, flags=re.S)
    return re.sub(" data-step=.\\d+.|<b>Step.*?\\. ", "", text)
new, old = (pathlib.Path(folder) for folder in sys.argv[1:])
assert sorted(p.name for p in new.iterdir()) == sorted(p.name for p in old.iterdir())
wrong = [p.name for p in new.iterdir() if words(p) != words(old / p.name)]
assert not wrong, wrong' pages "$tree/docs/lessons"

. "$tree/tests/support/browse.sh"

cat >test.js <<'END'
(() => {
const run = page.lead.run, text = () => { page.caption(); return document.getElementById('caption').textContent; };
const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
const items = [...document.querySelectorAll('.stops li')];
const found = {first: text(), seen: [], stops: page.stops.length, items: items.length};
for (let i = 0; i < page.stops.length; i++) {
    press('s');
    found.seen.push([run.at, text() === `${i + 1} of ${page.stops.length}: ${page.stops[i].says}`,
        document.getElementById('caption').className, items[i].textContent.includes(run.words(run.at))]);
}
press('s');
found.stays = run.at === page.stops[page.stops.length - 1].at;
press('S');
found.back = run.at === page.stops[page.stops.length - 2].at;
items[0].click();
found.clicked = run.at === page.stops[0].at;
page.goTo(page.stops[page.stops.length - 1].at + 1);
found.folds = ['', 'beforeprint', 'afterprint'].map((event) => {
    if (event) dispatchEvent(new Event(event));
    return [...document.querySelectorAll('details.answer')].map((fold) => fold.open);
});
found.passed = text().startsWith(`${page.stops.length} of`) && document.getElementById('caption').className === '';
press('Home');
document.getElementById('stop').click();
found.button = run.at === page.stops[0].at;
const pre = document.createElement('pre');
pre.id = 'found';
pre.textContent = JSON.stringify(found);
document.body.append(pre);
})();
END
found() {
    python3 -c '
import html, json, re, sys
f = json.loads(html.unescape(re.search("<pre id=\"found\">(.*?)</pre>", open("dom").read(), re.S).group(1)))
assert eval(sys.argv[1]), f' "$1"
}
# browse_with_test PAGE [STATE]: with test.js behind its own script.
browse_with_test() {
    sed -e '$d' "$1" >tested.html
    printf '</script><script>\n%s\n</script></body></html>\n' "$(cat test.js)" >>tested.html
    browse "tested.html${2:-}"
}
for page in pages/0[13]-*.html; do
    browse_with_test "$page"
    name=$(basename "$page" .html)
    check "console_is_silent_${name//-/_}" test ! -s said
    check "captions_are_shown_at_their_stops_${name//-/_}" found \
        'f["stops"] > 3 and f["items"] == f["stops"] and all(s[1] and s[2] == "here" for s in f["seen"])'
    check "the_list_has_the_words_of_the_player_${name//-/_}" found 'all(s[3] for s in f["seen"])'
done
check the_first_words_say_how found '"stops; s goes to the next one" in f["first"]'
check after_the_last_stop_is_none found 'f["stays"]'
check capital_s_goes_back found 'f["back"]'
check a_click_in_the_list_goes_there found 'f["clicked"]'
check a_caption_that_was_passed_steps_back found 'f["passed"]'
check the_answer_is_unfolded_on_paper found 'f["folds"] == [[False], [True], [False]]'
check the_button_is_the_key found 'f["button"]'

# The same by style alone, for a page whose script does not run. Rules for paper hold everywhere here.
sed -e '/^<script>$/,$d' -e 's/@media print{/@media all{/g' pages/01-*.html >paper.html
cat >>paper.html <<'END'
<script>
const folds = [...document.querySelectorAll('details.answer')], pre = document.createElement('pre');
pre.id = 'found';
pre.textContent = JSON.stringify(folds.map((fold) => [fold.open, fold.querySelector('pre').checkVisibility()]));
document.body.append(pre);
</script></body></html>
END
browse paper.html
check paper_needs_no_script_for_the_answer found 'f == [[False, True]]'

# Each run with stops, and each table of the textbook, has a player, whose keys and stops move it alone.
cat >test.js <<'END'
(() => {
const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
const places = () => pages.map((page) => page.lead.run.at);
const found = {opened: places(), used: pages.indexOf(current), players: []};
pages.forEach((page, k) => {
    const items = [...page.root.querySelectorAll('.stops li')], before = places();
    page.root.scrollIntoView();
    page.part('back').click(); /* which makes it the one that keys are for */
    page.goTo(page.stops[0].at);
    const seen = [];
    for (let i = 1; i < page.stops.length; i++) {
        press('s');
        page.caption();
        seen.push(page.lead.run.at === page.stops[i].at && page.part('caption').className === 'here' &&
            page.part('caption').textContent === `${i + 1} of ${page.stops.length}: ${page.stops[i].says}`);
    }
    page.part('find').value = 'no such words';
    page.part('next').click();
    const unfound = page.lead.say.textContent;
    page.render(); /* the browser would, in its own time */
    found.players.push({variant: page.lead.run.variant, stops: page.stops.length, items: items.length, seen, unfound, hash: location.hash,
        alone: places().every((at, i) => i === k || at === before[i]),
        words: items.every((item, i) => item.textContent.includes(page.lead.run.words(page.stops[i].at)))});
});
found.ids = [...document.querySelectorAll('[id]')].map((each) => each.id);
pages[0].root.scrollIntoView();
press('End');
found.in_sight = pages[0].lead.run.at === pages[0].lead.run.count - 1;
const pre = document.createElement('pre');
pre.id = 'found';
pre.textContent = JSON.stringify(found);
document.body.append(pre);
})();
END
browse_with_test pages/12-*.html
check console_is_silent_of_three_designs test ! -s said
check each_design_has_a_player found '[p["variant"].split(",")[0] for p in f["players"]] == ["grq", "perm", "gmp"]'
cp dom designs
browse_with_test pages/11-*.html '#e=7&z=0-100&p=3'
check console_is_silent_of_four_small_runs test ! -s said
check each_policy_has_a_player_on_one_and_on_two found '[p["variant"].split(",")[0] for p in f["players"]] == ["tasksteal"] * 2 + ["contsteal"] * 2 + ["gmp"]'
check rows_of_the_book_are_stops found '[p["stops"] for p in f["players"][1:4]] == [15, 12, 14]'
check a_link_opens_its_player found 'f["used"] == 2 and f["opened"][2] == 6 and f["opened"][0] != 6'
cp dom small
for page in designs small; do
    cp $page dom
    check "keys_move_the_player_last_used_$page" found 'all(all(p["seen"]) and len(p["seen"]) > 3 for p in f["players"])'
    check "the_others_stay_$page" found 'all(p["alone"] for p in f["players"])'
    check "each_searches_its_own_$page" found 'all(p["unfound"].startswith("No event fits") for p in f["players"])'
    check "lists_have_the_words_of_their_players_$page" found 'all(p["words"] and p["items"] in (0, p["stops"]) for p in f["players"])'
    check "the_address_names_the_player_$page" found 'all(p["hash"].endswith("&p=%d" % (i + 1)) if i else "p=" not in p["hash"] for i, p in enumerate(f["players"]))'
    check "keys_move_the_player_in_sight_$page" found 'f["in_sight"]'
    check "no_id_stands_twice_$page" found 'len(set(f["ids"])) == len(f["ids"])'
done
run trace gmp order,n=3 --format page
cp out plain.html
browse plain.html
check a_trace_without_stops_has_no_lesson eval 'test ! -s said && ! grep -q "<body[^>]*class=\"lesson" dom'

finish
