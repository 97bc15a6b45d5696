/* report.js - what the reader of report.html may change: the rows and questions that are shown and their order, and the cell that
 * the others are measured by.
 *
 * All numbers were made by schedlab (harness/report/report_pins.c). This script shows some of them, and moves the marks of the
 * charts, which harness/summary/report_chart.c drew for the baselines of the sweep, by the same axis.
 */
'use strict';
(() => {
const byId = (id) => document.getElementById(id);
/** @returns {HTMLElement[]} */
const all = (selector, within = /** @type {ParentNode} */ (document)) => [...within.querySelectorAll(selector)];
const element = (name, properties, ...inside) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
};
const set = (node, attributes) => Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, `${value}`));
const FILTERS = ['variant', 'workload', 'workers', 'machine'], MARGIN = 3, TICK_ROOM = 15, TICKS_MAX = 8,
    GLANCE_LEFT = 106, GLANCE_WIDTH = 320, GLANCE_TICKS = 3;
const STEPS = [1, 10, 0.1, 100, 0.01, 1e3, 1e-3, 1e4, 1e-4, 1e5, 1e6, 2, 0.5, 5, 0.2, 20, 50, 200, 500, 1.5, 0.7, 1.2, 0.8, 0.05, 0.02,
    1.1, 0.9, 3, 0.3];
const {run, groups} = JSON.parse(byId('pins').textContent);
const rows = all('tr[data-cell]');
const state = {filters: {}, pins: {}, sort: '', cell: ''};
let at = null; /* the mark or row at hand: {group, id, node} */

/* Words of a filter must all be in the value, or those of one of its alternatives, "gmp|grq"; "2" alone means 2 and not 12. */
const fits = (value, wanted) => wanted.toLowerCase().split('|').map((words) => words.trim()).filter(Boolean).some((words) =>
    words.split(/\s+/).every((word) => /^\d+$/.test(word) ? value === word : value.toLowerCase().includes(word)));
const fitsKey = (key, value) => !/[^|\s]/.test(state.filters[key] || '') || fits(value, state.filters[key]);
const shows = (cell) => FILTERS.every((key) => fitsKey(key, cell[key]));
const isFiltered = () => FILTERS.some((key) => state.filters[key]);

/* Baselines ------------------------------------------------------------------------------------ */

/* "grq", or "grq@1": the cells of one worker, beside cells of any. */
const baselineOf = (group) => state.pins[group] || groups[group].baseline || Object.keys(groups[group].pins)[0] || '';
const isPinned = (group) => baselineOf(group) !== (groups[group].baseline || Object.keys(groups[group].pins)[0]);
const partsOf = (pin) => {
    const [, variant, workers] = /^(.*?)(?:@(\d+))?$/.exec(pin);
    return {variant, workers: workers || ''};
};
const inWords = (pin) => {
    const {variant, workers} = partsOf(pin);
    return workers ? `${variant} at ${workers} ${workers === '1' ? 'worker' : 'workers'}` : variant;
};
const isKnown = (group, pin) => {
    const {variant, workers} = partsOf(pin), pins = groups[group].pins;
    return Object.hasOwn(pins, variant) && Object.hasOwn(pins[variant], workers);
};

/* Cells by their place: group -> id -> what its row says. */
const cells = {};
rows.forEach((row) => {
    row.dataset.group = row.closest('section').id.replace('group-', '');
    (cells[row.dataset.group] ||= {})[row.dataset.cell] = {row, id: row.dataset.cell, variant: row.dataset.variant,
        workload: row.dataset.workload, workers: row.dataset.workers, machine: row.dataset.machine};
});

/* An entry of report_pins.c. */
function entryOf(text) {
    if (!text) return null;
    const [ratio, beside, mark] = text.split(','), between = beside.includes(' ');
    return {over: ratio === '-' ? '-' : `${ratio}\u00d7`, told: mark === 'f' || mark === 's',
        range: between ? beside.replace(' ', ' to ') : {b: 'baseline', t: 'too few', d: 'other distances'}[beside] || '-',
        word: {f: 'faster', s: 'slower', n: 'no difference shown', w: 'too few samples', d: 'other distances'}[mark],
        isBaseline: beside === 'b', numbers: [ratio, ...(between ? beside.split(' ') : [])].map(Number).filter((number) => number > 0)};
}

/* "~" before a multiple: no difference is shown. */
const overOf = (entry) => `${entry.told || entry.isBaseline || entry.over === '-' ? '' : '~ '}${entry.over}`;

/* id -> entry, with the baseline that is pinned. kind: "pins", or "latencies". */
function entriesOf(group, kind) {
    const {variant, workers} = partsOf(baselineOf(group)), of = (groups[group][kind] || {})[variant], found = {};
    if (!of) return found;
    const same = of[''].split(';'), others = workers && of[workers] ? of[workers].split(';') : [];
    groups[group].cells.forEach((id, i) => {
        const cell = cells[group] && cells[group][id];
        if (cell) found[id] = entryOf(!workers || cell.workers === workers ? same[i] : others[i]);
    });
    return found;
}

const shellWord = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, '\'\\\'\'')}'`;

/* The multiples of the group's baseline in its table. */
function pinTable(group) {
    const section = byId(`group-${group}`), entries = entriesOf(group, 'pins'), pin = baselineOf(group), {variant, workers} = partsOf(pin);
    if (!section) return;
    all('.pinnable thead th:nth-child(5) button', section).forEach((head) => { head.textContent = `over ${inWords(pin)}`; });
    Object.values(cells[group] || {}).forEach(({id, row}) => {
        const over = row.querySelector('.over'), range = row.querySelector('.over-range'), entry = entries[id];
        if (!over) return;
        over.textContent = entry ? overOf(entry) : '-';
        range.textContent = entry ? entry.range : '-';
        row.classList.toggle('pinned', row.dataset.variant === variant && (!workers || row.dataset.workers === workers));
    });
    const note = section.querySelector('.pinned-note'), side = `${run}:group=${group}`;
    note.replaceChildren(isPinned(group) ? `Pinned: ${inWords(pin)}. The figures are still over ${groups[group].baseline || 'none'}. ` : '',
        'The same numbers and marks, of one count of workers N: ', element('code', {}, 'build/schedlab compare --each ' +
            `${shellWord(`${side}/variant=${variant}${workers ? `/workers=${workers}` : '/workers=N'}`)} ${shellWord(`${side}/workers=N`)}`));
}

/* In the list of cells, where a cell parts from the baseline: of the question that it stands in first, or of one with a pin. */
function pinCommands() {
    const of = {};
    Object.keys(groups).forEach((group) => Object.values(cells[group] || {}).forEach((cell) => {
        if (!of[cell.id] || (isPinned(group) && !isPinned(of[cell.id].group))) of[cell.id] = {group, cell};
    }));
    Object.values(of).forEach(({group, cell}) => {
        const row = byId(`cell-${cell.id}`), parting = row && row.nextElementSibling && all('.parting', row.nextElementSibling)[0];
        const {variant, workers} = partsOf(baselineOf(group));
        if (!parting) return;
        all('.base', parting)[0].textContent = shellWord(variant);
        all('.base-name', parting)[0].textContent = variant;
        parting.hidden = variant === cell.variant || /^(peer:|serial$)/.test(variant) || (!!workers && workers !== cell.workers);
    });
}

/* Charts --------------------------------------------------------------------------------------- */

/* Where a value lies in percent of a chart's width: logarithmic, as report_chart.c has it. */
const placeOf = (value, {least, most, reversed}) => {
    const share = value > 0 ? Math.min(1, Math.max(0, Math.log(value / least) / Math.log(most / least))) : 0;
    return MARGIN + (100 - 2 * MARGIN) * (reversed ? 1 - share : share);
};

function ticksOf(axis) {
    return STEPS.reduce((ticks, step) => ticks.length < TICKS_MAX && step >= axis.least && step <= axis.most &&
        ticks.every((tick) => Math.abs(placeOf(tick, axis) - placeOf(step, axis)) >= TICK_ROOM) ? [...ticks, step] : ticks, []);
}

/* What was drawn, and for which cell: a chart shows the most workers, but those that a filter asks for where there is one. */
const charts = all('.answer').map((card) => {
    const group = card.dataset.group, chart = card.querySelector('.chart');
    const marks = chart ? all('.ratios a', chart).map((mark) => {
        const id = mark.getAttribute('href').replace('#cell-', '');
        return {mark, first: id, cell: id};
    }) : [];
    const kind = groups[group].latencies ? 'latencies' : 'pins';
    return {card, group, chart, marks, kind, isOfEvent: !!chart && chart.classList.contains('of-event'), reversed: !!chart && chart.classList.contains('reversed')};
});

/* The cell of a mark's variant and workload that the filters let through. */
function cellOf(group, first) {
    const drawn = cells[group] && cells[group][first];
    if (!drawn || shows(drawn)) return drawn;
    return Object.values(cells[group]).filter((cell) => cell.variant === drawn.variant && cell.workload === drawn.workload && shows(cell))
        .sort((a, b) => +b.workers - +a.workers)[0];
}

function drawMark({mark, cell}, entry, axis) {
    const [line, shape] = [mark.querySelector('line'), mark.querySelector('use')], [median, lo = median, hi = median] = entry.numbers;
    set(line, {x1: `${placeOf(lo, axis)}%`, x2: `${placeOf(hi, axis)}%`});
    set(shape, {x: `${placeOf(median, axis)}%`});
    mark.classList.toggle('untold', !entry.told && !entry.isBaseline);
    set(mark, {href: `#cell-${cell}`});
}

function textAt(x, y, words) {
    const text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    set(text, {x, y});
    text.append(words);
    return text;
}

/* The small chart beside the question has the marks of the first rows, each variant's in the same order. */
function filterGlance({card, group, chart, marks}, shown) {
    const rowsOf = all('tbody tr[data-workload]:not(.missing)', chart);
    all('.glance .row', card).forEach((name, i) => { name.style.display = rowsOf[i].hidden ? 'none' : ''; });
    all('.glance g', card).forEach((lane) => {
        const own = marks.filter(({first}) => cells[group][first].variant === lane.dataset.variant);
        lane.style.display = shown.some(({mark}) => own.includes(mark)) ? '' : 'none';
        all('use', lane).forEach((use, i) => { use.style.display = shown.some(({mark}) => mark === own[i]) ? '' : 'none'; });
    });
}

function moveGlance(card, group, marks, shown, axis) {
    const x = (value) => Math.round(GLANCE_LEFT + (GLANCE_WIDTH - GLANCE_LEFT) * placeOf(value, axis) / 100), one = card.querySelector('.glance .one');
    all('.glance g', card).forEach((lane) => {
        const own = marks.filter(({first}) => cells[group][first].variant === lane.dataset.variant);
        const bars = all('use', lane).map((use, i) => {
            const of = shown.find(({mark}) => mark === own[i]);
            if (!of) return '';
            const [median, lo = median, hi = median] = of.entry.numbers;
            set(use, {x: x(median)});
            use.classList.toggle('untold', !of.entry.told && !of.entry.isBaseline);
            return `M${x(lo)} ${use.getAttribute('y')}H${x(hi)}`;
        });
        set(lane.querySelector('path'), {d: bars.join('')});
    });
    set(one, {d: one.getAttribute('d').replace(/^M\d+/, `M${x(1)}`)});
    const ticks = all('.glance .tick', card), y = ticks[0].getAttribute('y');
    ticks[0].before(...ticksOf(axis).slice(0, GLANCE_TICKS).map((tick) => {
        const text = textAt(x(tick), y, `${tick}\u00d7`);
        set(text, {class: 'tick'});
        return text;
    }));
    ticks.forEach((tick) => tick.remove());
}

function drawChart({card, group, chart, marks, kind, isOfEvent, reversed}) {
    const entries = entriesOf(group, kind), shown = [];
    marks.forEach((mark) => {
        const cell = cellOf(group, mark.first), entry = cell && entries[cell.id];
        const is = cell && (isOfEvent ? cell.id === mark.first : entry && entry.numbers.length > 0);
        mark.mark.style.display = is ? '' : 'none';
        mark.cell = is ? cell.id : '';
        if (is) shown.push({mark, entry});
    });
    card.hidden = isFiltered() && !shown.length;
    if (!chart) {
        card.hidden = isFiltered() && !Object.values(cells[group] || {}).some(shows);
        return;
    }
    all('tbody tr', chart).forEach((row) => {
        const own = shown.filter(({mark}) => row.contains(mark.mark)), [first] = all('.first', row);
        const isMissing = row.classList.contains('missing');
        if (!row.dataset.workload) return;
        row.hidden = isMissing ? !fitsKey('workload', row.dataset.workload) || !fitsKey('variant', row.dataset.variant) : !own.length;
        if (!first || !own.length || isOfEvent) return;
        const isAsDrawn = own.every(({mark}) => mark.cell === mark.first), {entry} = own[0];
        first.hidden = !row.dataset.variant && !isAsDrawn; /* who is first was judged with the most workers */
        if (row.dataset.variant) first.textContent = overOf(entry);
    });
    all('.key>span', card).forEach((item) => { item.hidden = !fitsKey('variant', item.dataset.variant); });
    all('.of', card).forEach((of) => { of.textContent = inWords(baselineOf(group)); });
    filterGlance({card, group, chart, marks}, shown);
    if (isOfEvent || !shown.length) return;
    const numbers = shown.flatMap(({entry}) => entry.numbers), axis = {least: Math.min(0.9, ...numbers), most: Math.max(1.1, ...numbers), reversed};
    shown.forEach(({mark, entry}) => drawMark(mark, entry, axis));
    all('.ratios .one', card).forEach((line) => set(line, {x1: `${placeOf(1, axis)}%`, x2: `${placeOf(1, axis)}%`}));
    const scale = chart.querySelector('.axis svg');
    scale.replaceChildren(...ticksOf(axis).map((tick) => textAt(`${placeOf(tick, axis)}%`, 12, `${tick}\u00d7`)));
    moveGlance(card, group, marks, shown, axis);
}

/* Filters and order ---------------------------------------------------------------------------- */

function filterRows() {
    let hidden = 0;
    rows.forEach((row) => {
        row.hidden = !shows(row.dataset);
        hidden += row.hidden ? 1 : 0;
    });
    all('tbody').forEach((body) => {
        const own = all('tr[data-cell]', body);
        if (own.length) body.hidden = own.every((row) => row.hidden);
    });
    Object.values(cells).forEach((of) => Object.values(of).forEach((cell) => {
        const listed = byId(`cell-${cell.id}`), more = listed && /** @type {HTMLElement} */ (listed.nextElementSibling);
        if (listed) listed.hidden = more.hidden = !shows(cell);
    }));
    Object.keys(groups).forEach((group) => {
        const section = byId(`group-${group}`);
        if (section) section.hidden = isFiltered() && !Object.values(cells[group] || {}).some(shows);
    });
    all('#cells details').forEach((fold) => { fold.hidden = all('tr[id]', fold).every((row) => row.hidden); });
    all('.answers li[data-workload], .answers tr[data-workload]').forEach((item) => { item.hidden = !fitsKey('workload', item.dataset.workload); });
    all('.answers tr:not([data-workload])').forEach((row) => {
        const items = all('li[data-workload]', row);
        row.hidden = items.length > 0 && items.every((item) => item.hidden);
    });
    all('.answer .filtered').forEach((note) => { note.hidden = !isFiltered(); });
    const questions = charts.filter(({card}) => !card.hidden).length;
    byId('shown').textContent = isFiltered() ?
        `${rows.length - hidden} of ${rows.length} rows, ${questions} of ${charts.length} questions` : '';
}

/* "~ 23.8 M" as a number; a word is less than all of them. */
function valueOf(row, column) {
    const cell = row.children[column];
    if (!column || !cell) return cell ? cell.textContent : '';
    const [, number, unit] = /^~? ?([-\d.]+)\s*([kMGT]?)/.exec(cell.textContent) || [];
    return number === undefined || Number.isNaN(+number) ? -Infinity : +number * {k: 1e3, M: 1e6, G: 1e9, T: 1e12}[unit] || +number;
}

const COLUMNS = {variant: 0, workers: 1, median: 2, over: 4, 'speed-up': 6, efficiency: 7, samples: 8};

/* The rows of each workload by a column; "-median" is from the most to the least. */
function sortRows() {
    const isDown = state.sort.startsWith('-'), column = COLUMNS[state.sort.replace('-', '')];
    all('.pinnable').forEach((table) => {
        all('thead th', table).forEach((head, i) => head.setAttribute('aria-sort', i !== column ? 'none' : isDown ? 'descending' : 'ascending'));
        all('tbody', table).forEach((body) => {
            const own = all('tr[data-cell]', body), order = (a, b) => valueOf(a, column) < valueOf(b, column) ? -1 : valueOf(a, column) > valueOf(b, column) ? 1 : 0;
            own.sort((a, b) => column === undefined ? +a.dataset.place - +b.dataset.place : (isDown ? -1 : 1) * order(a, b));
            body.append(...own);
        });
    });
}

/* The cell that was opened, in the list of cells. */
const markCell = () => all('.cells tr[id]').forEach((row) => row.classList.toggle('at', row.id === `cell-${state.cell}`));

function showAll() {
    charts.forEach(drawChart);
    filterRows();
    Object.keys(groups).forEach(pinTable);
    pinCommands();
    sortRows();
    markCell();
}

/* Address: #view?variant=gmp&pin.queues=grq@1&sort=-median&cell=ID. "" if there is nothing to remember. */
function viewOf() {
    const asked = new URLSearchParams();
    FILTERS.filter((key) => state.filters[key]).forEach((key) => asked.set(key, state.filters[key]));
    Object.keys(state.pins).filter(isPinned).forEach((group) => asked.set(`pin.${group}`, state.pins[group]));
    if (state.sort) asked.set('sort', state.sort);
    if (state.cell) asked.set('cell', state.cell);
    return `${asked}` && `#view?${asked}`;
}

/* change: pushState() where the browser's way back shall lead to the address before. */
function remember(change = history.replaceState) {
    try {
        change.call(history, null, '', viewOf() || location.pathname + location.search);
    } catch { /* a browser may forbid it for files */ }
}

function changed() {
    Object.keys(groups).forEach((group) => {
        const select = /** @type {HTMLSelectElement} */ (byId(`pin-${group}`));
        if (select) select.value = baselineOf(group);
    });
    showAll();
    remember();
    if (at) tell(at.group, at.id, at.node);
}

function restore() {
    const [, linked] = /^#cell-(.+)$/.exec(location.hash) || [];
    if (linked) { /* from elsewhere */
        unfold(linked);
        remember();
        return;
    }
    if (location.hash ? !location.hash.startsWith('#view?') : !viewOf()) return;
    const asked = new URLSearchParams(location.hash.slice(6));
    FILTERS.forEach((key) => {
        state.filters[key] = asked.get(key) || '';
        /** @type {HTMLInputElement} */ (byId(`filter-${key}`)).value = state.filters[key];
    });
    state.pins = {};
    Object.keys(groups).forEach((group) => {
        const pin = asked.get(`pin.${group}`);
        if (pin && isKnown(group, pin)) state.pins[group] = pin;
    });
    const sort = asked.get('sort') || '';
    state.sort = Object.hasOwn(COLUMNS, sort.replace('-', '')) ? sort : '';
    state.cell = asked.get('cell') || '';
    changed();
    if (state.cell) unfold(state.cell);
}

function reset() {
    FILTERS.forEach((key) => { /** @type {HTMLInputElement} */ (byId(`filter-${key}`)).value = ''; });
    Object.assign(state, {filters: {}, pins: {}, sort: '', cell: ''});
    changed();
}

function pinCell(group, variant, workers) {
    state.pins[group] = workers ? `${variant}@${workers}` : variant;
    changed();
}

/* A cell at a glance --------------------------------------------------------------------------- */

const tip = element('div', {id: 'tip', hidden: true});
set(tip, {role: 'tooltip', 'aria-live': 'polite'});
const line = (...inside) => element('div', {}, ...inside);

/* Median, interval, n and the samples in run order, from the tables; and beside the baseline. */
function tell(group, id, near) {
    const cell = cells[group] && cells[group][id], strip = document.querySelector(`#cell-${CSS.escape(id)} .strip`);
    const chart = charts.find((one) => one.group === group), entry = chart && entriesOf(group, chart.kind)[id];
    if (!cell) return;
    const [median, range, n] = [2, 3, 8].map((column) => (cell.row.children[column] || {textContent: '-'}).textContent);
    tip.replaceChildren(line(element('b', {}, cell.variant), ` on ${cell.workload}, ${inWords(`@${cell.workers}`).replace(/^ at /, '')}`),
        line(`median ${median} a second, 95 % interval ${range}, ${n} samples`),
        entry ? line(`${entry.over} ${inWords(baselineOf(group))} (${entry.range})${entry.isBaseline ? '' : `, ${entry.word}`}`) : '',
        strip ? line('samples in run order ', strip.cloneNode(true)) : '',
        line(element('span', {className: 'note'}, 'Enter or click: its samples, counters, trace, commands; p: pin as baseline')));
    const box = near.getBoundingClientRect();
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8)) + scrollX}px`;
    tip.style.top = `${(box.bottom + tip.offsetHeight + 12 < innerHeight ? box.bottom + 6 : box.top - tip.offsetHeight - 6) + scrollY}px`;
}

function leave() {
    if (at) at.node.classList.remove('at');
    at = null;
    tip.hidden = true;
}

function point(group, id, node) {
    leave();
    at = {group, id, node};
    node.classList.add('at');
    tell(group, id, node);
}

/* Unfolds what the target is in, as a link without a script would. */
function open(id) {
    const target = byId(id);
    for (let fold = target && target.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true;
    if (target) target.scrollIntoView({block: target.matches('tr') ? 'center' : 'start'});
}

function unfold(id) {
    state.cell = byId(`cell-${id}`) ? id : '';
    markCell();
    open(`cell-${id}`);
}

function follow({id}) {
    leave();
    unfold(id);
    remember(history.pushState);
}

/* A link within the page keeps the view in the address. */
function followLink(event) {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]'), id = link && link.getAttribute('href').slice(1);
    if (!id || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (id.startsWith('cell-')) follow({id: id.replace('cell-', '')});
    else if (viewOf()) open(id);
    else return;
    event.preventDefault();
}

/* From mark to mark of a chart by arrow keys. */
function stepOn(chart, by) {
    const marks = chart.marks.filter(({cell}) => cell), i = marks.findIndex(({mark}) => at && mark === at.node);
    const next = marks[i < 0 ? (by > 0 ? 0 : marks.length - 1) : (i + by + marks.length) % marks.length];
    if (next) point(chart.group, next.cell, next.mark);
}

/* Keys ----------------------------------------------------------------------------------------- */

let question = -1;

/** @returns {HTMLDetailsElement} */
const foldOf = (card) => card.querySelector('details');

/* Its chart, whose marks arrow keys go through, or what unfolds it. */
const focusQuestion = ({card, chart}) =>
    (chart && foldOf(card).open ? chart : all('summary', card)[0]).focus({preventScroll: true});

function goToQuestion(by) {
    const shown = charts.filter(({card}) => !card.hidden);
    const now = shown.indexOf(charts[question]);
    const next = shown[Math.min(shown.length - 1, Math.max(0, now < 0 ? (by > 0 ? 0 : shown.length - 1) : now + by))];
    if (!next) return;
    question = charts.indexOf(next);
    next.card.scrollIntoView({block: 'start'});
    focusQuestion(next);
}

const KEYS = {
    '/': ['filter by variant', () => byId('filter-variant').focus()],
    j: ['next question', () => goToQuestion(1)],
    k: ['question before', () => goToQuestion(-1)],
    o: ['unfold or fold the question', () => {
        if (!charts[question]) return;
        const {card} = charts[question], isOpen = foldOf(card).open;
        all('details', card).forEach((fold) => { /** @type {HTMLDetailsElement} */ (fold).open = !isOpen; });
        focusQuestion(charts[question]);
    }],
    b: ['its baseline', () => {
        const select = charts[question] && byId(`pin-${charts[question].group}`);
        if (!select) return;
        foldOf(charts[question].card).open = true;
        select.focus();
    }],
    g: ['its figures and tables', () => {
        const part = charts[question] && byId(`group-${charts[question].group}`);
        if (!part) return;
        all('details.part', part).forEach((fold) => { /** @type {HTMLDetailsElement} */ (fold).open = true; });
        part.scrollIntoView();
    }],
    p: ['pin the cell at hand as baseline', () => at && pinCell(at.group, cells[at.group][at.id].variant, cells[at.group][at.id].workers)],
    Enter: ['on a chart or its mark: the cell', () => at && follow(at)],
    r: ['all rows, the sweep\'s baselines', reset],
    '?': ['these keys', () => { byId('keys').hidden = !byId('keys').hidden; }],
};

function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
        leave();
        if (event.target instanceof HTMLElement) event.target.blur();
        return;
    }
    if (event.target instanceof Element && event.target.matches('input, select, textarea')) return;
    if (event.key === 'Enter' && !(at && event.target instanceof Element && event.target.matches('.chart, body'))) return;
    const chart = charts.find((one) => one.chart && one.chart === event.target);
    const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (chart && by) {
        event.preventDefault();
        stepOn(chart, by);
    } else if (Object.hasOwn(KEYS, event.key)) {
        event.preventDefault();
        KEYS[event.key][1]();
    }
}

/* Building ------------------------------------------------------------------------------------- */

function buildBar() {
    const bar = element('form', {className: 'view-bar'});
    bar.setAttribute('aria-label', 'Questions and rows shown');
    bar.append('Show ', ...FILTERS.map((key) => {
        const field = element('input', {id: `filter-${key}`, type: 'search', placeholder: `${key}, a|b`, title: `only where the ${key} has this in it; a|b: this or that`});
        field.setAttribute('aria-label', `only this ${key}`);
        field.addEventListener('input', () => {
            state.filters[key] = field.value.trim();
            changed();
        });
        return field;
    }), element('button', {type: 'reset', title: 'all rows, and the baselines of the sweep (r)'}, 'All'));
    const keys = element('button', {type: 'button', title: 'keys (?)'}, 'Keys');
    keys.addEventListener('click', KEYS['?'][1]);
    bar.append(keys, element('span', {id: 'shown'}), element('p', {id: 'keys', className: 'note', hidden: true},
        ...Object.entries(KEYS).flatMap(([key, [meaning]]) => [element('kbd', {}, key), ` ${meaning} \u00a0 `]),
        element('kbd', {}, 'arrows'), ' on a chart: from mark to mark'));
    bar.addEventListener('submit', (event) => event.preventDefault());
    bar.addEventListener('reset', (event) => {
        event.preventDefault();
        reset();
    });
    document.querySelector('main').prepend(bar);
}

function buildCard({card, group, chart, marks}, i) {
    const place = card.querySelector('.pins');
    if (place) {
        const options = Object.entries(groups[group].pins).flatMap(([variant, of]) => Object.keys(of).map((workers) =>
            element('option', {value: workers ? `${variant}@${workers}` : variant}, inWords(workers ? `${variant}@${workers}` : variant))));
        const select = element('select', {id: `pin-${group}`}, ...options);
        select.value = baselineOf(group);
        select.addEventListener('change', () => {
            state.pins[group] = select.value;
            changed();
        });
        place.append(element('label', {}, 'Baseline ', select));
        if (groups[group].left_out) place.append(element('p', {className: 'note'}, `${groups[group].left_out} \`schedlab compare --each\` has them.`));
    }
    card.querySelector('.lesson').append(element('p', {className: 'note filtered', hidden: true}, 'The sentence is about all rows, not only those shown.'));
    card.addEventListener('focusin', () => { question = i; });
    if (!chart) return;
    set(chart, {tabindex: 0});
    chart.addEventListener('blur', leave);
    marks.forEach((one) => {
        const {mark} = one, title = mark.querySelector('title');
        if (title) { /* the tip says it, and more */
            set(mark, {'aria-label': title.textContent});
            title.remove();
        }
        mark.addEventListener('mouseenter', () => point(group, one.cell, mark));
        mark.addEventListener('mouseleave', leave);
        set(mark, {tabindex: -1}); /* arrow keys reach it */
    });
}

function buildTables() {
    rows.forEach((row, i) => {
        const name = row.querySelector('th'), workers = row.children[1];
        row.dataset.place = `${i}`;
        if (!name || !row.querySelector('.over')) return;
        const {group, variant} = row.dataset;
        const button = element('button', {type: 'button', className: 'pin', title: `measure the others by ${variant}, with as many workers each`},
            name.textContent);
        button.addEventListener('click', () => pinCell(group, variant, ''));
        name.replaceChildren(button);
        name.addEventListener('mouseenter', () => point(group, row.dataset.cell, name));
        name.addEventListener('mouseleave', leave);
        button.addEventListener('focus', () => point(group, row.dataset.cell, name));
        button.addEventListener('blur', leave);
        const own = element('button', {type: 'button', className: 'pin workers', title: `measure the others by this very cell: ${inWords(`${variant}@${row.dataset.workers}`)}`},
            workers.textContent);
        own.addEventListener('click', () => pinCell(group, variant, isKnown(group, `${variant}@${row.dataset.workers}`) ? row.dataset.workers : ''));
        workers.replaceChildren(own);
    });
    all('.pinnable thead th').forEach((head) => {
        const name = Object.keys(COLUMNS).find((key) => COLUMNS[key] === [...head.parentElement.children].indexOf(head));
        if (!name) return;
        const button = element('button', {type: 'button', className: 'pin', title: `order by ${name}`}, head.textContent);
        button.addEventListener('click', () => {
            state.sort = state.sort === `-${name}` ? name : state.sort === name ? '' : `-${name}`;
            changed();
        });
        head.replaceChildren(button);
    });
}

buildBar();
charts.forEach(buildCard);
buildTables();
document.body.append(tip);
document.addEventListener('keydown', press);
document.addEventListener('click', followLink);
addEventListener('hashchange', restore);
showAll();
restore();
})();
