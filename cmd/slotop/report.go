package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"slotop/model"
	"slotop/model/fleet"
	"slotop/model/report"
	"slotop/model/story"
	"slotop/model/tape"
	"slotop/sources"
)

// reportFor is how long live targets are watched for a report unless told otherwise.
const reportFor = time.Minute

// wholeStage is the stage that begins with the first input: its figures are of the
// whole time. A name that no viewer types.
const wholeStage = "(from the beginning)"

// reportFlags are those of the report.
type reportFlags struct {
	kind   string
	format string
	csv    string
	force  bool
}

// reportForms are what a report may be written as, and the endings of file names that
// ask for it.
var reportForms = []struct {
	name    string
	endings []string
}{
	{"markdown", []string{".md", ".markdown"}},
	{"html", []string{".html", ".htm"}},
	{"csv", []string{".csv"}},
}

func (a *app) reportCommand() *cobra.Command {
	var r reportFlags
	c := &cobra.Command{
		Use:   "report FILE|TARGET...",
		Short: "What happened, or how much room there is, as a page to hand on",
		Long: "Plays a tape, saved pages, the demo or a Prometheus server's past, or watches live targets\n" +
			"for --for, and writes what it saw: an incident report (what was breached, for how long, who\n" +
			"was hurt, why, the evidence, the timeline) or a capacity review (headroom, knee, what binds\n" +
			"first, cost of a good token). Markdown, or one HTML page that needs nothing else; --csv\n" +
			"writes every series.\n\n" +
			"Exit code: 0 written, 4 written but no target ever answered, 1 could not run, 2 usage.",
		Example: "  slotop report -o incident.html incident.tape\n  slotop report --kind capacity load-test.tape > review.md\n" +
			"  slotop report -o night.html --from 02:00 --to 05:00 prom+http://prometheus:9090\n" +
			"  slotop report --csv series/ --for 10m host-1:8000 host-2:8000\n  slotop report -o surge.html --for 12m demo:S1",
		RunE: a.action(cobra.ArbitraryArgs, func(ctx context.Context, args []string) error { return a.report(ctx, args, r) }),
	}
	a.pollFlags(c)
	a.pastFlags(c)
	a.promiseFlag(c)
	a.noteFlag(c)
	f := c.Flags()
	f.Var(span(&a.flags.forTime, time.Millisecond, maxFor), "for", "how long to watch live targets (default 60s); what is saved: how far to play")
	f.StringVar(&r.kind, "kind", "", "incident or capacity (default: incident where something was breached)")
	f.StringVarP(&a.flags.file, "output", "o", "", "file to write, .md, .html or .csv; - is standard output (default)")
	f.StringVar(&r.format, "format", "", "markdown, html or csv (default: by the file's name, or markdown)")
	f.StringVar(&r.csv, "csv", "", "also write every series into this folder, a CSV file for workflows, targets, pools and devices each")
	f.BoolVar(&r.force, "force", false, "write over files that exist")
	return c
}

func (a *app) report(ctx context.Context, args []string, r reportFlags) error {
	form, err := a.reportForm(r)
	if err != nil {
		return err
	}
	if len(args) == 0 && !a.hasTargets() {
		return usageError(errors.New("report: name what to report on: a tape, saved pages, targets, or demo:S1"))
	}
	// Whatever cannot be written is better known before a long watch than after it.
	if err := a.writable(r); err != nil {
		return err
	}
	ctx, stop := untilTold(ctx)
	defer stop()
	var told story.Collector
	from := report.Source{Version: version(), Whole: wholeStage}
	if len(args) == 1 && sources.IsTape(args[0]) {
		from.Names = []string{filepath.Base(args[0])}
		from.Damage, err = a.tellTape(ctx, args[0], &told)
	} else {
		from.Names, err = a.tellTargets(ctx, args, &told)
	}
	if err != nil {
		return err
	}
	s := told.Story()
	if err := a.writeReport(form, r, s, from); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &withCode{code: exitInterrupted}
	case s.Last == nil || !anyGood(s.Last):
		return &withCode{exitUntold, errors.New("no target ever answered: the report says so")}
	}
	return nil
}

// hasTargets reports whether there is something to watch without an argument.
func (a *app) hasTargets() bool {
	s, err := a.settings()
	return err != nil || len(s.file.Targets) > 0 // an error is told by whoever opens them
}

// reportForm is what to write: as asked for, or as the file is called.
func (a *app) reportForm(r reportFlags) (string, error) {
	if r.kind != "" && !slices.Contains(report.Kinds, report.Kind(r.kind)) {
		return "", usageError(fmt.Errorf("--kind %s: incident or capacity", r.kind))
	}
	if r.format != "" {
		for _, f := range reportForms {
			if f.name == r.format || f.name == "markdown" && r.format == "md" {
				return f.name, nil
			}
		}
		return "", usageError(fmt.Errorf("--format %s: markdown, html or csv", r.format))
	}
	if a.flags.file == "" || a.flags.file == "-" {
		return "markdown", nil
	}
	for _, f := range reportForms {
		if slices.Contains(f.endings, strings.ToLower(filepath.Ext(a.flags.file))) {
			return f.name, nil
		}
	}
	return "", usageError(fmt.Errorf("-o %s: call it .md, .html or .csv, or say --format", a.flags.file))
}

// tellTape folds a tape to its end, or to --for. What of it is damaged is told.
func (a *app) tellTape(ctx context.Context, path string, told *story.Collector) (damage []string, err error) {
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	p := newPlayer(func() (io.ReadCloser, error) { return openTape(path) }, a.flags.window, a.judging(s), 1, &mailbox{})
	cur, err := p.rewind()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = cur.close() }()
	cur.core.hear = told.Take
	end := time.Duration(-1)
	if a.flags.forTime > 0 {
		end = cur.start + a.flags.forTime
	}
	if cur.next != nil {
		cur.core.take(model.Input{At: cur.next.At, Mark: wholeStage})
	}
	for ctx.Err() == nil && cur.next != nil && (end < 0 || cur.next.At.Mono <= end) {
		err := cur.take()
		var broken *tape.DamageError
		if err != nil && !errors.As(err, &broken) {
			return damage, fmt.Errorf("%s: %w", path, err)
		}
		if err != nil {
			fmt.Fprintf(a.err, "slotop: %s: %v\n", path, err)
			damage = append(damage, err.Error())
		}
	}
	return damage, nil
}

// tellTargets plays or polls targets, and returns their names.
func (a *app) tellTargets(ctx context.Context, args []string, told *story.Collector) ([]string, error) {
	s, opened, err := a.open(ctx, args)
	if err != nil {
		return nil, err
	}
	targets := targetsOf(opened)
	simulated := slices.ContainsFunc(targets, func(t model.Target) bool { return t.Simulated })
	if simulated && plays(opened) && a.flags.forTime == 0 {
		return nil, errors.Join(usageError(errors.New("the demo never ends: say --for how long, such as --for 12m")), sources.CloseAll(opened))
	}
	c, err := newCore(fleet.Config{Targets: targets, Every: s.interval(opened), Window: s.window, Policy: s.policy})
	if err != nil {
		return nil, errors.Join(err, sources.CloseAll(opened))
	}
	c.hear = told.Take
	marked := false
	err = a.poll(ctx, s, opened, reportFor, func(in model.Input) {
		if !marked {
			marked = true
			c.take(model.Input{At: in.At, Mark: wholeStage})
		}
		c.take(in)
	})
	return namesOf(args, targets), err
}

// namesOf is what was watched, as the user called it.
func namesOf(args []string, targets []model.Target) []string {
	var names []string
	for _, arg := range args {
		names = append(names, sources.Redact(arg))
	}
	if len(names) > 0 {
		return names
	}
	for _, t := range targets {
		names = append(names, t.Name)
	}
	return names
}

// writable refuses what exists already, unless told to write over it.
func (a *app) writable(r reportFlags) error {
	var files []string
	if f := a.flags.file; f != "" && f != "-" {
		files = append(files, f)
	}
	if r.csv != "" {
		if info, err := os.Stat(r.csv); err == nil && !info.IsDir() {
			return usageError(fmt.Errorf("--csv %s is a file: name a folder", r.csv))
		}
		for _, f := range report.SeriesFiles(&story.Story{}) {
			files = append(files, filepath.Join(r.csv, f.Name))
		}
	}
	for _, f := range files {
		switch info, err := os.Stat(f); {
		case err == nil && info.IsDir():
			return usageError(fmt.Errorf("%s is a folder: name a file", f))
		case err == nil && !r.force:
			return usageError(fmt.Errorf("%s exists: say --force to write over it, or another name", f))
		}
		if _, err := os.Stat(filepath.Dir(f)); err != nil && filepath.Dir(f) != filepath.Clean(r.csv) {
			return usageError(fmt.Errorf("write %s: its folder does not exist", f))
		}
		if err := takesFiles(f, stands(filepath.Dir(f))); err != nil {
			return err
		}
	}
	return nil
}

// writeReport writes the document and the series.
func (a *app) writeReport(form string, r reportFlags, s *story.Story, from report.Source) error {
	var doc bytes.Buffer
	kind := cmp.Or(report.Kind(r.kind), report.KindOf(s))
	switch form {
	case "html":
		doc.WriteString(report.Dossier(s, kind, from).HTML())
	case "csv":
		if err := report.CSV(&doc, s); err != nil {
			return err
		}
	default:
		doc.WriteString(report.Dossier(s, kind, from).Markdown())
	}
	if f := a.flags.file; f != "" && f != "-" {
		if err := replaceFile(f, doc.Bytes()); err != nil {
			return err
		}
		fmt.Fprintf(a.err, "slotop: %s\n", f)
	} else if err := printed("report", func() error { _, err := a.out.Write(doc.Bytes()); return err }); err != nil {
		return err
	}
	if r.csv == "" {
		return nil
	}
	return a.writeSeries(r.csv, s)
}

func (a *app) writeSeries(dir string, s *story.Story) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the series: %w", err)
	}
	for _, f := range report.SeriesFiles(s) {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			return err
		}
		path := filepath.Join(dir, f.Name)
		if err := replaceFile(path, b.Bytes()); err != nil {
			return err
		}
		fmt.Fprintf(a.err, "slotop: %s\n", path)
	}
	return nil
}

// takesFiles tries whether a file can be written into a folder, where it or what is to
// stand above it is to get its place.
func takesFiles(path, dir string) error {
	f, err := draft(path, dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// stands is a folder, or the nearest above one that is still to be made.
func stands(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// draft is a new file in a folder, under a name that nobody asked for and no error
// tells.
func draft(path, dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".slotop-*")
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return f, nil
}

// replaceFile writes a file beside its name and then gives it that name: whoever reads
// it never sees a half, and what was there stays until all of it is written.
func replaceFile(path string, content []byte) (err error) {
	f, err := draft(path, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(content); err == nil {
		err = f.Chmod(0o644)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
