package expo

import (
	"errors"
	"math"
	"strconv"
	"unsafe"
)

// exactTens are the powers of ten that a float64 holds exactly.
var exactTens = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// maxExact is the largest mantissa that may be scaled: below it and within
// exactTens one multiplication or division rounds once, so the result is the
// one that strconv gives.
const maxExact = 1 << 53

// quickFloat reads a plain decimal number at the start of b and says how many
// bytes it took. It takes none where the number is not plain, could be rounded
// wrongly, or does not end at a blank or a line's end: number decides then.
func quickFloat(b []byte) (value float64, n int) {
	i := 0
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		i = 1
	}
	var mantissa uint64
	first := i
	for i < len(b) && b[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		i++
	}
	digits, exponent := i-first, 0
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for i < len(b) && b[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			i++
		}
		exponent = point - i
		digits -= exponent
	}
	// Up to 19 digits cannot have overflowed the mantissa.
	if digits == 0 || digits > 19 || mantissa > maxExact {
		return 0, 0
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		e, size := shortExponent(b[i+1:])
		if size == 0 {
			return 0, 0
		}
		i += 1 + size
		exponent += e
	}
	if i >= len(b) || !endsToken(b[i]) || exponent > 22 || exponent < -22 {
		return 0, 0
	}
	value = float64(mantissa)
	if exponent < 0 {
		value /= exactTens[-exponent]
	} else if exponent > 0 {
		value *= exactTens[exponent]
	}
	if negative {
		value = -value
	}
	return value, i
}

// shortExponent reads the digits after an e. Python pads them with a zero:
// 2.4804184064e+010.
func shortExponent(b []byte) (value, n int) {
	i := 0
	negative := len(b) > 0 && b[0] == '-'
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		i = 1
	}
	first := i
	for i < len(b) && i-first < 4 && b[i]-'0' <= 9 {
		value = value*10 + int(b[i]-'0')
		i++
	}
	if i == first {
		return 0, 0
	}
	if negative {
		value = -value
	}
	return value, i
}

func endsToken(c byte) bool { return c == '\n' || c == ' ' || c == '\t' || c == '\r' }

var errFloat = errors.New("not a number")

// number reads one whole token the way expfmt does, which is strconv's way
// without underscores and hexadecimal exponents, and also takes the signed NaN
// that C prints.
func number(token []byte) (float64, error) {
	if len(token) == 0 || !numeric(token) {
		return 0, errFloat
	}
	if (token[0] == '-' || token[0] == '+') && len(token) == 4 && isNaN(token[1:]) {
		return math.NaN(), nil
	}
	// The string lives for this call only, and ParseFloat keeps no part of it.
	v, err := strconv.ParseFloat(unsafe.String(&token[0], len(token)), 64)
	if err != nil {
		return 0, errFloat
	}
	return v, nil
}

// numeric is whether a token has the letters of a number only. strconv would
// find out as well, but it allocates an error each time, and a bad line comes
// back with every page.
func numeric(token []byte) bool {
	for _, c := range token {
		switch c {
		case '+', '-', '.', 'e', 'E', 'i', 'I', 'n', 'N', 'f', 'F', 'a', 'A', 't', 'T', 'y', 'Y':
		default:
			if c-'0' > 9 {
				return false
			}
		}
	}
	return true
}

func isNaN(b []byte) bool {
	return b[0]|0x20 == 'n' && b[1]|0x20 == 'a' && b[2]|0x20 == 'n'
}
