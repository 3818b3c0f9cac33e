#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"
#include "support/random_graphs.hpp"

namespace hindsight::testing {

/// Every shape and every way a node can be credited, in five nodes.
///
///   x ─→ a ──→ b ⇢ c ─→ score      a and its descendant b are both parents of c
///        ├───────→ ↑
///        └→ t ─────┘               t is computed, b ⇢ c is sparse
inline Graph five_nodes() {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{.units = 8}, {x});
  const NodeId b = graph.add("b", Bernoulli{.units = 4}, {a});
  const NodeId t = graph.add("t", Tanh{.units = 3}, {a});
  const NodeId c =
      graph.add("c", Categorical{.classes = 3}, {a, Edge{b, Pattern::pairs({{0, 0}, {2, 0}})}, t});
  graph.reward("score", {c});
  graph.estimate_with(a, Hnca{});
  return graph;
}

/// Layers of populations with skip edges here and there, two rewards, three estimators.
inline Graph sixty_nodes() {
  Graph graph;
  Dice dice(5);
  std::vector<NodeId> before{graph.input("pixels", 784), graph.input("labels", 10)};
  std::vector<NodeId> all = before;
  for (int layer = 1; layer <= 8; ++layer) {
    std::vector<NodeId> now;
    for (int i = 0; i < 7; ++i) {
      const std::string name = fmt::format("layer{}_{}", layer, static_cast<char>('a' + i));
      std::vector<Edge> parents{before[static_cast<std::size_t>(i) % before.size()]};
      const NodeId skipped = all[static_cast<std::size_t>(dice.below(static_cast<int>(all.size())))];
      const NodeId second = before[static_cast<std::size_t>(i + 1) % before.size()];
      if (second != parents[0].parent && dice.chance(0.5))
        parents.emplace_back(second, Pattern::random(0.5, 1));
      if (layer > 2 && dice.chance(0.25) && skipped != parents[0].parent &&
          (parents.size() == 1 || skipped != parents[1].parent))
        parents.emplace_back(skipped);
      if (i == 6)
        now.push_back(graph.add(name, Tanh{.units = 16}, parents));
      else if (i == 5)
        now.push_back(graph.add(name, Categorical{.units = 4, .classes = 5}, parents));
      else
        now.push_back(graph.add(name, Bernoulli{.units = 8 << (i % 4)}, parents));
      if (layer == 3 && i == 0) graph.estimate_with(now.back(), Hnca{.assumption = Assumption::relaxed});
    }
    all.insert(all.end(), now.begin(), now.end());
    before = now;
  }
  const RewardId accuracy = graph.reward("accuracy", {before[0], before[5], all[1]});
  graph.reward("sparsity", {before[2], all[20]});
  graph.estimate_with(all[20], accuracy, Reinforce{});
  return graph;
}

/// Single neurons, each with one to three parents from up to four columns before; a few skip edges.
inline Graph single_neurons(int count, int per_level) {
  Graph graph;
  Dice dice(11);
  std::vector<NodeId> nodes;
  for (int i = 0; i < count; ++i) {
    const int level = i / per_level;
    const std::string name = fmt::format("n{}_{}", level, i % per_level);
    if (level == 0) {
      nodes.push_back(graph.input(name, 1));
      continue;
    }
    std::vector<Edge> parents;
    for (int tries = 0; tries < 1 + dice.below(3); ++tries) {
      const int reach = dice.chance(0.92) ? 1 : 1 + dice.below(4);
      const NodeId parent =
          nodes[static_cast<std::size_t>(std::max(0, level - reach) * per_level + dice.below(per_level))];
      bool known = false;
      for (const Edge& edge : parents) known = known || edge.parent == parent;
      if (!known) parents.emplace_back(parent);
    }
    // Beside its parent a grandparent: the grandparent violates Assumption 1.
    if (i % 23 == 7 && level > 1 && parents.size() == 1)
      parents.push_back(graph.parents(parents[0].parent)[0].node);
    nodes.push_back(graph.add(name, Bernoulli{}, parents));
  }
  graph.reward("score", {nodes.end() - std::min(per_level, 6), nodes.end()});
  return graph;
}

inline constexpr std::string_view hostile_markup =
    "</script><script>hacked = 1</script><img src=x onerror='hacked = 1'>";

/// A kind whose name would run a program if a page took it for markup.
struct HostileNode : SineVote {
  static constexpr std::string_view kind = hostile_markup;
};

/// Names that are markup, quotes, other scripts, bytes that are no text, and far too long.
inline Graph hostile_names() {
  Graph graph;
  const NodeId x = graph.input("<b>bold<!--", 2);
  const NodeId a = graph.add("<img src=x onerror=hacked=1>", Bernoulli{}, {x});
  const NodeId b = graph.add("\"quotes' & <script>hacked = 1<\\script> \\N ]]>", Bernoulli{}, {a});
  const NodeId c = graph.add(
      "ügröße 神経 🧠 \xE2\x80\xAE"
      "desrever",
      HostileNode{}, {a, b});
  const NodeId d = graph.add("broken \xC3\x28 bytes \xEF\xBF\xBF", Bernoulli{}, {c});
  const NodeId e = graph.add("long_" + std::string(3000, 'w'), Bernoulli{}, {d});
  graph.reward("${hacked = 1} `hacked` {{hacked}} &lt;", {e});
  return graph;
}

}  // namespace hindsight::testing
