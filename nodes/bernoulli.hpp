#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/node.hpp>

namespace hindsight {

/// The numbers children see for outcome 0 and outcome 1.
struct TwoValues {
  double zero = -1;
  double one = 1;
  bool operator==(const TwoValues&) const = default;
};

inline constexpr TwoValues minus_plus_one{-1, 1};
inline constexpr TwoValues zero_one{0, 1};

/// Binary units that fire (outcome 1) with probability σ(weights·features + bias).
struct Bernoulli {
  int units = 1;
  TwoValues values = minus_plus_one;

  static constexpr std::string_view kind = "Bernoulli";
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
  static Blocks<S> lower(std::span<const Member<Bernoulli>> group);
  template <class S>
  static std::unique_ptr<FactorTables<S>> factors(std::vector<FactorGroup> groups);

  static Bernoulli read(AttributeReader& given);
  void write(Attributes& written) const;
};

static_assert(Node<Bernoulli> && WrittenNode<Bernoulli>);

extern template AnyNode::AnyNode(Bernoulli);

}  // namespace hindsight
