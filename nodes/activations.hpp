#pragma once

#include <span>
#include <string_view>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/node.hpp>

namespace hindsight {

enum class ActivationFunction { tanh, relu, sigmoid, identity };

/// Deterministic units: a function of weights·features + bias.
template <ActivationFunction function>
struct Activation {
  int units = 1;

  static constexpr std::string_view kind = function == ActivationFunction::tanh      ? "Tanh"
                                           : function == ActivationFunction::relu    ? "ReLU"
                                           : function == ActivationFunction::sigmoid ? "Sigmoid"
                                                                                     : "Identity";
  static constexpr bool reads_patterns = true;

  Shape shape(std::span<const ParentShape> parents) const;
  template <class S>
  void evaluate(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const;
  template <class S>
  void backpropagate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> slopes,
                     std::span<S> parameters, std::span<S> features) const;
  void initialise(const Initialisation& start, std::span<double> theta) const;
  template <class S>
  static Blocks<S> lower(std::span<const Member<Activation>> group);

  static Activation read(AttributeReader& given) { return {.units = given.count("units", 1)}; }
  void write(Attributes& written) const {
    if (units != 1) written.set("units", units);
  }
};

using Tanh = Activation<ActivationFunction::tanh>;
using Relu = Activation<ActivationFunction::relu>;
using Sigmoid = Activation<ActivationFunction::sigmoid>;
using Identity = Activation<ActivationFunction::identity>;

static_assert(Function<Tanh> && Function<Relu> && Function<Sigmoid> && Function<Identity>);
static_assert(WrittenNode<Tanh>);

extern template AnyNode::AnyNode(Tanh);
extern template AnyNode::AnyNode(Relu);
extern template AnyNode::AnyNode(Sigmoid);
extern template AnyNode::AnyNode(Identity);

}  // namespace hindsight
