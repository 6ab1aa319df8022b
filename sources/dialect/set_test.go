package dialect

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"slotop/model"
)

func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

func TestErrorsSayWhereAndWhat(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"a key", "engine: foo\nprefix: [a]\n", `foo.yaml:2:1: unknown key "prefix", did you mean "prefixes"?`},
		{"a key of a way", "engine: foo\nsignals:\n  ttft_seconds: {form: a}\n", `foo.yaml:3:18: unknown key "form", did you mean "from"?`},
		{"a key of the second way", "engine: foo\nsignals:\n  ttft_seconds:\n    - {from: a}\n    - {from: b, scal: 2}\n", `foo.yaml:5:17: unknown key "scal", did you mean "scale"?`},
		{"a key of a condition", "engine: foo\nnotes:\n  - {say: x, every: [a]}\n", `foo.yaml:3:14: unknown key "every"`},
		{"a signal", "engine: foo\nsignals:\n  ttft_second: {from: a}\n", `foo.yaml:3:3: unknown key "ttft_second", did you mean "ttft_seconds"?`},
		{"a signal to leave out", "engine: foo\nwithout: [itl_second]\n", `foo.yaml:2:1: there is no signal "itl_second", did you mean "itl_seconds"?`},
		{"a type", "engine: foo\npriority: high\n", `foo.yaml:2:11: `},
		{"a selector", "engine: foo\ndetect:\n  any: ['a{b=c}']\n", `foo.yaml:3:`},
		{"an expression", "engine: foo\nchoose: {front: '('}\n", `foo.yaml:2:`},
		{"broken YAML", "engine: foo\nsignals: [\n", `foo.yaml:3:1: `},
		{"no engine", "priority: 1\n", `foo.yaml:1:1: the key engine is missing`},
		{"a kind", "engine: foo\nsignals:\n  ttft_seconds: {kind: gauge, from: a}\n", `foo.yaml:3:17: ttft_seconds: the signal is a histogram, not a gauge`},
		{"two ways in one", "engine: foo\nsignals:\n  requests_running: {from: a, sum: [b, c]}\n", `foo.yaml:3:21: requests_running: needs exactly one of from, sum, mean and ranges`},
		{"arithmetic on buckets", "engine: foo\nsignals:\n  ttft_seconds: {from: a, over: b}\n", `a histogram takes from, mean or ranges only`},
		{"a mean of a level", "engine: foo\nsignals:\n  requests_running: {mean: {sum: a, count: b}}\n", `mean, ranges and caution are for histograms`},
		{"an open name", "engine: foo\nsignals:\n  requests_running: {from: a*}\n", `"a*" names no single metric`},
		{"a kind of target", "engine: foo\nkind: gatway\n", `foo.yaml:2:1: "gatway" is none of engine, gateway, gpu`},
		{"rows", "engine: foo\nsignals:\n  requests_running: {from: a, rows: back}\n", `rows is front or step, not "back"`},
		{"a reason", "engine: foo\nreasons: {halt: [x]}\n", `foo.yaml:2:1: "halt" is none of stop, length, aborted, error, other`},
		{"a failure", "engine: foo\nfailures: {broken: [x]}\n", `foo.yaml:2:1: "broken" is none of rejected, rate_limited`},
		{"ranges of a level", "engine: foo\nsignals:\n  requests_running: {ranges: {from: a, label: b}}\n", `mean, ranges and caution are for histograms`},
		{"what is gone from a counter", "engine: foo\nsignals:\n  prompt_tokens: {from: a, removed: -1}\n", `removed is for gauges`},
		{"only", "engine: foo\nonly: priority\n", `foo.yaml:2:1: "priority" is no label="value"`},
		{"an unknown base", "engine: foo\nlike: vlmm\n", `foo.yaml: like: there is no engine "vlmm", did you mean "vllm"?`},
		{"an unknown companion", "engine: foo\nalso: [sglan]\n", `foo.yaml: also: there is no engine "sglan", did you mean "sglang"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := builtinSet(t).AddDir(files("foo.yaml", c.file))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCircleOfBases(t *testing.T) {
	err := builtinSet(t).AddDir(files("a.yaml", "engine: a\nlike: b\n", "b.yaml", "engine: b\nlike: a\n"))
	if err == nil || !strings.Contains(err.Error(), "leads back to itself") {
		t.Errorf("got %v", err)
	}
	err = builtinSet(t).AddDir(files("a.yaml", "engine: a\n", "b.yaml", "engine: a\n"))
	if err == nil || !strings.Contains(err.Error(), `engine "a" is described in a.yaml already`) {
		t.Errorf("got %v", err)
	}
}

func TestKind(t *testing.T) {
	set := builtinSet(t)
	err := set.AddDir(files("a.yaml", "engine: a\nkind: gateway\ndetect: {any: [a]}\n",
		"b.yaml", "engine: b\nlike: a\ndetect: {any: [b]}\n",
		"c.yaml", "engine: c\nlike: a\nkind: engine\ndetect: {any: [c]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for engine, want := range map[string]string{"a": model.GatewayTarget, "b": model.GatewayTarget, "c": "", "vllm:x": ""} {
		page := scan(t, []byte(engine+" 1\n"))
		d, ok := set.Detect(page)
		if !ok || d.Kind() != want || set.Kind(d.engine) != want || d.Compile(page).About(page).Kind != want {
			t.Errorf("%s: kind %q, want %q", engine, d.Kind(), want)
		}
	}
}

func TestUserAddsAnEngine(t *testing.T) {
	set := builtinSet(t)
	err := set.AddDir(files("foo.yaml", `engine: foo
prefixes: ["foo:"]
detect: {any: ["*"]}
labels: {model: model_name}
signals:
  ttft_seconds:     {kind: histogram, from: [first_token_seconds, ttft_seconds]}
  requests_waiting: {kind: gauge, from: queue_len}
  kv_cache_ratio:   {kind: gauge, from: cache_perc, scale: 0.01}
`, "ignored.txt", "x"))
	if err != nil {
		t.Fatal(err)
	}
	page := scan(t, []byte("foo:queue_len{model_name=\"m\"} 3\nfoo:cache_perc{model_name=\"m\"} 62.5\n"))
	d, ok := set.Detect(page)
	if !ok {
		t.Fatal("the page is not recognised")
	}
	plan := d.Compile(page)
	r := read{t, plan.Read(page, nil), plan.About(page)}
	r.value(model.Waiting, 3)
	r.value(model.KVUsage, 0.625)
	if r.about.Engine != "foo" || len(r.about.Models) != 1 {
		t.Errorf("about %+v", r.about)
	}
	r.missing(model.TTFT)
}

// A user's file takes the place of ours, keeps what it does not state when it is
// like it, and changes what is like it in turn.
func TestUserOverridesAnEngine(t *testing.T) {
	set := builtinSet(t)
	err := set.AddDir(files("mine.yaml", `engine: vllm
like: vllm
detect: {any: ["*"]}
signals: {requests_running: {from: batch_size}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"vllm", "aphrodite"} {
		page := scan(t, []byte(strings.ReplaceAll("P:batch_size 4\nP:num_requests_running 9\nP:num_requests_waiting 2\n", "P", prefix)))
		d, ok := set.Detect(page)
		if !ok || d.engine != prefix {
			t.Fatalf("%s: not recognised", prefix)
		}
		plan := d.Compile(page)
		r := read{t, plan.Read(page, nil), plan.About(page)}
		r.value(model.Running, 4)
		r.value(model.Waiting, 2)
	}
}

func TestFailedAddChangesNothing(t *testing.T) {
	set := builtinSet(t)
	before := len(set.dialects)
	if err := set.AddDir(files("a.yaml", "engine: a\ndetect: {any: [x]}\n", "b.yaml", "engine: b\nlike: nobody\n")); err == nil {
		t.Fatal("no error")
	}
	if len(set.dialects) != before {
		t.Errorf("%d dialects, had %d", len(set.dialects), before)
	}
	if _, ok := set.Detect(scan(t, []byte("x 1\n"))); ok {
		t.Error("half of the folder was added")
	}
}

// Every built-in dialect can be chosen, and says of each signal one thing.
func TestBuiltinDialects(t *testing.T) {
	set := builtinSet(t)
	if len(set.dialects) < 15 {
		t.Errorf("only %d dialects", len(set.dialects))
	}
	for _, d := range set.dialects {
		if d.detect.empty() {
			t.Errorf("%s: no page is ever recognised as its own", d.engine)
		}
		if len(d.signals) == 0 && d.devices == nil {
			t.Errorf("%s: no signals and no devices", d.engine)
		}
		for _, v := range d.versions {
			if v.Say == "" || v.empty() {
				t.Errorf("%s: a version hint without text or condition", d.engine)
			}
		}
		for s, ways := range d.signals {
			for _, w := range ways {
				if w.Rows != "" && d.choose == nil {
					t.Errorf("%s: %s chooses rows without choose", d.engine, s)
				}
				if s == model.Finished && d.labels.Reason != "" && len(d.reasons) == 0 {
					t.Errorf("%s: finish reasons without names", d.engine)
				}
			}
		}
	}
}

// Every key of a file stands in the package comment.
func TestKeysAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(string(doc), func(r rune) bool { return !(r == '_' || 'a' <= r && r <= 'z') }) {
		words[w] = true
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[spec](), reflect.TypeFor[condition](), reflect.TypeFor[version](), reflect.TypeFor[note](),
		reflect.TypeFor[labelNames](), reflect.TypeFor[choice](), reflect.TypeFor[way](), reflect.TypeFor[mean](),
		reflect.TypeFor[caution](), reflect.TypeFor[ranges](),
		reflect.TypeFor[deviceSpec](), reflect.TypeFor[deviceLabels](), reflect.TypeFor[sliceSpec](),
		reflect.TypeFor[deviceWay](), reflect.TypeFor[throttleWay](), reflect.TypeFor[processSpec](),
	} {
		for f := range typ.Fields() {
			if tag := f.Tag.Get("yaml"); tag != "" && tag != ",inline" && !words[tag] {
				t.Errorf("the key %q of %s is not documented", tag, typ.Name())
			}
		}
	}
}

func TestSelectors(t *testing.T) {
	for _, c := range []struct {
		text  string
		line  string
		match bool
	}{
		{`a`, `a{x="1"} 0`, true},
		{`a{x="1"}`, `a{x="1"} 0`, true},
		{`a{x="1"}`, `a{x="2"} 0`, false},
		{`a{x=""}`, `a{y="2"} 0`, true},
		{`a{x!=""}`, `a{y="2"} 0`, false},
		{`a{x!="2", y =~ "p.*"}`, `a{x="1",y="pq"} 0`, true},
		{`a{y=~"p"}`, `a{y="pq"} 0`, false},
		{`a{y!~"p|q"}`, `a{y="p"} 0`, false},
		{`a{y="}"}`, `a{y="}"} 0`, true},
		{`a{y="{,="}`, `a{y="{,="} 0`, true},
		{`a{}`, `a{y="1"} 0`, true},
		{`a{y="1",}`, `a{y="1"} 0`, true},
		{`a*`, `ab 0`, true},
		{`b*`, `ab 0`, false},
	} {
		s, err := parseSelector(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := newIndex(scan(t, []byte(c.line+"\n"))).has([]string{""}, s); got != c.match {
			t.Errorf("%s on %s: %v", c.text, c.line, got)
		}
	}
	for _, text := range []string{`a{`, `a{x}`, `a{x="1}`, `a{x=1}`, `a{x="1" y="2"}`, `a{x=~"("}`, `a{="1"}`} {
		if s, err := parseSelector(text); err == nil {
			t.Errorf("%s reads as %+v", text, s)
		}
	}
}
