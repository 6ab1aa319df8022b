package fleet

import (
	"fmt"
	"os"
	"testing"
	"time"

	"slotop/model"
	"slotop/model/report"
)

func TestZZLook(t *testing.T) {
	what := os.Getenv("LOOK")
	if what == "" {
		t.Skip()
	}
	d, _ := time.ParseDuration(os.Getenv("FOR"))
	var last *model.Frame
	playDemo(t, what, time.Second, time.Minute, d, func(fr *model.Frame) { last = fr })
	fmt.Println(report.Text(last, report.Options{Width: 120}))
	for _, a := range last.Alerts {
		fmt.Printf("%+v\n", a)
	}
	for _, a := range last.AlertLog {
		fmt.Printf("%v %s %s %s\n", a.At.Mono, a.ID, a.State, a.Text)
	}
	for _, w := range last.Workflows {
		fmt.Printf("%s %+v\n  %+v\n %+v\n", w.Name, w.Condition, *w.Goodput, *w.Budget)
	}
	fmt.Printf("%+v\n", last.Goodput)
}
