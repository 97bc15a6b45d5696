/* trace.js - the viewer of `schedlab trace --format page` (harness/trace/trace_html.c).
 *
 * The page holds what happened: events, their texts, and the changes of the state that each made.
 * This script knows nothing of schedulers. It applies changes forwards and backwards, and draws.
 */
'use strict';
(() => {
const TASK = 0x80000000;
const PUSHED = 0, REMOVED = 1, NEXT = 2, RUNS = 3, P = 4, FLAGS = 5, BEGAN = 6, ENDED = 7;
const CALLS = 1, SPINS = 2, SLEEPS = 4;
/* Okabe and Ito's colours, which most colour-blind people tell apart; names stand beside them. */
const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8a7d00', '#7a6fb0'];
const SPINNING = 0x100000000; /* no goroutine has such a number */
const LABEL = 84, RUN_HEIGHT = 20, QUEUE_HEIGHT = 14, GAP = 6, AXIS = 22, CELLS = 24, ROWS = 41;

const element = (name, properties, ...inside) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...inside);
    return made;
};
const byId = (id) => document.getElementById(id);
/** @returns {HTMLInputElement} */
const input = (id) => /** @type {any} */ (byId(id));
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const timeText = (ns) =>
    ns < 1e3 ? `${ns.toFixed(0)} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(ns < 1e4 ? 3 : 1)} \u00b5s` :
    ns < 1e9 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e9).toFixed(3)} s`;

/* As the table of steps has it, so that events can be told apart. */
const preciseText = (ns) => `${(ns / 1e3).toFixed(3)} \u00b5s`;

/* A growing list of numbers. */
class Numbers {
    constructor(type, room = 1024) {
        this.type = type;
        this.list = new type(room);
        this.count = 0;
    }
    push(number) {
        if (this.count === this.list.length) {
            const larger = new this.type(2 * this.count);
            larger.set(this.list);
            this.list = larger;
        }
        this.list[this.count++] = number;
    }
    done() {
        return this.list.slice(0, this.count);
    }
}

/* The numbers of trace_html.c, from base64 without a copy of it all as bytes of text. */
class Reader {
    constructor(text) {
        const places = new Uint8Array(128).fill(255);
        [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach(
            (digit, i) => { places[digit.charCodeAt(0)] = i; });
        let length = text.length;
        while (length > 0 && text[length - 1] === '=')
            length--;
        this.bytes = new Uint8Array(Math.floor(length * 3 / 4));
        for (let i = 0, at = 0, bits = 0, have = 0; i < length; i++) {
            bits = (bits << 6 | places[text.charCodeAt(i)]) & 0xffffff;
            have += 6;
            if (have >= 8) {
                have -= 8;
                this.bytes[at++] = bits >> have & 255;
            }
        }
        this.at = 0;
    }
    number() {
        let value = 0, scale = 1, byte;
        do {
            byte = this.bytes[this.at++];
            value += (byte & 127) * scale;
            scale *= 128;
        } while (byte & 128);
        return value;
    }
    signed() {
        const value = this.number();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    }
}

/* One run: its events, and the state after one of them. */
class Run {
    constructor(facts, text) {
        const {variant, workload, machine, workers, seed, by_m: byM, lanes, ms, count, happened, texts, odd, shown} = facts;
        Object.assign(this, {variant, workload, machine, workers, seed, happened, odd});
        this.shown = shown; /* [from, to] in ns, of which to may be 0; or undefined */
        this.byM = byM; /* lanes are Ms, else Ps */
        this.lanes = lanes;
        this.ms = ms;
        this.count = count; /* of events */
        this.texts = texts; /* [kind, words] */
        this.decode(new Reader(text));
        this.queues = Array.from({length: 1 + this.lanes + this.ms}, () => []);
        this.next = new Uint32Array(this.lanes);
        this.runs = new Uint32Array(this.ms);
        this.p = new Int32Array(this.ms).fill(-1);
        this.mAt = new Int32Array(this.lanes).fill(-1); /* the M that has the P; if lanes are Ps */
        this.flags = new Uint8Array(this.ms);
        this.stacks = Array.from({length: this.ms}, () => []);
        this.at = -1; /* the event that the state is after; -1: before all */
        this.story();
    }
    decode(reader) {
        const count = this.count;
        this.ns = new Float64Array(count);
        this.text = new Uint16Array(count);
        this.m = new Int16Array(count);
        this.lane = new Int16Array(count);
        this.g = new Uint32Array(count);
        this.first = new Uint32Array(count + 1);
        const changes = new Numbers(Int32Array, 4 * count + 16);
        let gs = 0, tasks = 0;
        for (let i = 0, ps = 0; i < count; i++) {
            ps += reader.number();
            this.ns[i] = ps / 1000;
            this.text[i] = reader.number();
            this.m[i] = reader.number() - 1;
            const p = reader.number() - 1;
            this.lane[i] = this.byM ? this.m[i] : p;
            const id = this.g[i] = reader.signed() >>> 0;
            if (id & TASK) tasks = Math.max(tasks, id & ~TASK); else gs = Math.max(gs, id);
            for (let left = reader.number(); left > 0; left--) {
                changes.push(reader.number());
                changes.push(reader.number());
                changes.push(reader.signed());
                changes.push(reader.signed());
            }
            this.first[i + 1] = changes.count / 4;
        }
        this.changes = changes.done();
        this.gs = gs + 1;
        this.parent = new Int32Array(gs + tasks + 2).fill(-1); /* place() of whoever made it; -1: not seen */
        this.child = new Uint32Array(gs + tasks + 2);
    }
    /* Of a goroutine or task in lists of all of them. */
    place(id) {
        return id & TASK ? this.gs + (id & ~TASK) : id;
    }
    laneOf(m) {
        return this.byM ? m : this.p[m];
    }
    mOf(lane) {
        return this.byM ? lane : this.mAt[lane];
    }
    setP(m, p) {
        if (this.p[m] >= 0 && this.mAt[this.p[m]] === m) this.mAt[this.p[m]] = -1;
        this.p[m] = p;
        if (p >= 0 && p < this.lanes) this.mAt[p] = m;
    }
    /* The lane that a change is about: the number of lanes for the global queue, -1 for none. */
    laneChanged(k) {
        const kind = this.changes[4 * k], where = this.changes[4 * k + 1];
        if (kind === NEXT) return where;
        if (kind > NEXT) return this.laneOf(where);
        return where === 0 ? this.lanes : where <= this.lanes ? where - 1 : this.laneOf(where - 1 - this.lanes);
    }
    change(k, back) {
        const kind = this.changes[4 * k], where = this.changes[4 * k + 1];
        const a = this.changes[4 * k + 2], b = this.changes[4 * k + 3], id = a >>> 0;
        switch (kind) {
        case PUSHED:
            if (back) this.queues[where].pop(); else this.queues[where].push(id);
            break;
        case REMOVED:
            if (back) this.queues[where].splice(b, 0, id); else if (b === 0) this.queues[where].shift();
            else this.queues[where].splice(b, 1);
            break;
        case NEXT:
            this.next[where] = back ? a : b;
            break;
        case RUNS:
            this.runs[where] = back ? a : b;
            break;
        case P:
            this.setP(where, back ? a : b);
            break;
        case FLAGS:
            this.flags[where] = back ? a : b;
            break;
        default:
            if ((kind === BEGAN) !== back) this.stacks[where].push(id); else this.stacks[where].pop();
        }
    }
    go(to) {
        while (this.at < to)
            for (let k = this.first[++this.at]; k < this.first[this.at + 1]; k++)
                this.change(k, false);
        while (this.at > to) {
            for (let k = this.first[this.at + 1] - 1; k >= this.first[this.at]; k--)
                this.change(k, true);
            this.at--;
        }
    }
    top(m) {
        const stack = this.stacks[m];
        return stack.length && this.runs[m] ? stack[stack.length - 1] : this.runs[m];
    }
    /* One pass over all: who runs where from when to when, how long queues are, who made whom. */
    story() {
        const lists = (count, ...types) => Array.from({length: count}, () => types.map((type) => new Numbers(type, 64)));
        const slices = lists(this.lanes, Float64Array, Float64Array, Float64Array);
        const lengths = lists(this.lanes + 1, Float64Array, Int32Array);
        const arrows = lists(1, Float64Array, Float64Array, Int16Array, Int16Array, Uint8Array)[0];
        const open = new Float64Array(this.lanes), since = new Float64Array(this.lanes);
        const told = new Int32Array(this.lanes + 1).fill(-1);
        const born = new Uint32Array(this.parent.length);
        const readied = new Map(); /* goroutine -> event that readied it */
        const isBirth = this.texts.map(([kind]) => kind === 'CREATED' || kind === 'TASK_SPAWNED');
        const isWake = this.texts.map(([kind, words]) => kind === 'READIED' && words.includes('woken'));
        const isRun = this.texts.map(([kind]) => kind === 'DISPATCHED');
        const victim = this.texts.map(([kind, words]) => {
            const found = kind === 'TAKEN' && / worker (\d+)$/.exec(words);
            return found ? +found[1] : -1;
        });
        const end = (lane, ns) => {
            if (open[lane])
                [since[lane], ns, open[lane]].forEach((value, k) => slices[lane][k].push(value));
        };
        const arrow = (...values) => {
            if (values[2] >= 0 && values[3] >= 0 && values[2] !== values[3])
                values.forEach((value, k) => arrows[k].push(value));
        };
        const look = (lane, ns) => {
            if (lane < 0 || lane > this.lanes) return;
            const length = lane < this.lanes ? this.lengthOf(lane) : this.queues[0].length;
            if (length !== told[lane]) {
                told[lane] = length;
                lengths[lane][0].push(ns);
                lengths[lane][1].push(length);
            }
            if (lane === this.lanes) return;
            const m = this.mOf(lane), now = m < 0 ? 0 : this.top(m) || (this.flags[m] & SPINS ? SPINNING : 0);
            if (now === open[lane]) return;
            end(lane, ns);
            open[lane] = now;
            since[lane] = ns;
        };
        for (let i = 0; i < this.count; i++) {
            const text = this.text[i], m = this.m[i], id = this.g[i], ns = this.ns[i];
            const before = m >= 0 ? this.top(m) : 0, place = this.place(id);
            const old = m >= 0 ? this.laneOf(m) : -1;
            this.go(i);
            if (isBirth[text] && this.parent[place] < 0) {
                const up = before && before !== id ? this.place(before) : 0;
                this.parent[place] = up;
                this.child[place] = born[up]++;
            }
            if (isWake[text] && before && before !== id) readied.set(id, i);
            if (isRun[text] && readied.has(id)) {
                const from = readied.get(id);
                arrow(this.ns[from], ns, this.lane[from], this.lane[i], 0);
                readied.delete(id);
            }
            if (victim[text] >= 0) arrow(ns, ns, victim[text], this.lane[i], 1);
            look(old, ns);
            for (let k = this.first[i]; k < this.first[i + 1]; k++) {
                look(this.laneChanged(k), ns);
                if (this.changes[4 * k] === P) look(this.changes[4 * k + 2], ns);
            }
        }
        this.last = this.count ? this.ns[this.count - 1] : 0;
        for (let lane = 0; lane < this.lanes; lane++) end(lane, this.last);
        this.slices = slices.map((each) => each.map((list) => list.done()));
        this.lengths = lengths.map((each) => each.map((list) => list.done()));
        this.arrows = arrows.map((list) => list.done());
        this.longest = this.lengths.map(([, list]) => list.reduce((most, n) => Math.max(most, n), 0));
    }
    lengthOf(lane) {
        const m = this.mOf(lane);
        return this.queues[1 + lane].length + (this.next[lane] ? 1 : 0) +
            (m >= 0 ? this.queues[1 + this.lanes + m].length : 0);
    }
    /* From the first child of main to the end of the last: start-up and the check of the answer are out. */
    middle() {
        if (this.shown) return [this.shown[0], Math.min(this.shown[1] || this.last, this.last)];
        let from = -1, to = 0;
        for (let i = 0; i < this.count; i++) {
            if (this.g[i] < 2) continue;
            if (from < 0) from = this.ns[i];
            to = this.ns[i];
        }
        const edge = (to - from) * 0.03;
        return from < 0 || to <= from ? [0, this.last || 1] : [Math.max(from - edge, 0), Math.min(to + edge, this.last)];
    }
    /* "main", "3" for its child 3, "3.1" for the child 1 of that. */
    name(id) {
        if (id === SPINNING) return 'spins';
        const parts = [];
        let place = this.place(id);
        if (this.parent[place] < 0) return id & TASK ? `task ${id & ~TASK}` : `G ${id}`;
        for (; this.parent[place] > 0; place = this.parent[place]) parts.push(this.child[place]);
        return parts.length ? parts.reverse().join('.') : 'main';
    }
    words(i) {
        const name = this.g[i] ? this.name(this.g[i]) : '';
        return this.texts[this.text[i]][1].replace(/\b[GT] 0\b/, () => /^\d/.test(name) ? `goroutine ${name}` : name);
    }
    who(i) {
        return this.lane[i] < 0 ? '-' : `${this.byM ? 'M' : 'P'}${this.lane[i]}`;
    }
    /* The event at that time, or the last before it. */
    find(ns) {
        let low = 0, high = this.count - 1;
        while (low < high) {
            const middle = low + high + 1 >> 1;
            if (this.ns[middle] <= ns) low = middle; else high = middle - 1;
        }
        return low;
    }
    /* The strip of a goroutine: [from, to, state, words]. */
    life(id) {
        const parts = [];
        let state = null, since = 0, why = '';
        const set = (i, next, text) => {
            if (state) parts.push([since, this.ns[i], state, why]);
            [state, since, why] = [next, this.ns[i], text];
        };
        for (let i = 0; i < this.count; i++) {
            if (this.g[i] !== id) continue;
            const [kind, words] = this.texts[this.text[i]];
            const by = this.who(i);
            if (kind === 'CREATED' || kind === 'TASK_SPAWNED') set(i, 'runnable', `created by ${by}`);
            else if (kind === 'READIED') set(i, 'runnable', `${words.replace(/.*\(|\).*/g, '')}, by ${by}`);
            else if (kind === 'DISPATCHED' || kind === 'TASK_BEGUN') set(i, 'running', `on ${by}`);
            else if (kind === 'PARKED') set(i, 'waiting', words.replace(/.*\(|\).*/g, ''));
            else if (kind === 'ENDED' || kind === 'TASK_RETURNED') { set(i, null, ''); }
        }
        if (state) parts.push([since, this.last, state, why]);
        return parts;
    }
}

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
        this.life = element('div', {className: 'life'});
        this.steps = element('div', {className: 'steps', tabIndex: 0});
        this.steps.setAttribute('role', 'region');
        this.steps.setAttribute('aria-label', 'Events around this one');
        const title = `${run.variant} ${run.workload} on ${run.machine}, ${run.workers} worker${run.workers > 1 ? 's' : ''}, seed ${run.seed}`;
        const part = run.shown ? ` It opens on ${timeText(run.shown[0])}${run.shown[1] ? ` to ${timeText(run.shown[1])}` : ' and later'}.` : '';
        const kept = run.happened > run.count ? `Of ${run.happened} events the first ${run.count} were kept.` : `${run.count} events.`;
        this.root = element('section', {}, element(index ? 'h2' : 'h1', {}, title),
            element('p', {className: 'note'}, `${kept}${part} A goroutine is named by which child of whom it is: 3 is the fourth that main started, 3.1 the second that this one did.${run.odd ? ` Some events do not fit those before: ${run.odd}.` : ''}`),
            element('div', {className: 'lanes'}, this.canvas), this.life, this.say,
            element('div', {className: 'now'}, this.ps, this.steps));
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
    /* Moves the view if the event is out of it. */
    reveal() {
        const ns = this.run.ns[Math.max(this.run.at, 0)] || 0, span = this.to - this.from;
        if (ns < this.from || ns > this.to) {
            this.from = Math.max(ns - span / 2, 0);
            this.to = this.from + span;
        }
    }
    height() {
        return AXIS + this.run.lanes * (RUN_HEIGHT + QUEUE_HEIGHT + GAP) + QUEUE_HEIGHT + 2 * GAP;
    }
    top(lane) {
        return AXIS + lane * (RUN_HEIGHT + QUEUE_HEIGHT + GAP);
    }
    draw() {
        const width = this.canvas.clientWidth, height = this.height(), scale = devicePixelRatio || 1;
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
        if (input('arrows').checked) this.drawArrows(to);
        this.drawMarks(to, height);
    }
    drawAxis(to, width, height) {
        const step = 10 ** Math.floor(Math.log10((this.to - this.from) / 4));
        const size = (this.to - this.from) / step > 20 ? 5 * step : (this.to - this.from) / step > 8 ? 2 * step : step;
        to.textAlign = 'center';
        for (let ns = Math.ceil(Math.max(this.from, 0) / size) * size; ns <= this.to; ns += size) {
            const x = this.xOf(ns);
            to.fillStyle = this.ink.rule;
            to.fillRect(x, AXIS - 4, 1, height);
            to.fillStyle = this.ink.soft;
            if (x < width - 24) to.fillText(timeText(ns), x, 9);
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
        const name = this.run.name(id);
        if (to.measureText(name).width + 6 > width) return;
        to.fillStyle = spins ? this.ink.soft : '#fff';
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
        if (this.page.parts >= 0) mark(this.page.parts, this.ink.link, 'here they part');
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
            ` (${run.queues[0].length})`, this.cells(run.queues[0], 0)));
        this.tellSteps();
        this.tellLife();
    }
    cell(id, kind) {
        const cell = element('span', {className: `cell ${kind}${id === this.page.followed ? ' followed' : ''}`,
            title: `goroutine ${this.run.name(id)}; click to follow it`}, this.run.name(id));
        cell.dataset.id = id;
        return cell;
    }
    cells(queue, next) {
        const row = element('div', {className: 'cells'});
        if (next) row.append(this.cell(next, 'slot'));
        queue.slice(0, CELLS).forEach((id) => row.append(this.cell(id, id === this.run.g[this.run.at] ? 'new' : '')));
        if (queue.length > CELLS) row.append(` and ${queue.length - CELLS} more`);
        if (!next && !queue.length) row.append(element('span', {className: 'note'}, 'empty'));
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
        const tasks = m >= 0 ? run.queues[1 + run.lanes + m] : [];
        box.append(this.cells(run.queues[1 + lane].concat(tasks), run.next[lane]));
        if (run.next[lane]) box.title = 'dashed: runnext, which runs first; then the queue from its head';
        return box;
    }
    tellSteps() {
        const run = this.run, rows = element('tbody');
        const first = Math.max(0, Math.min(run.at - (ROWS >> 1), run.count - ROWS));
        for (let i = first; i < Math.min(first + ROWS, run.count); i++) {
            const row = element('tr', {className: `${i === run.at ? 'at' : ''}${i === this.page.parts ? ' parts' : ''}`},
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
            `Followed: ${this.run.name(id)}. Running ${timeText(sum.running)}, runnable ${timeText(sum.runnable)}, waiting ${timeText(sum.waiting)}. Now: ${now ? `${now[2]}${now[3] ? ` (${now[3]})` : ''}` : 'not there'}.`), canvas);
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

/* All runs of the page, and where it stands. */
class Page {
    constructor() {
        const texts = [...document.querySelectorAll('script.events')];
        this.parts = +document.body.dataset.parts;
        this.followed = 0;
        this.matches = null;
        /* Of a lesson: [{at, says}], in order of their events. */
        this.stops = [...document.querySelectorAll('script.stops')].flatMap((script) => JSON.parse(script.textContent));
        this.views = [...document.querySelectorAll('script.run')].map((script, i) => {
            const run = new Run(JSON.parse(script.textContent), texts[i].textContent);
            texts[i].remove();
            return new View(run, i, this);
        });
        byId('runs').append(...this.views.map((view) => view.root));
        byId('runs').before(...document.querySelectorAll('#parting'));
        document.querySelectorAll('#parting').forEach((text) => {
            text.textContent = text.textContent.replace(/\bG (\d+)\b/g, (all, id) => {
                const name = this.lead.run.name(+id);
                return /^\d/.test(name) ? `goroutine ${name}` : name;
            });
        });
        document.body.classList.toggle('lesson', this.stops.length > 0);
        document.querySelectorAll('[data-step]').forEach((item) =>
            item.addEventListener('click', () => this.goTo(+item.getAttribute('data-step') - 1)));
        this.listen();
        this.restore();
    }
    get lead() {
        return this.views[0];
    }
    /* Others go to the same event up to where they part, then to the same time. */
    goTo(i, leader = this.lead) {
        const run = leader.run, at = Math.min(Math.max(i, 0), run.count - 1);
        run.go(at);
        for (const view of this.views) {
            if (view === leader) continue;
            const same = this.parts < 0 || at <= this.parts;
            view.run.go(same ? Math.min(at, view.run.count - 1) : view.run.find(run.ns[at]));
        }
        this.views.forEach((view) => view.reveal());
        this.changed(true);
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
    remember() {
        const {run, from, to} = this.lead;
        const text = `#e=${run.at + 1}&z=${from.toFixed(0)}-${to.toFixed(0)}${this.followed ? `&g=${this.followed}` : ''}`;
        try {
            history.replaceState(null, '', text);
        } catch { /* a browser may forbid it for files */ }
    }
    restore() {
        const asked = new URLSearchParams(location.hash.slice(1)), view = asked.get('z');
        this.followed = +asked.get('g') || 0;
        const [from, to] = (view || '').split('-').map(Number);
        if (to > from)
            this.views.forEach((each) => { [each.from, each.to] = [from, to]; });
        const first = this.stops.length ? 0 : this.lead.run.ns.findIndex((ns) => ns >= this.lead.from); /* in view */
        this.goTo(+asked.get('e') ? +asked.get('e') - 1 : this.parts >= 0 ? this.parts : Math.max(first, 0));
    }
    /* The words of the stop here, or of the last one before it. */
    caption() {
        byId('caption').hidden = this.stops.length === 0;
        const at = this.lead.run.at, last = this.stops.filter((stop) => stop.at <= at).length - 1;
        const here = last >= 0 && this.stops[last].at === at;
        byId('caption').className = here ? 'here' : '';
        byId('caption').textContent = last >= 0 ? `${last + 1} of ${this.stops.length}: ${this.stops[last].says}` :
            `${this.stops.length} stops; s goes to the next one, space plays up to it.`;
    }
    /* Goes to the next stop, or with by -1 to the one before. */
    stop(by) {
        const at = this.lead.run.at;
        const to = by > 0 ? this.stops.find((stop) => stop.at > at) : this.stops.filter((stop) => stop.at < at).pop();
        if (to) this.goTo(to.at);
    }
    /* Steps by one event of the leading run. */
    step(by) {
        this.goTo(this.lead.run.at + by);
    }
    play() {
        const stop = this.playing;
        clearInterval(this.playing);
        this.playing = 0;
        if (!stop)
            this.playing = setInterval(() => {
                if (this.lead.run.at < this.lead.run.count - 1) this.step(1);
                if (this.lead.run.at >= this.lead.run.count - 1 || this.stops.some((each) => each.at === this.lead.run.at)) this.play();
            }, 1000 / +input('speed').value);
        byId('play').textContent = this.playing ? 'Stop' : 'Play';
    }
    /* The next event, or with by -1 the one before, that fits what is searched for. */
    search(by) {
        const {run} = this.lead, asked = input('find').value.trim().toLowerCase();
        const fits = asked ? (i) => run.words(i).toLowerCase().includes(asked) || (run.g[i] && run.name(run.g[i]) === asked) :
            this.followed ? (i) => run.g[i] === this.followed : () => false;
        for (let k = 1; k <= run.count; k++) {
            const i = ((run.at + by * k) % run.count + run.count) % run.count;
            if (!fits(i)) continue;
            if (asked && run.g[i] && run.name(run.g[i]) === asked) this.followed = run.g[i];
            this.goTo(i);
            return;
        }
        this.lead.say.textContent = asked ? `No event fits "${asked}".` : 'Nothing is searched for, and no goroutine is followed.';
    }
    listen() {
        const on = (id, what) => byId(id).addEventListener('click', what);
        on('back', () => this.step(-1));
        on('ahead', () => this.step(1));
        on('stop', () => this.stop(1));
        on('play', () => this.play());
        on('in', () => this.views.forEach((view) => view.zoom(0.5)));
        on('out', () => this.views.forEach((view) => view.zoom(2)));
        on('fit', () => this.views.forEach((view) => view.show(0, view.run.last)));
        on('next', () => this.search(1));
        on('help', () => /** @type {HTMLDialogElement} */ (byId('keys')).showModal());
        byId('arrows').addEventListener('change', () => this.changed());
        byId('find').addEventListener('keydown', (event) => {
            if (event.key === 'Enter') this.search(event.shiftKey ? -1 : 1);
            if (event.key === 'Escape') byId('find').blur();
            event.stopPropagation();
        });
        const keys = {
            ArrowLeft: (event) => this.step(event.shiftKey ? -10 : -1),
            ArrowRight: (event) => this.step(event.shiftKey ? 10 : 1),
            Home: () => this.goTo(0),
            End: () => this.goTo(this.lead.run.count - 1),
            ' ': () => this.play(),
            '+': () => byId('in').click(),
            '=': () => byId('in').click(),
            '-': () => byId('out').click(),
            0: () => byId('fit').click(),
            n: () => this.search(1),
            p: () => this.search(-1),
            s: () => this.stop(1),
            S: () => this.stop(-1),
            f: () => this.follow(this.followed ? 0 : this.lead.run.g[this.lead.run.at]),
            d: () => this.parts >= 0 && this.goTo(this.parts),
            '/': () => byId('find').focus(),
            '?': () => byId('help').click(),
        };
        document.addEventListener('keydown', (event) => {
            const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
            const inButton = event.target instanceof HTMLButtonElement && event.key === ' ';
            if (typing || inButton || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
            event.preventDefault();
            keys[event.key](event);
        });
        addEventListener('resize', () => this.changed(true));
        addEventListener('hashchange', () => this.restore());
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.changed(true));
    }
}

/** @type {any} */ (window).page = new Page();
})();
