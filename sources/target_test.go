package sources_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"slotop/model"
	"slotop/sources"
)

func TestResolveAddresses(t *testing.T) {
	tests := []struct {
		arg, id, name string
	}{
		{"localhost:8000", "http://localhost:8000/metrics", "localhost:8000"},
		{":8000", "http://localhost:8000/metrics", "localhost:8000"},
		{"10.0.0.7:30000", "http://10.0.0.7:30000/metrics", "10.0.0.7:30000"},
		{"[::1]:8000", "http://[::1]:8000/metrics", "[::1]:8000"},
		{"GPU-1.Example:8000", "http://gpu-1.example:8000/metrics", "gpu-1.example:8000"},
		{"host:8000/llm/metrics", "http://host:8000/llm/metrics", "host:8000"},
		{"http://host", "http://host/metrics", "host"},
		{"http://host:8000/", "http://host:8000/metrics", "host:8000"},
		{"http://host:8000/llm/metrics", "http://host:8000/llm/metrics", "host:8000"},
		{"https://host/metrics?model=a", "https://host/metrics?model=a", "host"},
		{"https://me:geheim@host/metrics", "https://host/metrics", "host"},
		{"me:geheim@host:8000", "http://host:8000/metrics", "host:8000"},
		{"http://host/metrics?team=a@b", "http://host/metrics?team=a@b", "host"},
		{"http://host/metrics?a=1;pw=geheim;sid=x&compass=n", "http://host/metrics?a=1;pw=redacted;sid=redacted&compass=redacted", "host"},
		{"http://host/metrics?pass=g&jwt=g&bearer=g&access=g&sas=g&code=g&t=g&to=x", "http://host/metrics?pass=redacted&jwt=redacted&bearer=redacted&access=redacted&sas=redacted&code=redacted&t=redacted&to=x", "host"},
		{"http://host/metrics?api_key=geheim&model=a", "http://host/metrics?api_key=redacted&model=a", "host"},
	}
	for _, tc := range tests {
		t.Run(tc.arg, func(t *testing.T) {
			got := resolve(t, tc.arg)
			want := model.Target{ID: model.TargetID(tc.id), Name: tc.name, Kind: model.EngineTarget}
			if len(got) != 1 || got[0].Target != want || got[0].Saved {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestResolveNamesTargetsApart(t *testing.T) {
	got := resolve(t, "a:1", "a:1/llm/metrics", "https://a:1", "b:1")
	want := []string{"a:1/metrics", "a:1/llm/metrics", "https://a:1/metrics", "b:1"}
	for i, o := range got {
		if o.Target.Name != want[i] {
			t.Errorf("target %d is called %q, want %q", i, o.Target.Name, want[i])
		}
	}
}

func TestOpenKeepsTheUsersNames(t *testing.T) {
	opened, err := sources.Open(t.Context(), []sources.Spec{
		{Address: "a:1", Name: "blue"}, {Address: "b:1", Name: "blue"}, {Address: "c:1", Name: "green"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range opened {
		names = append(names, o.Target.Name)
	}
	if got := strings.Join(names, " "); got != "a:1/metrics b:1/metrics green" {
		t.Errorf("got %s", got)
	}
}

func TestResolveSavedPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "monday[1]")
	write := func(names ...string) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(enginePage), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("one/t0.prom", "one/t1.prom", "one/notes.md", "two/000.prom", "two/000.sim.prom", "two/001.prom",
		"two/003.sim.prom", "three/vllm-0.8.prom", "three/vllm-0.9.prom", "empty/x.md")
	in := func(name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		name string
		args []string
		want []string // names
	}{
		{"one page", []string{in("one/t0.prom")}, []string{"t0.prom"}},
		{"pages in a row are one target", []string{in("one/t1.prom"), in("one/t0.prom")}, []string{"one"}},
		{"a row over directories", []string{in("one/t0.prom"), in("two/000.prom")}, []string{"t0.prom"}},
		{"any extension", []string{in("one/notes.md")}, []string{"notes.md"}},
		{"a directory is one target", []string{in("one"), in("three")}, []string{"one", "three"}},
		{"a second server beside the first", []string{in("two")}, []string{"two", "two/sim"}},
		{"a directory parts two rows", []string{in("one/t0.prom"), in("three"), in("one/t1.prom")}, []string{"t0.prom", "three", "t1.prom"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var names []string
			for _, o := range resolve(t, tc.args...) {
				names = append(names, o.Target.Name)
				if !o.Saved || o.Target.Kind != "engine" {
					t.Errorf("%+v is not a saved engine page", o.Target)
				}
			}
			if got, want := strings.Join(names, " "), strings.Join(tc.want, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	t.Run("an empty directory", func(t *testing.T) {
		_, err := sources.Resolve(t.Context(), []string{in("empty")}, sources.Options{})
		if err == nil || !strings.Contains(err.Error(), "without *.prom files") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("beside a live target", func(t *testing.T) {
		_, err := sources.Resolve(t.Context(), []string{in("one"), "localhost:8000"}, sources.Options{})
		if err == nil || !strings.Contains(err.Error(), "own clock") {
			t.Errorf("got %v", err)
		}
	})
}

func TestResolveRefusesTypos(t *testing.T) {
	tests := []struct{ arg, want string }{
		{"", "empty"},
		{"localhost", "write localhost:8000 or http://localhost/metrics"},
		{"8000", "write localhost:8000"},
		{"localhost:http", "neither host:port with a port from 1 to 65535"},
		{"localhost:0", "neither host:port"},
		{"localhost:70000", "neither host:port"},
		{"http://", "not a complete address"},
		{"http:/host/metrics", "not a complete address"},
		{"http://host:port/metrics", "not a complete address"},
		{"htp://host:8000", `unknown scheme "htp"`},
		{"captures/tuesday", "no such file or directory"},
		{"tuesday.prom", "no such file or directory"},
		{"./x", "no such file or directory"},
		{"prom+https://", "not a complete address"},
		{"prom+http://thanos:9090?dialect=nonesuch", `there is no dialect "nonesuch"`},
		{"prom+http://thanos:9090?dialect=dcgm-exporter", "dcgm-exporter tells of GPUs, which are read from their exporters alone"},
		{"prom+http://thanos:9090?replicas=1000", "from 0 to 200"},
		{"stats+http:gw", "not a complete address: write stats+http(s)://"},
		{"events:", "no file: write events:FILE"},
		{"events:nothing-here.jsonl", "no such file or directory: check the path"},
		{"events:/", "a directory, not a regular file: what another program writes is read by PROGRAM | slotop events:-"},
		{"events:/dev/zero", "a device, not a regular file"},
		{"events+https://", "not a complete address: write events:FILE"},
		{"nvml:cuda", "is no way to read GPUs"},
		{"demo:S99", "S99"},
		{"demo:S0?sed=7", `no setting is called "sed"`},
		{"demo:S0?seed=x", "seed cannot be"},
		{"demo:S0?from=-1s", "from cannot be"},
		{"demo:S0?from=soon", "from cannot be"},
		{"demo:S8?events=0", "nothing but what a gateway reports"},
		{"demo:S8?gpus=1", "nobody sees a hosted provider's GPUs"},
		{"ho\x1b[2Jst", `"ho\x1b[2Jst"`},
	}
	for _, tc := range tests {
		t.Run(tc.arg, func(t *testing.T) {
			_, err := sources.Resolve(t.Context(), []string{tc.arg}, sources.Options{})
			var usage *sources.UsageError
			if !errors.As(err, &usage) {
				t.Fatalf("got %v, want a *UsageError", err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %q, want it to say %q", err, tc.want)
			}
		})
	}
}

func TestResolveNamesEveryTypo(t *testing.T) {
	_, err := sources.Resolve(t.Context(), []string{"localhost", "localhost:8000", "nvml:cuda"}, sources.Options{})
	if err == nil || !strings.Contains(err.Error(), "no port") || !strings.Contains(err.Error(), "nvml:") {
		t.Errorf("got %v", err)
	}
	if _, err = sources.Resolve(t.Context(), nil, sources.Options{}); err == nil {
		t.Error("no target is none to poll")
	}
	_, err = sources.Resolve(t.Context(), []string{"a:1", "http://a:1/metrics"}, sources.Options{})
	if err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("got %v", err)
	}
}

func TestResolveLeavesTapesToTheCommand(t *testing.T) {
	_, err := sources.Resolve(t.Context(), []string{"monday.tape"}, sources.Options{})
	var tape *sources.TapeError
	if !errors.As(err, &tape) || tape.Path != "monday.tape" {
		t.Errorf("got %v, want a *TapeError", err)
	}
	if sources.IsTape("http://host/x.tape") {
		t.Error("an address is no tape")
	}
}

func TestNoCredentialInAnError(t *testing.T) {
	for _, arg := range []string{
		"http://me:geheim@host:port/metrics",
		"htp://me:geheim@host/metrics",
		"me:geheim@host",
		"me:ge/he@im@host:x",
		"http://me:ge/heim@host:8000",
		"http://host:x/metrics?token=geheim",
		"http://host:x/metrics?a=b&X-Api%2DKey=geheim",
		"prom+http://me:geheim@host:9090?replicas=x",
	} {
		_, err := sources.Resolve(t.Context(), []string{arg}, sources.Options{})
		if err == nil {
			t.Errorf("%s was accepted", arg)
			continue
		}
		for _, secret := range []string{"geheim", "heim", "ge/"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error holds %q: %v", arg, secret, err)
			}
		}
	}
}

func TestKindsAreDocumented(t *testing.T) {
	for _, k := range sources.Kinds() {
		if k.Name == "" || k.Doc == "" || k.Example == "" || k.Match == nil || k.Open == nil {
			t.Errorf("kind %q is not complete", k.Name)
		}
	}
}
