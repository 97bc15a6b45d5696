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
