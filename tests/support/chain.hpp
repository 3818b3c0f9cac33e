#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/bits.hpp"
#include "support/refusal.hpp"

namespace hindsight::testing {

/// A small model that runs, to be handed what it must refuse.
///   x(2) ─→ a(2) ─→ b ─→ r
struct Chain {
  Graph graph;
  NodeId x = graph.input("x", 2);
  NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
  NodeId b = graph.add("b", Bernoulli{}, {a});
  RewardId r = graph.reward("r", {b});
  Model model = compile(graph, {.seed = 7});
  Workspace run = model.workspace(4);
  std::vector<float> values{0.5F, -1.0F, 2.0F, 0.25F, -0.5F, 1.5F}, rewards{1.0F, 0.0F, 2.0F};

  MatrixView<const float> good() const { return {values.data(), 3, 2}; }
  void forward() { model.forward(run, {{x, good()}}); }

  /// The refusal of a call; the random position, the parameters and the gradient must stay as they were.
  template <class Call>
  std::string refused(const Call& call) const {
    const StreamPosition position = run.position();
    const std::vector<float> parameters(model.parameters().begin(), model.parameters().end());
    const std::vector<float> gradient(run.gradient().begin(), run.gradient().end());
    std::string text = refusal(call);
    CHECK(run.position() == position);
    CHECK(same_bits(model.parameters(), parameters));
    CHECK(same_bits(run.gradient(), gradient));
    return text;
  }

  /// The workspace does what one does that has never seen a refusal.
  void check_runs() {
    Workspace fresh = model.workspace(4);
    fresh.seek(run.position());
    for (Workspace* each : {&run, &fresh}) {
      model.forward(*each, {{x, good()}});
      model.backward(*each, {{r, rewards}});
    }
    CHECK(run.position() == fresh.position());
    CHECK(same_bits(run.gradient(), fresh.gradient()));
    for (const NodeId node : {a, b})
      for (int i = 0; i < 3; ++i) CHECK(run.outcomes(node)(i) == fresh.outcomes(node)(i));
  }
};

}  // namespace hindsight::testing
