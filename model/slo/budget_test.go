package slo

import (
	"testing"

	"slotop/model"
)

func same(a, b model.Reading) bool {
	return a.OK() == b.OK() && (!a.OK() || a.Value-b.Value < 1e-9 && b.Value-a.Value < 1e-9)
}

func TestBudget(t *testing.T) {
	const day = 24 * 3600
	none := model.Reading{}
	for _, tt := range []struct {
		name                 string
		b                    Budget
		burn                 model.Reading
		allowed              float64
		remaining, exhausted model.Reading
	}{
		{"half gone", Budget{.95, day, 1000, 25}, model.Of(2), 50, model.Of(.5), model.Of(day / 4)},
		{"overspent", Budget{.95, day, 1000, 75}, model.Of(2), 50, model.Of(-.5), model.Of(0)},
		{"untouched", Budget{.95, day, 1000, 0}, model.Of(0), 50, model.Of(1), none},
		{"no traffic", Budget{.95, day, 0, 0}, model.Of(1), 0, none, none},
		{"nothing is known of now", Budget{.95, day, 1000, 25}, none, 50, model.Of(.5), none},
	} {
		near(t, tt.name, tt.b.Allowed(), tt.allowed, 1e-9)
		if r := tt.b.Remaining(); !same(r, tt.remaining) {
			t.Errorf("%s: remaining %+v", tt.name, r)
		}
		if e := tt.b.ExhaustedIn(tt.burn); !same(e, tt.exhausted) {
			t.Errorf("%s: exhausted in %+v", tt.name, e)
		}
	}
}

func TestDeadline(t *testing.T) {
	none := model.Reading{}
	for _, tt := range []struct {
		name                  string
		remaining, rate, left model.Reading
		needs                 model.Reading
		want                  model.Verdict
	}{
		{"in time", model.Of(600), model.Of(1), model.Of(900), model.Of(600), model.Met},
		{"to the second", model.Of(900), model.Of(1), model.Of(900), model.Of(900), model.Met},
		{"too slow", model.Of(600), model.Of(.5), model.Of(900), model.Of(1200), model.Missed},
		{"nothing moves", model.Of(600), model.Of(0), model.Of(900), none, model.Missed},
		{"past it", model.Of(1), model.Of(1), model.Of(-5), model.Of(1), model.Missed},
		{"done", model.Of(0), none, model.Of(900), model.Of(0), model.Met},
		{"how much remains is not known", none, model.Of(1), model.Of(900), none, model.CannotCompute},
		{"the rate is not known", model.Of(600), none, model.Of(900), none, model.CannotCompute},
		{"it has not begun", model.Of(600), model.Of(1), none, model.Of(600), model.CannotCompute},
	} {
		needs, got := Deadline(tt.remaining, tt.rate, tt.left)
		if got != tt.want || !same(needs, tt.needs) {
			t.Errorf("%s: %s, needs %+v", tt.name, got, needs)
		}
	}
}

func TestLittleWait(t *testing.T) {
	none := model.Reading{}
	for _, tt := range []struct{ waiting, rate, want model.Reading }{
		{model.Of(20), model.Of(7), model.Of(20. / 7)},
		{model.Of(0), model.Of(0), model.Of(0)},
		{model.Of(0), none, model.Of(0)},
		{model.Of(7), model.Of(0), none}, // a wait without end is no number
		{model.Of(7), none, none},
		{none, model.Of(7), none},
	} {
		if got := LittleWait(tt.waiting, tt.rate); !same(got, tt.want) {
			t.Errorf("%+v over %+v: %+v", tt.waiting, tt.rate, got)
		}
	}
}

func TestTimeToBreach(t *testing.T) {
	none := model.Reading{}
	for _, tt := range []struct {
		name                             string
		waiting, arrivals, served, bound float64
		want                             model.Reading
	}{
		{"it grows", 20, 9, 7, 5, model.Of(7.5)},
		{"it is there", 40, 9, 7, 5, model.Of(0)},
		{"it is there, though the queue shrinks", 40, 6, 7, 5, model.Of(0)},
		{"it shrinks", 20, 6, 7, 5, none},
		{"it stands", 20, 7, 7, 5, none},
		{"nobody waits and nobody comes", 0, 0, 0, 5, none},
		{"nothing is served", 3, 1, 0, 5, model.Of(0)},
	} {
		if got := TimeToBreach(tt.waiting, tt.arrivals, tt.served, tt.bound); !same(got, tt.want) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
