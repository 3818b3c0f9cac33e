#!/bin/sh
# make_sample.sh <folder>: cuts the first 5,000 training and the first 1,000 test images out of MNIST's four
# raw IDX files in <folder>, and writes them, compressed, into sample/. The same files give the same bytes.
set -eu

if [ $# -ne 1 ]; then
  echo "usage: $0 <folder with train-images-idx3-ubyte and the other three raw files of MNIST>" >&2
  exit 2
fi
source=$1
sample=$(dirname "$0")/sample

# A number as four bytes, the most significant first, which is how IDX writes it.
big_endian() {
  for shift in 24 16 8 0; do
    # shellcheck disable=SC2059  # the format is the byte, as an escape
    printf "\\$(printf %03o $(($1 >> shift & 255)))"
  done
}

# What follows would cut another file at the wrong places, and a pipe would not tell.
require() {
  if [ ! -r "$source/$1" ]; then
    echo "$source/$1 cannot be read" >&2
    exit 1
  fi
  size=$(($(wc -c <"$source/$1")))
  if [ "$size" -ne "$2" ]; then
    echo "$source/$1 has $size bytes; MNIST's has $2" >&2
    exit 1
  fi
}

# images <file> <count>. Headers have 16 bytes and images 49 times as many, so that blocks of 16 fit both.
images() {
  big_endian $((0x803)) && big_endian "$2" && big_endian 28 && big_endian 28
  dd if="$source/$1" bs=16 skip=1 count=$(($2 * 49)) 2>/dev/null
}

# labels <file> <count>, a multiple of the 8 bytes that the header has.
labels() {
  big_endian $((0x801)) && big_endian "$2"
  dd if="$source/$1" bs=8 skip=1 count=$(($2 / 8)) 2>/dev/null
}

require train-images-idx3-ubyte 47040016
require train-labels-idx1-ubyte 60008
require t10k-images-idx3-ubyte 7840016
require t10k-labels-idx1-ubyte 10008

mkdir -p "$sample"
images train-images-idx3-ubyte 5000 | gzip -9n >"$sample/train-images.gz"
labels train-labels-idx1-ubyte 5000 | gzip -9n >"$sample/train-labels.gz"
images t10k-images-idx3-ubyte 1000 | gzip -9n >"$sample/test-images.gz"
labels t10k-labels-idx1-ubyte 1000 | gzip -9n >"$sample/test-labels.gz"
