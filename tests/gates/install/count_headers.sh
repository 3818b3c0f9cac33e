#!/bin/sh
# count_headers.sh <most> <library build> <prefix> <header>…: installs, and fails if other headers than these arrive, or
# more than so many.
set -eu
most=$1 build=$2 prefix=$3
shift 3
rm -rf "$prefix"
"${CMAKE:-cmake}" --install "$build" --prefix "$prefix" >/dev/null
printf '%s\n' "$@" | sort >"$prefix/listed"
(cd "$prefix/include/hindsight" && find . -type f) | sed 's|^\./||' | sort >"$prefix/installed"
diff -u "$prefix/listed" "$prefix/installed"
echo "$# headers, of $most"
[ $# -le "$most" ]
