#!/bin/bash
# run_stages.sh <stage>…: runs the stages in order and stops at the first that fails. The last lines are the minutes
# each stage took and the number of tests, over all stages, that passed and failed.
set -uo pipefail
cd "$(dirname "$0")/.."

format() { tests/list_sources.sh | xargs clang-format --dry-run --Werror; }

build_and_test() { cmake --preset "$1" && cmake --build --preset "$1" && ctest --preset "$1"; }

plain() { build_and_test dev; }

sanitizers() { build_and_test asan-ubsan; }

# Only what several threads run is built: under this sanitizer the rest would take long and tell nothing.
threads() {
  cmake --preset tsan && cmake --build --preset tsan --target threads_test && ctest --preset tsan -R '^threads/'
}

# From the committed corpus, and a little beyond.
fuzz() { cmake --preset fuzz && cmake --build --preset fuzz && tests/fuzz/run.sh "${FUZZ_SECONDS:-15}"; }

# Builds the library too, so that the stage can also be run alone.
install() { cmake --preset dev && cmake --build --preset dev && ctest --preset install; }

declare -A purpose=(
  [format]="clang-format finds nothing to change"
  [plain]="build with warnings as errors, then all tests"
  [sanitizers]="what runs the library and the tool, under the address and undefined-behaviour sanitizers"
  [threads]="what several threads run, under the thread sanitizer"
  [fuzz]="bytes of all sorts for the readers of graph files"
  [install]="a project that uses the library by find_package and by add_subdirectory"
)

mkdir -p build
log=build/stage.log
table=""
passed=0
failed=0
failed_stage=""

for stage in "$@"; do
  if [[ ! -v "purpose[$stage]" ]]; then
    echo "unknown stage '$stage'; there are: ${!purpose[*]}" >&2
    exit 2
  fi
  printf '\n==== %s: %s\n' "$stage" "${purpose[$stage]}"
  start=$EPOCHREALTIME
  "$stage" 2>&1 | tee "$log"
  status=$?
  table+=$(awk -v stage="$stage" -v start="$start" -v end="$EPOCHREALTIME" -v status="$status" \
    'BEGIN { printf "%-12s %6.2f  %s", stage, (end - start) / 60, status ? "FAILED" : "ok" }')$'\n'

  # ctest closes with "98% tests passed, 1 tests failed out of 57".
  if [[ $(<"$log") =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    failed=$((failed + BASH_REMATCH[1]))
    passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
  fi
  if ((status != 0)); then
    failed_stage=$stage
    break
  fi
done

printf '\n%-12s %s\n%s\n' stage minutes "$table"
if [[ -n $failed_stage ]]; then
  echo "stage '$failed_stage' failed"
  # A stage can fail without any test doing so; the count must not look like a success.
  echo "$passed passed, $((failed > 0 ? failed : 1)) failed"
  exit 1
fi
echo "$passed passed, 0 failed"
