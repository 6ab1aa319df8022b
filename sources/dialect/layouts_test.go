package dialect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"slotop/sources/expo"
	"slotop/sources/sourcetest/shared"
)

// replica is the scanner of one of several targets that share their lines.
func replica(lines *expo.Lines) *expo.Scanner {
	s := lines.NewScanner(expo.Limits{})
	s.Complete = true
	return s
}

func page(t testing.TB, s *expo.Scanner, body string) *expo.Page {
	t.Helper()
	p, err := s.Scan([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const replicaPage = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{model_name=\"m\"} 1\n" +
	"# TYPE vllm:time_to_first_token_seconds histogram\n" +
	"vllm:time_to_first_token_seconds_bucket{le=\"1.0\",model_name=\"m\"} 2\n" +
	"vllm:time_to_first_token_seconds_bucket{le=\"+Inf\",model_name=\"m\"} 3\n" +
	"vllm:time_to_first_token_seconds_sum{model_name=\"m\"} 4.5\nvllm:time_to_first_token_seconds_count{model_name=\"m\"} 3\n"

func TestReplicasShareALayout(t *testing.T) {
	set, lines := builtinSet(t), &expo.Lines{}
	a := page(t, replica(lines), replicaPage)
	b := page(t, replica(lines), strings.ReplaceAll(replicaPage, "} 3", "} 7"))
	pa, pb := set.Plan(a), set.Plan(b)
	if pa.layout != pb.layout {
		t.Error("the same series are laid out twice")
	}
	sa, sb := pa.Read(a, nil), pb.Read(b, nil)
	if write(sa, pa.About(a)) == write(sb, pb.About(b)) || sa[1].Hist.N() != 3 || sb[1].Hist.N() != 7 {
		t.Errorf("each has numbers of its own:\n%s%s", write(sa, pa.About(a)), write(sb, pb.About(b)))
	}
	if pa.About(a) != pb.About(b) {
		t.Error("the same is said of both, twice")
	}
	c := page(t, replica(lines), strings.ReplaceAll(replicaPage, `"m"`, `"other"`))
	if other := set.Plan(c); other.layout == pa.layout || other.models[0] != "other" {
		t.Errorf("another model's page: %v", other.models)
	}
	// With a series away the layout depends on the page.
	s := replica(lines)
	page(t, s, replicaPage)
	gone := page(t, s, replicaPage[strings.Index(replicaPage, "# TYPE vllm:time"):])
	if pl := set.Plan(gone); pl.layout == pa.layout {
		t.Error("a page without a series has the layout of one with it")
	}
	if err := set.AddDir(os.DirFS(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	if set.Plan(a).layout == pa.layout {
		t.Error("a layout outlives the dialects it was made with")
	}
}

// Layouts of pages that nobody else has must not stay for ever.
func TestLayoutsAreBounded(t *testing.T) {
	set, lines := builtinSet(t), &expo.Lines{}
	for i := range 3 * maxLayouts {
		set.Plan(page(t, replica(lines), strings.ReplaceAll(replicaPage, `"m"`, fmt.Sprintf("%q", fmt.Sprint("m", i)))))
	}
	if n := len(set.layouts.known); n == 0 || n > maxLayouts {
		t.Errorf("%d layouts kept", n)
	}
}

// A gateway's page grows by a user at every poll. Each of its layouts was once
// kept beside all others.
func TestLayoutsOfAGrowingPageAreBounded(t *testing.T) {
	const users, polls = maxKept / 5, 20
	set, s := builtinSet(t), expo.NewScanner(expo.Limits{})
	s.Complete = true
	body := []byte("# TYPE vllm:num_requests_running gauge\n")
	grow := func(from, to int) {
		for i := from; i < to; i++ {
			body = fmt.Appendf(body, "vllm:num_requests_running{model_name=\"m\",user=\"u%d\"} 1\n", i)
		}
	}
	grow(0, users)
	for i := range polls {
		grow(users+i, users+i+1)
		p := page(t, s, string(body))
		pl := set.Plan(p)
		if again := set.Plan(p); again.layout != pl.layout {
			t.Fatal("the last layout is not kept")
		}
		kept := 0
		for _, k := range set.layouts.known {
			kept += len(k.series)
		}
		if kept > maxKept || kept != set.layouts.series {
			t.Fatalf("poll %d: %d series kept, %d counted", i, kept, set.layouts.series)
		}
	}
	grow(users+polls, maxKept+2)
	p := page(t, s, string(body))
	first, again := set.Plan(p).layout, set.Plan(p).layout
	if first == again || len(set.layouts.known) == 0 {
		t.Error("a page larger than all there is room for is kept, or pushed the others out")
	}
}

// Whoever had the page before, what is read from it is the same.
func TestSharingChangesNothing(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(shared.Dir(t, "corpus/engines"), "*.prom"))
	if err != nil {
		t.Fatal(err)
	}
	set, lines := builtinSet(t), &expo.Lines{}
	bodies, want := make([][]byte, len(pages)), make([]string, len(pages))
	for i, name := range pages {
		bodies[i] = shared.File(t, "corpus/engines/"+filepath.Base(name))
		want[i] = describe(t, set, bodies[i])
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i, body := range bodies {
				p, err := replica(lines).Scan(body)
				if err != nil {
					t.Errorf("%s: %v", pages[i], err)
					continue
				}
				got := "unknown\n"
				if pl := set.Plan(p); pl != nil {
					got = write(pl.Read(p, nil), pl.About(p))
				}
				if got != want[i] {
					t.Errorf("%s:\n%s\nwant\n%s", pages[i], got, want[i])
				}
			}
		})
	}
	all.Wait()
}
