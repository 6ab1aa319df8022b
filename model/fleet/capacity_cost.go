package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"slotop/model"
	"slotop/model/capacity"
	"slotop/model/diagnose"
	"slotop/model/slo"
	"slotop/model/unit"
)

// paid is the GPUs of a pool, their price, and how their number is known.
type paid struct {
	gpus, perHour                float64 // NaN unknown
	configured, joined, supposed int     // engines
}

// pay counts the GPUs of the pool's engines: as configured, as joined, or, where
// nothing says more, one for each engine. A GPU that several engines share is paid
// once.
func (r *poolRoom) pay() paid {
	p := paid{}
	counted := map[*device]bool{}
	for i := range r.engines {
		e := &r.engines[i]
		spec := r.f.hardwareOf(e.t)
		n := e.servers
		switch on := r.on[e.t]; {
		case spec.GPUs > 0:
			n = float64(spec.GPUs)
			p.configured++
		case len(on) > 0:
			n = wholes(on, counted)
			p.joined++
		default:
			p.supposed++
		}
		p.gpus += n
		price := cmp.Or(spec.GPUHour, r.f.policy.Prices.GPUHour)
		if price == 0 {
			price = math.NaN()
		}
		p.perHour += price * n
	}
	return p
}

// wholes is how many GPUs the devices are that were not counted yet; a slice is a
// part of one.
func wholes(on []*device, counted map[*device]bool) (n float64) {
	for _, d := range on {
		switch {
		case counted[d]:
		case d.parent != nil:
			n += 1 / float64(max(1, d.parent.slices))
		default:
			n++
		}
		counted[d] = true
	}
	return n
}

// how says how the number of GPUs is known.
func (p *paid) how() string {
	switch all := p.configured + p.joined + p.supposed; {
	case p.supposed == all:
		return "one GPU for each engine is supposed: nothing says how many serve it"
	case p.supposed > 0:
		return fmt.Sprintf("one GPU each is supposed for %d of %d engines", p.supposed, all)
	case p.joined == 0:
		return "GPUs as configured"
	case p.configured == 0:
		return "GPUs that the engines were seen to run on"
	default:
		return "GPUs as configured, or as the engines were seen to run on"
	}
}

// cost is what tokens cost, nil without a price.
func (r *poolRoom) cost(good model.Range) *model.CostView {
	p := r.pay()
	prices := r.f.policy.Prices
	if prices.GPUHour == 0 && math.IsNaN(p.perHour) && !r.priced() {
		return nil
	}
	v := &model.CostView{
		Currency: cmp.Or(prices.Currency, "$"), PerHour: model.Of(p.perHour), GPUs: model.Of(p.gpus), Note: model.Text(p.how()),
	}
	if math.IsNaN(p.perHour) {
		v.Note = "the price of a GPU is not known for all engines"
		return v
	}
	if tokens := r.counted(diagnose.OutputTokens); tokens > 0 {
		each := capacity.PerMillion(p.perHour, tokens)
		v.PerMillion, v.PerMillionGood = model.Of(each), capacity.GoodCost(each, good)
	}
	return v
}

// priced reports whether the hardware of any engine has a price.
func (r *poolRoom) priced() bool {
	return slices.ContainsFunc(r.engines, func(e engineRoom) bool { return r.f.hardwareOf(e.t).GPUHour > 0 })
}

// energy is what tokens cost in energy, by the power of the boards that the engines run
// on; nil where none tells it.
func (r *poolRoom) energy(good model.Range) *model.EnergyView {
	var boards []*device
	for i := range r.engines {
		for _, d := range r.on[r.engines[i].t] {
			if d.parent != nil {
				return nil // the power of a GPU is not that of its slice alone
			}
			if !slices.Contains(boards, d) {
				boards = append(boards, d)
			}
		}
	}
	watts, told := 0.0, 0
	for _, d := range boards {
		if w := r.watts(d); !math.IsNaN(w) {
			watts, told = watts+w, told+1
		}
	}
	if told == 0 {
		return nil
	}
	v := &model.EnergyView{Boards: told, Note: "power of the boards, without their hosts"}
	apart := slices.ContainsFunc(r.engines, func(e engineRoom) bool { return len(r.on[e.t]) == 0 })
	if told < len(boards) || apart {
		v.Note = model.Text(fmt.Sprintf("power of %s, not of all that the engines run on: no energy of a token from it", boardsOf(told)))
		v.PowerW = model.Of(watts)
		return v
	}
	v.PowerW = model.Of(watts)
	if tokens := r.counted(diagnose.OutputTokens); tokens > 0 && watts > 0 {
		each := capacity.PerJoule(tokens, watts)
		v.TokensPerJoule, v.WhPerMillion = model.Of(each), model.Of(capacity.WhPerMillion(each))
		v.GoodPerJoule = capacity.GoodPerJoule(each, good)
	}
	return v
}

func boardsOf(n int) string {
	if n == 1 {
		return "1 board"
	}
	return unit.Integer(float64(n)) + " boards"
}

// atPower is the place of the power among what is kept of a device.
var atPower = slices.Index(gpuMetrics[:], model.Power)

// watts is the mean power of a device over the present minute, in W; NaN unknown.
func (r *poolRoom) watts(d *device) float64 {
	m := d.metered.between(r.last-diagnose.NowBlocks+1, r.last)
	return m[atPower].Value()
}

// good is the share of the pool's output tokens that good requests had in the present
// minute: of each workflow the share of its requests, by the tokens that it got.
func (r *poolRoom) good() model.Range {
	lo, hi, tokens := 0.0, 0.0, 0.0
	for _, w := range r.pool.flows {
		share := w.goodNow()
		n := r.flows[w].rate(diagnose.OutputTokens)
		if n == 0 || share.Lo.State == model.NoTraffic {
			continue
		}
		if math.IsNaN(n) && len(r.pool.flows) == 1 {
			n = 1
		}
		if !share.Lo.OK() {
			lo = math.NaN()
		}
		if !share.Hi.OK() {
			hi = math.NaN()
		}
		lo, hi, tokens = lo+n*share.Lo.Value, hi+n*share.Hi.Value, tokens+n
	}
	return model.Range{Lo: model.Of(lo / tokens), Hi: model.Of(hi / tokens)}
}

// goodNow is the share of good requests of the present minute, an interval where only
// histograms tell it.
func (w *workflow) goodNow() model.Share {
	l := w.ledgerOf(w.judged.Exact)
	c, elapsed := l.all(presentMinute)
	return slo.Goodput(w.promised(w.judged.Exported), stretch(c, elapsed, w.judged)).Share
}
