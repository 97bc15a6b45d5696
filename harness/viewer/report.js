/* report.js - what the reader of report.html may change: which rows are shown, and which variant the others are measured by.
 *
 * All numbers were made by schedlab (harness/report/report_pins.c). This script shows some of them, and draws them.
 */
'use strict';
(() => {
const byId = (id) => document.getElementById(id);
const element = (name, properties, ...inside) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
};
const svg = (name, attributes, ...inside) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, `${value}`));
    made.append(...inside);
    return made;
};
const FILTERS = ['variant', 'workload', 'workers', 'machine'];
const groups = JSON.parse(byId('pins').textContent);
const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('tr[data-cell]')]);
const state = {filters: {}, pins: {}};

/* A filter's words must all be in the value; "2" alone means 2 and not 12. */
const fits = (value, wanted) => wanted.toLowerCase().split(/\s+/).every((word) =>
    !word || (/^\d+$/.test(word) ? value === word : value.toLowerCase().includes(word)));
const shows = (row) => FILTERS.every((key) => !state.filters[key] || fits(row.dataset[key], state.filters[key]));
const baselineOf = (group) => state.pins[group] || groups[group].baseline || '';

function filterRows() {
    let hidden = 0;
    rows.forEach((row) => {
        row.hidden = !shows(row);
        hidden += row.hidden ? 1 : 0;
    });
    document.querySelectorAll('tbody').forEach((body) => {
        const own = /** @type {HTMLElement[]} */ ([...body.querySelectorAll('tr[data-cell]')]);
        if (own.length) body.hidden = own.every((row) => row.hidden);
    });
    byId('shown').textContent = hidden ? `${rows.length - hidden} of ${rows.length} rows` : '';
}

/* The multiples of the group's baseline in its table, and its figure of them. */
function pinGroup(group) {
    const baseline = baselineOf(group), pins = groups[group].pins[baseline];
    const section = byId(`group-${group}`);
    if (!section || !pins) return;
    section.querySelectorAll('.pinnable thead th:nth-child(5)').forEach((head) => { head.textContent = `over ${baseline}`; });
    rows.filter((row) => row.dataset.group === group).forEach((row) => {
        const pin = pins[row.dataset.cell], over = row.querySelector('.over'), range = row.querySelector('.over-range');
        if (!over) return;
        over.textContent = pin ? pin[0] : '-';
        range.textContent = pin ? pin[1] : '-';
        row.classList.toggle('pinned', row.dataset.variant === baseline);
        row.dataset.mark = pin ? pin[2] : '';
    });
    const pinned = section.querySelector('.pinned-note');
    pinned.textContent = state.pins[group] && state.pins[group] !== groups[group].baseline ?
        `Pinned: ${baseline}. The sweep's own baseline is ${groups[group].baseline || 'none'}; the figures below are over that.` : '';
    drawGroup(group, section, pins);
}

/* Where a ratio lies, on a logarithmic axis from least to most. */
/** @param {number[]} range */
const placeOf = (ratio, range, width) => (Math.log(ratio) - Math.log(range[0])) / (Math.log(range[1]) - Math.log(range[0])) * width;

/* A dot with its interval for each row that is shown; filled where a difference is shown. */
function drawGroup(group, section, pins) {
    const place = section.querySelector('.ratios'), LEFT = 250, WIDTH = 420, ROW = 15;
    const own = rows.filter((row) => row.dataset.group === group && shows(row) && pins[row.dataset.cell] && row.querySelector('.over'));
    const most = Math.max(...own.map((row) => +row.dataset.workers)); /* fewer are in the table, and here where they are asked for */
    const shown = own.filter((row) => state.filters.workers || +row.dataset.workers === most);
    place.replaceChildren();
    if (!shown.length) return;
    const all = shown.flatMap((row) => pins[row.dataset.cell].slice(3)).filter((ratio) => ratio > 0);
    const range = [Math.min(0.9, ...all) / 1.05, Math.max(1.1, ...all) * 1.05];
    const works = [...new Set(shown.map((row) => `${row.dataset.workload}, workers: ${row.dataset.workers}`))];
    const height = (shown.length + 1.6 * works.length + 2) * ROW;
    const figure = svg('svg', {viewBox: `0 0 ${LEFT + WIDTH + 90} ${height}`, role: 'img', class: 'ratio-figure',
        'aria-label': `Multiples of ${baselineOf(group)}, with 95 % intervals. The numbers are in the table.`});
    const one = LEFT + placeOf(1, range, WIDTH);
    figure.append(svg('line', {x1: one, x2: one, y1: 4, y2: height - ROW, class: 'one'}));
    [0.01, 0.1, 0.25, 0.5, 1, 2, 4, 10, 100, 1000].filter((tick) => tick >= range[0] && tick <= range[1]).forEach((tick) => {
        const label = svg('text', {x: LEFT + placeOf(tick, range, WIDTH), y: height - 3, class: 'tick'});
        label.append(`${tick}\u00d7`);
        figure.append(label);
    });
    let y = ROW, last = '';
    shown.forEach((row) => {
        const work = `${row.dataset.workload}, workers: ${row.dataset.workers}`, pin = pins[row.dataset.cell];
        if (work !== last) {
            y += last ? 0.6 * ROW : 0;
            const title = svg('text', {x: 0, y: y + 4, class: 'work'});
            title.append(work);
            figure.append(title);
            y += ROW;
            last = work;
        }
        const name = svg('text', {x: LEFT - 10, y: y + 4, class: 'name-of'}), value = svg('text', {x: LEFT + WIDTH + 12, y: y + 4, class: 'value'});
        name.append(row.dataset.variant);
        value.append(pin[0] + (pin[2] === 'faster' || pin[2] === 'slower' ? '' : row.dataset.variant === baselineOf(group) ? '' : ' ~'));
        const told = pin[2] === 'faster' || pin[2] === 'slower';
        if (pin.length > 4)
            figure.append(svg('line', {x1: LEFT + placeOf(pin[4], range, WIDTH), x2: LEFT + placeOf(pin[5], range, WIDTH), y1: y, y2: y, class: `range-of ${pin[2]}`}));
        figure.append(svg('circle', {cx: LEFT + placeOf(pin[3], range, WIDTH), cy: y, r: 3.6, class: `dot ${told ? pin[2] : 'untold'}`}), name, value);
        y += ROW;
    });
    place.append(figure);
}

function showAll() {
    filterRows();
    Object.keys(groups).forEach(pinGroup);
}

/* Address: #view?variant=gmp&pin.queues=grq; a link to a part of the page stays one. */
function remember() {
    const asked = new URLSearchParams();
    FILTERS.filter((key) => state.filters[key]).forEach((key) => asked.set(key, state.filters[key]));
    Object.entries(state.pins).forEach(([group, variant]) => { if (variant !== groups[group].baseline) asked.set(`pin.${group}`, variant); });
    const text = `${asked}`;
    try {
        history.replaceState(null, '', text ? `#view?${text}` : location.pathname + location.search);
    } catch { /* a browser may forbid it for files */ }
}

function restore() {
    if (!location.hash.startsWith('#view?')) return;
    const asked = new URLSearchParams(location.hash.slice(6));
    FILTERS.forEach((key) => {
        state.filters[key] = asked.get(key) || '';
        /** @type {HTMLInputElement} */ (byId(`filter-${key}`)).value = state.filters[key];
    });
    Object.keys(groups).forEach((group) => {
        const variant = asked.get(`pin.${group}`);
        if (variant && groups[group].pins[variant]) state.pins[group] = variant;
        const select = /** @type {HTMLSelectElement} */ (byId(`pin-${group}`));
        if (select) select.value = baselineOf(group);
    });
}

function pin(group, variant) {
    state.pins[group] = variant;
    const select = /** @type {HTMLSelectElement} */ (byId(`pin-${group}`));
    if (select) select.value = variant;
    pinGroup(group);
    remember();
}

function build() {
    const bar = element('form', {className: 'view-bar'});
    bar.setAttribute('aria-label', 'Rows shown');
    bar.append('Show ', ...FILTERS.map((key) => {
        const field = element('input', {id: `filter-${key}`, type: 'search', placeholder: key, title: `only rows whose ${key} has this in it`});
        field.setAttribute('aria-label', `only this ${key}`);
        field.addEventListener('input', () => {
            state.filters[key] = field.value.trim();
            showAll();
            remember();
        });
        return field;
    }), element('button', {type: 'reset', title: 'all rows, and the baselines of the sweep'}, 'All'), element('span', {id: 'shown'}));
    bar.addEventListener('submit', (event) => event.preventDefault());
    bar.addEventListener('reset', () => {
        state.filters = {};
        state.pins = {};
        Object.keys(groups).forEach((group) => {
            const select = /** @type {HTMLSelectElement} */ (byId(`pin-${group}`));
            if (select) select.value = baselineOf(group);
        });
        showAll();
        remember();
    });
    document.querySelector('main').prepend(bar);
    Object.entries(groups).forEach(([group, {pins}]) => {
        const section = byId(`group-${group}`), place = section && section.querySelector('.pins');
        if (!place) return;
        const select = element('select', {id: `pin-${group}`}, ...Object.keys(pins).map((variant) => element('option', {value: variant}, variant)));
        select.value = baselineOf(group);
        select.addEventListener('change', () => pin(group, select.value));
        place.append(element('label', {}, 'Baseline ', select), ' ', element('span', {className: 'note pinned-note'}), element('div', {className: 'ratios'}));
    });
    rows.forEach((row) => {
        const name = row.querySelector('th');
        if (!name || !row.querySelector('.over')) return;
        const button = element('button', {type: 'button', className: 'pin', title: `measure the others by ${row.dataset.variant}`}, name.textContent);
        button.addEventListener('click', () => pin(row.dataset.group, row.dataset.variant));
        name.replaceChildren(button);
    });
    document.addEventListener('keydown', (event) => {
        if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement) return;
        event.preventDefault();
        byId('filter-variant').focus();
    });
    addEventListener('hashchange', () => {
        restore();
        showAll();
    });
    restore();
    showAll();
}

build();
})();
