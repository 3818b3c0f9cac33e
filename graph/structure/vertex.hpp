#pragma once

#include <cstdint>

#include <hindsight/core/ids.hpp>

namespace hindsight::internal {

/// A node or a unit, by its number in a graph of such; parents have lower numbers than their children.
using Vertex = std::uint32_t;

constexpr Vertex vertex_of(NodeId node) { return static_cast<Vertex>(node.index); }
constexpr NodeId node_of(Vertex vertex) { return {static_cast<int>(vertex)}; }

}  // namespace hindsight::internal
