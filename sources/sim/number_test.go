package sim

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestNumbersAsThePythonClientWritesThem(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", 12218: "12218.0", 0.3: "0.3", 999999: "999999.0", 999999.5: "999999.5",
		1e6: "1e+06", 1.140876e6: "1.140876e+06", 57351109: "5.7351109e+07", 1048576: "1.048576e+06",
		28734423040: "2.873442304e+010", 2.574942208e9: "2.574942208e+09",
		1779954150.4371033: "1.7799541504371033e+09", 1779954082.51: "1.77995408251e+09",
		16455.313930511475: "16455.313930511475", 0.0010731999936979264: "0.0010731999936979264",
		0.0001: "0.0001", 0.00001: "1e-05", 1.5e-7: "1.5e-07", 1e16: "1e+16", 2560: "2560.0",
		1e15: "1e+015", -2: "-2.0", -2.5e6: "-2500000.0",
		math.Inf(1): "+Inf", math.Inf(-1): "-Inf",
	} {
		if got := string(appendNumber(nil, v)); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
	if got := string(appendNumber([]byte("x "), math.NaN())); got != "x NaN" {
		t.Errorf("NaN: got %s", got)
	}
}

// pythonNumber follows prometheus_client.utils.floatToGoString step by step.
func pythonNumber(v float64) string {
	repr := strconv.FormatFloat(v, 'f', -1, 64)
	if abs := math.Abs(v); v != 0 && (abs < 1e-4 || abs >= 1e16) {
		repr = strconv.FormatFloat(v, 'e', -1, 64)
	} else if !strings.Contains(repr, ".") {
		repr += ".0"
	}
	dot := strings.IndexByte(repr, '.')
	if v > 0 && dot > 6 {
		mantissa := strings.TrimRight(repr[:1]+"."+repr[1:dot]+repr[dot+1:], "0.")
		return mantissa + "e+0" + strconv.Itoa(dot-1)
	}
	return repr
}

func FuzzNumber(f *testing.F) {
	for _, v := range []float64{1, 1e6, 123456789.125, 1e15 + 0.5, 99999.99, 1e-5, 3e-4, 9007199254740993} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
			t.Skip("spelled out in the table")
		}
		got := string(appendNumber(nil, v))
		if want := pythonNumber(v); got != want {
			t.Fatalf("%v: got %s, want %s", v, got, want)
		}
		if back, err := strconv.ParseFloat(got, 64); err != nil || back != v {
			t.Fatalf("%s reads back as %v, %v", got, back, err)
		}
	})
}
