#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/estimator.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/model.hpp>
#include <hindsight/graph/oracle.hpp>
#include <hindsight/graph/validator.hpp>

namespace hindsight {

/// What the gradients are taken of: rows of the inputs, all equally likely, and what black-box rewards are.
struct Task {
  std::span<const InputValues<float>> inputs;
  std::span<const RewardFunction> rewards;
};

struct MicroscopeOptions {
  std::vector<CreditMethod> contenders = {};
  /// Further contenders, after those: the same graph with choices of its own.
  std::vector<Graph> graphs = {};
  /// They credit what does not admit a contender, and all nodes in the reference: the first of them that is
  /// admissible, or what Auto takes. Must be unbiased.
  std::vector<AnyEstimator> stand_ins = {};
  /// Of each contender. Where they would take more than most_operations fewer are taken, down to a hundred.
  int gradients = 1000;
  int reference_gradients = 4000;  ///< where the gradient is not exact; fewer in proportion
  int batch = 64;                  ///< rows per gradient
  /// Expectations are exact where there are no more joint outcomes times rows than this.
  std::size_t most_states = 1 << 14;
  std::uint64_t seed = 1;
  /// That the whole comparison may take, of about a nanosecond each, as estimated beforehand; reward
  /// functions and the work of nodes of your own are not counted. Contenders that sum out beyond it take no
  /// part, the dearest first; where the others do not fit by themselves either, the comparison is refused.
  double most_operations = 1e10;
  double elimination_limit = ValidateOptions{}.elimination_limit;  ///< as in ValidateOptions
  /// Is told after every gradient; after the last, when all is concluded.
  std::function<void(std::size_t done, std::size_t of)> progress = {};
};

/// How the gradients of several contenders differ at the same parameters, rows and random numbers. Variances
/// are those of one sample's gradient: of a batch's, times its samples.
struct Comparison {
  /// A node that learns: it has parameters and a route to a reward.
  struct Node {
    NodeId id;
    std::string name;
    int level = 0;
    ParameterRange parameters;
    double reference_error = 0;  ///< standard error of the reference here, over all parameters; 0: exact
    double prior_doubt = 0;      ///< mean of 1 - π(sampled outcome | parents); 0 if it is deterministic
  };
  /// The weights of one edge, or a bias.
  struct Block {
    std::string path;
    std::size_t node = 0;  ///< in `nodes`
    ParameterRange parameters;
  };
  /// One node, credited by one contender.
  struct View {
    bool applies = false;  ///< false: stand-ins credit it by all rewards
    bool unbiased = true;  ///< as the validator says
    double bias = 0;       ///< distance of the mean from the reference, less what chance adds to it
    double z = 0;          ///< standard normal if there is no bias, and large if there is
    double variance = 0;   ///< over all parameters
    std::optional<double> exact_bias = {}, exact_variance = {};
    /// Mean of 1 - P(sampled outcome | what hindsight knows). At 0 hindsight knows the outcome, and credits
    /// it alone, as REINFORCE does.
    std::optional<double> doubt = {};

    /// For certain: by the exact bias or, where there is none, beyond certain_z.
    bool is_seen_biased() const;
    double best_variance() const { return exact_variance.value_or(variance); }
    double best_bias() const { return exact_bias.value_or(bias); }
  };
  struct Row {
    CreditMethod contender;
    std::string refusal = {};       ///< why it could not take part; empty: it did
    Graph graph = {};               ///< with its choices
    int replicas = 1;               ///< samples of each row, which its baselines want
    double seconds_per_sample = 0;  ///< forward and backward, without the update: the median
    std::vector<double> mean = {};  ///< of the gradient
    std::vector<View> nodes = {};
    std::vector<double> block_variances = {};  ///< exact where those of nodes are

    /// Over all nodes.
    double variance() const;
  };

  int gradients = 0;              ///< that were taken of each contender
  std::vector<double> reference;  ///< gradient of the expected sum of rewards
  std::size_t states = 0;         ///< that it is the exact sum over; 0: it is the mean of a long run
  std::vector<Node> nodes;
  std::vector<Block> blocks;
  std::vector<Row> rows;
};

/// |z| beyond it is a bias: chance goes so far once in two million nodes.
inline constexpr double certain_z = 5;

/// The row with the least variance × time among those that are unbiased at every node, as the validator says
/// and as was seen.
std::optional<std::size_t> best_single(const Comparison& comparison);

/// Compares the contenders at those parameters; none: the initial ones.
Comparison compare_estimators(const Graph& graph, const Catalogue& catalogue,
                              std::span<const float> parameters, const Task& task,
                              const MicroscopeOptions& options);

/// The graph with a contender's choices at every node: those that together have the least variance × time
/// among what is unbiased and was seen to be. What a contender adds to the time of the quickest is shared out
/// among the units that it credits. All nodes share one number of samples per row.
Graph advise(const Graph& graph, const Comparison& comparison);

}  // namespace hindsight
