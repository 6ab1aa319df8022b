package tuitest

import (
	"fmt"
	"time"

	"slotop/model"
)

// Crowd is a frame of 40 workflows on 500 targets, with names of 60 characters, wide
// ones and emoji among them, and one in ten in trouble.
func Crowd() *model.Frame {
	f := Fleet(40, 500)
	for i := range f.Workflows {
		w := &f.Workflows[i]
		w.Name = longName(i)
		w.Targets = []string{longName(i + 1000)}
	}
	for i := range f.Targets {
		t := &f.Targets[i]
		t.Name = longName(i + 1000)
		if i%10 == 9 && t.Fault == nil {
			t.State, t.Since = model.Stalled, ago(time.Duration(i)*time.Second)
		}
	}
	return f
}

// longName is a name of 60 characters, the same for the same number and no two alike.
func longName(i int) string {
	parts := []string{"检索增强生成与多轮对话服务", "대화형상담서비스품질관리", "🚀👩‍🔬🔥✨🧠", "assistant-for-internal-knowledge", "会話型エージェント本番環境"}
	name := []rune(fmt.Sprintf("%04d-%s-%s-", i, parts[i%len(parts)], parts[(i/len(parts)+1)%len(parts)]))
	for len(name) < 60 {
		name = append(name, []rune("pool-東京-blue-")[len(name)%13])
	}
	return string(name[:60])
}
