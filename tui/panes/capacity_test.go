package panes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"slotop/model"
	"slotop/tui/layout"
)

// Of very many pools the fullest are told of in full and each of the others in a line,
// none wider than the screen.
func TestManyPoolsHaveALineEach(t *testing.T) {
	const pools = 201
	f := &model.Frame{}
	for i := range pools {
		c := model.CapacityView{Pool: fmt.Sprintf("pool-%03d-%s", i, strings.Repeat("東京", 12)), Targets: []string{"a"}, Workflows: []string{"w"}}
		if i%2 == 0 {
			c.Load, c.More = model.Of(1.2-float64(i)/pools), model.Of(float64(i)/10)
		}
		f.Capacity = append(f.Capacity, c)
	}
	for _, w := range []int{40, 80, 120, 200} {
		page := capacityPage(f, w, Look{})
		for i := poolsInFull; i < pools; i++ {
			name := fmt.Sprintf("pool-%03d", i)
			if n := strings.Count(strings.Join(page, "\n"), name); n != 1 {
				t.Fatalf("at %d columns %s stands %d times", w, name, n)
			}
		}
		for _, l := range page {
			if got := ansi.StringWidth(l); got > w {
				t.Errorf("%d cells at %d columns: %q", got, w, l)
			}
		}
		if w == 80 {
			t.Log("\n" + strings.Join(page[len(page)-4:], "\n"))
		}
	}
	if n := (Capacity{}).Scroll(f, layout.Size{W: 80, H: 22}, Look{}); n < pools-poolsInFull {
		t.Errorf("it scrolls by %d lines", n)
	}
}

// TestRoomUpToWhatBinds: the headroom that is shown never promises more than the
// sentence above it, which ends where the first thing binds.
func TestRoomUpToWhatBinds(t *testing.T) {
	for more, want := range map[float64]string{
		4.5: "you can add 4.5 req/s of this mix, 45 % more", 2: "you can add 2.0 req/s of this mix, 20 % more, up to what binds first",
		-3: "none: take away 3.0 req/s of this mix to reach what binds first",
	} {
		c := model.CapacityView{Pool: "p", Load: model.Of(0.48), Rate: model.Of(10), Headroom: model.Of(0.45), More: model.Of(more)}
		page := ansi.Strip(strings.Join(capacityPage(&model.Frame{Capacity: []model.CapacityView{c}}, 120, Look{}), "\n"))
		if !strings.Contains(page, want+"\n") && !strings.Contains(page, want+" ") {
			t.Errorf("%v more of 10: want %q in\n%s", more, want, page)
		}
	}
}

// TestBurnIsExplainedOverItsSpan: before a whole hour is seen the burn of the longest
// stretch stands there, and its mark names that stretch.
func TestBurnIsExplainedOverItsSpan(t *testing.T) {
	for topic, burn := range map[string]model.Burn{
		"burn.30m": {M2: model.Of(9), M5: model.Of(6.5), M30: model.Of(2.7)}, "burn.5m": {M2: model.Of(9), M5: model.Of(6.5)}, "burn.2m": {M2: model.Of(9)},
	} {
		f := &model.Frame{
			Workflows: []model.WorkflowView{{Name: "chat", Budget: &model.BudgetView{Burn: burn}}},
			Capacity:  []model.CapacityView{{Pool: "p", Workflows: []string{"chat"}}},
		}
		_, spots := Unmark(strings.Join(capacityPage(f, 120, Look{Spots: true}), "\n"))
		if !slices.ContainsFunc(spots, func(s Spot) bool { return s.About == About{topic, "chat"} }) {
			t.Errorf("no %s of chat among %v", topic, spots)
		}
	}
}
