#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/node.hpp>

namespace hindsight::internal {

/// A named piece of the flat parameter vector, e.g. "a/weights/x".
struct ParameterPlace {
  std::string path;
  std::size_t first = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
};

/// The parameters of a graph by name, in canonical order: nodes as added, per node its edges, then its bias.
/// Of single neurons there are as many as edges, so they are listed when somebody first asks.
class ParameterPlaces {
 public:
  /// Refers to both.
  ParameterPlaces(std::span<const Placement> placements, std::span<const std::optional<AnyNode>> nodes)
      : placements_(placements), nodes_(nodes) {}

  std::span<const ParameterPlace> all() const;
  /// Throws Error, naming what there is, when there is no such path.
  const ParameterPlace& find(std::string_view path) const;
  /// Of one node, whether the others were listed or not.
  std::vector<ParameterPlace> of(NodeId node) const;

 private:
  std::span<const Placement> placements_;
  std::span<const std::optional<AnyNode>> nodes_;
  mutable std::once_flag listed_;
  mutable std::vector<ParameterPlace> places_;
  mutable std::unordered_map<std::string_view, std::size_t> by_path_;
};

}  // namespace hindsight::internal
