package sim

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// An incident in one workflow leaves the requests of the others as they are.
func TestIncidentsLeaveOthersAlone(t *testing.T) {
	requests := func(id string) map[string]string {
		m := &meter{sim: service(t, Options{Seed: 4, Scenario: id, At: 30 * time.Second})}
		m.watch(0, 90*time.Second)
		out := map[string]string{}
		for _, e := range m.events {
			out[fmt.Sprint(e.Workflow, e.Arrival)] = fmt.Sprint(e.PromptTokens, e.OutputTokens)
		}
		return out
	}
	plain := requests("S0")
	for id, touched := range map[string]string{"S1": "chat", "S2": "", "S3": "chat batch-eval", "S5": "chat", "S7": "batch-eval", "S9": "summarize", "S12": "", "S13": "chat", "S14": ""} {
		compared := 0
		for which, lengths := range requests(id) {
			of := strings.TrimRight(which, "0123456789.msh")
			if plain[which] == "" || touched != "" && strings.Contains(touched, of) {
				continue
			}
			compared++
			if lengths != plain[which] {
				t.Fatalf("%s: %s has %s tokens, without it %s", id, which, lengths, plain[which])
			}
		}
		if compared < 20 {
			t.Errorf("%s: %d requests compared", id, compared)
		}
	}
}

// Who comes with an incident is on no page before the first request of it, and its
// rows move nothing of the others', the times of their making neither.
func TestComersAppearWithTheirFirstRequest(t *testing.T) {
	s := service(t, Options{Seed: 4, Replicas: 1, Scenario: "S2", At: 30 * time.Second})
	page := func() (others, comers []byte) {
		all, err := s.Replicas()[0].Page(nil)
		if err != nil {
			t.Fatal(err)
		}
		parse(t, all)
		for line := range bytes.Lines(all) {
			switch {
			case bytes.Contains(line, []byte(`model_name="doc-agent"`)):
				comers = append(comers, line...)
			case bytes.Contains(line, []byte("_created")):
				others = append(others, line...)
			}
		}
		return others, comers
	}
	s.Advance(30 * time.Second)
	made, none := page()
	s.Advance(60 * time.Second)
	later, some := page()
	if len(none) > 0 || len(some) == 0 || !bytes.Equal(made, later) {
		t.Errorf("%d bytes of it before, %d after; the others' times are equal: %v", len(none), len(some), bytes.Equal(made, later))
	}
	first, _, _ := bytes.Cut(some, []byte("_created"))
	if len(first) == len(some) {
		t.Error("its rows have no time of their making")
	}
}

// The job is over when its requests have come, and has no more after the incident.
func TestTheJobEnds(t *testing.T) {
	m := &meter{sim: service(t, Options{Seed: 4, Scenario: "S12", At: 30 * time.Second})}
	m.watch(0, 400*time.Second)
	n, last := 0, time.Duration(0)
	for _, e := range m.events {
		if e.Workflow == evalJob.Name {
			n++
			last = max(last, e.Arrival)
			if e.Finish-e.Arrival > time.Hour {
				t.Errorf("%+v is late", e)
			}
		}
	}
	if n != 2*evalJob.Total {
		t.Errorf("%d requests", n)
	}
	near(t, "the last came, s", last.Seconds(), 150, 0.1)
}

// A pool that shrinks under a running engine is told on its page, and no block is
// counted twice or lost.
func TestThePoolShrinksAndGrows(t *testing.T) {
	s := service(t, Options{Seed: 4, Replicas: 1, Scenario: "S3b", At: 20 * time.Second, For: 60 * time.Second})
	r := s.replicas[0]
	for s.now < 150*time.Second {
		at, _ := s.next()
		s.Advance(at)
		if s.now == 20*time.Second || s.now == 80*time.Second {
			continue // before the scheduler has come to it
		}
		used := r.free
		for _, q := range r.running {
			used += q.blocks
		}
		if used != r.limits.Blocks {
			t.Fatalf("at %v: %d blocks of %d", s.now, used, r.limits.Blocks)
		}
	}
	for at, blocks := range map[time.Duration]string{19: "27375", 21: "2812", 81: "27375"} {
		page := pageAt(t, Options{Seed: 4, Replicas: 1, Scenario: "S3b", At: 20 * time.Second, For: 60 * time.Second}, at*time.Second, 0)
		if !bytes.Contains(page, []byte(`num_gpu_blocks="`+blocks+`"`)) {
			t.Errorf("at %d s the page does not tell of %s blocks", at, blocks)
		}
	}
	if r.names[0].preemptions == 0 {
		t.Error("nothing was preempted")
	}
}
