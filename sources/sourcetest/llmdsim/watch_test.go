package llmdsim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"
)

// What the test reads of a frame's public JSON form.
type (
	frame struct {
		At       time.Time
		CoveredS *float64 `json:"covered_s"`
		Targets  []struct {
			State      *string
			Fault      *struct{ Kind string }
			LastGoodAt *time.Time `json:"last_good_at"`
			Restarts   int
			Engine     *string
			Running    *float64
			Waiting    *float64
		}
		Workflows []workflow
	}
	workflow struct {
		Name     string
		Requests struct {
			Started, Finished, Running, Waiting *float64
			PerSecond                           *float64 `json:"per_second"`
			Basis                               string
		}
		Tokens struct {
			Prompt *float64 `json:"prompt_per_second"`
			Output *float64 `json:"output_per_second"`
		}
		TTFT, ITL, E2E, Queue, Decode *dist
		Notes                         []string
	}
	dist struct {
		N             float64
		Mean          *float64
		P50, P95, P99 *quantile
		Basis         string
	}
	quantile struct {
		Value, Lo, Hi *float64
		Open          bool
	}
)

// covered is the span of the frame's rates: from its oldest snapshot to its newest.
func (f *frame) covered(t *testing.T) (from, to time.Time) {
	t.Helper()
	if len(f.Targets) != 1 || f.Targets[0].LastGoodAt == nil || f.CoveredS == nil {
		t.Fatalf("frame at %v covers nothing", f.At)
	}
	to = *f.Targets[0].LastGoodAt
	return to.Add(-time.Duration(*f.CoveredS * float64(time.Second))), to
}

func (f *frame) workflow(t *testing.T) *workflow {
	t.Helper()
	if len(f.Workflows) != 1 || f.Workflows[0].Name != modelName {
		t.Fatalf("frame at %v has workflows %+v", f.At, f.Workflows)
	}
	return &f.Workflows[0]
}

// recorder is slotop record, running.
type recorder struct {
	cmd *exec.Cmd
	log bytes.Buffer
}

func record(t *testing.T, slotop, tape, target string) *recorder {
	t.Helper()
	r := &recorder{cmd: exec.Command(slotop, "record", "-o", tape, "--every", "1s", target)}
	r.cmd.Stdout, r.cmd.Stderr = &r.log, &r.log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *recorder) stop(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Fatalf("slotop record: %v\n%s", err, r.log.Bytes())
	}
	t.Logf("%s", bytes.TrimSpace(r.log.Bytes()))
}

// frames replays a tape and returns every frame of it, at the given window.
func frames(t *testing.T, slotop, tape string, window time.Duration) []*frame {
	t.Helper()
	cmd := exec.Command(slotop, "snapshot", "-o", "json", "--frames", "--window", window.String(), tape)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("slotop snapshot: %v\n%s", err, errs.Bytes())
	}
	return decode(t, out)
}

func decode(t *testing.T, lines []byte) []*frame {
	t.Helper()
	var all []*frame
	s := bufio.NewScanner(bytes.NewReader(lines))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		f := &frame{}
		if err := json.Unmarshal(s.Bytes(), f); err != nil {
			t.Fatalf("read a frame: %v\n%s", err, s.Bytes())
		}
		all = append(all, f)
	}
	if err := s.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%d frames, %v", len(all), err)
	}
	return all
}

// table collects what slotop showed beside what the clients measured.
type table struct {
	t    *testing.T
	rows []string
}

func (tb *table) row(phase, figure, shown, measured string, ok bool) {
	verdict := "ok"
	if !ok {
		verdict = "WRONG"
		tb.t.Errorf("%s, %s: slotop shows %s, the clients measured %s", phase, figure, shown, measured)
	}
	tb.rows = append(tb.rows, fmt.Sprintf("%-12s %-22s %-34s %-22s %s", phase, figure, shown, measured, verdict))
}

// count compares numbers of things; slack is how many may differ.
func (tb *table) count(phase, figure string, shown *float64, measured, slack float64) {
	if shown == nil {
		tb.row(phase, figure, "null", fmt.Sprintf("%.0f", measured), false)
		return
	}
	// A rate times its span is a whole number but for rounding.
	ok := math.Abs(*shown-measured) <= slack+1e-6*measured
	tb.row(phase, figure, fmt.Sprintf("%.6g", *shown), fmt.Sprintf("%.0f", measured), ok)
}

// mean compares seconds; the client's contain the way to and from the server.
func (tb *table) mean(phase, figure string, shown *float64, measured, slack float64) {
	if shown == nil {
		tb.row(phase, figure, "null", seconds(measured), false)
		return
	}
	tb.row(phase, figure, seconds(*shown), seconds(measured), math.Abs(*shown-measured) <= slack)
}

// quantile checks that the bracket holds what the clients measured.
func (tb *table) quantile(phase, figure string, q *quantile, measured, slack float64) {
	if q == nil || q.Lo == nil {
		tb.row(phase, figure, "null", seconds(measured), false)
		return
	}
	if q.Open {
		tb.row(phase, figure, "> "+seconds(*q.Lo), seconds(measured), measured > *q.Lo-slack)
		return
	}
	shown := fmt.Sprintf("%s in (%s, %s]", seconds(*q.Value), seconds(*q.Lo), seconds(*q.Hi))
	tb.row(phase, figure, shown, seconds(measured), measured > *q.Lo-slack && measured <= *q.Hi+slack)
}

func seconds(v float64) string {
	if v < 1 {
		return fmt.Sprintf("%.1f ms", 1000*v)
	}
	return fmt.Sprintf("%.3f s", v)
}
