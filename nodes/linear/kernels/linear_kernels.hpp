#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <hindsight/core/block.hpp>
#include <hindsight/core/ids.hpp>
#include <hindsight/core/instruction_set.hpp>
#include <hindsight/nodes/link_function.hpp>

namespace hindsight::internal {

/// Samples are worked in groups of this many, whatever the instruction set; rows are padded to whole groups.
inline constexpr int lane_group = lane_padding;
static_assert(chunk_samples % lane_group == 0);
/// Weight tables of dense messages are made for this many parents at a time: one vector of the widest set.
inline constexpr std::size_t parent_group = 16;
/// Beyond this |h| the closed form of a message loses precision; such edges take the safe form
/// (docs/performance.md).
inline constexpr double closed_form_limit = 2.5;
/// Products of likelihood ratios stay within e^±80, inside the range of float; then their logarithm is taken.
inline constexpr double product_range = 80;
/// They are cut in any case after this many factors.
inline constexpr std::size_t most_edges_per_log = 128;
/// The same for quotients, whose two parts may go opposite ways; edges beyond it take the safe form.
inline constexpr double general_range = 40;

/// Dense products read features in stretches that stay in the cache while all rows of weights pass by.
inline constexpr std::size_t feature_stretch = 256;

/// Rows of samples, `stride` apart, of which the first `lanes` numbers are worked.
template <class T>
struct SampleRows {
  T* first = nullptr;
  std::size_t stride = 0;
  int lanes = 0;

  T* row(std::size_t index) const { return first + index * stride; }
};

/// Weights (or their gradient) of logits that read the same features: feature j of row r has
/// first[begin[r] + j·step].
template <class T>
struct WeightRows {
  T* first = nullptr;
  std::span<const std::size_t> begin;
  std::size_t features = 0;
  std::size_t step = 1;
  bool skip_zeros = false;  ///< the features are often zero
};

/// Some binary units as their children read them: by bits.
template <class S>
struct BinaryUnits {
  std::span<const std::uint32_t> rows;
  const std::uint64_t* bits = nullptr;  ///< one word per row and chunk
  S low = 0, high = 0;                  ///< the feature where the bit is not set, and where it is
};

/// A unit whose logits are known and whose outcomes are to be drawn, or kept if there are no uniforms.
template <class S>
struct UnitToSample {
  SampleRows<S> log_probs;  ///< one row per outcome; logits on entry (a lone one in row 1)
  std::size_t outcome_count = 2;
  const S* uniforms = nullptr;
  Outcome* sampled = nullptr;
  S* feature = nullptr;  ///< of a unit with two outcomes
  S low = 0, high = 0;   ///< what children see of outcomes 0 and 1
};

/// A parent that messages go to.
template <class S>
struct MessageTarget {
  const Outcome* sampled = nullptr;
  S* evidence = nullptr;  ///< one row per candidate
};

/// A child that messages come from.
template <class S>
struct MessageSource {
  const S* log_probs = nullptr;  ///< one row per outcome
  const Outcome* sampled = nullptr;
};

/// What one parent's edges to units of any kind say of its candidates. Tables hold `logits` × `candidates`
/// numbers per edge: what the candidate contributes to the logit (centred, so that both exponentials stay
/// small), e to that power, and e to minus that power.
template <class S>
struct GeneralMessage {
  MessageTarget<S> parent;
  std::size_t candidates = 0;
  std::size_t logits = 0;  ///< of the children; 1: they are binary
  std::span<const std::uint32_t> children;
  const S* ranges = nullptr;  ///< per edge: how far apart two candidates put a logit, at most
  const S* contributions = nullptr;
  const S* growth = nullptr;
  const S* decay = nullptr;
  const S* descriptions = nullptr;
  std::size_t stride = 0;
  int lanes = 0;

  std::size_t edge_size() const { return logits * candidates; }
  std::size_t child_outcome_count() const { return logits == 1 ? 2 : logits; }
  /// Rows of lanes that describe one child: the probabilities of its outcomes, then its own outcome.
  std::size_t description_rows() const { return child_outcome_count() + 1; }
};

/// What a table of closed forms covers.
template <class S>
struct TableRange {
  S largest = 0;        ///< |h| in the table
  bool beyond = false;  ///< there are edges that it leaves out

  std::size_t edges_per_log() const;
};

/// Scalars that a dense table takes.
inline std::size_t dense_table_size(std::size_t children) { return 2 * parent_group * (children + 1); }
/// Scalars of scratch that products take: the features of one stretch, and lists of those that are not zero;
/// the subset sums of a chunk are fewer.
inline std::size_t product_scratch_size(int lanes) {
  return feature_stretch *
         (static_cast<std::size_t>(std::max(lanes, lane_group)) + static_cast<std::size_t>(lanes));
}

/// The inner loops of linear-logit blocks. One table of them per instruction set; raw pointers only.
template <class S>
struct LinearKernels {
  /// logits.row(rows[r]) += Σ_j weight[r][j]·features.row(j)
  void (*add_dense)(const WeightRows<const S>& weights, const SampleRows<const S>& features,
                    const SampleRows<S>& logits, const std::size_t* rows, S* scratch);
  /// logits += Σ_j weights[j]·features.row(feature_rows[j])
  void (*add_sparse)(const S* weights, std::span<const std::uint32_t> feature_rows,
                     const SampleRows<const S>& features, S* logits);
  /// The same for binary units.
  void (*add_bits)(const S* weights, const BinaryUnits<S>& units, int lanes, S* logits);
  void (*sample_binary)(const UnitToSample<S>& unit);
  void (*sample_softmax)(const UnitToSample<S>& unit, S* scratch);

  /// deltas: the derivative of Σ w·log π by the logits, a row of lanes each; zero beyond `samples`.
  void (*binary_deltas)(const SampleRows<const S>& log_probs, const S* credit, int samples, S* deltas);
  void (*softmax_deltas)(const SampleRows<const S>& log_probs, const S* credit, std::size_t outcome_count,
                         int samples, S* deltas);
  /// gradient[r][j] += Σ_lanes deltas.row(r)·features.row(j), or = if it `starts` the sum
  void (*accumulate_dense)(const WeightRows<S>& gradient, const SampleRows<const S>& deltas,
                           const SampleRows<const S>& features, bool starts, S* scratch);
  /// gradient[j] += Σ_lanes deltas·features.row(feature_rows[j]), or =
  void (*accumulate_sparse)(S* gradient, std::span<const std::uint32_t> feature_rows,
                            const SampleRows<const S>& features, const S* deltas, bool starts);
  /// The same for binary units: `sums` are those of sum_subsets, `total` is the sum of all derivatives.
  void (*sum_subsets)(const S* deltas, int lanes, S* sums);
  void (*accumulate_bits)(S* gradient, const BinaryUnits<S>& units, const S* sums, S total, int lanes,
                          bool starts);
  S (*sum)(const S* values, int lanes);

  /// Deterministic units: sums to values, and derivatives by the values to derivatives by the sums.
  void (*activate)(LinkFunction link, S* row, int lanes);
  void (*function_deltas)(LinkFunction link, const S* values, const S* slopes, int lanes, int samples,
                          S* deltas);
  /// slopes.row(j) += Σ_r weight[r][j]·deltas.row(r)
  void (*backpropagate_dense)(const WeightRows<const S>& weights, const SampleRows<const S>& deltas,
                              const SampleRows<S>& slopes);
  /// slopes.row(feature_rows[j]) += weights[j]·deltas
  void (*backpropagate_sparse)(const S* weights, std::span<const std::uint32_t> feature_rows, const S* deltas,
                               const SampleRows<S>& slopes);

  /// Per group of 16 lanes: the child's mean m (of -1/+1), then its outcome s.
  void (*describe_for_dense)(const MessageSource<S>& child, std::size_t stride, int lanes,
                             std::size_t children, S* description);
  /// One row of lanes: s·q, where q is the probability of the outcome that did not happen.
  void (*describe_for_sparse)(const MessageSource<S>& child, std::size_t stride, int lanes, S* description);
  /// One row of lanes per outcome, its probability, and one with the outcome that happened.
  void (*describe_for_general)(const MessageSource<S>& child, std::size_t stride, int lanes,
                               std::size_t outcome_count, S* description);

  /// For up to parent_group parents, which read `weights` from `first_feature` on. Edges beyond the closed
  /// form are left out.
  TableRange<S> (*make_dense_table)(const WeightRows<const S>& weights, std::size_t first_feature,
                                    std::span<const S> half_gaps, S* table);
  void (*add_dense_messages)(const S* table, std::size_t children, const S* descriptions,
                             std::span<const MessageTarget<S>> parents, std::size_t stride, int lanes);
  TableRange<S> (*make_sparse_table)(std::span<const S> half_changes, S* table);
  void (*add_sparse_messages)(const S* table, std::size_t edges_per_log,
                              std::span<const std::uint32_t> children, const S* descriptions,
                              const MessageTarget<S>& parent, std::size_t stride, int lanes);
  /// One edge between two binary units, in log space: right for every half_change.
  void (*add_message_in_log_space)(const MessageSource<S>& child, S half_change,
                                   const MessageTarget<S>& parent, std::size_t stride, int lanes);

  void (*make_general_table)(std::span<const S> contributions, S* growth, S* decay);
  void (*add_general_messages)(const GeneralMessage<S>& message, S* scratch);
  /// One edge of the message, in log space: right for every range.
  void (*add_general_message_in_log_space)(const GeneralMessage<S>& message, std::size_t edge,
                                           const S* child_log_probs, S* scratch);
};

template <class S>
const LinearKernels<S>& linear_kernels(InstructionSet set);

}  // namespace hindsight::internal
