// What stands in for torch_suite.cpp where libtorch is not installed: the rows that need it are not measured.
#include "torch_suite.hpp"

namespace hindsight::benchmarks {

void add_torch_peers(const std::string&, const Layers&, int, const Images&, TorchPeers) {}
void check_torch(const Images&) {}

}  // namespace hindsight::benchmarks
