#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/node.hpp>

namespace hindsight {

namespace internal {

/// A first member that nothing can be given to: what follows is written by name.
struct ByName {
  explicit ByName() = default;
  template <class T>
  requires(!std::same_as<T, ByName>) ByName(const T&) {
    static_assert(std::same_as<T, ByName>,
                  "hindsight: units or classes? write Categorical{.units = 1, .classes = 2}");
  }
  bool operator==(const ByName&) const = default;
};

}  // namespace internal

/// Units that pick one of `classes` outcomes by a softmax of linear logits; children see one-hot features.
struct Categorical {
  internal::ByName by_name = internal::ByName();
  int units = 1;
  int classes = 2;

  static constexpr std::string_view kind = "Categorical";
  static constexpr bool reads_patterns = true;

  Shape shape(std::span<const ParentShape> parents) const;
  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const;
  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const;
  template <class S>
  void backpropagate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                     std::span<S> out) const;
  void initialise(const Initialisation& start, std::span<double> theta) const;
  template <class S>
  static Blocks<S> lower(std::span<const Member<Categorical>> group);
  template <class S>
  static std::unique_ptr<FactorTables<S>> factors(std::vector<FactorGroup> groups);

  static Categorical read(AttributeReader& given) {
    return {.units = given.count("units", 1), .classes = given.count("classes", 2)};
  }
  void write(Attributes& written) const;
};

static_assert(Node<Categorical> && WrittenNode<Categorical>);

extern template AnyNode::AnyNode(Categorical);

}  // namespace hindsight
