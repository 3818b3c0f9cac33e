#include <hindsight/nodes/linear_messages.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <hindsight/core/index.hpp>

namespace hindsight::internal {
namespace {

template <class S>
S half_gap(const Encoding& encoding) {
  return static_cast<S>((encoding.value(1, 0) - encoding.value(0, 0)) / 2);
}

/// Edges in the order of their parents, and where each parent's begin.
std::vector<ReceivingUnit> by_parent(std::vector<UnitEdge>& edges) {
  std::stable_sort(edges.begin(), edges.end(),
                   [](const UnitEdge& a, const UnitEdge& b) { return a.unit_row() < b.unit_row(); });
  std::vector<ReceivingUnit> parents;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (e == 0 || edges[e].unit_row() != edges[e - 1].unit_row())
      parents.push_back({edges[e].unit_row(), edges[e].table_row(), e, e, edges[e].parent->encoding()});
    parents.back().last_edge = e + 1;
  }
  return parents;
}

}  // namespace

template <class S>
void DenseMessages<S>::Group::add(const UnitEdge& edge) {
  parents.push_back({.unit_row = edge.unit_row(), .table_row = edge.table_row()});
  half_gaps.push_back(half_gap<S>(*edge.parent->encoding()));
}

template <class S>
std::size_t DenseMessages<S>::scratch(int lanes) const {
  return groups_.empty() ? 0 : 2 * children_->count() * index(lanes);
}

template <class S>
void DenseMessages<S>::prepare(const Frame<S>& frame, S* tables, std::size_t first, std::size_t last) const {
  const auto& kernels = linear_kernels<S>(frame.instructions);
  for (std::size_t g = first; g < last; ++g) {
    S* const table = tables + g * group_size();
    const WeightRows<const S> weights{
        .first = frame.parameters, .begin = groups_[g].begin, .step = groups_[g].step};
    const TableRange<S> range = kernels.make_dense_table(weights, groups_[g].first_feature,
                                                         groups_[g].half_gaps, table + parent_group);
    table[0] = range.beyond;
  }
}

template <class S>
void DenseMessages<S>::send(const Frame<S>& frame, const S* tables) const {
  if (groups_.empty()) return;
  const auto& kernels = linear_kernels<S>(frame.instructions);
  const std::size_t children = children_->count();
  for (std::size_t c = 0; c < children; ++c)
    kernels.describe_for_dense(children_->child(frame, c), frame.stride, frame.lanes, children,
                               frame.scratch + c * 2 * lane_group);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const S* const table = tables + g * group_size();
    MessageTarget<S> targets[parent_group];
    for (std::size_t p = 0; p < group.parents.size(); ++p) targets[p] = group.parents[p].target(frame);
    kernels.add_dense_messages(table + parent_group, children, frame.scratch,
                               std::span<const MessageTarget<S>>(targets, group.parents.size()), frame.stride,
                               frame.lanes);
    if (table[0] == 0) continue;
    for (std::size_t c = 0; c < children; ++c)
      for (std::size_t p = 0; p < group.parents.size(); ++p) {
        const S h = group.half_gaps[p] * frame.parameters[group.weight(c, p)];
        if (!(std::abs(h) <= static_cast<S>(closed_form_limit)))
          kernels.add_message_in_log_space(children_->child(frame, c), h, targets[p], frame.stride,
                                           frame.lanes);
      }
  }
}

template <class S>
SparseMessages<S>::SparseMessages(const ChildRows& children, std::span<const SparseEdges::Run> runs,
                                  std::vector<SparseEdges::Parent> parents)
    : children_(&children) {
  std::sort(parents.begin(), parents.end(),
            [](const auto& a, const auto& b) { return a.unit_row < b.unit_row; });
  std::vector<std::size_t> next(parents.empty() ? 1 : parents.back().unit_row + 2, 0);
  for (const SparseEdges::Run& run : runs)
    for (const std::uint32_t parent : run.parents()) ++next[parent + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  parents_.reserve(parents.size());
  half_gaps_.reserve(parents.size());
  for (const auto& [unit_row, table_row, encoding] : parents) {
    parents_.push_back({unit_row, table_row, next[unit_row], next[unit_row + 1], encoding});
    half_gaps_.push_back(half_gap<S>(*encoding));
    most_edges_ = std::max(most_edges_, parents_.back().edges());
  }
  edges_.resize(next.back());
  parameters_.resize(next.back());
  for (const SparseEdges::Run& run : runs)
    for (std::size_t i = 0; i < run.count; ++i) {
      const std::size_t at = next[run.first[i]]++;
      edges_[at] = run.child;
      parameters_[at] = run.parameter + i;
    }
}

template <class S>
std::size_t SparseMessages<S>::scratch(int lanes) const {
  return std::max(most_edges_, parents_.empty() ? 0 : children_->count() * index(lanes));
}

template <class S>
void SparseMessages<S>::prepare(const Frame<S>& frame, S* tables, std::size_t first, std::size_t last) const {
  const auto& kernels = linear_kernels<S>(frame.instructions);
  S* const pairs = tables + parents_.size();
  for (std::size_t p = first; p < last; ++p) {
    const ReceivingUnit& parent = parents_[p];
    const std::size_t count = parent.edges();
    for (std::size_t e = 0; e < count; ++e) frame.scratch[e] = half_change(frame, p, parent.first_edge + e);
    const TableRange<S> range =
        kernels.make_sparse_table(std::span<const S>(frame.scratch, count), pairs + 2 * parent.first_edge);
    const auto edges_per_log = static_cast<S>(range.edges_per_log());
    tables[p] = range.beyond ? -edges_per_log : edges_per_log;
  }
}

template <class S>
void SparseMessages<S>::send(const Frame<S>& frame, const S* tables) const {
  if (parents_.empty()) return;
  const auto& kernels = linear_kernels<S>(frame.instructions);
  const std::size_t lanes = index(frame.lanes);
  for (std::size_t c = 0; c < children_->count(); ++c)
    kernels.describe_for_sparse(children_->child(frame, c), frame.stride, frame.lanes,
                                frame.scratch + c * lanes);
  const S* const pairs = tables + parents_.size();
  for (std::size_t p = 0; p < parents_.size(); ++p) {
    const ReceivingUnit& parent = parents_[p];
    const std::size_t count = parent.edges();
    const MessageTarget<S> target = parent.target(frame);
    kernels.add_sparse_messages(pairs + 2 * parent.first_edge, static_cast<std::size_t>(std::abs(tables[p])),
                                std::span(edges_).subspan(parent.first_edge, count), frame.scratch, target,
                                frame.stride, frame.lanes);
    if (tables[p] > 0) continue;
    for (std::size_t e = parent.first_edge; e < parent.last_edge; ++e)
      if (const S h = half_change(frame, p, e); !(std::abs(h) <= static_cast<S>(closed_form_limit)))
        kernels.add_message_in_log_space(children_->child(frame, edges_[e]), h, target, frame.stride,
                                         frame.lanes);
  }
}

template <class S>
GeneralMessages<S>::GeneralMessages(const ChildRows& children, std::vector<UnitEdge> edges)
    : children_(&children), parents_(by_parent(edges)) {
  for (const UnitEdge& edge : edges) {
    edges_.push_back(edge.child);
    parameters_.push_back(edge.parameter);
    logit_strides_.push_back(edge.logit_stride);
  }
  for (const ReceivingUnit& parent : parents_) {
    most_candidates_ = std::max(most_candidates_, index(parent.encoding->outcome_count));
    contributions_.push_back(contribution_count_);
    contribution_count_ += parent.edges() * edge_size(parent);
  }
  contributions_.push_back(contribution_count_);
  for (const ReceivingUnit& parent : parents_) {
    centred_.push_back({});
    spreads_.push_back(0);
    if (parent.encoding->width != 1 || parent.encoding->is_one_hot()) continue;
    const auto [least, most] =
        std::minmax_element(parent.encoding->values.begin(), parent.encoding->values.end());
    for (const double value : parent.encoding->values)
      centred_.back().push_back(static_cast<S>(value - (*least + *most) / 2));
    spreads_.back() = static_cast<S>(*most - *least);
  }
}

template <class S>
std::size_t GeneralMessages<S>::scratch(int lanes) const {
  if (parents_.empty()) return 0;
  return children_->count() * (children_->outcome_count + 1) * index(lanes) +
         (3 * most_candidates_ + 2 * children_->logits) * lane_group;
}

template <class S>
S GeneralMessages<S>::make_contributions(const Frame<S>& frame, std::size_t parent, std::size_t edge,
                                         S* contributions) const {
  const Encoding& encoding = *parents_[parent].encoding;
  const std::size_t candidates = index(encoding.outcome_count), width = index(encoding.width);
  const S* weight = frame.parameters + parameters_[edge];
  S widest = 0;
  if (const std::span<const S> values = centred_[parent]; !values.empty()) {
    for (std::size_t logit = 0; logit < children_->logits; ++logit, weight += logit_strides_[edge]) {
      for (const S value : values) *contributions++ = *weight * value;
      widest = std::max(widest, std::abs(*weight));
    }
    return widest * spreads_[parent];
  }
  for (std::size_t logit = 0; logit < children_->logits;
       ++logit, contributions += candidates, weight += logit_strides_[edge]) {
    for (std::size_t u = 0; u < candidates; ++u) {
      contributions[u] = encoding.is_one_hot() ? weight[u] : S(0);
      if (encoding.is_one_hot()) continue;
      for (std::size_t f = 0; f < width; ++f)
        contributions[u] += weight[f] * static_cast<S>(encoding.values[u * width + f]);
    }
    S least = contributions[0], most = contributions[0];
    for (std::size_t u = 1; u < candidates; ++u) {
      least = std::min(least, contributions[u]);
      most = std::max(most, contributions[u]);
    }
    const S middle = least + (most - least) / 2;
    for (std::size_t u = 0; u < candidates; ++u) contributions[u] -= middle;
    widest = std::max(widest, most - least);
  }
  return widest;
}

template <class S>
void GeneralMessages<S>::prepare(const Frame<S>& frame, S* tables, std::size_t first,
                                 std::size_t last) const {
  S* const ranges = tables;
  S* const contributions = ranges + edges_.size();
  for (std::size_t p = first; p < last; ++p) {
    const ReceivingUnit& parent = parents_[p];
    S* contribution = contributions + contributions_[p];
    for (std::size_t e = parent.first_edge; e < parent.last_edge; ++e, contribution += edge_size(parent))
      ranges[e] = make_contributions(frame, p, e, contribution);
  }
  const std::size_t begin = contributions_[first], count = contributions_[last] - begin;
  linear_kernels<S>(frame.instructions)
      .make_general_table(std::span<const S>(contributions + begin, count),
                          contributions + contribution_count_ + begin,
                          contributions + 2 * contribution_count_ + begin);
}

template <class S>
void GeneralMessages<S>::send(const Frame<S>& frame, const S* tables) const {
  if (parents_.empty()) return;
  const auto& kernels = linear_kernels<S>(frame.instructions);
  const std::size_t description = (children_->outcome_count + 1) * index(frame.lanes);
  for (std::size_t c = 0; c < children_->count(); ++c)
    kernels.describe_for_general(children_->child(frame, c), frame.stride, frame.lanes,
                                 children_->outcome_count, frame.scratch + c * description);
  S* const scratch = frame.scratch + children_->count() * description;
  for (std::size_t p = 0; p < parents_.size(); ++p) {
    const ReceivingUnit& parent = parents_[p];
    const S* const ranges = tables + parent.first_edge;
    const S* const contributions = tables + edges_.size() + contributions_[p];
    const GeneralMessage<S> message{.parent = parent.target(frame),
                                    .candidates = index(parent.encoding->outcome_count),
                                    .logits = children_->logits,
                                    .children = std::span(edges_).subspan(parent.first_edge, parent.edges()),
                                    .ranges = ranges,
                                    .contributions = contributions,
                                    .growth = contributions + contribution_count_,
                                    .decay = contributions + 2 * contribution_count_,
                                    .descriptions = frame.scratch,
                                    .stride = frame.stride,
                                    .lanes = frame.lanes};
    kernels.add_general_messages(message, scratch);
    for (std::size_t e = 0; e < parent.edges(); ++e)
      if (!(static_cast<double>(ranges[e]) <= general_range))
        kernels.add_general_message_in_log_space(
            message, e, frame.log_prob(children_->table_row[message.children[e]]), scratch);
  }
}

template class DenseMessages<float>;
template class DenseMessages<double>;
template class SparseMessages<float>;
template class SparseMessages<double>;
template class GeneralMessages<float>;
template class GeneralMessages<double>;

}  // namespace hindsight::internal
