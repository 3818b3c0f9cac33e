#pragma once

#include <span>
#include <vector>

#include <hindsight/graph/microscope.hpp>

namespace hindsight::internal {

// What a comparison is about, and what the validator said of it.

/// Those with parameters and a route to a reward.
std::vector<Comparison::Node> learning_nodes(const Graph& graph, const Model& model);

/// Of those nodes.
std::vector<Comparison::Block> weight_blocks(const Model& model, std::span<const Comparison::Node> nodes);

/// One per node, with what the report of the contender's graph says; nothing is measured yet.
std::vector<Comparison::View> views_of(const Graph& graph, std::span<const Comparison::Node> nodes,
                                       const CreditMethod& contender, const Report& report);

}  // namespace hindsight::internal
