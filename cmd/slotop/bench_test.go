package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// The figures of the whole program against its budgets. Each benchmark runs the
// built program on a terminal of its own and reports what a user would measure.

// when is the time at which the screen first showed something, found by drawing
// again what came, as it came.
func (s *session) when(is func(screen string) bool) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	again, end := s.another()
	defer end()
	from := 0
	for _, c := range s.chunks {
		_, _ = again.Write(s.raw.Bytes()[from:c.end])
		from = c.end
		if is(ansi.Strip(again.Render())) {
			return c.at, true
		}
	}
	return time.Time{}, false
}

// another is a terminal of the same size, whose replies nobody reads, and what ends it.
func (s *session) another() (again *vt.Emulator, end func()) {
	again = vt.NewEmulator(s.screen.Width(), s.screen.Height())
	go func() {
		buf := make([]byte, 256)
		for {
			if _, err := again.Read(buf); err != nil {
				return
			}
		}
	}()
	return again, func() { closeInput(again) }
}

var (
	gauge    = regexp.MustCompile(`running +[0-9]`)
	windowed = regexp.MustCompile(`output +[0-9.]+k? tok/s`)
)

// BenchmarkStart is from exec to the first gauge and to the first number over a
// window, against a server on this machine, each the median of some. Budgets: 60 ms, and 600 ms after the
// target first answered, also on a terminal that answers no query.
func BenchmarkStart(b *testing.B) {
	for _, silent := range []bool{false, true} {
		b.Run(map[bool]string{false: "answering", true: "silent"}[silent], func(b *testing.B) {
			program(b)
			var first, number []float64
			for range max(b.N, 9) {
				server := newEngine(b)
				begin := time.Now()
				s := startWith(b, setup{cols: 120, rows: 40, silent: silent}, server.address())
				s.until("a number over a window", func() bool { return windowed.MatchString(s.text()) })
				s.press("q")
				s.exits(time.Now())
				at, _ := s.when(gauge.MatchString)
				first = append(first, at.Sub(begin).Seconds()*1e3)
				at, _ = s.when(windowed.MatchString)
				number = append(number, at.Sub(time.Unix(0, server.firstAt.Load())).Seconds()*1e3)
			}
			slices.Sort(first)
			slices.Sort(number)
			b.ReportMetric(first[len(first)/2], "ms-first-gauge")
			b.ReportMetric(number[len(number)/2], "ms-first-number")
			b.ReportMetric(0, "ns/op")
		})
	}
}

var runningLine = regexp.MustCompile(`(?m)^(vllm:num_requests_(?:running|waiting)\{.*\}) .*$`)

// BenchmarkBytes is what a terminal of 120 by 40 is sent for one frame. Budgets:
// 5.5 KB when everything moved, 250 B for a few cells, 0 to 1 B for nothing (the
// clock in the corner aside, which is a frame of its own each second).
func BenchmarkBytes(b *testing.B) {
	polls := 0
	for _, bc := range []struct {
		name string
		set  func(e *engineServer)
	}{
		{"everything", (*engineServer).racing},
		{"cells", func(e *engineServer) {
			page := string(e.next())
			e.serve(func() string {
				polls++
				return runningLine.ReplaceAllString(page, "$1 "+strconv.Itoa(10+polls%7))
			})
		}},
		{"nothing", func(e *engineServer) { e.still(b) }},
	} {
		b.Run(bc.name, func(b *testing.B) {
			server := newEngine(b)
			bc.set(server)
			s := startWith(b, setup{cols: 120, rows: 40}, "--every", "250ms", server.address())
			s.shows("tok/s")
			server.polled(b, server.polls.Load()+20) // beyond the first half-minute's rescaling
			mark, before := s.mark(), server.polls.Load()
			server.polled(b, before+int64(max(b.N, 20)))
			raw, frames := s.bytes(mark), float64(server.polls.Load()-before)
			drawn := float64(strings.Count(raw, "\x1b[?2026h"))
			b.ReportMetric(float64(len(raw))/frames, "B/poll")
			b.ReportMetric(float64(len(raw))/math.Max(drawn, 1), "B/frame")
			b.ReportMetric(float64(longestFrame(raw)), "B-most/frame")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// longestFrame is the size of the largest drawing.
func longestFrame(raw string) int {
	most := 0
	for f := range strings.SplitSeq(raw, "\x1b[?2026h") {
		most = max(most, len(f))
	}
	return most
}

// usage is what a process has used of the processor, and its memory now.
func (s *session) usage() (cpu time.Duration, rss float64) {
	s.tb.Helper()
	dir := "/proc/" + strconv.Itoa(s.cmd.Process.Pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		s.tb.Fatal("needs /proc: ", err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const tick = 10 * time.Millisecond // the kernel's unit, USER_HZ
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		s.tb.Fatal(err)
	}
	var kb float64
	if _, after, ok := strings.Cut(string(status), "VmRSS:"); ok {
		_, _ = fmt.Sscan(after, &kb)
	}
	return time.Duration(user+system) * tick, kb / 1024
}

// BenchmarkWatching is what the program costs while it is looked at. Budgets:
// one engine each second 1 % of a core and 30 MB, 0.5 % when nothing moves or
// nobody looks; a hundred of 34 KB at 2 s 6 % and 60 MB, their first rows after
// 1 s. On a virtual machine a bare wake-up may cost ten times what it does on
// metal: 30-wakes-%cpu is what a program costs that does nothing but wake up thirty
// times a second.
func BenchmarkWatching(b *testing.B) {
	for _, bc := range []struct {
		name    string
		targets int
		still   bool
		keys    string
	}{
		{"one", 1, false, ""},
		{"one/nothing", 1, true, ""},
		{"one/unseen", 1, false, "\x1b[O"}, // the terminal says that it lost the focus
		{"hundred", 100, false, "5"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			server := newEngine(b)
			if bc.still {
				server.still(b)
			}
			if bc.targets > 1 {
				server.set(func(e *engineServer) { e.slim = true })
			}
			var args []string
			for i := range bc.targets {
				args = append(args, fmt.Sprintf("%s/%03d/metrics", server.URL, i))
			}
			begin := time.Now()
			s := startWith(b, setup{cols: 120, rows: 40}, args...)
			s.shows("tok/s")
			rows, _ := s.when(func(screen string) bool { return strings.Contains(screen, "tok/s") })
			s.press(bc.keys)
			<-time.After(2 * time.Second)
			from, before := time.Now(), must(s.usage())
			<-time.After(time.Duration(max(b.N, 8)) * time.Second)
			after, rss := s.usage()
			b.ReportMetric(100*(after-before).Seconds()/time.Since(from).Seconds(), "%cpu")
			b.ReportMetric(100*wakeUps(30).Seconds(), "30-wakes-%cpu")
			b.ReportMetric(rss, "MB-rss")
			b.ReportMetric(rows.Sub(begin).Seconds()*1e3, "ms-first-rows")
			b.ReportMetric(0, "ns/op")
			s.press("q")
			s.exits(time.Now())
		})
	}
}

// wakeUps is what this machine charges for waking up so many times.
func wakeUps(n int) time.Duration {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ticker := time.NewTicker(time.Second / time.Duration(n))
	defer ticker.Stop()
	before := ownCPU()
	for range n {
		<-ticker.C
	}
	return ownCPU() - before
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func must(cpu time.Duration, _ float64) time.Duration { return cpu }
