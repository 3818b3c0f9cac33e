#!/bin/bash
# run.sh <seconds>: lets every fuzzer work that long, from the committed corpus; what it finds stays in build/fuzz/found.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
mkdir -p build/fuzz/found
for format in dot edge_list graphml; do
  grown=build/fuzz/corpus/$format
  mkdir -p "$grown"
  echo "---- $format, $seconds s"
  build/fuzz/tests/fuzz/fuzz_$format "$grown" tests/fuzz/corpus/$format -max_total_time="$seconds" -timeout=25 \
    -rss_limit_mb=4096 -max_len=4096 -dict=tests/fuzz/words.txt -artifact_prefix=build/fuzz/found/$format- \
    -print_final_stats=1 -verbosity=0
done
