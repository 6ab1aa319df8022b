package sources_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// event is the line of a request's report.
func event(id string) string {
	return fmt.Sprintf(`{"v":1,"at":"2026-08-01T12:00:00Z","id":%q,"phase":"done"}`+"\n", id)
}

// follow opens a file of events as the screen does.
func follow(tb testing.TB, path string) sources.Source {
	tb.Helper()
	opened, err := sources.Resolve(tb.Context(), []string{"events:" + path}, sources.Options{Follow: true})
	if err != nil {
		tb.Fatal(err)
	}
	if opened[0].Saved || opened[0].Target.Kind != "gateway" {
		tb.Errorf("got %+v", opened[0])
	}
	tb.Cleanup(func() {
		if err := opened[0].Source.Close(); err != nil {
			tb.Error(err)
		}
	})
	return opened[0].Source
}

// came polls and lists what came: IDs, and skipped lines or the fault.
func came(t *testing.T, s sources.Source) string {
	t.Helper()
	b, err := s.Poll(t.Context())
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, r := range b.Requests {
		out = append(out, r.ID)
	}
	if b.BadLines > 0 {
		out = append(out, b.FirstBad)
	}
	if b.Lost > 0 {
		out = append(out, fmt.Sprint("lost ", b.Lost))
	}
	return strings.Join(out, ", ")
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	put := func(text string) func() { return func() { appendTo(t, path, text) } }
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := follow(t, path)
	for i, step := range []struct {
		does string
		do   func()
		want string
	}{
		{"is not there yet", func() {}, "not_found: no such file yet: " + path + ": it is read as soon as it is there"},
		{"appears", put(event("a") + event("b")), "a, b"},
		{"does nothing", func() {}, ""},
		{"grows", put(event("c")), "c"},
		{"grows by part of a line", put(event("d")[:20]), ""},
		{"has the rest", put(event("d")[20:] + event("e")), "d, e"},
		{"has a bad line", put("x\n" + event("f")), "f, 1 line skipped: line 6: not JSON"},
		{"is cut to nothing and written anew", func() { must(os.Truncate(path, 0)); appendTo(t, path, event("g")) }, "g"},
		{"is put aside", func() { must(os.Rename(path, path+".1")) }, ""},
		{"grows while put aside", func() { appendTo(t, path+".1", event("h")) }, "h"},
		{"has a successor", func() { appendTo(t, path+".1", event("i")); appendTo(t, path, event("j")) }, "i, j"},
		{"is put aside within a line", func() {
			appendTo(t, path, event("k")+event("l")[:30])
			must(os.Rename(path, path+".2"))
			appendTo(t, path, event("m"))
		}, "k, m, 1 line skipped: line 3: not JSON, and ends there"},
		{"is put aside without an end to its last line", func() {
			appendTo(t, path, strings.TrimSpace(event("n")))
			must(os.Rename(path, path+".3"))
			appendTo(t, path, event("o"))
		}, "n, o"},
		{"is gone", func() { must(os.Remove(path)) }, ""},
		{"is back", put(event("p")), "p"},
	} {
		step.do()
		if got := came(t, s); got != step.want {
			t.Errorf("%d: a file that %s: got %s, want %s", i, step.does, got, step.want)
		}
	}
}

// A source that was closed by its fault goes on where it was.
func TestAFileGoesOnWhereItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	appendTo(t, path, event("a"))
	s := follow(t, path)
	if got := came(t, s); got != "a" {
		t.Fatal(got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, event("b"))
	if got := came(t, s); got != "b" {
		t.Errorf("got %s", got)
	}
}

// Of a long file only the end is read, from the start of a line.
func TestALongFileIsReadFromItsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	var text strings.Builder
	for i := range 100_000 {
		text.WriteString(event(fmt.Sprintf("r%06d", i)))
	}
	appendTo(t, path, text.String())
	s := follow(t, path)
	b, err := s.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := len(b.Requests)
	if n < 10_000 || n > 20_000 || b.Requests[n-1].ID != "r099999" || b.BadLines > 0 {
		t.Errorf("%d requests, %s", n, b.FirstBad)
	}
	if len(b.About.Notes) != 1 || b.About.Notes[0] != "the file was longer than 1048576 bytes: read from its last ones" {
		t.Errorf("got %q", b.About.Notes)
	}
}

// A successor of any length is read whole, as much as one batch holds at a time.
func TestMuchAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	appendTo(t, path, event("first"))
	s := follow(t, path)
	if got := came(t, s); got != "first" {
		t.Fatal(got)
	}
	const n = 100_000
	appendTo(t, path, strings.Repeat(event("r"), n))
	total := 0
	for polls := 0; total < n; polls++ {
		b, err := s.Poll(t.Context())
		if total += len(b.Requests); err != nil || len(b.Requests) == 0 || len(b.Requests) > 70_000 {
			t.Fatalf("poll %d: %d of %d, %v", polls, total, n, err)
		}
	}
	if total != n {
		t.Errorf("got %d of %d", total, n)
	}
}

func TestWhatIsNoFileOfEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.prom")
	appendTo(t, path, enginePage)
	want := "not_metrics: no events: 16 lines skipped, the first: line 1: not JSON: wanted JSON lines, or server-sent events, with v, id, at and phase, or a gateway's own records"
	if got := came(t, follow(t, path)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A file that is waited for is looked for as often as it would be read.
func TestAFileIsWaitedForAtTheUsualPace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	opened, err := sources.Resolve(t.Context(), []string{"events:" + path}, sources.Options{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var polls []time.Duration
		err := sources.Run(ctx, opened, sources.RunOptions{Every: 2 * time.Second}, func(in model.Input) {
			switch {
			case in.Batch == nil:
			case in.Batch.Fault == nil:
				cancel()
			default:
				if polls = append(polls, in.At.Mono); len(polls) == 5 {
					appendTo(t, path, event("a"))
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
		for i := 2; i < len(polls); i++ {
			if gap := polls[i] - polls[i-1]; gap != 2*time.Second {
				t.Errorf("poll %d comes %v after the last", i, gap)
			}
		}
		if len(polls) != 5 {
			t.Errorf("%d polls without the file", len(polls))
		}
	})
}

// playEvents plays a file of events: a line for each batch and tick.
func playEvents(t *testing.T, opt sources.PlayOptions, keep []string, args ...string) string {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), args, sources.Options{Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	var s strings.Builder
	err = sources.Play(t.Context(), opened, opt, func(in model.Input) {
		b := in.Batch
		if b == nil {
			return
		}
		fmt.Fprintf(&s, "%s %v", in.At.Wall.Format("15:04:05.000"), in.At.Mono)
		if b.Fault != nil {
			fmt.Fprintf(&s, " %s: %s", b.Fault.Kind, b.Fault.Detail)
		}
		if b.Epoch != "" {
			fmt.Fprint(&s, " epoch ", b.Epoch)
		}
		if b.Lost > 0 {
			fmt.Fprint(&s, " lost ", b.Lost)
		}
		for _, r := range b.Requests {
			fmt.Fprintf(&s, " %s/%s", strings.TrimPrefix(r.ID, "r-00"), r.Phase)
		}
		if b.BadLines > 0 {
			fmt.Fprintf(&s, " (%s)", b.FirstBad)
		}
		s.WriteByte('\n')
	})
	if err != nil {
		fmt.Fprintln(&s, err)
	}
	return s.String()
}

func TestEventsPlayOnTheirOwnClock(t *testing.T) {
	dir := shared.Dir(t, "corpus/gateways/proposed")
	for _, tc := range []struct{ file, want string }{
		{"events.jsonl", `12:00:00.010 0s 01/queued
12:00:10.010 10s 01/preparing_context 01/waiting_for_model 02/queued 01/streaming 02/streaming 04/queued 01/streaming 03/streaming 05/queued 01/done 07/done 03/done 05/retrying 08/done 06/waiting_for_model 09/tool_call 10/speculating 05/retrying
12:00:20.010 20s 02/done 05/done
12:00:30.010 30s 06/done
12:00:40.010 40s 04/done
12:00:50.010 50s
`},
		{"events.sse", `12:00:00.000 0s epoch edge-0/2026-08-01T11:02:02.900Z
12:00:10.000 10s epoch edge-0/2026-08-01T11:02:02.900Z 01/queued 01/preparing_context 01/waiting_for_model 02/queued 01/streaming 02/streaming
12:00:20.000 20s epoch edge-0/2026-08-01T11:02:02.900Z lost 4 01/done 07/done 03/done 05/retrying
12:00:30.000 30s epoch edge-0/2026-08-01T11:02:02.900Z
`},
		{"events-hostile.jsonl", `12:00:00.000 0s h-1/streaming (5 lines skipped, the first: line 4: its version (v) is not 1)
12:00:10.000 10s h-2/done h-2/queued h-9/done
12:00:20.000 20s
`},
	} {
		if got := playEvents(t, sources.PlayOptions{Every: 10 * time.Second}, nil, "events:"+filepath.Join(dir, tc.file)); got != tc.want {
			t.Errorf("%s: got\n%swant\n%s", tc.file, got, tc.want)
		}
	}
}

func at(seconds float64, id string) string {
	when := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
	return fmt.Sprintf(`{"v":1,"at":%q,"id":%q,"phase":"done"}`+"\n", when.Format(time.RFC3339Nano), id)
}

func TestPlayingAFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "events:" + path
	}
	const half = 5 * time.Second
	for _, tc := range []struct {
		name string
		opt  sources.PlayOptions
		args []string
		want string
	}{
		{"out of order", sources.PlayOptions{Every: half}, []string{write("a", at(7, "c")+at(2, "a")+at(13, "d")+at(2, "b")+at(4, "e"))},
			"12:00:02.000 0s a/done b/done\n12:00:07.000 5s e/done c/done\n12:00:12.000 10s\n12:00:17.000 15s d/done\n12:00:22.000 20s\n"},
		{"one event", sources.PlayOptions{Every: half}, []string{write("b", at(3, "a"))}, "12:00:03.000 0s a/done\n12:00:08.000 5s\n"},
		{"not to its end", sources.PlayOptions{Every: half, For: half}, []string{write("c", at(0, "a")+at(4, "b")+at(9, "c"))},
			"12:00:00.000 0s a/done\n12:00:05.000 5s b/done\n"},
		{"two files on one axis", sources.PlayOptions{Every: half}, []string{write("d", at(6, "d")), write("e", at(1, "e"))},
			"12:00:01.000 0s\n12:00:01.000 0s e/done\n12:00:06.000 5s d/done\n12:00:06.000 5s\n12:00:11.000 10s\n"},
		{"a gap parts batches", sources.PlayOptions{Every: half}, []string{write("f", at(0, "a")+at(1, "b")+`{"v":1,"at":"2026-08-01T12:00:02Z","dropped":3}`+"\n"+at(3, "c")+`{"v":1,"dropped":2}`+"\n"+at(3, "d"))},
			"12:00:00.000 0s a/done\n12:00:05.000 5s lost 3 b/done c/done\n12:00:10.000 10s lost 2 d/done\n12:00:15.000 15s\n"},
		{"empty", sources.PlayOptions{Every: half}, []string{write("g", "")}, "00:00:00.000 0s not_metrics: no events: the file is empty\n"},
		{"something else", sources.PlayOptions{Every: half}, []string{write("h", "hello\n")},
			"00:00:00.000 0s not_metrics: no events: 1 line skipped: line 1: not JSON: wanted JSON lines, or server-sent events, with v, id, at and phase, or a gateway's own records\n"},
		{"a cut end", sources.PlayOptions{Every: half}, []string{write("i", at(0, "a")+at(0, "b")[:9])},
			"12:00:00.000 0s a/done (1 line skipped: line 2: not JSON)\n12:00:05.000 5s\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := playEvents(t, tc.opt, nil, tc.args...); got != tc.want {
				t.Errorf("got\n%swant\n%s", got, tc.want)
			}
		})
	}
	t.Run("a clock that was wrong", func(t *testing.T) {
		_, err := sources.Resolve(t.Context(), []string{write("j", at(0, "a")+strings.Replace(at(1, "b"), "2026", "1999", 1)+at(2, "c"))}, sources.Options{})
		var usage *sources.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "more than 31 days apart, from 1999-08-01T12:00:01Z in line 2 to 2026-08-01T12:00:02Z in line 3") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("beside a live target", func(t *testing.T) {
		_, err := sources.Resolve(t.Context(), []string{write("k", at(0, "a")), "localhost:8000"}, sources.Options{})
		if err == nil || !strings.Contains(err.Error(), "cannot stand beside live targets") {
			t.Errorf("got %v", err)
		}
	})
}

// More than can be put in order is still given out, each event once.
func TestPlayingALongFile(t *testing.T) {
	const n = 120_000
	var text strings.Builder
	for i := range n {
		text.WriteString(at(float64(i^7)/1000, fmt.Sprint(i^7)))
	}
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := sources.Resolve(t.Context(), []string{"events:" + path}, sources.Options{})
	if err != nil {
		t.Fatal(err)
	}
	next, last := 0, model.Stamp(0)
	err = sources.Play(t.Context(), opened, sources.PlayOptions{Every: time.Second}, func(in model.Input) {
		if in.Batch == nil {
			return
		}
		for _, r := range in.Batch.Requests {
			if r.ID != fmt.Sprint(next) || r.At < last || r.At > model.StampOf(in.At.Wall) {
				t.Fatalf("request %s comes as number %d", r.ID, next)
			}
			next, last = next+1, r.At
		}
	})
	if err != nil || next != n {
		t.Errorf("%d of %d, %v", next, n, err)
	}
}

func TestAPlayedFileEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	appendTo(t, path, at(0, "a"))
	s := resolve(t, "events:"+path)[0].Source
	defer func() { _ = s.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Poll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// Nobody told it the time: everything is due.
	if got := came(t, s); got != "a" {
		t.Errorf("got %s", got)
	}
	if got := came(t, s); got != "" {
		t.Errorf("got %s", got)
	}
	if got := came(t, s); got != io.EOF.Error() {
		t.Errorf("got %s", got)
	}
}
