# `make demo` and `make test` need Go, git and make, nothing else.

GO       ?= go
ARGS     ?=
BIN      := bin/slotop
FUZZTIME ?= 3s

# Linters, pinned. go run builds them once and keeps them in its cache.
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI    := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help demo run build test bench lint check fmt vet race fuzz live man pictures

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 14

demo: build ## watch the built-in simulated service: make demo ARGS=S4
	$(BIN) demo $(ARGS)

run: build ## watch something: make run ARGS=localhost:8000
	$(BIN) $(ARGS)

build: ## bin/slotop
	$(GO) build -trimpath -o $(BIN) ./cmd/slotop

test: ## all tests
	$(GO) test -timeout 20m ./...

man: build ## docs/slotop.1, the manual page
	$(BIN) man >docs/slotop.1

pictures: ## docs/pictures, made from the simulator
	$(GO) test ./cmd/slotop -run '^TestDocsPictures$$' -update

bench: ## all benchmarks, with allocations and ratios
	$(GO) test -run '^$$' -bench . -benchmem ./...

lint: fmt vet ## format, vet and the pinned linters
	$(STATICCHECK) ./...
	$(GOLANGCI) run ./...

check: lint test race fuzz ## what a change must pass: lint, all tests, -race, a little fuzzing

fmt:
	@out=$$(gofmt -l cmd model sources themes tui); \
	if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...

# The model, what draws, and the simulator start no goroutine and have one caller at a
# time, which a rule of the house holds them to: of these packages only the one whose
# arrays readers share can race.
RACED = $$($(GO) list ./... | grep -vE '^slotop/(model|tui/(panes|chart|layout|picture)|sources/sim)') ./model/series

# Short: what computes for minutes of virtual time has no second goroutine to race
# with, and runs in full without the detector.
race: ## what runs side by side, under the race detector, which needs a C compiler
	@if command -v gcc >/dev/null; then \
		set -x; CGO_ENABLED=1 $(GO) test -race -short -timeout 15m $(RACED); \
	elif [ -n "$$SLOTOP_REQUIRE_PARTS" ]; then \
		echo "race: no C compiler"; exit 1; \
	else \
		echo "race: no C compiler, tested without"; $(GO) test $(RACED); \
	fi

# A fuzz target whose time is up while an input runs reports "context deadline
# exceeded" and saves no input: that is the end of the time, not a finding.
fuzz: ## a few seconds of each fuzz target, two at a time
	@grep -rEo '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' cmd model sources themes tui | sed -E 's|/[^/]*:func | |' | \
	xargs -P 2 -L 1 sh -c 'log=$$(mktemp); trap "rm -f $$log" EXIT; echo "fuzz $$1 $$2"; \
		$(GO) test -run "^$$" -fuzz "^$$2\$$" -parallel 1 -fuzztime $(FUZZTIME) -fuzzminimizetime 2s "./$$1" >"$$log" 2>&1 || \
			{ grep -q "context deadline exceeded" "$$log" && ! grep -q "Failing input" "$$log"; } || \
			{ cat "$$log"; exit 255; }' fuzz

live: ## against a real server program, built from source, and NVIDIA's header: minutes the first time
	cd sources/sourcetest/llmdsim && $(GO) test -count=1 -v ./...
	cd sources/sourcetest/nvmllayout && $(GO) test -count=1 -v ./...
