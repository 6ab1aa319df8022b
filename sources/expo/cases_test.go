package expo

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"slotop/sources/sourcetest/shared"
)

func scan(t *testing.T, body string) *Page {
	t.Helper()
	p, err := NewScanner(Limits{}).Scan([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// text is a series as one would write it, labels in page order, le last.
func (s *Series) text() string {
	var b strings.Builder
	b.WriteString(s.Name)
	for i, l := range s.Labels {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(l.Name + "=" + l.Value)
	}
	if len(s.Labels) > 0 {
		b.WriteByte('}')
	}
	if !math.IsNaN(s.Le) {
		b.WriteString("≤" + strconv.FormatFloat(s.Le, 'g', -1, 64))
	}
	return b.String()
}

func find(t *testing.T, p *Page, text string) (*Series, float64) {
	t.Helper()
	for i, s := range p.Series {
		if s.text() == text {
			return s, p.Values[i]
		}
	}
	t.Fatalf("no series %q", text)
	return nil, 0
}

func wantValue(t *testing.T, p *Page, text string, want float64) {
	t.Helper()
	_, got := find(t, p, text)
	if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s = %v, want %v", text, got, want)
	}
}

func caseFile(t *testing.T, name string) *Page {
	t.Helper()
	return scan(t, string(shared.File(t, "cases/files/"+name)))
}

func TestOneBadLine(t *testing.T) {
	p := caseFile(t, "one-bad-line.prom")
	wantValue(t, p, "vllm:num_requests_running{engine=0,model_name=acme/chat-70b}", 4)
	wantValue(t, p, "vllm:num_requests_waiting{engine=0,model_name=acme/chat-70b}", 1)
	if len(p.Series) != 2 || p.Bad != 2 || len(p.BadLines) != 2 || p.Lines != 8 {
		t.Fatalf("page %+v", p)
	}
	for i, want := range []BadLine{
		{5, whyComma, `lab_note{text="rack 14" left side",room="b2"} 1`},
		{8, whyNoValue, "no_value_here"},
	} {
		if p.BadLines[i] != want {
			t.Errorf("bad line %+v, want %+v", p.BadLines[i], want)
		}
	}
	if !strings.HasPrefix(p.Verdict, "line 5: ") {
		t.Errorf("verdict %q", p.Verdict)
	}
}

func TestRepeatedType(t *testing.T) {
	p := caseFile(t, "repeated-type.prom")
	wantValue(t, p, "vllm:num_requests_running{engine=0,model_name=acme/chat-70b}", 4)
	wantValue(t, p, "vllm:num_requests_running{engine=1,model_name=acme/chat-70b}", 2)
	wantValue(t, p, "untyped_thing", 7)
	if p.Bad != 0 || p.Repeated != 0 {
		t.Errorf("page %+v", p)
	}
}

func TestLabelEscapes(t *testing.T) {
	p := caseFile(t, "label-escapes.prom")
	want := []struct {
		model string
		value float64
	}{
		{"D:\\models\\\"Chat\" 72B, {q4} #1\n", 3},
		{`F:\`, 5},
		{"/data/models/acme/chat 70b/", 2},
	}
	if len(p.Series) != len(want) || p.Bad != 0 {
		t.Fatalf("page %+v", p)
	}
	for i, w := range want {
		if got := p.Series[i].Labels[1].Value; got != w.model || p.Values[i] != w.value {
			t.Errorf("model %q = %v, want %q = %v", got, p.Values[i], w.model, w.value)
		}
	}
}

func TestOpenMetrics(t *testing.T) {
	p := caseFile(t, "openmetrics.prom")
	labels := "{engine=0,model_name=acme/chat-70b}"
	wantValue(t, p, "vllm:prompt_tokens_total"+labels, 1234)
	wantValue(t, p, "vllm:time_to_first_token_seconds_bucket"+labels+"≤0.1", 8)
	wantValue(t, p, "vllm:time_to_first_token_seconds_bucket"+labels+"≤+Inf", 10)
	wantValue(t, p, "vllm:time_to_first_token_seconds_count"+labels, 10)
	wantValue(t, p, "vllm:time_to_first_token_seconds_sum"+labels, 1.5)
	wantValue(t, p, "vllm.num_requests_running"+labels, 3)
	if p.Bad != 0 || len(p.Series) != 8 || p.Lines != 13 {
		t.Errorf("page %+v", p)
	}
	tokens, _ := find(t, p, "vllm:prompt_tokens_total"+labels)
	if tokens.Type != Counter || tokens.Family != "vllm:prompt_tokens" {
		t.Errorf("tokens are %v of %q", tokens.Type, tokens.Family)
	}
	for _, name := range []string{"vllm:prompt_tokens_created", "vllm:time_to_first_token_seconds_created"} {
		created, v := find(t, p, name+labels)
		if created.Type != Untyped || created.Family != name || v != 1.7579e9 {
			t.Errorf("%s is %v of %q", name, created.Type, created.Family)
		}
	}
}

func TestNaN(t *testing.T) {
	p := caseFile(t, "nan.prom")
	wantValue(t, p, "llamacpp:tokens_predicted_total", 0)
	wantValue(t, p, "llamacpp:n_busy_slots_per_decode", math.NaN())
	wantValue(t, p, "llamacpp:predicted_tokens_seconds", math.NaN())
	if p.Bad != 0 || !p.Seen[1] {
		t.Errorf("page %+v", p)
	}
}

func TestBuckets(t *testing.T) {
	for name, want := range map[string]map[float64]float64{
		"non-monotone.prom": {0.5: 10, 1: 12, math.Inf(1): 11},
		"bounds-a.prom":     {0.5: 10, 1: 12, math.Inf(1): 20},
		"bounds-b.prom":     {0.5: 5, math.Inf(1): 20},
	} {
		p := caseFile(t, name)
		got := map[float64]float64{}
		for i, s := range p.Series {
			if !math.IsNaN(s.Le) {
				got[s.Le] = p.Values[i]
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: buckets %v, want %v", name, got, want)
		}
		for le, n := range want {
			if got[le] != n {
				t.Errorf("%s: bucket %v = %v, want %v", name, le, got[le], n)
			}
		}
	}
}

func TestEscapeBytes(t *testing.T) {
	p := caseFile(t, "escape-injection.prom")
	if len(p.Series) != 3 || p.Bad != 0 {
		t.Fatalf("page %+v", p)
	}
	if got := p.Series[0].Labels[1].Value; got != "acme\x1b]0;owned\a\x1b[2J\x1b[31mCRIT\x1b[0m" {
		t.Errorf("label %q", got)
	}
}

func TestNotMetrics(t *testing.T) {
	engines := func(name string) string { return string(shared.File(t, "corpus/engines/"+name)) }
	for name, tc := range map[string]struct{ body, what, excerpt string }{
		"empty":        {"", Empty, ""},
		"blank":        {" \n\t\r\n", Empty, ""},
		"login page":   {"\n<!DOCTYPE html><html><body>Error 404\nError 404\n</body></html>\n", HTML, "<!DOCTYPE html><html><body>Error 404\\nError 404\\n</body></html>"},
		"error page":   {"<center><h1>502 Bad Gateway</h1></center>\n", XML, "<center><h1>502 Bad Gateway</h1></center>"},
		"xml":          {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", XML, "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"},
		"llama.cpp":    {engines("llamacpp-metrics-disabled-501.json"), JSON, `{"error": {"code": 501, "message": "…", "type": "…"}}`},
		"log":          {`{"id": "a\"b", "request" : {"messages": [{"content": "CANARY", "n": 1}, "CANARY"]}, "ok": true}`, JSON, `{"id": "…", "request" : {"messages": [{"content": "…", "n": 1}, "…...`},
		"cut string":   {`["CANARY`, JSON, `["…"`},
		"stream":       {"event: log\ndata: {\"prompt\":\"CANARY\"}\n", Text, `event: log\ndata: {"prompt":"…"}`},
		"drained":      {engines("trtllm-metrics-drained.json"), JSON, "[]"},
		"iterations":   {engines("trtllm-docs-metrics-pytorch.json"), JSON, `[{"gpuMemUsage": 76665782272, "iter": 154, "iterLatencyMS": 7.0068836212...`},
		"pretty":       {"{\n  \"a\": 1\n}\n", JSON, `{\n  "a": 1\n}`},
		"mlc":          {engines("mlc-llm.txt"), Text, "# NOTE: these metrics count token in the unit of serving model's tokeniz..."},
		"ollama":       {engines("ollama-root.txt"), Text, "Ollama is running"},
		"gzip":         {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", Gzip, ""},
		"protobuf":     {"\xc6\x01\n\x1avllm:num_requests_running\x12\x0bIn batches.\x18\x01\"\x1b\n\x0b\n\x06engine\x12\x010\x12\t\t\x00\x00\x00\x00\x00\x00\x10@", Binary, ""},
		"escape bytes": {"\x1b]0;owned\a is running\n", Text, `\x1b]0;owned\a is running`},
	} {
		_, err := NewScanner(Limits{}).Scan([]byte(tc.body))
		var not *NotMetricsError
		if !errors.As(err, &not) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if not.What != tc.what || not.Excerpt != tc.excerpt {
			t.Errorf("%s: %s, excerpt %q; want %s, %q", name, not.What, not.Excerpt, tc.what, tc.excerpt)
		}
	}
}

// On such a page the reference parser panics: it sets a label in a map that
// only the line of a histogram makes.
func TestVerdictSurvivesPanic(t *testing.T) {
	p := scan(t, "# TYPE h histogram\nup 1\n{\"h_bucket\",a=\"b\",le=\"1\"} 2\n")
	wantValue(t, p, "up", 1)
	wantValue(t, p, "h_bucket{a=b}≤1", 2)
	if p.Bad != 0 || !strings.Contains(p.Verdict, "nil map") {
		t.Errorf("verdict %q, bad lines %v", p.Verdict, p.BadLines)
	}
}

func TestVerdict(t *testing.T) {
	s := NewScanner(Limits{})
	for body, want := range map[string]string{
		"up 1\n":                     "",
		"# TYPE a gauge\na -nan\n":   `line 2: expected float as value, got "-nan"`,
		"a 1 # {t=\"1\"} 2\n# EOF\n": "", // OpenMetrics is none of its business
	} {
		s.forget() // each page is the first of its generation
		if p := rescan(t, s, body); p.Verdict != want {
			t.Errorf("%q: verdict %q, want %q", body, p.Verdict, want)
		}
	}
}
