package tape

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"slotop/model"
)

func TestHeader(t *testing.T) {
	want := Header{
		Version: "1.2.3", Recorded: t0, Every: 1500 * time.Millisecond, Window: time.Minute, Simulated: true, Policy: policy(),
		Targets: []model.Target{{ID: "http://a:8000/metrics", Name: "a:8000", Kind: "engine", Simulated: true}, {ID: "b", Name: "b", Kind: "gpu"}, {ID: "c", Name: "c", Kind: "engine", GPUs: "GPU-1 b"}},
	}
	tape := record(t, want, nil)
	_, r, err := play(t, tape)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.Header(), want) {
		t.Errorf("got %+v\nwant %+v", r.Header(), want)
	}
	if !bytes.HasPrefix(tape, []byte("slotop.tape/4\n{\"schema\":\"slotop.tape/4\",\"version\":\"1.2.3\"")) {
		t.Errorf("the header cannot be read by eye: %q", tape[:80])
	}
}

func TestHeaderRefusesPasswords(t *testing.T) {
	for _, id := range []model.TargetID{"http://user:secret@a:8000/metrics", "prom+https://token@a"} {
		_, err := NewWriter(io.Discard, Header{Targets: []model.Target{{ID: id}}})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", id, err)
		}
	}
	for _, p := range []model.Policy{
		{Workflows: []model.WorkflowSpec{{Name: "chat", Match: []model.Match{{Model: "m"}, {Target: "http://user:secret@a:8000"}}}}},
		{Rules: []model.RuleSpec{{Name: "down", Target: "https://user:secret@*"}}},
		{Hardware: []model.HardwareSpec{{Target: "http://user:secret@a:8000", GPUs: 2}}},
	} {
		_, err := NewWriter(io.Discard, Header{Policy: p})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := NewWriter(io.Discard, Header{Targets: []model.Target{{ID: "http://a:8000/x@y"}}}); err != nil {
		t.Error(err)
	}
}

// policy is one of everything that may be promised.
func policy() model.Policy {
	over, clear := 0.9, 0.7
	return model.Policy{
		Workflows: []model.WorkflowSpec{{
			Name: "chat", Match: []model.Match{{Workflow: "chat*", Labels: map[string]string{"team": "shop"}}, {Model: "llama", Adapter: "?", Target: "edge"}},
			Objectives: []model.Objective{{Metric: model.MetricTTFT, MaxS: 0.5}, {Metric: model.MetricTPOT, MaxS: 0.05}},
			Share:      0.95, PeriodS: 86400, Reader: model.ReaderHuman, TruncatedBad: true, OneTokenBad: true,
		}, {Name: "*", Share: 1.0 / 3, PeriodS: 3600, DeadlineS: 3600, Assumed: true}},
		KeepOthers: true, GraceS: 120, IdleClearS: 900, SilentAfterS: 60,
		Rules: []model.RuleSpec{{Name: "kv", Signal: "kv_cache_ratio", Over: &over, Clear: &clear, ForS: 60, HoldS: 30, Workflow: "a", Target: "*", Severity: model.Warn}},
	}
}

// TestEveryFieldOfThePolicyIsKept, whatever will be promised in time to come.
func TestEveryFieldOfThePolicyIsKept(t *testing.T) {
	var want Header
	fill(rand.New(rand.NewPCG(1, 1)), reflect.ValueOf(&want).Elem())
	want.Every, want.Window = time.Second, time.Minute // the tape has them in seconds
	r, err := NewReader(bytes.NewReader(record(t, want, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !reflect.DeepEqual(r.Header(), want) {
		t.Errorf("got %+v\nwant %+v", r.Header(), want)
	}
}

// TestNoPolicy: where nothing is promised, the header says nothing of it.
func TestNoPolicy(t *testing.T) {
	if tape := record(t, Header{}, nil); bytes.Contains(tape, []byte("policy")) {
		t.Errorf("%q", tape)
	}
}

// TestHeaderTooLong: what no reader takes is not written.
func TestHeaderTooLong(t *testing.T) {
	many := make([]model.WorkflowSpec, maxHeader/30)
	_, err := NewWriter(io.Discard, Header{Policy: model.Policy{Workflows: many}})
	if err == nil || !strings.Contains(err.Error(), "record fewer") {
		t.Errorf("got %v", err)
	}
}

func TestForeignFiles(t *testing.T) {
	tests := []struct{ content, want string }{
		{"", "it is empty"},
		{"# HELP vllm:num_requests_running x\n", "a saved metrics page?"},
		{"<html>", "starts with markup"},
		{`{"a":1}`, "starts with JSON"},
		{"\x28\xb5\x2f\xfdgarbage that goes on", `starts with "(\xb5/\xfd`},
		{"slotop.tape", `starts with "slotop.tape"`},
		{"slotop.tape/5\n{}\n", `"slotop.tape/5", this slotop reads "slotop.tape/1" to "slotop.tape/4": use`},
		{"slotop.tape/1\n", "the file ends inside it"},
		{"slotop.tape/1", "the file ends inside it"},
		{"slotop.tape/1\n{\"schema\":\"slotop.tape/1\"", "the file ends inside it"},
		{"slotop.tape/1\n\n", "read tape header: EOF"},
		{"slotop.tape/1\n{\"schema\":\"slotop.tape/1\"}{}\n", "more than one JSON value"},
		{"slotop.tape/1\nnonsense\n", "read tape header: invalid character"},
		{"slotop.tape/1\n{\"schema\":\"slotop.tape/1\",\"colour\":1}\n", `unknown field "colour"`},
		{"slotop.tape/2\n{\"schema\":\"slotop.tape/2\",\"colour\":1}\n", `unknown field "colour"`},
		{"slotop.tape/2\n{\"schema\":\"slotop.tape/2\",\"policy\":{\"colour\":1}}\n", `unknown field "colour"`},
		{"slotop.tape/2\n{\"schema\":\"slotop.tape/2\",\"policy\":{\"workflows\":[{\"slo\":1}]}}\n", `unknown field "slo"`},
		{"slotop.tape/1\n{\"schema\":\"slotop.tape/1\",\"policy\":{}}\n", `unknown field "policy"`},
		{"slotop.tape/1\n{\"schema\":\"slotop.tape/9\"}\n", `"slotop.tape/9"`},
		{"slotop.tape/1\n{\"schema\":\"slotop.tape/2\"}\n", `the first line says "slotop.tape/1", the second "slotop.tape/2"`},
		{"slotop.tape/3\n{\"schema\":\"slotop.tape/2\"}\n", `the first line says "slotop.tape/3", the second "slotop.tape/2"`},
		{"slotop.tape/1\n" + strings.Repeat("x", maxHeader+1), "longer than"},
		{"slotop.tape/4\n{\"schema\":\"slotop.tape/3\"}\n", `the first line says "slotop.tape/4", the second "slotop.tape/3"`},
		{"slotop.tape/" + strings.Repeat("1", 100), "longer than"},
	}
	for _, tc := range tests {
		_, err := NewReader(strings.NewReader(tc.content))
		if err == nil {
			t.Errorf("%.40q: no error", tc.content)
			continue
		}
		if !strings.Contains(err.Error(), tc.want) || errors.Is(err, io.EOF) {
			t.Errorf("%.40q: %v, want %s", tc.content, err, tc.want)
		}
		if _, err := Scan(strings.NewReader(tc.content)); err == nil {
			t.Errorf("%.40q: scanned", tc.content)
		}
	}
}

func TestIs(t *testing.T) {
	if !Is([]byte("slotop.tape/2")) || Is([]byte("# HELP")) || Is(nil) {
		t.Error("Is")
	}
}
