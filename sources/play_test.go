package sources_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources"
)

func TestPlay(t *testing.T) {
	fails := func(ctx context.Context, n int) (model.Batch, error) {
		switch n {
		case 2:
			return failing(model.Refused)(ctx, n)
		case 3:
			return model.Batch{}, errors.New("no word for it")
		case 4:
			panic("oh")
		case 5:
			return model.Batch{}, io.EOF
		}
		return good(ctx, n)
	}
	short := func(ctx context.Context, n int) (model.Batch, error) {
		if n > 1 {
			return model.Batch{}, io.EOF
		}
		return good(ctx, n)
	}
	play := func(opt sources.PlayOptions) string {
		var s strings.Builder
		targets := fleet(fails, short)
		err := sources.Play(t.Context(), targets, opt, func(in model.Input) {
			fmt.Fprint(&s, in.At.Wall.Format("15:04:05"), " ", in.At.Mono)
			if b := in.Batch; b != nil {
				fmt.Fprintf(&s, " %s %d", strings.TrimSuffix(string(b.Target), ":8000/metrics"), len(b.Samples))
				if b.Fault != nil {
					fmt.Fprint(&s, " ", b.Fault.Kind, ": ", b.Fault.Detail)
				}
			}
			s.WriteByte('\n')
		})
		if err != nil {
			t.Error(err)
		}
		for _, o := range targets {
			if o.Source.(*scripted).closed != 1 {
				t.Error("a source is open")
			}
		}
		return s.String()
	}
	want := `00:00:00 0s http://engine-0 1
00:00:00 0s http://engine-1 1
00:00:00 0s
00:00:10 10s http://engine-0 0 refused: as written
00:00:10 10s
00:00:20 20s http://engine-0 0 malformed: no word for it
00:00:20 20s
00:00:30 30s http://engine-0 0 malformed: collector failed: oh
00:00:30 30s
`
	if got := play(sources.PlayOptions{Every: 10 * time.Second}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := play(sources.PlayOptions{Every: 10 * time.Second, For: 15 * time.Second}), want[:strings.Index(want, "00:00:20")]; got != want {
		t.Errorf("for 15 s: got\n%swant\n%s", got, want)
	}
	got := play(sources.PlayOptions{Start: sources.Epoch.Add(time.Hour), For: 1})
	if !strings.HasPrefix(got, "01:00:00 0s") || strings.Contains(got, "01:00:01") {
		t.Errorf("got %s", got)
	}
}

func TestPlayEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ticks := 0
	err := sources.Play(ctx, fleet(good), sources.PlayOptions{}, func(in model.Input) {
		if in.IsTick() {
			if ticks++; ticks == 3 {
				cancel()
			}
		}
	})
	if !errors.Is(err, context.Canceled) || ticks != 3 {
		t.Errorf("%d ticks, %v", ticks, err)
	}
}

func TestPlayGivesTheDemoItsTime(t *testing.T) {
	play := func(arg string) []string {
		var lines []string
		err := sources.Play(t.Context(), resolve(t, arg), sources.PlayOptions{Every: 5 * time.Second, For: 2 * time.Minute}, func(in model.Input) {
			if b := in.Batch; b != nil {
				lines = append(lines, fmt.Sprint(in.At.Mono, b.Target, plainValues(b)))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	a, b, other := play("demo?seed=7"), play("demo?seed=7"), play("demo?seed=8")
	if len(a) != 75 || strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("two plays of one seed differ, or have %d polls", len(a))
	}
	if strings.Join(a, "\n") == strings.Join(other, "\n") {
		t.Error("another seed changes nothing")
	}
	if a[len(a)-1] == a[len(a)-4] {
		t.Error("time does not pass")
	}
}

func plainValues(b *model.Batch) (values []float64) {
	for _, s := range b.Samples {
		values = append(values, s.Value)
	}
	for _, d := range b.Devices {
		for _, r := range d.Readings {
			values = append(values, r.Value)
		}
	}
	return values
}

func TestDemoStartsLater(t *testing.T) {
	at := func(arg string, to time.Duration) string {
		source := resolve(t, arg)[0].Source
		source.(sources.Advancer).Advance(to)
		b, err := source.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(plainValues(&b))
	}
	if at("demo:S1?from=90s", 30*time.Second) != at("demo:s1", 2*time.Minute) {
		t.Error("from does not move the service's time")
	}
}

func TestPlayIsBounded(t *testing.T) {
	for name, opt := range map[string]sources.PlayOptions{
		"too rare": {Every: 2562047 * time.Hour, For: time.Minute},
		"too long": {Every: time.Hour, For: 2562047 * time.Hour},
		"for ever": {Every: 300 * 24 * time.Hour},
	} {
		targets := fleet(good)
		polls := 0
		err := sources.Play(t.Context(), targets, opt, func(in model.Input) {
			polls++
			if in.At.Mono < 0 {
				t.Fatalf("%s: time runs backwards", name)
			}
		})
		if err == nil || polls > 1000 || targets[0].Source.(*scripted).closed != 1 {
			t.Errorf("%s: %d inputs, %v", name, polls, err)
		}
	}
}

// A poll for which the simulator has years to catch up ends with its context.
func TestDemoEndsWithItsContext(t *testing.T) {
	source := resolve(t, "demo")[0].Source
	source.(sources.Advancer).Advance(10 * 365 * 24 * time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	from := time.Now()
	if _, err := source.Poll(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(from); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
