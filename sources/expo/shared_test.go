package expo

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A steady target keeps no tables: only a page that goes on unlike the one
// before needs them.
func TestTablesAreKeptOnlyWhileNeeded(t *testing.T) {
	s := NewScanner(Limits{})
	for i, step := range []struct {
		body string
		kept bool
	}{
		{"# TYPE a counter\na 1\nb 1\n", false},
		{"# TYPE a counter\na 2\nb 2\n", false},
		{"# TYPE a counter\nb 3\na 3\n", true},
		{"# TYPE a counter\nb 4\na 4\n", false},
		{"# TYPE a counter\nb 5\na 5\nc 5\n", true},
		{"# TYPE a counter\nb 6\na 6\nc 6\n", false},
	} {
		p := rescan(t, s, step.body)
		if kept := s.tables != nil; kept != step.kept || p.Bad != 0 || p.Repeated != 0 || s.seen != len(p.Series) {
			t.Errorf("page %d: tables kept: %v; %+v", i+1, kept, p)
		}
	}
}

// Targets whose lines are the same keep them once, each with its own numbers.
func TestTargetsShareLines(t *testing.T) {
	lines := &Lines{}
	a, b := lines.NewScanner(Limits{}), lines.NewScanner(Limits{})
	pa := rescan(t, a, "# TYPE h histogram\nh_bucket{m=\"x\",le=\"1\",n=\"1\"} 1\nh_bucket{le=\"2\",m=\"x\"} 2\nup 3\n")
	pb := rescan(t, b, "up 4\n# TYPE h histogram\nh_bucket{m=\"x\",le=\"1\",n=\"1\"} 5\nh_bucket{le=\"2\",m=\"y\"} 6\n")
	if pa.Series[0] != pb.Series[1] || pa.Series[2] != pb.Series[0] {
		t.Errorf("series %v and %v", pa.Series, pb.Series)
	}
	if pa.Series[1] == pb.Series[2] {
		t.Errorf("unlike series are one: %v", pb.Series[2])
	}
	wantValue(t, pa, "h_bucket{m=x,n=1}≤1", 1)
	wantValue(t, pb, "h_bucket{m=x,n=1}≤1", 5)
	wantValue(t, pb, "h_bucket{m=y}≤2", 6)
	// Where a page declares something else, the line means something else.
	pc := rescan(t, lines.NewScanner(Limits{}), "# TYPE h_bucket gauge\nh_bucket{m=\"x\",le=\"1\",n=\"1\"} 7\nh_bucket{le=\"2\",m=\"x\"} 8\n")
	wantValue(t, pc, "h_bucket{m=x,le=1,n=1}", 7)
	wantValue(t, pc, "h_bucket{le=2,m=x}", 8)
	wantValue(t, pa, "h_bucket{m=x}≤2", 2)
}

// Whatever another target has read, a page says the same.
func TestSharingChangesNothing(t *testing.T) {
	r := pageMaker{rand.New(rand.NewPCG(20261130, 1))}
	lines := &Lines{}
	for i := range 300 {
		body := r.page()
		if i%10 == 0 {
			body = []byte(seeds[i/10%len(seeds)])
		}
		alone, err := NewScanner(Limits{}).Scan(body)
		shared, sharedErr := lines.NewScanner(Limits{}).Scan(body)
		if (err == nil) != (sharedErr == nil) {
			t.Fatalf("page %d: %v, %v", i, err, sharedErr)
		}
		if err != nil {
			continue
		}
		if samePage(t, "shared", shared, alone); t.Failed() {
			t.Fatalf("page %d:\n%s", i, body)
		}
	}
}

func TestTargetsShareAtTheSameTime(t *testing.T) {
	lines := &Lines{}
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			s := lines.NewScanner(Limits{})
			for n := range 4 {
				p, err := s.Scan(benchPage(n + k))
				if err != nil || p.Bad != 0 || len(p.Series) != 10*(4+5+9*25) {
					t.Errorf("target %d, page %d: %v, %+v", k, n, err, p)
					return
				}
			}
		})
	}
	all.Wait()
}

// Lines that name each request must not stay for ever.
func TestSharedLinesAreBounded(t *testing.T) {
	lines := &Lines{}
	text := strings.Repeat("x", 1000)
	for i := range 4 * maxCost / 1000 {
		lines.add(&line{text: text + strconv.Itoa(i)})
	}
	if n := len(lines.known); n == 0 || n > maxCost/1000 {
		t.Errorf("%d lines of a kilobyte kept", n)
	}
}

// In a large fleet the reference parser reads a few targets' pages at each poll,
// and in the end one of every target.
func TestVerdictsTakeTurns(t *testing.T) {
	lines := &Lines{}
	const body = "# TYPE a gauge\na -nan\n"
	told := make([]int, 5)
	for range 4 * round {
		s := lines.NewScanner(Limits{})
		for page := 1; page < len(told); page++ {
			if p := rescan(t, s, body); p.Verdict != "" {
				told[page]++
				break
			}
		}
	}
	if want := []int{0, round, round, round, round}; !slices.Equal(told, want) {
		t.Errorf("verdicts at page 0, 1, …: %v, want %v", told, want)
	}
}
