/* trace_run.js - one run of the viewer's page: its events, and the state after each of them.
 *
 * The page holds what happened: events, their texts, and the changes of the state that each made
 * (harness/trace/trace_html.c). These scripts know nothing of schedulers. This one applies changes
 * forwards and backwards; trace.js, which stands behind it in the page, draws.
 */
'use strict';
const TASK = 0x80000000;
const PUSHED = 0, REMOVED = 1, NEXT = 2, RUNS = 3, P = 4, FLAGS = 5, BEGAN = 6; /* 7: it ended */
const CALLS = 1, SPINS = 2, SLEEPS = 4;
const BIRTH = 1, WAKE = 2, RUN = 4, MARKED = 8; /* of an event's text */
const HOLDS = 8; /* in the state of an M, above its flags: the P that it holds + 1, times this */
const LEVELS = 8, NAME = 32; /* of a goroutine's name (harness/models/sched_trace.c) */
const SPINNING = 0x100000000; /* no goroutine has such a number */

/* A growing list of numbers. All have one type, so that the browser's compiler knows which. */
class Numbers {
    constructor() {
        this.list = new Float64Array(64);
        this.count = 0;
    }
    push(number) {
        if (this.count === this.list.length) {
            const larger = new Float64Array(2 * this.count);
            larger.set(this.list);
            this.list = larger;
        }
        this.list[this.count++] = number;
    }
    done() {
        return this.list.slice(0, this.count);
    }
}

/* Goroutines from the head of a queue to its tail, in a ring, so that neither end has to be moved. */
class Queue {
    constructor() {
        this.ring = new Uint32Array(16);
        this.head = 0;
        this.length = 0;
    }
    at(place) {
        return this.ring[this.head + place & this.ring.length - 1];
    }
    put(place, id) {
        this.ring[this.head + place & this.ring.length - 1] = id;
    }
    grow() {
        const larger = new Uint32Array(2 * this.ring.length);
        for (let i = 0; i < this.length; i++) larger[i] = this.at(i);
        this.ring = larger;
        this.head = 0;
    }
    push(id) {
        if (this.length === this.ring.length) this.grow();
        this.put(this.length++, id);
    }
    pop() {
        this.length--;
    }
    remove(place) {
        this.length--;
        if (place === 0) this.head++;
        else for (let i = place; i < this.length; i++) this.put(i, this.at(i + 1));
    }
    insert(place, id) {
        if (this.length === this.ring.length) this.grow();
        if (place === 0) this.head += this.ring.length - 1;
        else for (let i = this.length; i > place; i--) this.put(i, this.at(i - 1));
        this.head &= this.ring.length - 1;
        this.put(place, id);
        this.length++;
    }
    slice(from = 0, to = this.length) {
        return Array.from({length: Math.max(Math.min(to, this.length) - from, 0)}, (_, i) => this.at(from + i));
    }
    map(what) {
        return this.slice().map(what);
    }
}

/* The numbers of trace_html.c. */
class Reader {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }
    /* Of 32 bits. */
    number() {
        let byte = this.bytes[this.at++], value = byte & 127;
        for (let shift = 7; byte & 128; shift += 7) {
            byte = this.bytes[this.at++];
            value |= (byte & 127) << shift;
        }
        return value;
    }
    signed() {
        const value = this.number();
        return value >>> 1 ^ -(value & 1);
    }
    /* Of more bits. */
    wide() {
        let byte = this.bytes[this.at++], value = byte & 127;
        for (let scale = 128; byte & 128; scale *= 128) {
            byte = this.bytes[this.at++];
            value += (byte & 127) * scale;
        }
        return value;
    }
    /* The bytes of a text in base64, which take the place of its letters. */
    static bytesOf(text) {
        const native = /** @type {any} */ (Uint8Array);
        if (native.fromBase64) return native.fromBase64(text); /* browsers since 2025 */
        const bytes = new TextEncoder().encode(text), places = new Uint8Array(128);
        [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach(
            (digit, i) => { places[digit.charCodeAt(0)] = i; });
        let length = bytes.length;
        while (length > 0 && bytes[length - 1] === 61) /* "=" */
            length--;
        for (let i = 0, to = 0; i < length; i += 4) {
            const four = places[bytes[i]] << 18 | places[bytes[i + 1]] << 12 | places[bytes[i + 2]] << 6 | places[bytes[i + 3]];
            bytes[to++] = four >> 16;
            bytes[to++] = four >> 8;
            bytes[to++] = four;
        }
        return bytes.subarray(0, Math.floor(length * 3 / 4));
    }
    /* How many numbers there are: each ends with a byte below 128. */
    count() {
        const bytes = this.bytes;
        let count = 0;
        for (let i = 0; i < bytes.length; i++) count += bytes[i] >> 7 ^ 1;
        return count;
    }
}

/* One run: its events, and the state after one of them. */
class Run {
    constructor(facts, text) {
        const {variant, workload, machine, workers, seed, by_m: byM, lanes, ms, count, happened, texts, odd, shown, call_ps: callPs, before, only, services, source, meanings, names, functions} = facts;
        Object.assign(this, {variant, workload, machine, workers, seed, happened, odd});
        this.shown = shown; /* [from, to] in ns, of which to may be 0; or undefined */
        this.call = (callPs || 0) / 1000; /* in ns: when the call after those that warm up begins; 0: there are none */
        this.before = before || 0; /* of the events those that two runs are not compared by */
        this.services = services; /* timers, the poller, sysmon: [{name, count, marks, missing}] */
        this.source = source; /* {sites: [[line, function]], functions: [{name, file, first, text}]} */
        this.meanings = meanings || {}; /* of the words of events */
        this.only = only || ''; /* of which events the steps are */
        this.names = new Map(names || []); /* G or task -> its name; empty: they are named by who made them */
        this.functions = functions || {}; /* such a name -> the function that this G runs, as the program calls it */
        this.hasWords = this.names.size > 0 || Object.keys(this.functions).length > 0; /* names are more than letters and numbers */
        this.byM = byM; /* lanes are Ms, else Ps */
        this.lanes = lanes;
        this.ms = ms;
        this.count = count; /* of events */
        this.texts = texts; /* [kind, words, marks of services: [[service, mark, change, lane]]] */
        this.decode(new Reader(Reader.bytesOf(text)));
        this.begin();
        this.most = 0; /* that a lane's own queue has at any time, without runnext */
        this.hasNext = false; /* runnext is used at any time */
        this.story();
        this.begin(); /* which is sooner than going back */
    }
    /* The state before all events. */
    begin() {
        this.queues = Array.from({length: 1 + this.lanes + this.ms}, () => new Queue());
        this.next = new Uint32Array(this.lanes);
        this.runs = new Uint32Array(this.ms);
        this.p = new Int32Array(this.ms).fill(-1);
        this.mAt = new Int32Array(this.lanes).fill(-1); /* the M that has the P; if lanes are Ps */
        this.flags = new Uint8Array(this.ms);
        this.stacks = Array.from({length: this.ms}, () => []);
        this.at = -1; /* the event that the state is after; -1: before all */
    }
    decode(reader) {
        const count = this.count;
        this.ns = new Float64Array(count);
        this.text = new (this.texts.length > 0xffff ? Uint32Array : Uint16Array)(count);
        this.site = new Uint16Array(count); /* in source.sites, from 1; 0: none */
        this.hidden = new Uint8Array(count); /* 1: it is not among the steps */
        this.m = new Int16Array(count);
        this.lane = new Int16Array(count);
        this.g = new Uint32Array(count);
        this.by = new Uint32Array(count); /* who ran on that M until then */
        this.first = new Uint32Array(count + 1);
        const changes = new Int32Array(reader.count() - 7 * count); /* kind, where, a and b of each */
        let gs = 0, tasks = 0;
        for (let i = 0, ps = 0, n = 0; i < count; i++) {
            ps += reader.wide();
            this.ns[i] = ps / 1000;
            this.text[i] = reader.number();
            const site = reader.number();
            this.site[i] = site >> 1;
            this.hidden[i] = site & 1;
            this.m[i] = reader.number() - 1;
            this.lane[i] = reader.number() - 1;
            const id = this.g[i] = reader.signed() >>> 0;
            if (id & TASK) tasks = Math.max(tasks, id & ~TASK); else gs = Math.max(gs, id);
            for (let left = reader.number(); left > 0; left--, n += 4) {
                changes[n] = reader.number();
                changes[n + 1] = reader.number();
                changes[n + 2] = reader.signed();
                changes[n + 3] = reader.signed();
            }
            this.first[i + 1] = n >> 2;
        }
        this.changes = changes;
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
            if (back) this.queues[where].insert(b, id); else this.queues[where].remove(b);
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
        const lists = (count, width) => Array.from({length: count}, () => Array.from({length: width}, () => new Numbers()));
        const slices = lists(this.lanes, 3), states = lists(this.ms, 3), lengths = lists(this.lanes + 1 + this.services.length, 2);
        const marks = lists(this.services.length, 3), [arrows] = lists(1, 5), waiting = this.services.map(() => 0);
        const state = new Int32Array(this.ms), entered = new Float64Array(this.ms);
        const open = new Float64Array(this.lanes), since = new Float64Array(this.lanes);
        const told = new Int32Array(this.lanes + 1).fill(-1);
        const born = new Uint32Array(this.parent.length), readied = new Int32Array(this.parent.length); /* by which event, from 1 */
        const kinds = this.texts.map(([kind, words, own]) => (kind === 'CREATED' || kind === 'TASK_SPAWNED' ? BIRTH : 0) |
            (kind === 'READIED' && words.includes('woken') ? WAKE : 0) | (kind === 'DISPATCHED' ? RUN : 0) | (own.length ? MARKED : 0));
        const victim = this.texts.map(([kind, words]) => {
            const found = kind === 'TAKEN' && / queue of [PM](\d+)$/.exec(words);
            return found ? +found[1] : -1;
        });
        const end = (lane, ns) => {
            if (!open[lane]) return;
            const [begins, ends, ids] = slices[lane];
            begins.push(since[lane]);
            ends.push(ns);
            ids.push(open[lane]);
        };
        const arrow = (...values) => {
            if (values[2] >= 0 && values[3] >= 0 && values[2] !== values[3])
                values.forEach((value, k) => arrows[k].push(value));
        };
        const endState = (m, ns) => {
            if (state[m] && ns > entered[m]) [entered[m], ns, state[m]].forEach((value, k) => states[m][k].push(value));
        };
        const lookM = (m, ns) => {
            const now = this.flags[m] + HOLDS * (this.p[m] + 1);
            if (now === state[m]) return;
            endState(m, ns);
            state[m] = now;
            entered[m] = ns;
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
            this.most = Math.max(this.most, length - (this.next[lane] ? 1 : 0));
            const m = this.mOf(lane), now = m < 0 ? 0 : this.top(m) || (this.flags[m] & SPINS ? SPINNING : 0);
            if (now === open[lane]) return;
            end(lane, ns);
            open[lane] = now;
            since[lane] = ns;
        };
        for (let i = 0; i < this.count; i++) {
            const text = this.text[i], m = this.m[i], id = this.g[i], ns = this.ns[i];
            const before = this.by[i] = m >= 0 ? this.top(m) : 0, place = this.place(id);
            const old = m >= 0 ? this.laneOf(m) : -1;
            this.go(i);
            if (kinds[text] & BIRTH && this.parent[place] < 0) {
                const up = before && before !== id ? this.place(before) : 0;
                this.parent[place] = up;
                this.child[place] = born[up]++;
            }
            if (kinds[text] & WAKE && before && before !== id) readied[place] = i + 1;
            if (kinds[text] & RUN && readied[place]) {
                const from = readied[place] - 1;
                arrow(this.ns[from], ns, this.lane[from], this.lane[i], 0);
                readied[place] = 0;
            }
            if (kinds[text] & MARKED) {
                for (const [service, mark, change, lane] of this.texts[text][2]) {
                    [ns, mark, lane].forEach((value, k) => marks[service][k].push(value));
                    waiting[service] += change;
                    if (change) [ns, waiting[service]].forEach((value, k) => lengths[this.lanes + 1 + service][k].push(value));
                }
            }
            if (victim[text] >= 0) arrow(ns, ns, victim[text], this.lane[i], 1);
            look(old, ns);
            for (let k = this.first[i]; k < this.first[i + 1]; k++) {
                look(this.laneChanged(k), ns);
                if (this.changes[4 * k] === NEXT) this.hasNext = true;
                if (this.changes[4 * k] === P) look(this.changes[4 * k + 2], ns);
                if (this.changes[4 * k] === P || this.changes[4 * k] === FLAGS) lookM(this.changes[4 * k + 1], ns);
            }
        }
        this.last = this.count ? this.ns[this.count - 1] : 0;
        for (let lane = 0; lane < this.lanes; lane++) end(lane, this.last);
        for (let m = 0; m < this.ms; m++) endState(m, this.last);
        this.states = states.map((each) => each.map((list) => list.done())); /* of each M: [begins, ends, states] */
        this.slices = slices.map((each) => each.map((list) => list.done()));
        this.lengths = lengths.map((each) => each.map((list) => list.done()));
        this.arrows = arrows.map((list) => list.done());
        this.marks = marks.map((each) => each.map((list) => list.done()));
        this.longest = this.lengths.map(([, list]) => list.reduce((most, n) => Math.max(most, n), 0));
    }
    /* "P0, in a call", for a state of an M. */
    stateName(state) {
        const does = state & CALLS ? 'in a call' : state & SPINS ? 'spins' : state & SLEEPS ? 'parked' : '';
        return [state >= HOLDS ? `P${Math.floor(state / HOLDS) - 1}` : '', does].filter((part) => part).join(', ');
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
            if (this.g[i] < 2 || this.ns[i] < this.call) continue;
            if (from < 0) from = this.ns[i];
            to = this.ns[i];
        }
        const edge = (to - from) * 0.03;
        return from < 0 || to <= from ? [0, this.last || 1] : [Math.max(from - edge, 0), Math.min(to + edge, this.last)];
    }
    /* With its function, if it has one: "G3 main.serve". */
    name(id) {
        const name = this.shortName(id), called = this.functions[name];
        return called ? `${name} ${called}` : name;
    }
    /* That of the page, if it has one. Else as sched_trace_name() has it: "main", "G3" for its child 3, "G3.1" for the child 1 of that. */
    shortName(id) {
        if (id === SPINNING) return 'spins';
        if (this.names.has(id)) return this.names.get(id);
        const parts = [], letter = id & TASK ? 'T' : 'G';
        let place = this.place(id);
        for (; this.parent[place] > 0 && parts.length <= LEVELS; place = this.parent[place]) parts.push(this.child[place]);
        const name = `${letter}${parts.reverse().join('.')}`;
        if (place === 1 && !parts.length) return 'main';
        return place === 1 && parts.length <= LEVELS && name.length < NAME ? name : `${letter}#${id & ~TASK}`;
    }
    /* What a search asks: fits(i), is the text in the event's words, or the name of its goroutine; is(id), is it that name.
     * Words repeat, so each text is looked at once, and a name only where it can decide. */
    finder(asked) {
        const NO = 1, YES = 2, NAMED = 3, WORDS = 4, isName = this.hasWords || /^g?(main|spins|[gt]?[\d.#]+)$/.test(asked);
        const IS = 2, HAS = 4, known = new Uint8Array(this.parent.length);
        const named = (id) => {
            const place = this.place(id), name = known[place] ? '' : this.name(id).toLowerCase();
            if (name) known[place] = 1 | ([asked, `g${asked}`].some((it) => name === it || name.startsWith(`${it} `)) ? IS : 0) | (name.includes(asked) ? HAS : 0);
            return known[place];
        };
        const kinds = this.texts.map(([, words]) => {
            const at = words.search(/\b[GT] 0\b/), [before, after] = [words.slice(0, Math.max(at, 0)), words.slice(at < 0 ? 0 : at + 3)]
                .map((part) => part.toLowerCase());
            if (before.includes(asked) || after.includes(asked)) return YES;
            if (at < 0) return NO;
            if (this.hasWords) return WORDS; /* any letter may be of a name */
            let kind = NO;
            for (let from = 0; from < asked.length; from++)
                for (let to = from + 1; to <= asked.length; to++) {
                    const fits = before.endsWith(asked.slice(0, from)) && after.startsWith(asked.slice(to));
                    if (fits && /^[gt\d.#main]+$/.test(asked.slice(from, to))) kind = from || to < asked.length ? WORDS : Math.max(kind, NAMED);
                }
            return kind;
        });
        const is = (id) => isName && (named(id) & IS) > 0;
        const fits = (i) => {
            const kind = kinds[this.text[i]], id = this.g[i];
            return kind === YES || (id > 0 && is(id)) || (kind === NAMED && (named(id) & HAS) > 0) ||
                (kind === WORDS && this.words(i).toLowerCase().includes(asked));
        };
        return {fits, is};
    }
    words(i) {
        return this.texts[this.text[i]][1].replace(/\b[GT] 0\b/, () => this.name(this.g[i]));
    }
    who(i) {
        return this.lane[i] >= 0 ? `${this.byM ? 'M' : 'P'}${this.lane[i]}` : this.m[i] >= 0 ? `M${this.m[i]}` : 'sysmon';
    }
    /* The event that is so many steps from i, or the last one that is a step on the way there; i if there is none. */
    stepFrom(i, by) {
        let found = i;
        for (let at = i, left = Math.abs(by); left > 0;) {
            at += Math.sign(by);
            if (at < 0 || at >= this.count) break;
            if (this.hidden[at]) continue;
            found = at;
            left--;
        }
        return found;
    }
    /* The event from whose line its M was last seen, at event i or before it: it itself, or the last one of the
     * goroutine that the M runs. -1: none is known. Pre: the state is that after i. */
    lastLine(i) {
        if (this.site[i]) return i;
        const m = this.m[i], runs = m >= 0 ? this.runs[m] : 0;
        for (let k = i; k >= 0 && k > i - 5000 && runs; k--) {
            if (this.m[k] !== m) continue;
            if (this.site[k]) return k;
            if (this.g[k] === runs && this.texts[this.text[k]][0] === 'DISPATCHED') return -1; /* nothing of its own since then */
        }
        return -1;
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
    /* "woken by G2 on P0"; by P0 alone where that ran nobody else. */
    doneBy(what, i) {
        const by = this.by[i];
        return `${what} by ${by && by !== this.g[i] ? `${this.name(by)} on ` : ''}${this.who(i)}`;
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
            const by = this.who(i), how = words.replace(/.*\(|\).*/g, '');
            if (kind === 'CREATED' || kind === 'TASK_SPAWNED') set(i, 'runnable', this.doneBy('created', i));
            else if (kind === 'READIED') set(i, 'runnable', how === 'woken' || how === 'new' ? this.doneBy(how === 'new' ? 'created' : how, i) : `${how}, by ${by}`);
            else if (kind === 'DISPATCHED' || kind === 'TASK_BEGUN') set(i, 'running', `on ${by}`);
            else if (kind === 'PARKED') set(i, 'waiting', how);
            else if (kind === 'ENDED' || kind === 'TASK_RETURNED') { set(i, null, ''); }
        }
        if (state) parts.push([since, this.last, state, why]);
        return parts;
    }
}
