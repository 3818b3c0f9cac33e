#pragma once

#include <span>
#include <string_view>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/nodes/linear.hpp>

namespace hindsight {

/// Deterministic units: an activation of weights·features + bias.
template <Link link>
struct Activation {
  int units = 1;

  static constexpr std::string_view kind = name_of(link);
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

using Tanh = Activation<Link::tanh>;
using Relu = Activation<Link::relu>;
using Sigmoid = Activation<Link::sigmoid>;
using Identity = Activation<Link::identity>;

static_assert(Function<Tanh> && Function<Relu> && Function<Sigmoid> && Function<Identity>);
static_assert(WrittenNode<Tanh>);

}  // namespace hindsight
