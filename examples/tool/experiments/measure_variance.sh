#!/bin/sh
# measure_variance.sh <hindsight>: puts estimators under the microscope on the networks of the sweeps, and fills the tables
# into docs/results.md (the paper's two estimators, MNIST) and docs/estimators.md (all of them). Wants MNIST and a quiet machine.
set -eu
cd "$(dirname "$0")/../../.."
tool=$1
mkdir -p build/microscope

# list <plan> <key>: what a plan lists under the key, one per line.
list() { sed -n "/^$2/s/.*\[\"\(.*\)\"\].*/\1/p" "examples/tool/experiments/sweeps/$1.toml" | sed 's/", "/\n/g'; }

list topologies topologies > build/microscope/networks
while read -r topology; do
  "$tool" microscope --topology "$topology" --data mnist --epochs 1 --lr 0.0625 --gradients 2000 --most-operations 1e15 --estimators 'reinforce; hnca' \
    > build/microscope/text < /dev/null
  printf '%s\n\n' "**$topology**"
  grep '^|' build/microscope/text | sed '/^| where/i\\'
  echo
done < build/microscope/networks > build/variance.table
sed -i '$d' build/variance.table
examples/tool/experiments/fill_section.sh docs/results.md variance build/variance.table

# Two tables with a row per network: parts of REINFORCE's variance, and of its variance × time.
methods=$(list estimators methods | paste -sd ';')
list estimators topologies > build/microscope/networks
number=0
while read -r topology; do
  number=$((number + 1))
  "$tool" microscope --topology "$topology" --epochs 2 --lr 0.25 --gradients 1000 --most-operations 1e15 --estimators "$methods" \
    --figure build/microscope/$number > build/microscope/$number.text < /dev/null
done < build/microscope/networks
for column in 4 5; do
  number=0
  while read -r topology; do
    number=$((number + 1))
    awk -F ' *[|] *' -v column=$column -v topology="$topology" -v number=$number '
      /^[|] where/ { exit }
      /^[|]/ && !/^[|]---/ && !/^[|] estimator/ {
        if (first == "") first = $column
        head = head " " $2 " |"; rule = rule "---:|"
        cells = cells ($column == "–" ? " – |" : sprintf(" %.2g |", $column / first))
      }
      END {
        if (number == 1) print "| network |" head "\n|---|" rule
        print "| " topology " |" cells
      }' build/microscope/$number.text
  done < build/microscope/networks > build/microscope/column_$column.table
done
examples/tool/experiments/fill_section.sh docs/estimators.md variance build/microscope/column_4.table
examples/tool/experiments/fill_section.sh docs/estimators.md cost build/microscope/column_5.table
for picture in 2:fan_out_2 4:small_world; do
  for ending in svg png; do
    cp build/microscope/${picture%%:*}.$ending docs/pictures/microscope_${picture##*:}.$ending
  done
done
