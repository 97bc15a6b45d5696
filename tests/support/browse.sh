# browse.sh - a page in headless Chromium, for tests that source tap.sh before it.

# browse FILE#STATE: the page's text after its scripts have run, in dom; what its console said in said.
browse() {
    local sandbox=()
    [ "$(id -u)" = 0 ] && sandbox=(--no-sandbox)
    rm -rf profile
    timeout -k 5 300 chromium --headless "${sandbox[@]}" --disable-gpu --disable-dev-shm-usage \
        --disable-background-networking --disable-component-update --no-first-run --user-data-dir="$scratch/profile" \
        --enable-logging=stderr --virtual-time-budget=20000 --window-size=1300,1000 --dump-dom "file://$scratch/$1" \
        >dom 2>browser.err </dev/null
    grep CONSOLE browser.err >said
}

# found EXPRESSION: true of what the script found, f.
found() {
    python3 -c '
import html, json, re, sys
f = json.loads(html.unescape(re.search("<pre id=\"found\">(.*?)</pre>", open("dom").read(), re.S).group(1)))
try:
    j = json.load(open("steps.json"))
except OSError:
    j = None
assert eval(sys.argv[1]), f if len(str(f)) < 2000 else "a long answer"' "$1"
}

# script_is_sound NAME...: of harness/viewer/NAME.js, which make one page. The TypeScript compiler knows what a script may call and which
# types it may mix, eslint what it leaves unused. Node of another maker than Debian's does not know where Debian's modules are.
script_is_sound() {
    local scripts=("${@/#/$tree/harness/viewer/}")
    scripts=("${scripts[@]/%/.js}")
    cat "${scripts[@]}" >all.js # eslint looks at one file at a time
    cp "$tree/tests/support/eslint.json" .
    # The declarations of the browser are the compiler's own, and need no check of theirs.
    tsc --allowJs --checkJs --noEmit --skipLibCheck --target es2022 --lib es2022,dom,dom.iterable "${scripts[@]}" &&
        NODE_PATH=/usr/share/nodejs:/usr/lib/nodejs eslint --format unix --no-eslintrc --config eslint.json all.js
}
