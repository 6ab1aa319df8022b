package sources

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"slotop/model"
)

// Where each answer takes its time a look goes on where the last poll ended, and a
// path that never answers does not end it.
func TestLookOfASlowServer(t *testing.T) {
	for _, tc := range []struct {
		name, hangs string
		polls       int
	}{
		{"slow", "", 3},
		{"one path hangs", "/v1/loads", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				server := roundTrip(func(r *http.Request) (*http.Response, error) {
					asked = append(asked, r.URL.Path)
					code, body := http.StatusNotFound, "no"
					if r.URL.Path == "/api/v0/models" {
						code, body = http.StatusOK, `{"data":[{"id":"m","state":"loaded"}]}`
					}
					wait := 300 * time.Millisecond
					if r.URL.Path == tc.hangs {
						wait = time.Hour
					}
					if err := sleep(r.Context(), wait); err != nil {
						return nil, err
					}
					return &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader(body)), Request: r, Header: http.Header{}}, nil
				})
				opened, err := openEngine(t.Context(), Spec{Address: "h:1"})
				if err != nil {
					t.Fatal(err)
				}
				p := opened[0].Source.(*plain)
				p.page.client.Transport = server
				polls := 0
				for {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					b, err := p.Poll(ctx)
					cancel()
					if polls++; err == nil {
						if b.About.Engine != "lm-studio" || polls != tc.polls {
							t.Errorf("found %s after %d polls: %s", b.About.Engine, polls, asked)
						}
						break
					}
					if polls > 20 {
						t.Fatalf("it asked %s: %v", asked, err)
					}
				}
			})
		})
	}
}

// A path that is given is the user's word: nothing else is asked for.
func TestLookAtAGivenPath(t *testing.T) {
	for path, want := range map[string]string{
		"/metrics":       "/metrics",
		"/llm/metrics/":  "/llm/metrics/",
		"/prometheus":    "/prometheus /prometheus/api/v1/status/buildinfo",
		"/federate?x=1":  "/federate?x=1 /federate/api/v1/status/buildinfo?x=1",
		"/slots/metrics": "/slots/metrics",
	} {
		var asked []string
		opened, err := openEngine(t.Context(), Spec{Address: "http://h:1" + path})
		if err != nil {
			t.Fatal(err)
		}
		p := opened[0].Source.(*plain)
		p.page.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.RequestURI())
			return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r, Header: http.Header{}}, nil
		})
		for range 2 {
			_, err := p.Poll(t.Context())
			if fault := outcome(model.Batch{}, err).Fault; fault == nil || fault.Kind != model.NotFound {
				t.Errorf("%s: %v", path, err)
			}
		}
		first, _, _ := strings.Cut(want, " ")
		if got := strings.Join(asked, " "); got != want+" "+first {
			t.Errorf("%s: asked %s, want %s and then %s", path, got, want, first)
		}
	}
}

// clocked is a source that knows what time it is.
type clocked struct {
	to     time.Duration
	closed bool
}

func (c *clocked) Advance(to time.Duration) { c.to = to }

func (c *clocked) Poll(context.Context) (model.Batch, error) {
	return model.Batch{About: &model.About{Kind: model.PrometheusTarget}}, nil
}

func (c *clocked) Close() error {
	c.closed = true
	return nil
}

// A Prometheus-compatible server that is found late is told what time it is, and is
// the same one when it comes back. One that cannot be opened is none.
func TestLookFindsAFleet(t *testing.T) {
	there := true
	opened, err := openEngine(t.Context(), Spec{Address: "h:1"})
	if err != nil {
		t.Fatal(err)
	}
	p := opened[0].Source.(*plain)
	p.page.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		code, body := http.StatusNotFound, "no"
		switch {
		case !there:
			return nil, io.EOF
		case r.URL.Path == "/api/v1/status/buildinfo":
			code, body = http.StatusOK, `{"status":"success","data":{"version":""}}`
		}
		return &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader(body)), Request: r, Header: http.Header{}}, nil
	})
	fleet := &clocked{}
	opens := 0
	p.open = func() (Source, error) {
		if opens++; opens == 1 {
			return (*prometheus)(nil), errors.New("it cannot be opened")
		}
		return fleet, nil
	}
	for i, want := range []time.Duration{0, time.Hour, 2 * time.Hour} {
		p.Advance(time.Duration(i) * time.Hour)
		b, err := p.Poll(t.Context())
		if (err == nil) != (i > 0) || fleet.to != want || i > 0 && b.About.Kind != model.PrometheusTarget {
			t.Fatalf("poll %d: %+v, %v, at %v", i, b.About, err, fleet.to)
		}
	}
	p.lost(io.EOF)
	there = false
	if _, err := p.Poll(t.Context()); err == nil {
		t.Error("nobody is there")
	}
	there = true
	if _, err := p.Poll(t.Context()); err != nil || opens != 2 {
		t.Errorf("opened %d times, %v", opens, err)
	}
	if err := p.Close(); err != nil || !fleet.closed {
		t.Error(err)
	}
}
