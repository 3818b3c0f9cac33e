#include <hindsight/graph/clamped_blocks.hpp>

#include <algorithm>
#include <map>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/lowering.hpp>

namespace hindsight::internal {

template <class S>
ClampedBlocks<S>::ClampedBlocks(std::span<const NodeId> functions, std::span<const NodeId> readers,
                                std::span<const Placement> placements,
                                std::span<const std::optional<AnyNode>> nodes) {
  std::map<std::type_index, std::vector<AnyNode::Placed>> by_kind;
  const auto place = [&](std::span<const NodeId> ids, std::vector<Placement>& placed) {
    placed.reserve(ids.size());
    for (const NodeId id : ids) {
      Placement& at = placed.emplace_back(placements[index(id)]);
      for (ParentPlace& parent : at.parents) parent.wants_messages = parent.wants_slopes = false;
      by_kind[nodes[index(id)]->type()].push_back({&*nodes[index(id)], &at});
    }
  };
  place(functions, functions_);
  place(readers, readers_);
  std::vector<std::vector<AnyNode::Placed>> groups;
  for (auto& of_kind : by_kind) groups.push_back(std::move(of_kind.second));
  blocks_ = lower_groups<S>(groups);
}

template <class S>
void ClampedBlocks<S>::restore(const Frame<S>& actual, const Frame<S>& trial) const {
  for (const Placement& function : functions_)
    for (std::size_t u = 0; u < index(function.shape.units); ++u)
      std::copy_n(actual.feature(function.feature_row + u), actual.lanes,
                  trial.feature(function.feature_row + u));
}

template <class S>
bool ClampedBlocks<S>::reads_bits() const {
  return std::any_of(blocks_.begin(), blocks_.end(), [](const auto& block) { return block->reads_bits(); });
}

template <class S>
ScratchSize ClampedBlocks<S>::scratch(int lanes) const {
  ScratchSize most;
  for (const auto& block : blocks_) most = larger(most, block->scratch(lanes));
  return most;
}

template <class S>
void show(const Frame<S>& trial, const Placement& node, std::size_t unit, const Outcome* outcomes) {
  const Encoding& encoding = node.shape.encoding;
  std::copy_n(outcomes, trial.lanes, trial.outcome(node.unit_row + unit));
  write_features(trial, encoding, outcomes, trial.feature(node.feature_row + unit * index(encoding.width)));
  if (!trial.outcome_bits) return;
  std::uint64_t& word = trial.outcome_bits[node.unit_row + unit] = 0;
  for (int i = 0; i < trial.lanes; ++i) word |= static_cast<std::uint64_t>(outcomes[i] != 0) << i;
}

template class ClampedBlocks<float>;
template class ClampedBlocks<double>;
template void show(const Frame<float>&, const Placement&, std::size_t, const Outcome*);
template void show(const Frame<double>&, const Placement&, std::size_t, const Outcome*);

}  // namespace hindsight::internal
