#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <ranges>
#include <utility>

namespace hindsight {

/// The index of the value a unit sampled; -1 where a real-valued unit has none.
using Outcome = std::int32_t;

struct RewardId;

/// A node of a graph, by order of addition. A value: copy it freely.
struct NodeId {
  int index = -1;
  template <std::same_as<RewardId> R>
  operator R() const {
    static_assert(!std::same_as<R, RewardId>, "hindsight: this is a node; a reward is asked for here");
  }
  auto operator<=>(const NodeId&) const = default;
};

/// A reward of a graph, by order of addition.
struct RewardId {
  int index = -1;
  template <std::same_as<NodeId> N>
  operator N() const {
    static_assert(!std::same_as<N, NodeId>, "hindsight: this is a reward; a node is asked for here");
  }
  auto operator<=>(const RewardId&) const = default;
};

/// A node, or one unit of it.
struct UnitRef {
  NodeId node;
  int unit = -1;  ///< -1: the node as a whole
  bool operator==(const UnitRef&) const = default;
};

/// An edge of a graph. At most one joins two nodes, so its ends say which it is.
struct EdgeId {
  NodeId parent, child;
  /// In the child's list of parents; -1: not known. No part of comparisons: it says where the edge is, not
  /// which it is.
  int position = -1;

  friend bool operator==(const EdgeId& a, const EdgeId& b) {
    return a.parent == b.parent && a.child == b.child;
  }
  /// By child, then by parent.
  friend std::strong_ordering operator<=>(const EdgeId& a, const EdgeId& b) {
    const auto by_child = a.child <=> b.child;
    return by_child != 0 ? by_child : a.parent <=> b.parent;
  }
};

/// The first `count` ids, in order of addition: `for (const NodeId node : graph.nodes())`. Refers to nothing,
/// and does not grow with the graph.
template <class Id>
class IdRange : public std::ranges::view_base {
 public:
  /// Gives ids by value, and yet calls itself random access to old algorithms too: they need no reference.
  class Iterator {
   public:
    using value_type = Id;
    using reference = Id;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::random_access_iterator_tag;

    Iterator() = default;
    explicit Iterator(int index) : index_(index) {}

    Id operator*() const { return Id{index_}; }
    Id operator[](difference_type steps) const { return *(*this + steps); }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    Iterator& operator+=(difference_type steps) {
      index_ += static_cast<int>(steps);
      return *this;
    }
    Iterator& operator-=(difference_type steps) { return *this += -steps; }
    friend Iterator operator+(Iterator at, difference_type steps) { return at += steps; }
    friend Iterator operator+(difference_type steps, Iterator at) { return at += steps; }
    friend Iterator operator-(Iterator at, difference_type steps) { return at -= steps; }
    friend difference_type operator-(Iterator a, Iterator b) { return a.index_ - b.index_; }
    auto operator<=>(const Iterator&) const = default;

   private:
    int index_ = 0;
  };

  IdRange() = default;
  explicit IdRange(int count) : count_(count) {}

  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(count_); }
  std::size_t size() const { return static_cast<std::size_t>(count_); }
  bool empty() const { return count_ == 0; }
  Id operator[](std::size_t number) const { return Id{static_cast<int>(number)}; }

 private:
  int count_ = 0;
};

}  // namespace hindsight

/// Iterators outlive the range.
template <class Id>
inline constexpr bool std::ranges::enable_borrowed_range<hindsight::IdRange<Id>> = true;

template <>
struct std::hash<hindsight::NodeId> {
  std::size_t operator()(hindsight::NodeId node) const noexcept { return std::hash<int>{}(node.index); }
};

template <>
struct std::hash<hindsight::RewardId> {
  std::size_t operator()(hindsight::RewardId reward) const noexcept { return std::hash<int>{}(reward.index); }
};

template <>
struct std::hash<hindsight::EdgeId> {
  std::size_t operator()(const hindsight::EdgeId& edge) const noexcept {
    return static_cast<std::size_t>(edge.child.index) * 0x9E3779B97F4A7C15U ^
           static_cast<std::size_t>(edge.parent.index);
  }
};
