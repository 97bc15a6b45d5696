// peer.go - the peers' side of the protocol in harness/peers/README.md, for Go.

package main

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// What one call did.
type outcome struct {
	ops, answer, digest uint64
	time                time.Duration // 0: the whole call counts; else the part that does
	latency             *histogram    // to record into: of all calls; empty: the workload has none
	order               string        // in which goroutines ran, "9 0-8"; empty: the workload asks for none
}

// As struct call_time of call_times.h.
type iteration struct {
	TimeNs int64  `json:"time_ns"`
	Ops    uint64 `json:"ops"`
	Calls  uint64 `json:"calls"`
}

// As struct call_times of call_times.h.
type iterations struct {
	entry       []iteration
	max         int
	each, calls uint64
	total       int64
}

// As workloads/histogram.h: bucket i of octave o ends where that one's does.
const (
	histogramBits   = 5
	histogramOctave = 40
	histogramSize   = (histogramOctave - histogramBits + 2) << histogramBits
)

type histogram struct {
	max    int64
	bucket [histogramSize]uint64
}

func (h *histogram) record(ns int64) {
	value := uint64(max(ns, 0))
	h.max = max(h.max, ns)
	index := value
	if value >= 1<<histogramBits {
		octave := bits.Len64(value) - 1
		shift := octave - histogramBits
		index = uint64(shift)<<histogramBits + value>>shift
		if octave > histogramOctave {
			index = histogramSize - 1
		}
	}
	h.bucket[index]++
}

func (h *histogram) merge(from *histogram) {
	h.max = max(h.max, from.max)
	for i, count := range from.bucket {
		h.bucket[i] += count
	}
}

// [[number of the bucket, count]], of those that are not empty.
func (h *histogram) buckets() (list [][2]uint64) {
	for i, count := range h.bucket {
		if count > 0 {
			list = append(list, [2]uint64{uint64(i), count})
		}
	}
	return
}

// As many as the kernel counts in this process.
func threads() int {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		fail("%v", err)
	}
	return len(tasks)
}

type settings struct {
	workload                                 string
	workers                                  int
	seed                                     uint64
	warmup, iterations, iterationsMax, least int64
	params                                   map[string]string
	read                                     map[string]bool
}

// Reads its parameters, and returns the call to be timed.
type workload func(*settings) func(*outcome)

func say(key, text string, status int) {
	line, _ := json.Marshal(map[string]string{key: text})
	fmt.Println(string(line))
	os.Exit(status)
}

// A fault: what was asked, or what came out, is wrong.
func fail(format string, args ...any) {
	say("error", fmt.Sprintf(format, args...), 1)
}

// No fault, but this peer does not support what the text names.
func unsupported(format string, args ...any) {
	say("unsupported", fmt.Sprintf(format, args...), 0)
}

func number(key, text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		fail("%s=%s is not a number", key, text)
	}
	return value
}

func (s *settings) option(key, value string) {
	n := number(key, value)
	switch key {
	case "--workers":
		s.workers = int(n)
	case "--seed":
		s.seed = uint64(n)
	case "--warmup":
		s.warmup = n
	case "--iterations":
		s.iterations = n
	case "--iterations-max":
		s.iterationsMax = n
	case "--min-time-ns":
		s.least = n
	default:
		fail("unknown option %s", key)
	}
}

func parse(args []string) *settings {
	s := &settings{workers: 1, iterations: 1, iterationsMax: 2,
		params: map[string]string{}, read: map[string]bool{}}
	if len(args) < 2 {
		fail("a workload is missing")
	}
	s.workload = args[1]
	for _, arg := range args[2:] {
		key, value, found := strings.Cut(arg, "=")
		if !found {
			fail("cannot take the argument %s", arg)
		}
		if strings.HasPrefix(key, "--") {
			s.option(key, value)
		} else {
			s.params[key] = value
		}
	}
	if s.workers < 1 || s.iterationsMax < 2 {
		fail("at least one worker and two iterations to tell of are needed")
	}
	return s
}

func (s *settings) text(key string) string {
	value, found := s.params[key]
	if !found {
		fail("%s: the parameter %s is missing", s.workload, key)
	}
	s.read[key] = true
	return value
}

func (s *settings) number(key string) uint64 {
	return uint64(number(key, s.text(key)))
}

// Whether the parameter is this one of its two words.
func (s *settings) is(key, word, other string) bool {
	value := s.text(key)
	if value != word && value != other {
		unsupported("%s=%s", key, value)
	}
	return value == word
}

// Histograms of latencies are not part of the protocol.
func (s *settings) noLatency() {
	if s.is("latency", "on", "off") {
		unsupported("latency=on: peers keep no histograms")
	}
}

// As digest_mix() of workloads/workload.h.
func mix(value uint64) uint64 {
	value += 0x9e3779b97f4a7c15
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9
	value = (value ^ (value >> 27)) * 0x94d049bb133111eb
	return value ^ (value >> 31)
}

// As go_work() of the runtime: n rounds of a dependent recurrence. Not inlined, or it would be dropped.
//
//go:noinline
func work(n uint64) uint64 {
	state := n
	for i := uint64(0); i < n; i++ {
		state = state*6364136223846793005 + 1442695040888963407
	}
	return state
}

// The i-th of `parts` even shares of n.
func share(n, parts, i uint64) uint64 {
	if i < n%parts {
		return n/parts + 1
	}
	return n / parts
}

func (t *iterations) lastIsFull() bool {
	return len(t.entry) == 0 || t.entry[len(t.entry)-1].Calls >= t.each
}

// Each two that follow one another become one.
func (t *iterations) fold() {
	folded := t.entry[:0]
	for i, one := range t.entry {
		if i%2 == 0 {
			folded = append(folded, one)
			continue
		}
		last := &folded[len(folded)-1]
		last.TimeNs += one.TimeNs
		last.Ops += one.Ops
		last.Calls += one.Calls
	}
	t.entry = folded
	t.each *= 2
}

func (t *iterations) add(timeNs int64, ops uint64) {
	if len(t.entry) == t.max && t.lastIsFull() {
		t.fold()
	}
	if t.lastIsFull() {
		t.entry = append(t.entry, iteration{})
	}
	last := &t.entry[len(t.entry)-1]
	last.TimeNs += timeNs
	last.Ops += ops
	last.Calls++
	t.calls++
	t.total += timeNs
}

func (s *settings) measure(table map[string]workload) (done iterations, first outcome) {
	prepare, found := table[s.workload]
	if !found {
		unsupported("%s", s.workload)
	}
	call := prepare(s)
	for key := range s.params {
		if !s.read[key] {
			fail("%s: unknown parameter %s", s.workload, key)
		}
	}
	latency := new(histogram)
	done = iterations{max: int(s.iterationsMax), each: 1}
	for i := int64(0); ; i++ {
		if done.calls > 0 && int64(done.calls) >= s.iterations && done.total >= s.least {
			break
		}
		out := outcome{latency: latency}
		start := time.Now()
		call(&out)
		if out.time == 0 {
			out.time = time.Since(start)
		}
		if i == 0 {
			first = out
		}
		// An order's answer is that order, and may be another one each time.
		if out.ops != first.ops || out.digest != first.digest || (out.order == "" && out.answer != first.answer) {
			fail("two calls disagree: answers %016x and %016x, operations %d and %d",
				first.answer, out.answer, first.ops, out.ops)
		}
		if i >= s.warmup {
			done.add(max(out.time.Nanoseconds(), 1), out.ops)
		} else {
			*latency = histogram{}
		}
	}
	return
}

func max(a, b int64) int64 {
	if a > b {
		return a
	}
	return b
}

func main() {
	s := parse(os.Args)
	runtime.GOMAXPROCS(s.workers)
	done, first := s.measure(workloads)
	told := map[string]any{
		"runtime": "Go", "version": strings.TrimPrefix(runtime.Version(), "go"), "iterations": done.entry,
		"answer": fmt.Sprintf("%016x", first.answer), "digest": fmt.Sprintf("%016x", first.digest),
		"threads": threads()}
	if buckets := first.latency.buckets(); buckets != nil {
		told["latency"] = map[string]any{"max_ns": first.latency.max, "buckets": buckets}
	}
	if first.order != "" {
		told["order"] = first.order
	}
	line, err := json.Marshal(told)
	if err != nil {
		fail("%v", err)
	}
	fmt.Println(string(line))
}
