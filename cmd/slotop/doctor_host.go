package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"

	"slotop/cmd/slotop/screen"
	"slotop/model/report"
	"slotop/sources"
	"slotop/sources/discover"
)

// hostFacts are what of this host decides what can be seen: the configuration, the
// driver of its GPUs, the terminal, and where tapes would go.
func (a *app) hostFacts(ctx context.Context, s settings) []report.Fact {
	return []report.Fact{a.configFact(s), gpuFact(ctx, s.opt), a.terminalFact(), tapeFact()}
}

func (a *app) configFact(s settings) report.Fact {
	f := report.Fact{What: "config"}
	path := cmp.Or(a.flags.config, filepath.Join(configDir(), "config.yaml"))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		f.Says = path + ": no file, the defaults hold; slotop config init writes one"
		return f
	}
	f.Says = fmt.Sprintf("%s: right, %s, %s", path, count(len(s.file.Targets), "target"), count(len(s.file.Workflows), "workflow"))
	return f
}

// gpuFact says whether the driver of this host's GPUs can be used.
func gpuFact(ctx context.Context, opt sources.Options) report.Fact {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	f := report.Fact{What: "GPUs"}
	found, err := sources.Look(ctx, discover.NVML, opt)
	switch {
	case err != nil:
		f.Says, f.Bad = err.Error(), true
	case found.Fault != nil:
		f.Says, f.Bad = found.Fault.Detail, true
	default:
		f.Says = fmt.Sprintf("the driver answers (%s)", cmp.Or(found.Version, found.Engine, found.Note))
	}
	return f
}

// terminalFact says what the screen can show here.
func (a *app) terminalFact() report.Fact {
	f := report.Fact{What: "terminal"}
	name := cmp.Or(os.Getenv("TERM"), "TERM is not set")
	if !term.IsTerminal(int(a.screen.Fd())) {
		f.Says = name + ", the output is no terminal: slotop snapshot and check need none"
		return f
	}
	signs := "all characters"
	if asciiOnly() {
		signs = "ASCII only, by TERM or the locale (LC_ALL, LC_CTYPE, LANG)"
	}
	f.Says = fmt.Sprintf("%s, %s, %s", name, a.colours(), signs)
	w, h, err := term.GetSize(int(a.screen.Fd()))
	if err == nil {
		f.Says += fmt.Sprintf(", %d×%d", w, h)
	}
	if f.Bad = err == nil && (w < 80 || h < 24); f.Bad {
		f.Says += ": below 80×24 the overview leaves things out"
	}
	return f
}

// colours are how many the screen will use.
func (a *app) colours() string {
	if screen.Colourless(os.Getenv("TERM")) {
		return "no colours"
	}
	switch colorprofile.Detect(a.screen, os.Environ()) {
	case colorprofile.TrueColor:
		return "16 million colours"
	case colorprofile.ANSI256:
		return "256 colours"
	case colorprofile.ANSI:
		return "16 colours"
	default:
		return "no colours"
	}
}

// tapeFact says whether a tape can be written where slotop runs.
func tapeFact() report.Fact {
	f := report.Fact{What: "tapes"}
	dir, err := os.Getwd()
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, ".slotop-*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		f.Says, f.Bad = "none can be written here: "+err.Error()+"; write elsewhere with record -o", true
		return f
	}
	f.Says = "can be written to " + dir
	return f
}
