#!/bin/sh
# fill_results.sh <hindsight>: gathers what the sweeps in .cache/results have finished into docs/results/*.jsonl.gz, then
# draws the figures and fills the tables of docs/results.md from those committed files.
set -eu
cd "$(dirname "$0")/../.."
tool=$1
mkdir -p docs/results docs/pictures

for sweep in paper zero_one; do
  gathered=docs/results/$sweep.jsonl.gz
  if [ -d .cache/results/$sweep ]; then
    # Sorted and without a date, so that equal results are equal files.
    find .cache/results/$sweep -name '*.json' | LC_ALL=C sort | xargs cat | gzip -9n > $gathered.part
    mv $gathered.part $gathered
  fi
  [ -f $gathered ] || continue
  "$tool" plot $gathered --out docs/pictures/results_$sweep
  "$tool" plot $gathered --table > build/$sweep.table
  awk -v name=$sweep -v table=build/$sweep.table '
    $0 == "<!-- " name ":begin -->" { print; print ""; while ((getline line < table) > 0) print line; print ""; skip = 1 }
    $0 == "<!-- " name ":end -->" { skip = 0 }
    !skip { print }' docs/results.md > build/results.md
  cp build/results.md docs/results.md
done
