package sources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"slotop/model"
)

var pagesKind = Kind{
	Name:    "pages",
	Doc:     "saved metrics pages, stats documents or tables of nvidia-smi, one poll each; a directory's *.prom files in name order",
	Example: "captures/monday/",
	Match:   exists,
	Open:    openPages,
}

var tapeKind = Kind{
	Name:    "tape",
	Doc:     "a recording made by slotop record",
	Example: "monday.tape",
	Match:   IsTape,
	Open: func(_ context.Context, spec Spec) ([]Opened, error) {
		return nil, &TapeError{Path: spec.Address}
	},
}

// IsTape reports whether a target argument names a recording.
func IsTape(arg string) bool {
	return !strings.Contains(arg, "://") && strings.EqualFold(filepath.Ext(arg), ".tape")
}

// TapeError says that a target is a recording: it holds inputs, not a world to
// poll, so whoever wants it opens it as a tape.
type TapeError struct{ Path string }

func (e *TapeError) Error() string {
	return fmt.Sprintf("target %q: a tape is no target to poll: give it alone to slotop, replay, snapshot, check, report or compare", e.Path)
}

// pages plays saved pages, one a poll.
type pages struct {
	page  *page
	limit int
	files []string // in the order of their polls; "": that poll has no page of this server
	next  int
}

// errNoPage says that a capture holds no page of this server for this poll. It
// is no failure of the server: nobody asked it.
var errNoPage = errors.New("no page of this poll")

var _ Source = (*pages)(nil)

func openPages(_ context.Context, spec Spec) ([]Opened, error) {
	if isDir(spec.Address) {
		return openDirectory(spec)
	}
	files := append([]string{spec.Address}, spec.More...)
	for _, f := range files {
		if irregular := (*IrregularError)(nil); errors.As(regular(f), &irregular) {
			return nil, usage(f, irregular.What+", not a regular file", "save its content to one")
		}
	}
	row := openRow(spec.Options, filepath.Clean(spec.Address), rowName(files), files)
	switch savedAs(spec.Address) {
	case savedStats:
		row.Target.Kind = model.GatewayTarget
	case savedGPUs:
		row.Target.Kind = model.GPUTarget
		row.Source = &savedTables{files: files}
	}
	return []Opened{row}, nil
}

// savedForm is what a saved file holds.
type savedForm int

const (
	savedPage  savedForm = iota // or nothing that is known
	savedStats                  // a stats document
	savedGPUs                   // tables that nvidia-smi printed
)

// savedAs tells by its start what a file holds.
func savedAs(path string) savedForm {
	f, err := OpenFile(path)
	if err != nil {
		return savedPage
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, hintWithin)
	defer clear(head)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case startsObject(head) && bytes.Contains(head, []byte(statsSchema)):
		return savedStats
	case startsSMI(line):
		return savedGPUs
	default:
		return savedPage
	}
}

func openRow(opt Options, id, name string, files []string) Opened {
	return Opened{
		Target: model.Target{ID: model.TargetID(filepath.ToSlash(id)), Name: name, Kind: engineKind.Name},
		Source: &pages{page: newPage(opt), limit: bodyLimit(opt), files: files},
		Saved:  true,
	}
}

// rowName is the directory that several files share, else the first file's name.
func rowName(files []string) string {
	dir := filepath.Dir(files[0])
	for _, f := range files {
		if len(files) == 1 || filepath.Dir(f) != dir {
			return filepath.Base(files[0])
		}
	}
	return baseOf(dir)
}

// baseOf is a directory's own name, also for "." and "..".
func baseOf(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// openDirectory reads a directory's *.prom files as one target. Where a capture
// holds pages of a second server beside the first (007.prom, 007.sim.prom) each
// server is a target: their counters must not be taken for one another's.
func openDirectory(spec Spec) ([]Opened, error) {
	files, err := filepath.Glob(filepath.Join(globQuote(spec.Address), "*.prom"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", spec.Address, err)
	}
	if len(files) == 0 {
		return nil, usage(spec.Address, "a directory without *.prom files", "name the files, or another directory")
	}
	dir, name := filepath.Clean(spec.Address), baseOf(spec.Address)
	var opened []Opened
	for _, part := range partsOf(files) {
		if part.name == "" {
			opened = append(opened, openRow(spec.Options, dir, name, part.files))
			continue
		}
		id := filepath.Join(dir, "*."+part.name+".prom")
		opened = append(opened, openRow(spec.Options, id, name+"/"+part.name, part.files))
	}
	return opened, nil
}

// globQuote lets a directory's name hold the characters of a pattern.
func globQuote(dir string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(dir)
}

type part struct {
	name  string
	files []string
}

// secondServer is a page's name with a word between its poll and the ending.
var secondServer = regexp.MustCompile(`^([^.]*[0-9])\.([A-Za-z][A-Za-z0-9_-]*)\.prom$`)

// partsOf groups a directory's files by the server they came from, in the order
// of first appearance. A word counts as a server only where the same poll also
// has a page without it, in this directory.
func partsOf(files []string) []part {
	plain := map[string]bool{}
	for _, f := range files {
		plain[filepath.Base(f)] = true
	}
	second := map[string]bool{}
	for _, f := range files {
		if m := secondServer.FindStringSubmatch(filepath.Base(f)); m != nil && plain[m[1]+".prom"] {
			second[m[2]] = true
		}
	}
	var parts []part
	at := map[string]int{}
	for _, f := range files {
		name := ""
		if m := secondServer.FindStringSubmatch(filepath.Base(f)); m != nil && second[m[2]] {
			name = m[2]
		}
		i, ok := at[name]
		if !ok {
			i, at[name] = len(parts), len(parts)
			parts = append(parts, part{name: name})
		}
		parts[i].files = append(parts[i].files, f)
	}
	if len(parts) > 1 {
		align(parts)
	}
	return parts
}

// align puts the pages of several servers on the capture's one axis of polls:
// pages with the same beginning were read together. Where all beginnings are
// numbers a number that is missing is a poll without any page.
func align(parts []part) {
	at := pollAxis(parts)
	for i := range parts {
		var row []string
		for _, f := range parts[i].files {
			for len(row) < at[pollOf(f)] {
				row = append(row, "")
			}
			row = append(row, f)
		}
		parts[i].files = row
	}
}

// pollAxis is the place of each poll's name on the axis.
func pollAxis(parts []part) map[string]int {
	var polls []string
	for _, p := range parts {
		for _, f := range p.files {
			polls = append(polls, pollOf(f))
		}
	}
	slices.Sort(polls)
	polls = slices.Compact(polls)
	numbers := make([]int, len(polls))
	numbered := true
	for i, name := range polls {
		n, err := strconv.Atoi(name)
		numbers[i] = n
		numbered = numbered && err == nil && n-numbers[0] < len(polls)+maxGap
	}
	at := map[string]int{}
	for i, name := range polls {
		at[name] = i
		if numbered {
			at[name] = numbers[i] - numbers[0]
		}
	}
	return at
}

// maxGap bounds the polls without a page: numbers may be dates as well.
const maxGap = 10000

// pollOf is the part of a page's name that says which poll it is of.
func pollOf(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return name
}

// Poll reads the next file; after the last it returns io.EOF.
func (p *pages) Poll(ctx context.Context) (model.Batch, error) {
	if err := ctx.Err(); err != nil {
		return model.Batch{}, err
	}
	if p.next >= len(p.files) {
		return model.Batch{}, io.EOF
	}
	name := p.files[p.next]
	p.next++
	if name == "" {
		return model.Batch{}, errNoPage
	}
	f, err := OpenFile(name)
	if err != nil {
		return model.Batch{}, fileFault(err)
	}
	defer func() { _ = f.Close() }()
	in := &incoming{Reader: f, limit: p.limit, fault: func(err error, _ int) error { return fileFault(err) }}
	_, batch, err := p.page.take(ctx, in, nil, math.NaN())
	return batch, err
}

func fileFault(err error) error {
	if fault := (*FaultError)(nil); errors.As(err, &fault) {
		return fault
	}
	kind := model.Malformed
	irregular := (*IrregularError)(nil)
	switch {
	case outOfFiles(err):
		return &FaultError{model.UnsupportedPage, ownLimit}
	case errors.As(err, &irregular):
		kind = model.UnsupportedPage
	case errors.Is(err, fs.ErrNotExist):
		kind = model.NotFound
	case errors.Is(err, fs.ErrPermission):
		kind = model.Denied
	}
	return &FaultError{kind, excerpt(err.Error())}
}

// Close has nothing to release: a file is open only while it is read.
func (p *pages) Close() error { return nil }
