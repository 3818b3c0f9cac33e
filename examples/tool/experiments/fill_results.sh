#!/bin/sh
# fill_results.sh <hindsight>: draws the figures and fills the tables of docs/results.md and docs/estimators.md from docs/results/*.jsonl.gz, after
# adding to those files what the sweeps in .cache/results have finished since. Nothing is ever taken out of them.
set -eu
cd "$(dirname "$0")/../../.."
tool=$1
mkdir -p docs/results docs/pictures build

for sweep in paper zero_one topologies estimators; do
  kept=docs/results/$sweep.jsonl.gz
  { [ ! -f $kept ] || gunzip -c $kept; find .cache/results/$sweep -name '*.json' -exec cat {} + 2> /dev/null || true; } > build/$sweep.all
  # A run that is there twice differs at most in its seconds, and so in its checksum, which older lines lack: the first
  # counts. Without a date, equal results are equal files.
  sed 's/"seconds":[0-9.e+-]*/"seconds":0/; s/,"crc":"[0-9a-f]*"}$/}/' build/$sweep.all | paste -d '\t' - build/$sweep.all |
    awk -F '\t' '!seen[$1]++ { print $2 }' | LC_ALL=C sort > build/$sweep.jsonl
  [ -s build/$sweep.jsonl ] || continue
  "$tool" plot build/$sweep.jsonl --table > /dev/null   # refuses what is damaged before it takes the place of what is kept
  gzip -9nc build/$sweep.jsonl > $kept.part
  mv $kept.part $kept
  if [ $sweep = estimators ]; then
    "$tool" plot $kept --by-network > build/$sweep.table
    examples/tool/experiments/fill_section.sh docs/estimators.md rewards build/$sweep.table
    continue
  fi
  "$tool" plot $kept --out docs/pictures/results_$sweep
  "$tool" plot $kept --table > build/$sweep.table
  examples/tool/experiments/fill_section.sh docs/results.md $sweep build/$sweep.table
done
