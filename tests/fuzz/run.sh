#!/bin/bash
# run.sh <seconds>: lets every fuzzer work that long, all at once, from the committed corpus; what they find stays in
# build/fuzz/found.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
trap 'kill $(jobs -p) 2>/dev/null' EXIT
trap 'exit 1' INT TERM HUP
seconds=$1
mkdir -p build/fuzz/found
declare -A worker
for format in dot edge_list graphml; do
  grown=build/fuzz/corpus/$format
  mkdir -p "$grown"
  build/fuzz/tests/fuzz/fuzz_$format "$grown" tests/fuzz/corpus/$format -max_total_time="$seconds" -timeout=25 \
    -rss_limit_mb=4096 -max_len=4096 -dict=tests/fuzz/words/$format.txt -artifact_prefix=build/fuzz/found/$format- \
    -print_final_stats=1 -verbosity=0 >build/fuzz/$format.log 2>&1 &
  worker[$format]=$!
done
status=0
for format in "${!worker[@]}"; do
  wait "${worker[$format]}" || status=1
  echo "---- $format, $seconds s"
  cat build/fuzz/$format.log
done
exit $status
