#include <cstdio>
#include <hindsight/hindsight.hpp>

int main() { std::puts("hindsight is usable from another project"); }
