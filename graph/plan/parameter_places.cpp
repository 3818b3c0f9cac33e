#include <hindsight/graph/parameter_places.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/index.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight::internal {

std::vector<ParameterPlace> ParameterPlaces::of(NodeId node) const {
  const Placement& at = placements_[index(node)];
  std::vector<ParameterPlace> places;
  if (at.shape.parameter_count == 0) return places;
  const Shape shape = guarded_call({"node-threw", &at.name, "its shape"},
                                   [&] { return nodes_[index(node)]->shape(at.parent_shapes()); });
  std::size_t first = at.first_parameter;
  for (const ParameterBlock& block : shape.parameters) {
    places.push_back({fmt::format("{}/{}", at.name, block.name), first, block.rows, block.cols});
    first += block.size();
  }
  if (first != at.first_parameter + at.shape.parameter_count)
    refuse({.code = "bad-shape",
            .node = at.name,
            .message = fmt::format("its shape has {} parameters now; it had {} when it was added",
                                   first - at.first_parameter, at.shape.parameter_count),
            .help = {"let shape() depend on the node's own options and on its parents alone"}});
  return places;
}

std::span<const ParameterPlace> ParameterPlaces::all() const {
  std::call_once(listed_, [this] {
    std::vector<ParameterPlace> places;
    for (std::size_t i = 0; i < placements_.size(); ++i)
      for (ParameterPlace& place : of(NodeId{static_cast<int>(i)})) places.push_back(std::move(place));
    std::unordered_map<std::string_view, std::size_t> by_path;
    for (std::size_t i = 0; i < places.size(); ++i) by_path.emplace(places[i].path, i);
    places_ = std::move(places);
    by_path_ = std::move(by_path);
  });
  return places_;
}

const ParameterPlace& ParameterPlaces::find(std::string_view path) const {
  const std::span<const ParameterPlace> places = all();
  if (const auto found = by_path_.find(path); found != by_path_.end()) return places[found->second];
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(places.size(), 8); ++i)
    known += (i ? ", " : "") + places[i].path;
  if (places.size() > 8) known += ", …";
  refuse({.code = "unknown-parameter",
          .message = fmt::format("there are no parameters called '{}'", path),
          .help = {fmt::format("known: {}", known)}});
}

}  // namespace hindsight::internal
