package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/slo"
	"slotop/sources"
	"slotop/sources/sim"
)

// flags are what every command may be given; each says so itself.
type flags struct {
	config  string
	every   time.Duration
	timeout time.Duration
	window  time.Duration
	theme   string
	ascii   bool
	mouse   bool
	kiosk   bool
	still   bool
	slo     sloFlags
	notes   string // file of annotations
	dryRun  bool
	album   album
	pose    posed

	forTime time.Duration
	output  string
	frames  bool
	width   int
	file    string
	list    bool
	limit   int64
	warmup  time.Duration
	failOn  []string
	plan    plan

	stagesFrom string
	from       time.Time
	until      time.Time
	speed      float64

	only        []string // globs of workflows
	minRequests int
	offline     bool
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "slotop [TARGET...]",
		Short: "Top for the promises an LLM service makes",
		Long: "slotop watches LLM inference servers: TTFT and inter-token percentiles over a recent\n" +
			"window, queue, throughput and cache, per workflow and per engine. It only reads.\n\n" + targetHelp(),
		Example: "  slotop demo\n  slotop localhost:8000\n  slotop snapshot -o json http://host:8000/metrics",
		Args:    cobra.ArbitraryArgs, // not a command is a target
		RunE:    a.action(cobra.ArbitraryArgs, a.watch),
	}
	root.PersistentFlags().StringVar(&a.flags.config, "config", "", "configuration file (default: slotop/config.yaml in the user's configuration directory)")
	a.pollFlags(root)
	a.promiseFlag(root)
	a.noteFlag(root)
	a.sendFlag(root)
	a.screenFlags(root)
	root.AddCommand(a.demoCommand(), a.snapshotCommand(), a.checkCommand(), a.recordCommand(), a.replayCommand(), a.reportCommand(), a.doctorCommand(), a.compareCommand(), a.exportCommand(), a.serveCommand(), a.configCommand(), a.completionCommand(root), a.manCommand(root), a.versionCommand())
	complete(root)
	for _, c := range root.Commands() {
		a.commands = append(a.commands, c.Name())
	}
	return root
}

func targetHelp() string {
	var b strings.Builder
	b.WriteString("A TARGET is one of:\n")
	for _, k := range sources.Kinds() {
		fmt.Fprintf(&b, "  %-34s %s\n", k.Example, k.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (a *app) pollFlags(c *cobra.Command) {
	c.Flags().Var(span(&a.flags.every, minEvery, maxEvery), "every", "poll interval (default: 1s, longer for many targets; 10s between saved pages)")
	c.Flags().Var(span(&a.flags.timeout, minTimeout, maxEvery), "timeout", "how long one poll may take (default: the interval, 1s to 5s)")
	c.Flags().Var(span(&a.flags.window, fleet.MinWindow, fleet.MaxWindow), "window", "span of every rate and percentile (default 60s)")
}

// promiseFlag lets a command say what is promised.
func (a *app) promiseFlag(c *cobra.Command) {
	c.Flags().Var(&a.flags.slo, "slo", "what is promised: "+sloForm+"; repeatable, over the configuration's workflows")
}

// sendFlag lets a command that tells others of alerts say so only.
func (a *app) sendFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.flags.dryRun, "dry-run", false, "say which alerts would be sent to whom, and send none")
}

func (a *app) screenFlags(c *cobra.Command) {
	c.Flags().StringVar(&a.flags.theme, "theme", "", "theme: dark, light, mono, high-contrast, colour-blind or one of your own (default: by the terminal's background)")
	c.Flags().StringVar(&a.flags.album.dir, "pictures", "", "folder for the pictures that the key p makes (default: the current one)")
	c.Flags().BoolVar(&a.flags.ascii, "ascii", false, "draw with ASCII characters only")
	c.Flags().BoolVar(&a.flags.mouse, "mouse", false, "let clicks open and the wheel scroll; selecting text then takes shift")
	a.wallFlags(c)
}

func (a *app) demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "demo [SCENARIO]",
		Short:   "The built-in simulated service on the same screen",
		Long:    "The screen over a simulated service. " + demoTimes(),
		Example: "  slotop demo\n  slotop demo S1\n  slotop demo 'S1?at=30s&for=2m&seed=7&with=gap'\n  slotop demo --list",
		RunE: a.action(cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
			if a.flags.list {
				return a.listScenarios()
			}
			target := "demo"
			if len(args) == 1 {
				target += ":" + args[0]
			}
			return a.watch(ctx, []string{target})
		}),
	}
	a.pollFlags(c)
	a.promiseFlag(c)
	a.noteFlag(c)
	a.sendFlag(c)
	a.screenFlags(c)
	c.Flags().BoolVar(&a.flags.list, "list", false, "name the incidents, and what may go with them")
	return c
}

func (a *app) listScenarios() error {
	for _, s := range sim.Scenarios {
		fmt.Fprintf(a.out, "%-4s %-16s %s\n", s.ID, s.Name, s.Sentence)
	}
	fmt.Fprintf(a.out, "\nWhat may go with any of them, as in demo:S1?with=gap,retries:\n")
	for _, v := range sim.Variants {
		fmt.Fprintf(a.out, "%-8s %s\n", v.ID, v.Sentence)
	}
	fmt.Fprintf(a.out, "\n%s\n", demoTimes())
	return nil
}

// demoTimes says when incidents start: the screen does not let people wait for longer
// than the diagnosis has to.
func demoTimes() string {
	s := sim.Scenarios[len(sim.Scenarios)-1]
	return fmt.Sprintf("On the screen an incident starts after %g min,\n"+
		"for snapshot and record after %.0f min; say otherwise with at= and for=,\n"+
		"as in demo:%s?at=30s&for=2m.", sources.WatchedAt.Minutes(), s.At.Minutes(), s.ID)
}

func (a *app) snapshotCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot [TARGET...]",
		Short: "Poll without a screen and print the last frame",
		Long: "Polls until every target has two good polls, or for --for, and prints the last frame.\n" +
			"Saved pages, tapes and the demo play on their own clock, without waiting.\n\n" +
			"Exit code: 0 a frame with data, 4 no target answered, 1 could not run, 2 usage.",
		Example: "  slotop snapshot localhost:8000\n  slotop snapshot -o json --every 10s pages/\n  slotop snapshot -o json --for 720s demo:S4?seed=7\n" +
			"  slotop snapshot --picture now.svg --screen latency --size 120x40 localhost:8000",
		RunE: a.action(cobra.ArbitraryArgs, a.snapshot),
	}
	a.pollFlags(c)
	a.promiseFlag(c)
	a.noteFlag(c)
	a.sendFlag(c)
	a.pastFlags(c)
	c.Flags().Var(span(&a.flags.forTime, time.Millisecond, maxFor), "for", "how long to poll; saved pages and demo: how far to play")
	c.Flags().StringVarP(&a.flags.output, "output", "o", "text", "text, json or markdown")
	c.Flags().BoolVar(&a.flags.frames, "frames", false, "print every frame, not only the last")
	c.Flags().Var(columns(&a.flags.width), "width", "columns of the text (default: the terminal's, or 100)")
	c.Flags().BoolVar(&a.flags.ascii, "ascii", false, "write ASCII characters only")
	a.pictureFlags(c)
	return c
}

func (a *app) recordCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "record -o FILE [TARGET...]",
		Short: "Write what the targets say to a tape, without a screen",
		Example: "  slotop record -o incident.tape --for 10m localhost:8000\n" +
			"  slotop record -o load.tape --stage 0s='10 users' --stage 5m='20 users' --for 10m localhost:8000\n" +
			"  ./load.sh | slotop record -o load.tape --stages-from - localhost:8000",
		RunE: a.action(cobra.ArbitraryArgs, a.record),
	}
	a.pollFlags(c)
	a.promiseFlag(c)
	a.noteFlag(c)
	a.pastFlags(c)
	c.Flags().StringVarP(&a.flags.file, "output", "o", "", "the tape to write; it must not exist")
	c.Flags().Var(span(&a.flags.forTime, time.Millisecond, maxFor), "for", "how long to record (default: until interrupted)")
	c.Flags().Var(size(&a.flags.limit), "limit", "largest size in bytes (default 1 GiB)")
	a.markFlags(c)
	return c
}

func (a *app) replayCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "replay FILE|prom+http://SERVER",
		Short: "The screen over a tape, or a server's past: pause, step, seek, speed",
		Example: "  slotop replay incident.tape\n  slotop replay --speed 8 incident.tape\n" +
			"  slotop replay prom+http://prometheus:9090 --from 03:00 --to 03:40",
		RunE: a.action(cobra.ExactArgs(1), a.replay),
	}
	a.promiseFlag(c)
	a.noteFlag(c)
	a.screenFlags(c)
	a.pastFlags(c)
	c.Flags().Var(span(&a.flags.every, minEvery, maxEvery), "every", "time between two points of a server's past (default: as it suits)")
	c.Flags().Var(span(&a.flags.window, fleet.MinWindow, fleet.MaxWindow), "window", "span of every rate and percentile (default: as recorded)")
	c.Flags().Var(factor(&a.flags.speed, minSpeed, maxSpeed), "speed", "times real time, 0.1 to 1000")
	return c
}

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "The configuration file",
		RunE: a.action(cobra.ArbitraryArgs, func(context.Context, []string) error {
			return usageError(errors.New("config: say what to do: slotop config check [FILE], config init or config show"))
		}),
	}
	c.AddCommand(a.initConfigCommand(), a.checkConfigCommand(), a.showConfigCommand())
	return c
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "The version of slotop",
		RunE: a.action(cobra.NoArgs, func(context.Context, []string) error {
			fmt.Fprintf(a.out, "slotop %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		}),
	}
}

// version is what the build knows of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

// finish prints an error and gives its exit code.
func (a *app) finish(err error) int {
	if err == nil {
		return exitOK
	}
	code := exitFailed
	var known *withCode
	var usage *sources.UsageError
	switch {
	case errors.As(err, &known):
		code = known.code
	case errors.As(err, &usage):
		code = exitUsage
	}
	if msg := a.veil.over(err.Error(), shortValue); msg != "" {
		for line := range strings.Lines(msg) {
			fmt.Fprintf(a.err, "slotop: %s\n", strings.TrimRight(line, "\n"))
		}
	}
	return code
}

// settings are the flags over the configuration file over the defaults.
type settings struct {
	file    fileConfig
	opt     sources.Options
	every   time.Duration
	timeout time.Duration
	window  time.Duration
	theme   string
	ascii   bool
	mouse   bool
	wall    wall
	album   album
	policy  model.Policy
	notes   *notes        // what a deployment tool writes; nil: none does
	after   time.Duration // of the past that was folded before the run
}

func (a *app) settings() (settings, error) {
	file, err := loadConfig(a.flags.config)
	if err != nil {
		return settings{}, usageError(err)
	}
	a.veil = file.veil
	if a.notes, err = a.annotations(file); err != nil {
		return settings{}, err
	}
	dialects, err := loadDialects()
	if err != nil {
		return settings{}, usageError(err)
	}
	policy, err := a.policy(file)
	if err != nil {
		return settings{}, err
	}
	s := settings{
		file:    file,
		policy:  policy,
		notes:   a.notes,
		opt:     sources.Options{HTTP: file.HTTP, Dialects: dialects, Version: version(), Keep: slo.Matched(policy)},
		every:   cmp.Or(a.flags.every, time.Duration(file.Every)),
		timeout: cmp.Or(a.flags.timeout, time.Duration(file.Timeout)),
		window:  cmp.Or(a.flags.window, time.Duration(file.Window), fleet.DefaultWindow),
		theme:   cmp.Or(a.flags.theme, file.Theme),
		ascii:   a.flags.ascii || file.ASCII,
		mouse:   a.flags.mouse || file.Mouse,
		wall:    a.wall(&file),
		album:   album{cmp.Or(a.flags.album.dir, file.Pictures)},
	}
	return s, nil
}

// minEvery keeps slotop from being the load it measures. No server answers within
// less than minTimeout.
const (
	minEvery   = 200 * time.Millisecond
	minTimeout = 10 * time.Millisecond
)

// Nobody polls less than once an hour, or plays more than a month at once.
const (
	maxEvery = time.Hour
	maxFor   = 31 * 24 * time.Hour
)
