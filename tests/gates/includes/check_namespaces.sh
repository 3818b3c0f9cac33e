#!/bin/sh
# check_namespaces.sh <file>…: fails if a header speaks to users, that is opens namespace hindsight and neither
# hindsight::internal nor, as kernels do, one that is named after instructions.
set -u
if [ $# -eq 0 ]; then
  echo "no files were given" >&2
  exit 2
fi
for file in "$@"; do
  [ -r "$file" ] || exit 2
done
found=$(grep -lE '^namespace hindsight \{' "$@" | xargs -r grep -LE '^ *namespace (hindsight::)?(internal|HWY_NAMESPACE) \{')
if [ -n "$found" ]; then
  echo "$found"
  echo "internal headers that open namespace hindsight alone: $(echo "$found" | wc -l)"
  exit 1
fi
echo "$# files, none of which opens namespace hindsight alone"
