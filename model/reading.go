package model

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Instant is one stamp from two clocks. People read Wall; the core subtracts
// only Mono, so a stepped system clock cannot invent a rate and a replay does
// not depend on today. The zero Instant means "never".
type Instant struct {
	Wall time.Time
	Mono time.Duration
}

// IsZero reports whether the instant was never set.
func (i Instant) IsZero() bool { return i.Wall.IsZero() && i.Mono == 0 }

// Sub is the time from earlier to i on the monotonic clock.
func (i Instant) Sub(earlier Instant) time.Duration { return i.Mono - earlier.Mono }

// Add moves both clocks of i by d.
func (i Instant) Add(d time.Duration) Instant {
	return Instant{Wall: i.Wall.Add(d), Mono: i.Mono + d}
}

// MarshalJSON writes the wall time as RFC 3339 in UTC, or null for "never".
func (i Instant) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(i.Wall.UTC())
}

// Presence says why a Reading has a value, or has none.
type Presence uint8

// The five states of a reading. They are never folded into one another: nothing
// asked yet, a value, a value too old to act on, a signal this server does not
// export, and a signal it exports that saw no event in the window.
const (
	Unknown Presence = iota
	Present
	Stale
	Unsupported
	NoTraffic
)

// String is the word a person reads when there is no number to show.
func (p Presence) String() string {
	switch p {
	case Present:
		return "present"
	case Stale:
		return "stale"
	case Unsupported:
		return "not exported"
	case NoTraffic:
		return "no samples"
	default:
		return "no data"
	}
}

// Reading is a number that may not exist. Its zero value is Unknown, never 0.
type Reading struct {
	Value float64
	State Presence
}

// Of is a present reading of v. NaN and infinities are not numbers anyone can
// act on: they become Unknown.
func Of(v float64) Reading {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Reading{}
	}
	return Reading{Value: v, State: Present}
}

// Missing is a reading without a number, for the given reason.
func Missing(why Presence) Reading { return Reading{State: why} }

// Get is the value and whether it may be used.
func (r Reading) Get() (float64, bool) { return r.Value, r.State == Present }

// OK reports whether the reading has a usable value.
func (r Reading) OK() bool { return r.State == Present }

// Plus adds two readings. A side without a value makes the sum that side: a
// total over something unknown is unknown.
func (r Reading) Plus(o Reading) Reading {
	if !r.OK() {
		return r
	}
	if !o.OK() {
		return o
	}
	return Of(r.Value + o.Value)
}

// MarshalJSON writes the number, or null where there is none to act on.
func (r Reading) MarshalJSON() ([]byte, error) {
	if !r.OK() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, r.Value, 'g', -1, 64), nil
}

// UnmarshalJSON reads a number, or null as Unknown.
func (r *Reading) UnmarshalJSON(b []byte) error {
	*r = Reading{}
	if string(b) == "null" {
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return err
	}
	*r = Of(v)
	return nil
}

// Estimate is a quantile with what is known of its error. Value lies in
// (Lo, Hi]; with Open it is beyond the last finite bucket: then only Lo is
// known. Enough says that n suffices for a two-sided 95 % interval.
// The zero Estimate means that there is none.
type Estimate struct {
	Value  Reading `json:"value"`
	Lo     Reading `json:"lo"`
	Hi     Reading `json:"hi"`
	Open   bool    `json:"open"`
	Enough bool    `json:"enough"`

	// Seen: Value was read off single observations. It needs no bracket; Lo and Hi
	// say how well the observations stand for others.
	Seen bool `json:"-"`
}

// Exists reports whether anything at all is known of the quantile.
func (e Estimate) Exists() bool { return e.Lo.OK() || e.Value.OK() }

// MarshalJSON writes null for an estimate that does not exist.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if !e.Exists() {
		return []byte("null"), nil
	}
	type plain Estimate
	return json.Marshal(plain(e))
}

// Share is the part of observations at or below a bound, 0–1: exact when Lo and
// Hi are equal, an interval where the bound lies between two buckets. Point is
// the best single guess. The zero Share means that there is none.
type Share struct {
	Lo    Reading `json:"lo"`
	Hi    Reading `json:"hi"`
	Point Reading `json:"point"`
}

// MarshalJSON writes null for a share that does not exist.
func (s Share) MarshalJSON() ([]byte, error) {
	if !s.Lo.OK() && !s.Hi.OK() {
		return []byte("null"), nil
	}
	type plain Share
	return json.Marshal(plain(s))
}

// Fidelity says how much of a merged histogram survived the merge.
type Fidelity uint8

// Exact: the bucket bounds agreed. Coarse: only the common bounds were kept.
const (
	Exact Fidelity = iota
	Coarse
)

// String names the fidelity.
func (f Fidelity) String() string {
	if f == Coarse {
		return "coarse"
	}
	return "exact"
}
