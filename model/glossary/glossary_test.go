package glossary

import (
	"slices"
	"strings"
	"testing"

	"slotop/model"
)

func TestTopicsAreWhole(t *testing.T) {
	seen, begun, group := map[string]bool{}, map[string]bool{}, ""
	for _, topic := range All() {
		if seen[topic.Key] || topic.Key == "" {
			t.Errorf("key %q twice, or none", topic.Key)
		}
		seen[topic.Key] = true
		for what, text := range map[string]string{"name": topic.Name, "is": topic.Is, "measured": topic.Measured, "formula": topic.Formula} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: no %s", topic.Key, what)
			}
		}
		for what, text := range map[string]string{"is": topic.Is, "measured": topic.Measured, "misleads": topic.Misleads} {
			if text != "" && !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s is no sentence: %s", topic.Key, what, text)
			}
		}
		if topic.Group != group && begun[topic.Group] || topic.Group == "" {
			t.Errorf("%s: group %q is not in one piece", topic.Key, topic.Group)
		}
		group, begun[topic.Group] = topic.Group, true
		for _, s := range topic.Signals {
			if !slices.ContainsFunc(model.Signals, func(i model.SignalInfo) bool { return i.Signal == s }) {
				t.Errorf("%s: no signal %q", topic.Key, s)
			}
		}
	}
}

func TestEverySignalHasATopic(t *testing.T) {
	for _, info := range model.Signals {
		if slices.Contains([]model.Signal{
			model.MaxRunning, model.ProcessStart, model.OutputLimit, model.SpecDraftTokens, model.KVCapacity, model.KVUsedTokens,
			model.ReportedHitRatio, model.ReportedQueueMean,
		}, info.Signal) {
			continue // no number of a workflow or target is one of them, or made of them alone
		}
		if !slices.ContainsFunc(All(), func(t Topic) bool { return slices.Contains(t.Signals, info.Signal) }) {
			t.Errorf("no topic rests on %s", info.Signal)
		}
	}
}

func TestEveryDeviceMetricHasATopic(t *testing.T) {
	for m := range model.NumDeviceMetrics {
		if topic, ok := Find(m.String()); !ok || topic.Name != m.Title() {
			t.Errorf("%s: %q, on screen %q", m, topic.Name, m.Title())
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ key, name, is string }{
		{"ttft", "TTFT, time to first token", "The time from when"},
		{"ttft.p95", "TTFT p95, time to first token", "95 of 100"},
		{"step.kv", "step: KV reads", "The part of a step"},
		{"goodput.n", "goodput (n)", "How many observations"},
	} {
		topic, ok := Find(c.key)
		if !ok || topic.Name != c.name || !strings.HasPrefix(topic.Is, c.is) || topic.Key != c.key {
			t.Errorf("%s: %v %q %q", c.key, ok, topic.Name, topic.Is)
		}
	}
	for _, key := range []string{"", "nothing", "ttft.p17", ".p95", "nothing.p95", "ttft."} {
		if topic, ok := Find(key); ok {
			t.Errorf("%q found %q", key, topic.Name)
		}
	}
}

// TestTextsWorkInASCII: every sign of a text has a stand-in, so that none comes out as an
// escape.
func TestTextsWorkInASCII(t *testing.T) {
	for _, topic := range All() {
		for _, text := range append(topic.AlsoCalled, topic.Name, topic.Is, topic.Measured, topic.Formula, topic.Misleads) {
			for _, r := range text {
				if r > 0x7e && !strings.ContainsRune("−–…×≤≥≈→·λρΔΣ", r) {
					t.Errorf("%s: %q in %q", topic.Key, r, text)
				}
			}
		}
	}
}
