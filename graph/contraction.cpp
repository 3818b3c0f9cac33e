#include <hindsight/graph/contraction.hpp>

#include <algorithm>

namespace hindsight {

Contraction::Contraction(const Graph& graph) : graph_(graph) {
  const auto count = static_cast<std::size_t>(graph.node_count());
  parents_.resize(count);
  children_.resize(count);
  below_.resize(count);
  levels_.resize(count, 0);
  for (int i = 0; i < graph.node_count(); ++i) has_functions_ = has_functions_ || graph.is_deterministic({i});
  std::vector<bool> seen(has_functions_ ? count : 0);
  for (int i = 0; i < graph.node_count(); ++i) {
    const NodeId node{i};
    if (graph.is_deterministic(node)) continue;
    std::vector<NodeId>& parents = parents_[index(node)];
    if (has_functions_) {
      below_[index(node)] = search_functions(node);
      std::fill(seen.begin(), seen.end(), false);
      collect_parents(node, parents, seen);
    } else {
      for (const Graph::Parent& parent : graph.parents(node)) parents.push_back(parent.node);
    }
    for (const NodeId parent : parents) {
      children_[index(parent)].push_back(node);
      levels_[index(node)] = std::max(levels_[index(node)], levels_[index(parent)] + 1);
    }
  }
}

void Contraction::collect_parents(NodeId node, std::vector<NodeId>& parents, std::vector<bool>& seen) const {
  // A stack of our own: chains of deterministic nodes may be long.
  struct Place {
    NodeId node;
    std::size_t next;
  };
  std::vector<Place> stack{{node, 0}};
  while (!stack.empty()) {
    const std::span<const Graph::Parent> edges = graph_.parents(stack.back().node);
    if (stack.back().next == edges.size()) {
      stack.pop_back();
      continue;
    }
    const NodeId parent = edges[stack.back().next++].node;
    if (seen[index(parent)]) continue;
    seen[index(parent)] = true;
    if (graph_.is_deterministic(parent))
      stack.push_back({parent, 0});
    else
      parents.push_back(parent);
  }
}

Downstream Contraction::search_functions(NodeId node) const {
  Downstream below;
  std::vector<bool> seen(static_cast<std::size_t>(graph_.node_count()), false);
  std::vector<NodeId> queue{node};
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (const NodeId child : graph_.children(queue[next])) {
      const bool deterministic = graph_.is_deterministic(child);
      // The node's own children count only if they are reached by another route too.
      if (seen[index(child)] || (next == 0 && !deterministic)) continue;
      seen[index(child)] = true;
      (deterministic ? below.functions : below.children).push_back(child);
      if (deterministic) queue.push_back(child);
    }
  std::sort(below.functions.begin(), below.functions.end());
  std::sort(below.children.begin(), below.children.end());
  return below;
}

bool Contraction::is_joined_by_functions(NodeId parent, NodeId child) const {
  const std::vector<NodeId>& children = below_functions(parent).children;
  return std::binary_search(children.begin(), children.end(), child);
}

template <class Arrived>
std::vector<NodeId> Contraction::search(NodeId from, const Arrived& arrived) const {
  struct Step {
    NodeId node;
    std::size_t before;
  };
  std::vector<Step> queue{{from, 0}};
  std::vector<bool> seen(static_cast<std::size_t>(graph_.node_count()), false);
  const auto route_to = [&](std::size_t step) {
    std::vector<NodeId> route{queue[step].node};
    for (; step != 0; step = queue[step].before) route.push_back(queue[queue[step].before].node);
    std::reverse(route.begin(), route.end());
    return route;
  };
  if (arrived(from)) return {from};
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (const NodeId child : graph_.children(queue[next].node)) {
      if (seen[index(child)]) continue;
      seen[index(child)] = true;
      const bool there = arrived(child);
      if (!there && !graph_.is_deterministic(child)) continue;
      queue.push_back({child, next});
      if (there) return route_to(queue.size() - 1);
    }
  return {};
}

std::vector<NodeId> Contraction::route(NodeId parent, NodeId child) const {
  return search(parent, [&](NodeId at) { return at == child; });
}

std::vector<NodeId> Contraction::route_to_reward(NodeId node, RewardId reward) const {
  const std::span<const NodeId> reads = graph_.reads(reward);
  const auto read = [&](NodeId at) { return std::binary_search(reads.begin(), reads.end(), at); };
  if (!has_functions_) return read(node) ? std::vector{node} : std::vector<NodeId>{};
  return search(node, [&](NodeId at) { return (at == node || graph_.is_deterministic(at)) && read(at); });
}

}  // namespace hindsight
