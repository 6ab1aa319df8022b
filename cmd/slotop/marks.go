package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slotop/model"
)

// A recording without a screen is marked by a plan, or by the script that makes the
// load: each line that it writes begins a stage.

// planned is a stage that begins so long after the first poll.
type planned struct {
	at   time.Duration
	name string
}

// plan is the stages that a flag names.
type plan struct{ stages []planned }

// Set implements pflag.Value.
func (p *plan) Set(s string) error {
	at, name, found := strings.Cut(s, "=")
	d, err := time.ParseDuration(at)
	if name = strings.TrimSpace(name); !found || err != nil || d < 0 || name == "" {
		return errors.New("write when it begins and its name, such as 2m='20 users'")
	}
	p.stages = append(p.stages, planned{d, name})
	slices.SortStableFunc(p.stages, func(a, b planned) int { return cmp.Compare(a.at, b.at) })
	return nil
}

// String implements pflag.Value.
func (p *plan) String() string { return "" }

// Type implements pflag.Value.
func (p *plan) Type() string { return "time=name" }

// markFlags let a command mark stages.
func (a *app) markFlags(c *cobra.Command) {
	c.Flags().Var(&a.flags.plan, "stage", "begin a stage so long after the first poll, such as 2m='20 users'; repeatable")
	c.Flags().StringVar(&a.flags.stagesFrom, "stages-from", "", "begin a stage at each line of this file, a pipe or - for standard input, named by the line")
}

// waitingLines bounds the lines that wait for the next poll to be marked: a script that
// writes faster than that has no stages.
const waitingLines = 64

// marked puts the marks between the inputs, which are emitted one at a time.
func (a *app) marked(emit func(model.Input)) (func(model.Input), error) {
	left := slices.Clone(a.flags.plan.stages)
	lines, err := a.stageLines()
	if err != nil {
		return nil, err
	}
	if len(left) == 0 && lines == nil {
		return emit, nil
	}
	begun, start := false, time.Duration(0)
	return func(in model.Input) {
		if !begun {
			begun, start = true, in.At.Mono
		}
		for len(left) > 0 && in.At.Mono-start >= left[0].at {
			emit(model.Input{At: in.At, Mark: left[0].name})
			left = left[1:]
		}
		for more := true; more; {
			select {
			case line, open := <-lines:
				switch more = open; {
				case !open:
					lines = nil
				case line.err != nil:
					fmt.Fprintf(a.err, "slotop: --stages-from: %v: no further stage is read\n", line.err)
				default:
					emit(model.Input{At: in.At, Mark: line.name})
				}
			default:
				more = false
			}
		}
		emit(in)
	}, nil
}

// stageLine is a stage's name, or why no more of them are read.
type stageLine struct {
	name string
	err  error
}

// stageLines reads names of stages as they are written, nil where nobody writes any.
func (a *app) stageLines() (<-chan stageLine, error) {
	var from io.ReadCloser = a.in
	switch a.flags.stagesFrom {
	case "":
		return nil, nil
	case "-":
	default:
		// A pipe opens once somebody writes: nothing waits for that.
		f, err := os.OpenFile(a.flags.stagesFrom, os.O_RDWR, 0)
		if err != nil {
			if f, err = os.Open(a.flags.stagesFrom); err != nil {
				return nil, usageError(fmt.Errorf("--stages-from: %w", err))
			}
		}
		from = f
	}
	lines := make(chan stageLine, waitingLines)
	go func() {
		defer close(lines)
		defer func() { _ = from.Close() }()
		scan := bufio.NewScanner(from)
		for scan.Scan() {
			if name := strings.TrimSpace(scan.Text()); name != "" {
				lines <- stageLine{name: name}
			}
		}
		if err := scan.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = errors.New("a line is over 64 KiB long")
			}
			lines <- stageLine{err: err}
		}
	}()
	return lines, nil
}
