package reel

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"slotop/model"
)

// fill makes a value of anything, down to some depth.
func fill(rng *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rng.Int64() >> (65 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(rng.Uint64() >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, math.Copysign(0, -1), 0.25, -1.5, math.Inf(1), 1 << 20}[rng.IntN(6)])
	case reflect.String:
		v.SetString([]string{"", "chat", "\x00\xff", "微调版本"}[rng.IntN(4)])
	case reflect.Pointer:
		if depth > 0 && rng.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if n := rng.IntN(4) - 1; n >= 0 && depth > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(rng, v.Index(i), depth-1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i), depth)
		}
	case reflect.Struct:
		if v.Type() == timeType {
			if rng.IntN(3) > 0 {
				v.Set(reflect.ValueOf(time.Unix(rng.Int64N(1<<33), rng.Int64N(1e9)).UTC()))
			}
			return
		}
		for i := range v.NumField() {
			fill(rng, v.Field(i), depth)
		}
	}
}

// TestPressKeepsEverything: whatever a frame holds, in every field that there is, is the
// same after it was packed, nil and empty apart.
func TestPressKeepsEverything(t *testing.T) {
	p := newPress()
	for seed := range uint64(60) {
		f := &model.Frame{}
		fill(rand.New(rand.NewPCG(seed, 2)), reflect.ValueOf(f).Elem(), 7)
		packed := p.pack(f)
		if got := p.unpack(packed); !reflect.DeepEqual(got, f) {
			t.Fatalf("seed %d: another frame", seed)
		}
	}
	f := &model.Frame{CoveredS: model.Reading{Value: math.NaN(), State: model.Stale}, At: model.Instant{Wall: time.Date(2026, 8, 1, 3, 14, 7, 9, time.FixedZone("", 3600))}}
	got := p.unpack(p.pack(f))
	if r := got.CoveredS; !math.IsNaN(r.Value) || r.State != model.Stale || !got.At.Wall.Equal(f.At.Wall) {
		t.Errorf("%+v", got)
	}
	if !p.unpack(p.pack(&model.Frame{})).At.IsZero() {
		t.Error("no time became some time")
	}
}

func BenchmarkPack(b *testing.B) {
	f := &model.Frame{Targets: make([]model.TargetView, 100)}
	fill(rand.New(rand.NewPCG(1, 2)), reflect.ValueOf(f.Targets), 6)
	p := newPress()
	b.ReportAllocs()
	for b.Loop() {
		p.pack(f)
	}
}
