package dialect

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources/expo"
	"slotop/sources/sourcetest/shared"
)

// store stands in for a server: the series of all pages, with the labels under which
// they were scraped.
type store struct {
	series []expo.Series
	values []float64
}

func (s *store) scrape(p *expo.Page, job, instance string) {
	for i, series := range p.Series {
		if !p.Seen[i] {
			continue
		}
		one := *series
		one.Labels = append(slices.Clone(one.Labels), expo.Label{Name: "job", Value: job}, expo.Label{Name: "instance", Value: instance})
		s.series, s.values = append(s.series, one), append(s.values, p.Values[i])
	}
}

func (s *store) names() []string {
	var names []string
	for _, one := range s.series {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// count answers the questions.
func (s *store) count(t *testing.T, questions []string) map[string]float64 {
	t.Helper()
	counts := map[string]float64{}
	for _, q := range questions {
		sel, err := parseSelector(strings.ReplaceAll(q, `\\`, `\`))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range s.series {
			if one.Name == sel.name && sel.matchers.match(one.Labels) {
				counts[q]++
			}
		}
	}
	return counts
}

// answer forms the sums that a read asks for. The value of a counter stands for what
// it gained.
func (s *store) answer(t *testing.T, r Read, page *expo.Page) {
	t.Helper()
	match, err := parseMatchers(strings.ReplaceAll(r.Match, `\\`, `\`))
	if err != nil {
		t.Fatal(err)
	}
	bears := map[string]string{}   // the name that counts of each server
	within := map[string]float64{} // the largest of those that repeat a value
	groupOf := map[string]expo.Series{}
	for _, name := range r.Names {
		for i, one := range s.series {
			if one.Name != name || !match.match(one.Labels) || math.IsNaN(s.values[i]) || r.Except != nil && s.values[i] == *r.Except {
				continue
			}
			instance := label(one.Labels, "instance")
			if bears[instance] == "" {
				bears[instance] = name
			}
			if bears[instance] != name {
				continue
			}
			key := labelText(one, func(l string) bool { return !slices.Contains(r.Within, l) })
			if v, ok := within[key]; !ok || s.values[i] > v {
				within[key] = s.values[i]
			}
			groupOf[key] = s.group(one, r)
		}
	}
	s.lay(page, r, within, groupOf)
}

func (s *store) lay(page *expo.Page, r Read, within map[string]float64, groupOf map[string]expo.Series) {
	at := map[string]int{}
	for key, v := range within {
		g := groupOf[key]
		id := labelText(g, func(string) bool { return true })
		i, ok := at[id]
		if !ok {
			i = len(page.Series)
			at[id] = i
			page.Series, page.Seen, page.Values = append(page.Series, &g), append(page.Seen, true), append(page.Values, math.NaN())
		}
		switch {
		case math.IsNaN(page.Values[i]):
			page.Values[i] = v
			if r.Merge == Count {
				page.Values[i] = 1
			}
		case r.Merge == Count:
			page.Values[i]++
		case r.Merge == Max:
			page.Values[i] = max(page.Values[i], v)
		default:
			page.Values[i] += v
		}
	}
}

// group is the series of the answer that a series is part of.
func (s *store) group(one expo.Series, r Read) expo.Series {
	g := expo.Series{Name: r.Names[0], Family: r.Names[0], Le: math.NaN()}
	for _, name := range r.By {
		if v := label(one.Labels, name); v != "" {
			g.Labels = append(g.Labels, expo.Label{Name: name, Value: v})
		}
	}
	if r.Buckets {
		g.Le, g.Type, g.Family = boundOf(&one), expo.Histogram, strings.TrimSuffix(r.Names[0], "_bucket")
	}
	return g
}

func labelText(s expo.Series, keep func(string) bool) string {
	var all []string
	for _, l := range s.Labels {
		if keep(l.Name) && l.Name != "le" {
			all = append(all, l.Name+"="+l.Value)
		}
	}
	slices.Sort(all)
	return strings.Join(append(all, strconv.FormatFloat(s.Le, 'g', -1, 64)), ",")
}

// TestServersAreReadAsTheirPages reads each page there is of an engine or gateway off
// a server that scrapes two such: it must find what the page itself says, twice.
func TestServersAreReadAsTheirPages(t *testing.T) {
	set := builtinSet(t)
	for _, area := range []string{"engines", "captures", "gateways"} {
		root := shared.Dir(t, "corpus/"+area)
		for _, name := range pagesIn(t, root) {
			body, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			page := scan(t, body)
			if d, ok := set.Detect(page); ok && d.devices == nil {
				t.Run(area+"/"+name, func(t *testing.T) { readTwice(t, set, d, page) })
			}
		}
	}
}

func readTwice(t *testing.T, set *Set, d *Dialect, page *expo.Page) {
	var server store
	server.scrape(page, "engines", "a:1")
	server.scrape(page, "engines", "b:1")
	names := server.names()
	choice := ""
	if d.Kind() != "" {
		choice = d.engine
	}
	views, _ := set.Views(names, server.count(t, set.Questions(names)), choice)
	got := map[string]total{}
	for _, v := range views {
		merged := &expo.Page{Generation: 1}
		for _, r := range v.Reads() {
			server.answer(t, r, merged)
		}
		addTotals(got, v.Plan(merged).ReadMany(merged, nil), v.ByJob(), 1)
	}
	want := map[string]total{}
	addTotals(want, d.Compile(page).Read(page, nil), false, 2)
	compareTotals(t, got, want)
}

// total is a sample with its engines added up.
type total struct {
	value, n, sum float64
	bounds        []float64
}

// addTotals adds samples up over engines. Several servers count as often, where
// that can be added.
func addTotals(into map[string]total, samples []model.Sample, byJob bool, servers float64) {
	for _, s := range samples {
		key := string(s.Signal)
		for _, name := range []string{model.LabelModel, model.LabelReason, model.LabelAdapter, model.LabelWorkflow} {
			if v := s.Labels.Get(name); v != "" && !(byJob && name == model.LabelModel) {
				key += "," + name + "=" + v
			}
		}
		t, ok := into[key]
		switch {
		case s.Hist != nil:
			t.n += servers * s.Hist.N()
			t.sum += servers * s.Hist.Sum.Value
			t.bounds = s.Hist.Bounds
		case math.IsNaN(s.Value):
			t.value = s.Value
		case notAdditive(s.Signal):
			if !ok || s.Value > t.value {
				t.value = s.Value
			}
		default:
			t.value += servers * s.Value
		}
		into[key] = t
	}
}

func compareTotals(t *testing.T, got, want map[string]total) {
	t.Helper()
	near := func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
	}
	for key, w := range want {
		g, ok := got[key]
		switch {
		case !ok && w.value == 0 && w.bounds == nil: // a counter of events that none had
		case !ok:
			t.Errorf("%s is missing", key)
		case !near(g.value, w.value) || !near(g.n, w.n) || !near(g.sum, w.sum) || !slices.Equal(g.bounds, w.bounds):
			t.Errorf("%s: %+v, want %+v", key, g, w)
		}
	}
	for key, g := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s = %+v is not on the page", key, g)
		}
	}
}

// What is asked for depends on what is there: spellings, renames that are half done,
// labels that tell samples apart, and rows that repeat others.
func TestReads(t *testing.T) {
	set := builtinSet(t)
	find := func(t *testing.T, views []*View, signal model.Signal) Read {
		t.Helper()
		for _, v := range views {
			for _, r := range v.Reads() {
				if slices.Contains(r.Signals, signal) {
					return r
				}
			}
		}
		t.Fatalf("nothing is asked for %s", signal)
		return Read{}
	}
	for _, c := range []struct {
		what   string
		series map[string]float64
		signal model.Signal
		want   Read
	}{
		{
			"both spellings", map[string]float64{"vllm:num_requests_running": 2, "vllm_num_requests_running": 1}, model.Running,
			Read{Names: []string{"vllm:num_requests_running", "vllm_num_requests_running"}, By: []string{"model_name", "model"}, Within: []string{"pid"}, Series: 3},
		},
		{
			"old and new name", map[string]float64{"vllm:kv_cache_usage_perc": 1, "vllm:gpu_cache_usage_perc": 1}, model.KVUsage,
			Read{Names: []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"}, Merge: Max, By: []string{"model_name", "model"}, Within: []string{"pid"}, Series: 2},
		},
		{
			"a histogram is one of them", map[string]float64{"vllm:request_queue_time_seconds_count": 1, "vllm:time_in_queue_requests_count": 1}, model.Queue,
			Read{Names: []string{"vllm:request_queue_time_seconds_bucket"}, Kind: model.Histogram, Buckets: true, By: []string{"model_name", "model"}, Series: 1},
		},
		{
			"a native histogram", map[string]float64{"vllm:time_to_first_token_seconds": 1}, model.TTFT,
			Read{Names: []string{"vllm:time_to_first_token_seconds"}, Kind: model.Histogram, Native: true, By: []string{"model_name", "model"}, Series: 1},
		},
		{
			"ranks, and rows that are parts of another", map[string]float64{"sglang:num_running_reqs": 8}, model.Running,
			Read{Names: []string{"sglang:num_running_reqs"}, Match: `priority=""`, By: []string{"model_name", "priority"}, Within: []string{"tp_rank", "pp_rank", "moe_ep_rank", "pid"}, Series: 8},
		},
		{
			"no model", map[string]float64{"tgi_queue_size": 1}, model.Waiting,
			Read{Names: []string{"tgi_queue_size"}, By: []string{"job"}, Series: 1},
		},
		{
			"a name of others too", map[string]float64{"vllm:num_requests_running": 1, `http_requests_total{status="5xx"}`: 1}, model.Failed,
			Read{Names: []string{"http_requests_total"}, Kind: model.Counter, Match: `status="5xx"`, By: []string{"model_name", "model", "status"}, Beside: "vllm:num_requests_running", Series: 1},
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			var names []string
			for q := range c.series {
				name, _, _ := strings.Cut(q, "{")
				if base, ok := strings.CutSuffix(name, "_count"); ok {
					names = append(names, base+"_bucket", base+"_sum")
				}
				names = append(names, name)
			}
			for q := range c.series {
				if !slices.Contains(set.Questions(names), q) {
					t.Errorf("nobody asks for %s", q)
				}
			}
			views, _ := set.Views(names, c.series, "")
			got := find(t, views, c.signal)
			got.Signals, got.ms, got.bare = nil, nil, false
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// Which dialects are read, where several recognise something.
func TestViews(t *testing.T) {
	set := builtinSet(t)
	for _, c := range []struct {
		what   string
		series []string
		choice string
		read   []string
		others []string
	}{
		{"none", []string{"up"}, "", nil, nil},
		{"side by side", []string{"vllm:num_requests_running", "sglang:num_running_reqs"}, "", []string{"sglang", "vllm"}, nil},
		{"a worker speaks its engine's dialect too", []string{"dynamo_component_inflight_requests", "vllm:num_requests_running"}, "", []string{"dynamo-worker"}, nil},
		{"the more specific one", []string{"vllm:num_requests_running", `vllm:kv_cache_usage_perc{engine=""}`, "vllm:kv_cache_usage_perc"}, "", []string{"llm-d-inference-sim"}, nil},
		{"a gateway beside", []string{"vllm:num_requests_running", "litellm_requests_metric_total", "litellm_proxy_total_requests_metric_total"}, "", []string{"vllm"}, []string{"litellm"}},
		{"the gateway, chosen", []string{"vllm:num_requests_running", "litellm_requests_metric_total", "litellm_proxy_total_requests_metric_total"}, "litellm", []string{"litellm"}, []string{"vllm"}},
	} {
		series := map[string]float64{}
		var names []string
		for _, q := range c.series {
			name, _, _ := strings.Cut(q, "{")
			series[q], names = 1, append(names, name)
		}
		views, others := set.Views(names, series, c.choice)
		var read []string
		for _, v := range views {
			read = append(read, v.Engine())
		}
		slices.Sort(read)
		if !slices.Equal(read, c.read) || !slices.Equal(others, c.others) {
			t.Errorf("%s: %v are read and %v left out, want %v and %v", c.what, read, others, c.read, c.others)
		}
	}
}

// Of servers with a cache of several sizes each size counts as often as it is there.
func TestSizesInLabelsAddUp(t *testing.T) {
	set := builtinSet(t)
	views, _ := set.Views([]string{"vllm:cache_config_info"}, map[string]float64{"vllm:cache_config_info": 5}, "")
	page := &expo.Page{Generation: 1}
	for _, size := range []struct {
		blocks string
		n      float64
	}{{"100", 3}, {"50", 2}} {
		page.Series = append(page.Series, &expo.Series{Name: "vllm:cache_config_info", Family: "vllm:cache_config_info", Le: math.NaN(), Labels: []expo.Label{
			{Name: "num_gpu_blocks", Value: size.blocks}, {Name: "block_size", Value: "16"},
		}})
		page.Values, page.Seen = append(page.Values, size.n), append(page.Seen, true)
	}
	samples := views[0].Plan(page).ReadMany(page, nil)
	if len(samples) != 1 || samples[0].Value != 16*(3*100+2*50) {
		t.Errorf("got %v, want one capacity of 6400 tokens", samples)
	}
}
