#include <hindsight/graph/witness.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/graph/unit_witness.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight {
namespace {

std::size_t index(NodeId node) { return static_cast<std::size_t>(node.index); }

void append(std::vector<UnitRef>& route, std::span<const NodeId> nodes) {
  for (const NodeId node : nodes) route.push_back({node});
}

}  // namespace

Diagnostic explain(const Graph& graph, const Violation& violation) {
  const auto name = [&](const UnitRef& ref) { return to_string(graph, ref); };
  Route shorter, longer;
  for (const UnitRef& ref : violation.edge) shorter.push_back(name(ref));
  for (const UnitRef& ref : violation.route) longer.push_back(name(ref));
  return {.message =
              fmt::format("Assumption 1 is violated: '{}' and its descendant '{}' are both parents of '{}'",
                          name(violation.node), name(violation.coparent), name(violation.child)),
          .witness = {shorter, longer},
          .help = {fmt::format("or drop the {} {}", shorter.size() == 2 ? "edge" : "route",
                               fmt::join(shorter, " → "))}};
}

WitnessSearch::WitnessSearch(const Graph& graph, const Contraction& contraction)
    : graph_(graph), contraction_(contraction) {
  if (has_sparse_edge(graph)) {
    by_units_ = std::make_unique<UnitWitnessSearch>(graph);
    return;
  }
  const auto count = static_cast<std::size_t>(graph.node_count());
  reached_.resize(count, 0);
  is_coparent_.resize(count, 0);
  distance_.resize(count, 0);
  predecessor_.resize(count);
}

WitnessSearch::WitnessSearch(WitnessSearch&&) noexcept = default;
WitnessSearch::~WitnessSearch() = default;

/// Breadth first, up to the distance of the nearest coparent, and not beyond the last child: what was added
/// later leads to none.
void WitnessSearch::search(NodeId node) {
  const NodeId last = contraction_.children(node).back();
  queue_.assign(1, node);
  reached_[index(node)] = question_;
  distance_[index(node)] = 0;
  bool found = false;
  int nearest = 0;
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const NodeId at = queue_[next];
    const int distance = distance_[index(at)];
    if (found && distance >= nearest) return;
    for (const NodeId child : graph_.children(at)) {
      if (child > last) break;
      if (reached_[index(child)] == question_) continue;
      reached_[index(child)] = question_;
      distance_[index(child)] = distance + 1;
      predecessor_[index(child)] = at;
      queue_.push_back(child);
      if (is_coparent_[index(child)] != question_ || found) continue;
      found = true;
      nearest = distance + 1;
    }
  }
}

std::optional<Violation> WitnessSearch::shortest(NodeId node) {
  if (graph_.is_deterministic(node)) return std::nullopt;
  if (by_units_) return by_units_->shortest(node);
  const std::span<const NodeId> children = contraction_.children(node);
  if (children.empty()) return std::nullopt;
  ++question_;
  for (const NodeId child : children)
    for (const NodeId parent : contraction_.parents(child))
      if (parent != node) is_coparent_[index(parent)] = question_;
  search(node);

  std::optional<Violation> best;
  int nearest = 0;
  for (const NodeId child : children)
    for (const NodeId parent : contraction_.parents(child)) {
      if (parent == node || reached_[index(parent)] != question_) continue;
      if (best && distance_[index(parent)] >= nearest) continue;
      nearest = distance_[index(parent)];
      best = Violation{{node}, {child}, {parent}, {}, {}};
    }
  if (!best) return best;
  append(best->edge, contraction_.route(node, best->child.node));
  for (NodeId at = best->coparent.node; at != node; at = predecessor_[index(at)]) best->route.push_back({at});
  best->route.push_back({node});
  std::reverse(best->route.begin(), best->route.end());
  best->route.pop_back();
  append(best->route, contraction_.route(best->coparent.node, best->child.node));
  return best;
}

}  // namespace hindsight
