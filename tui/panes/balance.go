package panes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"slotop/model"
	"slotop/model/unit"
)

// This file names imbalance: who of several alike carries how much more than its share,
// and of what. It is said only where it is larger than chance would make it: requests
// that are dealt out at random do not come out even either, and the unluckiest of many
// looks the worse the more there are.

// carrier is one of several alike: a target of a pool, or an engine inside a target.
type carrier struct {
	name                 string
	running, waiting, kv model.Reading
	ttft                 *model.Dist
}

// uneven is a carrier with more than its share, and of what.
type uneven struct {
	name  string
	facts []string
	by    float64 // how many times its share, the largest of all
}

// What imbalance must be beside larger than chance to be worth a word.
const (
	unevenFactor = 1.5  // times the fair share
	unevenQueue  = 8    // requests, of a queue or a batch that is worth speaking of
	unevenKV     = 0.25 // of the cache, above the mean of the others
	unevenTTFT   = 2    // times the middle one's
)

// beyondChance is how many standard deviations the largest of n may lie above the mean:
// the largest of n normal deviates lies near √(2·ln n), and two more make it rare.
func beyondChance(n int) float64 { return math.Sqrt(2*math.Log(float64(n))) + 2 }

// imbalances names all that carry more than their share, the worst first.
func imbalances(all []carrier, look Look) []uneven {
	out := make([]uneven, 0)
	add := func(i int, times float64, fact string) {
		if i < 0 {
			return
		}
		at := slices.IndexFunc(out, func(u uneven) bool { return u.name == all[i].name })
		if at < 0 {
			at = len(out)
			out = append(out, uneven{name: all[i].name})
		}
		out[at].facts = append(out[at].facts, fact)
		out[at].by = max(out[at].by, times)
	}
	add(crowded(all, func(c carrier) model.Reading { return c.waiting }, "holds %s of %s waiting", look))
	add(fullest(all))
	add(slowest(all, look))
	add(crowded(all, func(c carrier) model.Reading { return c.running }, "runs %s of %s", look))
	slices.SortStableFunc(out, func(a, b uneven) int { return cmp.Compare(b.by, a.by) })
	return out
}

// crowded finds the one with the most requests, where that are more than chance deals
// to the unluckiest. A queue feeds on itself: the one who is behind stays behind, so that
// its share must be large too.
func crowded(all []carrier, of func(carrier) model.Reading, text string, look Look) (at int, times float64, fact string) {
	n, total, most := 0, 0.0, -1
	for i, c := range all {
		v, ok := of(c).Get()
		if !ok {
			continue
		}
		n++
		total += v
		if most < 0 || v > of(all[most]).Value {
			most = i
		}
	}
	if n < 2 || total < unevenQueue {
		return -1, 0, ""
	}
	v, fair := of(all[most]).Value, total/float64(n)
	by := v / fair
	chance := fair + beyondChance(n)*math.Sqrt(fair*(1-1/float64(n)))
	if v <= chance || v < unevenQueue || by < unevenFactor {
		return -1, 0, ""
	}
	return most, by, fmt.Sprintf(text, samples(v), samples(total)) + ", " + unit.Multiple(by, look.ASCII) + " its share"
}

// fullest finds the one whose cache is fuller than those of the others, by more than the
// lengths of so many sequences differ by chance: their spread is about as large as their
// mean, so that a cache of B sequences varies by √(2/B).
func fullest(all []carrier) (at int, times float64, fact string) {
	n, total, most := 0, 0.0, -1
	for i, c := range all {
		v, ok := c.kv.Get()
		if !ok {
			continue
		}
		n++
		total += v
		if most < 0 || v > all[most].kv.Value {
			most = i
		}
	}
	if n < 2 {
		return -1, 0, ""
	}
	v := all[most].kv.Value
	others := (total - v) / float64(n-1)
	sequences, ok := all[most].running.Get()
	if !ok || sequences < 1 || others <= 0 {
		return -1, 0, ""
	}
	chance := others * beyondChance(n) * math.Sqrt(2/sequences)
	if v-others <= max(chance, unevenKV) || v < unevenFactor*others {
		return -1, 0, ""
	}
	return most, v / others, fmt.Sprintf("KV cache %s, the others %s", unit.Percent(v), unit.Percent(others))
}

// slowest finds the one whose TTFT lies above that of the middle one, with both
// brackets apart: within them chance and buckets decide.
func slowest(all []carrier, look Look) (at int, times float64, fact string) {
	var known []int
	for i, c := range all {
		if d := c.ttft; d != nil && d.P95.Exists() && d.P95.Enough && d.Basis != model.SinceStart {
			known = append(known, i)
		}
	}
	if len(known) < 2 {
		return -1, 0, ""
	}
	slices.SortStableFunc(known, func(a, b int) int { return cmp.Compare(upper(all[a].ttft).Value, upper(all[b].ttft).Value) })
	worst, middle := known[len(known)-1], known[(len(known)-1)/2]
	w, m := all[worst].ttft.P95, all[middle].ttft.P95
	if m.Open || !w.Lo.OK() || !m.Hi.OK() || m.Hi.Value <= 0 || w.Lo.Value < unevenTTFT*m.Hi.Value {
		return -1, 0, ""
	}
	return worst, w.Lo.Value / m.Hi.Value, fmt.Sprintf("TTFT p95 %s, the middle one %s", look.estimate(w), look.estimate(m))
}

// poolsOf groups the targets that serve the same models and answer, in the frame's
// order: only those can be compared.
func poolsOf(f *model.Frame) [][]carrier {
	var out [][]carrier
	at := map[string]int{}
	for i := range f.Targets {
		t := &f.Targets[i]
		if c := conditionOf(t); aside(t) || t.Kind == model.GatewayTarget || c != up && c != quiet && c != stalled {
			continue
		}
		key := strings.Join(t.Models, "\x00")
		n, ok := at[key]
		if !ok {
			n = len(out)
			at[key], out = n, append(out, nil)
		}
		out[n] = append(out[n], carrier{t.Name, t.Running, t.Waiting, t.KVCacheUsage, t.TTFT})
	}
	return out
}

// ranksOf is the engines inside a target.
func ranksOf(t *model.TargetView) []carrier {
	out := make([]carrier, len(t.Engines))
	for i, e := range t.Engines {
		out[i] = carrier{name: e.ID, running: e.Running, waiting: e.Waiting, kv: e.KVCacheUsage}
	}
	return out
}

// imbalance names in a sentence who carries more than its share, a target or an engine
// inside one, "" when the load is even.
func imbalance(f *model.Frame, look Look) string {
	var all []uneven
	for _, pool := range poolsOf(f) {
		all = append(all, imbalances(pool, look)...)
	}
	for i := range f.Targets {
		t := &f.Targets[i]
		if len(t.Engines) < 2 || conditionOf(t) == down || conditionOf(t) == stale {
			continue
		}
		for _, u := range imbalances(ranksOf(t), look) {
			u.name = t.Name + " engine " + u.name
			all = append(all, u)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b uneven) int { return cmp.Compare(b.by, a.by) })
	text := "uneven: " + all[0].name + " " + strings.Join(all[0].facts, "; ")
	if n := len(all) - 1; n > 0 {
		text += fmt.Sprintf("; %d more uneven", n)
	}
	return text
}
