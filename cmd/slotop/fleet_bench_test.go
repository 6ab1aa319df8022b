package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/sources"
)

// The large fleet: a process of its own serves the pages of a thousand engines,
// so that what is counted here is the watcher alone.

// fleetServer, set in the environment, makes TestServeFleet serve.
const fleetServer = "SLOTOP_TEST_FLEET"

// BenchmarkFleet watches fleets for some seconds each, screen aside, and says
// what that costs. The budgets, for a thousand engines of 34 KB: cpu-% 15 at 5 s
// and 80 at 1 s, rss-MB 250, late-ms-max 250, first-frame-ms 500.
func BenchmarkFleet(b *testing.B) {
	for _, w := range []fleetWatch{
		{name: "1000x5s", targets: 1000, every: 5 * time.Second, lasts: 17 * time.Second},
		{name: "1000x1s", targets: 1000, every: time.Second, lasts: 12 * time.Second},
		{name: "1000x5s-apart", targets: 1000, every: 5 * time.Second, lasts: 17 * time.Second, apart: true},
		{name: "100x2s", targets: 100, every: 2 * time.Second, lasts: 9 * time.Second},
	} {
		b.Run(w.name, func(b *testing.B) {
			for range b.N {
				w.run(b)
			}
		})
	}
}

// fleetWatch is one fleet and how it is watched.
type fleetWatch struct {
	name    string
	targets int
	every   time.Duration
	lasts   time.Duration
	apart   bool // no two pages have a series in common

	core   *core
	starts [][]time.Time // of each target's polls
	begun  time.Time
	first  time.Duration // to the first frame with a row …
	rows   time.Duration // … and to that in which every target has one
	failed int
}

// settling is how long the start may disturb what is measured.
const settling = 4 * time.Second

func (w fleetWatch) run(b *testing.B) {
	opened := w.open(b)
	var err error
	w.core, err = newCore(fleet.Config{Targets: targetsOf(opened), Every: w.every})
	if err != nil {
		b.Fatal(err)
	}
	debug.FreeOSMemory()
	ctx, cancel := context.WithTimeout(b.Context(), w.lasts)
	defer cancel()
	w.begun = time.Now()
	steady := time.AfterFunc(settling, w.count)
	defer steady.Stop()
	if err := sources.Run(ctx, opened, sources.RunOptions{Every: w.every}, w.take); err != nil {
		b.Fatal(err)
	}
	w.report(b)
}
