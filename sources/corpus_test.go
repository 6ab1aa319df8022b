package sources_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources"
	"slotop/sources/sourcetest/shared"
)

// Every file of the gateways' and the GPUs' corpus, opened as a saved one: what it is
// taken for, or why it is not read and what to do.
func TestWhatEachFileIsTakenFor(t *testing.T) {
	var lines []string
	for _, area := range []string{"gateways", "gpu"} {
		root := shared.Dir(t, "corpus/"+area)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) == ".md" {
				return err
			}
			name, err := filepath.Rel(filepath.Dir(root), path)
			if err == nil {
				lines = append(lines, filepath.ToSlash(name)+": "+takenFor(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	compareGolden(t, "corpus", strings.Join(lines, "\n")+"\n")
}

// takenFor is what the first poll of a file says, in a line.
func takenFor(t *testing.T, path string) string {
	t.Helper()
	opened, err := sources.Resolve(t.Context(), []string{path}, sources.Options{})
	if err != nil {
		return err.Error()
	}
	defer func() { _ = sources.CloseAll(opened) }()
	b, err := opened[0].Source.Poll(t.Context())
	if fault := (*sources.FaultError)(nil); errors.As(err, &fault) {
		return string(fault.Kind) + ": " + fault.Detail
	}
	kind := opened[0].Target.Kind
	if b.About.Kind != "" {
		kind = b.About.Kind
	}
	return fmt.Sprintf("%s %s, %s, %d requests, %d devices", kind, b.About.Engine, signalsIn(b.Samples), len(b.Requests), len(b.Devices))
}

// signalsIn counts samples and the signals that they are of.
func signalsIn(samples []model.Sample) string {
	signals := map[model.Signal]bool{}
	for _, s := range samples {
		signals[s.Signal] = true
	}
	return fmt.Sprintf("%d samples of %d signals", len(samples), len(signals))
}
