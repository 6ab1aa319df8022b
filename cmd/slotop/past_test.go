package main

import (
	"strings"
	"testing"
	"time"
)

func TestMoment(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 3, 29, 10, 30, 0, 0, zone)
	for s, want := range map[string]string{
		"now":                       "2026-03-29T10:30:00+01:00",
		"-2h":                       "2026-03-29T08:30:00+01:00",
		"-90s":                      "2026-03-29T10:28:30+01:00",
		"03:07":                     "2026-03-29T03:07:00+01:00",
		"10:30":                     "2026-03-29T10:30:00+01:00",
		"22:15:30":                  "2026-03-28T22:15:30+01:00",
		"2026-03-01":                "2026-03-01T00:00:00+01:00",
		"2026-03-01 12:00":          "2026-03-01T12:00:00+01:00",
		"2026-03-01T12:00:00":       "2026-03-01T12:00:00+01:00",
		"2026-03-01T12:00:00Z":      "2026-03-01T12:00:00Z",
		"2026-03-01T12:00:00+05:30": "2026-03-01T12:00:00+05:30",
		"1772366400.5":              "2026-03-01T12:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339, want)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := moment(s, now); !ok || !got.Truncate(time.Second).Equal(at) {
			t.Errorf("%q is %v, want %s", s, got, want)
		}
	}
	for _, s := range []string{"", "yesterday", "-", "--2h", "25:00", "2h", "12", "2026-13-01", "1e300", "NaN", "0001-01-01T00:00:00Z", "-2000000h"} {
		if got, ok := moment(s, now); ok {
			t.Errorf("%q is taken for %v", s, got)
		}
	}
}

func TestSpanOfThePast(t *testing.T) {
	now := time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		from, to time.Time
		ok       bool
		says     string
	}{
		{"none", time.Time{}, time.Time{}, false, ""},
		{"until now", now.Add(-time.Hour), time.Time{}, true, ""},
		{"both", now.Add(-time.Hour), now.Add(-time.Minute), true, ""},
		{"no beginning", time.Time{}, now, false, "--from"},
		{"the wrong way round", now.Add(-time.Minute), now.Add(-time.Hour), false, "not before"},
		{"the future", now.Add(time.Hour), now.Add(2 * time.Hour), false, "future"},
	} {
		f := flags{from: c.from, until: c.to}
		_, to, ok, err := f.span(now)
		if ok != c.ok || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: ok %v, error %v", c.name, ok, err)
		}
		if ok && c.to.IsZero() && !to.Equal(now) {
			t.Errorf("%s: it ends at %v", c.name, to)
		}
	}
}
