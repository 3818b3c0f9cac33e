#pragma once

#include <string>

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

// a ─→ b ─→ r
struct Pair {
  Graph graph;
  NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {a});
  RewardId r = graph.reward("r", {b});
};

inline std::string diagnostics(const Graph& graph, const Catalogue& catalogue = standard_catalogue()) {
  std::string text;
  for (const Diagnostic& diagnostic : validate(graph, catalogue).diagnostics)
    text += to_string(diagnostic) + "\n";
  return text;
}

}  // namespace hindsight::testing
