#!/bin/sh
# measure_variance.sh <hindsight>: measures how gradients scatter on the networks of sweeps/topologies.toml, and what a step
# costs, and fills the tables into docs/results.md. Wants MNIST and a quiet machine.
set -eu
cd "$(dirname "$0")/../.."
tool=$1
mkdir -p build
sed -n '/^topologies/s/.*\["\(.*\)"\].*/\1/p' examples/lab/sweeps/topologies.toml | sed 's/", "/\n/g' |
  while read -r topology; do
    printf '%s\n\n' "**$topology**"
    "$tool" variance --topology "$topology" --lr 0.0625 --batches 10000
    echo
  done | sed '$d' > build/variance.table
examples/lab/fill_section.sh docs/results.md variance build/variance.table
