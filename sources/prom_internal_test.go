package sources

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"slotop/model"
	"slotop/sources/dialect"
)

// counting is a source that knows what to ask for, with one count.
func counting(interval time.Duration) (*prometheus, *track) {
	t := &track{tag: "0.0", read: dialect.Read{Names: []string{"n"}, Kind: model.Counter, Signals: []model.Signal{model.OutputTokens}, Series: 1}}
	p := &prometheus{promFleet: &promFleet{promServer: &promServer{}, interval: interval, counts: []*track{t}}}
	return p, t
}

// countWhile is what is counted of ten things a second where the server's clock is off
// by so much at each second of ours.
func countWhile(seconds int, off func(second int) time.Duration) float64 {
	const interval = 2 * time.Second
	p, t := counting(interval)
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for second := range seconds {
		p.Advance(time.Duration(second) * time.Second)
		if !p.clock.shown.IsZero() && p.now().Before(p.next) {
			continue
		}
		p.clock = serverTime{start.Add(p.progress + off(second)), p.progress}
		q := &asking{}
		if !p.plan(q) {
			continue
		}
		if len(t.rows) == 0 {
			t.rows = []trackRow{{}}
		}
		span, _ := rangeFrom(q.at.Sub(t.anchor.at), p.interval, p.wholes)
		t.got = append(t.got[:0], 10*span.Seconds())
		p.count(q)
	}
	return t.last.of(0)
}

// Ten a second are ten a second, also where a server's clock comes late to an instant,
// is set, or where two servers answer in turn whose clocks differ.
func TestCountsWhileClocksJump(t *testing.T) {
	const seconds = 300
	for name, c := range map[string]struct {
		off  func(second int) time.Duration
		lost float64 // seconds that may be missing
	}{
		"even":      {func(int) time.Duration { return 0 }, 0},
		"jitter":    {func(s int) time.Duration { return -time.Duration(s%3) * 400 * time.Millisecond }, 3},
		"two":       {func(s int) time.Duration { return -time.Duration(s%2) * 5 * time.Second }, 6},
		"forward":   {func(s int) time.Duration { return time.Duration(s/100) * time.Hour }, 8},
		"back":      {func(s int) time.Duration { return -time.Duration(s/100) * time.Hour }, 8},
		"some back": {func(s int) time.Duration { return -time.Duration(s/100) * 30 * time.Second }, 8},
	} {
		n := countWhile(seconds, c.off) / 10
		most := float64(seconds) + (nearestAnchor+1)*2 // what it begins with
		if n > most || n < seconds-2-c.lost {
			t.Errorf("%s: %.0f s counted of %d, want no more than %.0f", name, n, seconds, most)
		}
	}
}

// askOne asks a server that answers everything with the same what time it is, and then
// for what it shows.
func askOne(t *testing.T, status int, body string) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	set, err := dialect.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := openFleet(Spec{
		Address: "prom+" + strings.Replace(server.URL, "http://", "http://user:sesame-open@", 1), Options: Options{Dialects: set},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := opened.Source.(*prometheus)
	defer func() { _ = p.Close() }()
	if err := p.meet(context.Background()); err != nil {
		return err
	}
	_, one := counting(time.Second)
	p.views, p.levels = []*seen{}, []*track{one}
	return p.askLevels(context.Background())
}

// What no server should answer is a fault, and harms nobody.
func TestOddAnswers(t *testing.T) {
	vector := func(result string) string {
		return `{"status":"success","data":{"resultType":"vector","result":` + result + `}}`
	}
	for _, c := range []struct {
		status     int
		body, says string
	}{
		{200, vector(`[null]`), "does not tell the time"},
		{200, vector(`[{"metric":{},"value":[1,"1e300"]}]`), "does not tell the time"},
		{200, vector(`[{"metric":{},"value":[1,"NaN"]}]`), "does not tell the time"},
		{200, vector(`[{"metric":{},"value":[1,"1796000000"]},null]`), ""},
		{200, vector(`[{"metric":{"__slotop":"clock"},"value":[1,"1796000000"]},{"metric":{"__slotop":"0.0"},"histogram":[1,{"count":"1","sum":"1","buckets":[null]}]}]`), ""},
		{400, `{"status":"error","errorType":"sesame-open","error":"sesame-open"}`, "not shown"},
	} {
		err := askOne(t, c.status, c.body)
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sesame")) {
			t.Errorf("%s: %v, want %q", c.body, err, c.says)
		}
	}
}

// An address chooses among the dialects of engines and gateways only, so only those
// are offered.
func TestGPUsOfAServerAreNotOffered(t *testing.T) {
	set, err := dialect.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	p, _ := counting(time.Second)
	p.set, p.others = set, []string{"litellm", "dcgm-exporter"}
	notes := strings.Join((&promTold{}).say(p), "\n")
	for _, want := range []string{"not read: litellm (?dialect=NAME", "GPUs are there too, by dcgm-exporter, not read: name the exporters themselves"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %s", want, notes)
		}
	}
}
