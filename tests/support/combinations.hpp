#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hindsight/hindsight.hpp>

/// The axes along which a node's credit can differ, each spelled out, a small graph for every combination of
/// them, and what docs/theory.md says of it.
namespace hindsight::testing {

/// Estimators of which theory says the same everywhere.
enum class Family {
  likelihood,  ///< REINFORCE, and Auto, which falls back on it
  enforced,    ///< HNCA that insists on Assumption 1
  relaxed,     ///< hindsight that needs no assumption
  straight,    ///< straight-through
};

struct NamedEstimator {
  std::string name;        ///< as reports call it
  std::string expression;  ///< as a line of help writes it
  Family family;
  EstimatorChoice choice;
};

/// The kind of the node that is credited, and what lies between it and its first child.
struct NamedKind {
  std::string name;
  AnyNode node;
  AnyNode child;
  std::optional<AnyNode> between = {};
};

struct NamedBaseline {
  std::string name;  ///< as reports call it; empty: none
  BaselineChoice choice;
};

enum class Access {
  below,   ///< the reward reads a descendant of the node, or, where it has none, another node
  itself,  ///< the reward reads the node too
};

/// Which rewards there are, and how they come to the node.
struct NamedRewards {
  std::string name;
  std::optional<Access> box, known;
};

enum class Situation {
  holds,         ///< Assumption 1
  violated,      ///< Assumption 1, at the node
  silent_child,  ///< one of the children has no backpropagate
  childless,
};

std::vector<NamedEstimator> all_estimators();
std::vector<NamedKind> all_kinds();
std::vector<NamedBaseline> all_baselines();
std::vector<NamedRewards> all_rewards();
std::vector<Situation> all_situations();
std::string to_string(Situation situation);

/// What is to be expected of one node and one reward.
enum class Expected {
  unbiased,
  biased,      ///< compiles, with a warning
  idle,        ///< compiles, with a warning: the reward is not downstream of the node
  policy,      ///< refused: Assumption 1 is insisted on, and violated
  reads_node,  ///< refused: only its value at the sampled outcome is observed
  no_slope,    ///< refused: the derivative that straight-through needs does not exist
};

bool is_refused(Expected expected);
Expected expected(Family family, Access access, bool is_known, Situation situation);

/// The node, with a state space of some ten joint outcomes around it.
struct SmallGraph {
  Graph graph;
  NodeId input, node;
  std::vector<RewardId> rewards;
  std::vector<RewardFunction> boxes;  ///< the rewards that are black boxes
};
SmallGraph small_graph(const NamedKind& kind, Situation situation, const NamedRewards& rewards);

/// Whether a line of help chooses an estimator for the node.
bool can_paste(const std::string& line);
/// Does what such a line says.
void paste(SmallGraph& small, const std::string& line, std::span<const NamedEstimator> estimators);

}  // namespace hindsight::testing
