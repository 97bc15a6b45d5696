/* trace.js - the viewer of `schedlab trace --format page`: lanes, words, boxes, steps, keys.
 *
 * It stands behind trace_run.js in the page, whose Run holds what is drawn here.
 */
'use strict';
/* Okabe and Ito's colours, which most colour-blind people tell apart; names stand beside them. */
const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8a7d00', '#7a6fb0'];
const LIGHT = new Set([1, 3, 4]); /* of these colours, on which dark words are read */
const LABEL = 84, RUN_HEIGHT = 20, QUEUE_HEIGHT = 14, GAP = 6, AXIS = 22, CELLS = 24, ROWS = 41, MARKS_HEIGHT = 16, M_HEIGHT = 16, MS = 64, LOOK = 1024; /* at the time, after so many events */
const MARKS = '\u25cb\u25cf\u25c6\u25b2'; /* of services: circle, disc, diamond, triangle */

const element = (name, properties, ...inside) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
};
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const timeText = (ns) =>
    ns < 1e3 ? `${ns.toFixed(0)} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(ns < 1e4 ? 3 : 1)} \u00b5s` :
    ns < 1e9 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e9).toFixed(3)} s`;

/* As the table of steps has it, so that events can be told apart. */
const preciseText = (ns) => `${(ns / 1e3).toFixed(3)} \u00b5s`;

/* With as many digits as tell labels of this distance apart. */
const axisText = (ns, size) => {
    const [unit, name] = ns < 1e3 ? [1, 'ns'] : ns < 1e6 ? [1e3, '\u00b5s'] : ns < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
    return `${(ns / unit).toFixed(Math.max(-Math.floor(Math.log10(size / unit) + 1e-9), 0))} ${name}`;
};

/* The picture of one run. */
class View {
    constructor(run, index, page) {
        this.run = run;
        this.page = page;
        this.canvas = element('canvas', {tabIndex: 0});
        this.canvas.setAttribute('role', 'img');
        this.canvas.setAttribute('aria-label', `Timeline of ${run.variant}: who runs on each worker, and how long its queue is`);
        this.say = element('p', {className: 'say'});
        this.say.setAttribute('aria-live', 'polite');
        this.ps = element('div', {className: 'ps'});
        this.source = element('div', {className: 'source'});
        this.life = element('div', {className: 'life'});
        this.steps = element('div', {className: 'steps', tabIndex: 0});
        this.steps.setAttribute('role', 'region');
        this.steps.setAttribute('aria-label', 'Events around this one');
        const title = `${run.variant} ${run.workload} on ${run.machine}, ${run.workers} worker${run.workers > 1 ? 's' : ''}, seed ${run.seed}`;
        const part = run.shown && Math.max(...run.shown) ? ` It opens on ${timeText(run.shown[0])}${run.shown[1] ? ` to ${timeText(run.shown[1])}` : ' and later'}.` : '';
        const warm = !run.call ? '' : run.call > run.last ? ' The events end before the call after those of --warmup: --most keeps more.' :
            ` Calls to warm up come first: the one after them begins at ${timeText(run.call)}${run.shown ? '' : ', where this page opens'}.`;
        const only = run.only ? ` Steps are those of ${run.only} only; the lanes have all.` : '';
        const threads = run.machine === 'native' ? ' Events of different threads are in the order of their time stamps.' : '';
        const kept = run.happened > run.count ? `Of ${run.happened} events the first ${run.count} were kept.` : `${run.count} events.`;
        const named = run.names.size ? 'A goroutine or task is named by what it computes, so that several have the same name.' :
            `A goroutine is named by who made it${run.hasWords ? ', and by its function' : ''}: G3 is the fourth that main started, G3.1 the second that this one did.`;
        this.root = element('section', {}, element(page.root !== document.body ? 'h3' : index ? 'h2' : 'h1', {}, title),
            element('p', {className: 'note'}, `${kept}${part}${warm}${only}${threads} ${named}${run.odd ? ` Some events do not fit those before: ${run.odd}.` : ''}`),
            element('div', {className: 'lanes'}, this.canvas), this.legend(), this.life, this.say,
            element('div', {className: 'now'}, element('div', {}, this.ps, this.source), this.steps));
        [this.from, this.to] = run.middle();
        this.listen();
    }
    listen() {
        const canvas = this.canvas;
        let held = null;
        canvas.addEventListener('wheel', (event) => {
            event.preventDefault();
            this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.nsAt(event.offsetX));
        }, {passive: false});
        canvas.addEventListener('pointerdown', (event) => {
            held = {x: event.offsetX, from: this.from, to: this.to, moved: false};
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener('pointermove', (event) => {
            if (!held) return;
            const by = (held.x - event.offsetX) / this.plotWidth() * (held.to - held.from);
            held.moved = held.moved || Math.abs(held.x - event.offsetX) > 3;
            if (held.moved) this.show(held.from + by, held.to + by);
        });
        canvas.addEventListener('pointerup', (event) => {
            if (held && !held.moved) this.page.goTo(this.run.find(this.nsAt(event.offsetX)), this);
            held = null;
        });
        this.steps.addEventListener('click', (event) => {
            const row = event.target.closest('tr[data-at]');
            if (row) this.page.goTo(+row.dataset.at, this);
        });
        this.root.addEventListener('click', (event) => {
            const cell = event.target.closest('.cell[data-id]');
            if (cell) this.page.follow(this.page.followed === +cell.dataset.id ? 0 : +cell.dataset.id);
        });
    }
    plotWidth() {
        return Math.max(this.canvas.clientWidth - LABEL - 4, 10);
    }
    nsAt(x) {
        return this.from + (x - LABEL) / this.plotWidth() * (this.to - this.from);
    }
    xOf(ns) {
        return LABEL + (ns - this.from) / (this.to - this.from) * this.plotWidth();
    }
    show(from, to) {
        const least = 20, whole = this.run.last || 1;
        const span = Math.min(Math.max(to - from, least), whole * 1.02);
        this.from = Math.max(Math.min(from, whole * 1.01 - span), -whole * 0.01);
        this.to = this.from + span;
        this.page.changed();
    }
    zoom(by, around = this.run.ns[Math.max(this.run.at, 0)] || 0) {
        this.show(around - (around - this.from) * by, around + (this.to - around) * by);
    }
    /* To the left or right, by a part of what is seen. */
    pan(by) {
        const ns = by * (this.to - this.from);
        this.show(this.from + ns, this.to + ns);
    }
    /* Moves the view if the event is out of it. */
    reveal() {
        const ns = this.run.ns[Math.max(this.run.at, 0)] || 0, span = this.to - this.from;
        if (ns < this.from || ns > this.to) {
            this.from = Math.max(ns - span / 2, 0);
            this.to = this.from + span;
        }
    }
    height() {
        return this.topOfMs() + (this.shownMs() ? this.shownMs() * (M_HEIGHT + 2) + GAP : 0);
    }
    topOfMs() {
        return this.topOfServices() + this.rows.reduce((sum, k) => sum + this.serviceHeight(k), 0) + GAP;
    }
    /* How many lanes of Ms there are: of a thousand the first ones. */
    shownMs() {
        return this.page.input('ms').checked ? Math.min(this.run.ms, MS) : 0;
    }
    top(lane) {
        return AXIS + lane * (RUN_HEIGHT + QUEUE_HEIGHT + GAP);
    }
    topOfServices() {
        return this.top(this.run.lanes) + QUEUE_HEIGHT + GAP;
    }
    serviceHeight(k) {
        return MARKS_HEIGHT + (this.run.services[k].count ? QUEUE_HEIGHT : 0) + GAP;
    }
    /* What is drawn in this run, in words: lanes, arrows, marks, what no event tells; and, folded, the words of events. */
    legend() {
        const legend = element('div', {className: 'note'}), {run} = this, steals = run.arrows[4].indexOf(1) >= 0, wakes = run.arrows[4].indexOf(0) >= 0;
        const spins = run.slices.some(([, , ids]) => ids.indexOf(SPINNING) >= 0);
        const arrows = [steals ? '\u2192 from a queue that is stolen from' : '', wakes ? '\u21e2 (dashed) from who wakes to where the woken one runs' : ''];
        legend.append(element('div', {}, element('b', {}, 'lanes'), `: what each ${run.byM ? 'thread (M)' : 'worker (P)'} runs${
            spins ? '; yellow: it spins, which is to search for work' : ''}; grey: how many wait in its queue, at most the number on the left${
            arrows.filter(Boolean).map((text) => `; ${text}`).join('')}.`));
        this.rows = this.run.services.map((_, k) => k).filter((k) => this.run.marks[k][0].length > 0);
        for (const k of this.rows) {
            const {name, count, marks, missing} = this.run.services[k], used = new Set(this.run.marks[k][1]);
            const words = marks.flatMap((text, mark) => used.has(mark) ? [`${MARKS[mark]} ${text}`] : []);
            legend.append(element('div', {}, element('b', {}, name), `: ${words.join('; ')}${count ? `; grey: ${count}` : ''}. ${missing}`));
        }
        const silent = this.run.services.filter((_, k) => !this.rows.includes(k)).map(({name}) => name);
        if (silent.length && !this.page.stops.length)
            legend.append(element('div', {}, `No event of ${silent.join(', ').replace(/, ([^,]*)$/, ' or $1')} in this run.`));
        this.ofMs = element('div', {hidden: true}, element('b', {}, 'Ms'), ': the P that each thread holds. Striped: in a call; yellow: it spins; pale: parked, asleep in the kernel.');
        legend.append(this.ofMs, element('details', {}, element('summary', {}, 'Words of the events'), element('dl', {},
            ...Object.entries(run.meanings).flatMap(([word, meaning]) => [element('dt', {}, word), element('dd', {}, meaning)]))));
        return legend;
    }
    draw() {
        const width = this.canvas.clientWidth, height = this.height(), scale = devicePixelRatio || 1;
        this.ofMs.hidden = !this.shownMs();
        this.canvas.style.height = `${height}px`;
        this.canvas.width = Math.round(width * scale);
        this.canvas.height = Math.round(height * scale);
        const to = this.canvas.getContext('2d');
        to.scale(scale, scale);
        to.font = '12px system-ui, sans-serif';
        to.textBaseline = 'middle';
        this.ink = {ink: colour('--ink'), soft: colour('--soft'), rule: colour('--rule'), idle: colour('--idle'),
            spin: colour('--spin'), queue: colour('--queue'), mark: colour('--mark'), link: colour('--link')};
        to.clearRect(0, 0, width, height);
        this.drawAxis(to, width, height);
        for (let lane = 0; lane < this.run.lanes; lane++) this.drawLane(to, lane, width);
        this.drawQueue(to, this.run.lanes, this.top(this.run.lanes), 'global', width);
        let top = this.topOfServices();
        for (const k of this.rows) {
            this.drawService(to, k, top, width);
            top += this.serviceHeight(k);
        }
        for (let m = 0; m < this.shownMs(); m++) this.drawM(to, m, this.topOfMs() + m * (M_HEIGHT + 2), width);
        if (this.page.input('arrows').checked) this.drawArrows(to);
        this.drawMarks(to, height);
    }
    drawAxis(to, width, height) {
        const sizeOf = (px) => {
            const least = px * (this.to - this.from) / this.plotWidth(), power = 10 ** Math.floor(Math.log10(least));
            return power * [1, 2, 5, 10].find((times) => times * power >= least);
        };
        const size = sizeOf(Math.max(70, to.measureText(axisText(this.to, sizeOf(70))).width + 12)); /* between labels */
        to.textAlign = 'center';
        for (let ns = Math.ceil(Math.max(this.from, 0) / size) * size; ns <= this.to; ns += size) {
            const x = this.xOf(ns);
            to.fillStyle = this.ink.rule;
            to.fillRect(x, AXIS - 4, 1, height);
            to.fillStyle = this.ink.soft;
            if (x < width - 34) to.fillText(axisText(ns, size), x, 9);
        }
        to.textAlign = 'left';
    }
    drawLane(to, lane, width) {
        const top = this.top(lane), [begins, ends, ids] = this.run.slices[lane];
        to.fillStyle = this.ink.ink;
        to.fillText(`${this.run.byM ? 'M' : 'P'}${lane}`, 6, top + RUN_HEIGHT / 2);
        to.fillStyle = this.ink.idle;
        to.fillRect(LABEL, top, width - LABEL - 4, RUN_HEIGHT);
        let i = this.firstEnding(ends, this.from), drawn = -1;
        while (i < begins.length && begins[i] <= this.to) {
            const x = Math.max(this.xOf(begins[i]), LABEL), right = Math.min(this.xOf(ends[i]), width - 4);
            if (right - x < 0.5 && x <= drawn) { /* as many as a pixel holds are one */
                i = Math.max(i + 1, this.firstEnding(ends, this.nsAt(drawn + 0.5)));
                continue;
            }
            this.drawSlice(to, ids[i], x, top, Math.max(right - x, 0.7));
            drawn = Math.max(right, x + 0.7);
            i++;
        }
        this.drawQueue(to, lane, top + RUN_HEIGHT, '', width);
    }
    /* An M: dark while it holds a P, striped while it is in a call, and pale while it spins or is parked. */
    drawM(to, m, top, width) {
        const [begins, ends, states] = this.run.states[m];
        to.fillStyle = this.ink.ink;
        to.fillText(`M${m}`, 6, top + M_HEIGHT / 2);
        for (let i = this.firstEnding(ends, this.from), drawn = -1; i < begins.length && begins[i] <= this.to; i++) {
            const x = Math.max(this.xOf(begins[i]), LABEL), right = Math.min(this.xOf(ends[i]), width - 4), wide = Math.max(right - x, 0.7);
            if (right - x < 0.5 && x <= drawn) { /* as many as a pixel holds are one */
                i = Math.max(i, this.firstEnding(ends, this.nsAt(drawn + 0.5)) - 1);
                continue;
            }
            drawn = x + wide;
            to.fillStyle = states[i] & SPINS ? this.ink.spin : states[i] & SLEEPS ? this.ink.idle : this.ink.queue;
            to.fillRect(x, top, wide, M_HEIGHT);
            to.fillStyle = this.ink.mark;
            for (let k = x; states[i] & CALLS && k < right; k += 5) to.fillRect(k, top, 1, M_HEIGHT);
            const name = this.run.stateName(states[i]), needs = to.measureText(name).width + 6;
            if (needs > wide) continue;
            to.fillStyle = this.ink.queue; /* no stripes behind words */
            if (states[i] & CALLS) to.fillRect(x + 1, top, needs, M_HEIGHT);
            to.fillStyle = this.ink.ink;
            to.fillText(name, x + 3, top + M_HEIGHT / 2 + 1);
        }
    }
    drawSlice(to, id, x, top, width) {
        const spins = id === SPINNING;
        to.fillStyle = spins ? this.ink.spin : COLOURS[id % COLOURS.length];
        to.fillRect(x, top, width, RUN_HEIGHT);
        if (this.page.followed && id === this.page.followed) {
            to.strokeStyle = this.ink.ink;
            to.lineWidth = 2;
            to.strokeRect(x + 1, top + 1, Math.max(width - 2, 1), RUN_HEIGHT - 2);
        }
        if (width < 14) return;
        const name = [this.run.name(id), this.run.shortName(id)].find((it) => to.measureText(it).width + 6 <= width);
        if (!name) return;
        to.fillStyle = spins ? this.ink.soft : LIGHT.has(id % COLOURS.length) ? '#1c1c1c' : '#fff';
        to.fillText(name, x + 3, top + RUN_HEIGHT / 2 + 1);
    }
    firstEnding(ends, ns) {
        let low = 0, high = ends.length;
        while (low < high) {
            const middle = low + high >> 1;
            if (ends[middle] < ns) low = middle + 1; else high = middle;
        }
        return low;
    }
    drawQueue(to, lane, top, label, width) {
        const [times, list] = this.run.lengths[lane], most = Math.max(this.run.longest[lane], 1);
        if (label) {
            to.fillStyle = this.ink.ink;
            to.fillText(label, 6, top + QUEUE_HEIGHT / 2);
        }
        to.fillStyle = this.ink.queue;
        let i = Math.max(this.firstEnding(times, this.from) - 1, 0);
        for (let x = LABEL; x < width - 4 && i < list.length; x++) {
            const until = this.nsAt(x + 1);
            let length = times[i] <= until ? list[i] : 0;
            const beyond = this.firstEnding(times, until);
            for (let k = i, step = Math.max(1, (beyond - i) >> 5); k < beyond; k += step) length = Math.max(length, list[k]);
            i = Math.max(beyond - 1, i);
            const height = length / most * (QUEUE_HEIGHT - 2);
            if (length) to.fillRect(x, top + QUEUE_HEIGHT - height, 1, height);
        }
        to.fillStyle = this.ink.soft;
        to.textAlign = 'right';
        to.fillText(`${this.run.longest[lane]}`, LABEL - 4, top + QUEUE_HEIGHT / 2 + (label ? 0 : 1));
        to.textAlign = 'left';
    }
    /* Marks. Of those that would overlap the one with the highest number is drawn, and lines for the others. A mark of a
     * worker has a line up to it. */
    drawService(to, k, top, width) {
        const [times, marks, lanes] = this.run.marks[k], {name, count} = this.run.services[k];
        const middle = top + MARKS_HEIGHT / 2, beyond = this.firstEnding(times, this.to);
        let begin = -9, most = 0, last = -9;
        const glyph = () => begin >= LABEL && to.fillText(MARKS[most], begin, middle);
        const style = (mark) => { to.fillStyle = mark > 1 ? this.ink.mark : this.ink.ink; };
        to.fillStyle = this.ink.ink;
        to.fillText(name, 6, middle);
        to.textAlign = 'center';
        for (let i = this.firstEnding(times, this.nsAt(LABEL)); i < beyond; i++) {
            const x = this.xOf(times[i]);
            if (x - begin > 9) {
                style(most);
                glyph();
                [begin, most] = [x, marks[i]];
            }
            most = Math.max(most, marks[i]);
            style(marks[i]);
            if (lanes[i] >= 0 && this.page.input('arrows').checked) {
                to.globalAlpha = 0.5;
                to.fillRect(x - 0.5, this.top(lanes[i]) + RUN_HEIGHT, 1, top + 4 - this.top(lanes[i]) - RUN_HEIGHT);
                to.globalAlpha = 1;
            }
            if (x - begin > 4) to.fillRect(x - 0.5, top + 4, 1, MARKS_HEIGHT - 8);
            if (x - last < 0.7) i = Math.max(this.firstEnding(times, this.nsAt(last + 0.7)) - 1, i); /* a pixel's are one */
            last = x;
        }
        style(most);
        glyph();
        to.textAlign = 'left';
        if (count) this.drawQueue(to, this.run.lanes + 1 + k, top + MARKS_HEIGHT, '', width);
    }
    drawArrows(to) {
        const [froms, ends, fromLanes, toLanes, steals] = this.run.arrows;
        const first = this.firstEnding(ends, this.from), beyond = this.firstEnding(ends, this.to);
        if (beyond - first > 1500) return; /* a hedge of them says nothing; closer there are fewer */
        for (let k = first; k < beyond; k++) {
            const x = Math.max(this.xOf(froms[k]), LABEL), right = this.xOf(ends[k]);
            const y = this.top(fromLanes[k]) + (steals[k] ? RUN_HEIGHT + QUEUE_HEIGHT / 2 : RUN_HEIGHT / 2);
            const end = this.top(toLanes[k]) + RUN_HEIGHT / 2, down = end > y ? 1 : -1;
            to.strokeStyle = to.fillStyle = steals[k] ? this.ink.mark : this.ink.link;
            to.lineWidth = 1.2;
            to.setLineDash(steals[k] ? [] : [4, 3]);
            to.beginPath();
            to.moveTo(x, y);
            to.lineTo(right, end - 5 * down);
            to.stroke();
            to.setLineDash([]);
            to.beginPath();
            to.moveTo(right, end);
            to.lineTo(right - 3.5, end - 7 * down);
            to.lineTo(right + 3.5, end - 7 * down);
            to.fill();
        }
    }
    drawMarks(to, height) {
        const mark = (i, style, text) => {
            if (i < 0 || i >= this.run.count) return;
            const x = this.xOf(this.run.ns[i]);
            if (x < LABEL) return;
            to.fillStyle = style;
            to.fillRect(x - 0.75, AXIS - 6, 1.5, height);
            if (text) to.fillText(text, x + 4, height - 8);
        };
        this.page.stops.forEach(({at}) => mark(at, this.ink.link, ''));
        mark(this.page.partsOf(this.run), this.ink.link, 'here they part');
        mark(this.run.at, this.ink.mark, '');
    }
    /* What stands there after this event. */
    tell() {
        const run = this.run, i = run.at;
        this.say.replaceChildren(i < 0 ? 'Before the first event.' :
            `${preciseText(run.ns[i])}: ${run.who(i)} ${run.words(i)}.`);
        this.ps.replaceChildren();
        for (let lane = 0; lane < run.lanes; lane++) this.ps.append(this.tellLane(lane, i));
        this.ps.append(element('div', {className: 'p'}, element('b', {}, 'Global queue'),
            ` (${run.queues[0].length})`, this.cells(run.queues[0])));
        this.tellSource(i);
        this.tellSteps();
        this.tellLife();
    }
    cell(id, kind) {
        const cell = element('span', {className: `cell ${kind}${id === this.page.followed ? ' followed' : ''}`,
            title: `${this.run.name(id)}; click to follow it`}, this.run.shortName(id));
        cell.dataset.id = id;
        return cell;
    }
    /* Of a queue from its head. cells: as many are drawn at least, so that a box shows what is free. slot: runnext; undefined: it has none. */
    cells(queue, cells = 0, slot = undefined) {
        const row = element('div', {className: 'cells'});
        const free = (name, title, words = '') => row.append(element('span', {className: `cell free ${name}`, title}, words));
        if (slot) row.append(this.cell(slot, 'slot'));
        if (slot === 0) free('slot', 'runnext is empty', 'runnext');
        queue.slice(0, CELLS).forEach((id) => row.append(this.cell(id, id === this.run.g[this.run.at] ? 'new' : '')));
        if (queue.length > CELLS) row.append(` and ${queue.length - CELLS} more`);
        for (let k = queue.length; k < Math.min(cells, CELLS); k++) free('', `empty; in this run a queue has ${cells} at the most`);
        if (!row.hasChildNodes()) row.append(element('span', {className: 'note'}, 'empty'));
        return row;
    }
    tellLane(lane, i) {
        const run = this.run, m = run.mOf(lane), name = `${run.byM ? 'M' : 'P'}${lane}`;
        const box = element('div', {className: i >= 0 && run.lane[i] === lane ? 'p acts' : 'p'}, element('b', {}, name));
        if (m < 0) {
            box.append(' idle: nobody has it');
        } else if (run.runs[m]) {
            box.append(run.flags[m] & CALLS ? ' in a call: ' : ' runs ', this.cell(run.runs[m], ''));
            run.stacks[m].forEach((id) => box.append(' ', this.cell(id, '')));
        } else {
            box.append(run.flags[m] & SPINS ? ' spins: it searches for work' : run.flags[m] & SLEEPS ? ' sleeps' : ' runs nothing');
        }
        if (!run.byM && m >= 0) box.append(element('span', {className: 'note'}, ` by M${m}`));
        const tasks = m >= 0 ? run.queues[1 + run.lanes + m].slice() : [];
        box.append(this.cells(run.queues[1 + lane].slice().concat(tasks), run.most, run.hasNext ? run.next[lane] : undefined));
        if (run.hasNext) box.title = 'dashed: runnext, which runs first; then the queue from its head; pale: free';
        return box;
    }
    /* The workload's function that called the scheduler, with its line. */
    tellSource(i) {
        const run = this.run, {sites, functions} = run.source, at = i >= 0 ? run.lastLine(i) : -1;
        const [line, which] = at >= 0 ? sites[run.site[at] - 1] : [0, 0], code = functions[which];
        const where = code ? `${code.name}(), ${code.file}` : '';
        let says = `${where}. ${run.machine === 'native' ? 'Real threads record no lines' : 'This trace has no lines'}: this is the function that main runs.`;
        if (!code) says = 'The source of this workload is not there.';
        else if (at >= 0) says = `${where}:${line}. ${at === i ? `${run.who(i)} is here.` :
            `Event ${i + 1} is of the scheduler itself; ${run.who(i)} was last here, at event ${at + 1}.`}`;
        else if (sites.length) says = run.m[i] >= 0 && run.runs[run.m[i]] ? 'The worker has just switched to this goroutine: its line comes with its next event.' :
            'This event is of the scheduler itself: no line of the program.';
        const shown = code && code.text && (at >= 0 || !sites.length);
        this.source.replaceChildren(element('div', {className: 'note'}, says));
        if (!shown) return;
        const text = element('pre', {className: 'code', tabIndex: 0});
        text.setAttribute('role', 'region');
        text.setAttribute('aria-label', `Source of ${code.name}`);
        code.text.split('\n').forEach((words, k) => text.append(element('div', code.first + k === line ? {className: at === i ? 'line here' : 'line'} : {},
            element('span', {className: 'lineno'}, `${code.first + k}`.padStart(4)), ` ${words}`)));
        this.source.append(text);
        const mark = text.querySelector('.line');
        if (mark instanceof HTMLElement) text.scrollTop = mark.offsetTop - text.offsetTop - text.clientHeight / 2;
    }
    tellSteps() {
        const run = this.run, rows = element('tbody');
        const first = run.stepFrom(run.stepFrom(Math.max(run.at, 0), ROWS >> 1), 1 - ROWS);
        for (let i = first, shown = 0; i < run.count && shown < ROWS; i++) {
            if (run.hidden[i] && i !== run.at) continue;
            shown++;
            const row = element('tr', {className: `${i === run.at ? 'at' : ''}${i === this.page.partsOf(run) ? ' parts' : ''}`},
                element('td', {className: 'number'}, `${i + 1}`), element('td', {className: 'number'}, preciseText(run.ns[i])),
                element('td', {}, run.who(i)),
                element('td', {className: this.page.followed && run.g[i] === this.page.followed ? 'followed' : ''}, run.words(i)));
            row.dataset.at = i;
            rows.append(row);
        }
        this.steps.replaceChildren(element('table', {}, element('thead', {}, element('tr', {},
            ...[['step', 'number'], ['time', 'number'], [run.byM ? 'M' : 'P', ''], ['event', '']].map(([text, name]) =>
                Object.assign(element('th', {className: name}, text), {scope: 'col'})))), rows));
        const at = rows.querySelector('.at');
        if (at) this.steps.scrollTop = at.offsetTop - this.steps.clientHeight / 2;
    }
    tellLife() {
        const id = this.page.followed;
        this.life.replaceChildren();
        if (!id || !(this.run.parent[this.run.place(id)] >= 0)) return;
        const parts = this.run.life(id), sum = {running: 0, runnable: 0, waiting: 0}, canvas = element('canvas');
        parts.forEach(([from, to, state]) => { sum[state] += to - from; });
        const at = this.run.ns[Math.max(this.run.at, 0)], now = parts.find(([from, to]) => from <= at && at < to);
        this.life.append(element('div', {className: 'note'},
            `Followed: ${this.run.name(id)}. Running ${timeText(sum.running)}, runnable ${timeText(sum.runnable)}, waiting ${timeText(sum.waiting)} (in its strip dark, striped and pale). Now: ${now ? `${now[2]}${now[3] ? ` (${now[3]})` : ''}` : 'not there'}.`), canvas);
        canvas.setAttribute('role', 'img');
        canvas.setAttribute('aria-label', 'Strip of the followed goroutine: dark running, striped runnable, light waiting');
        const scale = devicePixelRatio || 1, width = this.canvas.clientWidth;
        canvas.style.height = '18px';
        canvas.width = width * scale;
        canvas.height = 18 * scale;
        const to = canvas.getContext('2d');
        to.scale(scale, scale);
        for (const [from, until, state] of parts) {
            const x = Math.max(this.xOf(from), LABEL), right = Math.min(this.xOf(until), width - 4);
            if (right <= x) continue;
            to.fillStyle = state === 'running' ? COLOURS[id % COLOURS.length] : state === 'runnable' ? this.ink.spin : this.ink.idle;
            to.fillRect(x, 2, Math.max(right - x, 0.7), 14);
            if (state === 'runnable')
                for (let k = x; k < right; k += 4) { to.fillStyle = this.ink.soft; to.fillRect(k, 2, 1, 14); }
        }
    }
}

/** The player that was last used: the address has its state. @type {Page} */
let current;

/* A toolbar, the runs that it moves, and where they stand. A lesson has several, each in an element .player; other pages are one. */
class Page {
    /* index: among those of the file. */
    constructor(root, index) {
        const texts = [...root.querySelectorAll('script.events')];
        this.root = root;
        this.index = index;
        this.parts = +document.body.dataset.parts;
        this.followed = 0;
        this.sliceMs = 40; /* of a search, after which the page may do something else */
        this.hunt = null; /* the search that goes on */
        this.finder = null;
        /* Of a lesson: [{at, says}], in order of their events. */
        this.stops = [...root.querySelectorAll('script.stops')].flatMap((script) => JSON.parse(script.textContent));
        this.views = [...root.querySelectorAll('script.run')].map((script, i) => {
            const run = new Run(JSON.parse(script.textContent), texts[i].textContent);
            texts[i].remove();
            return new View(run, i, this);
        });
        this.part('runs').append(...this.views.map((view) => view.root));
        this.part('runs').before(...root.querySelectorAll('.lead, #parting'));
        root.querySelectorAll('[data-step]').forEach((item) =>
            item.addEventListener('click', () => this.goTo(+item.getAttribute('data-step') - 1)));
        this.listen();
    }
    get lead() {
        return this.views[0];
    }
    part(name) {
        return this.root.querySelector(`[data-part="${name}"]`);
    }
    /** @returns {HTMLInputElement} */
    input(name) {
        return /** @type {any} */ (this.part(name));
    }
    /* Others go to the same event up to where they part, then to the same time. */
    goTo(i, leader = this.lead) {
        const run = leader.run, at = Math.min(Math.max(i, 0), run.count - 1);
        this.hunt = null;
        run.go(at);
        for (const view of this.views) {
            if (view === leader) continue;
            const same = (this.parts < 0 || at <= this.partsOf(run)) && at >= run.before;
            view.run.go(same ? Math.min(at - run.before + view.run.before, view.run.count - 1) : view.run.find(run.ns[at]));
        }
        this.views.forEach((view) => view.reveal());
        this.changed(true);
    }
    /* The event at which this run parts from the other; -1: none. */
    partsOf(run) {
        return this.parts < 0 ? -1 : this.parts - this.lead.run.before + run.before;
    }
    follow(id) {
        this.followed = id;
        this.changed(true);
    }
    changed(all = false) {
        this.all = this.all || all;
        if (this.waiting) return;
        this.waiting = requestAnimationFrame(() => this.render());
    }
    render() {
        this.waiting = 0;
        this.views.forEach((view) => {
            view.draw();
            if (this.all) view.tell();
        });
        if (this.all) this.caption();
        this.all = false;
        this.remember();
    }
    /* The address has the player that was last used. */
    remember() {
        const {run, from, to} = this.lead;
        if (this !== current) return;
        const text = `#e=${run.at + 1}&z=${from.toFixed(0)}-${to.toFixed(0)}${this.followed ? `&g=${this.followed}` : ''}${this.input('ms').checked ? '&m=1' : ''}${
            this.input('arrows').checked ? '' : '&a=0'}${this.index ? `&p=${this.index + 1}` : ''}`;
        try {
            history.replaceState(null, '', text);
        } catch { /* a browser may forbid it for files */ }
    }
    restore(asked) {
        const view = asked.get('z');
        this.followed = +asked.get('g') || 0;
        this.input('ms').checked = asked.get('m') === '1';
        this.input('arrows').checked = asked.get('a') !== '0';
        const [from, to] = (view || '').split('-').map(Number);
        if (to > from)
            this.views.forEach((each) => { [each.from, each.to] = [from, to]; });
        const {run} = this.lead;
        const child = run.shown ? 0 : run.g.findIndex((g, i) => g > 1 && run.ns[i] >= run.call); /* main's first child */
        let first = run.ns.findIndex((ns, i) => i >= child && ns >= this.lead.from && !run.hidden[i]);
        if (this.stops.length) { /* they are ahead */
            first = Math.max(Math.min(first, this.stops[0].at - 1), 0);
            if (!(to > from)) this.lead.from = Math.min(this.lead.from, run.ns[first]);
        }
        this.goTo(+asked.get('e') ? +asked.get('e') - 1 : this.parts >= 0 ? this.parts : Math.max(first, 0));
    }
    /* The words of the stop here, or of the last one before it. */
    caption() {
        this.part('caption').hidden = this.stops.length === 0;
        const at = this.lead.run.at, last = this.stops.filter((stop) => stop.at <= at).length - 1;
        const here = last >= 0 && this.stops[last].at === at;
        this.part('caption').className = here ? 'here' : '';
        this.part('caption').textContent = last >= 0 ? `${last + 1} of ${this.stops.length}: ${this.stops[last].says}` :
            `${this.stops.length} stops; s goes to the next one, space plays up to it.`;
    }
    /* Goes to the next stop, or with by -1 to the one before. */
    stop(by) {
        const at = this.lead.run.at;
        const to = by > 0 ? this.stops.find((stop) => stop.at > at) : this.stops.filter((stop) => stop.at < at).pop();
        if (to) this.goTo(to.at);
    }
    /* Steps in the leading run. */
    step(by) {
        this.goTo(this.lead.run.stepFrom(this.lead.run.at, by));
    }
    play() {
        const stop = this.playing;
        clearInterval(this.playing);
        this.playing = 0;
        if (!stop)
            this.playing = setInterval(() => {
                const before = this.lead.run.at;
                this.step(1);
                if (this.lead.run.at === before || this.stops.some((each) => each.at === this.lead.run.at)) this.play();
            }, 1000 / +this.input('speed').value);
        this.part('play').textContent = this.playing ? 'Stop' : 'Play';
    }
    /* What the text asks of the leading run; kept, so that names are made once for one text. */
    finderOf(asked) {
        if (!this.finder || this.finder.asked !== asked) this.finder = {asked, ...this.lead.run.finder(asked)};
        return this.finder;
    }
    /* The next event, or with by -1 the one before, that fits what is searched for. A long search goes on in slices, says how
     * far it is, and ends where another one begins or the reader goes elsewhere. */
    async search(by) {
        const {run, say} = this.lead, asked = this.input('find').value.trim().toLowerCase(), finder = this.finderOf(asked), from = run.at;
        const fits = asked ? finder.fits : this.followed ? (i) => run.g[i] === this.followed : () => false, hunt = this.hunt = {};
        for (let k = 1, until = performance.now() + this.sliceMs; k <= run.count; k++) {
            if (k % LOOK === 0 && performance.now() > until) {
                say.textContent = `Searching for "${asked}": ${Math.floor(10 * k / run.count)}0 % of the events have been looked at.`;
                await new Promise((done) => { setTimeout(done); });
                if (this.hunt !== hunt) return;
                until = performance.now() + this.sliceMs;
            }
            const i = ((from + by * k) % run.count + run.count) % run.count;
            if (run.hidden[i] || !fits(i)) continue;
            if (asked && run.g[i] && finder.is(run.g[i])) this.followed = run.g[i];
            this.goTo(i);
            return;
        }
        say.textContent = asked ? `No event fits "${asked}".` : 'Nothing is searched for, and no goroutine is followed.';
    }
    listen() {
        const on = (name, what) => this.part(name).addEventListener('click', what);
        on('back', () => this.step(-1));
        on('ahead', () => this.step(1));
        on('stop', () => this.stop(1));
        on('play', () => this.play());
        this.part('speed').addEventListener('change', () => {
            if (this.playing) [0, 1].forEach(() => this.play()); /* with the new speed */
        });
        on('in', () => this.views.forEach((view) => view.zoom(0.5)));
        on('out', () => this.views.forEach((view) => view.zoom(2)));
        on('fit', () => this.views.forEach((view) => view.show(0, view.run.last)));
        on('next', () => this.search(1));
        on('help', () => /** @type {HTMLDialogElement} */ (document.getElementById('keys')).showModal());
        this.part('arrows').addEventListener('change', () => this.changed());
        this.part('ms').addEventListener('change', () => this.changed());
        this.part('find').addEventListener('keydown', (event) => {
            if (event.key === 'Enter') this.search(event.shiftKey ? -1 : 1);
            if (event.key === 'Escape') this.part('find').blur();
            event.stopPropagation();
        });
        ['pointerdown', 'focusin', 'click'].forEach((event) => this.root.addEventListener(event, () => { current = this; }, true));
        this.keys = {
            ArrowLeft: (event) => this.step(event.shiftKey ? -10 : -1),
            ArrowRight: (event) => this.step(event.shiftKey ? 10 : 1),
            Home: () => this.goTo(this.lead.run.stepFrom(-1, 1)),
            End: () => this.goTo(this.lead.run.stepFrom(this.lead.run.count, -1)),
            ' ': () => this.play(),
            '+': () => this.part('in').click(),
            '=': () => this.part('in').click(),
            '-': () => this.part('out').click(),
            0: () => this.part('fit').click(),
            n: () => this.search(1),
            p: () => this.search(-1),
            s: () => this.stop(1),
            S: () => this.stop(-1),
            f: () => this.follow(this.followed ? 0 : this.lead.run.g[this.lead.run.at]),
            a: () => this.views.forEach((view) => view.pan(-0.25)),
            d: () => this.views.forEach((view) => view.pan(0.25)),
            m: () => this.part('ms').click(),
            x: () => this.parts >= 0 && this.goTo(this.parts),
            '/': () => this.part('find').focus(),
            '?': () => this.part('help').click(),
        };
    }
    /* How much of it is in the window, in px. */
    seen() {
        const {top, bottom} = this.root.getBoundingClientRect();
        return Math.min(bottom, innerHeight) - Math.max(top, 0);
    }
}

/* Parts of a player are those of harness/viewer/trace.html; each further player gets copies, without their ids. */
const roots = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.player')]);
if (!roots.length) roots.push(document.body);
const originals = /** @type {HTMLElement[]} */ ([...roots[0].querySelectorAll('.bar, #caption, #runs')]);
originals.flatMap((part) => [part, ...part.querySelectorAll('[id]')]).forEach((part) => part.setAttribute('data-part', part.id));
for (const root of roots.slice(1)) {
    root.prepend(...originals.map((part) => part.cloneNode(true)));
    root.querySelectorAll('[data-part]').forEach((part) => part.removeAttribute('id'));
}
const pages = roots.map((root, index) => new Page(root, index));
document.body.classList.toggle('lesson', pages.some((page) => page.stops.length > 0));

/* The one that the address names gets its state; at first all begin. */
const restore = (first) => {
    const asked = new URLSearchParams(location.hash.slice(1)), named = pages[+asked.get('p') - 1] || pages[0];
    if (first) pages.forEach((page) => page.restore(new URLSearchParams()));
    named.restore(asked);
    current = named;
    if (named !== pages[0]) named.root.scrollIntoView();
};
restore(true);
addEventListener('resize', () => pages.forEach((page) => page.changed(true)));
addEventListener('hashchange', () => restore(false));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => pages.forEach((page) => page.changed(true)));

/* On paper pictures have the colours of a light screen, since paper is white. The words of the first run are unfolded,
   and so is a lesson's answer. */
const folds = [pages[0].lead.root.querySelector('details'), ...document.querySelectorAll('details.answer')];
let unfolded = folds;
const printing = (is) => {
    document.documentElement.classList.toggle('paper', is);
    if (is) unfolded = folds.filter((fold) => fold.open);
    folds.forEach((fold) => { fold.open = is || unfolded.includes(fold); });
    pages.flatMap((page) => page.views).forEach((view) => {
        view.draw();
        view.tellLife();
    });
};
addEventListener('beforeprint', () => printing(true));
addEventListener('afterprint', () => printing(false));

/* Keys are for the player that was last used; once that is out of sight, for the one of which most is seen. */
document.addEventListener('keydown', (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    const inButton = event.target instanceof HTMLButtonElement && event.key === ' ';
    const most = pages.reduce((best, page) => page.seen() > best.seen() ? page : best);
    const page = current.seen() > 0 ? current : most;
    if (typing || inButton || event.ctrlKey || event.metaKey || event.altKey || !page.keys[event.key]) return;
    event.preventDefault();
    current = page;
    page.keys[event.key](event);
});

/** @type {any} */ (window).page = pages[0];
/** @type {any} */ (window).pages = pages;
