package unit

import "math"

// Watts is a power in at most 6 cells: 480 W, 3.4 kW.
func Watts(w float64) string {
	return signed(w, func(w float64) string {
		if math.Round(w) < 1000 {
			return fixed(w, 0) + " W"
		}
		return scaled(w, 1000, []string{" kW", " MW", " GW"})
	})
}

// WattsOf is a power of its limit in one unit: 480/700 W.
func WattsOf(w, limit float64) string {
	if s := notNumber(w + limit); s != "" {
		return s
	}
	return fixed(w, 0) + "/" + fixed(limit, 0) + " W"
}

// Hertz is a clock in whole megahertz, as data sheets and drivers give it.
func Hertz(hz float64) string {
	return signed(hz, func(hz float64) string { return fixed(hz/1e6, 0) + " MHz" })
}

// Celsius is a temperature in whole degrees.
func Celsius(c float64, ascii bool) string {
	degree := " °C"
	if ascii {
		degree = " C"
	}
	return signed(c, func(c float64) string { return fixed(c, 0) + degree })
}

// BytesOf is a part of a memory in the unit of the whole, with as many decimals for
// both: 68/80 GiB, 1.5/8.0 GiB. What is more than nothing never reads as nothing.
func BytesOf(part, whole float64) string {
	if s := notNumber(part + whole); s != "" {
		return s
	}
	i, of := 0, math.Abs(whole)
	for of /= 1024; math.Round(of) >= 1024 && i < len(binary)-1; i++ {
		of /= 1024
	}
	decimals := 0
	if rounded(of, 1) < 10 {
		decimals = 1
	}
	held := part / math.Pow(1024, float64(i+1))
	text := fixed(held, decimals)
	if part > 0 && rounded(held, decimals) == 0 {
		text = "<" + fixed(math.Pow10(-decimals), decimals)
	}
	return text + "/" + fixed(of, decimals) + binary[i]
}

// Joules is an energy: 512 J, 3.6 MJ.
func Joules(j float64) string {
	return signed(j, func(j float64) string {
		if math.Round(j) < 1000 {
			return fixed(j, 0) + " J"
		}
		return scaled(j, 1000, []string{" kJ", " MJ", " GJ", " TJ"})
	})
}

// HertzOf is a clock of its highest in one unit: 1410/1980 MHz.
func HertzOf(hz, most float64) string {
	if s := notNumber(hz + most); s != "" {
		return s
	}
	return fixed(hz/1e6, 0) + "/" + Hertz(most)
}
