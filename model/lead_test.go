package model

import "testing"

// TestLeadOf: causes before symptoms, the one that names the workflow first, and only
// of its own pool.
func TestLeadOf(t *testing.T) {
	finding := func(id string, l Layer, pool, workflow Text) FindingView {
		return FindingView{ID: id, Layer: l, Pool: pool, Workflow: workflow}
	}
	two := []DiagnosisView{{Pool: "a", Workflows: []string{"chat", "batch"}}, {Pool: "b", Workflows: []string{"code"}}}
	for name, tt := range map[string]struct {
		pools    []DiagnosisView
		findings []FindingView
		workflow string
		want     string
		pool     string
		more     int
	}{
		"nobody looked":               {nil, nil, "chat", "", "", 0},
		"nothing found":               {two, nil, "chat", "", "a", 0},
		"another pool's":              {two, []FindingView{finding("T1", LayerCause, "a", "chat")}, "code", "", "b", 0},
		"a cause that names another":  {two, []FindingView{finding("T1", LayerCause, "a", "batch"), finding("E6", LayerSymptom, "a", "chat")}, "chat", "T1", "a", 1},
		"the cause that names it":     {two, []FindingView{finding("T1", LayerCause, "a", "batch"), finding("T4", LayerCause, "a", "chat"), finding("T2", LayerCause, "a", "chat")}, "chat", "T4", "a", 2},
		"the first that names it":     {two, []FindingView{finding("T4", LayerCause, "a", "chat"), finding("T2", LayerCause, "a", "chat")}, "chat", "T4", "a", 1},
		"one pool has no name":        {[]DiagnosisView{{Workflows: []string{"chat"}}}, []FindingView{finding("T1", LayerCause, "", "")}, "chat", "T1", "", 0},
		"a workflow nobody knows":     {two, []FindingView{finding("T1", LayerCause, "a", "batch")}, "new", "", "", 0},
		"what binds before a symptom": {two, []FindingView{finding("T6", LayerBinding, "a", ""), finding("E6", LayerSymptom, "a", "chat")}, "chat", "T6", "a", 1},
	} {
		f := Frame{Diagnoses: tt.pools, Findings: tt.findings}
		l := f.LeadOf(tt.workflow)
		id, pool := "", ""
		if l.Finding != nil {
			id = l.Finding.ID
		}
		if l.Pool != nil {
			pool = l.Pool.Pool
		}
		if id != tt.want || pool != tt.pool || l.More != tt.more {
			t.Errorf("%s: %q of %q and %d more, want %q of %q and %d more", name, id, pool, l.More, tt.want, tt.pool, tt.more)
		}
	}
}

func TestWordsOfADiagnosis(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{(&FindingView{Title: "preemption stalls"}).Because(), "preemption stalls"},
		{(&FindingView{Title: "t", Cause: "arrivals ×3.6", Binding: "KV cache full"}).Because(), "arrivals ×3.6 · KV cache full"},
		{(&FindingView{Cause: "KV cache full", Binding: "KV cache full"}).Because(), "KV cache full"},
		{(&DiagnosisView{State: CannotTell, Why: "20 s of quiet"}).Verdict(), "cannot tell: 20 s of quiet"},
		{(&DiagnosisView{State: CannotTell}).Verdict(), "cannot tell"},
		{(&DiagnosisView{State: NoFinding, Sentence: "no factor moved: arrivals ×1.02"}).Verdict(), "no factor moved: arrivals ×1.02"},
		{(&DiagnosisView{State: NoFinding, Why: "no traffic"}).Verdict(), "no finding: no traffic"},
		{(&DiagnosisView{State: NoFinding}).Verdict(), "no finding: no factor moved"},
		{BindsNothing.Word(), ""}, {BindsKV.Word(), "KV cache"}, {BindsCap.Word(), "sequence cap"}, {BindsObjective.Word(), "an objective"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
