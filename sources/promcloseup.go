package sources

import (
	"fmt"
	"slices"
	"strings"
	"time"

	prommodel "github.com/prometheus/common/model"

	"slotop/model"
	"slotop/sources/dialect"
	"slotop/sources/expo"
)

// closeUp shows single servers of a fleet, those with the most requests: what each
// runs, has waiting, and how full its cache is. They are part of the sums, which show
// what is left without them, so that nothing counts twice.
type closeUp struct {
	view    *dialect.View
	page    *seen
	tracks  []*track
	most    int
	samples []model.Sample
}

// serverLabel tells servers apart.
const serverLabel = "instance"

// closeSignals are what is shown of a single server.
var closeSignals = []model.Signal{model.Running, model.Waiting, model.KVUsage}

func closeUps(f *promFleet) []*closeUp {
	all := make([]*closeUp, len(f.views))
	for i, s := range f.views {
		c := &closeUp{view: s.view, most: f.replicas}
		for j, r := range s.view.Reads() {
			if r.Kind != model.Gauge || !slices.ContainsFunc(r.Signals, func(s model.Signal) bool { return slices.Contains(closeSignals, s) }) {
				continue
			}
			r.By = append([]string{serverLabel}, r.By...)
			c.tracks = append(c.tracks, &track{tag: fmt.Sprintf("close %d.%d", i, j), read: r})
		}
		c.blank()
		all[i] = c
	}
	return all
}

// blank begins a new page: other servers have the most requests by now.
func (c *closeUp) blank() {
	c.page = &seen{page: expo.Page{Generation: 1}, stale: true}
	for _, t := range c.tracks {
		*t = track{tag: t.tag, read: t.read, on: c.page}
	}
}

// questions asks for each of the levels of the servers with the most requests.
func (c *closeUp) questions(f *promFleet, lately time.Duration) []string {
	var load []string
	for _, t := range c.tracks {
		if slices.Contains(t.read.Signals, model.Running) || slices.Contains(t.read.Signals, model.Waiting) {
			load = append(load, tagged(f.level(&t.read, lately), t.tag))
		}
	}
	if len(load) == 0 {
		return nil
	}
	among := fmt.Sprintf("topk(%d, sum by (%s) (%s))", c.most, serverLabel, joined(load))
	var exprs []string
	for _, t := range c.tracks {
		exprs = append(exprs, tagged(fmt.Sprintf("(%s) and on (%s) %s", f.level(&t.read, lately), serverLabel, among), t.tag))
	}
	return exprs
}

// answer reads what the server answered.
func (c *closeUp) answer(f *promFleet, v prommodel.Vector) {
	rows := 0
	for _, t := range c.tracks {
		rows += len(t.rows)
	}
	if rows > 4*c.most*max(1, len(c.tracks)) {
		c.blank()
	}
	f.answerTo(c.tracks, v)
	for _, t := range c.tracks {
		t.level = stand{n: slices.Clone(t.got)}
		t.showLevels(time.Time{})
	}
	if c.page.stale {
		c.page.plan, c.page.stale = c.view.Apart(&c.page.page, serverLabel), false
	}
	c.samples = slices.DeleteFunc(c.page.plan.Read(&c.page.page, c.samples[:0]), func(s model.Sample) bool {
		return !slices.Contains(closeSignals, s.Signal) || strings.TrimSpace(s.Labels.Get(model.LabelEngine)) == "" || s.Value != s.Value
	})
}

// read appends the single servers to the samples of their view, which begin at first,
// and takes them out of its sums.
func (c *closeUp) read(p *prometheus, samples []model.Sample, first int) []model.Sample {
	sums := samples[first:]
	engine := ""
	if len(p.views) > 1 {
		engine = c.view.Engine()
	}
	for _, s := range c.samples {
		labels := p.withEngine(s.Labels, engine)
		at := slices.IndexFunc(sums, func(o model.Sample) bool { return o.Signal == s.Signal && o.Labels == labels })
		if at >= 0 && s.Signal != model.KVUsage {
			sums[at].Value = max(0, sums[at].Value-s.Value)
		}
	}
	return append(samples, c.samples...)
}
