package fleet

import (
	"slices"
	"strconv"
	"testing"

	"slotop/model"
)

// A server may name a model for each of its customers. To know them costs as much as
// to sort them: compared each with each, these would hold the screen up for minutes.
func TestManyServedNames(t *testing.T) {
	const names = 200_000
	target := &target{good: 1}
	for i := range 2 * names {
		labels := model.Labels(model.LabelModel, "m"+strconv.Itoa(i%names))
		target.cols.slots = append(target.cols.slots, &slot{key: key{labels: labels}, seen: 1})
	}
	got := target.servedNames()
	if len(got) != names || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != names {
		t.Errorf("%d names, of %d", len(got), names)
	}
}
