#include <hindsight/graph/contraction.hpp>

#include <algorithm>
#include <unordered_set>

namespace hindsight {

Contraction::Contraction(const Graph& graph) : graph_(graph) {
  const auto count = static_cast<std::size_t>(graph.node_count());
  levels_.resize(count, 0);
  parents_.begin.reserve(count + 1);
  parents_.items.reserve(graph.edge_count());
  for (int i = 0; i < graph.node_count(); ++i) has_functions_ = has_functions_ || graph.is_deterministic({i});
  below_.resize(has_functions_ ? count : 1);
  Seen seen{std::vector<std::uint32_t>(has_functions_ ? count : 0, 0)};
  for (int i = 0; i < graph.node_count(); ++i) {
    const NodeId node{i};
    const std::size_t first = parents_.items.size();
    if (!has_functions_) {
      for (const Graph::Parent& parent : graph.parents(node)) parents_.items.push_back(parent.node);
    } else if (!graph.is_deterministic(node)) {
      below_[index(node)] = search_functions(node, seen);
      collect_parents(node, parents_.items, seen);
    }
    parents_.begin.push_back(parents_.items.size());
    for (std::size_t p = first; p < parents_.items.size(); ++p)
      levels_[index(node)] = std::max(levels_[index(node)], levels_[index(parents_.items[p])] + 1);
  }
  list_children();
}

void Contraction::list_children() {
  children_.begin.assign(parents_.begin.size(), 0);
  children_.items.resize(parents_.items.size());
  for (const NodeId parent : parents_.items) ++children_.begin[index(parent) + 1];
  for (std::size_t i = 1; i < children_.begin.size(); ++i) children_.begin[i] += children_.begin[i - 1];
  std::vector<std::size_t> next = children_.begin;
  for (int i = 0; i < graph_.node_count(); ++i)
    for (const NodeId parent : parents_.of({i})) children_.items[next[index(parent)]++] = {i};
}

void Contraction::collect_parents(NodeId node, std::vector<NodeId>& parents, Seen& seen) const {
  ++seen.search;
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
    if (!seen.insert(parent)) continue;
    if (graph_.is_deterministic(parent))
      stack.push_back({parent, 0});
    else
      parents.push_back(parent);
  }
}

Downstream Contraction::search_functions(NodeId node, Seen& seen) const {
  ++seen.search;
  Downstream below;
  std::vector<NodeId> queue{node};
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (const NodeId child : graph_.children(queue[next])) {
      const bool deterministic = graph_.is_deterministic(child);
      // The node's own children count only if they are reached by another route too.
      if ((next == 0 && !deterministic) || !seen.insert(child)) continue;
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
  std::unordered_set<int> seen;  // the functions below one node are few beside the graph
  const auto route_to = [&](std::size_t step) {
    std::vector<NodeId> route{queue[step].node};
    for (; step != 0; step = queue[step].before) route.push_back(queue[queue[step].before].node);
    std::reverse(route.begin(), route.end());
    return route;
  };
  if (arrived(from)) return {from};
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (const NodeId child : graph_.children(queue[next].node)) {
      if (!seen.insert(child.index).second) continue;
      const bool there = arrived(child);
      if (!there && !graph_.is_deterministic(child)) continue;
      queue.push_back({child, next});
      if (there) return route_to(queue.size() - 1);
    }
  return {};
}

std::vector<NodeId> Contraction::route(NodeId parent, NodeId child) const {
  const std::span<const NodeId> direct = graph_.children(parent);
  if (std::binary_search(direct.begin(), direct.end(), child)) return {parent, child};
  return search(parent, [&](NodeId at) { return at == child; });
}

std::vector<NodeId> Contraction::route_to_reward(NodeId node, RewardId reward) const {
  const std::span<const NodeId> reads = graph_.reads(reward);
  const auto read = [&](NodeId at) { return std::binary_search(reads.begin(), reads.end(), at); };
  if (!has_functions_) return read(node) ? std::vector{node} : std::vector<NodeId>{};
  return search(node, [&](NodeId at) { return (at == node || graph_.is_deterministic(at)) && read(at); });
}

std::vector<bool> Contraction::read_directly(RewardId reward) const {
  std::vector<bool> read(static_cast<std::size_t>(graph_.node_count()), false);
  for (const NodeId node : graph_.reads(reward)) read[index(node)] = true;
  if (!has_functions_) return read;
  for (int i = graph_.node_count() - 1; i >= 0; --i)
    if (read[static_cast<std::size_t>(i)] && graph_.is_deterministic({i}))
      for (const Graph::Parent& parent : graph_.parents({i})) read[index(parent.node)] = true;
  return read;
}

}  // namespace hindsight
