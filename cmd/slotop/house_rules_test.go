package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// This file holds the rules of the house and the functions that check a parsed
// file against them. house_test.go applies them to the checkout, and to small
// bad sources to prove that each rule can fail.

// layer says what one package may import of ours. A pattern ending in /... also
// covers everything below it.
type layer struct {
	pkg   string   // pattern of the package, below the module
	may   []string // patterns of ours it may import
	never []string // taken out of may again
	tests []string // what its test files may import besides
}

// layers is the import table. The first matching row decides; a package that
// matches no row has no place in the program yet.
var layers = []layer{
	{pkg: "model"},
	{pkg: "model/unit", may: []string{"model"}},
	{pkg: "model/spell"},
	{pkg: "model/story", may: []string{"model"}, tests: []string{"model/fleet", "sources/..."}},
	{pkg: "model/paper", may: []string{"model", "model/unit"}},
	{pkg: "model/glossary", may: []string{"model"}},
	{pkg: "model/hist", may: []string{"model"}},
	{pkg: "model/series", may: []string{"model"}},
	// The ranks of an interval; in tests, how an estimate reads.
	{pkg: "model/sketch", may: []string{"model", "model/hist"}, tests: []string{"model/unit"}},
	{pkg: "model/requests", may: []string{"model"}},
	{pkg: "model/reel", may: []string{"model"}},
	{pkg: "model/slo", may: []string{"model", "model/hist", "model/series"}},
	{pkg: "model/alert", may: []string{"model", "model/hist", "model/series"}},
	{pkg: "model/roofline", may: []string{"model", "model/spell"}},
	{pkg: "model/steptime", may: []string{"model"}},
	{pkg: "model/capacity", may: []string{"model", "model/unit", "model/hist", "model/slo", "model/steptime"}},
	{pkg: "model/diagnose", may: []string{"model", "model/unit", "model/slo", "model/hist", "model/steptime"}},
	{
		pkg: "model/fleet",
		may: []string{
			"model", "model/unit", "model/hist", "model/series",
			"model/slo", "model/alert", "model/sketch", "model/requests",
			"model/roofline", "model/steptime", "model/diagnose", "model/capacity",
		},
		// Tapes and captures in, JSON lines out: the fold's goldens.
		tests: []string{"model/tape", "model/report", "sources/..."},
	},
	{pkg: "model/tape", may: []string{"model", "model/unit"}},
	{pkg: "model/compare", may: []string{"model", "model/unit", "model/hist", "model/slo"}},
	{pkg: "model/report", may: []string{"model", "model/unit", "model/compare", "model/paper", "model/story"}},
	{
		pkg:   "sources/...",
		may:   []string{"model", "model/spell", "sources/..."},
		tests: []string{"model/tape"}, // what a source says, as it is recorded
		never: []string{"model/fleet"},
	},
	{pkg: "themes"},
	{pkg: "tui/layout"},
	{pkg: "tui/chart"},
	{pkg: "tui/picture", may: []string{"tui/layout"}},
	{pkg: "tui/panes", may: []string{"model", "model/unit", "model/glossary", "model/compare", "tui/layout", "tui/chart", "themes"}},
	{pkg: "tui/...", may: []string{"tui/...", "themes", "model", "model/unit", "model/glossary", "model/compare"}},
	{pkg: "cmd/slotop/notify", may: []string{"model", "model/unit"}},
	{pkg: "cmd/slotop/spool"},
	{pkg: "cmd/slotop/screen"},
	{pkg: "cmd/slotop/serve", may: []string{"model/unit", "cmd/slotop/spool", "cmd/slotop/screen"}},
	{pkg: "cmd/...", may: []string{"model/...", "sources/...", "themes", "tui/...", "cmd/slotop/..."}},
}

// testSupport may be imported by every test file.
var testSupport = []string{"sources/sourcetest/...", "tui/tuitest"}

// sourceParts is what one source may import of another package
// below sources. Everything else there is a source, and no source imports another.
var sourceParts = []string{"sources/expo", "sources/dialect", "sources/sourcetest/..."}

// outsiders are imports of others that only some packages may use, and why.
var outsiders = []struct {
	path string   // pattern of the import
	in   []string // patterns of the packages that may
	why  string
}{
	{"charm.land/bubbletea/...", []string{"tui", "tui/tuitest", "cmd/..."}, "only tui.Model is a Bubble Tea model"},
	{"github.com/NimbleMarkets/ntcharts/...", []string{"tui/chart"}, "charts have one adapter"},
	{"charm.land/...", []string{"tui/...", "themes", "cmd/..."}, "terminal libraries stay in the screen"},
	{"github.com/prometheus/...", []string{"sources/...", "cmd/..."}, "metrics libraries stay in the sources"},
	{"github.com/spf13/...", []string{"cmd/..."}, "flags are the command's"},
	{"net/http", []string{"sources/...", "cmd/..."}, "only sources speak to servers"},
	{"log/...", []string{"cmd/..."}, "printing lives in cmd"},
	{"github.com/ebitengine/purego/...", []string{"sources/nvml"}, "a driver's library has one binding"},
}

// modelMustNot lists what of the standard library the vocabulary refuses.
var modelMustNot = []string{"net/...", "os/...", "log/...", "syscall"}

var badPackageNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "base", "types"}

// clock names every way of asking for the time or waiting for it.
var clock = map[string][]string{
	"time":                    {"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"},
	"context":                 {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
	"charm.land/bubbletea/v2": {"Tick", "Every"},
}

// alone are the packages that have one caller at a time and start no goroutine: the
// race detector is not run on them (RACED in the Makefile).
var alone = []string{"model/...", "tui/panes", "tui/chart", "tui/layout", "tui/picture", "sources/sim"}

// printing and exiting, by import path.
var printing = map[string][]string{
	"fmt": {"Print", "Printf", "Println"},
	"os":  {"Stdout", "Stderr", "Exit"},
}

const maxLines = 600 // a longer file is two jobs

// file is one parsed source file.
type file struct {
	path string // below the root, with slashes
	src  string
	fset *token.FileSet
	ast  *ast.File
}

func parseFile(name, src string) (file, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return file{}, fmt.Errorf("parse: %w", err)
	}
	return file{path: name, src: src, fset: fset, ast: tree}, nil
}

func (f file) pkg() string    { return path.Dir(f.path) }
func (f file) isTest() bool   { return strings.HasSuffix(f.path, "_test.go") }
func (f file) isRunner() bool { return f.path == "sources/run.go" || within(f.pkg(), "cmd/...") }

// isTestSupport: tests need deadlines, and the suite that tests sources too.
func (f file) isTestSupport() bool {
	return f.isTest() || within(f.pkg(), "sources/sourcetest/...")
}

func (f file) breach(pos token.Pos, format string, args ...any) string {
	p := f.fset.Position(pos)
	return fmt.Sprintf("%s:%d: %s", f.path, p.Line, fmt.Sprintf(format, args...))
}

// within reports whether name matches a pattern, which may end in /...
func within(name, pattern string) bool {
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == root || strings.HasPrefix(name, root+"/")
	}
	return name == pattern
}

func withinAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return within(name, p) })
}

// checkFile returns every rule that one file breaks.
func checkFile(f file) []string {
	var out []string
	out = append(out, checkImports(f)...)
	out = append(out, checkNames(f)...)
	out = append(out, checkCalls(f)...)
	return append(out, checkLength(f)...)
}

func checkImports(f file) []string {
	var out []string
	row, ok := layerOf(f.pkg())
	if !ok {
		return []string{f.breach(f.ast.Package, "package %s is in no row of the import table", f.pkg())}
	}
	for _, spec := range f.ast.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_" && target != "embed") {
			out = append(out, f.breach(spec.Pos(), "import of %s as %q hides where names come from", target, spec.Name.Name))
		}
		if why := refused(f, row, target); why != "" {
			out = append(out, f.breach(spec.Pos(), "%s must not import %s: %s", f.pkg(), target, why))
		}
	}
	return out
}

func layerOf(pkg string) (layer, bool) {
	for _, l := range layers {
		if within(pkg, l.pkg) {
			return l, true
		}
	}
	return layer{}, false
}

// refused says why f may not import target, "" when it may.
func refused(f file, row layer, target string) string {
	if ours, ok := strings.CutPrefix(target, "slotop/"); ok {
		return refusedOurs(f, row, ours)
	}
	if f.isTestSupport() {
		return ""
	}
	if f.pkg() == "model" {
		if withinAny(target, modelMustNot) {
			return "the vocabulary knows neither network, files nor logs"
		}
		if first, _, _ := strings.Cut(target, "/"); strings.Contains(first, ".") {
			return "the vocabulary needs the standard library only"
		}
	}
	for _, o := range outsiders {
		if within(target, o.path) {
			if !withinAny(f.pkg(), o.in) {
				return o.why
			}
			return ""
		}
	}
	return ""
}

func refusedOurs(f file, row layer, ours string) string {
	if f.isTest() && (withinAny(ours, testSupport) || withinAny(ours, row.tests) || ours == f.pkg()) {
		return ""
	}
	// But a command its own parts, and a part what its row names.
	if within(ours, "cmd/...") && !within(ours, f.pkg()+"/...") && !slices.Contains(row.may, ours) {
		return "nobody imports cmd"
	}
	if !withinAny(ours, row.may) || withinAny(ours, row.never) {
		return "the arrows point towards model"
	}
	if isSource(f.pkg()) && isSource(ours) {
		return "one source does not import another"
	}
	return ""
}

// isSource reports whether a package below sources is a source of its own.
func isSource(pkg string) bool {
	return strings.HasPrefix(pkg, "sources/") && !withinAny(pkg, sourceParts)
}

func checkNames(f file) []string {
	var out []string
	name := strings.TrimSuffix(f.ast.Name.Name, "_test")
	if slices.Contains(badPackageNames, name) {
		out = append(out, f.breach(f.ast.Package, "package %s is not a noun of the domain", name))
	}
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			out = append(out, f.breach(fn.Pos(), "func init: use a table that can be read"))
		}
	}
	return out
}

// checkCalls finds clock reads, printing, exiting and goroutines outside their places.
func checkCalls(f file) []string {
	if f.isTestSupport() {
		return nil
	}
	inCmd := within(f.pkg(), "cmd/...")
	names := importNames(f)
	var out []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || x.Obj != nil { // Obj is set for everything but a package
				return true
			}
			from := names[x.Name]
			if !f.isRunner() && slices.Contains(clock[from], n.Sel.Name) {
				out = append(out, f.breach(n.Pos(), "%s.%s: the clock is read in sources/run.go and cmd only", x.Name, n.Sel.Name))
			}
			if !inCmd && slices.Contains(printing[from], n.Sel.Name) {
				out = append(out, f.breach(n.Pos(), "%s.%s: printing and exiting live in cmd only", x.Name, n.Sel.Name))
			}
		case *ast.GoStmt:
			if withinAny(f.pkg(), alone) {
				out = append(out, f.breach(n.Pos(), "go: %s has one caller at a time and starts nothing", f.pkg()))
			}
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			if ok && !inCmd && id.Obj == nil && (id.Name == "print" || id.Name == "println") {
				out = append(out, f.breach(n.Pos(), "%s: printing and exiting live in cmd only", id.Name))
			}
		}
		return true
	})
	return out
}

// importNames maps the name a file uses for a package to its import path.
func importNames(f file) map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(target)
		if strings.HasPrefix(target, "charm.land/bubbletea/") {
			name = "tea" // its last element is the version
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = target
	}
	return names
}

func checkLength(f file) []string {
	if f.isTest() || ast.IsGenerated(f.ast) {
		return nil
	}
	if n := strings.Count(f.src, "\n"); n > maxLines {
		return []string{fmt.Sprintf("%s: %d lines, more than %d: is it one job?", f.path, n, maxLines)}
	}
	return nil
}

// checkComments returns the packages without a comment that says what they do.
func checkComments(files []file) []string {
	commented := map[string]bool{}
	for _, f := range files {
		if f.isTest() {
			continue
		}
		commented[f.pkg()] = commented[f.pkg()] || describes(f)
	}
	var out []string
	for pkg, ok := range commented {
		if !ok {
			out = append(out, pkg+": no package comment that says its one job")
		}
	}
	slices.Sort(out)
	return out
}

func describes(f file) bool {
	text := f.ast.Doc.Text()
	if f.ast.Name.Name == "main" {
		return text != ""
	}
	return strings.HasPrefix(text, "Package "+f.ast.Name.Name+" ")
}

// topLevel is everything that may stand at the root besides dotfiles.
var topLevel = []string{
	"cmd", "tui", "sources", "model", "themes", "docs",
	"go.mod", "go.sum", "Makefile", "README.md", "LICENSE", "CONTRIBUTING.md",
}

// builds is what building and testing leaves at the root; git ignores it.
var builds = []string{"bin", "slotop"}

func checkTopLevel(entries []string) []string {
	var out []string
	for _, e := range entries {
		ext := path.Ext(e)
		if strings.HasPrefix(e, ".") || slices.Contains(topLevel, e) || slices.Contains(builds, e) || ext == ".test" || ext == ".out" {
			continue
		}
		out = append(out, e+": has no place at the top level")
	}
	return out
}
