package slo

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"slotop/model"
)

func workflow(name string, m ...model.Match) model.WorkflowSpec {
	return model.WorkflowSpec{Name: name, Match: m, Share: .95, PeriodS: 60, Objectives: []model.Objective{ttft(.5)}}
}

func TestFind(t *testing.T) {
	set, err := NewSet(model.Policy{Workflows: []model.WorkflowSpec{
		workflow("vip", model.Match{Labels: map[string]string{"team": "shop", "route": "/chat*"}}),
		workflow("chat", model.Match{Workflow: "chat-*"}, model.Match{Model: "acme/chat-?b", Target: "gpu*"}),
		workflow("tuned", model.Match{Adapter: "*"}),
		workflow("llama-*"),
		workflow("embed"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	shop := model.Labels("team", "shop", "route", "/chat/v1")
	for _, tt := range []struct {
		name string
		o    Origin
		row  string
		spec string
	}{
		{"both labels", Origin{Workflow: "chat-eu", Labels: shop}, "vip", "vip"},
		{"one label of two", Origin{Workflow: "chat-eu", Labels: model.Labels("team", "shop")}, "chat", "chat"},
		{"the first way", Origin{Workflow: "chat-eu"}, "chat", "chat"},
		{"the second way", Origin{Model: "acme/chat-7b", Target: "gpu-3"}, "chat", "chat"},
		{"half of the second way", Origin{Model: "acme/chat-7b", Target: "cpu-3"}, model.OtherName, ""},
		{"? is one", Origin{Model: "acme/chat-70b", Target: "gpu-3"}, model.OtherName, ""},
		{"any adapter", Origin{Model: "llama-8b", Adapter: "sql"}, "tuned", "tuned"},
		{"no adapter is not any", Origin{Model: "llama-8b"}, "llama-8b", "llama-*"},
		{"its own name is its workflow's", Origin{Workflow: "search", Model: "llama-8b"}, model.OtherName, ""},
		{"by target", Origin{Target: "llama-host"}, "llama-host", "llama-*"},
		{"a name without a glob", Origin{Workflow: "embed"}, "embed", "embed"},
		{"nothing known", Origin{}, model.OtherName, ""},
	} {
		row, spec := set.Find(tt.o)
		if row != tt.row || spec.Name != tt.spec || (tt.spec == "") != (spec == Assumed()) {
			t.Errorf("%s: row %q with %+v", tt.name, row, spec)
		}
	}
	if !set.Names("embed") || set.Names("chat") || set.Names("llama-8b") {
		t.Error("only embed is called by its name")
	}
	if !set.OneRow("embed") || !set.OneRow("chat") || set.OneRow("llama-8b") {
		t.Error("embed and chat are a row each")
	}
	_, a := set.Find(Origin{Workflow: "embed"})
	if _, b := set.Find(Origin{Workflow: "embed"}); a != b {
		t.Error("the same workflow is another pointer each time")
	}
}

func TestOthers(t *testing.T) {
	for _, p := range []model.Policy{
		{},
		{Rules: []model.RuleSpec{{Name: "kv"}}},
		{KeepOthers: true, Workflows: []model.WorkflowSpec{workflow("chat")}},
	} {
		set, err := NewSet(p)
		if err != nil {
			t.Fatal(err)
		}
		if row, spec := set.Find(Origin{Model: "m"}); row != "m" || spec != Assumed() {
			t.Errorf("%+v: row %q with %+v", p, row, spec)
		}
	}
	a := Assumed()
	if !a.Assumed || a.Share != .95 || a.PeriodS != 86400 || !slices.Equal(a.Objectives, []model.Objective{ttft(1), tpot(.05)}) {
		t.Errorf("assumed: %+v", a)
	}
}

func TestMatched(t *testing.T) {
	p := model.Policy{Workflows: []model.WorkflowSpec{
		workflow("a", model.Match{Labels: map[string]string{"team": "x", "key": "y"}}, model.Match{Model: "m"}),
		workflow("b", model.Match{Labels: map[string]string{"team": "z"}}),
	}}
	if got := Matched(p); !slices.Equal(got, []string{"key", "team"}) {
		t.Errorf("%v", got)
	}
	if got := Matched(model.Policy{}); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestBadPolicies(t *testing.T) {
	with := func(change func(*model.WorkflowSpec)) []model.WorkflowSpec {
		w := workflow("chat")
		change(&w)
		return []model.WorkflowSpec{w}
	}
	for _, tt := range []struct {
		workflows []model.WorkflowSpec
		says      string
	}{
		{[]model.WorkflowSpec{workflow("chat"), workflow("chat")}, `workflow "chat": two workflows have this name`},
		{[]model.WorkflowSpec{workflow("a"), workflow("")}, "workflow 2: it has no name"},
		{[]model.WorkflowSpec{workflow("other")}, `"other" is the row of what no workflow matches`},
		{[]model.WorkflowSpec{workflow("\xff")}, "not valid UTF-8"},
		{with(func(w *model.WorkflowSpec) { w.Share = 1 }), `workflow "chat": a share of 1 is promised`},
		{with(func(w *model.WorkflowSpec) { w.Share = 0 }), "a share of 0 is promised"},
		{with(func(w *model.WorkflowSpec) { w.PeriodS = 0 }), "the period of its error budget is 0 s"},
		{with(func(w *model.WorkflowSpec) { w.PeriodS = 1e-6 }), "it must be a second at least"},
		{with(func(w *model.WorkflowSpec) { w.PeriodS = 1e300 }), "100 years at most"},
		{with(func(w *model.WorkflowSpec) { w.DeadlineS = -1 }), "the deadline is -1 s"},
		{with(func(w *model.WorkflowSpec) { w.Objectives[0].MaxS = 0 }), "the bound on ttft is 0 s"},
		{with(func(w *model.WorkflowSpec) { w.Objectives[0].Metric = "itl" }), `unknown metric "itl", known are [ttft`},
		{with(func(w *model.WorkflowSpec) { w.Objectives = append(w.Objectives, ttft(1)) }), "two bounds on ttft"},
		{[]model.WorkflowSpec{workflow("chat", model.Match{})}, "match 1: no pattern is given"},
		{[]model.WorkflowSpec{workflow("chat", model.Match{Model: "m"}, model.Match{Labels: map[string]string{"team": ""}})}, `match 2: label "team"`},
		{[]model.WorkflowSpec{workflow("chat", model.Match{Model: "\xff"})}, "not valid UTF-8"},
	} {
		_, err := NewSet(model.Policy{Workflows: tt.workflows})
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %q", err, tt.says)
		}
	}
	both := []model.WorkflowSpec{workflow("a"), workflow("b")}
	both[0].Share, both[1].PeriodS = 2, -1
	if _, err := NewSet(model.Policy{Workflows: both}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two mistakes are said as %v", err)
	}
}

func FuzzGlob(f *testing.F) {
	for _, pattern := range []string{"*", "", "a?c", "*b*b*", "a*", "**?"} {
		f.Add(pattern, "abcb")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if !utf8.ValidString(pattern) || !utf8.ValidString(s) || len(pattern) > 50 {
			return
		}
		re := regexp.QuoteMeta(pattern)
		re = strings.ReplaceAll(strings.ReplaceAll(re, `\*`, ".*"), `\?`, ".")
		if want := regexp.MustCompile("(?s)^" + re + "$").MatchString(s); Glob(pattern, s) != want {
			t.Errorf("%q against %q: %v", pattern, s, !want)
		}
	})
}

func TestPresets(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Presets {
		w := model.WorkflowSpec{Name: p.Name, Objectives: p.Objectives, Share: p.Share, PeriodS: model.DefaultPeriodS}
		if _, err := NewSet(model.Policy{Workflows: []model.WorkflowSpec{w}}); err != nil || seen[p.Name] || p.Source == "" {
			t.Errorf("%+v: %v", p, err)
		}
		seen[p.Name] = true
	}
	for name, want := range map[string][]model.Objective{
		"mlperf/llama-3.1-8b/server":        {ttft(2), tpot(.1)},
		"mlperf/llama-3.1-8b/interactive":   {ttft(.5), tpot(.03)},
		"mlperf/llama-2-70b/server":         {ttft(2), tpot(.2)},
		"mlperf/llama-2-70b/interactive":    {ttft(.45), tpot(.04)},
		"mlperf/mixtral-8x7b/server":        {ttft(2), tpot(.2)},
		"mlperf/llama-3.1-405b/server":      {ttft(6), tpot(.175)},
		"mlperf/llama-3.1-405b/interactive": {ttft(4.5), tpot(.08)},
		"mlperf/deepseek-r1/server":         {ttft(2), tpot(.08)},
		"mlperf/deepseek-r1/interactive":    {ttft(1.5), tpot(.015)},
		"mlperf/gpt-oss-120b/server":        {ttft(3), tpot(.08)},
		"mlperf/gpt-oss-120b/interactive":   {ttft(2), tpot(.02)},
		"mlperf/qwen3-vl-235b-a22b/server":  {e2e(12)},
		"chat":                              {ttft(.2), tpot(.05)},
		"rag":                               {ttft(.3), tpot(.1), e2e(3)},
		"content-generation":                {ttft(.6), tpot(.2)},
		"code-generation":                   {ttft(.5), tpot(.15)},
		"code-completion":                   {e2e(2)},
	} {
		p, ok := Preset(name)
		if !ok || !slices.Equal(p.Objectives, want) || p.Share != .99 {
			t.Errorf("%s: %+v", name, p)
		}
		delete(seen, name)
	}
	if len(seen) > 0 {
		t.Errorf("presets that nobody published: %v", seen)
	}
	if p, ok := Preset("Chat"); ok {
		t.Errorf("not its name: %+v", p)
	}
}
