#!/bin/bash
# test_page.sh - the report as a browser sees it: headless Chromium loads it at the width of a desk
# and of a phone, light and dark, and prints it.
#
#     tests/program/test_page.sh build/schedlab
#
# Prints TAP. Needs the program, gnuplot and chromium. page_check.js says what is looked at. With
# PAGE_SHOTS=DIR pictures of the page are left there.
. "$(dirname "$0")/../tap.sh"
here=$tree/tests
shots=${PAGE_SHOTS:+$(cd "$OLDPWD" && realpath "$PAGE_SHOTS")}

# browse WIDTH SCHEME ARGUMENT...: chromium without its window, its profile and its own errands.
browse() {
    local width=$1 scheme=$2 sandbox=()
    shift 2
    [ "$(id -u)" = 0 ] && sandbox=(--no-sandbox)
    rm -rf profile
    timeout -k 5 800 chromium --headless "${sandbox[@]}" --disable-gpu --disable-dev-shm-usage \
        --disable-background-networking --disable-component-update --no-first-run --hide-scrollbars \
        --user-data-dir="$scratch/profile" --enable-logging=stderr --virtual-time-budget=10000 \
        --blink-settings=preferredColorScheme=$([ "$scheme" = dark ] && echo 0 || echo 1) \
        --window-size="$width",1600 "$@" 2>browser.err </dev/null
}

# The run: all kinds of figures, and what other commands may have left.
"$schedlab" sweep "$here/../harness/sweeps/smoke.yaml" --quick --no-report --results "$scratch" >folder 2>err
run=$(cat folder)
mkdir "$run/comparisons"
cat >"$run/comparisons/a-rather-long-name-of-one-run-against-another.json" <<'END'
{"a": {"side": "results/default-20260131T235959Z:gmp"}, "b": {"side": "results/default-20260131T235959Z:grq"},
 "pairs": [{"workload": "uneven,tasks=2000,dist=pareto,rounds=5000", "workers": 2, "variant_a": "gmp",
   "variant_b": "grq", "median_a": 1000, "median_b": 2500,
   "ratio": {"ratio": 2.5, "lo": 2.4, "hi": 2.6}, "p_adjusted": 0.0001, "superiority": 1, "class": "near", "verdict": "faster"}],
 "geomean": {"ratio": 2.5, "lo": 2.4, "hi": 2.6, "n": 1}}
END
cat >"$run/audit.json" <<'END'
{"taken": "2026-01-31T12:00:00Z", "cpu": {"model": "x"}, "build": {"revision": "abc"}, "alpha": 0.05, "samples": 10,
 "holds": false,
 "false_positives": {"comparisons": 200, "found": 19, "share": 0.095, "lo": 0.06, "hi": 0.143, "allowed": 18, "holds": false},
 "power": [{"slowdown_percent": 5, "comparisons": 20, "found": 18, "share": 0.9, "lo": 0.7, "hi": 0.98}],
 "order": {"comparisons": 40, "decided": 30, "undecided": 2, "reversed": 0, "swapped": 40, "swapped_changed": 0, "holds": true}}
END
printf 'variant\tworkload\tinside_ns\toutside_ns\tratio\tflag\ngmp\tyield\t1500000\t4e6\t2.667\tno start-up is so long\n' \
    >"$run/outside.tsv"
check report_is_made "$schedlab" report "$run"
sed -e '/<\/body>/{' -e 'i <script>' -e "r $here/support/page_check.js" -e 'a </script>' -e '}' "$run/report.html" |
    awk '/<\/body>/{ held = $0; next } { print } /^<\/script>$/ && held { print held; held = "" }' >page.html

# frames FILE WIDTH...: a page with another one in a frame of each width, and with what they report.
frames() {
    local file=$1 width
    shift
    echo '<!DOCTYPE html><title>frames</title><style>body{margin:0}iframe{border:0;float:left}</style>'
    for width; do echo "<iframe src=\"$file\" width=\"$width\" height=\"1600\"></iframe>"; done
    cat <<'END'
<pre id="page-check"></pre>
<script>addEventListener('message', (e) => document.querySelector('pre').append('\n' + e.data + '\n'))</script>
END
}

# look SCHEME: at the width of a desk and of a phone, beside each other in one browser, since it neglects what is out of sight.
look() {
    local scheme=$1 width
    frames page.html 1280 360 >framed.html
    browse 1700 "$scheme" --dump-dom "file://$scratch/framed.html" >dom
    sed -n '/<pre id="page-check">/,/<\/pre>/p' dom >both # each frame ends with the line "window WIDTH SCHEME"
    check "console_is_silent_$scheme" test -z "$(grep CONSOLE browser.err)"
    for width in 1280 360; do
        awk -v last="window $width $scheme" '{ held = held $0 "\n" } $0 == last { printf "%s", held } /^window / { held = "" }' both >found
        check "page_loads_${width}_$scheme" test -s found
        while read -r ok not_ok rest; do
            case $ok in
            ok) report 1 "${not_ok}_${width}_$scheme" ;;
            not)
                report 0 "${rest%% *}_${width}_$scheme"
                echo "# $rest"
                ;;
            esac
        done <found
        [ -n "$shots" ] || continue
        frames "$run/report.html" "$width" >framed.html
        browse "$width" "$scheme" --screenshot="$shots/page-$width-$scheme.png" "file://$scratch/framed.html"
    done
}
look light
look dark

browse 1280 light --print-to-pdf="$scratch/page.pdf" "file://$run/report.html"
check page_prints test "$(head -c 5 page.pdf)" = %PDF-
[ -z "$shots" ] || cp page.pdf "$shots/"

finish
