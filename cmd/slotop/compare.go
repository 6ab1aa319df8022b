package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slotop/model/compare"
	"slotop/model/fleet"
	"slotop/model/report"
)

// comparedForms are how a comparison may be printed.
var comparedForms = []string{"text", "markdown", "html", "json"}

func (a *app) compareCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Two tapes, or two marked stages of one: what differs by more than noise",
		Long: "Compares two stretches of load, workflow by workflow and figure by figure, and marks what\n" +
			"differs by more than the sampling error and the buckets of histograms allow. The rest is\n" +
			"called noise. A and B are tapes, stages of tapes (FILE.tape:NAME, or FILE.tape:#2), saved\n" +
			"pages, demo:… (played for 5 min), or the past of a Prometheus server, as in\n" +
			"prom+http://server:9090?from=03:00&to=03:20. One tape alone: its last two stages.\n\n" +
			"Exit code: 0 compared, 3 something that --fail-on names got worse, 4 nothing could be told,\n" +
			"1 could not run, 2 usage.",
		Example: "  slotop compare before.tape after.tape\n  slotop compare 'load.tape:10 users' 'load.tape:20 users'\n" +
			"  slotop compare --skip-warmup 1m --fail-on goodput,ttft main.tape branch.tape\n" +
			"  slotop compare -o html demo:S0 'demo:S4?at=0s' > S4.html",
		RunE: a.action(cobra.RangeArgs(1, 2), a.compare),
	}
	a.promiseFlag(c)
	a.pastFlags(c)
	f := c.Flags()
	f.StringVarP(&a.flags.output, "output", "o", comparedForms[0], "text, markdown, html or json")
	f.Var(span(&a.flags.forTime, time.Millisecond, maxFor), "for", "how far to go on each side (default: all of it; demo 5m)")
	f.Var(span(&a.flags.warmup, time.Millisecond, maxFor), "skip-warmup", "leave out that long at the beginning of each side; stages have their own")
	f.StringSliceVar(&a.flags.failOn, "fail-on", nil, "exit with 3 where one of these got worse: worse for any, or goodput, ttft, ttft.p95, …; a rate that is named must not fall")
	f.Var(span(&a.flags.every, minEvery, maxEvery), "every", "time between two saved pages (default 10s), or two points of a server's past")
	f.Var(span(&a.flags.window, fleet.MinWindow, fleet.MaxWindow), "window", "span of the rates that goodput is judged by (default: as recorded)")
	f.Var(columns(&a.flags.width), "width", "columns of the text (default: the terminal's, or 100)")
	f.BoolVar(&a.flags.ascii, "ascii", false, "write ASCII characters only")
	return c
}

func (a *app) compare(ctx context.Context, args []string) error {
	if !slices.Contains(comparedForms, a.flags.output) {
		return usageError(fmt.Errorf("-o %s: %s", a.flags.output, strings.Join(comparedForms, ", ")))
	}
	if err := checkFailOn(a.flags.failOn); err != nil {
		return err
	}
	ctx, stop := untilTold(ctx)
	defer stop()
	sides, err := a.stretches(ctx, args)
	if err != nil {
		return err
	}
	c := compare.Stages(sides[0].stage, sides[1].stage)
	c.Simulated = sides[0].simulated || sides[1].simulated
	c.Notes = append(c.Notes, warmups(sides)...)
	err = printed("comparison", func() error { return a.printCompared(&c) })
	if err != nil {
		return err
	}
	return a.comparedCode(ctx, &c)
}

// warmups says which sides begin with servers that had nothing to do: until queues and
// caches have filled they tell of less than the load.
func warmups(sides [2]stretch) []string {
	who := ""
	switch a, b := sides[0].idle, sides[1].idle; {
	case a && b:
		who = "A and B begin"
	case a:
		who = "A begins"
	case b:
		who = "B begins"
	default:
		return nil
	}
	return []string{who + " with idle servers: until they are warm is in the figures, and --skip-warmup leaves it out"}
}

func (a *app) comparedCode(ctx context.Context, c *compare.Comparison) error {
	if ctx.Err() != nil {
		return &withCode{code: exitInterrupted}
	}
	if bad := worse(c, a.flags.failOn); len(bad) > 0 {
		return &withCode{exitMissed, errors.New("worse: " + strings.Join(bad, ", "))}
	}
	if c.Compared == 0 {
		return &withCode{exitUntold, errors.New("not a figure could be compared")}
	}
	return nil
}

// anyFigure is the word for all of them.
const anyFigure = "worse"

func checkFailOn(names []string) error {
	for _, n := range names {
		if n != anyFigure && !slices.ContainsFunc(compare.Figures, func(f compare.Figure) bool { return covers(n, f.Key) }) {
			var keys []string
			for _, f := range compare.Figures {
				keys = append(keys, f.Key)
			}
			return usageError(fmt.Errorf("--fail-on %s: %s, or %s", n, anyFigure, strings.Join(keys, ", ")))
		}
	}
	return nil
}

// covers reports whether a name stands for a figure: its key, or what comes before the dot.
func covers(name, key string) bool {
	metric, _, _ := strings.Cut(key, ".")
	return name == anyFigure || name == key || name == metric
}

// fails reports whether a name asks for a row to fail. A rate that is named itself must
// not fall: whoever names it knows that the load was the same.
func fails(name string, r *compare.Row) bool {
	if !covers(name, r.Figure.Key) {
		return false
	}
	return r.Sense == compare.Worse || name == r.Figure.Key && r.Figure.Unit == compare.PerSecond && r.Verdict == compare.Lower
}

// worse lists what got worse of what was asked for.
func worse(c *compare.Comparison, names []string) []string {
	var out []string
	for i := range c.Workflows {
		w := &c.Workflows[i]
		for k := range w.Rows {
			r := &w.Rows[k]
			if slices.ContainsFunc(names, func(n string) bool { return fails(n, r) }) {
				out = append(out, strings.TrimSpace(w.Name+" "+r.Figure.Title+" "+r.ChangeText(asciiOnly())))
			}
		}
	}
	return out
}

// printCompared writes a comparison in the chosen form.
func (a *app) printCompared(c *compare.Comparison) (err error) {
	switch a.flags.output {
	case "json":
		return report.ComparedJSON(a.out, c)
	case "markdown":
		_, err = io.WriteString(a.out, report.ComparedPaper(c).Markdown())
	case "html":
		_, err = io.WriteString(a.out, report.ComparedPaper(c).HTML())
	default:
		opt := report.Options{Width: a.textWidth(), ASCII: a.flags.ascii || asciiOnly()}
		_, err = io.WriteString(a.out, report.ComparedText(c, opt))
	}
	return err
}
