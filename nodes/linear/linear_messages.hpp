#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/index.hpp>
#include <hindsight/nodes/linear_kernels.hpp>

namespace hindsight::internal {

/// One edge between two units, of which the parent wants messages.
struct UnitEdge {
  const Placement* parent = nullptr;
  std::uint32_t parent_unit = 0;
  std::uint32_t child = 0;       ///< number of the unit in its block
  std::size_t parameter = 0;     ///< first weight into the child's first logit
  std::size_t logit_stride = 0;  ///< from there to the same weight into the next logit

  std::size_t feature_row() const { return parent->feature_row + parent_unit * index(parent->width()); }
  std::size_t unit_row() const { return parent->unit_row + parent_unit; }
  std::size_t table_row() const {
    return parent->table_row + parent_unit * index(parent->shape.outcome_count());
  }
};

/// The units of a block as messages come from them.
struct ChildRows {
  std::vector<std::size_t> table_row, unit_row;
  std::size_t outcome_count = 2, logits = 1;

  std::size_t count() const { return unit_row.size(); }
  template <class S>
  MessageSource<S> child(const Frame<S>& frame, std::size_t number) const {
    return {frame.log_prob(table_row[number]), frame.outcome(unit_row[number])};
  }
};

/// A unit that wants messages, and its edges to the block.
struct ReceivingUnit {
  std::size_t unit_row = 0, table_row = 0;
  std::size_t first_edge = 0, last_edge = 0;
  const Encoding* encoding = nullptr;

  std::size_t edges() const { return last_edge - first_edge; }
  template <class S>
  MessageTarget<S> target(const Frame<S>& frame) const {
    return {frame.outcome(unit_row), frame.evidence(table_row)};
  }
};

/// Edges between binary units that dense products do not cover, of many blocks. There may be as many as the
/// graph has: they are told by the lists that the blocks keep for themselves.
struct SparseEdges {
  /// Of one child, through weights that lie side by side.
  struct Run {
    const std::uint32_t* first;  ///< unit rows of the parents
    std::uint32_t count;
    std::uint32_t child;    ///< number of the unit among the children
    std::size_t parameter;  ///< the first weight

    std::span<const std::uint32_t> parents() const { return {first, count}; }
  };
  struct Parent {
    std::size_t unit_row, table_row;
    const Encoding* encoding;
  };
  std::vector<Run> runs;
  ChildRows children;
  std::vector<Parent> parents;  ///< in the order of their first edges

  /// Runs of one child come one after another.
  void add(std::span<const std::uint32_t> read, std::size_t parameter, std::size_t table_row,
           std::size_t unit_row) {
    if (children.unit_row.empty() || children.unit_row.back() != unit_row) {
      children.table_row.push_back(table_row);
      children.unit_row.push_back(unit_row);
    }
    runs.push_back({read.data(), static_cast<std::uint32_t>(read.size()),
                    static_cast<std::uint32_t>(children.count() - 1), parameter});
  }
  void list_parent(const UnitEdge& edge) {
    const std::size_t row = edge.unit_row();
    if (row >= is_listed_.size()) is_listed_.resize(2 * row + 1, false);
    if (!is_listed_[row]) parents.push_back({row, edge.table_row(), edge.parent->encoding()});
    is_listed_[row] = true;
  }

 private:
  std::vector<bool> is_listed_;  ///< per unit row: is it among the parents?
};

/// Messages from binary units that all read the same binary parents: parents in groups of 16 that lie side by
/// side, so that weights and outcomes are streamed.
template <class S>
class DenseMessages {
 public:
  /// Parents that every child reads through weights that lie side by side.
  struct Group {
    std::vector<ReceivingUnit> parents = {};
    std::vector<S> half_gaps = {};
    std::span<const std::size_t> begin = {};  ///< per child: the first weight of the run they belong to
    std::size_t step = 1;                     ///< from weight to weight
    std::size_t first_feature = 0;            ///< of the group within that run

    void add(const UnitEdge& edge);
    std::size_t weight(std::size_t child, std::size_t parent) const {
      return begin[child] + (first_feature + parent) * step;
    }
  };
  DenseMessages() = default;
  DenseMessages(const ChildRows& children, std::vector<Group> groups)
      : children_(&children), groups_(std::move(groups)) {}

  std::size_t table_size() const { return groups_.size() * group_size(); }
  std::size_t parts() const { return groups_.size(); }
  std::size_t scratch(int lanes) const;
  void prepare(const Frame<S>& frame, S* tables, std::size_t first, std::size_t last) const;
  void send(const Frame<S>& frame, const S* tables) const;

 private:
  /// A table, and a flag that says whether some of its edges take the safe form.
  std::size_t group_size() const { return dense_table_size(children_->count()) + parent_group; }

  const ChildRows* children_ = nullptr;
  std::vector<Group> groups_;
};

/// Messages along the other edges between binary units, parent after parent.
template <class S>
class SparseMessages {
 public:
  SparseMessages(const ChildRows& children, std::span<const SparseEdges::Run> runs,
                 std::vector<SparseEdges::Parent> parents);

  std::size_t table_size() const { return parents_.size() + 2 * edges_.size(); }
  std::size_t parts() const { return parents_.size(); }
  std::size_t scratch(int lanes) const;
  void prepare(const Frame<S>& frame, S* tables, std::size_t first, std::size_t last) const;
  void send(const Frame<S>& frame, const S* tables) const;

 private:
  S half_change(const Frame<S>& frame, std::size_t parent, std::size_t edge) const {
    return half_gaps_[parent] * frame.parameters[parameters_[edge]];
  }

  const ChildRows* children_ = nullptr;
  std::vector<ReceivingUnit> parents_;
  std::vector<S> half_gaps_;
  std::vector<std::uint32_t> edges_;  ///< the child of each
  std::vector<std::size_t> parameters_;
  std::size_t most_edges_ = 0;
};

/// Messages along edges that have more than two outcomes, or more than one feature, at either end.
template <class S>
class GeneralMessages {
 public:
  GeneralMessages() = default;
  GeneralMessages(const ChildRows& children, std::vector<UnitEdge> edges);

  /// A range per edge, then three tables of contributions (GeneralMessage).
  std::size_t table_size() const { return edges_.size() + 3 * contribution_count_; }
  std::size_t parts() const { return parents_.size(); }
  std::size_t scratch(int lanes) const;
  void prepare(const Frame<S>& frame, S* tables, std::size_t first, std::size_t last) const;
  void send(const Frame<S>& frame, const S* tables) const;

 private:
  /// What a parent's outcomes add to the logits of one child, centred; returns how far apart they are.
  S make_contributions(const Frame<S>& frame, std::size_t parent, std::size_t edge, S* contributions) const;
  std::size_t edge_size(const ReceivingUnit& parent) const {
    return children_->logits * index(parent.encoding->outcome_count);
  }

  const ChildRows* children_ = nullptr;
  std::vector<ReceivingUnit> parents_;
  std::vector<std::size_t> contributions_;  ///< where each parent's begin, and the end
  /// Per parent with one feature: its values around their middle, and how far apart they are.
  std::vector<std::vector<S>> centred_;
  std::vector<S> spreads_;
  std::vector<std::uint32_t> edges_;
  std::vector<std::size_t> parameters_, logit_strides_;
  std::size_t contribution_count_ = 0, most_candidates_ = 0;
};

}  // namespace hindsight::internal
