#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/index.hpp>
#include <hindsight/core/shape.hpp>
#include <hindsight/nodes/link_function.hpp>

namespace hindsight::internal {

/// Units of a parent that lie side by side and that one unit reads through weights that lie side by side too.
struct WeightRun {
  std::size_t parent = 0;  ///< number of the edge
  int first_unit = 0;      ///< of the parent
  int units = 0;
  std::size_t parameter = 0;     ///< of the first weight into the unit's first logit, within the node
  std::size_t logit_stride = 0;  ///< from there to the same weight into the next logit
};

/// The parameters of a population with linear logits: a block of weights per edge, then the biases.
std::vector<ParameterBlock> linear_parameters(std::span<const ParentShape> parents, int units, int logits);

/// Where they lie: the edges in order, each unit by unit and logit by logit, then the biases.
class LinearLayout {
 public:
  LinearLayout(std::span<const ParentShape> parents, int units, int logits);
  explicit LinearLayout(const Placement& at);

  std::vector<WeightRun> runs(int unit) const;
  std::size_t bias(int unit) const { return bias_ + index(unit) * logits_; }

 private:
  struct EdgeWeights {
    int units;  ///< of the parent
    std::size_t width;
    const Connectivity* connectivity;
    std::size_t first;
  };
  void add(int parent_units, int width, const Connectivity* connectivity);

  std::size_t units_, logits_;
  std::vector<EdgeWeights> edges_;
  std::size_t bias_ = 0;
};

/// logits[unit·L + l] = bias + Σ weight·feature, for one sample.
template <class S>
void linear_logits(std::span<const S> theta, const Reading<S>&, int units, int logits, std::span<S> out);

/// out += Σ delta[unit·L + l]·∇logit, for one sample.
template <class S>
void accumulate_linear(const Reading<S>&, int units, int logits, std::span<const S> delta, std::span<S> out);

/// Glorot's uniform initialisation, weight by weight; biases stay 0.
void initialise_glorot(const Initialisation&, int logits, std::span<double> theta);

/// out[feature] += Σ delta[unit·L + l]·∂logit/∂feature, for one sample.
template <class S>
void backpropagate_linear(std::span<const S> theta, const Reading<S>&, int units, int logits,
                          std::span<const S> delta, std::span<S> out);

/// Blocks for nodes with linear logits of all levels.
template <class S>
Blocks<S> lower_linear(std::span<const Placement* const> group, LinkFunction link);

}  // namespace hindsight::internal
