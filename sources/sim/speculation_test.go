package sim

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"
)

// perStep is how many tokens a step yields on average: 1, α, α² … up to the whole
// draft, (1−α^(k+1))/(1−α) (Leviathan et al., ICML 2023).
func perStep(s Speculation) float64 {
	return (1 - math.Pow(s.Acceptance, float64(s.Draft+1))) / (1 - s.Acceptance)
}

// A draft of four tokens of which each is right four times in five yields 3.36 tokens
// a step, and 2.31 where it is three in five: 1.46 times the time per token.
func TestTokensPerStep(t *testing.T) {
	good, poor := Speculation{4, 0.8}, Speculation{4, 0.6}
	near(t, "tokens a step at 0.8", perStep(good), 3.36, 0.001)
	near(t, "tokens a step at 0.6", perStep(poor), 2.31, 0.003)
	near(t, "TPOT", perStep(good)/perStep(poor), 1.46, 0.003)
	near(t, "without", perStep(Speculation{}), 1, 0)
}

func TestSpeculationOnThePage(t *testing.T) {
	s := service(t, Options{Seed: 2, Replicas: 1, Scenario: "S11", At: 60 * time.Second})
	count := func(name string) float64 {
		page, err := s.Replicas()[0].Page(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, v := numbers(parse(t, page)["vllm:"+name], "", "")
		n, _ := numbers(parse(t, page)["vllm:"+name], "", "")
		return max(v, n)
	}
	names := []string{"spec_decode_num_drafts_total", "spec_decode_num_draft_tokens_total",
		"spec_decode_num_accepted_tokens_total", "spec_decode_num_accepted_tokens_per_pos_total"}
	over := func(to time.Duration) map[string]float64 {
		before, out := map[string]float64{}, map[string]float64{}
		for _, n := range names {
			before[n] = count(n)
		}
		s.Advance(to)
		for _, n := range names {
			out[n] = count(n) - before[n]
		}
		return out
	}
	for i, want := range []Speculation{{4, 0.8}, {4, 0.6}} {
		got := over(time.Duration(i+1) * 60 * time.Second)
		near(t, "tokens a step", 1+got[names[2]]/got[names[0]], perStep(want), 0.02)
		if got[names[2]] != got[names[3]] {
			t.Errorf("%v accepted, %v by position", got[names[2]], got[names[3]])
		}
	}
	if plain := pageAt(t, Options{Seed: 2}, 10*time.Second, 0); bytes.Contains(plain, []byte("spec_decode")) {
		t.Error("an engine without speculation shows it")
	}
}

// However many tokens come at once, a request gets as many as it asked for.
func TestDraftsEndWithTheAnswer(t *testing.T) {
	plain, drafted := (&meter{sim: service(t, Options{Seed: 3})}), (&meter{sim: service(t, Options{Seed: 3, Scenario: "S11"})})
	plain.watch(0, 60*time.Second)
	drafted.watch(0, 60*time.Second)
	tokens := map[string]int{}
	for _, e := range plain.events {
		tokens[fmt.Sprint(e.Workflow, e.Arrival, e.PromptTokens)] = e.OutputTokens
	}
	compared := 0
	for _, e := range drafted.events {
		if want, ok := tokens[fmt.Sprint(e.Workflow, e.Arrival, e.PromptTokens)]; ok {
			compared++
			if e.OutputTokens != want {
				t.Fatalf("%d tokens, %d without drafts", e.OutputTokens, want)
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d requests compared", compared)
	}
}
