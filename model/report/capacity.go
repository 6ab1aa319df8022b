package report

import (
	"fmt"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// capacity is how much room each pool has at its objectives, what binds first and
// what a good token costs: a few lines a pool.
func (p *page) capacity(list []model.CapacityView) {
	if len(list) == 0 {
		return
	}
	p.line("")
	for i := range list[:min(len(list), maxPools)] {
		p.room(&list[i])
	}
	if n := len(list) - maxPools; n > 0 {
		p.line(fmt.Sprintf("CAPACITY  %d pools more", n))
	}
}

func (p *page) room(c *model.CapacityView) {
	const label = "CAPACITY  "
	load, ok := c.Load.Get()
	if !ok {
		why := string(c.Why)
		if why == "" {
			why = c.Sentence
		}
		p.sentence(label, p.safe(c.Pool)+": load not known"+p.safe(strings.TrimSuffix(": "+why, ": ")))
		return
	}
	p.flow(label, ", ", append([]string{p.safe(c.Pool), "load " + unit.Number(load) + " of " + unit.Number(model.PlanningLimit) + " (model)"}, p.headroom(c)...)...)
	p.flow("  rates   ", ", ", p.rates(c)...)
	if c.Replicas.Ready > 0 || c.Replicas.Needed.OK() {
		p.flow("  replicas  ", ", ", p.replicas(&c.Replicas)...)
	}
	p.money(c)
	if c.Sentence != "" {
		p.sentence("  ", p.safe(c.Sentence))
	}
}

// headroom is how much more of this mix there is room for, and what binds first.
func (p *page) headroom(c *model.CapacityView) []string {
	var out []string
	more, known := c.More.Get()
	switch {
	case known && more > 0:
		text := "room for " + unit.Rate(more) + " req/s of this mix"
		share, _ := c.Room()
		if h, ok := share.Get(); ok {
			text += " (" + unit.More(h) + ")"
		}
		out = append(out, text)
	case known:
		out = append(out, "no room: "+unit.Rate(-more)+" req/s too many")
	}
	if first := firstBinding(c); first != "" {
		out = append(out, "binds first: "+p.safe(first))
	}
	return out
}

func firstBinding(c *model.CapacityView) string {
	if c.FirstWhy != "" {
		return string(c.FirstWhy)
	}
	return c.First.Word()
}

// rates is the rate now against those at which something ends.
func (p *page) rates(c *model.CapacityView) []string {
	out := []string{unit.Reading(c.Rate, unit.Rate) + " req/s now"}
	for _, x := range []struct {
		r    model.Reading
		text string
	}{{c.SLORate, " where an objective breaks"}, {c.KVRate, " where the KV cache is full"}, {c.MaxRate, " where queues never end"}} {
		if v, ok := x.r.Get(); ok {
			out = append(out, unit.Rate(v)+x.text)
		}
	}
	return append(out, p.between(c.Observed, "req/s seen"))
}

func (p *page) replicas(r *model.ReplicaPlan) []string {
	out := []string{unit.Integer(float64(r.Ready)) + " ready", "needed now " + count(r.Needed)}
	if v, ok := r.Forecast.Get(); ok {
		out = append(out, "needed for "+unit.Rate(v)+" req/s "+count(r.Then))
	}
	if r.Why != "" {
		out = append(out, p.safe(string(r.Why)))
	}
	return out
}

// money is what tokens cost, in money and in energy.
func (p *page) money(c *model.CapacityView) {
	if v := c.Cost; v != nil {
		price := func(x float64) string { return unit.Money(p.safe(v.Currency), x) }
		pieces := []string{unit.Reading(v.PerHour, price) + " an hour", unit.Reading(v.PerMillion, price) + " per million output tokens"}
		if lo, hi := v.PerMillionGood.Lo, v.PerMillionGood.Hi; lo.OK() && hi.OK() {
			text := price(lo.Value)
			if other := price(hi.Value); other != text {
				text += p.dash() + other
			}
			pieces = append(pieces, text+" per million good ones")
		}
		if v.Note != "" {
			pieces = append(pieces, p.safe(string(v.Note)))
		}
		p.flow("  cost    ", ", ", pieces...)
	}
	if v := c.Energy; v != nil {
		p.flow("  energy  ", ", ", unit.Reading(v.PowerW, unit.Watts)+" board power of "+plural(v.Boards, "GPU"),
			unit.Reading(v.WhPerMillion, unit.WattHours)+" per million output tokens", p.safe(string(v.Note)))
	}
}
