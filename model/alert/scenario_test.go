package alert

import (
	"bufio"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

// epoch is the wall time at which scenarios begin.
var epoch = time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)

// after is the instant d after the beginning.
func after(d time.Duration) model.Instant {
	return model.Instant{Wall: epoch.Add(d), Mono: d}
}

// scenario is one file of testdata; its README says how it reads.
type scenario struct {
	rule  Rule
	truth bool
	steps []scenarioStep
}

type scenarioStep struct {
	line  int
	at    model.Instant
	is    verdict
	value model.Reading
	want  string
}

func TestScenarios(t *testing.T) {
	for _, file := range scenarioFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			sc := readScenario(t, file)
			if got := sc.run(nil); got != "" {
				t.Errorf("%s\n%s", file, got)
			}
		})
	}
}

// edge is one way through the state machine, and what led there.
type edge struct {
	from string
	is   verdict
	to   string
}

func (e edge) String() string {
	return fmt.Sprintf("%s -> %s on %s", e.from, e.to, [...]string{"silence", "a recovered value", "a value between the bounds", "a value beyond the limit"}[e.is])
}

// machine lists every way there is.
var machine = []struct {
	from string
	is   verdict
	to   []string
}{
	{"inactive", cannotTell, []string{"unknown"}},
	{"inactive", recovered, []string{"inactive"}},
	{"inactive", between, []string{"inactive"}},
	{"inactive", beyond, []string{"pending", "firing"}},
	{"pending", cannotTell, []string{"unknown", "resolved"}},
	{"pending", recovered, []string{"inactive", "resolved"}},
	{"pending", between, []string{"inactive", "resolved"}},
	{"pending", beyond, []string{"pending", "firing"}},
	{"firing", cannotTell, []string{"stale"}},
	{"firing", recovered, []string{"firing", "resolved"}},
	{"firing", between, []string{"firing"}},
	{"firing", beyond, []string{"firing"}},
	{"stale", cannotTell, []string{"stale"}},
	{"stale", recovered, []string{"firing", "resolved"}},
	{"stale", between, []string{"firing"}},
	{"stale", beyond, []string{"firing"}},
	{"resolved", cannotTell, []string{"resolved", "unknown"}},
	{"resolved", recovered, []string{"resolved", "inactive"}},
	{"resolved", between, []string{"resolved", "inactive"}},
	{"resolved", beyond, []string{"pending", "firing"}},
	{"unknown", cannotTell, []string{"unknown"}},
	{"unknown", recovered, []string{"inactive"}},
	{"unknown", between, []string{"inactive"}},
	{"unknown", beyond, []string{"pending", "firing"}},
}

// allEdges is machine, flat.
func allEdges() map[edge]bool {
	all := map[edge]bool{}
	for _, m := range machine {
		for _, to := range m.to {
			all[edge{m.from, m.is, to}] = true
		}
	}
	return all
}

// The scenarios go every way and no other, and each change of state has a file
// that bears its name and shows it.
func TestScenariosCoverTheMachine(t *testing.T) {
	all, gone := allEdges(), map[edge]bool{}
	named := map[string]map[edge]bool{}
	for _, file := range scenarioFiles(t) {
		sc, own := readScenario(t, file), map[edge]bool{}
		sc.run(func(e edge) { gone[e], own[e] = true, true })
		named[strings.TrimSuffix(filepath.Base(file), ".txt")] = own
	}
	for e := range gone {
		if !all[e] {
			t.Errorf("%s: the state machine does not allow that", e)
		}
	}
	for e := range all {
		if !gone[e] {
			t.Errorf("%s: no scenario goes there", e)
		}
		name := e.from + "-" + e.to
		shown := slices.ContainsFunc(slices.Collect(maps.Keys(named[name])), func(o edge) bool {
			return o.from == e.from && o.to == e.to
		})
		if e.from != e.to && !shown {
			t.Errorf("testdata/%s.txt: absent, or does not show it", name)
		}
	}
}

// Stamps may be anything: what cannot be subtracted or added saturates.
func TestTimeSaturates(t *testing.T) {
	const most = time.Duration(math.MaxInt64)
	for _, tt := range []struct{ from, to, want time.Duration }{
		{0, 5, 5}, {5, 0, 0}, {5, 5, 0}, {-most, most, most}, {most, -most, 0}, {-5, 5, 10},
	} {
		if got := elapsed(tt.from, tt.to); got != tt.want {
			t.Errorf("from %d to %d: %d, want %d", tt.from, tt.to, got, tt.want)
		}
	}
	if plus(most-1, 1) != most || plus(most, 1) != most || plus(most, most) != most || plus(2, 3) != 5 {
		t.Error("sums do not saturate")
	}
}

func TestTruthIsNamed(t *testing.T) {
	if got := fmt.Sprint(CannotTell, No, Yes, Truth(0) == CannotTell); got != "cannot tell no yes true" {
		t.Errorf("got %q", got)
	}
}

// The runner itself must be able to fail.
func TestScenarioFailureIsReadable(t *testing.T) {
	sc := scenario{rule: Rule{Limit: 0.5, Clear: 0.5}}
	sc.steps = []scenarioStep{
		{3, after(0), recovered, model.Of(0.4), "inactive"},
		{4, after(10 * time.Second), beyond, model.Of(0.6), "pending"},
	}
	want := "line 4: at 10s, reading 0.6: firing, want pending (before: inactive)"
	if got := sc.run(nil); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// run plays a scenario up to the first state that is not as written, and says
// where that was. Each step taken is handed to gone, if that is given.
func (sc scenario) run(gone func(edge)) string {
	var s Status
	before := "inactive"
	for _, st := range sc.steps {
		if sc.truth {
			s = sc.rule.StepTruth(s, st.truth(), st.value, st.at)
		} else {
			s = sc.rule.Step(s, st.value, st.at)
		}
		got := word(s)
		if gone != nil {
			gone(edge{before, st.is, got})
		}
		if got != st.want {
			reading := "?"
			if v, ok := st.value.Get(); ok {
				reading = fmt.Sprint(v)
			}
			return fmt.Sprintf("line %d: at %s, reading %s: %s, want %s (before: %s)", st.line, st.at.Mono, reading, got, st.want, before)
		}
		before = got
	}
	return ""
}

func (st scenarioStep) truth() Truth {
	return map[verdict]Truth{cannotTell: CannotTell, recovered: No, beyond: Yes}[st.is]
}

// word is a status in the words of a scenario.
func word(s Status) string {
	if s.State == model.AlertFiring && s.Stale {
		return "stale"
	}
	return string(s.State)
}

func scenarioFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	return files
}

func readScenario(t *testing.T, file string) scenario {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sc scenario
	wall := epoch
	in := bufio.NewScanner(f)
	for line := 1; in.Scan(); line++ {
		fields := strings.Fields(in.Text())
		switch {
		case line == 1:
		case line == 2:
			err = sc.readRule(fields)
		case fields[0] == "wall":
			var d time.Duration
			d, err = time.ParseDuration(fields[1])
			wall = wall.Add(d)
		default:
			err = sc.readStep(line, fields, wall)
		}
		if err != nil {
			t.Fatalf("%s:%d: %v", file, line, err)
		}
	}
	if len(sc.steps) == 0 {
		t.Fatalf("%s: no readings", file)
	}
	return sc
}

// readRule reads "# max 0.50  clear 0.45  for 30s  hold 30s".
func (sc *scenario) readRule(fields []string) (err error) {
	clear := false
	for i := 1; i < len(fields) && err == nil; i += 2 {
		if fields[i] == "truth" {
			sc.truth = true
			i--
			continue
		}
		arg := fields[i+1]
		switch fields[i] {
		case "max", "min":
			sc.rule.Below = fields[i] == "min"
			sc.rule.Limit, err = strconv.ParseFloat(arg, 64)
		case "clear":
			clear = true
			sc.rule.Clear, err = strconv.ParseFloat(arg, 64)
		case "for":
			sc.rule.For, err = time.ParseDuration(arg)
		case "hold":
			sc.rule.Hold, err = time.ParseDuration(arg)
		default:
			err = fmt.Errorf("unknown word %q in the rule", fields[i])
		}
	}
	if !clear {
		sc.rule.Clear = sc.rule.Limit
	}
	return err
}

// readStep reads "50s  0.48  firing  a remark".
func (sc *scenario) readStep(line int, fields []string, wall time.Time) error {
	if len(fields) < 3 {
		return fmt.Errorf("want time, reading and state: %q", fields)
	}
	mono, err := time.ParseDuration(fields[0])
	if err != nil {
		return err
	}
	st := scenarioStep{line: line, at: model.Instant{Wall: wall.Add(mono), Mono: mono}, want: fields[2]}
	switch fields[1] {
	case "?":
	case "-":
		st.value = model.Missing(model.NoTraffic)
	case "yes":
		st.is = beyond
	case "no":
		st.is = recovered
	default:
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return err
		}
		st.value = model.Of(v)
		st.is = sc.rule.judge(st.value)
	}
	sc.steps = append(sc.steps, st)
	return nil
}
