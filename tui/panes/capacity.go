package panes

import (
	"fmt"
	"math"
	"strings"

	"slotop/model"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/chart"
	"slotop/tui/layout"
)

// Capacity is the sheet of a capacity review: for each pool how much room there is,
// what binds first, what a change would buy and what a good token costs. What a model
// says is called so; what was seen says over which range.
type Capacity struct{ wholeScreen }

// Name names the pane.
func (Capacity) Name() string { return "capacity" }

// Render draws the lines from View.Scroll on.
func (Capacity) Render(f *model.Frame, size layout.Size, look Look) string {
	return scrolled(capacityPage(f, size.W, look), look.View.Scroll, size, look)
}

// Scroll is how far the page can be scrolled.
func (Capacity) Scroll(f *model.Frame, size layout.Size, look Look) int {
	return scrollable(len(capacityPage(f, size.W, look)), size)
}

func capacityPage(f *model.Frame, w int, look Look) []string {
	s := &sheet{w: w, look: look}
	if len(f.Capacity) == 0 {
		s.noCapacity(f)
		return s.out
	}
	for i := range f.Capacity[:min(len(f.Capacity), poolsInFull)] {
		if i > 0 {
			s.out = append(s.out, "")
		}
		s.pool(f, &f.Capacity[i])
	}
	if rest := f.Capacity[min(len(f.Capacity), poolsInFull):]; len(rest) > 0 {
		s.out = append(s.out, "", s.look.rule(s.w, []seg{{themes.Strong, "MORE POOLS "}, {themes.Text, unit.Integer(float64(len(rest)))}}, say(1, themes.Muted, "less full, or not known")))
		for i := range rest {
			s.out = append(s.out, poolLine(&rest[i], s.w, look))
		}
	}
	return s.out
}

// poolsInFull is how many pools, the fullest first, are told of in full: nobody scrolls
// through more, and each costs as much to draw as a pane. The others have a line each.
const poolsInFull = 12

// poolLine is a pool in one line.
func poolLine(c *model.CapacityView, w int, look Look) string {
	nameW := min(max(w-48, 12), 40)
	l := look.line(w).pad(1).put(themes.Text, look.foreign(c.Pool, nameW)).pad(nameW + 3)
	v, ok := c.Load.Get()
	if !ok {
		return l.put(themes.Muted, "load not known").String()
	}
	word, _, role := loadZone(v)
	ps := []part{part{segs: []seg{{themes.Muted, "load "}, {role, unit.Load(v) + " " + word}}}.of("load", c.Pool)}
	if c.More.Value > 0 {
		ps = append(ps, say(1, themes.Muted, "room for "+unit.Rate(c.More.Value)+" req/s").of("more_requests_per_second", c.Pool))
	}
	return l.parts(3, ps...).String()
}

// pool is all there is to say of one pool.
func (s *sheet) pool(f *model.Frame, c *model.CapacityView) {
	s.out = append(s.out, s.look.rule(s.w, poolTitle(c, s.w, s.look), say(1, themes.Muted, "model, unless it says seen")))
	short := c.Sentence
	if !c.Load.OK() && strings.Contains(short, string(c.Why)) {
		short = "" // the load factor says so
	}
	if short != "" && s.w >= narrow {
		s.text(1, themes.Strong, short)
	}
	s.loadFactor(c)
	if c.Load.OK() { // without a load factor nothing is known of what it leads to
		s.room(c)
	}
	s.rates(c)
	if c.Load.OK() {
		s.bindsFirst(c)
		if c.Why != "" {
			s.prose("but", themes.Warn, string(c.Why))
		}
	}
	if short != "" && s.w < narrow {
		s.text(1, themes.Text, short)
	}
	s.replicas(c)
	s.worstBurn(f, c)
	s.splits(f, c)
	s.levers(f, c)
	s.knees(c)
	s.cost(c)
	s.energy(c)
	s.waste(f, c)
}

// poolTitle names a pool and what is in it.
func poolTitle(c *model.CapacityView, w int, look Look) []seg {
	title := []seg{{themes.Strong, look.foreign(c.Pool, max(w-53, 24))}}
	if w < narrow {
		return title
	}
	in := "  " + plural(len(c.Targets), "engine")
	if all := strings.Join(c.Workflows, ", "); all != c.Pool && w >= threeWide {
		in += ", " + look.foreign(all, w-67)
	}
	return append(title, seg{themes.Muted, in})
}

// The zones of a load factor: room, a watch, and beyond the planning limit, where
// queues grow faster than the load.
const watchLoad = 0.6

// loadZone is the zone as a word, in full, and how it shows.
func loadZone(load float64) (word, long string, role themes.Role) {
	switch {
	case load > 1:
		return "overload", "overload: queues never end", themes.Breach
	case load > model.PlanningLimit:
		return "over 0.7", "over 0.7, the planning limit", themes.Breach
	case load >= watchLoad:
		return "watch", "watch: near the limit of 0.7", themes.Warn
	default:
		return "room", "room: below 0.6", themes.OK
	}
}

// loadFactor is the load as a meter with its zones.
func (s *sheet) loadFactor(c *model.CapacityView) {
	v, ok := c.Load.Get()
	if !ok {
		s.prose("load", themes.Warn, whyNoLoad(c))
		return
	}
	word, long, role := loadZone(v)
	const most, wordW = 30, 8
	n := min(most, s.w-labelW-1-6-2-wordW)
	l := s.look.line(s.w).pad(1).put(themes.Muted, "load factor").pad(labelW+1).parts(0, say(0, role, unit.PadLeft(unit.Load(v), 4)).of("load", c.Pool))
	if n >= 10 {
		l.pad(l.w + 2)
		s.gauge(l, v, n, role)
	}
	if s.w < narrow {
		s.out = append(s.out, l.pad(l.w+2).put(role, word).String())
		return
	}
	s.out = append(s.out, l.pad(l.w+2).put(role, long).String())
	const from = labelW + 1 + 6
	l = s.look.line(s.w).pad(from).put(themes.Muted, "0")
	l.pad(from+zoneAt(watchLoad, n)-1).put(themes.Muted, ".6").pad(from+zoneAt(model.PlanningLimit, n)).put(themes.Muted, ".7")
	s.out = append(s.out, l.pad(from+n-1).put(themes.Muted, "1").String())
}

// zoneAt is the cell of a meter at which a zone begins.
func zoneAt(load float64, n int) int { return int(math.Round(load * float64(n))) }

// gauge is a meter with a mark where each zone begins, and an arrow where the load
// goes beyond its end.
func (s *sheet) gauge(l *line, v float64, n int, role themes.Role) {
	full, empty := chart.Meter(v, n, s.look.ASCII)
	cut := []rune(full + empty)
	filled := len([]rune(full))
	if v > 1 {
		cut[n-1] = []rune(s.look.pick("▸", ">"))[0]
	}
	marks := map[int]bool{zoneAt(watchLoad, n): true, zoneAt(model.PlanningLimit, n): true}
	for i, r := range cut {
		switch {
		case marks[i]:
			l.put(themes.Text, s.look.pick("┊", "|"))
		case i < filled:
			l.put(role, string(r))
		default:
			l.put(themes.Rule, string(r))
		}
	}
}

// whyNoLoad says what is missing for a load factor.
func whyNoLoad(c *model.CapacityView) string {
	if c.Why != "" {
		return "not known: " + string(c.Why)
	}
	return "not known yet"
}

// room is how much can be added.
func (s *sheet) room(c *model.CapacityView) {
	more, ok := c.More.Get()
	share, bound := c.Room()
	limit, topic := "0.7", "headroom"
	if bound {
		limit, topic = "what binds first", "more_requests_per_second"
	}
	switch {
	case !ok:
	case more <= 0:
		s.facts("headroom", say(0, themes.Breach, "none: take away "+unit.Rate(-more)+" req/s of this mix to reach "+limit).of("more_requests_per_second", c.Pool))
	default:
		text := "you can add " + unit.Rate(more) + " req/s of this mix"
		if v, known := share.Get(); known {
			text += ", " + unit.Percent(v) + " more"
		}
		if bound {
			text += ", up to " + limit
		}
		s.facts("headroom", say(0, themes.Strong, text).of(topic, c.Pool))
	}
}

func (s *sheet) bindsFirst(c *model.CapacityView) {
	if c.First == model.BindsNothing && c.FirstWhy == "" {
		return
	}
	text := string(c.FirstWhy)
	if text == "" {
		text = c.First.Word()
	}
	s.prose("binds first", themes.Text, text)
}

// replicas is how many there are and how many the rates need.
func (s *sheet) replicas(c *model.CapacityView) {
	k, r := s.look, c.Replicas
	ps := []part{part{segs: []seg{{themes.Text, unit.Integer(float64(r.Ready))}, {themes.Muted, " ready"}}}.of("replicas", c.Pool)}
	role := themes.Text
	if n, ok := r.Needed.Get(); ok && n > float64(r.Ready) {
		role = themes.Breach
	}
	need := k.count(r.Needed, 12)
	if r.Needed.OK() {
		need.role = role
	}
	ps = append(ps, part{segs: []seg{seg(need), {themes.Muted, " needed now"}}}.of("replicas.needed", c.Pool))
	why := say(0, themes.Muted, k.sentence(string(r.Why), maxProse)) // of the forecast, where there is one
	switch {
	case r.Then.OK() && r.Forecast.OK():
		ps = append(ps, part{segs: []seg{seg(k.count(r.Then, 12)), {themes.Muted, " needed for forecast"}}}.of("replicas.then", c.Pool),
			say(0, themes.Muted, "forecast "+unit.Rate(r.Forecast.Value)+" req/s").of("forecast", c.Pool), why)
	case r.Forecast.OK():
		ps = append(ps, why)
	default:
		ps = append(ps, why, say(2, themes.Muted, "no forecast: write forecast: {"+k.foreign(exampleOf(c), 16)+": 25} in the configuration"))
	}
	s.facts("replicas", ps...)
}

// exampleOf is a workflow of the pool to show how something is written.
func exampleOf(c *model.CapacityView) string {
	if len(c.Workflows) == 0 {
		return "WORKFLOW"
	}
	return c.Workflows[0]
}

// rates is the rate now against those at which something ends.
func (s *sheet) rates(c *model.CapacityView) {
	k := s.look
	var ps []part
	for _, x := range []struct {
		r           model.Reading
		text, topic string
	}{
		{c.Rate, " now", "pool.rate"}, {c.SLORate, " an objective breaks", "at_objective_per_second"},
		{c.KVRate, " KV cache full", "kv_requests_per_second"}, {c.MaxRate, " queues never end", "max_requests_per_second"},
	} {
		if x.r.OK() {
			ps = append(ps, part{segs: []seg{seg(k.rate(x.r, 8)), {themes.Muted, x.text}}}.of(x.topic, c.Pool))
		}
	}
	if v, ok := c.PerCall.Get(); ok && c.Load.OK() {
		ps = append(ps, part{segs: []seg{{themes.Text, unit.Precise(v)}, {themes.Muted, " machine time each"}}}.of("machine_s_per_request", c.Pool))
	}
	if len(ps) > 0 {
		s.facts("req/s", ps...)
	}
	s.expected(c.Pool, c.Expected)
}

// expected is what the formulas give at the present rate, to hold against what runs.
func (s *sheet) expected(pool string, e *model.ExpectedView) {
	if e == nil {
		return
	}
	var ps []part
	for _, x := range []struct {
		r             model.Reading
		topic         string
		before, after string
		format        func(float64) string
	}{
		{e.TPOT, "tpot", "TPOT ", "", unit.Milliseconds}, {e.Running, "running", "", " running", unit.Count}, {e.KVUse, "kv", "KV cache ", "", unit.Percent}, {e.Fit, "fit", "", " sequences fit", unit.Count},
	} {
		if v, ok := x.r.Get(); ok {
			ps = append(ps, part{segs: []seg{{themes.Muted, x.before}, {themes.Text, x.format(v)}, {themes.Muted, x.after}}}.of("expected."+x.topic, pool))
		}
	}
	if len(ps) > 0 {
		s.facts("expected", ps...)
	}
}

// mostSplits is how many engines of a pool have their step split here: the screen of
// utilization has all of them.
const mostSplits = 3

// splits is what a step of the pool's engines is made of.
func (s *sheet) splits(f *model.Frame, c *model.CapacityView) {
	n, label := 0, "step"
	for _, t := range c.Targets {
		u := utilizationOf(f, t)
		if u == nil || noSplit(u) != "" {
			continue
		}
		if n++; n > mostSplits {
			continue
		}
		ps := stepShares(u, s.look)
		if len(c.Targets) > 1 {
			ps = append([]part{say(0, themes.Text, s.look.foreign(t, 24))}, ps...)
		}
		s.facts(label, ps...)
		label = ""
	}
	s.more(n - mostSplits)
}

// knees is up to which rate each workflow kept its promise, as it was seen.
func (s *sheet) knees(c *model.CapacityView) {
	if len(c.Knees) == 0 {
		return
	}
	k := s.look
	var all []part
	if text, ok := k.between(c.Observed, unit.Rate); ok {
		all = append(all, say(1, themes.Muted, "at "+text+" req/s").of("observed", c.Pool))
	}
	s.rule("SEEN", all...)
	for _, n := range c.Knees {
		ps := kneeParts(&n)
		ps[0] = ps[0].of("knee", Within(c.Pool, n.Workflow))
		seen := plural(n.Blocks, "minute") + " seen"
		if text, ok := k.between(n.Observed, unit.Rate); ok {
			seen += " at " + text + " req/s"
		}
		s.facts(k.foreign(n.Workflow, labelW-1), append(ps, say(0, themes.Muted, seen))...)
	}
}

// kneeParts is the highest rate at which a promise was surely kept, and what is known
// of higher ones.
func kneeParts(n *model.KneeView) []part {
	if !n.Rate.OK() {
		return []part{say(0, themes.Muted, "no rate at which it surely kept its promise")}
	}
	ps := []part{say(0, themes.Text, "kept its promise up to "+unit.Rate(n.Rate.Value)+" req/s")}
	switch most, ok := n.Observed.Hi.Get(); {
	case n.Reached:
		ps = append(ps, say(0, themes.Warn, "failed above"))
	case ok && unit.Rate(most) != unit.Rate(n.Rate.Value):
		ps = append(ps, say(0, themes.Muted, "not sure above"))
	default:
		ps = append(ps, say(0, themes.Muted, "more was never seen"))
	}
	if n.Missed {
		ps = append(ps, say(0, themes.Warn, "missed below too"))
	}
	return ps
}

// levers is what one change would buy.
func (s *sheet) levers(f *model.Frame, c *model.CapacityView) {
	if len(c.Levers) == 0 || !c.Load.OK() {
		return
	}
	s.rule("WHAT A CHANGE WOULD BUY", say(1, themes.Muted, "model"))
	w := min(32, max(s.w-34, 12))
	for _, v := range c.Levers {
		l := s.look.line(s.w).pad(indent)
		if s.w < narrow {
			s.text(1, themes.Text, v.Change)
		} else {
			l = s.look.line(s.w).pad(1).put(themes.Text, s.look.sentence(v.Change, w)).pad(w + 2)
		}
		rate := s.look.rate(v.Rate, 5)
		if v.Rate.OK() && v.Rate.Value >= 0 {
			rate.text = "+" + rate.text
		}
		rate.text = unit.PadLeft(rate.text, 5)
		ps := []part{part{segs: []seg{seg(rate), {themes.Muted, " req/s"}}}.of("lever.rate", Within(c.Pool, v.Change))}
		if v.Load.OK() && c.Load.OK() {
			ps = append(ps, part{segs: []seg{{themes.Muted, "load "}, {themes.Text, unit.Load(c.Load.Value) + s.look.pick(" → ", " -> ") + unit.Load(v.Load.Value)}}, drop: 1}.of("lever.load", Within(c.Pool, v.Change)))
		}
		s.out = append(s.out, l.parts(3, ps...).String())
	}
	s.hits(f, c)
}

// cost is what tokens cost; without a price it says where to put one.
func (s *sheet) cost(c *model.CapacityView) {
	s.rule("COST AND ENERGY", say(1, themes.Muted, "of output tokens"))
	v := c.Cost
	if v == nil {
		s.prose("cost", themes.Muted, "no price: write prices: {gpu_hour: 3.24} in the configuration")
		return
	}
	k := s.look
	money := func(topic string, r model.Reading, after string) part {
		n := k.reading(r, 12, func(x float64) string { return unit.Money(k.foreign(v.Currency, 4), x) })
		return part{segs: []seg{seg(n), {themes.Muted, after}}}.of(topic, c.Pool)
	}
	ps := []part{money("cost.per_hour", v.PerHour, " an hour"), money("cost.per_million", v.PerMillion, " per million")}
	if text, ok := k.between(v.PerMillionGood, func(x float64) string { return unit.Money("", x) }); ok {
		ps = append(ps, say(0, themes.Strong, k.foreign(v.Currency, 4)+text+" per million good ones").of("cost.per_million_good", c.Pool))
	} else {
		ps = append(ps, say(0, themes.Muted, "good ones not known").of("cost.per_million_good", c.Pool))
	}
	s.facts("cost", ps...)
	s.prose("", themes.Muted, string(v.Note))
}

func (s *sheet) energy(c *model.CapacityView) {
	v := c.Energy
	if v == nil {
		s.prose("energy", themes.Muted, "nobody tells the power of its boards: nvml: or dcgm-exporter beside the engines")
		return
	}
	k := s.look
	ps := []part{
		part{segs: []seg{seg(k.reading(v.PowerW, 12, unit.Watts)), {themes.Muted, " board power of " + plural(v.Boards, "GPU")}}}.of("energy.power", c.Pool),
		part{segs: []seg{seg(k.reading(v.WhPerMillion, 12, unit.WattHours)), {themes.Muted, " per million"}}}.of("energy.wh_per_million", c.Pool),
		part{segs: []seg{seg(k.reading(v.TokensPerJoule, 12, unit.Number)), {themes.Muted, " tokens a joule"}}}.of("energy.tokens_per_joule", c.Pool),
	}
	if text, ok := k.between(v.GoodPerJoule, unit.Number); ok {
		ps = append(ps, part{segs: []seg{{themes.Text, text}, {themes.Muted, " good ones"}}}.of("energy.good_per_joule", c.Pool))
	}
	s.facts("energy", ps...)
	s.prose("", themes.Muted, string(v.Note))
}

// waste is the work that helped nobody.
func (s *sheet) waste(f *model.Frame, c *model.CapacityView) {
	if len(c.Waste) == 0 {
		return
	}
	k := s.look
	s.rule("WASTE", say(1, themes.Muted, window(f, k)))
	for _, w := range c.Waste {
		label := k.sentence(w.Kind, labelW-1)
		if !w.Tokens.OK() && !w.Share.OK() && !w.N.OK() {
			text := k.absent(w.N.State, 12).text
			if w.Note != "" {
				text = "not known: " + string(w.Note)
			}
			s.prose(label, themes.Muted, text)
			continue
		}
		if w.N.OK() && w.N.Value == 0 {
			s.facts(label, say(0, themes.Muted, "none"))
			continue
		}
		var ps []part
		if w.Share.OK() {
			ps = append(ps, say(0, themes.Text, unit.Ratio(w.Share.Value)+" of the tokens").of("waste", Within(c.Pool, w.Kind)))
		}
		if w.Tokens.OK() {
			ps = append(ps, say(0, themes.Text, unit.Rate(w.Tokens.Value)+" tok/s").of("waste.tokens", Within(c.Pool, w.Kind)))
		}
		if w.N.OK() {
			ps = append(ps, say(0, themes.Muted, fmt.Sprintf("n %s", samples(w.N.Value))).of("waste.n", Within(c.Pool, w.Kind)))
		}
		if w.Note != "" {
			ps = append(ps, say(0, themes.Muted, k.sentence(string(w.Note), maxProse)))
		}
		s.facts(label, ps...)
	}
}
