package diagnose

import (
	"math/rand/v2"
	"testing"
)

func TestTheilSen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x, y []float64
	for range 400 {
		p := 200 + 3000*rng.Float64()
		wait := 0.0
		if rng.Float64() < 0.1 {
			wait = 20 // a tenth waited: they bend no median
		}
		x, y = append(x, p), append(y, 0.018+33e-6*p+0.002*rng.NormFloat64()+wait)
	}
	line, ok := TheilSen(x, y)
	if !ok || line.N != maxPoints {
		t.Fatalf("line %+v, ok %v", line, ok)
	}
	near(t, "slope", line.Slope, 33e-6, 2e-6)
	near(t, "intercept", line.Intercept, 0.018, 0.004)
	if line.Explains() {
		t.Errorf("R² %v explains what is mostly queueing", line.R2)
	}
}

func TestTheilSenRefuses(t *testing.T) {
	same, up := make([]float64, 80), make([]float64, 80)
	for i := range up {
		up[i] = float64(i)
	}
	if _, ok := TheilSen(up[:59], up[:59]); ok {
		t.Error("a line through 59 points")
	}
	if _, ok := TheilSen(same, up); ok {
		t.Error("a line through one x")
	}
	line, ok := TheilSen(up, same)
	if !ok || line.Slope != 0 || line.R2 != 0 {
		t.Errorf("flat: %+v, %v", line, ok)
	}
	if line, _ := TheilSen(up, up); line.R2 < 0.999 || line.Slope != 1 || line.Intercept != 0 || !line.Explains() {
		t.Errorf("straight: %+v", line)
	}
}

// A slope that explains little may grow by a third by chance: it did not.
func TestSteeper(t *testing.T) {
	before := Line{Slope: 10e-6, R2: 0.06, N: 150}
	for _, c := range []struct {
		name string
		now  Line
		want bool
	}{
		{"by a third, in noise", Line{Slope: 13e-6, R2: 0.06, N: 150}, false},
		{"as before", Line{Slope: 10e-6, R2: 0.9, N: 150}, false},
		{"four times", Line{Slope: 40e-6, R2: 0.6, N: 150}, true},
	} {
		if got := c.now.steeper(before); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	sharp := Line{Slope: 10e-6, R2: 0.9, N: 150}
	if !(Line{Slope: 13e-6, R2: 0.9, N: 150}).steeper(sharp) {
		t.Error("a third beyond all chance is steeper")
	}
}
