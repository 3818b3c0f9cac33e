#!/bin/sh
# check_includes.sh <regular expression> <file>…: fails if a file includes what begins so, < or " included.
set -u
pattern=$1
shift
if [ $# -eq 0 ]; then
  echo "no files were given" >&2
  exit 2
fi
found=$(grep -nEH "^ *# *include *($pattern)" "$@")
case $? in
0)
  echo "$found"
  echo "lines that may not be there: $(echo "$found" | wc -l)"
  exit 1
  ;;
1) echo "$# files, none of which includes $pattern" ;;
*) exit 2 ;;
esac
