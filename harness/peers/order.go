// order.go - in which order did n goroutines run? The decisions of Go's scheduler, as workloads/order.c has
// those of the variants.
//
// A variant begins with ticks that are all 0; here the runtime and the calls before have run. So with one worker
// the first thing is to find out where the tick of that worker stands, and to yield until it is where a fresh
// scheduler has it. The garbage collector is off: what it starts are dispatches too.

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func init() { workloads["order"] = order }

const (
	tickEvery  = 61  // one dispatch in so many looks at the global queue first
	probeSpawn = 258 // one more than ring and runnext hold, so that 129 go to the global queue
	probeHalf  = 128 // the oldest of those that stay
	freshTick  = 1   // after the dispatch of main, where nothing else has run

	orderSettle   = 5 * time.Millisecond
	orderRounds   = 50
	orderMax      = 5000
	orderDeadline = 5 * time.Second
	// A round that takes longer may hold the end of a slice, which is 10 ms, or a look of sysmon at the poller.
	orderRoundMax = 8 * time.Millisecond
)

type orderRound struct {
	n                     uint64
	ran, parked           []uint64
	ranCount, parkedCount int64 // atomic
	done                  sync.WaitGroup

	blockerRuns, blockerMayEnd int32 // atomic
}

func newOrder(n uint64) *orderRound {
	return &orderRound{n: n, ran: make([]uint64, n+1), parked: make([]uint64, n)}
}

func (o *orderRound) mark(id uint64) {
	if place := atomic.AddInt64(&o.ranCount, 1); place <= int64(len(o.ran)) {
		o.ran[place-1] = id
	}
}

func (o *orderRound) willPark(id uint64) {
	if place := atomic.AddInt64(&o.parkedCount, 1); place <= int64(len(o.parked)) {
		o.parked[place-1] = id
	}
}

func (o *orderRound) start(id uint64) {
	go func() {
		o.mark(id)
		o.done.Done()
	}()
}

func (o *orderRound) startAll() {
	for i := uint64(0); i < o.n; i++ {
		o.start(i)
	}
}

// Starts the waiters so that each is about to park before the next one exists.
func (o *orderRound) parkAll(wait func(id uint64)) {
	for i := uint64(0); i < o.n; i++ {
		i := i
		go func() {
			o.willPark(i)
			wait(i)
			o.mark(i)
			o.done.Done()
		}()
		for atomic.LoadInt64(&o.parkedCount) <= int64(i) {
			runtime.Gosched()
		}
	}
	for i, id := range o.parked {
		if id != uint64(i) {
			fail("order: waiter %d parked as number %d", id, i)
		}
	}
}

func (o *orderRound) spawn() {
	o.startAll()
	o.done.Wait()
}

func (o *orderRound) close() {
	channel := make(chan struct{})
	o.parkAll(func(uint64) { <-channel })
	close(channel)
	o.done.Wait()
}

func (o *orderRound) waitgroup() {
	var gate sync.WaitGroup
	gate.Add(1)
	o.parkAll(func(uint64) { gate.Wait() })
	gate.Done()
	o.done.Wait()
}

func (o *orderRound) yield() {
	o.startAll()
	runtime.Gosched()
	o.mark(o.n)
	o.done.Wait()
}

// One write makes one reader ready. The sleep before them is the poller's: sysmon does not look there too within
// the next 10 ms.
func (o *orderRound) pipes() {
	var from, to []*os.File
	for i := uint64(0); i < o.n; i++ {
		reader, writer := newPipe(false)
		from, to = append(from, reader), append(to, writer)
	}
	o.parkAll(func(id uint64) { readByte(from[id]) })
	time.Sleep(time.Millisecond)
	for _, writer := range to {
		writeByte(writer)
	}
	o.done.Wait()
	for i := range to {
		from[i].Close()
		to[i].Close()
	}
}

func readByte(from *os.File) {
	var byte [1]byte
	if _, err := io.ReadFull(from, byte[:]); err != nil {
		fail("order: %v", err)
	}
}

func writeByte(to *os.File) {
	if _, err := to.Write([]byte{0}); err != nil {
		fail("order: %v", err)
	}
}

func spinUntil(what string, is func() bool) {
	for start := time.Now(); !is(); {
		if time.Since(start) > orderDeadline {
			fail("order: within 5 s %s", what)
		}
	}
}

// hide() makes all runnable while another worker spins in the blocker and this one in main; then the blocker ends,
// and its worker finds them. False if hide() could not do its work.
func (o *orderRound) besideBlocker(hide func() bool) bool {
	if runtime.GOMAXPROCS(0) < 2 {
		fail("order: needs at least 2 workers")
	}
	o.done.Add(1)
	go func() {
		atomic.StoreInt32(&o.blockerRuns, 1)
		for atomic.LoadInt32(&o.blockerMayEnd) == 0 {
		}
		o.done.Done()
	}()
	spinUntil("no worker took a goroutine from a busy one",
		func() bool { return atomic.LoadInt32(&o.blockerRuns) != 0 })
	hidden := hide()
	atomic.StoreInt32(&o.blockerMayEnd, 1)
	if hidden {
		spinUntil("not all goroutines were taken from a busy worker",
			func() bool { return atomic.LoadInt64(&o.ranCount) == int64(o.n) })
	}
	o.done.Wait()
	return hidden
}

func (o *orderRound) steal() bool {
	return o.besideBlocker(func() bool {
		o.startAll()
		return true
	})
}

// 0 where all workers look, 1 waits for a pipe that is ready, 2 and 3 are queued on main's worker, the newest last.
// Goroutine 0 wakes main before it yields, so that main runs on from runnext and 0 stays in the global queue.
// Where this worker's tick is at its 61st dispatch, it takes 0 itself.
//
// A thread without a P may wait in the poller, and nobody else looks there meanwhile. A pipe of its own takes it
// out before the search.
func (o *orderRound) search() bool {
	from, to := newPipe(false)
	defer from.Close()
	defer to.Close()
	otherFrom, otherTo := newPipe(false)
	defer otherFrom.Close()
	defer otherTo.Close()
	nobodyPolls := make(chan struct{})
	go func() {
		o.willPark(0)
		readByte(otherFrom)
		nobodyPolls <- struct{}{}
	}()
	go func() {
		o.willPark(1)
		readByte(from)
		o.mark(1)
		o.done.Done()
	}()
	for atomic.LoadInt64(&o.parkedCount) < 2 {
		runtime.Gosched()
	}
	return o.besideBlocker(func() bool {
		writeByte(otherTo)
		<-nobodyPolls
		there := make(chan struct{})
		go func() {
			there <- struct{}{}
			runtime.Gosched()
			o.mark(0)
			o.done.Done()
		}()
		<-there
		isThere := atomic.LoadInt64(&o.ranCount) == 0
		o.start(2)
		o.start(3)
		writeByte(to)
		return isThere
	})
}

// Rounds of a mode with a blocker, until nothing else can have taken a worker meanwhile.
func orderUndisturbed(n uint64, round func(*orderRound) bool) *orderRound {
	for i := 0; i < orderRounds; i++ {
		o := newOrder(n)
		o.done.Add(int(n))
		runtime.Gosched() // a slice begins
		start := time.Now()
		if round(o) && time.Since(start) < orderRoundMax {
			return o
		}
	}
	fail("order: each of %d rounds took over %v, in which a slice may end", orderRounds, orderRoundMax)
	return nil
}

// Where this worker's tick stands after it. How many ran from the ring before the first one came from the global
// queue tells where it was; all but the newest moved it on.
func orderTick() uint64 {
	probe := newOrder(probeSpawn)
	probe.done.Add(probeSpawn)
	probe.spawn()
	local := uint64(0)
	for _, id := range probe.ran[:probeSpawn] {
		if id < probeHalf {
			break
		}
		if id != probeSpawn-1 {
			local++
		}
	}
	return (tickEvery - local%tickEvery + probeSpawn - 1) % tickEvery
}

// Rounds on one worker, until nothing else was dispatched meanwhile. Before each the worker yields until its tick is
// where a fresh scheduler has it, and then so many times more. A second look at the tick tells whether others ran.
func orderTicked(n, yields uint64, mode func(*orderRound), dispatches func() (uint64, bool)) *orderRound {
	time.Sleep(orderSettle) // the runtime's own goroutines have run once
	for i := 0; i < orderRounds; i++ {
		start := time.Now()
		for tick := orderTick(); tick%tickEvery != freshTick; tick++ {
			runtime.Gosched()
		}
		for k := uint64(0); k < yields; k++ {
			runtime.Gosched()
		}
		o := newOrder(n)
		o.done.Add(int(n))
		mode(o)
		took, tick := time.Since(start), orderTick()
		count, known := dispatches()
		if took < orderRoundMax && (!known || tick == (freshTick+yields+count+probeSpawn-1)%tickEvery) {
			return o
		}
	}
	fail("order: in each of %d rounds other goroutines ran", orderRounds)
	return nil
}

// As order_format() of workloads/order.c.
func (o *orderRound) text(count uint64) string {
	var parts []string
	for i := uint64(0); i < count; {
		last := i
		for last+1 < count && o.ran[last+1] == o.ran[last]+1 && o.ran[last+1] != o.n {
			last++
		}
		switch {
		case o.ran[i] == o.n:
			parts = append(parts, "y")
		case last > i:
			parts = append(parts, fmt.Sprintf("%d-%d", o.ran[i], o.ran[last]))
		default:
			parts = append(parts, fmt.Sprint(o.ran[i]))
		}
		i = last + 1
	}
	return strings.Join(parts, " ")
}

func order(s *settings) func(*outcome) {
	n, yields, mode := s.number("n"), s.number("yields"), s.text("mode")
	modes := map[string]func(*orderRound){
		"spawn": (*orderRound).spawn, "close": (*orderRound).close, "waitgroup": (*orderRound).waitgroup,
		"yield": (*orderRound).yield, "pipes": (*orderRound).pipes}
	blocked := map[string]func(*orderRound) bool{
		"steal": (*orderRound).steal, "search": (*orderRound).search}
	if modes[mode] == nil && blocked[mode] == nil {
		unsupported("order,mode=%s", mode)
	}
	if n > orderMax {
		unsupported("order,n=%d: more than %d take longer than a slice", n, orderMax)
	}
	debug.SetGCPercent(-1)
	return func(out *outcome) {
		var o *orderRound
		if blocked[mode] != nil {
			o = orderUndisturbed(n, blocked[mode])
		} else if runtime.GOMAXPROCS(0) == 1 {
			// All but the newest of those that are spawned come from a queue.
			o = orderTicked(n, yields, modes[mode],
				func() (uint64, bool) { return n - 1, mode == "spawn" })
		} else {
			o = newOrder(n)
			o.done.Add(int(n))
			modes[mode](o)
		}
		out.ops = uint64(o.ranCount)
		if out.ops > uint64(len(o.ran)) {
			fail("order: %d goroutines ran", out.ops)
		}
		for _, id := range o.ran[:out.ops] {
			out.answer = mix(out.answer ^ id)
			out.digest += mix(id + 1)
		}
		out.order = o.text(out.ops)
	}
}
