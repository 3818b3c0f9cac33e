#include <hindsight/hindsight.hpp>
int main() {}
