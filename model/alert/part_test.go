package alert

import (
	"slices"
	"testing"
	"time"

	"slotop/model"
)

func TestPart(t *testing.T) {
	at := func(s int) model.Instant {
		return model.Instant{Wall: time.Unix(int64(s), 0), Mono: time.Duration(s) * time.Second}
	}
	down := func(target string, is Truth) Observation {
		return Observation{Rule: Rule{Name: "down", Severity: model.Warn, Hold: time.Minute}, Target: target, Truth: is, Text: "refused"}
	}
	text := func(c Crowd) string { return "targets down" }

	t.Run("an alert of its own is resolved at once, for good", func(t *testing.T) {
		b := NewBook()
		b.Observe(down("a", Yes), at(1))
		b.Observe(down("b", Yes), at(1))
		b.Settle(at(1))
		b.Part("a", at(2))
		b.Observe(down("b", Yes), at(2))
		b.Settle(at(2))
		b.Observe(down("b", Yes), at(3))
		b.Settle(at(3))
		got := b.Alerts(at(3))
		if len(got) != 2 || got[0].Target != "b" || got[0].State != model.AlertFiring {
			t.Fatalf("alerts %+v", got)
		}
		if got[1].Target != "a" || got[1].State != model.AlertResolved || got[1].Text != parted {
			t.Errorf("the alert of the target that went is %v %q, want resolved, %q", got[1].State, got[1].Text, parted)
		}
	})
	t.Run("a pending one was nothing", func(t *testing.T) {
		b := NewBook()
		o := down("a", Yes)
		o.Rule.For = time.Minute
		b.Observe(o, at(1))
		b.Settle(at(1))
		b.Part("a", at(2))
		b.Settle(at(2))
		if got := b.Alerts(at(2)); len(got) != 0 {
			t.Errorf("alerts %+v, want none", got)
		}
	})
	t.Run("a group goes on without it and ends with the last", func(t *testing.T) {
		b := NewBook()
		tick := func(s int, targets ...string) {
			var each []Observation
			for _, name := range targets {
				each = append(each, down(name, Yes))
			}
			for _, o := range b.Group(each, text, at(s)) {
				b.Observe(o, at(s))
			}
			b.Settle(at(s))
		}
		tick(1, "a", "b", "c")
		b.Part("a", at(2))
		tick(2, "b", "c")
		if got := b.Alerts(at(2)); len(got) != 1 || got[0].State != model.AlertFiring || !slices.Equal(got[0].Members, []string{"b", "c"}) {
			t.Fatalf("alerts %+v, want one group of b and c", got)
		}
		b.Part("b", at(3))
		b.Part("c", at(3))
		tick(3)
		if got := b.Alerts(at(3)); len(got) != 1 || got[0].State != model.AlertResolved {
			t.Errorf("alerts %+v, want the group resolved", got)
		}
	})
}
