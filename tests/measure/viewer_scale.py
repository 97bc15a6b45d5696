#!/usr/bin/env python3
"""Measures how the page of a trace grows with its events: its size, the time until it is drawn, memory,
and how long a picture, a jump and a search take. docs/TRACE.md has the figures.

    tests/measure/viewer_scale.py SCHEDLAB EVENTS [EVENTS]...    for example build/schedlab 1000000 10000000

Each row is one start of headless Chromium with an empty profile. "open" is from the navigation to the
first picture. Memory is the peak of the largest process, which has the page (resident, from the kernel), and the
heap of the script as Chromium tells it. Searches walk all events in vain, so they are the slowest.
"""
import ctypes
import html
import json
import os
import re
import subprocess
import sys
import tempfile

PR_SET_CHILD_SUBREAPER = 36
PROBE = """
(() => {
const found = {}, took = (what) => { const begin = performance.now(); what(); return performance.now() - begin; };
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
page.render();
found.open = performance.now();
found.heap = performance.memory.usedJSHeapSize;
const run = page.lead.run, view = page.lead, [from, to] = [view.from, view.to];
found.count = run.count;
const drawn = [];
for (let k = 0; k < 12; k++) {
    const span = (to - from) / 4 ** k, middle = from + (to - from) * 0.4;
    view.show(middle - span / 2, middle + span / 2);
    drawn.push(took(() => view.draw()));
}
found.slowest = Math.max(...drawn);
found.draw = median(drawn);
found.jump = took(() => page.goTo(run.count - 1));
page.goTo(0);
page.step(1);
page.render();
found.step = took(() => { page.step(1); page.render(); });
for (const [name, words] of [['word', 'no such words'], ['name', 'g999999999'], ['part', 'g9.9.9.9']]) {
    document.getElementById('find').value = words;
    const slice = page.sliceMs;
    page.finder = null;
    found[`${name}_held`] = took(() => page.search(1)); /* its first slice; then it waits */
    page.hunt = page.finder = null;
    page.sliceMs = Infinity;
    found[name] = took(() => page.search(1));
    page.sliceMs = slice;
}
const pre = document.createElement('pre');
pre.id = 'found';
pre.textContent = JSON.stringify(found);
document.body.append(pre);
})();
"""


def browse(folder, page):
    command = ["chromium", "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--enable-precise-memory-info",
               f"--user-data-dir={folder}/profile", "--timeout=120000", "--dump-dom", f"file://{page}"]
    if os.geteuid() == 0:
        command.insert(2, "--no-sandbox")
    with open(f"{folder}/dom", "wb") as dom:
        subprocess.Popen(command, stdout=dom, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    peaks = []
    while True:  # for all of its processes, which become this one's children as their parents end
        try:
            peaks.append(os.wait3(0)[2].ru_maxrss / 1024)
        except ChildProcessError:
            break
    with open(f"{folder}/dom", encoding="utf-8") as dom:
        found = re.search('<pre id="found">(.*?)</pre>', dom.read(), re.S)
    if not found:
        sys.exit(f"{page}: the browser gave no answer")
    return json.loads(html.unescape(found.group(1))), max(peaks)


def measure(schedlab, events, folder):
    page = f"{folder}/run.html"
    subprocess.run([schedlab, "trace", "gmp", f"spawn,n={events * 14 // 100}", "--workers", "8", "--most", str(events),
                    "--timeout", "0", "--format", "page", "--output", page], check=True)
    size = os.path.getsize(page) / 1e6
    with open(page, "r+", encoding="utf-8") as file:
        file.seek(0, os.SEEK_END)
        file.seek(file.tell() - 4096)
        file.readline()
        end = file.tell()
        tail = file.read().replace("</script></body></html>", f"</script><script>{PROBE}</script></body></html>")
        file.seek(end)
        file.write(tail)
    found, peak = browse(folder, page)
    if found["count"] != events:
        sys.exit(f"{events} events were asked for, and {found['count']} came")
    print(f"{events:>10} {size:>8.0f} {found['open'] / 1e3:>7.2f} {peak:>8.0f} {found['heap'] / 1e6:>8.0f}"
          f" {found['draw']:>6.0f} {found['slowest']:>8.0f} {found['jump']:>6.0f} {found['step']:>5.0f}"
          f" {found['word']:>7.0f} {found['name']:>6.0f} {found['part']:>6.0f} {max(found['word_held'], found['name_held'], found['part_held']):>6.0f}")


def main():
    if len(sys.argv) < 3 or not all(text.isdigit() and int(text) >= 1000 for text in sys.argv[2:]):
        sys.exit("usage: viewer_scale.py SCHEDLAB EVENTS [EVENTS]..., of 1000 events or more")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    print("                          memory in MB      milliseconds")
    print(f"{'events':>10} {'page MB':>8} {'open s':>7} {'process':>8} {'heap':>8} {'draw':>6} {'slowest':>8} {'jump':>6} {'step':>5}"
          f" {'words':>7} {'name':>6} {'part':>6} {'held':>6}")
    for events in map(int, sys.argv[2:]):
        with tempfile.TemporaryDirectory() as folder:
            measure(sys.argv[1], events, folder)


main()
