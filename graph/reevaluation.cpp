#include <hindsight/graph/reevaluation.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/lowering.hpp>

namespace hindsight {

double reevaluation_cost(const Graph& graph, NodeId node, const Downstream& below, const Facts& known) {
  double each = 0;
  if (!below.children.empty() || (known.known && known.reads_directly))
    for (const auto* nodes : {&below.functions, &below.children})
      for (const NodeId at : *nodes) each += static_cast<double>(graph.shape(at).parameter_count());
  const Shape& shape = graph.shape(node);
  return each * shape.units * (shape.outcomes() - 1);
}

template <class S>
Reevaluation<S>::Reevaluation(const Placement& node, const Downstream& below,
                              std::span<const Placement> placements,
                              std::span<const std::optional<AnyNode>> nodes)
    : node_(node) {
  std::map<std::type_index, std::vector<AnyNode::Placed>> by_kind;
  const auto place = [&](const std::vector<NodeId>& ids, std::vector<Placement>& placed) {
    placed.reserve(ids.size());
    for (const NodeId id : ids) {
      const auto index = static_cast<std::size_t>(id.index);
      Placement& at = placed.emplace_back(placements[index]);
      for (ParentPlace& parent : at.parents) parent.wants_messages = parent.wants_slopes = false;
      by_kind[nodes[index]->type()].push_back({&*nodes[index], &at});
    }
  };
  place(below.functions, functions_);
  place(below.children, children_);
  std::vector<std::vector<AnyNode::Placed>> groups;
  for (auto& of_kind : by_kind) groups.push_back(std::move(of_kind.second));
  blocks_ = lower_groups<S>(groups);
}

template <class S>
bool Reevaluation<S>::reads_bits() const {
  return std::any_of(blocks_.begin(), blocks_.end(), [](const auto& block) { return block->reads_bits(); });
}

template <class S>
void Reevaluation<S>::show(const Frame<S>& trial, std::size_t unit, const Outcome* outcomes) const {
  const Encoding& encoding = node_.shape.encoding;
  std::copy_n(outcomes, trial.lanes, trial.outcome(node_.unit_row + unit));
  write_features(trial, encoding, outcomes,
                 trial.feature(node_.feature_row + unit * static_cast<std::size_t>(encoding.width)));
  if (!trial.outcome_bits) return;
  std::uint64_t& word = trial.outcome_bits[node_.unit_row + unit] = 0;
  for (int i = 0; i < trial.lanes; ++i) word |= static_cast<std::uint64_t>(outcomes[i] != 0) << i;
}

template <class S>
void Reevaluation<S>::refuse_not_a_number(const std::string& child) const {
  refuse({.code = "value-not-a-number",
          .node = child,
          .message = fmt::format("its log-probabilities are not numbers once '{}' takes another outcome",
                                 node_.name),
          .help = {"sums have overflowed or an evaluate is wrong: scale the inputs, or check it by finite "
                   "differences"}});
}

template <class S>
void Reevaluation<S>::send(const Frame<S>& actual, const Frame<S>& trial) const {
  const auto outcomes = static_cast<std::size_t>(node_.shape.outcomes());
  for_each_candidate(actual, trial, [&](std::size_t unit, const Outcome* tried) {
    for (const Placement& child : children_) {
      const auto child_outcomes = static_cast<std::size_t>(child.shape.outcomes());
      for (std::size_t u = 0; u < static_cast<std::size_t>(child.shape.units); ++u)
        for (int i = 0; i < actual.samples; ++i) {
          const std::size_t row = child.table_row + u * child_outcomes +
                                  static_cast<std::size_t>(actual.outcome(child.unit_row + u)[i]);
          if (std::isnan(trial.log_prob(row)[i])) refuse_not_a_number(child.name);
          actual.evidence_of(node_.table_row + unit * outcomes + static_cast<std::size_t>(tried[i]))[i] +=
              trial.log_prob(row)[i] - actual.log_prob(row)[i];
        }
    }
  });
}

template <class S>
ScratchSize Reevaluation<S>::scratch(int lanes) const {
  ScratchSize most;
  for (const auto& block : blocks_) {
    const ScratchSize wanted = block->scratch(lanes);
    most = {std::max(most.scalars, wanted.scalars), std::max(most.outcomes, wanted.outcomes)};
  }
  return most;
}

template class Reevaluation<float>;
template class Reevaluation<double>;

}  // namespace hindsight
