// Command slotop is a terminal monitor for LLM inference serving: top for the
// promises an LLM service makes. This package is the edge: flags, files,
// signals, exit codes, and the only clock and terminal the program has. It
// decides nothing about numbers.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// app is one run of the program.
type app struct {
	in     *os.File
	out    io.Writer
	err    io.Writer
	screen *os.File // out as a terminal to draw on
	flags  flags
	code   int
	veil   veil   // over what the configuration took from the environment
	notes  *notes // what a deployment tool writes; nil: none does
	follow bool   // somebody looks on: a file of events is watched as it grows

	commands []string
}

func run(args []string, in, out, errOut *os.File) int {
	// Libraries that log would write over the screen; what matters reaches us as errors.
	log.SetOutput(io.Discard)
	a := &app{in: in, out: out, err: errOut, screen: out}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	// The library would ask the terminal its colour before it prints an error,
	// and wait for seconds where none answers; so it gets none to print.
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		a.code = a.finish(usageError(fmt.Errorf("%w; see %s --help", err, c.CommandPath())))
		return nil
	})
	err := fang.Execute(context.Background(), root, fang.WithVersion(version()), fang.WithoutCompletions(), fang.WithoutManpage())
	if err != nil {
		return exitUsage
	}
	return a.code
}

// action runs a command's body with arguments of a number that fits it. Errors
// are printed here, in one line each, and become the exit code.
func (a *app) action(fits cobra.PositionalArgs, body func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if err := fits(c, args); err != nil {
			err = usageError(fmt.Errorf("%s: %w; see %s --help", c.Name(), err, c.CommandPath()))
			a.code = a.finish(err)
			return nil
		}
		err := a.flags.pastOfTapes(args)
		if err == nil {
			err = body(c.Context(), args)
		}
		a.code = a.finish(err)
		a.tellNotes()
		return nil
	}
}

// withCode is an error that already knows the exit code.
type withCode struct {
	code int
	err  error
}

func (e *withCode) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *withCode) Unwrap() error { return e.err }

func usageError(err error) error { return &withCode{exitUsage, err} }
