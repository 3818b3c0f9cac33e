#!/bin/sh
# Prints every C++ file of the project. Not `git ls-files`: a release archive has no git.
cd "$(dirname "$0")/.."
find hindsight.hpp core nodes graph estimators examples tests \( -name '*.hpp' -o -name '*.cpp' \) | sort
