package panes

import (
	"slices"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/glossary"
	"slotop/model/unit"
	"slotop/themes"
	"slotop/tui/layout"
)

// Explain is one number explained: what it is and where it was measured, how sure it is,
// from which metric it was read, and what others call it. Bare it is a topic of the
// glossary without a number.
type Explain struct {
	wholeScreen

	About  About
	Shown  string // as it stands on the screen
	Scroll int
	Bare   bool
}

// Name names the pane.
func (Explain) Name() string { return "explain" }

// Render draws the lines from Scroll on.
func (e Explain) Render(f *model.Frame, size layout.Size, look Look) string {
	return scrolled(e.lines(f, min(size.W, maxText), look), e.Scroll, size, look)
}

// Most is how far the explanation can be scrolled.
func (e Explain) Most(f *model.Frame, size layout.Size, look Look) int {
	return scrollable(len(e.lines(f, min(size.W, maxText), look)), size)
}

func (e Explain) lines(f *model.Frame, w int, look Look) []string {
	s := &sheet{w: w, look: look}
	t, ok := glossary.Find(e.About.Topic)
	if !ok {
		s.out = append(s.out, look.rule(w, []seg{{themes.Strong, "NOT IN THE GLOSSARY"}}))
		s.prose("", themes.Text, e.About.Topic)
		return s.out
	}
	keys := []part{say(2, themes.Muted, "esc closes it").of("key.esc", "")}
	if !e.Bare {
		keys = append([]part{say(1, themes.Muted, "tab the next one").of("key.tab", "")}, keys...)
	}
	s.out = append(s.out, look.rule(w, []seg{{themes.Strong, look.sentence(t.Name, max(w-8, 8))}}, keys...))
	if !e.Bare {
		s.reckoned(f, e, t)
	}
	s.defined(t)
	if !e.Bare {
		s.readFrom(ownerOf(f, e.About.Of, t), t)
	}
	s.called(t)
	return s.out
}

// reckoned is this very number: as it is shown, exactly, whose it is, over what, and why
// it is no surer or missing.
func (s *sheet) reckoned(f *model.Frame, e Explain, t glossary.Topic) {
	o := ownerOf(f, e.About.Of, t)
	v := valueOf(o, t.Key)
	if e.Shown != "" {
		s.prose("shown", themes.Strong, e.Shown)
	}
	s.prose("exactly", themes.Text, exactly(v, t))
	if whose := o.words(s.look); whose != "" {
		s.prose("of", themes.Text, whose)
	}
	s.prose("rests on", themes.Text, strings.Join(restsOn(o, v, t, s.look), ", "))
	s.each("so wide", themes.Text, whyWide(o, v, s.look))
	if v.known || !saysItAll(e.Shown) {
		s.each("missing", themes.Warn, whyMissing(o, v, t))
	}
	s.formula("reckoned", reckoning(o, v, t.Key))
}

// each writes sentences with a label before the first.
func (s *sheet) each(label string, role themes.Role, all []string) {
	for _, text := range all {
		s.prose(label, role, text)
		label = ""
	}
}

// formula writes a formula. A dot between two blanks stands between two clauses
// elsewhere, and means times here.
func (s *sheet) formula(label, text string) {
	if s.look.ASCII {
		text = strings.ReplaceAll(text, " · ", " * ")
	}
	s.prose(label, themes.Text, text)
}

// exactly is the number as it may be copied, with its unit.
func exactly(v value, t glossary.Topic) string {
	in, _, _ := strings.Cut(t.Unit, ",")
	in = strings.TrimSpace(in)
	with := func(x float64) string {
		switch {
		case in == "":
			return unit.Exact(x)
		case strings.HasPrefix(in, "0–1"):
			return unit.Exact(x) + " (" + unit.Ratio(x) + ")"
		default:
			return unit.Exact(x) + " " + in
		}
	}
	between := func(lo, hi model.Reading) string {
		switch {
		case lo.OK() && hi.OK():
			return "between " + unit.Exact(lo.Value) + " and " + with(hi.Value)
		case lo.OK():
			return "more than " + with(lo.Value)
		default:
			return ""
		}
	}
	switch {
	case v.r.OK():
		return with(v.r.Value)
	case v.e.Open || v.e.Exists() && !v.e.Value.OK():
		return between(v.e.Lo, model.Reading{})
	case v.e.Exists():
		return strings.TrimSuffix(with(v.e.Value.Value)+", "+between(v.e.Lo, v.e.Hi), ", ")
	case v.share.Lo.OK() && v.share.Lo == v.share.Hi:
		return with(v.share.Lo.Value)
	case v.share.Lo.OK():
		text := between(v.share.Lo, v.share.Hi)
		if v.share.Point.OK() {
			text += ", the best guess " + with(v.share.Point.Value)
		}
		return text
	case v.rng.Lo.OK() && v.rng.Lo == v.rng.Hi:
		return with(v.rng.Lo.Value)
	default:
		return between(v.rng.Lo, v.rng.Hi)
	}
}

// restsOn is of how many observations and over which time a number is.
func restsOn(o owner, v value, t glossary.Topic, k Look) []string {
	var out []string
	switch {
	case v.bound != nil && strings.HasSuffix(t.Key, ".share"):
		out = append(out, samples(v.bound.N)+" requests")
	case v.dist != nil:
		out = append(out, "n "+samples(v.dist.N))
		if v.dist.Basis == model.SinceStart {
			return append(out, "since the server started")
		}
		if v.dist.Basis == model.FromEvents {
			out = append(out, "requests reported one by one")
		}
	case v.good != nil && v.good.N > 0:
		out = append(out, samples(v.good.N)+" requests judged", judged(v.good.Of))
	}
	if w, ok := basisWords[basisOf(o)]; ok && byBasis(t.Key) {
		out = append(out, w.long)
	}
	switch span := ownSpan(o, t.Key); {
	case span != "":
		out = append(out, "the last "+span)
	case o.sw != nil:
		out = append(out, "the "+k.span(seconds(o.stageSeconds()).Truncate(time.Second))+" from "+hms(o.stage.From))
	case windowed(o, v, t):
		out = append(out, overWindow(o.f, k))
	}
	if !o.f.At.IsZero() {
		out = append(out, "as of "+hms(o.f.At)+" UTC")
	}
	return out
}

// basisOf is by whose word a figure of utilization is known.
func basisOf(o owner) model.UtilizationBasis {
	switch {
	case o.u == nil:
		return ""
	case o.part != "":
		return model.UtilizationBasis(o.part)
	default:
		return o.u.Basis
	}
}

// windowed reports whether a number is over the window: gauges are of an instant.
func windowed(o owner, v value, t glossary.Topic) bool {
	switch {
	case v.dist != nil || v.good != nil:
		return true
	case t.Group == glossary.GroupDevices || o.c != nil || strings.HasPrefix(t.Key, "peak_") || t.Key == "reported_output":
		return false
	default:
		return byBasis(t.Key) || strings.HasSuffix(t.Unit, "/s") || strings.Contains(t.Key, "requests.") ||
			t.Key == "prefix_cache_hit" || t.Key == "cached_prompt_share"
	}
}

// overWindow is which span the window covers of what was asked for.
func overWindow(f *model.Frame, k Look) string {
	asked := k.span(time.Duration(f.WindowS * float64(time.Second)))
	if got, ok := f.CoveredS.Get(); ok {
		return "over " + unit.Duration(got) + " of a window of " + asked
	}
	return "no window yet: it takes two polls"
}

// whyWide is why a number is an interval, and how it could be narrower.
func whyWide(o owner, v value, k Look) []string {
	var out []string
	e := v.e
	switch {
	case e.Open:
		out = append(out, "it lies beyond the last finite bucket of the histogram: only its lower edge is known")
	case e.Exists() && e.Hi.OK() && e.Lo.OK() && e.Hi.Value > e.Lo.Value*narrowBracket && e.Seen:
		out = append(out, "single requests were seen; the interval is how well "+samples(v.dist.N)+" of them stand for others (95 %)")
	case e.Exists() && e.Hi.OK() && e.Lo.OK() && e.Hi.Value > e.Lo.Value*narrowBracket:
		out = append(out, "a histogram knows a number only to within its buckets; allowing for chance (95 %) it lies between "+k.estimateBetween(e))
	}
	if e.Exists() && !e.Enough {
		out = append(out, "so few requests give no upper limit: p95 takes 72, p99 368; a longer window (w) has more")
	}
	if v.dist != nil && v.dist.Fidelity == model.Coarse {
		out = append(out, "servers or releases differ in their buckets: only the edges that all have were kept")
	}
	if g := v.good; g != nil && g.Share.Lo.OK() && g.Share.Lo != g.Share.Hi && g.Basis == model.ByHistograms {
		out = append(out, "histograms know each bound for itself, not how often all were met together; requests reported one by one would be exact")
	}
	if o.w != nil && (v.good != nil || v.bound != nil) {
		out = append(out, offBoundary(o.w, v)...)
	}
	return out
}

func (k Look) estimateBetween(e model.Estimate) string {
	return unit.Limit(e.Lo.Value) + " and " + unit.Limit(e.Hi.Value)
}

// offBoundary names the objectives that lie inside a bucket.
func offBoundary(w *model.WorkflowView, v value) []string {
	var out []string
	for _, o := range w.Objectives {
		if v.bound != nil && v.bound.Metric != o.Metric {
			continue
		}
		if lo, hi := o.Bounds.Lo, o.Bounds.Hi; lo.OK() || hi.OK() {
			out = append(out, o.Metric.Title()+" "+unit.Limit(o.MaxS)+" lies inside a bucket: an objective of "+orList(lo, hi)+" would be exact")
		}
	}
	return out
}

// saysItAll reports whether what is shown is a word or a time, such as a condition or
// since when: that is no number, and none is missing.
func saysItAll(shown string) bool {
	last := shown[strings.LastIndexByte(shown, ' ')+1:]
	return !slices.Contains([]string{"", "–", "-", "n/e", "n=0", "…"}, last)
}

// whyMissing is why there is no number, and how to get it.
func whyMissing(o owner, v value, t glossary.Topic) []string {
	if exactly(v, t) != "" || t.Key == "budget.exhausted_in" && o.w != nil && outlasts(o.w.Budget) {
		return nil
	}
	var out []string
	switch {
	case t.Key == "change":
		return []string{"the two stages do not tell: the comparison (c) says below its table why"}
	case v.good != nil && v.good.Why != "":
		out = append(out, string(v.good.Why))
	case o.c != nil && o.c.Why != "":
		out = append(out, string(o.c.Why))
	case o.u != nil && len(o.u.Missing) > 0:
		out = append(out, o.u.Missing...)
	case o.u != nil && o.u.Step != nil && o.u.Step.Why != "" && strings.HasPrefix(t.Key, "step"):
		out = append(out, string(o.u.Step.Why))
	case o.d != nil:
		out = append(out, deviceLack(o.d, t.Key))
	case strings.HasSuffix(t.Key, ".max") && v.bound == nil && o.w != nil:
		return []string{"nothing is promised of it: --slo or the configuration does"}
	case v.dist != nil && v.dist.N == 0, v.r.State == model.NoTraffic:
		out = append(out, "its servers export it, and saw no request in the window")
	}
	missing := missingSignals(o, t)
	switch {
	case len(missing) > 0:
		out = append(out, strings.Join(missing, ", ")+": not exported by "+anyTargets(o)+"; slotop doctor says which flag or version tells it")
	case len(out) == 0 && !o.f.CoveredS.OK() && windowed(o, v, t):
		out = append(out, "there is no window yet: it takes two polls")
	case len(out) == 0 && t.Unit != "": // a word is no number that is missing
		out = append(out, "nothing is known of it here; slotop doctor says what each target tells")
	}
	for _, c := range o.carriers() {
		if c.Fault != nil {
			out = append(out, c.Name+" does not answer: "+c.Fault.Kind.Word())
			break
		}
	}
	return out
}

func deviceLack(d *model.DeviceView, key string) string {
	m, ok := model.DeviceMetricNamed(key)
	switch {
	case d.Detail != "":
		return string(d.Detail)
	case ok:
		return d.Values[m].Status.String() + " by " + d.Target
	default:
		return "not told by " + d.Target
	}
}

// missingSignals are those that the number is computed from and that none of its targets
// exports.
func missingSignals(o owner, t glossary.Topic) []string {
	var lacks []model.Signal
	switch {
	case o.w != nil:
		lacks = o.w.Missing
	case o.t != nil:
		lacks = o.t.Missing
	}
	var out []string
	for _, s := range t.Signals {
		if slices.Contains(lacks, s) {
			out = append(out, s.Title())
		}
	}
	return out
}

func anyTargets(o owner) string {
	all := o.carriers()
	switch {
	case len(all) == 1:
		return all[0].Name
	case len(all) == 0:
		return "its servers"
	default:
		return "any of " + plural(len(all), "target")
	}
}

// defined is what the glossary says.
func (s *sheet) defined(t glossary.Topic) {
	if !s.bare() {
		s.rule("WHAT IT IS")
	}
	s.prose("is", themes.Text, t.Is)
	s.prose("measured", themes.Text, t.Measured)
	s.formula("formula", t.Formula)
	s.prose("misleads", themes.Text, t.Misleads)
	if t.Unit != "" {
		s.prose("unit", themes.Muted, t.Unit)
	}
}

// bare reports whether nothing but the title stands yet.
func (s *sheet) bare() bool { return len(s.out) < 2 }

// readFrom is the exposed names that the number was read from, and what they measure
// where that is not what the signal says.
func (s *sheet) readFrom(o owner, t glossary.Topic) {
	type source struct {
		model.Meaning
		on []string
	}
	var all []source
	for _, c := range o.carriers() {
		for _, m := range c.Meanings {
			if !slices.Contains(t.Signals, m.Signal) || !usedBy(o, t.Key, m.Signal) {
				continue
			}
			i := slices.IndexFunc(all, func(x source) bool { return x.Meaning == m })
			if i < 0 {
				i, all = len(all), append(all, source{Meaning: m})
			}
			all[i].on = append(all[i].on, c.Name)
		}
	}
	told := countedBy(o, t.Key)
	if len(all) == 0 && told == "" {
		return
	}
	s.rule("READ FROM")
	if told != "" {
		s.text(1, themes.Text, told)
	}
	for _, x := range all[:min(len(all), maxSources)] {
		on := x.on[0]
		if n := len(x.on) - 1; n > 0 {
			on += " and " + plural(n, "other")
		}
		s.text(1, themes.Text, x.Metric+"  on "+on)
		if text := measures(x.Meaning); text != "" {
			s.text(indent, themes.Warn, x.Signal.Title()+": "+text)
		}
	}
	s.more(len(all) - maxSources)
}

// maxSources bounds the names that are listed: a fleet of many versions has many.
const maxSources = 12

// called is what others call it.
func (s *sheet) called(t glossary.Topic) {
	if len(t.AlsoCalled) == 0 {
		return
	}
	s.rule("ALSO CALLED")
	for _, a := range t.AlsoCalled {
		s.text(1, themes.Text, a)
	}
}
