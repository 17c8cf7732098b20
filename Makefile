# The front door. Everything real is in CMakeLists.txt, CMakePresets.json and tools/.
.DEFAULT_GOAL := help
SEED ?= 1
SOAK_SEEDS ?= 100000
SOAK_ROUNDS ?= 1000
FUZZ_SECONDS ?= 60
RUNS ?= 5

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install the Debian packages that are needed (root or sudo)
	@tools/deps.sh

.PHONY: build
build: deps ## the optimised, hardened build, in build/release
	@cmake --preset release >/dev/null
	@cmake --build --preset release

.PHONY: test
test: ## build and run every test suite; the last line is the result
	@tools/test.sh

.PHONY: check
check: ## build and run one test program: make check T=unit/saga ONLY=name*
	@tools/check.sh "$(T)" "$(ONLY)"

.PHONY: sim
sim: build ## one simulated run: make sim SEED=7
	@build/release/reeve-sim one $(SEED)

.PHONY: soak
soak: build ## many simulated runs, then many kills and power cuts: make soak SOAK_SEEDS=100000 SOAK_ROUNDS=1000
	@build/release/reeve-sim run --seeds $(SOAK_SEEDS) --from $(SEED)
	@build/release/reeve crashtest --rounds $(SOAK_ROUNDS)
	@build/release/reeve crashtest --rounds $(SOAK_ROUNDS) --power-cut

.PHONY: fuzz
fuzz: ## every fuzz target in turn: make fuzz FUZZ_SECONDS=60
	@tools/deps.sh clang
	@tools/fuzz.sh $(FUZZ_SECONDS)

.PHONY: bench-questions
bench-questions: build ## instructions of a tick with ten open questions and with a million
	@tools/question_bench.sh build/release/question_bench

.PHONY: bench
bench: program ## the workloads W0 to W11, W13 and W14, each beside its floor, into bench/RESULTS.md: RUNS=5; QUICK=1 and ONLY=W1,W2 only print
	@python3 bench/own.py --rounds $(RUNS) $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(BENCH_DATA),--data $(BENCH_DATA))

.PHONY: bench-peers
bench-peers: build ## Reeve beside other systems in the same run, into bench/RESULTS.md: RUNS=5; QUICK=1 and ONLY=W1,W2 into build/peers
	@tools/deps.sh peers || echo "bench-peers: what is missing is listed as not run"
	@python3 bench/peers --rounds $(RUNS) $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(BENCH_DATA),--data $(BENCH_DATA))

.PHONY: bench-growth
bench-growth: program ## what a job costs however much there is: curves, into bench/GROWTH.md and bench/growth.svg: ten minutes; QUICK=1 only prints
	@tools/deps.sh valgrind
	@python3 bench/growth.py build/release/reeve $(if $(QUICK),--quick)

.PHONY: bench-record
bench-record: program ## what a job costs in instructions becomes the record that the tests compare with
	@tools/deps.sh valgrind
	@python3 bench/instructions.py build/release/reeve --record

.PHONY: bench-parts
bench-parts: build ## the benchmarks of single parts in turn
	@set -e; for program in build/release/*_bench; do [ -x "$$program" ] || continue; \
		case $$program in *question_bench) "$$program" 10; "$$program" 1000000;; *) "$$program";; esac; done

.PHONY: coverage
coverage: deps ## branch coverage of core and journal, into docs/coverage.md
	@tools/coverage.sh

.PHONY: format
format: ## let clang-format decide the layout
	@tools/deps.sh clang
	@git ls-files '*.c' '*.h' | xargs clang-format -i

.PHONY: tidy
tidy: ## check the rules of style that a program can check
	@tools/tidy.sh

.PHONY: docs
docs: deps ## write the documents that come from tables
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target reeve limits_doc metrics_doc records_doc openapi_doc wire_doc wire_python flows_doc tools_doc
	@build/release/limits_doc > docs/limits.md
	@build/release/metrics_doc < docs/src/metrics.head.md > docs/metrics.md
	@cd docs/formats && ../../build/release/records_doc records < ../src/records.head.md > records.md
	@cd docs/formats && ../../build/release/records_doc objects < ../src/snapshot-objects.head.md > snapshot-objects.md
	@build/release/openapi_doc < docs/src/openapi.head.yaml > docs/openapi.yaml
	@cd docs/formats && ../../build/release/wire_doc < ../src/wire.head.md > wire.md
	@build/release/wire_python > sdk/python/src/reeve/_wire.py
	@build/release/flows_doc guide < docs/src/flows.head.md > docs/guides/flows.md
	@build/release/flows_doc schema > docs/guides/flows.schema.json
	@build/release/tools_doc < docs/src/agents.head.md > docs/guides/agents.md
	@build/release/reeve help --man > docs/man/reeve.1
	@build/release/flows_doc man > docs/man/reeve-flow.5
	@build/release/reeve serve --man > docs/man/reeve-serve.8
	@build/release/reeve worker --man > docs/man/reeve-worker.8

.PHONY: program
program: deps
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target reeve

.PHONY: up
up: deps ## start a server and a worker here, run a sample flow, say where to go next
	@tools/up.sh

.PHONY: install
install: ## put the program, its manual, completions and units below PREFIX (/usr/local); make build first; DESTDIR works
	@tools/install.sh

.PHONY: deb
deb: ## a Debian package, in build/deb
	@tools/deps.sh package
	@tools/deb.sh

.PHONY: static
static: deps ## the program without shared libraries, build/release/reeve-static
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target reeve-static

.PHONY: clean
clean: ## remove all that was built
	@rm -rf build
