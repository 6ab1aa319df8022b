package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// bounded is a flag that refuses what lies outside its range when it is given,
// so that no such value silently becomes a default.
type bounded[T int | int64 | float64 | time.Duration] struct {
	to          *T
	least, most T
	parse       func(string) (T, error)
	kind        string
}

var (
	_ pflag.Value = bounded[time.Duration]{}
	_ pflag.Value = bounded[float64]{}
)

// Set implements pflag.Value.
func (b bounded[T]) Set(s string) error {
	v, err := b.parse(s)
	if err != nil {
		return fmt.Errorf("not a %s", b.kind)
	}
	if !(v >= b.least && v <= b.most) { // NaN too
		return fmt.Errorf("from %v to %v", b.least, b.most)
	}
	*b.to = v
	return nil
}

// String implements pflag.Value. Zero is "not given": it has no text, or the help
// would call it the default.
func (b bounded[T]) String() string {
	if b.to == nil || *b.to == 0 {
		return ""
	}
	return fmt.Sprint(*b.to)
}

// Type implements pflag.Value.
func (b bounded[T]) Type() string { return b.kind }

func span(to *time.Duration, least, most time.Duration) bounded[time.Duration] {
	return bounded[time.Duration]{to, least, most, time.ParseDuration, "duration"}
}

func factor(to *float64, least, most float64) bounded[float64] {
	return bounded[float64]{to, least, most, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, "number"}
}

func columns(to *int) bounded[int] {
	return bounded[int]{to, 20, 1000, strconv.Atoi, "number"}
}

func atLeast(to *int) bounded[int] {
	return bounded[int]{to, 1, math.MaxInt32, strconv.Atoi, "number"}
}

func size(to *int64) bounded[int64] {
	return bounded[int64]{to, 1 << 10, math.MaxInt64, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }, "number"}
}

// openRegular opens a file to read. A pipe or a device would hold the program, or
// never end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}
