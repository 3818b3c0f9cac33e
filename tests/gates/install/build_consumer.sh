#!/bin/sh
# build_consumer.sh find_package|add_subdirectory <library source> <library build> <work directory>
set -eu

way=$1 source=$2 build=$3 work=$4
consumer=$(dirname "$0")
cmake=${CMAKE:-cmake}

case $way in
find_package)
  # A fresh prefix each time: a header that is no longer installed must not survive from the last run.
  rm -rf "$work/prefix" "$work/find_package"
  "$cmake" --install "$build" --prefix "$work/prefix" >"$work/install.log"
  if grep -rnF -e "$source" -e "$build" "$work"/prefix/lib*/cmake "$work"/prefix/lib*/*/cmake 2>/dev/null; then
    echo "the installed package refers to the tree it was built from" >&2
    exit 1
  fi
  # Users of an installed Hindsight need no Boost …
  set -- "-DCMAKE_PREFIX_PATH=$work/prefix" -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON
  ;;
add_subdirectory)
  set -- "-DHINDSIGHT_SOURCE=$source"
  ;;
*)
  echo "unknown way to consume the library: $way" >&2
  exit 2
  ;;
esac

# … and must not meet it where it happens to lie: whoever includes a header of Boost's is stopped.
poison=$work/poison
rm -rf "$poison"
headers=$(grep -rhoE '<boost/[^>]+>' "$source" --include='*.hpp' --exclude-dir=build | tr -d '<>' | sort -u)
[ -n "$headers" ]
for header in $headers; do
  mkdir -p "$poison/$(dirname "$header")"
  echo '#error "a program that includes no header for Boost needs Boost"' >"$poison/$header"
done

"$cmake" -S "$consumer" -B "$work/$way" "$@" "-DCONSUMER_SEES_FIRST=$poison"
"$cmake" --build "$work/$way" --target consumer
"$work/$way/consumer"

# … unless they include the one header that does.
"$cmake" -S "$consumer" -B "$work/$way" "$@" -DCMAKE_DISABLE_FIND_PACKAGE_Boost=OFF -DCONSUMER_HAS_BOOST=ON
"$cmake" --build "$work/$way" --target boost_consumer
"$work/$way/boost_consumer"
