// waits.go - the workloads about slices, blocking calls, starvation, descriptors and timers, in Go.
//
// As anyone would write it: goroutines, package os for pipes, package net for connections, package time, and
// syscall.Nanosleep() for a call that blocks its thread. Work, answers, digests and what is timed are as in
// workloads/*.c, and so are the latencies.

package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func init() {
	for name, one := range map[string]workload{
		"slice":  slice,
		"hog":    hog,
		"calls":  calls,
		"chain":  chain,
		"pipes":  pipes,
		"echo":   echo,
		"timers": timers,
	} {
		workloads[name] = one
	}
}

// As go_now() of the runtime: nanoseconds of a clock that never goes back.
var origin = time.Now()

func now() int64 { return int64(time.Since(origin)) }

// Slices --------------------------------------------------------------------------------------

type sliceHog struct {
	slices histogram
	result uint64
	_      [64]byte
	done   int64 // atomic: chunks, a hint to the others
	_      [64]byte
}

func slice(s *settings) func(*outcome) {
	hogs := make([]sliceHog, s.number("hogs"))
	chunks, rounds, gap := s.number("chunks"), s.number("rounds"), int64(s.number("gap_ns"))
	othersDone := func(self *sliceHog) (done int64) {
		for i := range hogs {
			if &hogs[i] != self {
				done += atomic.LoadInt64(&hogs[i].done)
			}
		}
		return
	}
	run := func(self *sliceHog) {
		begin, others, stopped := now(), othersDone(self), false
		last, result := begin, uint64(0)
		for i := uint64(0); i < chunks; i++ {
			result += mix(work(rounds) + i)
			atomic.StoreInt64(&self.done, int64(i+1))
			at := now()
			if at-last > gap {
				if othersNow := othersDone(self); othersNow != others {
					self.slices.record(last - begin)
					stopped, begin, others = true, at, othersNow
				}
			}
			last = at
		}
		if !stopped {
			self.slices.record(last - begin)
		}
		self.result = result
	}
	return func(out *outcome) {
		var done sync.WaitGroup
		gate := make(chan struct{})
		done.Add(len(hogs))
		for i := range hogs {
			self := &hogs[i]
			*self = sliceHog{}
			go func() {
				<-gate
				run(self)
				done.Done()
			}()
		}
		start := time.Now()
		close(gate)
		done.Wait()
		out.time = time.Since(start)
		for i := range hogs {
			out.latency.merge(&hogs[i].slices)
			out.answer += hogs[i].result
		}
		out.digest, out.ops = mix(out.answer), uint64(len(hogs))*chunks
	}
}

func hog(s *settings) func(*outcome) {
	hogs, chunks, rounds := s.number("hogs"), s.number("chunks"), s.number("rounds")
	n, period, short := s.number("n"), int64(s.number("period_ns")), s.number("work")
	between := s.text("calls")
	if between != "none" && between != "chan" {
		unsupported("calls=%s: Go has no preemption check to call, and no empty call", between)
	}
	results, ends := make([]uint64, hogs), make([]int64, hogs)
	tasks, late := make([]uint64, n), make([]int64, n)
	run := func(h uint64) {
		own, result := make(chan uint64, 1), uint64(0)
		for i := uint64(0); i < chunks; i++ {
			result += mix(work(rounds) + i)
			if between == "chan" {
				own <- i
				<-own
			}
		}
		results[h], ends[h] = result, now()
	}
	return func(out *outcome) {
		var done sync.WaitGroup
		done.Add(int(hogs + n))
		start := now()
		for h := uint64(0); h < hogs; h++ {
			h := h
			go func() {
				run(h)
				done.Done()
			}()
		}
		for i := uint64(0); i < n; i++ {
			i, due := i, start+int64(i+1)*period
			if left := due - now(); left > 0 {
				time.Sleep(time.Duration(left))
			}
			go func() {
				tasks[i] = mix(work(short) ^ i)
				late[i] = now() - due
				done.Done()
			}()
		}
		done.Wait()
		end := int64(0)
		for h := range results {
			out.answer += results[h]
			end = max(end, ends[h])
		}
		for i := range tasks {
			out.answer += tasks[i]
			out.latency.record(late[i])
		}
		out.time = time.Duration(end - start)
		out.digest, out.ops = mix(out.answer), hogs*chunks
	}
}

// Calls ---------------------------------------------------------------------------------------

const pauseRounds = 1000

func workFor(ns int64) {
	for end := now() + ns; now() < end; {
		work(pauseRounds)
	}
}

type caller struct {
	share, made, behind, seed, long uint64
	latency                         histogram
}

// One call with a goroutine behind it, or with two: `newest` and, in the queue, the one that tells.
func (self *caller) callBeforeOthers(newest bool, call func()) {
	behind, second := make(chan struct{}), make(chan struct{})
	since := now()
	go func() {
		self.latency.record(now() - since)
		self.behind++
		close(behind)
	}()
	if newest {
		go close(second)
	}
	call()
	<-behind
	if newest {
		<-second
	}
}

func calls(s *settings) func(*outcome) {
	n, before, pause := s.number("n"), s.text("before"), int64(s.number("before_ns"))
	asleep, measured, during := int64(s.number("sleep_ns")), s.text("measure"), s.is("during", "work", "kernel")
	beside, rounds := s.number("beside"), s.number("rounds")
	yields, besideMax := s.is("yields", "on", "off"), s.number("beside_max")
	asleepLong, longEvery := int64(s.number("long_ns")), s.number("long_every")
	callers := make([]caller, s.number("callers"))
	if measured == "return" {
		unsupported("measure=return: Go does not tell when the kernel's part of a call was over")
	}
	if (asleep == 0 || longEvery > 0 && asleepLong == 0) && !during {
		unsupported("sleep_ns=0: Go has no call that only goes to the kernel and comes back")
	}
	call := func(self *caller) {
		ns := asleep
		if longEvery > 0 && self.made%longEvery == mix(self.seed^self.made/longEvery)%longEvery {
			ns = asleepLong
			self.long++
		}
		if during {
			workFor(ns)
			return
		}
		duration := syscall.NsecToTimespec(ns)
		for syscall.Nanosleep(&duration, &duration) == syscall.EINTR {
		}
	}
	makeCalls := func(self *caller) {
		for ; self.made < self.share; self.made++ {
			if before == "idle" {
				time.Sleep(time.Duration(pause))
			} else if before == "busy" {
				workFor(pause)
			}
			self.callBeforeOthers(measured == "ring", func() { call(self) })
		}
	}
	return func(out *outcome) {
		var calling, others sync.WaitGroup
		over := int32(0)
		calling.Add(len(callers))
		others.Add(int(beside))
		for i := uint64(0); i < beside; i++ {
			go func() {
				for k := uint64(0); k < besideMax && atomic.LoadInt32(&over) == 0; k++ {
					work(rounds)
					if yields {
						runtime.Gosched()
					}
				}
				others.Done()
			}()
		}
		start := time.Now()
		for i := range callers {
			self := &callers[i]
			*self = caller{
				share: share(n, uint64(len(callers)), uint64(i)),
				seed:  mix(s.seed ^ mix(uint64(i))),
			}
			go func() {
				makeCalls(self)
				calling.Done()
			}()
		}
		calling.Wait()
		out.time = time.Since(start)
		atomic.StoreInt32(&over, 1)
		others.Wait()
		for i := range callers {
			self := &callers[i]
			out.latency.merge(&self.latency)
			out.ops += self.made
			out.answer += self.made + self.behind
			out.digest += mix(uint64(i)<<40 ^ self.made ^ self.behind<<20 ^ self.long<<30)
		}
	}
}

// Starvation ----------------------------------------------------------------------------------

type chainVictim struct {
	start, latency int64
	ran            uint64
}

func chain(s *settings) func(*outcome) {
	n, rounds := s.number("n"), s.number("rounds")
	if s.is("queue", "global", "local") {
		unsupported("queue=global: peers start goroutines in one way")
	}
	victims := make([]chainVictim, s.number("victims"))
	return func(out *outcome) {
		var linked, waited sync.WaitGroup
		links, sum := uint64(0), uint64(0)
		var link func()
		link = func() {
			sum += mix(work(rounds) + links)
			links++
			if links < n {
				go link()
			}
			linked.Done()
		}
		linked.Add(int(n))
		waited.Add(len(victims))
		for i := range victims {
			victim := &victims[i]
			victim.ran, victim.start = 0, now()
			go func() {
				victim.latency = now() - victim.start
				victim.ran++
				waited.Done()
			}()
		}
		start := time.Now()
		go link()
		linked.Wait()
		out.time = time.Since(start)
		waited.Wait()
		for i := range victims {
			out.latency.record(victims[i].latency)
			out.digest += mix(uint64(i)<<40 ^ victims[i].ran)
		}
		out.answer, out.ops = sum, links
		out.digest += mix(sum)
	}
}

// Descriptors ---------------------------------------------------------------------------------

// A pipe; one that blocks is made so that package os does not give it to the poller.
func newPipe(blocks bool) (from, to *os.File) {
	var err error
	if blocks {
		var ends [2]int
		if err = syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err == nil {
			from, to = os.NewFile(uintptr(ends[0]), "from"), os.NewFile(uintptr(ends[1]), "to")
		}
	} else {
		from, to, err = os.Pipe()
	}
	if err != nil {
		fail("pipes: %v", err)
	}
	return
}

type pipeReader struct {
	from, to *os.File
	written  int64 // atomic: word i's, read by who has got the word
	word     uint64
	latency  int64
}

func pipes(s *settings) func(*outcome) {
	n, settle, mode := s.number("n"), s.number("settle_ns"), s.text("mode")
	readers := make([]pipeReader, n)
	read := func(self *pipeReader) {
		var word [8]byte
		if _, err := io.ReadFull(self.from, word[:]); err != nil {
			fail("pipes: %v", err)
		}
		at, index := now(), binary.LittleEndian.Uint64(word[:])
		self.word = mix(index)
		self.latency = at - atomic.LoadInt64(&readers[index].written)
	}
	return func(out *outcome) {
		var done sync.WaitGroup
		waiting := int64(0)
		for i := range readers {
			if i == 0 || mode != "shared" {
				readers[i].from, readers[i].to = newPipe(mode != "poll")
			} else {
				readers[i].from, readers[i].to = readers[0].from, readers[0].to
			}
		}
		done.Add(int(n))
		for i := range readers {
			self := &readers[i]
			go func() {
				atomic.AddInt64(&waiting, 1)
				read(self)
				done.Done()
			}()
		}
		for atomic.LoadInt64(&waiting) < int64(n) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(settle))
		start := time.Now()
		for i := range readers {
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], uint64(i))
			atomic.StoreInt64(&readers[i].written, now())
			if _, err := readers[i].to.Write(word[:]); err != nil {
				fail("pipes: %v", err)
			}
		}
		done.Wait()
		out.time = time.Since(start)
		for i := range readers {
			if i == 0 || mode != "shared" {
				readers[i].from.Close()
				readers[i].to.Close()
			}
			out.latency.record(readers[i].latency)
			out.answer += readers[i].word
		}
		out.ops, out.digest = n, mix(out.answer)+mix(^n)
	}
}

// A message's bytes follow from its first eight.
func echoFill(message []byte, word uint64) {
	for at := 0; at < len(message); at += 8 {
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], word)
		copy(message[at:], bytes[:])
		word = word*6364136223846793005 + 1442695040888963407
	}
}

func echoServe(connection net.Conn, size uint64) {
	buffer := make([]byte, size)
	for {
		if _, err := io.ReadFull(connection, buffer); err != nil {
			break
		}
		if _, err := connection.Write(buffer); err != nil {
			break
		}
	}
	connection.Close()
}

type echoClient struct {
	connection net.Conn
	latencies  []int64
	sum        uint64
}

func (client *echoClient) talk(c, seed, size uint64) {
	sent, back := make([]byte, size), make([]byte, size)
	client.sum = 0
	for m := range client.latencies {
		word := mix(seed ^ mix(c<<32^uint64(m)))
		echoFill(sent, word)
		start := now()
		if _, err := client.connection.Write(sent); err != nil {
			fail("echo: connection %d: %v", c, err)
		}
		if _, err := io.ReadFull(client.connection, back); err != nil {
			fail("echo: connection %d: %v", c, err)
		}
		client.latencies[m] = now() - start
		if !bytes.Equal(sent, back) {
			fail("echo: connection %d got another message back", c)
		}
		client.sum += word
	}
	client.connection.Close()
}

func echo(s *settings) func(*outcome) {
	n, messages, size := s.number("connections"), s.number("messages"), s.number("size")
	if s.number("rate") > 0 {
		unsupported("rate: Go's clients send when the message before has come back")
	}
	clients := make([]echoClient, n)
	for c := range clients {
		clients[c].latencies = make([]int64, messages)
	}
	return func(out *outcome) {
		var dialled, accepted, done sync.WaitGroup
		gate := make(chan struct{})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			fail("echo: %v", err)
		}
		dialled.Add(int(n))
		accepted.Add(1)
		done.Add(2 * int(n))
		go func() {
			for left := n; left > 0; left-- {
				connection, err := listener.Accept()
				if err != nil {
					fail("echo: %v", err)
				}
				go func() {
					echoServe(connection, size)
					done.Done()
				}()
			}
			accepted.Done()
		}()
		for c := range clients {
			c, client := uint64(c), &clients[c]
			go func() {
				var err error
				if client.connection, err = net.Dial("tcp", listener.Addr().String()); err != nil {
					fail("echo: connection %d of %d: %v", c, n, err)
				}
				dialled.Done()
				<-gate
				client.talk(c, s.seed, size)
				done.Done()
			}()
		}
		dialled.Wait()
		accepted.Wait()
		start := time.Now()
		close(gate)
		done.Wait()
		out.time = time.Since(start)
		listener.Close()
		for c := range clients {
			for _, ns := range clients[c].latencies {
				out.latency.record(ns)
			}
			out.ops += messages
			out.answer += clients[c].sum
			out.digest += mix(clients[c].sum ^ mix(messages))
		}
	}
}

// Timers --------------------------------------------------------------------------------------

const (
	percent     = 100
	happensMost = 2
)

type oneTimer struct {
	timer          *time.Timer
	due            int64 // atomic
	happened       int32 // atomic
	stopped, again int32
	late           [happensMost]int64
}

func (self *oneTimer) happen() {
	at := now()
	if times := atomic.AddInt32(&self.happened, 1); times <= happensMost {
		self.late[times-1] = at - atomic.LoadInt64(&self.due)
	}
}

func timers(s *settings) func(*outcome) {
	list, sleep := make([]oneTimer, s.number("n")), s.is("mode", "sleep", "func")
	ns, spread := int64(s.number("ns")), s.number("spread_ns")
	stop, reset := int(s.number("stop")), int(s.number("reset"))
	delay := func(i int) time.Duration {
		return time.Duration(ns + int64(float64(i)/float64(len(list))*float64(spread)))
	}
	return func(out *outcome) {
		var done sync.WaitGroup
		done.Add(len(list))
		start := time.Now()
		for i := range list {
			i, self := i, &list[i]
			*self = oneTimer{}
			if sleep {
				go func() {
					atomic.StoreInt64(&self.due, now()+int64(delay(i)))
					time.Sleep(delay(i))
					self.happen()
					done.Done()
				}()
				continue
			}
			atomic.StoreInt64(&self.due, now()+int64(delay(i)))
			self.timer = time.AfterFunc(delay(i), func() {
				self.happen()
				done.Done()
			})
		}
		for i := range list {
			self := &list[i]
			if i%percent < stop {
				if self.timer.Stop() {
					self.stopped = 1
					done.Done()
				}
			} else if i%percent < stop+reset {
				done.Add(1) // as if it happened twice
				atomic.StoreInt64(&self.due, now()+int64(delay(i)))
				if self.timer.Reset(delay(i)) {
					done.Done()
				} else {
					self.again = 1
				}
			}
		}
		done.Wait()
		out.time = time.Since(start)
		for i := range list {
			self := &list[i]
			for k := int32(0); k < self.happened && k < happensMost; k++ {
				out.latency.record(self.late[k])
			}
			counted := uint64(self.happened + self.stopped - self.again)
			if counted == 1 {
				out.answer++
			}
			out.digest += mix(uint64(i)<<40 ^ counted)
		}
		out.ops = uint64(len(list))
	}
}
