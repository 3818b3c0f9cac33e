#!/bin/sh
# fill_section.sh <document> <name> <file>: puts the file between the document's lines <!-- name:begin --> and <!-- name:end -->.
set -eu
document=$1 name=$2 text=$3
grep -q "^<!-- $name:begin -->" "$document" && grep -q "^<!-- $name:end -->" "$document" || {
  echo "$document lacks the markers of $name" >&2
  exit 1
}
awk -v name="$name" -v text="$text" '
  $0 == "<!-- " name ":begin -->" { print; print ""; while ((getline line < text) > 0) print line; print ""; skip = 1 }
  $0 == "<!-- " name ":end -->" { skip = 0 }
  !skip { print }' "$document" > "$document.part"
mv "$document.part" "$document"
