#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <hindsight/core/baseline.hpp>
#include <hindsight/core/estimator.hpp>
#include <hindsight/core/ids.hpp>
#include <hindsight/core/node.hpp>
#include <hindsight/core/shape.hpp>

namespace hindsight {

/// A parent of the node being added, and how its units are wired.
struct Edge {
  Edge(NodeId parent_node, Pattern wiring = Pattern::dense())
      : parent(parent_node), pattern(std::move(wiring)) {}
  template <std::same_as<RewardId> R>
  Edge(R, Pattern = Pattern::dense()) {
    static_assert(!std::same_as<R, RewardId>,
                  "hindsight: a reward has no children; give a node as the parent");
  }
  NodeId parent;
  Pattern pattern;
};

/// What every unit was in one sample, as the function of a reward sees it.
class JointOutcome {
 public:
  /// Where it is kept. Both throw where there is no such unit.
  class Source {
   public:
    virtual ~Source() = default;
    virtual Outcome outcome(NodeId node, int unit) const = 0;
    virtual double value(NodeId node, int unit) const = 0;
  };
  /// Refers to the source.
  JointOutcome(const Source& source, int input_row) : source_(source), input_row_(input_row) {}

  /// Of a stochastic node.
  Outcome operator()(NodeId node, int unit = 0) const { return source_.outcome(node, unit); }
  /// Of an input or a deterministic node. The oracle asks black boxes before anything is computed: there
  /// only inputs have values.
  double value(NodeId node, int unit = 0) const { return source_.value(node, unit); }
  /// Which row of the inputs it goes with.
  int input_row() const { return input_row_; }

 private:
  const Source& source_;
  int input_row_;
};

/// A reward that can be asked for any outcomes, not only for those that happened. Called from every thread of
/// a workspace; what it returns may depend on nothing but what it reads.
using KnownReward = std::function<double(const JointOutcome&)>;

enum class Role {
  input,          ///< given with every sample
  deterministic,  ///< follows from its parents
  stochastic,     ///< sampled, given its parents
};

/// Where a graph is described. What is said of it helps in the words of that place.
enum class Origin { program, file };

namespace internal {

/// What was chosen for nodes, for rewards and for pairs of them. None: nothing was. What is returned stays
/// until the next choice.
template <class Choice>
class ChoiceTable {
 public:
  void choose(NodeId node, Choice choice) { put(of_nodes_, node.index, std::move(choice)); }
  void choose(RewardId reward, Choice choice) { put(of_rewards_, reward.index, std::move(choice)); }
  void choose(NodeId node, RewardId reward, Choice choice) {
    of_pairs_.insert_or_assign({node, reward}, std::move(choice));
  }

  const Choice* of(NodeId node) const { return get(of_nodes_, node.index); }
  const Choice* of(RewardId reward) const { return get(of_rewards_, reward.index); }
  const Choice* of(NodeId node, RewardId reward) const {
    const auto found = of_pairs_.find({node, reward});
    return found == of_pairs_.end() ? nullptr : &found->second;
  }
  /// Which of them holds for the pair: its own goes before the node's, and that before the reward's.
  const Choice* for_pair(NodeId node, RewardId reward) const {
    if (const Choice* const own = of(node, reward)) return own;
    if (const Choice* const of_node = of(node)) return of_node;
    return of(reward);
  }

 private:
  /// By number, as far as the last that a choice was made for.
  using List = std::vector<std::optional<Choice>>;

  static void put(List& list, int number, Choice choice) {
    const auto at = static_cast<std::size_t>(number);
    if (at >= list.capacity()) list.reserve(at + 1 + at / 4);  // lists are long, and grow by their ends
    if (at >= list.size()) list.resize(at + 1);
    list[at] = std::move(choice);
  }
  static const Choice* get(const List& list, int number) {
    const auto at = static_cast<std::size_t>(number);
    return at < list.size() && list[at] ? &*list[at] : nullptr;
  }

  List of_nodes_, of_rewards_;
  std::map<std::pair<NodeId, RewardId>, Choice> of_pairs_;
};

}  // namespace internal

/// A DAG of discrete stochastic nodes, as the user describes it; deterministic nodes may lie between them.
/// Parents exist before their children, so a cycle cannot be written. A call that throws leaves the graph as
/// it was.
class Graph {
 public:
  /// Real-valued units that are given with every sample.
  NodeId input(std::string name, int units);
  /// A population of units; `node` is Bernoulli, Categorical, Table or anything that satisfies Node, or, for
  /// deterministic units, Tanh, Relu, Sigmoid, Identity or anything that satisfies Function.
  NodeId add(std::string name, AnyNode node, std::vector<Edge> parents);
  /// A black-box reward, a function of the nodes it reads of which only the value is observed.
  RewardId reward(std::string name, std::vector<NodeId> reads);
  /// A known reward: the library works it out itself, and may ask what it would be at outcomes that were not
  /// sampled.
  RewardId reward(std::string name, std::vector<NodeId> reads, KnownReward value);

  /// How the node is credited by every reward, also by those added later.
  void estimate_with(NodeId node, EstimatorChoice estimator);
  /// How the node is credited by one reward; goes before the choice for all.
  void estimate_with(NodeId node, RewardId reward, EstimatorChoice estimator);

  /// What the reward is compared with where it credits any node, …
  void baseline(RewardId reward, BaselineChoice baseline);
  /// … what every reward is compared with where it credits this node, which goes before that, …
  void baseline(NodeId node, BaselineChoice baseline);
  /// … and what this reward is compared with where it credits this node, which goes before both.
  void baseline(NodeId node, RewardId reward, BaselineChoice baseline);

  /// One edge as it was added.
  struct Parent {
    NodeId node;
    const Connectivity* connectivity = nullptr;  ///< none: dense; lives as long as the graph or a copy of it
  };

  /// All there are now, in order of addition, which is a topological order.
  IdRange<NodeId> nodes() const { return IdRange<NodeId>(node_count()); }
  IdRange<RewardId> rewards() const { return IdRange<RewardId>(reward_count()); }
  /// The node of that name. None: nothing is called so, or a reward is.
  std::optional<NodeId> find(std::string_view name) const { return find_bearer<NodeId>(name); }
  std::optional<RewardId> find_reward(std::string_view name) const { return find_bearer<RewardId>(name); }

  Origin origin() const { return origin_; }
  /// `read_graph` and `parse_graph` say file.
  void set_origin(Origin origin) { origin_ = origin; }

  int node_count() const { return static_cast<int>(nodes_.size()); }
  int reward_count() const { return static_cast<int>(rewards_.size()); }
  std::size_t edge_count() const {
    return nodes_.empty() ? 0 : nodes_.back().first_edge + nodes_.back().parents.size();
  }
  std::size_t unit_count() const {
    return nodes_.empty() ? 0
                          : nodes_.back().first_unit + static_cast<std::size_t>(nodes_.back().shape.units);
  }

  const std::string& name(NodeId node) const { return at(node).name; }
  Role role(NodeId node) const { return at(node).role; }
  bool is_input(NodeId node) const { return role(node) == Role::input; }
  bool is_deterministic(NodeId node) const { return role(node) == Role::deterministic; }
  bool is_stochastic(NodeId node) const { return role(node) == Role::stochastic; }
  /// "input", or what the node's type says of itself.
  std::string_view kind(NodeId node) const { return is_input(node) ? "input" : at(node).node->kind(); }
  /// The shape of an input or a deterministic node has units but no outcomes.
  const NodeShape& shape(NodeId node) const { return at(node).shape; }
  /// Its parameters piece by piece, as its type's `shape` tells.
  std::vector<ParameterBlock> parameters(NodeId node) const;
  /// None: an input.
  const AnyNode* node(NodeId node) const { return at(node).node ? &*at(node).node : nullptr; }
  /// The number of the node's first unit, in order of addition; it selects the unit's random numbers.
  std::uint32_t first_unit(NodeId node) const { return at(node).first_unit; }
  std::span<const Parent> parents(NodeId node) const { return at(node).parents; }
  /// What the child sees of the parent. Refers to the parent's name in this graph, and to the wiring.
  ParentShape parent_shape(const Parent& parent) const;
  /// All that are not dense.
  std::span<const std::shared_ptr<const Connectivity>> wirings() const { return wirings_; }
  /// In order of addition.
  std::span<const NodeId> children(NodeId node) const { return at(node).children; }
  const std::string& name(RewardId reward) const { return at(reward).name; }
  std::span<const NodeId> reads(RewardId reward) const { return at(reward).reads; }
  /// Empty: a black box.
  const KnownReward& known(RewardId reward) const { return at(reward).value; }
  bool is_known(RewardId reward) const { return static_cast<bool>(at(reward).value); }
  /// For all rewards without a choice of their own.
  const EstimatorChoice& choice(NodeId node) const;
  const EstimatorChoice& choice(NodeId node, RewardId reward) const;
  /// A choice was made for this very reward, not for all.
  bool has_own_choice(NodeId node, RewardId reward) const { return estimators_.of(node, reward) != nullptr; }
  const BaselineChoice& baseline_of(NodeId node, RewardId reward) const;
  /// As they were chosen, for nodes, rewards and pairs of them. None: nothing was chosen.
  const BaselineChoice* chosen_baseline(NodeId node) const;
  const BaselineChoice* chosen_baseline(RewardId reward) const;
  const BaselineChoice* chosen_baseline(NodeId node, RewardId reward) const;

 private:
  struct Entry {
    std::string name;
    std::size_t first_edge = 0;  ///< edges of all nodes before
    std::uint32_t first_unit = 0;
    Role role = Role::input;
    std::optional<AnyNode> node;
    NodeShape shape;
    std::vector<Parent> parents;
    std::vector<NodeId> children;
  };
  struct RewardEntry {
    std::string name;
    std::vector<NodeId> reads;
    KnownReward value;
  };

  using Bearer = std::variant<NodeId, RewardId>;
  /// Of strings and views alike, so that looking a name up copies none.
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const noexcept {
      return std::hash<std::string_view>{}(name);
    }
  };

  template <class Id>
  std::optional<Id> find_bearer(std::string_view name) const {
    const auto found = names_.find(name);
    if (found == names_.end()) return std::nullopt;
    const Id* const bearer = std::get_if<Id>(&found->second);
    return bearer ? std::optional(*bearer) : std::nullopt;
  }
  bool has(NodeId node) const { return node.index >= 0 && node.index < node_count(); }
  const Entry& at(NodeId node) const;
  const RewardEntry& at(RewardId reward) const;
  std::string census() const;
  using Wirings = std::vector<std::shared_ptr<const Connectivity>>;
  NodeId append(Entry entry, Wirings wirings = {});
  void check_name(const std::string& name) const;
  void check_units(const std::string& name, int units) const;
  void check_slopes(const std::string& name, const AnyNode& node, std::span<const Parent> parents) const;
  /// `what` it would take: "estimator" or "baseline".
  void check_creditable(NodeId node, std::string_view what) const;
  std::vector<Parent> resolve(const std::string& name, const AnyNode& node, const std::vector<Edge>& edges,
                              Wirings& wirings) const;
  std::vector<ParentShape> parent_shapes(std::span<const Parent> parents) const;

  std::vector<Entry> nodes_;
  Wirings wirings_;
  std::vector<RewardEntry> rewards_;
  std::unordered_map<std::string, Bearer, NameHash, std::equal_to<>> names_;
  internal::ChoiceTable<EstimatorChoice> estimators_;
  internal::ChoiceTable<BaselineChoice> baselines_;
  Origin origin_ = Origin::program;
};

/// "a", or "a[3]" for one unit of several.
std::string to_string(const Graph&, const UnitRef&);

/// Per node, the number of edges on the longest route that ends there.
std::vector<int> levels(const Graph&);

/// Per node: does a route lead from it to something the reward reads (or is it read itself)?
std::vector<bool> upstream_of(const Graph&, RewardId);

}  // namespace hindsight
