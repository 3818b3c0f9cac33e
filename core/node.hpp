#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/factor.hpp>
#include <hindsight/core/generic_block.hpp>
#include <hindsight/core/generic_function_block.hpp>
#include <hindsight/core/initialisation.hpp>
#include <hindsight/core/shape.hpp>

namespace hindsight {

/// What a unit is: one sample of one population, as plain mathematics, in float and in double. Nothing to
/// inherit.
///   shape(parents) -> Shape                   refuses parents it cannot read by throwing Error
///   log_probs(theta, reading, out)            out[unit·K + k] = log π(k | reading), normalised per unit
///   accumulate(theta, reading, weights, out)  out += Σ weights[unit·K + k]·∇log π(k | reading)
/// Optional:
///   backpropagate(theta, reading, weights, out)        out[feature] += Σ weights·∂log π/∂feature; without it
///                                                      the node cannot have parents that want slopes:
///                                                      deterministic or credited by straight-through
///   static constexpr std::string_view kind             how reports call it
///   static constexpr bool reads_patterns = true        it honours ParentShape::connectivity
///   initialise(const Initialisation&, span<double>)    initial parameters; zeros otherwise
///   static lower<S>(span<const Member<N>>) -> Blocks<S>   blocks of its own for many nodes at once
///   static factors<S>(vector<FactorGroup>) -> unique_ptr<FactorTables<S>>   fast tables for elimination
/// What is missing is synthesised: sampling from the table, messages by re-evaluating log_probs per
/// candidate.
template <class N>
concept Node = requires(const N node, std::span<const ParentShape> parents, std::span<const float> theta,
                        const Reading<float>& reading, std::span<float> out,
                        std::span<const double> theta_in_double, const Reading<double>& reading_in_double,
                        std::span<double> out_in_double) {
  { node.shape(parents) } -> std::same_as<Shape>;
  node.log_probs(theta, reading, out);
  node.log_probs(theta_in_double, reading_in_double, out_in_double);
  node.accumulate(theta, reading, theta, out);
  node.accumulate(theta_in_double, reading_in_double, theta_in_double, out_in_double);
}
&&std::copy_constructible<N>;

/// What a deterministic unit is: a number that follows from what it reads, in float and in double.
///   shape(parents) -> Shape                    units and parameters; no encoding
///   evaluate(theta, reading, out)              out[unit]
///   backpropagate(theta, reading, slopes, parameters, features)
///       parameters += Σ slopes[unit]·∂value/∂theta, features[j] += Σ slopes[unit]·∂value/∂feature
/// Optional: kind, reads_patterns, initialise and lower, as for a Node.
template <class F>
concept Function = requires(const F function, std::span<const ParentShape> parents,
                            std::span<const float> theta, const Reading<float>& reading, std::span<float> out,
                            std::span<const double> theta_in_double, const Reading<double>& reading_in_double,
                            std::span<double> out_in_double) {
  { function.shape(parents) } -> std::same_as<Shape>;
  function.evaluate(theta, reading, out);
  function.evaluate(theta_in_double, reading_in_double, out_in_double);
  function.backpropagate(theta, reading, theta, out, out);
  function.backpropagate(theta_in_double, reading_in_double, theta_in_double, out_in_double, out_in_double);
}
&&std::copy_constructible<F>;

/// Any node, stochastic or deterministic, as a value.
class AnyNode {
 public:
  /// One node of a group that is lowered together.
  struct Placed {
    const AnyNode* node = nullptr;
    const Placement* at = nullptr;
  };

  template <class N>
  requires(!std::same_as<N, AnyNode> && (Node<N> || Function<N>)) AnyNode(N node)
      : self_(std::make_shared<const Held<N>>(std::move(node))) {}

  Shape shape(std::span<const ParentShape> parents) const { return self_->shape(parents); }
  std::string_view kind() const { return self_->kind(); }
  std::type_index type() const { return self_->type(); }
  bool reads_patterns() const { return self_->reads_patterns(); }
  bool is_deterministic() const { return self_->is_deterministic(); }
  /// It can pass slopes to its parents.
  bool can_backpropagate() const { return self_->can_backpropagate(); }
  /// Its type makes the tables of its own factors.
  bool has_factors() const { return self_->has_factors(); }
  void initialise(const Initialisation& start, std::span<double> theta) const {
    self_->initialise(start, theta);
  }

  /// The node itself if it has this type.
  template <class N>
  const N* as() const {
    return type() == typeid(N) ? &static_cast<const Held<N>&>(*self_).node : nullptr;
  }

  /// Blocks for nodes that all have the type of the first.
  template <class S>
  static Blocks<S> lower(std::span<const Placed> group) {
    return group.front().node->self_->lower(group, S{});
  }
  /// For groups of factors of nodes that all have this one's type, which has_factors.
  template <class S>
  std::unique_ptr<FactorTables<S>> factors(std::vector<FactorGroup> groups) const {
    return self_->factors(std::move(groups), S{});
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual Shape shape(std::span<const ParentShape>) const = 0;
    virtual std::string_view kind() const = 0;
    virtual std::type_index type() const = 0;
    virtual bool reads_patterns() const = 0;
    virtual bool is_deterministic() const = 0;
    virtual bool can_backpropagate() const = 0;
    virtual bool has_factors() const = 0;
    virtual void initialise(const Initialisation&, std::span<double>) const = 0;
    virtual Blocks<float> lower(std::span<const Placed>, float) const = 0;
    virtual Blocks<double> lower(std::span<const Placed>, double) const = 0;
    virtual std::unique_ptr<FactorTables<float>> factors(std::vector<FactorGroup>, float) const = 0;
    virtual std::unique_ptr<FactorTables<double>> factors(std::vector<FactorGroup>, double) const = 0;
  };

  template <class N>
  struct Held final : Interface {
    explicit Held(N held) : node(std::move(held)) {}

    Shape shape(std::span<const ParentShape> parents) const override { return node.shape(parents); }
    std::string_view kind() const override {
      if constexpr (requires { std::string_view(N::kind); })
        return N::kind;
      else
        return "custom";
    }
    std::type_index type() const override { return typeid(N); }
    bool reads_patterns() const override {
      if constexpr (requires { N::reads_patterns; })
        return N::reads_patterns;
      else
        return false;
    }
    bool is_deterministic() const override { return Function<N>; }
    bool can_backpropagate() const override { return Function<N> || BackpropagatingNode<N>; }
    static constexpr bool makes_factors = requires(std::vector<FactorGroup> groups) {
      { N::template factors<float>(groups) } -> std::same_as<std::unique_ptr<FactorTables<float>>>;
      { N::template factors<double>(groups) } -> std::same_as<std::unique_ptr<FactorTables<double>>>;
    };
    bool has_factors() const override { return makes_factors; }
    void initialise(const Initialisation& start, std::span<double> theta) const override {
      if constexpr (requires { node.initialise(start, theta); })
        node.initialise(start, theta);
      else
        static_assert(
            !requires { &N::initialise; },
            "initialise must be const and take (const Initialisation&, std::span<double>)");
    }
    Blocks<float> lower(std::span<const Placed> group, float) const override {
      return lower_as<float>(group);
    }
    Blocks<double> lower(std::span<const Placed> group, double) const override {
      return lower_as<double>(group);
    }
    std::unique_ptr<FactorTables<float>> factors(std::vector<FactorGroup> groups, float) const override {
      return factors_as<float>(std::move(groups));
    }
    std::unique_ptr<FactorTables<double>> factors(std::vector<FactorGroup> groups, double) const override {
      return factors_as<double>(std::move(groups));
    }

    template <class S>
    static std::unique_ptr<FactorTables<S>> factors_as(std::vector<FactorGroup> groups) {
      if constexpr (makes_factors)
        return N::template factors<S>(std::move(groups));
      else
        return nullptr;
    }

    template <class S>
    static Blocks<S> lower_as(std::span<const Placed> group) {
      std::vector<Member<N>> members;
      for (const Placed& placed : group)
        members.push_back({&static_cast<const Held&>(*placed.node->self_).node, placed.at});
      if constexpr (requires { N::template lower<S>(std::span<const Member<N>>(members)); }) {
        return N::template lower<S>(std::span<const Member<N>>(members));
      } else {
        static_assert(
            !requires { &N::template lower<S>; },
            "lower<S> must be static and take (std::span<const Member<N>>)");
        using Generic = std::conditional_t<Function<N>, GenericFunctionBlock<S, N>, GenericBlock<S, N>>;
        Blocks<S> blocks;
        for (const Member<N>& member : members) blocks.push_back(std::make_unique<Generic>(member));
        return blocks;
      }
    }

    N node;
  };

  std::shared_ptr<const Interface> self_;
};

}  // namespace hindsight
