package main

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"slotop/model"
	"slotop/model/slo"
)

func objective(m model.Metric, s float64) model.Objective { return model.Objective{Metric: m, MaxS: s} }

func TestSLOFlag(t *testing.T) {
	ms := func(n float64) duration { return duration(n * 1e6) }
	tests := []struct {
		text string
		want sloFlag
	}{
		{"chat:ttft=500ms,tpot=50ms,95%", sloFlag{name: "chat", slo: promise{TTFT: ms(500), TPOT: ms(50), Objective: .95}}},
		{"ttft=1s", sloFlag{name: "*", slo: promise{TTFT: ms(1000)}}},
		{"99.9%", sloFlag{name: "*", slo: promise{Objective: .999}}},
		{"0.9", sloFlag{name: "*", slo: promise{Objective: .9}}},
		{" team-* : e2e = 1m30s , objective = 0.99 ", sloFlag{name: "team-*", slo: promise{E2E: ms(90000), Objective: .99}}},
		{"llama3:8b:queue=2s,first_answer=3s", sloFlag{name: "llama3:8b", slo: promise{Queue: ms(2000), FirstAnswer: ms(3000)}}},
		{"nightly:deadline=1h,period=30d", sloFlag{name: "nightly", slo: promise{Deadline: ms(3600e3), Period: ms(30 * 86400e3)}}},
		{"chat:preset=rag,ttft=200ms", sloFlag{name: "chat", preset: "rag", slo: promise{TTFT: ms(200)}}},
		{"/data/models/chat 70b/:ttft=1s", sloFlag{name: "/data/models/chat 70b/", slo: promise{TTFT: ms(1000)}}},
	}
	for _, tc := range tests {
		var all sloFlags
		if err := all.Set(tc.text); err != nil {
			t.Errorf("%q: %v", tc.text, err)
		} else if all[0] != tc.want {
			t.Errorf("%q: %+v", tc.text, all[0])
		}
	}
}

func TestSLOFlagErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `nothing is promised to "*": write [WORKFLOW:]ttft=500ms,tpot=50ms,95%`},
		{"chat:", `nothing is promised to "chat": write [WORKFLOW:]ttft=500ms`},
		{":ttft=1s", "no workflow before the colon: write [WORKFLOW:]ttft=500ms"},
		{"chat", `part "chat": neither key=value nor a share such as 95%`},
		{"chat:tftt=1s", `part "tftt=1s": unknown key "tftt": did you mean ttft?; write [WORKFLOW:]ttft=500ms`},
		{"chat:ttft=500", `part "ttft=500": "500" is not a duration such as 5s or 1m30s`},
		{"chat:ttft=0s", `part "ttft=0s": "0s" is not a duration`},
		{"chat:ttft=", `part "ttft=": "" is not a duration`},
		{"chat:ttft=1s,,95%", `part "": empty: write [WORKFLOW:]ttft=500ms`},
		{"chat:500ms", `part "500ms": a bound of what? write ttft=500ms`},
		{"chat:ttft:500ms", `part "500ms": a bound of what? write ttft=500ms`},
		{"chat:ttft=1s,ttft=2s", `part "ttft=2s": ttft is given twice`},
		{"chat:95%,objective=99%", `part "objective=99%": objective is given twice`},
		{"chat:ttft=1s,100%", `part "100%": "100%" leaves no room for a single miss`},
		{"chat:ttft=1s,95", `part "95": "95" is not a share between 0% and 100%: write 95% or 0.95`},
		{"chat:preset=caht", `part "preset=caht": no preset is called "caht": did you mean chat? (known: mlperf/`},
		{"other:ttft=1s", `"other" is the row of what no workflow matches`},
	}
	for _, tc := range tests {
		var all sloFlags
		err := all.Set(tc.text)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %s", tc.text, err, tc.want)
		}
		if len(all) != 0 {
			t.Errorf("%q was taken", tc.text)
		}
	}
	headless(t, "snapshot", "--slo", "chat:tpt=1s", "demo").refuses(t, exitUsage, `invalid argument "chat:tpt=1s" for "--slo" flag`, "did you mean tpot?")
}

// FuzzSLO: whatever is taken is a policy that the fold takes.
func FuzzSLO(f *testing.F) {
	for _, s := range []string{"chat:ttft=500ms,tpot=50ms,95%", "a:b:e2e=1s", "*:0.5", "x:period=30d,deadline=1d1h", "preset=rag", "é*?:queue=1ns"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var flags sloFlags
		for _, s := range []string{a, b} {
			if err := flags.Set(s); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %q is not one line", s, err)
			}
		}
		p := flags.over(model.Policy{})
		if _, err := slo.NewSet(p); err != nil && !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%q and %q: %v", a, b, err)
		}
		if len(flags) > 0 && !p.KeepOthers {
			t.Errorf("%q and %q keep no others", a, b)
		}
	})
}

func FuzzTime(f *testing.F) {
	for _, s := range []string{"30d", "1d12h", "500ms", "-1s", "1e3d", "d", "106751d23h", "9223372036854775807ns"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := parseTime(s); err == nil && d < 0 {
			t.Errorf("%q is %v", s, d)
		}
		if v, err := parseRatio(s); err == nil && v != v {
			t.Errorf("%q is not a number", s)
		}
	})
}

// TestPromised: flags over what the configuration says.
func TestPromised(t *testing.T) {
	file := []model.WorkflowSpec{
		{Name: "chat", Match: []model.Match{{Model: "llama"}}, Objectives: []model.Objective{objective(model.MetricTTFT, .5), objective(model.MetricTPOT, .05)}, Share: .95, PeriodS: 86400},
		{Name: "bare", Objectives: slo.Assumed().Objectives, Share: .95, PeriodS: 86400, Assumed: true},
		{Name: "team-*", Objectives: []model.Objective{objective(model.MetricE2E, 3)}, Share: .99, PeriodS: 86400},
	}
	tests := []struct {
		name  string
		flags []string
		over  []model.WorkflowSpec
		want  []string // of each workflow
	}{
		{"none", nil, file, []string{"chat ttft=0.5 tpot=0.05 0.95", "bare ttft=1 tpot=0.05 0.95 assumed", "team-* e2e=3 0.99"}},
		{"one more bound", []string{"chat:e2e=9s"}, file[:1], []string{"chat ttft=0.5 tpot=0.05 e2e=9 0.95"}},
		{"another bound and share", []string{"chat:ttft=300ms,99%"}, file[:1], []string{"chat ttft=0.3 tpot=0.05 0.99"}},
		{"a preset takes all", []string{"chat:preset=rag"}, file[:1], []string{"chat ttft=0.3 tpot=0.1 e2e=3 0.99"}},
		{"what was assumed goes", []string{"bare:queue=1s"}, file[1:2], []string{"bare queue=1 0.95"}},
		{"a new one comes first", []string{"rag:ttft=2s"}, file[:1], []string{"rag ttft=2 0.95", "chat ttft=0.5 tpot=0.05 0.95"}},
		{"one of a glob's", []string{"team-a:ttft=2s"}, file[2:], []string{"team-a ttft=2 0.95", "team-* e2e=3 0.99"}},
		{"a glob of its own", []string{"rag-*:ttft=2s"}, file[:1], []string{"rag-* ttft=2 0.95", "chat ttft=0.5 tpot=0.05 0.95"}},
		{"a glob over some", []string{"ttft=2s"}, file, []string{
			"chat ttft=2 tpot=0.05 0.95", "bare ttft=2 0.95", "team-* ttft=2 e2e=3 0.99", "* ttft=2 0.95",
		}},
		{"the same glob", []string{"team-*:50%"}, file[2:], []string{"team-* e2e=3 0.5"}},
		{"the narrower counts", []string{"chat:ttft=1s", "ttft=2s,tpot=1s", "c*:ttft=3s"}, nil, []string{
			"chat ttft=1 tpot=1 0.95", "c* ttft=3 tpot=1 0.95", "* ttft=2 tpot=1 0.95",
		}},
		{"the later counts", []string{"chat:ttft=1s", "chat:ttft=2s", "tpot=1s", "tpot=2s"}, nil, []string{
			"chat ttft=2 tpot=2 0.95", "* tpot=2 0.95",
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var flags sloFlags
			for _, s := range tc.flags {
				if err := flags.Set(s); err != nil {
					t.Fatal(err)
				}
			}
			before := model.Policy{Workflows: cloneSpecs(tc.over)}
			got := flags.over(before)
			if lines := specLines(got.Workflows); !reflect.DeepEqual(lines, tc.want) {
				t.Errorf("got  %q\nwant %q", lines, tc.want)
			}
			if !reflect.DeepEqual(before.Workflows, cloneSpecs(tc.over)) {
				t.Error("what was there was written over")
			}
			if want := len(tc.over) == 0 && len(tc.flags) > 0; got.KeepOthers != want {
				t.Errorf("keeps others: %v", got.KeepOthers)
			}
		})
	}
}

func cloneSpecs(specs []model.WorkflowSpec) []model.WorkflowSpec {
	var out []model.WorkflowSpec
	for _, s := range specs {
		s.Objectives = append([]model.Objective(nil), s.Objectives...)
		out = append(out, s)
	}
	return out
}

func specLines(specs []model.WorkflowSpec) []string {
	var out []string
	for _, s := range specs {
		line := s.Name
		for _, o := range s.Objectives {
			line += " " + string(o.Metric) + "=" + number(o.MaxS)
		}
		line += " " + number(s.Share)
		if s.Assumed {
			line += " assumed"
		}
		out = append(out, line)
	}
	return out
}

// TestTapePolicy: a tape is judged as it was recorded, unless it is asked
// otherwise.
func TestTapePolicy(t *testing.T) {
	spec := func(name string) []model.WorkflowSpec {
		return []model.WorkflowSpec{{Name: name, Share: .95, PeriodS: 86400}}
	}
	recorded := model.Policy{Workflows: spec("recorded"), GraceS: 7}
	file := fileConfig{Workflows: []fileWorkflow{{Name: "mine"}}}
	flag, err := parseSLO("new:ttft=1s")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		app      app
		file     fileConfig
		recorded model.Policy
		want     []string
	}{
		{"as recorded", app{}, fileConfig{}, recorded, []string{"recorded"}},
		{"a configuration at its usual place", app{}, file, recorded, []string{"recorded"}},
		{"a configuration that is named", app{flags: flags{config: "f.yaml"}}, file, recorded, []string{"mine"}},
		{"one that promises nothing", app{flags: flags{config: "f.yaml"}}, fileConfig{}, recorded, []string{"recorded"}},
		{"nothing recorded", app{}, file, model.Policy{}, []string{"mine"}},
		{"a flag", app{flags: flags{slo: sloFlags{flag}}}, fileConfig{}, recorded, []string{"new", "recorded"}},
	}
	for _, tc := range tests {
		p, err := tc.app.tapePolicy(tc.file, tc.recorded)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, w := range p.Workflows {
			names = append(names, w.Name)
		}
		if !reflect.DeepEqual(names, tc.want) {
			t.Errorf("%s: %q", tc.name, names)
		}
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// A tape is judged by what it carries: promises, or rules alone.
func TestTapeOfRules(t *testing.T) {
	over := 1.0
	rules := model.Policy{Rules: []model.RuleSpec{{Name: "mine", Signal: "goodput", Over: &over}}}
	mine := fileConfig{Workflows: []fileWorkflow{{Name: "here"}}}
	for _, tc := range []struct {
		name     string
		config   string
		recorded model.Policy
		want     string
	}{
		{"nothing carried", "", model.Policy{}, "here"},
		{"promises", "", model.Policy{Workflows: []model.WorkflowSpec{{Name: "there", Share: .9, PeriodS: 60}}}, "there"},
		{"rules alone", "", rules, "mine"},
		{"a configuration that is named", "x.yaml", rules, "here"},
	} {
		a := &app{flags: flags{config: tc.config}}
		p, err := a.tapePolicy(mine, tc.recorded)
		got := ""
		for _, w := range p.Workflows {
			got += w.Name
		}
		for _, r := range p.Rules {
			got += r.Name
		}
		if err != nil || got != tc.want {
			t.Errorf("%s: %q, %v", tc.name, got, err)
		}
	}
}
