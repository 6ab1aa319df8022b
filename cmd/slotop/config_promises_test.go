package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"slotop/cmd/slotop/notify"
	"slotop/model"
	"slotop/model/slo"
)

func TestWorkflowErrors(t *testing.T) {
	known := strings.Join(namesOfPresets(), ", ")
	tests := []struct {
		name, text string
		want       []string
	}{
		{"no name", "workflows:\n- slo: {ttft: 1s}\n", []string{"f.yaml:2:3: workflow 1 has no name: write name: chat"}},
		{"unknown key", "workflows:\n- name: chat\n  mach: {model: a}\n", []string{`f.yaml:3:3: unknown key "mach": did you mean match?`}},
		{"unknown metric", "workflows:\n- name: chat\n  slo: {tpt: 50ms}\n", []string{`f.yaml:3:9: unknown key "tpt": did you mean tpot?`}},
		{"key of another section", "workflows:\n- name: chat\n  slo: {preset: x}\n", []string{`f.yaml:3:9: unknown key "preset": it belongs under workflows`}},
		{"unknown pattern", "workflows:\n- name: chat\n  match:\n  - {modle: a}\n", []string{`f.yaml:4:6: unknown key "modle": did you mean model?`}},
		{"unknown pattern, one match", "workflows:\n- name: chat\n  match: {teem: a}\n", []string{`f.yaml:3:11: unknown key "teem": did you mean team?`}},
		{"no duration", "workflows:\n- name: chat\n  slo: {ttft: 500}\n", []string{`f.yaml:3:15: "500" is not a duration such as 5s or 1m30s`}},
		{"zero", "workflows:\n- name: chat\n  slo: {ttft: 0s}\n", []string{`f.yaml:3:15: "0s" is not a duration`}},
		{"share above one", "workflows:\n- name: chat\n  slo:\n    objective: 95\n", []string{`f.yaml:4:16: "95" is not a share between 0% and 100%: write 95% or 0.95`}},
		{"no room", "workflows:\n- name: chat\n  slo: {objective: 100%}\n", []string{`f.yaml:3:20: "100%" leaves no room for a single miss`}},
		{"no share", "workflows:\n- name: chat\n  slo: {objective: most}\n", []string{`f.yaml:3:20: "most" is not a share such as 95% or 0.95`}},
		{"reader", "workflows:\n- name: chat\n  reader: humna\n", []string{`f.yaml:3:11: "humna" is not one of human, program: did you mean human?`}},
		{"truncated", "workflows:\n- name: chat\n  truncated: yes\n", []string{`f.yaml:3:14: "yes" is not one of bad, ok`}},
		{"one token", "workflows:\n- name: chat\n  one_token: bda\n", []string{`f.yaml:3:14: "bda" is not one of bad, ok: did you mean bad?`}},
		{"preset", "workflows:\n- name: chat\n  preset: caht\n", []string{`f.yaml:3:11: no preset is called "caht": did you mean chat? (known: mlperf/`, known}},
		{"twice", "workflows:\n- name: chat\n- name: rag\n- name: chat\n", []string{`f.yaml:4:9: workflow "chat" is there twice, first in line 2`}},
		{"other", "workflows:\n- name: other\n", []string{`f.yaml:2:9: "other" is the row of what no workflow matches: choose another name`}},
		{"glob and match", "workflows:\n- name: chat-*\n  match: {model: a}\n", []string{`f.yaml:2:9: the name "chat-*" has a * or ? in it`}},
		{"empty match", "workflows:\n- name: chat\n  match:\n  - model: a\n  - {}\n", []string{"f.yaml:5:5: a match without a pattern: write model, adapter"}},
		{"empty label", "workflows:\n- name: chat\n  match: {labels: {tier: \"\"}}\n", []string{`f.yaml:3:10: label "tier" has no pattern: write a glob such as *`}},
		{"two patterns", "workflows:\n- name: chat\n  match: {team: a, labels: {team: b}}\n", []string{`f.yaml:3:10: label "team" has two patterns, "a" and "b": write one`}},
		{"list wanted", "workflows: {chat: {}}\n", []string{"f.yaml:1:12: this cannot be", "write a list"}},
		{"several at once", "workflows:\n- name: other\n- slo: {ttft: 1s}\nwindow: 1ms\n", []string{"f.yaml:2:9: ", "f.yaml:3:3: ", "f.yaml:4:9: window 1ms: from 5s to 30m0s"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { refusesConfig(t, tc.text, tc.want) })
	}
}

func TestAlertErrors(t *testing.T) {
	t.Setenv("SLOTOP_HOOK", "hunter2hunter2")
	rule := "alerts:\n  rules:\n  - "
	send := "alerts:\n  send:\n  - "
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "alerts: {grase: 2m}\n", []string{`f.yaml:1:10: unknown key "grase": did you mean grace?`}},
		{"grace", "alerts: {grace: soon}\n", []string{`f.yaml:1:17: "soon" is not a duration`}},
		{"bell", "alerts: {bell: loud}\n", []string{"f.yaml:1:16: this cannot be a text: write true or false"}},
		{"no name", rule + "signal: goodput\n    under: 90%\n", []string{"f.yaml:3:5: rule 1 has no name"}},
		{"no signal", rule + "name: a\n    over: 1\n", []string{`f.yaml:3:5: rule "a" has no signal: write one of ttft_p95`}},
		{"unknown signal", rule + "name: a\n    signal: ttft_p59\n    over: 1s\n", []string{`f.yaml:4:13: no signal is called "ttft_p59": did you mean ttft_p95? (known: ttft_p95`}},
		{"no bound", rule + "name: a\n    signal: goodput\n", []string{`f.yaml:3:5: rule "a" has no bound: write over or under`}},
		{"both bounds", rule + "name: a\n    signal: goodput\n    over: 1\n    under: 2\n", []string{`f.yaml:6:12: rule "a" has both over and under: write two rules`}},
		{"clear above", rule + "name: a\n    signal: ttft_p95\n    over: 1s\n    clear: 1100ms\n", []string{"f.yaml:6:12: clear is above over"}},
		{"clear below", rule + "name: a\n    signal: goodput\n    under: 95%\n    clear: 0.9\n", []string{"f.yaml:6:12: clear is below under"}},
		{"no number", rule + "name: a\n    signal: goodput\n    under: low\n", []string{`f.yaml:5:12: "low" is not a number, a share such as 90% or a duration such as 500ms`}},
		{"more than all", rule + "name: a\n    signal: goodput\n    under: 150%\n", []string{"f.yaml:5:12: goodput is a share between 0% and 100%: write 90% or 0.9"}},
		{"a share of a time", rule + "name: a\n    signal: ttft_p95\n    over: 90%\n", []string{"f.yaml:5:11: ttft_p95 is a time: write 500ms, or 0.5 for seconds"}},
		{"a time of a number", rule + "name: a\n    signal: burn_5m\n    over: 8\n    clear: 3s\n", []string{"f.yaml:6:12: burn_5m is a plain number: write 6"}},
		{"severity", rule + "name: a\n    signal: goodput\n    under: 1\n    severity: warning\n", []string{`f.yaml:6:15: "warning" is not one of page, warn, note`}},
		{"rule twice", rule + "{name: a, signal: goodput, under: 1}\n  - {name: a, signal: goodput, under: 1}\n", []string{`f.yaml:4:12: rule "a" is there twice, first in line 3`}},
		{"a built-in name", rule + "{signal: goodput, under: 1, name: stalled}\n", []string{`f.yaml:3:39: rule stalled: the name is taken`}},
		{"no way", send + "severity: page\n", []string{"f.yaml:3:5: a receiver without a way to it: write exec, webhook or alertmanager"}},
		{"two ways", send + "exec: [a]\n    webhook: {url: \"https://h/\"}\n", []string{"f.yaml:4:14: a receiver with both exec and webhook: write one row for each"}},
		{"a shell's line", send + "exec: notify-me now\n", []string{"f.yaml:3:11: this cannot be a text: write a list"}},
		{"no program", send + "exec: []\n", []string{"f.yaml:3:11: no program: write exec: [program, argument]"}},
		{"no address", send + "webhook: {}\n", []string{"f.yaml:3:14: webhook has no address: write url: https://host/path"}},
		{"odd address", send + "webhook: {url: hunter2hunter2}\n", []string{"f.yaml:3:20: the address cannot be read"}},
		{"odd scheme", send + "alertmanager: {url: \"ftp://hunter2/\"}\n", []string{"f.yaml:3:25: the address is neither http nor https"}},
		{"password in it", send + "webhook: {url: \"https://me:hunter2@host/\"}\n", []string{"f.yaml:3:20: the address holds a password: write it in http, as basic_auth"}},
		{"secret in a wrong place", send + "severity: ${SLOTOP_HOOK}\n    exec: [a]\n", []string{`f.yaml:3:15: "${SLOTOP_HOOK}" is not one of page`}},
		{"receiver twice", send + "{name: ops, exec: [a]}\n  - {name: ops, exec: [b]}\n", []string{`f.yaml:4:12: receiver "ops" is there twice, first in line 3`}},
		{"key of http", send + "webhook:\n      url: https://h/\n      http: {tls_confg: {}}\n", []string{`f.yaml:5:14: unknown key "tls_confg": did you mean tls_config?`}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) { refusesConfig(t, tc.text, tc.want) })
	}
}

// refusesConfig wants every sentence, on a line of its own, and no secret.
func refusesConfig(t *testing.T, text string, want []string) {
	t.Helper()
	_, err := parseConfig("f.yaml", []byte(text))
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range want {
		says(t, "the error", err.Error(), w)
	}
	saysNot(t, "the error", err.Error(), "hunter2")
	if n := strings.Count(err.Error(), "\n") + 1; n != strings.Count(err.Error(), "f.yaml:") {
		t.Errorf("not one line for each: %s", err)
	}
}

func namesOfPresets() []string {
	var names []string
	for _, p := range slo.Presets {
		names = append(names, p.Name)
	}
	return names
}

// TestWorkflows is everything that a workflow can say.
func TestWorkflows(t *testing.T) {
	c, err := parseConfig("f.yaml", []byte(`
workflows:
- name: chat
  match: {model: "llama-*", team: shop, key: "sk-*", labels: {tier: gold}}
  slo: {ttft: 500ms, tpot: 50ms, objective: 99.9%, period: 30d}
  reader: human
- name: nightly
  match:
  - {workflow: nightly, target: "batch-?"}
  - {adapter: sql, route: /v1/batch, tag: eval}
  slo: {e2e: 1m30s, deadline: 1d12h, queue: 2s, first_answer: 3s}
  reader: program
  truncated: bad
  one_token: bad
- name: published
  preset: mlperf/llama-2-70b/server
- name: stricter
  preset: rag
  slo: {ttft: 200ms, objective: 0.9}
- name: bare
  truncated: ok
- name: "team-*"
  slo: {objective: 99%}
`))
	if err != nil {
		t.Fatal(err)
	}
	o := func(m model.Metric, s float64) model.Objective { return model.Objective{Metric: m, MaxS: s} }
	want := []model.WorkflowSpec{
		{
			Name:       "chat",
			Match:      []model.Match{{Model: "llama-*", Labels: map[string]string{"team": "shop", "key": "sk-*", "tier": "gold"}}},
			Objectives: []model.Objective{o(model.MetricTTFT, .5), o(model.MetricTPOT, .05)},
			Share:      .999, PeriodS: 30 * 86400, Reader: model.ReaderHuman,
		},
		{
			Name: "nightly",
			Match: []model.Match{
				{Workflow: "nightly", Target: "batch-?"},
				{Adapter: "sql", Labels: map[string]string{"route": "/v1/batch", "tag": "eval"}},
			},
			Objectives: []model.Objective{o(model.MetricFirstAnswer, 3), o(model.MetricE2E, 90), o(model.MetricQueue, 2)},
			Share:      .95, PeriodS: 86400, DeadlineS: 36 * 3600, Reader: model.ReaderProgram, TruncatedBad: true, OneTokenBad: true,
		},
		{Name: "published", Objectives: []model.Objective{o(model.MetricTTFT, 2), o(model.MetricTPOT, .2)}, Share: .99, PeriodS: 86400},
		{Name: "stricter", Objectives: []model.Objective{o(model.MetricTTFT, .2), o(model.MetricTPOT, .1), o(model.MetricE2E, 3)}, Share: .9, PeriodS: 86400},
		{Name: "bare", Objectives: slo.Assumed().Objectives, Share: .95, PeriodS: 86400, Assumed: true},
		{Name: "team-*", Share: .99, PeriodS: 86400},
	}
	p, err := (&app{}).policy(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Workflows) != len(want) {
		t.Fatalf("%d workflows", len(p.Workflows))
	}
	for i := range want {
		if !reflect.DeepEqual(p.Workflows[i], want[i]) {
			t.Errorf("got  %+v\nwant %+v", p.Workflows[i], want[i])
		}
	}
	if p.KeepOthers || p.GraceS != 120 {
		t.Errorf("%+v", p)
	}
}

// TestAlerts is everything that alerts can say.
func TestAlerts(t *testing.T) {
	t.Setenv("SLOTOP_HOOK", "https://hooks.example/T0/abc?x=1")
	c, err := parseConfig("/etc/slotop/f.yaml", []byte(`
alerts:
  grace: 0s
  idle_clear: 1h
  bell: false
  desktop: true
  rules:
  - {name: slow, signal: ttft_p95, over: 1s, clear: 900ms, for: 20s, hold: 30s, workflow: "chat*", severity: page}
  - {name: full, signal: kv_cache_usage, over: 95%, target: "gpu-*", severity: note}
  - {name: bad, signal: goodput, under: 0.9}
  send:
  - exec: [notify-me, --now]
  - name: ops
    webhook: {url: "${SLOTOP_HOOK}", http: {tls_config: {ca_file: ca.pem}}}
    severity: page
    resolved: false
    every: 30s
    timeout: 3s
  - alertmanager: {url: "http://localhost:9093"}
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&app{}).policy(c)
	if err != nil {
		t.Fatal(err)
	}
	v := func(f float64) *float64 { return &f }
	rules := []model.RuleSpec{
		{Name: "slow", Signal: "ttft_p95", Over: v(1), Clear: v(.9), ForS: 20, HoldS: 30, Workflow: "chat*", Severity: model.Page},
		{Name: "full", Signal: "kv_cache_usage", Over: v(.95), Target: "gpu-*", Severity: model.Note},
		{Name: "bad", Signal: "goodput", Under: v(.9), Severity: model.Warn},
	}
	if !reflect.DeepEqual(p.Rules, rules) || p.GraceS != 0 || p.IdleClearS != 3600 || len(p.Workflows) != 0 || p.KeepOthers {
		t.Errorf("%+v", p)
	}
	if c.Alerts.Bell == nil || *c.Alerts.Bell || c.Alerts.Title != nil || !c.Alerts.Desktop {
		t.Errorf("%+v", c.Alerts)
	}
	got := c.Alerts.senders()
	if len(got.Sinks) != 3 || got.Sinks[1].Webhook.Client.TLSConfig.CAFile != "/etc/slotop/ca.pem" {
		t.Fatalf("%+v", got)
	}
	got.Sinks[1].Webhook.Client = nil
	want := notify.Config{Sinks: []notify.Sink{
		{Name: "receiver 1", Exec: []string{"notify-me", "--now"}, Resolved: true},
		{Name: "ops", Webhook: &notify.HTTP{URL: "https://hooks.example/T0/abc?x=1"}, Severity: model.Page, Every: 30 * time.Second, Timeout: 3 * time.Second},
		{Name: "receiver 3", Alertmanager: &notify.HTTP{URL: "http://localhost:9093"}, Resolved: true},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestPresetsOfTheFlagAndTheFile(t *testing.T) {
	for _, p := range slo.Presets {
		f, err := parseSLO("preset=" + p.Name)
		if err != nil {
			t.Fatal(err)
		}
		spec := f.bare()
		f.over(&spec)
		if !slices.Equal(spec.Objectives, p.Objectives) || spec.Share != p.Share {
			t.Errorf("%s: %+v", p.Name, spec)
		}
	}
}

// What is merged into a row counts as written there, and an empty row is no row.
func TestMergedAndEmptyRows(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"workflows: [&a {name: a, match: {model: x}}, {<<: *a, name: b}]", ""},
		{"alerts: {send: [&a {exec: [ls]}, {<<: *a, name: x}, {<<: [*a, {severity: page}], name: y}]}", ""},
		{"workflows: [&a {name: a}, {<<: *a}]", `f.yaml:1:23: workflow "a" is there twice, first in line 1`},
		{"workflows: [&a {name: a, match: {}}]", "f.yaml:1:33: a match without a pattern"},
		{"workflows: [~, {name: a}]", "f.yaml:1:13: an empty row"},
		{"workflows: [{name: a, match: [~]}]", "f.yaml:1:31: an empty row"},
		{"targets: [~]", "f.yaml:1:11: an empty row"},
		{"alerts: {rules: [~, {name: a, signal: goodput, over: 1}]}", "f.yaml:1:18: an empty row"},
		{"alerts: {send: [~]}", "f.yaml:1:17: an empty row"},
		{"bell: true", `f.yaml:1:1: unknown key "bell": it belongs under alerts`},
		{"targets:\n- url: localhost:8000", `f.yaml:2:3: unknown key "url": did you mean address?`},
		{"workflow: [{name: a}]", `f.yaml:1:1: unknown key "workflow": did you mean workflows?`},
		{"target: [{address: 'localhost:8000'}]", `f.yaml:1:1: unknown key "target": did you mean targets?`},
		{"over: 1", `f.yaml:1:1: unknown key "over": it belongs under alerts: rules`},
		{"timeout: 1ns", "f.yaml:1:10: timeout 1ns: from 10ms"},
		{"workflows: [{name: a, slo: {ttft: 1s, period: 1us}}]", "f.yaml:1:28: workflow \"a\": the period of its error budget"},
		{"workflows: [{name: 'a*'}, {name: ab}]", `f.yaml:1:34: nothing is left for workflow "ab": "a*" before it takes all that is called so`},
		{"workflows: [{name: ab}, {name: 'a*'}]", ""},
	} {
		_, err := parseConfig("f.yaml", []byte(tc.text+"\n"))
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.text, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %s", tc.text, err, tc.want)
		}
	}
}

// A configuration that is nothing but mistakes is read in no time, and said so in a
// few lines.
func TestManyMistakes(t *testing.T) {
	for name, text := range map[string]string{
		"unknown": strings.Repeat("- {nam: a}\n", 40_000), "twice": strings.Repeat("- {name: a}\n", 40_000),
	} {
		_, err := parseConfig("f.yaml", []byte("workflows:\n"+text))
		if n := strings.Count(err.Error(), "\n") + 1; n != maxErrors+1 || !strings.Contains(err.Error(), "20 things are wrong up to here") {
			t.Errorf("%s: %d lines", name, n)
		}
	}
	var keys strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for text, want := range map[string]string{
		keys.String(): "f.yaml:1:1: a section of 60000 keys: none has more than 1000",
		"'" + strings.Repeat("x", 900_000) + "': 1": "f.yaml:1:1: unknown key \"" + strings.Repeat("x", maxWord) + "…\"",
	} {
		if _, err := parseConfig("f.yaml", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.100v, want %.100s", err, want)
		}
	}
}
