package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"slotop/model"
	"slotop/model/unit"
	"slotop/sources"
	"slotop/sources/discover"
)

// waits are how long discovery takes at most, and for one place.
type waits struct{ all, place time.Duration }

// usualWaits: whoever starts slotop without a target has two seconds, and an engine
// under full load has answered within one.
var usualWaits = waits{all: 1800 * time.Millisecond, place: 1200 * time.Millisecond}

// discovered is what was found on this host.
type discovered struct {
	all   []discover.Finding
	blind error // why the system did not tell which sockets listen; nil where it did
	took  time.Duration
}

// discover looks at this host: which sockets listen, and what they are. Nobody is
// sent a key. It fails where nothing was found to watch.
func (a *app) discover(ctx context.Context, opt sources.Options, w waits) (discovered, error) {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, w.all)
	defer cancel()
	opt.HTTP = nil
	var d discovered
	candidates, err := discover.Candidates(ctx, processTable())
	if err != nil {
		d.blind, candidates = err, discover.Guess()
	}
	d.all = discover.Find(ctx, candidates, func(ctx context.Context, address string) (discover.Answer, error) {
		ctx, cancel := context.WithTimeout(ctx, w.place)
		defer cancel()
		f, err := sources.Look(ctx, address, opt)
		return discover.Answer{Kind: f.Kind, Engine: f.Engine, Version: f.Version, Models: f.Models, Note: f.Note, Fault: f.Fault}, err
	})
	d.took = time.Since(begin)
	if len(d.watched()) == 0 {
		return d, usageError(fmt.Errorf("no target: looked at %s and found nothing to watch: name one, such as slotop localhost:8000, "+
			"list some in the configuration, or run slotop demo", d.looked(d.noGPUs())))
	}
	return d, nil
}

// processTable is where the system tells of its processes and sockets. In a
// container the host's may be mounted elsewhere.
func processTable() string {
	if dir := os.Getenv("HOST_PROC"); dir != "" {
		return dir
	}
	return "/proc"
}

// watched are the places that are opened: engines first, then what stands before
// and below them, then those that refuse.
func (d *discovered) watched() []*discover.Finding {
	var open []*discover.Finding
	for i := range d.all {
		if d.all[i].Open {
			open = append(open, &d.all[i])
		}
	}
	rank := func(f *discover.Finding) int {
		if f.Fault != nil {
			return len(kindOrder)
		}
		return slices.Index(kindOrder, f.Kind)
	}
	slices.SortStableFunc(open, func(a, b *discover.Finding) int { return cmp.Compare(rank(a), rank(b)) })
	return open
}

var kindOrder = []string{model.EngineTarget, model.GatewayTarget, model.GPUTarget, model.PrometheusTarget}

// specs are the watched places as targets. They are sent no key: whoever listens
// there need not be whom it is for.
func (d *discovered) specs(opt sources.Options) []sources.Spec {
	opt.HTTP = nil
	var specs []sources.Spec
	for _, f := range d.watched() {
		specs = append(specs, sources.Spec{Address: f.Target, Options: opt})
	}
	return specs
}

// openFound finds what there is on this host and opens it. What was found is said
// before the screen, or beside the output.
func (a *app) openFound(ctx context.Context, opt sources.Options) ([]sources.Opened, error) {
	d, err := a.discover(ctx, opt, usualWaits)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	ascii := asciiOnly()
	for _, line := range d.lines() {
		fmt.Fprintln(a.err, unit.Escape(line, ascii))
	}
	if err != nil {
		return nil, err
	}
	return sources.Open(ctx, d.specs(opt))
}

// lines say what was looked at and what came of it, nothing where that is nothing.
func (d *discovered) lines() []string {
	out := []string{"looked at " + d.looked("")}
	width := 0
	rows := d.rows()
	for _, r := range rows {
		width = max(width, len(r.place))
	}
	for _, r := range rows {
		out = append(out, "  "+unit.PadRight(r.place, width)+"  "+r.what)
	}
	if s := d.skipped(); s != "" {
		out = append(out, "  not asked: "+s)
	}
	if ports := d.strangers(); len(ports) > 0 {
		out = append(out, fmt.Sprintf("  nothing that slotop reads: %s (%s)", count(len(ports), "socket"), listed(ports)))
	}
	if len(out) == 1 {
		return nil
	}
	if s := d.noGPUs(); s != "" {
		out = append(out, "  "+s)
	}
	return out
}

// noGPUs says why this host's GPUs are not watched, "" where they are.
func (d *discovered) noGPUs() string {
	if f := &d.all[0]; f.Fault != nil && !f.Open {
		return "no GPUs: " + f.Fault.Detail
	}
	return ""
}

// looked counts what was looked at; besides is said behind that.
func (d *discovered) looked(besides string) string {
	sockets, asked := 0, 0
	for i := range d.all {
		f := &d.all[i]
		if f.Address == discover.NVML {
			continue
		}
		sockets++
		if f.Skip == "" {
			asked++
		}
	}
	said := []string{unit.Duration(d.took.Seconds())}
	if besides != "" {
		said = append(said, besides)
	}
	if d.blind != nil {
		return fmt.Sprintf("the %d usual ports of this host (the system does not tell which sockets listen; %s)", asked, strings.Join(said, "; "))
	}
	return fmt.Sprintf("this host (%s, %d asked, %s)", count(sockets, "listening socket"), asked, strings.Join(said, "; "))
}

type foundRow struct{ place, what string }

// rows are the places of which something is to be said, in the order in which they
// are watched.
func (d *discovered) rows() []foundRow {
	var rows []foundRow
	for _, f := range d.watched() {
		if f.Fault == nil {
			rows = append(rows, foundRow{f.Target, describeFound(f)})
			continue
		}
		rows = append(rows, foundRow{f.Target, owned(f) + f.Why + "; watched all the same"})
	}
	for i := range d.all {
		switch f := &d.all[i]; {
		case f.Open || f.Skip != "":
		case f.Fault == nil && f.Kind != "":
			rows = append(rows, foundRow{f.Target, describeFound(f) + ", not watched: " + f.Why})
		case f.Refused():
			rows = append(rows, foundRow{f.Address, owned(f) + f.Why + ", not watched"})
		}
	}
	return rows
}

// owned is the program of a place that does not say itself what it is.
func owned(f *discover.Finding) string {
	if f.Program == "" {
		return ""
	}
	return f.Program + ", "
}

// describeFound is what a place is.
func describeFound(f *discover.Finding) string {
	what := f.Kind
	if f.Engine != "" {
		what += ", " + f.Engine
	}
	if f.Version != "" {
		what += " " + f.Version
	}
	if len(f.Models) > 0 {
		what += ", serves " + listed(f.Models)
	}
	return what
}

// listed are the first few of many names.
func listed(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// skipped names who was left alone, by reason: programs of other protocols with
// their ports, and how many ports the system chose.
func (d *discovered) skipped() string {
	var reasons []string
	ports := map[string][]string{}
	for i := range d.all {
		f := &d.all[i]
		if f.Skip == "" {
			continue
		}
		if ports[f.Skip] == nil {
			reasons = append(reasons, f.Skip)
		}
		ports[f.Skip] = append(ports[f.Skip], strconv.Itoa(f.Port))
	}
	for i, r := range reasons {
		reasons[i] = r + " (" + listed(ports[r]) + ")"
	}
	return strings.Join(reasons, ", ")
}

// strangers are the ports that were asked and are nothing.
func (d *discovered) strangers() []string {
	var ports []string
	for i := range d.all {
		f := &d.all[i]
		quiet := f.Fault != nil && f.Fault.Kind == model.Refused // nothing listens there
		if f.Skip == "" && !f.Open && f.Kind == "" && !f.Refused() && !quiet && f.Address != discover.NVML {
			ports = append(ports, strconv.Itoa(f.Port))
		}
	}
	return ports
}
