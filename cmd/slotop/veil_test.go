package main

import (
	"regexp"
	"strings"
	"testing"
)

// A value from the environment may hold what messages quote, and is shown in none
// of them, wherever it is not what is wanted.
func TestNoMessageShowsTheEnvironment(t *testing.T) {
	t.Setenv("SLOTOP_ODD", "pa\"ss\\hunter2\trd  `hunter2`\x1b é")
	t.Setenv("SLOTOP_PLAIN", "hunter2")
	t.Setenv("SLOTOP_LONGER", "hunter2hunter2-and-more-hunter2")
	t.Setenv("SLOTOP_LINES", "hunter2\nhunter2 too")
	for _, form := range []string{
		"every: V", "theme: V", "ascii: V", "targets: V", "targets: [{address: V}]", "targets: [{address: 'events:/none/V'}]",
		"targets: [{address: 'http://a:V@h:1/x y'}]", "http: {proxy_url: V}", "http: {authorization: V}", "http: {tls_config: {min_version: V}}",
		"workflows: [{name: V}, {name: V}]", "workflows: [{name: V*, match: {model: a}}]", "workflows: [{name: a, reader: V}]",
		"workflows: [{name: a, preset: V}]", "workflows: [{name: a, slo: {ttft: V}}]", "workflows: [{name: a, slo: {objective: V}}]",
		"workflows: [{name: a, match: {key: V, labels: {key: V2}}}]", "alerts: {rules: [{name: V, signal: V, over: 1}]}",
		"alerts: {rules: [{name: a, signal: goodput, over: V}]}", "alerts: {send: [{exec: [V]}]}", "alerts: {send: [{webhook: {url: V}}]}",
		"alerts: {send: [{name: V, exec: [ls]}, {name: V, exec: [ls]}]}",
	} {
		for _, name := range []string{"SLOTOP_ODD", "SLOTOP_PLAIN", "SLOTOP_LONGER", "SLOTOP_LINES"} {
			text := regexp.MustCompile(`'([^']*)V([^']*)'|V2|V`).ReplaceAllStringFunc(form, func(v string) string {
				if v == "V2" {
					return "other"
				}
				return "'" + strings.Replace(strings.Trim(v, "'"), "V", "${"+name+"}", 1) + "'"
			})
			text = strings.ReplaceAll(text, "}'*", "}*'")
			_, env := configHome(t, map[string]string{"config.yaml": text + "\n"})
			r := headlessIn(t, env, "config", "check", "--offline")
			if r.code != exitUsage || !strings.Contains(r.err, "config.yaml:1:") {
				t.Errorf("%s: exit code %d, %s", text, r.code, r.err)
			}
			if strings.Contains(r.out+r.err, "hunter2") {
				t.Errorf("%s: %s", text, r.err)
			}
		}
	}
}

// Whatever stands in a configuration, reading it ends with a configuration or with
// lines that say where they are about, and that no terminal obeys.
func FuzzConfig(f *testing.F) {
	f.Setenv("SLOTOP_FUZZ", "hunter2\"\\ hunter2")
	for _, seed := range []string{
		"every: 5s\nworkflows: [{name: chat, match: [{model: a}, ~], slo: {ttft: 1s}}]\n",
		"workflows: [~, &a {name: a, match: {}}, {<<: *a}, {<<: [*a], name: b}]\n",
		"alerts: {rules: [~, &r {name: a, signal: goodput, under: 0.5}, {<<: *r}], send: [&s {exec: [ls]}, {<<: *s}]}\n",
		"alerts: {send: [{webhook: {url: '${SLOTOP_FUZZ}'}}, {alertmanager: {url: 'http://h/', http: &h {bearer_token: x}}}]}\n",
		"theme: '${SLOTOP_FUZZ}'\nevery: \"${SLOTOP_FUZZ}\"\ntargets: [{address: '${SLOTOP_FUZZ}'}, {}]\n",
		"workflows: {a: b}\nalerts: [a]\ntargets: {}\nhttp: []\n", "a: &a [*a]\n", "? [a]\n: b\n", "\xff\xfe", "!!map {}\n",
	} {
		f.Add(seed)
	}
	place := regexp.MustCompile(`^f\.yaml:\d+:\d+: .`)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := parseConfig("f.yaml", []byte(text))
		if err == nil {
			return
		}
		for line := range strings.Lines(err.Error()) {
			if !place.MatchString(line) {
				t.Errorf("no place: %q", line)
			}
		}
		if strings.Contains(err.Error(), "hunter2") && !strings.Contains(text, "hunter2") {
			t.Errorf("it shows a value: %q", err)
		}
	})
}
