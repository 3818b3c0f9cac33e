#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <hindsight/core/ids.hpp>
#include <hindsight/core/instruction_set.hpp>
#include <hindsight/core/random.hpp>
#include <hindsight/core/shape.hpp>

namespace hindsight {

/// Samples are worked in chunks of this many, so that results do not depend on how a batch is cut at its
/// multiples.
inline constexpr int chunk_samples = 64;
/// Rows of samples are padded to a multiple of this many: whole vectors of any instruction set.
inline constexpr std::size_t lane_padding = 16;
constexpr std::size_t padded(std::size_t count) {
  return (count + lane_padding - 1) / lane_padding * lane_padding;
}

struct Placement;

/// One edge as the plan has laid it out.
struct ParentPlace {
  const Placement* from = nullptr;  ///< the parent
  bool wants_messages = false;      ///< the parent's estimator needs evidence
  bool wants_slopes = false;        ///< the parent is deterministic, or its estimator is pathwise
};

/// One node as the plan has laid it out. A deterministic node has features and parameters but no outcomes,
/// and so no rows of units and tables.
struct Placement {
  std::string name;
  NodeShape shape;
  bool is_discrete = true;  ///< it has outcomes
  int level = 0;            ///< longest route from a node without parents
  std::uint32_t first_unit =
      0;  ///< number of the node's first unit, in order of addition; selects its random numbers
  std::size_t feature_row = 0;  ///< rows of a Frame
  std::size_t unit_row = 0;     ///< meaningless where it is not discrete, as is table_row
  std::size_t table_row = 0;
  std::size_t first_parameter = 0;
  std::vector<ParentPlace> parents;
  std::vector<const Connectivity*> wirings;  ///< per parent; empty where every unit reads every unit

  /// None: every unit reads every unit of that parent.
  const Connectivity* wiring(std::size_t parent) const { return wirings.empty() ? nullptr : wirings[parent]; }
  /// Numbers that a child sees of one of its units.
  int width() const { return is_discrete ? shape.encoding.width : 1; }
  std::size_t units() const { return static_cast<std::size_t>(shape.units); }
  std::size_t features() const { return units() * static_cast<std::size_t>(width()); }
  /// None: it is real-valued.
  const Encoding* encoding() const { return is_discrete ? &shape.encoding : nullptr; }
  /// What it reads, edge by edge. Refers to the names of the parents.
  std::vector<ParentShape> parent_shapes() const;
};

/// Everything a block reads and writes while it runs on one chunk of samples. All arrays are rows of samples,
/// `stride` apart; the first `samples` entries of a row count and the rest up to `lanes` is padding.
template <class S>
struct Frame {
  const S* parameters = nullptr;
  S* gradient = nullptr;
  bool starts_sum = false;  ///< overwrite the gradient with the chunk's sum instead of adding that
  S* features = nullptr;
  S* slopes = nullptr;  ///< the derivative of Σ credit·log π by the features of units that want it
  Outcome* outcomes = nullptr;
  S* log_probs = nullptr;
  S* evidence_rows = nullptr;
  S* credit_rows = nullptr;
  /// One word per unit row: bit i is set where the unit's outcome in sample i is not 0. Made after each level
  /// for all of it, if some block reads bits.
  std::uint64_t* outcome_bits = nullptr;
  const std::uint8_t* clamped = nullptr;  ///< per unit row: keep the outcome that is there
  S* tables = nullptr;                    ///< of this block
  S* scratch = nullptr;
  Outcome* outcome_scratch = nullptr;
  std::size_t stride = 0;
  int lanes = 0;
  int samples = 0;
  std::uint64_t seed = 0;
  StreamPosition position;
  InstructionSet instructions = InstructionSet::baseline;

  S* feature(std::size_t row) const { return features + row * stride; }
  S* slope(std::size_t row) const { return slopes + row * stride; }
  Outcome* outcome(std::size_t row) const { return outcomes + row * stride; }
  S* log_prob(std::size_t row) const { return log_probs + row * stride; }
  S* evidence(std::size_t row) const { return evidence_rows + row * stride; }
  S* credit(std::size_t row) const { return credit_rows + row * stride; }
};

/// What a block needs for itself while it runs.
struct ScratchSize {
  std::size_t scalars = 0;
  std::size_t outcome_slots = 0;
};

/// Enough for either.
constexpr ScratchSize larger(const ScratchSize& a, const ScratchSize& b) {
  return {a.scalars > b.scalars ? a.scalars : b.scalars,
          a.outcome_slots > b.outcome_slots ? a.outcome_slots : b.outcome_slots};
}

/// What the plan runs: some nodes of one kind, stochastic or deterministic. Const: all that changes is in the
/// frame.
template <class S>
class Block {
 public:
  virtual ~Block() = default;

  /// Of its nodes: forward runs level after level. A block whose forward does nothing may say 0.
  virtual int level() const = 0;
  /// Whether it uses the frame's outcome_bits.
  virtual bool reads_bits() const { return false; }
  /// Computes log-probabilities, samples (or keeps clamped outcomes), writes features. A log-probability, or
  /// the value of a deterministic unit, that could not be computed is written as NaN.
  virtual void forward(const Frame<S>&) const = 0;
  /// Tables that depend on the weights alone, made in independent parts before the messages of each backward
  /// pass.
  virtual std::size_t table_size() const { return 0; }
  virtual int table_parts() const { return 0; }
  virtual void prepare(const Frame<S>&, int /*first*/, int /*last*/) const {}
  /// Adds to the evidence of the parents that want messages. Uses nothing from the block's own children.
  virtual void send_messages(const Frame<S>&) const = 0;
  /// Adds to the slopes of the parents that want them, from the credit of its units or, if they are
  /// deterministic, from their slopes; either are complete by then.
  virtual void backpropagate(const Frame<S>&) const {}
  /// The gradient is made row by row so that rows can be shared out; every parameter belongs to one row.
  virtual int rows() const = 0;
  /// gradient += Σ credit·∇log π over the chunk, for rows first … last-1; or =, if the frame starts the sum.
  /// The chunk is summed from zero, then added: which chunks are added up where, and in which order, the pass
  /// decides. For deterministic units: Σ slope·∇value.
  virtual void accumulate(const Frame<S>&, int first, int last) const = 0;

  virtual ScratchSize scratch(int lanes) const = 0;
};

template <class S>
using Blocks = std::vector<std::unique_ptr<Block<S>>>;

/// What children see of one unit's outcomes: rows of features, from the given one on.
template <class S>
void write_features(const Frame<S>&, const Encoding&, const Outcome* outcomes, S* features);

/// Draws (by inverse CDF, one uniform per sample) or keeps the outcomes of one unit whose log-probabilities
/// are known, and writes its features. An outcome of probability zero is never drawn.
template <class S>
void sample_unit(const Frame<S>&, const Placement&, int unit);

/// A unit of a parent whose outcome is left open.
struct OpenParent {
  std::size_t edge = 0;  ///< number of the edge by which it is read
  int unit = 0;          ///< of the parent
};

/// log π of one unit's outcome while the outcomes of some units that it reads are open.
struct Factor {
  const Placement* at = nullptr;
  int unit = 0;
  std::vector<OpenParent> open;  ///< the same units, in the same order, in all factors of a group
};

/// Factors that share one table of logarithms, because the same units are open in all of them. Its rows have
/// one number per sample; a row stands for one joint outcome of the open units.
struct FactorGroup {
  std::vector<Factor> factors;
  std::vector<std::size_t> strides;  ///< per open unit: rows from one outcome to the next
  std::size_t own_stride = 0;        ///< the same for the unit's own outcome, if that is open and the only
                                     ///< factor's; 0: own outcomes are those sampled, and factors add up
};

/// Tables of the factors of nodes of one kind, for exact elimination. Const: all that changes is in the
/// frame. A kind without it is worked by running its ordinary blocks, outcome by outcome.
template <class S>
class FactorTables {
 public:
  virtual ~FactorTables() = default;

  /// Overwrites all rows of the table, the frame's `lanes` numbers each, side by side.
  virtual void fill(const Frame<S>&, std::size_t group, S* table, S* scratch) const = 0;
  /// Scalars of scratch that any group takes.
  virtual std::size_t scratch(int lanes) const = 0;
};

}  // namespace hindsight
