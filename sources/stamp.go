package sources

import (
	"time"

	"slotop/model"
)

// parseStamp reads a time as RFC 3339 writes it: 2026-08-01T12:00:00.010Z. A
// time before 1970 or after 2262 is none: programs write the first year for a
// time that was never set. It reports false for what is no time at all.
func parseStamp(b []byte) (model.Stamp, bool) {
	const form = "dddd-dd-ddTdd:dd:dd"
	if len(b) <= len(form) {
		return 0, false
	}
	for i, c := range []byte(form) {
		if c == 'd' && !isDigit(b[i]) || c != 'd' && b[i] != c {
			return 0, false
		}
	}
	two := func(at int) int { return int(b[at]-'0')*10 + int(b[at+1]-'0') }
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute, second := two(11), two(14), two(17)
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	nanos, rest := fraction(b[len(form):])
	offset, ok := zone(rest)
	if !ok {
		return 0, false
	}
	seconds := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC).Unix() - int64(offset)
	if seconds < 0 || seconds > lastStamp {
		return 0, true
	}
	return model.Stamp(seconds*1e9 + int64(nanos)), true
}

// lastStamp is the last whole second of which all nanoseconds fit into a stamp.
const lastStamp = (1<<63-1)/1_000_000_000 - 1

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func daysIn(year, month int) int {
	if month == 2 && (year%4 != 0 || year%100 == 0 && year%400 != 0) {
		return 28
	}
	return [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// fraction is the nanoseconds at the start of b, 0 without a fraction, and what
// comes after it. Digits beyond the ninth are read and not kept.
func fraction(b []byte) (nanos int, rest []byte) {
	if len(b) < 2 || b[0] != '.' || !isDigit(b[1]) {
		return 0, b
	}
	b = b[1:]
	for unit := 100_000_000; len(b) > 0 && isDigit(b[0]); unit /= 10 {
		nanos += int(b[0]-'0') * unit
		b = b[1:]
	}
	return nanos, b
}

// zone is the offset from UTC that b holds, in seconds.
func zone(b []byte) (seconds int, ok bool) {
	if string(b) == "Z" {
		return 0, true
	}
	if len(b) != len("+00:00") || b[0] != '+' && b[0] != '-' || b[3] != ':' {
		return 0, false
	}
	for _, i := range []int{1, 2, 4, 5} {
		if !isDigit(b[i]) {
			return 0, false
		}
	}
	hours, minutes := int(b[1]-'0')*10+int(b[2]-'0'), int(b[4]-'0')*10+int(b[5]-'0')
	seconds = hours*3600 + minutes*60
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, hours < 24 && minutes < 60
}
