package dialect

import "testing"

// BenchmarkBuiltin is what every start of the program pays before it can read a page.
func BenchmarkBuiltin(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Builtin(); err != nil {
			b.Fatal(err)
		}
	}
}
