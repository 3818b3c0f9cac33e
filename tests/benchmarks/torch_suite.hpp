#pragma once

#include <string>

#include "images.hpp"
#include "networks.hpp"
#include "rows.hpp"

// Two sources implement this: torch_suite.cpp, and torch_absent.cpp where libtorch is not installed.
namespace hindsight::benchmarks {

/// The methods of libtorch to measure beside a network.
enum class TorchPeers {
  all,
  scalable,  ///< without the literal form, which would take a quarter of a minute per step of a large network
};

/// Registers <prefix>/torch/<method> for each. Nothing without libtorch.
void add_torch_peers(const std::string& prefix, const Layers& layers, int batch, const Images& images,
                     TorchPeers peers);

/// Throws if a form of HNCA in libtorch gives another gradient than Hindsight does for the same outcomes.
void check_torch(const Images& images);

}  // namespace hindsight::benchmarks
