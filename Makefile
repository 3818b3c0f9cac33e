# Shortcuts around the CMake presets; `make help` lists them.

PACKAGES := g++ make cmake ninja-build ccache clang-format \
            libboost-graph-dev libeigen3-dev libfmt-dev libhwy-dev doctest-dev librandom123-dev
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

JOBS := $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)
# Lets checkouts at different places share one compiler cache.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.DEFAULT_GOAL := help
.PHONY: help setup run test test-quick format pictures clean

help:
	@echo 'make run         build and run the quick start'
	@echo 'make test        everything: format, build and tests, sanitizers, use from other projects'
	@echo 'make test-quick  build and tests only'
	@echo 'make setup       install the Debian packages that are missing (the targets above do it too)'
	@echo 'make format      format all C++ files'
	@echo 'make pictures    draw the pictures of the documentation anew (needs graphviz)'
	@echo 'make clean       remove build/'

setup:
	@missing=; \
	for package in $(PACKAGES); do \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  echo "installing:$$missing"; \
	  $(SUDO) apt-get -q -o Acquire::Retries=3 update && \
	  $(SUDO) env DEBIAN_FRONTEND=noninteractive \
	    apt-get -q -y -o Acquire::Retries=3 install --no-install-recommends $$missing; \
	fi

run: setup
	cmake --preset release
	cmake --build --preset release --target quick_start
	@echo
	@build/release/examples/quick_start

test: setup
	@tests/run_stages.sh format plain sanitizers install

test-quick: setup
	@tests/run_stages.sh plain

format:
	@tests/list_sources.sh | xargs clang-format -i

clean:
	rm -rf build

# The pictures of the documentation; needs the package graphviz, which nothing else does.
pictures:
	for picture in docs/pictures/*.dot; do dot -Tsvg $$picture -o $${picture%.dot}.svg; done
