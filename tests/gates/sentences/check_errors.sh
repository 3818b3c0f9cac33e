#!/bin/bash
# check_errors.sh <file> <compiler> <arguments…>: the errors of compiling the file are its lines `// error: …`, in any
# order.
set -euo pipefail

file=$1
shift
expected=$(sed -n 's|^ *// error: ||p' "$file" | sort)
[ -n "$expected" ] || { echo "$file expects no error" >&2; exit 2; }
if output=$(LC_ALL=C "$@" "$file" 2>&1); then
  echo "$file compiles" >&2
  exit 1
fi
# g++ writes a sentence as it is, clang quotes it behind the condition.
found=$(grep 'error: ' <<<"$output" |
  sed -e 's|.*error: ||' -e 's|^static assertion failed: ||' -e "s|^static_assert failed [^\"]*\"\(.*\)\"\$|\1|" | sort)
if ! diff <(echo "$expected") <(echo "$found"); then
  echo "$output" >&2
  exit 1
fi
