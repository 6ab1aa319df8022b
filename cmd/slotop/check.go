package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/report"
	"slotop/model/slo"
	"slotop/model/tape"
	"slotop/sources"
)

// checkFor is how long live targets are judged unless told otherwise.
const checkFor = time.Minute

// verdictForms are how a check may be printed.
var verdictForms = []string{"text", "json", "junit", "markdown"}

func (a *app) checkCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check [TARGET...]",
		Short: "A gate for CI and load tests: the exit code is the verdict",
		Long: "Judges what each workflow was promised over --for, and prints a table of verdicts.\n" +
			"Saved pages, tapes, event files and the demo play on their own clock, without waiting,\n" +
			"and are judged over all they hold, tapes by what was promised when they were recorded.\n\n" +
			"Exit code: 0 all promises kept, 3 one broken, 4 could not tell (too little traffic, not\n" +
			"exported, no target answered), 1 could not run, 2 usage.",
		Example: "  slotop check --slo 'chat:ttft=500ms,tpot=50ms,95%' localhost:8000\n" +
			"  slotop check --for 10m --min-requests 1000 -o junit host:8000 > slo.xml\n" +
			"  slotop check -o markdown load-test.tape\n  slotop check --for 720s demo:S1",
		RunE: a.action(cobra.ArbitraryArgs, a.check),
	}
	a.pollFlags(c)
	a.pastFlags(c)
	a.promiseFlag(c)
	a.noteFlag(c)
	f := c.Flags()
	f.Lookup("window").Usage = "span of the verdict, up to the end (default: all of --for)"
	f.Var(span(&a.flags.forTime, time.Millisecond, maxFor), "for", "how long to judge (default 60s; what is saved: all of it)")
	f.StringVarP(&a.flags.output, "output", "o", verdictForms[0], "text, json, junit or markdown")
	f.StringArrayVar(&a.flags.only, "workflow", nil, "judge only workflows of this name, a glob; repeatable")
	f.Var(atLeast(&a.flags.minRequests), "min-requests", "a workflow with fewer cannot be told")
	f.Var(columns(&a.flags.width), "width", "columns of the text (default: the terminal's, or 100)")
	f.BoolVar(&a.flags.ascii, "ascii", false, "write ASCII characters only")
	return c
}

func (a *app) check(ctx context.Context, args []string) error {
	if !slices.Contains(verdictForms, a.flags.output) {
		return usageError(fmt.Errorf("-o %s: text, json, junit or markdown", a.flags.output))
	}
	ctx, stop := untilTold(ctx)
	defer stop()
	f, policy, err := a.checkFrame(ctx, args)
	if err != nil {
		return err
	}
	verdict := report.Judge(f, report.CheckOptions{
		Only: a.asked, Expected: named(policy), MinRequests: float64(a.flags.minRequests),
	})
	if err := printed("verdict", func() error { return a.printVerdict(verdict) }); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &withCode{code: exitInterrupted}
	case verdict.Outcome == report.CheckMet:
		return nil
	}
	code := exitUntold
	if verdict.Outcome == report.CheckMissed {
		code = exitMissed
	}
	return &withCode{code, errors.New(verdict.Sentence(asciiOnly()))}
}

// asked reports whether a workflow is to be judged.
func (a *app) asked(workflow string) bool {
	return len(a.flags.only) == 0 || slices.ContainsFunc(a.flags.only, func(glob string) bool { return slo.Glob(glob, workflow) })
}

// named are the workflows that must be seen: those called by a name.
func named(p model.Policy) []string {
	var names []string
	for _, w := range p.Workflows {
		if !isGlob(w.Name) {
			names = append(names, w.Name)
		}
	}
	return names
}

// printVerdict writes a check in the chosen form.
func (a *app) printVerdict(c *report.Check) (err error) {
	switch a.flags.output {
	case "json":
		return report.CheckJSON(a.out, c)
	case "junit":
		return report.CheckJUnit(a.out, c)
	case "markdown":
		_, err = io.WriteString(a.out, report.CheckMarkdown(c))
	default:
		opt := report.Options{Width: a.textWidth(), ASCII: a.flags.ascii || asciiOnly()}
		_, err = io.WriteString(a.out, report.CheckText(c, opt))
	}
	return err
}

// checkFrame is the frame to judge, whose window is all of what was polled or
// played, and what was promised.
func (a *app) checkFrame(ctx context.Context, args []string) (*model.Frame, model.Policy, error) {
	if len(args) == 1 && sources.IsTape(args[0]) {
		s, err := a.settings()
		if err != nil {
			return nil, model.Policy{}, err
		}
		return a.checkTape(func() (io.ReadCloser, error) { return openTape(args[0]) }, a.judging(s))
	}
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return nil, model.Policy{}, err
	}
	if !slices.ContainsFunc(opened, func(o sources.Opened) bool { return !o.Saved }) {
		recorded, err := a.inMemory(ctx, s, opened)
		if err != nil {
			return nil, model.Policy{}, err
		}
		return a.checkTape(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(recorded)), nil }, nil)
	}
	a.flags.forTime = cmp.Or(a.flags.forTime, checkFor)
	f, err := a.checkTargets(ctx, s, opened)
	return f, s.policy, err
}

// checkTargets polls, or plays, until --for is over.
func (a *app) checkTargets(ctx context.Context, s settings, opened []sources.Opened) (*model.Frame, error) {
	targets := targetsOf(opened)
	c, err := newCore(fleet.Config{
		Targets: targets, Every: s.interval(opened), Window: a.checkWindow(a.flags.forTime, len(targets)), Policy: s.policy,
	})
	if err != nil {
		return nil, errors.Join(err, sources.CloseAll(opened))
	}
	if err := a.poll(ctx, s, opened, 0, c.take); err != nil {
		return nil, err
	}
	return frameOf(c, targets), nil
}

// checkWindow is the span of a verdict: what was asked for, or as much of the
// whole as the fold remembers.
func (a *app) checkWindow(whole time.Duration, targets int) time.Duration {
	if a.flags.window > 0 {
		return a.flags.window
	}
	reach := fleet.Reach(targets)
	if whole > reach {
		fmt.Fprintf(a.err, "slotop: the verdict is over the last %v of %v: no window reaches further over %s\n",
			reach, whole.Round(time.Second), count(targets, "target"))
	}
	return min(max(whole, fleet.MinWindow), reach)
}

// checkTape folds a recording to its end, or to --for.
func (a *app) checkTape(open func() (io.ReadCloser, error), policy judging) (*model.Frame, model.Policy, error) {
	index, err := survey(open)
	if err != nil {
		return nil, model.Policy{}, err
	}
	whole := index.Duration()
	if a.flags.forTime > 0 {
		whole = min(whole, a.flags.forTime)
	}
	targets := index.Header.Targets
	p := newPlayer(open, a.checkWindow(whole, len(targets)), policy, 1, &mailbox{})
	cur, err := p.rewind()
	if err != nil {
		return nil, model.Policy{}, err
	}
	defer func() { _ = cur.close() }()
	var damage *tape.DamageError
	if err := cur.fold(cur.start + whole); errors.As(err, &damage) {
		fmt.Fprintf(a.err, "slotop: %v\n", err)
	} else if err != nil {
		return nil, model.Policy{}, err
	}
	judged, err := policy.over(index.Header.Policy)
	return frameOf(cur.core, targets), judged, err
}

// frameOf is the last frame of a core, or one that says that nothing is known.
func frameOf(c *core, targets []model.Target) *model.Frame {
	if f := c.box.latest(); f != nil {
		return f
	}
	f := &model.Frame{Schema: model.Schema}
	for _, t := range targets {
		f.Targets = append(f.Targets, model.TargetView{Name: t.Name, ID: t.ID, Kind: t.Kind})
	}
	return f
}
