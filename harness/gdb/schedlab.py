"""schedlab.py - lists the goroutines, workers, threads and queues of a schedlab process or core in gdb.

    gdb -x harness/gdb/schedlab.py -p PID
    gdb -x harness/gdb/schedlab.py build/schedlab CORE
    gdb -x harness/gdb/schedlab.py --args build/schedlab sample gmp fib,n=20

`schedlab help` lists the commands. They work on x86-64 only, since they read the registers that its switches push.
Structures are read by their DWARF types, so that a new member moves nothing here. Two things are in no DWARF,
and stand here a second time: the registers that a simulated thread at rest has pushed
(sched_variants/machine/sim/switch.c), and which structure each variant hangs where (QUEUES below). Nothing is
written to the process. docs/DEBUGGING.md has examples.
"""
import re
import struct

import gdb
import gdb.unwinder

DEEPEST = 200  # frames of one stack
SHOWN = 100  # goroutines, without `all`
PAGE, PIECE, PT_LOAD = 4096, 1 << 20, 1  # of a core


class Mistake(Exception):
    """One line for who typed the command."""


# Stacks ----------------------------------------------------------------------------------------------


class AtRest(gdb.unwinder.Unwinder):
    """Puts a context at rest under the newest frame of the selected thread, so that gdb walks its stack from there.

    No register of the process is written, which a core would not allow.
    """

    def __init__(self):
        super().__init__("schedlab")
        self.registers = None
        self.newest_sp = None

    def __call__(self, frame):
        if self.registers is None or int(frame.read_register("rsp")) != self.newest_sp:
            return None
        # The identity is that of the context: gdb takes an older frame below a newer one for a broken stack.
        self.sp, self.pc = gdb.Value(self.registers["rsp"]), gdb.Value(self.registers["rip"])
        info = frame.create_unwind_info(self)
        for name, value in self.registers.items():
            info.add_saved_register(name, gdb.Value(value).cast(frame.read_register(name).type))
        return info


at_rest = AtRest()
gdb.unwinder.register_unwinder(None, at_rest, replace=True)


def word(address):
    return int(gdb.Value(address).cast(gdb.lookup_type("unsigned long").pointer()).dereference())


def context_of_g(sp):
    """The registers of a goroutine at rest: struct ctx (ctx.h), of which all but `ret` is popped."""
    ctx = gdb.lookup_type("struct ctx")
    at = {field.name: sp + field.bitpos // 8 for field in ctx.fields()}
    return {"rip": word(at["pc"]), "rbx": word(at["base"]), "rbp": word(at["fp"]), "rsp": at["ret"]}


def context_of_sim_thread(sp):
    """The registers of a simulated thread at rest, which sim_switch() has pushed."""
    names = ["r15", "r14", "r13", "r12", "rbx", "rbp", "rip"]
    registers = {name: word(sp + 8 * i) for i, name in enumerate(names)}
    registers["rsp"] = sp + 8 * len(names)
    return registers


class Place:
    """One frame: a function, inlined or not, and its line."""

    def __init__(self, frame):
        sal = frame.find_sal()
        self.pc = frame.pc()
        self.function = frame.name() or "0x%x" % self.pc
        self.file = sal.symtab.filename if sal.symtab else ""
        self.line = "%s:%d" % (self.file, sal.line) if sal.symtab else "no line known"

    def is_of(self, folder):
        return re.search("(^|/)sched_variants/" + folder, self.file) is not None


def walk(frame):
    places = []
    while frame is not None and frame.pc() != 0 and len(places) < DEEPEST:
        places.append(Place(frame))
        try:
            frame = frame.older()
        except gdb.error:
            break
    return places


def walk_context(registers):
    """The frames of a context at rest, newest first."""
    at_rest.registers, at_rest.newest_sp = None, None
    gdb.invalidate_cached_frames()
    at_rest.newest_sp = int(gdb.newest_frame().read_register("rsp"))
    at_rest.registers = registers
    gdb.invalidate_cached_frames()
    try:
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME:  # one frame of the stack
            frame = frame.older()
        return walk(frame.older())
    finally:
        at_rest.registers = None
        gdb.invalidate_cached_frames()


def summary(places):
    """The newest function that is not the runtime's, with its line, and the call of the runtime that it is in.

    Of a thread that looks for work it is the newest one of the runtime that is not the machine's."""
    known = [place for place in places if place.file]
    call = None
    for place in known:
        if not place.is_of(""):
            return "%s %s%s" % (place.function, place.line, ", in %s" % call if call else "")
        call = place.function
    for place in known:
        if not place.is_of("machine/"):
            return "%s %s" % (place.function, place.line)
    return "no line known" if places else "no frame"


# The scheduler ---------------------------------------------------------------------------------------


def number(value):
    return int(value.cast(gdb.lookup_type("long")))


def listed(first, link):
    while number(first) != 0:
        yield first.dereference()
        first = first[link]


def enum_word(name, value, prefix):
    for field in gdb.lookup_type("enum " + name).fields():
        if field.enumval == value:
            return field.name[len(prefix) :].lower().replace("_", " ")
    return "%s %d" % (name, value)


class Native:
    """Who runs what on real threads: each thread has a word that says which M it is."""

    def __init__(self):
        self.threads = {}
        inferior = gdb.selected_inferior()
        for thread in sorted(inferior.threads(), key=lambda thread: thread.num):
            thread.switch()
            try:
                m = gdb.parse_and_eval("native_self_m")
                if number(m) != 0:
                    self.threads[number(m)] = thread
                    self.any_m = m
            except gdb.error:  # a thread that has no memory of its own yet
                continue

    def name(self, m):
        thread = self.threads.get(number(m.address))
        return "thread %d, %d" % (thread.num, thread.ptid[1]) if thread else "no thread yet"

    def walk(self, m):
        thread = self.threads.get(number(m.address))
        if not thread:
            return []
        thread.switch()
        return walk(gdb.newest_frame())


class Simulated:
    """Who runs what on a simulated machine: one thread of the host, and a list of those that it simulates."""

    def __init__(self):
        self.threads = {}
        first = gdb.parse_and_eval("sim_threads")["tqh_first"]
        while number(first) != 0:
            if number(first["m"]) != 0:
                self.threads[number(first["m"])] = first.dereference()
                self.any_m = first["m"]
            first = first["all_link"]["tqe_next"]
        self.running = number(gdb.parse_and_eval("sim_current")["running"])

    def name(self, m):
        thread = self.threads.get(number(m.address))
        if thread is None:
            return "no thread yet"
        state = enum_word("thread_state", number(thread["state"]), "THREAD_")
        return "thread %d, core %d %s" % (number(thread["number"]), number(thread["core"]["index"]), state)

    def walk(self, m):
        thread = self.threads.get(number(m.address))
        if thread is None:
            return []
        if number(thread.address) == self.running:
            return walk(gdb.newest_frame())
        return walk_context(context_of_sim_thread(number(thread["sp"])))


class Look:
    """One look at the scheduler of the selected process."""

    def __init__(self):
        inferior = gdb.selected_inferior()
        if not inferior.threads():
            raise Mistake("there is no process; valid: gdb -p PID, gdb PROGRAM CORE, or `run` up to a breakpoint")
        try:
            gdb.lookup_type("struct sched")
            gdb.lookup_type("struct g_slab")
        except gdb.error:
            raise Mistake("%s has no types of a scheduler; valid: a program that `make` has built, not stripped" %
                          (inferior.progspace.filename or "this process")) from None
        architecture = gdb.selected_frame().architecture().name()
        if "x86-64" not in architecture:
            raise Mistake("this process is of %s; valid: a process or a core of x86-64" % architecture)
        self.simulated = gdb.lookup_global_symbol("sim_threads") is not None
        self.machine = Simulated() if self.simulated else Native()
        if not self.machine.threads:
            raise Mistake("no scheduler runs in this process; a sample runs in a process of its own "
                          "(`schedlab sample`, or `set follow-fork-mode child`)")
        self.sched = self.machine.any_m["sched"].dereference()
        self.variant = self.sched["ops"]["name"].string()
        self.ms = list(listed(self.sched["allm"], "all_link"))
        self.ms.reverse()
        self.ps = [self.sched["allp"][i].dereference() for i in range(number(self.sched["procs"]))]
        if self.sched["ops"]["thread_per_g"]:
            self.ps = [m["p"].dereference() for m in self.ms if number(m["p"]) != 0]
        self.curg = {number(m["curg"]): m for m in self.ms if number(m["curg"]) != 0}

    def gs(self):
        """Each G that has not ended, slab by slab."""
        for i in range(self.sched["g_shelves"].type.range()[1] + 1):
            for slab in self.slabs(i):
                for k in range(number(slab["carved"])):
                    if slab["gs"][k]["alive"]:
                        yield slab["gs"][k]

    def slabs(self, i):
        slab = self.sched["g_shelves"][i]["lh_first"]
        while number(slab) != 0:
            yield slab.dereference()
            slab = slab["link"]["le_next"]

    def g(self, text):
        if not re.fullmatch(r"[0-9]+", text):
            raise Mistake('"%s" is not the number of a goroutine; `schedlab gs` lists them' % text)
        for gp in self.gs():
            if number(gp["id"]) == int(text):
                return gp
        raise Mistake("there is no goroutine %s; `schedlab gs` lists them" % text)

    def state(self, gp):
        """Its state, and what it waits for."""
        m = self.curg.get(number(gp.address))
        reason = enum_word("wait_reason", number(gp["wait_reason"]), "WAIT_")
        if m is not None:
            return ("in a call" if number(m["call_p"]) else "running"), "M%d" % number(m["id"])
        if number(gp["last_m"]) == 0:
            return "not begun", ""
        if reason in ("none", "child"):
            return "runnable", ""
        return "waiting", "%s %s" % (reason, "0x%x" % number(gp["wait_on"]) if number(gp["wait_on"]) else "nobody")

    def walk(self, gp):
        m = self.curg.get(number(gp.address))
        if m is not None:
            return self.machine.walk(m)
        if number(gp["last_m"]) == 0 or number(gp["stack"]) == 0 or word(number(gp["sp"])) == 0:
            return []
        return walk_context(context_of_g(number(gp["sp"])))

    def where(self, gp):
        if number(gp["last_m"]) == 0:
            symbol = re.search(r"<(.*)>", str(gp["fn"]))
            return symbol.group(1) if symbol else "0x%x" % number(gp["fn"])
        return summary(self.walk(gp)) if self.has_stack(gp) else "its stack is not in this core: `schedlab core`"

    def has_stack(self, gp):
        return number(gp.address) in self.curg or word(number(gp["sp"])) != 0

    def stack(self, gp):
        """Where its stack lies, and how many bytes of it a goroutine at rest uses."""
        low = number(gp["stack"])
        if low == 0:
            return "-", ""
        size = number(gdb.parse_and_eval("STACK_SIZE_MAIN") if gp["big_stack"] else self.sched["stack_size"])
        used = "" if number(gp.address) in self.curg else str(low + size - number(gp["sp"]))
        return "0x%x+%dKi" % (low, size >> 10), used


# Queues ----------------------------------------------------------------------------------------------


def as_type(pointer, name):
    return pointer.cast(gdb.lookup_type("struct " + name).pointer()).dereference()


def ids(gs):
    return [number(gp["id"]) for gp in gs]


def of_globq(globq):
    fifo, gs = globq["fifo"], []
    lanes = fifo["lane"].type.range()[1] + 1
    ends = [fifo["lane"][i]["head"] for i in range(lanes)]
    for i in range(number(fifo["out"]), number(fifo["in"])):
        gp = ends[i % lanes]
        if number(gp) == 0:  # somebody is at it
            break
        gs.append(gp.dereference())
        ends[i % lanes] = gp["link"]
    return ids(gs)


def of_gqueue(queue):
    return ids(listed(queue["head"], "link"))


def of_lrq(lrq):
    """Go's ring, oldest first, and the slot for the newest."""
    at, end, mask = number(lrq["head"]), number(lrq["tail"]), number(lrq["mask"])
    slot = lrq["slot"]
    gs = ids(slot[i & mask].dereference() for i in range(at, at + ((end - at) & 0xFFFFFFFF)))
    newest = lrq["runnext"]
    return gs, ("runnext %d" % number(newest["id"]) if number(newest) else "runnext -")


def top_of(deque):
    """With deque=abp, which has room for so many, a tag lies above it."""
    ops, top = deque["ops"], number(deque["top"])
    return top & 0xFFFFFFFF if number(ops) and number(ops["room"]) else top


def of_deque(deque):
    """Oldest first: thieves take at the top, the owner at the bottom."""
    array = deque["array"].dereference()
    gs = []
    for i in range(top_of(deque), number(deque["bottom"])):
        gs.append(as_type(array["slot"][i & number(array["mask"])], "g"))
    return ids(gs)


def fork_join(look):
    for m in look.ms:
        tasks = m["fj"]["tasks"]
        yield "M%d tasks" % number(m["id"]), "%d" % max(0, number(tasks["bottom"]) - top_of(tasks))


def shown(gs):
    more = " and %d more" % (len(gs) - SHOWN) if len(gs) > SHOWN else ""
    return "%d: %s%s" % (len(gs), " ".join(map(str, gs[:SHOWN])), more) if gs else "0"


def queues_gmp(look):
    yield "global", shown(of_globq(as_type(look.sched["variant"], "gmp")["globq"]))
    for p in look.ps:
        gs, newest = of_lrq(as_type(p["variant"], "lrq"))
        yield "P%d" % number(p["id"]), "%s, %s" % (newest, shown(gs))


def queues_perm(look):
    yield "global", shown(of_globq(as_type(look.sched["variant"], "perm")["globq"]))
    for m in look.ms:
        gs, newest = of_lrq(as_type(m["variant"], "lrq"))
        yield "M%d" % number(m["id"]), "%s, %s" % (newest, shown(gs))


def of_workq(workq):
    """The ring, oldest first, and the slot for the newest. A place that has been emptied is passed by."""
    at, end = number(workq["taken"]), number(workq["put"])
    place = workq["place"]
    size = place.type.range()[1] + 1
    places = [place[i % size] for i in range(at, at + ((end - at) & 0xFFFFFFFF))]
    newest = workq["newest"]
    gs = ids(gp.dereference() for gp in places if number(gp))
    return gs, ("newest %d" % number(newest["id"]) if number(newest) else "newest -")


def queues_permits(look):
    yield "global", shown(of_globq(as_type(look.sched["variant"], "permits")["globq"]))
    for m in look.ms:
        gs, newest = of_workq(as_type(m["variant"], "workq"))
        yield "M%d" % number(m["id"]), "%s, %s" % (newest, shown(gs))


def queues_grq(look):
    yield "global", shown(of_globq(as_type(look.sched["variant"], "globq")))


def queues_uthread(look):
    yield "global", shown(of_gqueue(as_type(look.sched["variant"], "gqueue")))


def queues_static(look):
    for p in look.ps:
        hand = as_type(p["variant"], "hand")
        back = ", back %d" % number(hand["back"]["id"]) if number(hand["back"]) else ""
        yield "P%d" % number(p["id"]), shown(of_globq(hand["queue"])) + back


def queues_kthread(look):
    for m in look.ms:
        gp = as_type(m["variant"], "slot")["gp"]
        yield "M%d" % number(m["id"]), shown([number(gp["id"])] if number(gp) else [])


def queues_deques(look):
    yield "global", shown(of_globq(as_type(look.sched["variant"], "globq")))
    for p in look.ps:
        yield "P%d" % number(p["id"]), shown(of_deque(as_type(p["variant"], "deque")))
    yield from fork_join(look)


QUEUES = {
    "gmp": queues_gmp,
    "perm": queues_perm,
    "permits": queues_permits,
    "grq": queues_grq,
    "uthread": queues_uthread,
    "static": queues_static,
    "kthread": queues_kthread,
    "tasksteal": queues_deques,
    "contsteal": queues_deques,
}

# Commands --------------------------------------------------------------------------------------------


def table(head, rows):
    rows = [head] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def row_of_g(look, gp):
    state, what = look.state(gp)
    stack, used = look.stack(gp)
    main = " (main)" if gp["big_stack"] else ""
    return [str(number(gp["id"])) + main, state, what, stack, used, look.where(gp)]


def command_gs(look, words):
    if words not in ([], ["all"]):
        raise Mistake("schedlab gs takes nothing, or `all`")
    rows, more = [], 0
    for gp in look.gs():
        if len(rows) < SHOWN or words:
            rows.append(row_of_g(look, gp))
        else:
            more += 1
    table(["G", "state", "on", "stack", "used", "stands at"], rows)
    if more:
        print("and %d more; `schedlab gs all` lists them" % more)


def command_ps(look, words):
    rows = []
    for p in look.ps:
        m = p["m"]
        if number(m) == 0:
            state = "retired" if p["retired"] else "idle"
        else:
            state = "in a call" if number(p["call"]) & 1 else "held"
        rows.append([
            number(p["id"]), state, "M%d" % number(m["id"]) if number(m) else "-",
            number(p["schedtick"]), number(p["timers"]["count"])])
    table(["P", "state", "by", "schedtick", "timers"], rows)


def command_ms(look, words):
    rows = []
    for m in look.ms:
        curg = m["curg"]
        note = enum_word("m_note", number(m["note"]), "NOTE_")
        doing = "runs G%d" % number(curg["id"]) if number(curg) else "spinning" if m["spinning"] else \
            "scheduling" if note == "none" else note
        rows.append([
            number(m["id"]), look.machine.name(m), "P%d" % number(m["p"]["id"]) if number(m["p"]) else "-",
            doing, summary(look.machine.walk(m))])
    table(["M", "is", "holds", "does", "stands at"], rows)


def command_queues(look, words):
    if look.variant not in QUEUES:
        raise Mistake("the queues of %s are not known here; valid: a row in QUEUES of harness/gdb/schedlab.py" %
                      look.variant)
    for name, text in QUEUES[look.variant](look):
        print("%-10s %s" % (name, text))


def command_bt(look, words):
    if len(words) != 1:
        raise Mistake("schedlab bt takes the number of one goroutine; `schedlab gs` lists them")
    gp = look.g(words[0])
    places = look.walk(gp)
    if number(gp["last_m"]) == 0:
        print("goroutine %s has not begun: it will run %s" % (words[0], look.where(gp)))
    elif not places:
        raise Mistake("goroutine %s: %s" % (words[0], look.where(gp)))
    for i, place in enumerate(places):
        print("#%-3d 0x%012x in %s at %s" % (i, place.pc, place.function, place.line))


def memory_copy(start, length, core, offset):
    """What of the process's memory can be read, page by page where there is no other way."""
    try:
        piece = gdb.selected_inferior().read_memory(start, length)
    except gdb.MemoryError:
        if length > PAGE:
            for done in range(0, length, PAGE):
                memory_copy(start + done, min(PAGE, length - done), core, offset + done)
        return
    core.seek(offset)
    core.write(piece)


def command_core(look, words):
    """gdb's gcore stops in a mapping at the first page that cannot be read: at the guard page of a stack."""
    if len(words) != 1:
        raise Mistake("schedlab core takes the name of a file")
    gdb.execute("gcore " + words[0], to_string=True)
    with open(words[0], "r+b") as core:
        header = core.read(64)
        (table_at,), (size, count) = struct.unpack_from("<Q", header, 32), struct.unpack_from("<HH", header, 54)
        core.seek(table_at)
        segments = core.read(size * count)
        for i in range(count):
            kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", segments, size * i)
            for done in range(0, length if kind == PT_LOAD else 0, PIECE):
                memory_copy(start + done, min(PIECE, length - done), core, offset + done)
    print("the process is in " + words[0])


COMMANDS = {
    "gs": (command_gs, "goroutines: state, what each waits for, its stack, where it stands; `gs all` beyond %d" % SHOWN),
    "ps": (command_ps, "Ps: who holds them"),
    "ms": (command_ms, "Ms: thread, P, what each does, where it stands"),
    "queues": (command_queues, "who waits in which queue, oldest first"),
    "bt": (command_bt, "`bt G`: the stack of goroutine number G, also of one that is switched out"),
    "core": (command_core, "`core FILE`: writes a core, as gdb's gcore does, and with all goroutines' stacks"),
}


def command_help():
    for name, (_, line) in COMMANDS.items():
        print("schedlab %-7s %s" % (name, line))


class Schedlab(gdb.Command):
    """Lists goroutines, workers, threads and queues of schedlab: `schedlab help`."""

    def __init__(self):
        super().__init__("schedlab", gdb.COMMAND_STATUS)

    def complete(self, text, word):
        return [name for name in [*COMMANDS, "help"] if name.startswith(word)] if " " not in text else []

    def invoke(self, argument, from_tty):
        words = argument.split()
        if words in ([], ["help"]):
            command_help()
            return
        if words[0] not in COMMANDS:
            raise gdb.GdbError('schedlab: unknown command "%s"; valid: %s' % (words[0], " ".join([*COMMANDS, "help"])))
        thread = gdb.selected_thread()
        frame = gdb.selected_frame() if thread else None
        try:
            COMMANDS[words[0]][0](Look(), words[1:])
        except Mistake as mistake:
            raise gdb.GdbError("schedlab: %s" % mistake) from None
        finally:
            if thread:
                thread.switch()
                if frame.is_valid():
                    frame.select()


Schedlab()
# Signals that end a slice (machine/native/native.c) are no news to whoever debugs.
for signal in ("SIGURG", "SIG34"):
    gdb.execute("handle %s nostop noprint pass" % signal, to_string=True)
