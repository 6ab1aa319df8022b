package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"slotop/model"
)

// Pages of two servers in one capture were read at the same polls: a server that
// was read less often must not be played faster.
func TestTwoServersOfACaptureShareOneAxis(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		want  map[string][]int // seconds at which each target was polled
	}{
		"numbers": {
			[]string{"000.prom", "000.sim.prom", "001.prom", "003.prom", "003.sim.prom"},
			map[string][]int{"": {0, 5, 15}, "/sim": {0, 15}},
		},
		"names": {
			[]string{"a0.prom", "a0.sim.prom", "a1.prom", "b9.prom", "b9.sim.prom"},
			map[string][]int{"": {0, 5, 10}, "/sim": {0, 10}},
		},
		"one server keeps the order of names": {
			[]string{"000.prom", "004.prom"},
			map[string][]int{"": {0, 5}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range test.files {
				if err := os.WriteFile(filepath.Join(dir, f), []byte("# TYPE x gauge\nx 1\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			opened, err := Resolve(t.Context(), []string{dir}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			names := map[model.TargetID]string{}
			for _, o := range opened {
				names[o.Target.ID] = o.Target.Name[len(filepath.Base(dir)):]
			}
			got := map[string][]int{}
			err = Play(t.Context(), opened, PlayOptions{Every: 5 * time.Second}, func(in model.Input) {
				if in.Batch != nil {
					n := names[in.Batch.Target]
					got[n] = append(got[n], int(in.At.Mono.Seconds()))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(test.want) {
				t.Errorf("got %v", got)
			}
			for n, want := range test.want {
				if !slices.Equal(got[n], want) {
					t.Errorf("%q polled at %s, want %v", n, fmt.Sprint(got[n]), want)
				}
			}
		})
	}
}
