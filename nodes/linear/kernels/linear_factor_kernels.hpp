#pragma once

#include <cstddef>
#include <span>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/instruction_set.hpp>

namespace hindsight::internal {

/// Binary units whose outcomes are known, with the samples in rows of lanes: `sign` is +1 where the unit
/// fired and -1 elsewhere, `logit` its logit times that sign, without what open units contribute.
template <class S>
struct KnownBinary {
  const S* logit = nullptr;
  const S* sign = nullptr;
};

/// Units that one call takes. Each brings a factor between 1 and 2 to a product, which must stay in the range
/// of float.
inline constexpr std::size_t most_known_units = 64;

/// The inner loops of factors of units with linear logits. What open units contribute to a logit does not
/// depend on the sample: it is one number, the contribution.
template <class S>
struct LinearFactorKernels {
  /// logit = log π(1) - log π(0)
  void (*binary_logit)(const S* log_probs, std::size_t stride, int lanes, S* logit);
  /// Makes a KnownBinary of a logit.
  void (*turn_to_outcome)(const Outcome* sampled, int lanes, S* logit, S* sign);
  /// Σ log π(sampled) over the units; starts the sum in `out` or adds to it.
  void (*known_binary)(std::span<const KnownBinary<S>> units, const S* contributions, int lanes, bool starts,
                       S* out);
  /// out_0 and out_1: log π of the two outcomes
  void (*open_binary)(const S* logit, S contribution, int lanes, S* out_0, S* out_1);
  /// `logits`: one row per outcome. log π of the sampled outcome; starts the sum in `out` or adds to it.
  void (*known_softmax)(const S* logits, std::span<const S> contributions, const Outcome* sampled, int lanes,
                        bool starts, S* out);
  /// log π of every outcome, in rows `stride` numbers apart
  void (*open_softmax)(const S* logits, std::span<const S> contributions, int lanes, std::size_t stride,
                       S* out);
};

template <class S>
const LinearFactorKernels<S>& linear_factor_kernels(InstructionSet set);

}  // namespace hindsight::internal
