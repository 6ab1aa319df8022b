package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"slotop/model"
)

// epoch is when the tests' alerts fire, unless they say how long after it.
var epoch = model.Instant{Wall: time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC), Mono: time.Hour}

// fires is an alert that began to fire so many seconds after the epoch.
func fires(id string, after int) model.AlertView {
	at := epoch.Add(time.Duration(after) * time.Second)
	return model.AlertView{
		ID: model.AlertID(id), Rule: "slo_burn", Severity: model.Page, Workflow: "chat", State: model.AlertFiring,
		Text: "chat burns its budget", Since: at.Add(-time.Minute), FiredAt: at, LastAt: at,
		Value: model.Of(7), Peak: model.Of(9), Limit: model.Of(6), Times: 1,
	}
}

func resolves(id string, after int) model.AlertView {
	a := fires(id, after)
	a.State, a.ResolvedAt = model.AlertResolved, a.FiredAt.Add(5*time.Minute)
	return a
}

func with(a model.AlertView, change func(*model.AlertView)) model.AlertView {
	change(&a)
	return a
}

func frame(alerts ...model.AlertView) *model.Frame { return &model.Frame{At: epoch, Alerts: alerts} }

// receiver is a carrier that keeps what it got and does what the test says.
type receiver struct {
	most  int
	again time.Duration
	do    func(ctx context.Context, sent []notice) error

	mu  sync.Mutex
	log []string // seconds since the start, then what came
}

func (r *receiver) carry(ctx context.Context, sent []notice) error {
	var err error
	if r.do != nil {
		err = r.do(ctx, sent)
	}
	var words []string
	for _, n := range sent {
		words = append(words, fmt.Sprintf("%s %s", n.alert.ID, n.alert.State))
	}
	if err != nil {
		words = append(words, "failed")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, strings.Join(words, ", "))
	return err
}

func (r *receiver) show(sent []notice) string { return fmt.Sprintf("would tell %d\n", len(sent)) }
func (r *receiver) where() string             { return "a test" }
func (r *receiver) limit() int {
	if r.most == 0 {
		return maxBatch
	}
	return r.most
}
func (r *receiver) refresh() time.Duration { return r.again }

// got is what came so far, and forgets it.
func (r *receiver) got() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	log := r.log
	r.log = nil
	return log
}

func (r *receiver) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := r.got(); !slices.Equal(got, want) {
		t.Errorf("the receiver got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// sender makes a running sender with receivers in the place of real ones.
func sender(t *testing.T, sinks ...Sink) (*Sender, []*receiver) {
	t.Helper()
	s := newTestSender(t, sinks...)
	var receivers []*receiver
	for _, w := range s.workers {
		r := &receiver{}
		w.carrier = r
		receivers = append(receivers, r)
	}
	go s.Run(context.Background())
	t.Cleanup(func() { s.Close(time.Second) })
	synctest.Wait()
	return s, receivers
}

func newTestSender(t *testing.T, sinks ...Sink) *Sender {
	t.Helper()
	for i := range sinks {
		sinks[i].Webhook = &HTTP{URL: "http://receiver.invalid"}
		if sinks[i].Name == "" {
			sinks[i].Name = fmt.Sprint("sink", i)
		}
	}
	s, err := New(Config{Sinks: sinks}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOnceEach: a firing alert and its resolution are told once each, however
// many frames show them.
func TestOnceEach(t *testing.T) {
	tests := []struct {
		name   string
		sink   Sink
		frames []*model.Frame
		want   []string
	}{
		{
			"fires and is resolved", Sink{Resolved: true},
			[]*model.Frame{frame(), frame(fires("a", 0)), frame(fires("a", 0)), frame(resolves("a", 0)), frame(resolves("a", 0)), frame()},
			[]string{"a firing", "a resolved"},
		},
		{
			"a sink that hears of no end", Sink{},
			[]*model.Frame{frame(fires("a", 0)), frame(resolves("a", 0)), frame(fires("a", 900))},
			[]string{"a firing", "a firing"},
		},
		{
			"pending and unknown are not told", Sink{Resolved: true},
			[]*model.Frame{
				frame(with(fires("a", 0), func(a *model.AlertView) { a.State = model.AlertPending })),
				frame(with(fires("b", 0), func(a *model.AlertView) { a.State = model.AlertUnknown })),
			},
			nil,
		},
		{
			"no end of what was not told", Sink{Resolved: true},
			[]*model.Frame{frame(resolves("a", 0)), frame(resolves("a", 0))},
			nil,
		},
		{
			"data that stops resolves nothing", Sink{Resolved: true},
			[]*model.Frame{frame(fires("a", 0)), frame(with(fires("a", 0), func(a *model.AlertView) { a.Stale = true })), frame()},
			[]string{"a firing"},
		},
		{
			"gone for a frame and back", Sink{Resolved: true},
			[]*model.Frame{frame(fires("a", 0)), frame(), frame(fires("a", 0)), frame(resolves("a", 0))},
			[]string{"a firing", "a resolved"},
		},
		{
			"resolved and fired again between two frames", Sink{Resolved: true},
			[]*model.Frame{frame(fires("a", 0)), frame(fires("a", 300)), frame(resolves("a", 300))},
			[]string{"a firing", "a resolved", "a firing", "a resolved"},
		},
		{
			"less severe than asked for", Sink{Severity: model.Page, Resolved: true},
			[]*model.Frame{
				frame(with(fires("a", 0), func(a *model.AlertView) { a.Severity = model.Warn })),
				frame(with(resolves("a", 0), func(a *model.AlertView) { a.Severity = model.Warn })),
			},
			nil,
		},
		{
			"by default notes stay here", Sink{Resolved: true},
			[]*model.Frame{
				frame(with(fires("a", 0), func(a *model.AlertView) { a.Severity = model.Note }),
					with(fires("b", 0), func(a *model.AlertView) { a.Severity = model.Warn })),
			},
			[]string{"b firing"},
		},
		{
			"grows more severe, then less", Sink{Resolved: true},
			[]*model.Frame{
				frame(with(fires("a", 0), func(a *model.AlertView) { a.Severity = model.Warn })),
				frame(fires("a", 0)),
				frame(with(fires("a", 0), func(a *model.AlertView) { a.Severity = model.Warn })),
				frame(fires("a", 0)),
				frame(resolves("a", 0)),
			},
			[]string{"a firing", "a firing", "a resolved"},
		},
		{
			"grows severe enough", Sink{Severity: model.Page, Resolved: true},
			[]*model.Frame{
				frame(with(fires("a", 0), func(a *model.AlertView) { a.Severity = model.Warn })),
				frame(fires("a", 0)),
				frame(resolves("a", 0)),
			},
			[]string{"a firing", "a resolved"},
		},
		{
			"acknowledged before it was told", Sink{Resolved: true},
			[]*model.Frame{
				frame(with(fires("a", 0), func(a *model.AlertView) { a.Acknowledged = true })),
				frame(with(resolves("a", 0), func(a *model.AlertView) { a.Acknowledged = true })),
			},
			nil,
		},
		{
			"acknowledged after it was told", Sink{Resolved: true},
			[]*model.Frame{
				frame(fires("a", 0)),
				frame(with(fires("a", 0), func(a *model.AlertView) { a.Acknowledged = true })),
				frame(fires("a", 0)),
				frame(with(resolves("a", 0), func(a *model.AlertView) { a.Acknowledged = true })),
			},
			[]string{"a firing", "a resolved"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := sender(t, tt.sink)
				for _, f := range tt.frames {
					s.Frame(f)
					synctest.Wait()
				}
				r[0].expect(t, tt.want...)
				if st := s.Status()[0]; st.Waiting != 0 || st.Delivered != len(tt.want) || st.Dropped != 0 || st.Failures != 0 {
					t.Errorf("status %+v", st)
				}
			})
		})
	}
}

// TestClose: leaving tries once more, without waiting for the pace, and takes no
// longer than it may.
func TestClose(t *testing.T) {
	hang := func(ctx context.Context, _ []notice) error {
		<-ctx.Done()
		return ctx.Err()
	}
	fail := func(context.Context, []notice) error { return errors.New("cannot") }
	for _, tt := range []struct {
		name    string
		do      func(context.Context, []notice) error
		took    time.Duration
		waiting int
	}{
		{"a receiver that works", nil, 0, 0},
		{"one that hangs", hang, 40 * time.Millisecond, 1},
		{"one that fails", fail, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r := sender(t, Sink{Every: time.Hour})
				s.Frame(frame(fires("a", 0)))
				r[0].expect(t, "a firing")
				r[0].do = tt.do
				s.Frame(frame(fires("a", 0), fires("b", 0)))
				synctest.Wait()
				start := time.Now()
				s.Close(40 * time.Millisecond)
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if st := s.Status()[0]; st.Waiting != tt.waiting {
					t.Errorf("status %+v", st)
				}
				s.Frame(frame(fires("c", 0)))
				s.Close(time.Hour)
			})
		})
	}
}

// TestCloseWithoutRun waits for nothing, and a Run after it does nothing.
func TestCloseWithoutRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSender(t, Sink{})
		s.Close(time.Hour)
		s.Run(context.Background())
	})
}

// TestContext: the end of Run's context cuts off what is under way.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestSender(t, Sink{})
		s.workers[0].carrier = &receiver{do: func(ctx context.Context, _ []notice) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { s.Run(ctx); close(ended) }()
		s.Frame(frame(fires("a", 0)))
		synctest.Wait()
		cancel()
		<-ended
		s.Close(time.Hour)
		if st := s.Status()[0]; st.Waiting != 1 {
			t.Errorf("status %+v", st)
		}
	})
}

func TestDryRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s, err := New(Config{Sinks: []Sink{{Name: "ops\x1b", Webhook: &HTTP{URL: "http://receiver.invalid"}}}}, Options{DryRun: &out})
		if err != nil {
			t.Fatal(err)
		}
		r := &receiver{again: time.Minute, do: func(context.Context, []notice) error {
			t.Error("something was sent")
			return nil
		}}
		s.workers[0].carrier = r
		go s.Run(context.Background())
		s.Frame(frame(fires("a", 0), fires("b", 0)))
		time.Sleep(time.Hour)
		s.Close(0)
		if got := out.String(); got != "ops␛: would tell 2\n" {
			t.Errorf("printed %q", got)
		}
	})
}

func TestNew(t *testing.T) {
	web := &HTTP{URL: "http://127.0.0.1:1"}
	for _, tt := range []struct {
		name, want string
		sinks      []Sink
	}{
		{"nothing", "", nil},
		{"all kinds", "", []Sink{{Exec: []string{"sh"}}, {Webhook: web}, {Alertmanager: web}}},
		{"an empty sink", "receiver 1: give exactly one of exec, webhook and alertmanager", []Sink{{}}},
		{"two things", "receiver exec: give exactly one", []Sink{{Exec: []string{"sh"}, Webhook: web}}},
		{"one name", "receiver 2: there is another one called webhook: give each its own name", []Sink{{Webhook: web}, {Webhook: web}}},
		{"no severity", "receiver webhook: severity critical: write page, warn or note", []Sink{{Webhook: web, Severity: "critical"}}},
		{"negative", "receiver webhook: every and timeout cannot be negative", []Sink{{Webhook: web, Every: -1}}},
		{"no program", "receiver exec: exec: no program /no/such␛program can be run: no such file", []Sink{{Exec: []string{"/no/such\x1bprogram"}}}},
		{"no address", "receiver a: url is not an address: write http://", []Sink{{Name: "a", Webhook: &HTTP{URL: "me:secretsecret@host"}}}},
		{"no scheme of ours", "receiver a: url is not an address", []Sink{{Name: "a", Webhook: &HTTP{URL: "ftp://me:secretsecret@host"}}}},
		{"no url at all", "receiver a: url is not an address", []Sink{{Name: "a", Webhook: &HTTP{URL: "http://me:secretsecret%@host"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(Config{Sinks: tt.sinks}, Options{})
			if (err == nil) != (tt.want == "") {
				t.Fatalf("error %v, want %q", err, tt.want)
			}
			if err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secretsecret")) {
				t.Errorf("error %q, want %q", err, tt.want)
			}
		})
	}
}

// TestFrameAllocates nothing while nothing changes, with a receiver that hangs
// and one that works.
func TestFrameAllocates(t *testing.T) {
	s, f := busy(t)
	// The receiver that works may still be at it, and allocates for itself.
	least := math.Inf(1)
	for range 50 {
		least = min(least, testing.AllocsPerRun(20, func() { s.Frame(f) }))
	}
	if least != 0 {
		t.Errorf("%v allocations a frame", least)
	}
}

// busy is a sender that has taken a frame of 200 alerts and whose first receiver
// hangs with them.
func busy(tb testing.TB) (*Sender, *model.Frame) {
	tb.Helper()
	before := goleak.IgnoreCurrent()
	s, err := New(Config{Sinks: []Sink{
		{Name: "hangs", Webhook: &HTTP{URL: "http://receiver.invalid"}, Timeout: time.Hour},
		{Name: "works", Webhook: &HTTP{URL: "http://receiver.invalid"}},
	}}, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	reached := make(chan struct{})
	s.workers[0].carrier = &receiver{do: func(ctx context.Context, _ []notice) error {
		close(reached)
		<-ctx.Done()
		return ctx.Err()
	}}
	s.workers[1].carrier = &receiver{}
	f := frame()
	for i := range 200 {
		f.Alerts = append(f.Alerts, fires(fmt.Sprintf("alert %03d", i), i))
	}
	go s.Run(context.Background())
	s.Frame(f)
	<-reached
	tb.Cleanup(func() {
		s.Close(0)
		goleak.VerifyNone(tb, before)
	})
	return s, f
}

// BenchmarkFrame is what a frame of 200 firing alerts costs the fold while a
// receiver hangs: nothing new, and everything new.
func BenchmarkFrame(b *testing.B) {
	b.Run("nothing new", func(b *testing.B) {
		s, f := busy(b)
		b.ReportAllocs()
		for b.Loop() {
			s.Frame(f)
		}
	})
	b.Run("everything new", func(b *testing.B) {
		s, f := busy(b)
		b.ReportAllocs()
		for b.Loop() {
			for i := range f.Alerts {
				f.Alerts[i].FiredAt.Mono += time.Hour
			}
			s.Frame(f)
		}
	})
}
