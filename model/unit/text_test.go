package unit

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ in, want, ascii string }{
		{"acme/chat-70b", "acme/chat-70b", "acme/chat-70b"},
		{"", "", ""},
		{"acme\x1b]0;owned\a\x1b[2J\x1b[31mCRIT\x1b[0m", "acme␛]0;owned␇␛[2J␛[31mCRIT␛[0m", `acme\x1b]0;owned\x07\x1b[2J\x1b[31mCRIT\x1b[0m`},
		{"acme\u202egnp.70b\r0 OK", `acme\u202egnp.70b␍0 OK`, `acme\u202egnp.70b\x0d0 OK`},
		{"acme\x1b]52;c;aGk=\a\u009b5m", `acme␛]52;c;aGk=␇\x9b5m`, `acme\x1b]52;c;aGk=\x07\x9b5m`},
		{"D:\\models\\\"Chat\" 72B, {q4} #1\n", `D:\models\"Chat" 72B, {q4} #1␤`, `D:\models\"Chat" 72B, {q4} #1\x0a`},
		{"a\tb\x00c\x7fd", "a␉b␀c␡d", `a\x09b\x00c\x7fd`},
		{"raw \x9b5m and \xff", `raw \x9b5m and \xff`, `raw \x9b5m and \xff`},
		{"zero\u200bwidth\ufeff\u2060\u00ad", `zero\u200bwidth\ufeff\u2060\xad`, `zero\u200bwidth\ufeff\u2060\xad`},
		{"\u2066iso\u2069 \u200e\u200f\u061c", `\u2066iso\u2069 \u200e\u200f\u061c`, `\u2066iso\u2069 \u200e\u200f\u061c`},
		{"line\u2028para\u2029", `line\u2028para\u2029`, `line\u2028para\u2029`},
		{"tag\U000e0041 vs\ufe0f filler\u3164", `tag\U000e0041 vs\ufe0f filler\u3164`, `tag\U000e0041 vs\ufe0f filler\u3164`},
		{"模型 é", "模型 é", `\u6a21\u578b \xe9`},
		{"real \ufffd", "real \ufffd", `real \ufffd`},
	} {
		if got := Escape(tt.in, false); got != tt.want {
			t.Errorf("%q = %q, want %q", tt.in, got, tt.want)
		}
		if got := Escape(tt.in, true); got != tt.ascii {
			t.Errorf("%q = %q in ASCII, want %q", tt.in, got, tt.ascii)
		}
	}
}

// Our own signs have stand-ins in ASCII; what a target sends has none.
func TestSentence(t *testing.T) {
	const text = "arrivals ×3.6 → load ≥ 1.4 · KV 0.14–0.99, waits ≈ 12 s \x1b[2J 模"
	if got, want := Sentence(text, true), `arrivals x3.6 -> load >= 1.4; KV 0.14-0.99, waits ~ 12 s \x1b[2J \u6a21`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Sentence(text, false), "arrivals ×3.6 → load ≥ 1.4 · KV 0.14–0.99, waits ≈ 12 s ␛[2J 模"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEscapeOfCleanTextIsFree(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Escape("acme/chat-70b 模型", false) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTruncate(t *testing.T) {
	const path = "/data/models/acme/chat 70b/"
	for _, tt := range []struct {
		n                          int
		left, right, leftA, rightA string
	}{
		{99, path, path, path, path},
		{27, path, path, path, path},
		{16, "…/acme/chat 70b/", "/data/models/ac…", "..acme/chat 70b/", "/data/models/a.."},
		{2, "…/", "/…", "..", ".."},
		{1, "…", "…", ".", "."},
		{0, "", "", "", ""},
		{-3, "", "", "", ""},
	} {
		got := [4]string{TruncateLeft(path, tt.n, false), TruncateRight(path, tt.n, false), TruncateLeft(path, tt.n, true), TruncateRight(path, tt.n, true)}
		if want := [4]string{tt.left, tt.right, tt.leftA, tt.rightA}; got != want {
			t.Errorf("%d cells: %q, want %q", tt.n, got, want)
		}
	}
	if got := TruncateLeft("模型模型", 4, false); got != "…型" {
		t.Errorf("wide characters from the left: %q", got)
	}
	if got := TruncateRight("模型模型", 4, false); got != "模…" {
		t.Errorf("wide characters from the right: %q", got)
	}
}

func TestTruncateMiddle(t *testing.T) {
	const pod = "vllm-chat-7d9f6b-abcde"
	for n, want := range map[int]string{99: pod, 22: pod, 21: "vllm-chat-7d9f…-abcde", 12: "vllm-cha…cde", 11: "vllm-chat-…", 1: "…", 0: "", -1: ""} {
		if got := TruncateMiddle(pod, n, false); got != want {
			t.Errorf("%d cells: %q, want %q", n, got, want)
		}
	}
	if got := TruncateMiddle("模型模型模型甲", 13, false); got != "模型模型…型甲" || Width(got) > 13 {
		t.Errorf("wide characters: %q", got)
	}
	if got := TruncateMiddle(pod, 12, true); got != "vllm-ch..cde" {
		t.Errorf("ASCII: %q", got)
	}
}

func TestPad(t *testing.T) {
	if got := PadLeft("模", 4) + "|" + PadRight("–", 3) + "|" + PadLeft("long", 2); got != "  模|–  |long" {
		t.Errorf("%q", got)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("acme\x1b[2J\u009b\u202e\n\xff")
	f.Add("👩\u200d💻 e\u0301 🇩🇪")
	f.Fuzz(func(t *testing.T, s string) {
		shown, ascii := Escape(s, false), Escape(s, true)
		if !utf8.ValidString(shown) {
			t.Errorf("%q is not valid text", shown)
		}
		for _, r := range shown {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b {
				t.Errorf("%q lets %U through", shown, r)
			}
		}
		if i := strings.IndexFunc(ascii, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
			t.Errorf("%q is not printable ASCII", ascii)
		}
		if Escape(shown, false) != shown || Escape(ascii, true) != ascii {
			t.Errorf("escaping twice changes %q or %q", shown, ascii)
		}
		for n := range 12 {
			for _, a := range []bool{false, true} {
				left, right := TruncateLeft(shown, n, a), TruncateRight(shown, n, a)
				if Width(left) > n || Width(right) > n {
					t.Errorf("%q in %d cells: %q, %q", shown, n, left, right)
				}
				mark := ellipsis(n, a)
				if !strings.HasSuffix(shown, strings.TrimPrefix(left, mark)) || !strings.HasPrefix(shown, strings.TrimSuffix(right, mark)) {
					t.Errorf("%q in %d cells: %q, %q invent text", shown, n, left, right)
				}
			}
		}
	})
}
