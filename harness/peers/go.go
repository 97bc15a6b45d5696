// go.go - the goroutine workloads, and fork/join with a goroutine per call, in Go.
//
// Channels, sync.Mutex, sync.WaitGroup and runtime.Gosched, as anyone would write it. What is timed,
// how many operations there are, and how answer and digest are made is as in workloads/*.c.

package main

import (
	"runtime"
	"sync"
	"time"
)

var workloads = map[string]workload{
	"spawn":    spawn,
	"pingpong": pingpong,
	"ring":     ring,
	"yield":    yield,
	"prodcons": prodcons,
	"mpmc":     mpmc,
	"sieve":    sieve,
	"mutex":    mutex,
	"skynet":   skynet,
	"fib":      fib,
	"nqueens":  nqueens,
}

func spawn(s *settings) func(*outcome) {
	n, creators, batch := s.number("n"), s.number("creators"), s.is("mode", "batch", "one")
	marks := make([]uint64, n)
	create := func(first, end uint64, children *sync.WaitGroup) {
		for i := first; i < end; i++ {
			i := i
			if batch {
				go func() {
					marks[i] += i + 1
					children.Done()
				}()
				continue
			}
			var child sync.WaitGroup
			child.Add(1)
			go func() {
				marks[i] += i + 1
				child.Done()
			}()
			child.Wait()
		}
	}
	return func(out *outcome) {
		var children, creating sync.WaitGroup
		start := time.Now()
		if batch {
			children.Add(int(n))
		}
		if creators == 1 {
			create(0, n, &children)
		} else {
			creating.Add(int(creators))
			for c := uint64(0); c < creators; c++ {
				c := c
				go func() {
					create(n*c/creators, n*(c+1)/creators, &children)
					creating.Done()
				}()
			}
			creating.Wait()
		}
		children.Wait()
		out.time = time.Since(start)
		for i := range marks {
			if marks[i] != uint64(i)+1 {
				fail("spawn: number %d left %d", i, marks[i])
			}
			out.answer += marks[i]
			out.digest += mix(marks[i])
			marks[i] = 0
		}
		out.ops = n
	}
}

func pingpong(s *settings) func(*outcome) {
	rounds, pairs, capacity := s.number("rounds"), s.number("pairs"), s.number("capacity")
	s.noLatency()
	s.number("hog_chunks") // of no hog
	s.text("queue")        // of no victim
	if s.number("hogs") > 0 || s.number("victims") > 0 {
		unsupported("hogs and victims beside the pairs: peers have none")
	}
	locked := s.text("locked")
	sums := make([]uint64, pairs)
	return func(out *outcome) {
		var done sync.WaitGroup
		gate := make(chan struct{})
		done.Add(int(2 * pairs))
		for p := uint64(0); p < pairs; p++ {
			there, back := make(chan uint64, capacity), make(chan uint64, capacity)
			tag, sum := p<<40, &sums[p]
			go func() {
				if locked != "none" {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				for i := uint64(0); i < rounds; i++ {
					message := <-there
					if message != tag|i {
						fail("pingpong: a wrong message to pong")
					}
					back <- tag | (2*(message-tag) + 1)
				}
				done.Done()
			}()
			go func() {
				if locked == "both" {
					runtime.LockOSThread()
					defer runtime.UnlockOSThread()
				}
				total := uint64(0)
				<-gate
				for i := uint64(0); i < rounds; i++ {
					there <- tag | i
					message := <-back
					if message != tag|(2*i+1) {
						fail("pingpong: a wrong message to ping")
					}
					total += message - tag
				}
				*sum = total
				done.Done()
			}()
		}
		start := time.Now()
		close(gate)
		done.Wait()
		out.time = time.Since(start)
		for p := range sums {
			out.answer += sums[p]
			out.digest += mix(uint64(p)<<40 ^ sums[p])
		}
		out.ops = pairs * rounds
	}
}

func ring(s *settings) func(*outcome) {
	n, hops := s.number("n"), int64(s.number("hops"))
	visits := make([]uint64, n)
	return func(out *outcome) {
		var ended sync.WaitGroup
		arrived := make(chan uint64)
		channels := make([]chan int64, n)
		for i := range channels {
			channels[i] = make(chan int64)
		}
		ended.Add(int(n))
		for i := uint64(0); i < n; i++ {
			index, in, next := i, channels[i], channels[(i+1)%n]
			go func() {
				expected, seen := hops-int64(index), uint64(0)
				for token := range in {
					if token != expected {
						fail("ring: node %d got a wrong token", index)
					}
					expected -= int64(n)
					seen++
					if token > 0 {
						next <- token - 1
					} else {
						arrived <- index
					}
				}
				visits[index] = seen
				ended.Done()
			}()
		}
		start := time.Now()
		channels[0] <- hops
		last := <-arrived
		out.time = time.Since(start)
		for _, channel := range channels {
			close(channel)
		}
		ended.Wait()
		total := uint64(0)
		for i := range visits {
			total += visits[i]
			out.digest += mix(uint64(i)<<40 ^ visits[i])
		}
		out.answer, out.ops = last+1, total-1
	}
}

func yield(s *settings) func(*outcome) {
	n, yielders := s.number("n"), s.number("yielders")
	did := make([]uint64, yielders)
	return func(out *outcome) {
		var done sync.WaitGroup
		gate := make(chan struct{})
		done.Add(int(yielders))
		for i := uint64(0); i < yielders; i++ {
			mine, times := share(n, yielders, i), &did[i]
			go func() {
				<-gate
				count := uint64(0)
				for count < mine {
					runtime.Gosched()
					count++
				}
				*times = count
				done.Done()
			}()
		}
		start := time.Now()
		close(gate)
		done.Wait()
		out.time = time.Since(start)
		for i := range did {
			out.answer += did[i]
			out.digest += mix(uint64(i)<<40 ^ did[i])
		}
		out.ops = out.answer
	}
}

func prodcons(s *settings) func(*outcome) {
	messages, buffer, rounds := s.number("messages"), s.number("buffer"), s.number("work")
	return func(out *outcome) {
		var done sync.WaitGroup
		var received, sum uint64
		gate, channel := make(chan struct{}), make(chan uint64, buffer)
		done.Add(2)
		go func() {
			for message := range channel {
				if message != received {
					fail("prodcons: a message came out of order")
				}
				received++
				sum += message
				if rounds > 0 {
					work(rounds)
				}
			}
			done.Done()
		}()
		go func() {
			<-gate
			for i := uint64(0); i < messages; i++ {
				if rounds > 0 {
					work(rounds)
				}
				channel <- i
			}
			close(channel)
			done.Done()
		}()
		start := time.Now()
		close(gate)
		done.Wait()
		out.time = time.Since(start)
		out.ops, out.answer, out.digest = received, sum, mix(sum)+mix(^received)
	}
}

func mpmc(s *settings) func(*outcome) {
	messages, producers, consumers := s.number("messages"), s.number("producers"), s.number("consumers")
	buffer, rounds := s.number("buffer"), s.number("work")
	return func(out *outcome) {
		var produced, consumed sync.WaitGroup
		received, sums := make([]uint64, consumers), make([]uint64, consumers)
		gate, channel := make(chan struct{}), make(chan uint64, buffer)
		consumed.Add(int(consumers))
		for c := uint64(0); c < consumers; c++ {
			c := c
			go func() {
				next := make([]uint64, producers)
				count, sum := uint64(0), uint64(0)
				for message := range channel {
					producer, number := message>>40, message&(1<<40-1)
					if number < next[producer] {
						fail("mpmc: a message was repeated or came out of order")
					}
					next[producer] = number + 1
					count++
					sum += mix(message)
					if rounds > 0 {
						work(rounds)
					}
				}
				received[c], sums[c] = count, sum
				consumed.Done()
			}()
		}
		produced.Add(int(producers))
		for p := uint64(0); p < producers; p++ {
			tag, mine := p<<40, share(messages, producers, p)
			go func() {
				<-gate
				for i := uint64(0); i < mine; i++ {
					if rounds > 0 {
						work(rounds)
					}
					channel <- tag | i
				}
				produced.Done()
			}()
		}
		start := time.Now()
		close(gate)
		produced.Wait()
		close(channel)
		consumed.Wait()
		out.time = time.Since(start)
		for c := range sums {
			out.ops += received[c]
			out.answer += sums[c]
		}
		out.digest = out.answer + mix(out.ops)
	}
}

// The n-th prime, by trial division.
func nthPrime(n uint64) uint64 {
	number := uint64(1)
	for n > 0 {
		number++
		prime := true
		for divisor := uint64(2); divisor*divisor <= number && prime; divisor++ {
			prime = number%divisor != 0
		}
		if prime {
			n--
		}
	}
	return number
}

func sieve(s *settings) func(*outcome) {
	primes := s.number("primes")
	last := nthPrime(primes)
	found, sent := make([]uint64, 0, primes), make([]uint64, primes)
	generate := func(out chan<- uint64) {
		count := uint64(0)
		for number := uint64(2); number <= last; number++ {
			out <- number
			count++
		}
		sent[0] = count
		close(out)
	}
	filter := func(stage int, prime uint64, in <-chan uint64, out chan<- uint64) {
		count := uint64(0)
		for number := range in {
			if number%prime != 0 {
				out <- number
				count++
			}
		}
		sent[stage] = count
		close(out)
	}
	return func(out *outcome) {
		found = found[:0]
		start := time.Now()
		tail := make(chan uint64)
		go generate(tail)
		for uint64(len(found)) < primes {
			prime, more := <-tail
			if !more {
				fail("sieve: %d primes came out", len(found))
			}
			found = append(found, prime)
			if uint64(len(found)) < primes {
				next := make(chan uint64)
				go filter(len(found), prime, tail, next)
				tail = next
			}
		}
		for range tail {
			fail("sieve: a number came after the last prime")
		}
		out.time = time.Since(start)
		for i := range found {
			out.ops += sent[i]
			out.digest += mix(found[i] ^ sent[i]<<32)
		}
		out.answer = found[primes-1]
	}
}

func mutex(s *settings) func(*outcome) {
	n, goroutines := s.number("n"), s.number("goroutines")
	inside, outside := s.number("work"), s.number("think")
	s.noLatency()
	locked := make([]uint64, goroutines)
	return func(out *outcome) {
		var done sync.WaitGroup
		var lock sync.Mutex
		counter := uint64(0)
		gate := make(chan struct{})
		done.Add(int(goroutines))
		for i := uint64(0); i < goroutines; i++ {
			mine, times := share(n, goroutines, i), &locked[i]
			go func() {
				<-gate
				count := uint64(0)
				for count < mine {
					lock.Lock()
					value := counter
					if inside > 0 {
						work(inside)
					}
					counter = value + 1
					lock.Unlock()
					count++
					if outside > 0 {
						work(outside)
					}
				}
				*times = count
				done.Done()
			}()
		}
		start := time.Now()
		close(gate)
		done.Wait()
		out.time = time.Since(start)
		for i := range locked {
			out.ops += locked[i]
			out.digest += mix(uint64(i)<<40 ^ locked[i])
		}
		out.answer = counter
		out.digest += mix(^counter)
	}
}

func skynetVisit(number, leaves, children uint64) uint64 {
	if leaves == 1 {
		return number
	}
	sums := make([]uint64, children)
	var below sync.WaitGroup
	below.Add(int(children))
	for i := range sums {
		i := i
		go func() {
			sums[i] = skynetVisit(number+uint64(i)*(leaves/children), leaves/children, children)
			below.Done()
		}()
	}
	below.Wait()
	total := uint64(0)
	for _, sum := range sums {
		total += sum
	}
	return total
}

func skynet(s *settings) func(*outcome) {
	leaves, children := s.number("leaves"), s.number("children")
	return func(out *outcome) {
		sum := skynetVisit(0, leaves, children)
		out.ops, out.answer, out.digest = leaves, sum, mix(sum)+mix(^leaves)
	}
}

func fibOne(n uint64) uint64 {
	if n <= 2 {
		return min(n, 1)
	}
	var x uint64
	var child sync.WaitGroup
	child.Add(1)
	go func() {
		x = fibOne(n - 1)
		child.Done()
	}()
	y := fibOne(n - 2)
	child.Wait()
	return x + y
}

func fibBoth(n uint64) uint64 {
	if n <= 2 {
		return min(n, 1)
	}
	var x, y uint64
	var children sync.WaitGroup
	children.Add(2)
	go func() {
		x = fibBoth(n - 1)
		children.Done()
	}()
	go func() {
		y = fibBoth(n - 2)
		children.Done()
	}()
	children.Wait()
	return x + y
}

// The program that books have: each goroutine sends its number, and is received from before the next one starts.
func fibChannels(n uint64) <-chan uint64 {
	result := make(chan uint64)
	go func() {
		defer close(result)
		if n <= 2 {
			result <- min(n, 1)
			return
		}
		result <- <-fibChannels(n-1) + <-fibChannels(n-2)
	}()
	return result
}

func min(a, b uint64) uint64 {
	if a < b {
		return a
	}
	return b
}

func fib(s *settings) func(*outcome) {
	n, spawn := s.number("n"), s.text("spawn")
	forms := map[string]func(uint64) uint64{
		"one": fibOne, "both": fibBoth, "channels": func(n uint64) uint64 { return <-fibChannels(n) }}
	form := forms[spawn]
	if form == nil {
		unsupported("fib,spawn=%s", spawn)
	}
	a, b := uint64(0), uint64(1)
	for i := uint64(0); i < n; i++ {
		a, b = b, a+b
	}
	return func(out *outcome) {
		out.answer = form(n)
		out.ops = 1
		if n > 2 {
			out.ops = 2*a - 1
		}
		out.digest = mix(out.answer) + mix(^out.ops)
	}
}

const queensMax = 16

type queens struct {
	n, row, cutoff uint8
	board          [queensMax]uint8
}

type queensCount struct{ solutions, placements uint64 }

func safe(board *[queensMax]uint8, row, column int) bool {
	for i := 0; i < row; i++ {
		apart := int(board[i]) - column
		if apart == 0 || apart == row-i || apart == i-row {
			return false
		}
	}
	return true
}

func queensSerial(board *[queensMax]uint8, n, row int) (count queensCount) {
	if row == n {
		return queensCount{1, 0}
	}
	for column := 0; column < n; column++ {
		if !safe(board, row, column) {
			continue
		}
		board[row] = uint8(column)
		below := queensSerial(board, n, row+1)
		count.solutions += below.solutions
		count.placements += below.placements + 1
	}
	return
}

func queensSearch(self queens) (count queensCount) {
	if self.row == self.n || self.row >= self.cutoff {
		return queensSerial(&self.board, int(self.n), int(self.row))
	}
	var below [queensMax]queensCount
	var children sync.WaitGroup
	placed := 0
	for column := 0; column < int(self.n); column++ {
		if !safe(&self.board, int(self.row), column) {
			continue
		}
		child, result := self, &below[placed]
		child.board[self.row] = uint8(column)
		child.row++
		placed++
		children.Add(1)
		go func() {
			*result = queensSearch(child)
			children.Done()
		}()
	}
	children.Wait()
	count.placements = uint64(placed)
	for _, part := range below[:placed] {
		count.solutions += part.solutions
		count.placements += part.placements
	}
	return
}

func nqueens(s *settings) func(*outcome) {
	root := queens{n: uint8(s.number("n")), cutoff: uint8(s.number("cutoff"))}
	if root.cutoff == 0 {
		root.cutoff = queensMax
	}
	return func(out *outcome) {
		found := queensSearch(root)
		out.ops, out.answer = found.placements, found.solutions
		out.digest = mix(found.solutions) + mix(^found.placements)
	}
}
