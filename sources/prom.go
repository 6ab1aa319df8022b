package sources

import (
	"context"
	"net/url"
	"strings"
	"time"

	"slotop/model"
)

var promKind = Kind{
	Name:    model.PrometheusTarget,
	Doc:     "a Prometheus-compatible server (Prometheus, Thanos, Mimir, VictoriaMetrics): a whole fleet, and its past",
	Example: "prom+http://prometheus:9090",
	Match:   isProm,
	Open:    openProm,
}

const promScheme = "prom"

func isProm(arg string) bool {
	scheme, _, found := strings.Cut(arg, ":")
	return found && (scheme == promScheme+"+http" || scheme == promScheme+"+https")
}

func openProm(_ context.Context, spec Spec) ([]Opened, error) {
	_, address, _ := strings.Cut(spec.Address, "+")
	u, err := parseWhole(address)
	if err != nil {
		return nil, usage(spec.Address, "not a complete address", "write prom+http(s)://HOST:PORT, with the path before /graph if there is one")
	}
	source, err := newPrometheus(spec, u)
	if err != nil {
		return nil, err
	}
	target := model.Target{ID: promScheme + "+" + targetID(u), Name: u.Host, Kind: model.PrometheusTarget}
	return []Opened{{Target: target, Source: source}}, nil
}

// prometheus watches what a Prometheus-compatible server has scraped.
type prometheus struct {
	*promServer
	about *model.About
	now   time.Time // the server's clock at the last answer
}

var _ Source = (*prometheus)(nil)

// newPrometheus watches the engines behind the server at u, which is the address
// as in a browser: the path, if any, is what stands before /graph.
func newPrometheus(spec Spec, u *url.URL) (Source, error) {
	server, err := newPromServer(spec, u)
	if err != nil {
		return nil, err
	}
	return &prometheus{promServer: server}, nil
}

// Poll asks what is new.
func (p *prometheus) Poll(ctx context.Context) (model.Batch, error) {
	now, err := p.greet(ctx)
	if err != nil {
		return model.Batch{}, asFault(err)
	}
	p.now = now
	if p.about == nil {
		p.about = &model.About{Kind: model.PrometheusTarget, Missing: allSignals()}
	}
	return model.Batch{About: p.about, Clock: now, ClockError: time.Millisecond}, nil
}
