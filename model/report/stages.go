package report

import (
	"slotop/model"
	"slotop/model/unit"
)

// total is the goodput of all workflows together.
func (p *page) total(f *model.Frame) {
	if g := f.Goodput; g != nil {
		p.flow("goodput ", ", ", p.goodput(g)...)
	}
}

// stages are the stretches of a load test, the oldest first, a row a workflow.
func (p *page) stages(stages []model.StageView) {
	for i := range stages {
		s := &stages[i]
		until := "now"
		if !s.To.IsZero() {
			until = p.zoned(s.To)
		}
		p.line("")
		p.flow("STAGE   ", ", ", p.safe(s.Name), "from "+p.zoned(s.From)+" to "+until)
		if len(s.Workflows) > 0 {
			p.stage(s.Workflows)
		}
	}
}

func (p *page) stage(flows []model.StageWorkflow) {
	t := p.table(
		column{head: "WORKFLOW"},
		column{head: "N", min: 6, drop: 4},
		column{head: "REQ/S", min: 5, drop: 2},
		column{head: "TTFT p95", min: 8},
		column{head: "TPOT p95", min: 8},
		column{head: "E2E p95", min: 8, drop: 5},
		column{head: "TOK/S", min: 5, drop: 3},
		column{head: "GOODPUT", min: 8},
	)
	for i := range flows {
		w := &flows[i]
		good := p.missing(model.Unknown)
		if g := w.Goodput; g != nil {
			good = p.shareCell(g)
		}
		p.row(t,
			p.name(w.Name, t.name), p.cell(w.Finished, unit.Count), p.cell(w.PerSecond, unit.Rate),
			p.quantile(w.TTFT, true), p.quantile(w.TPOT, true), p.quantile(w.E2E, true),
			p.cell(w.OutputPerSecond, unit.Rate), good,
		)
	}
}
