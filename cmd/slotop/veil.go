package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"slotop/model/unit"
)

// veil keeps values from the environment out of messages, however a message
// quotes them: what they stand for is shown instead.
type veil struct {
	values []veiled
}

type veiled struct{ value, ref string }

// shortValue is the length below which a value may be any word of a message that
// has nothing to do with it.
const shortValue = 6

// add hides a value, shown as the reference to it. An empty one would be found
// everywhere.
func (v *veil) add(value, ref string) {
	if value == "" {
		return
	}
	quoted := strconv.Quote(value)
	forms := []string{value, quoted[1 : len(quoted)-1], unit.Escape(value, false), unit.Escape(value, true)}
	for _, form := range forms {
		forms = append(forms, strings.Join(strings.Fields(form), " "))
	}
	for _, form := range forms {
		if form != "" {
			v.values = append(v.values, veiled{form, ref})
		}
	}
}

// over is a text without the values of so many bytes at least.
func (v *veil) over(text string, least int) string {
	// The longest first: one value may begin with another.
	slices.SortStableFunc(v.values, func(a, b veiled) int { return cmp.Compare(len(b.value), len(a.value)) })
	for _, x := range v.values {
		if len(x.value) >= least {
			text = strings.ReplaceAll(text, x.value, x.ref)
		}
	}
	return text
}
