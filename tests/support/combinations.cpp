#include "support/combinations.hpp"

#include <cmath>
#include <stdexcept>
#include <string_view>

#include "support/chunk_nodes.hpp"
#include "support/custom_nodes.hpp"

namespace hindsight::testing {
namespace {

/// How lines begin that choose an estimator for the node.
constexpr std::string_view for_node = "graph.estimate_with(a, ";

/// A deterministic unit without parameters that tells all outcomes of its parents apart.
struct FeatureSum {
  static constexpr std::string_view kind = "FeatureSum";

  Shape shape(std::span<const ParentShape>) const { return {.units = 1}; }
  template <class S>
  void evaluate(std::span<const S>, const Reading<S>& reading, std::span<S> out) const {
    out[0] = 0;
    for (std::size_t f = 0; f < reading.features.size(); ++f)
      out[0] += static_cast<S>(f + 1) * reading.features[f];
  }
  template <class S>
  void backpropagate(std::span<const S>, const Reading<S>& reading, std::span<const S> slopes, std::span<S>,
                     std::span<S> features) const {
    for (std::size_t f = 0; f < reading.features.size(); ++f)
      features[f] += static_cast<S>(f + 1) * slopes[0];
  }
};
static_assert(Function<FeatureSum>);

/// What a FeatureSum of the node would be, from its outcomes.
double feature_sum(const JointOutcome& at, NodeId node, const NodeShape& shape) {
  double sum = 0;
  for (int unit = 0; unit < shape.units; ++unit)
    for (int j = 0; j < shape.encoding.width; ++j)
      sum += (unit * shape.encoding.width + j + 1) * shape.encoding.value(at(node, unit), j);
  return sum;
}

std::vector<std::vector<double>> table_rows(const NodeShape& parent) {
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < std::pow(parent.outcome_count(), parent.units); ++i)
    rows.push_back(i % 2 == 0 ? std::vector{0.3, 0.7} : std::vector{0.6, 0.4});
  return rows;
}

//  holds          x ─→ a ─→ b ─→ c ─→ d ─→ reward      violated      x ─→ a ─→ b ─→ d ─→ reward
//                                                                        └─────────↗
//  silent_child   x ─→ a ─→ b ─→ d ─→ reward           childless     x ─→ a
//                      └──→ t ──↗                                    └──→ d ─→ reward
//
// A reward that reads the node itself reads a beside d. Where something lies between, it is f: what would
// read a reads f instead, but for the Table t, and for rewards, which read the sum s of a.
class CombinationBuilder {
 public:
  CombinationBuilder(const NamedKind& kind, Situation situation) : kind_(kind) {
    Graph& graph = made_.graph;
    made_.input = graph.input("x", 2);
    const bool reads_outcomes = kind.node.kind() == "Table";
    const NodeId parent = reads_outcomes ? graph.add("p", Bernoulli{}, {made_.input}) : made_.input;
    made_.node = graph.add("a", kind.node, {parent});
    const NodeId seen = kind.between ? graph.add("f", *kind.between, {made_.node}) : made_.node;
    last_ = situation == Situation::childless ? graph.add("d", Bernoulli{}, {made_.input})
                                              : add_children(seen, situation);
  }

  SmallGraph build(const NamedRewards& rewards) {
    if (kind_.between && (rewards.box == Access::itself || rewards.known == Access::itself))
      sum_ = made_.graph.add("s", FeatureSum{}, {made_.node});
    if (rewards.box) {
      made_.rewards.push_back(made_.graph.reward("box", reads(*rewards.box)));
      made_.boxes.push_back({made_.rewards.back(), value(*rewards.box, false)});
    }
    if (rewards.known)
      made_.rewards.push_back(
          made_.graph.reward("known", reads(*rewards.known), value(*rewards.known, true)));
    return std::move(made_);
  }

 private:
  NodeId add_children(NodeId seen, Situation situation) {
    Graph& graph = made_.graph;
    const NodeId b = graph.add("b", kind_.child, {seen});
    if (situation == Situation::violated) return graph.add("d", Bernoulli{}, {b, seen});
    if (situation == Situation::holds)
      return graph.add("d", Bernoulli{}, {graph.add("c", Bernoulli{.values = zero_one}, {b})});
    const NodeId t = graph.add("t", Table{.rows = table_rows(graph.shape(made_.node))}, {made_.node});
    return graph.add("d", Bernoulli{}, {b, t});
  }

  std::vector<NodeId> reads(Access access) const {
    if (access == Access::below) return {last_};
    return {last_, sum_.value_or(made_.node)};
  }

  /// The oracle asks black boxes before deterministic nodes have values.
  KnownReward value(Access access, bool is_known) const {
    const NodeId node = made_.node, last = last_;
    const std::optional<NodeId> sum = is_known ? sum_ : std::nullopt;
    const double scale = is_known ? 2 : 3;
    return [=, shape = made_.graph.shape(node)](const JointOutcome& at) {
      double reward = 0.4 + 0.3 * at.input_row() + 1.7 * at(last);
      if (access == Access::itself)
        reward += (1 + 0.5 * at(last)) * std::sin(2 * (sum ? at.value(*sum) : feature_sum(at, node, shape)));
      return scale * reward;
    };
  }

  const NamedKind& kind_;
  SmallGraph made_;
  NodeId last_;
  std::optional<NodeId> sum_;
};

}  // namespace

std::vector<NamedEstimator> all_estimators() {
  constexpr Assumption relaxed = Assumption::relaxed;
  return {
      {"auto", "Auto{}", Family::likelihood, Auto{}},
      {"reinforce", "Reinforce{}", Family::likelihood, Reinforce{}},
      {"hnca", "Hnca{}", Family::enforced, Hnca{}},
      {"hnca(steps=2)", "Hnca{.steps = 2}", Family::enforced, Hnca{.steps = 2}},
      {"hnca(steps=3)", "Hnca{.steps = 3}", Family::enforced, Hnca{.steps = 3}},
      {"hnca(assumption=relaxed)", "Hnca{.assumption = Assumption::relaxed}", Family::relaxed,
       Hnca{.assumption = relaxed}},
      {"hnca(steps=2,assumption=relaxed)", "Hnca{.assumption = Assumption::relaxed, .steps = 2}",
       Family::relaxed, Hnca{.assumption = relaxed, .steps = 2}},
      {"hnca(steps=3,assumption=relaxed)", "Hnca{.assumption = Assumption::relaxed, .steps = 3}",
       Family::relaxed, Hnca{.assumption = relaxed, .steps = 3}},
      {"hindsight-credit", "HindsightCredit{}", Family::relaxed, HindsightCredit{}},
      {"straight-through", "StraightThrough{}", Family::straight, StraightThrough{}},
      {"straight-through(through=identity)", "StraightThrough{Surrogate::identity}", Family::straight,
       StraightThrough{Surrogate::identity}},
      {"straight-through(through=clipped)", "StraightThrough{Surrogate::clipped}", Family::straight,
       StraightThrough{Surrogate::clipped}},
  };
}

std::vector<NamedKind> all_kinds() {
  const Bernoulli sign, bit{.values = zero_one}, two_bits{.units = 2, .values = zero_one};
  const Categorical three{.classes = 3}, two{.classes = 2};
  const Table table{.rows = {{0.3, 0.7}, {0.6, 0.4}}};
  return {
      {"Bernoulli of -1 and 1", sign, SineVote{}},
      {"two Bernoulli units of 0 and 1", two_bits, bit},
      {"Categorical", three, two},
      {"Table", table, sign},
      {"a node of one's own", SineVote{}, sign},
      {"Bernoulli behind Tanh", sign, bit, Tanh{}},
      {"Categorical behind Relu", three, sign, Relu{2}},
      {"Table behind Sigmoid", table, two, Sigmoid{}},
      {"a node of one's own, written for chunks", ChunkSineVote{}, sign},
      {"a node of one's own behind Identity", SineVote{}, sign, Identity{}},
      {"Bernoulli behind a function of one's own", bit, sign, SquareSums{}},
  };
}

std::vector<NamedBaseline> all_baselines() {
  return {{"", NoBaseline{}},
          {"running-mean(decay=0.9)", RunningMean{.decay = 0.9}},
          {"leave-one-out(samples=2)", LeaveOneOut{.samples = 2}},
          {"linear-critic", LinearCritic{}}};
}

std::vector<NamedRewards> all_rewards() {
  constexpr Access below = Access::below, itself = Access::itself;
  return {{"black box below", below, {}},
          {"black box of the node", itself, {}},
          {"known below", {}, below},
          {"known of the node", {}, itself},
          {"black box below, known below", below, below},
          {"black box below, known of the node", below, itself},
          {"black box of the node, known below", itself, below},
          {"black box of the node, known of the node", itself, itself}};
}

std::vector<Situation> all_situations() {
  return {Situation::holds, Situation::violated, Situation::silent_child, Situation::childless};
}

std::string to_string(Situation situation) {
  constexpr const char* names[] = {"Assumption 1 holds", "Assumption 1 is violated",
                                   "a child without backpropagate", "no children"};
  return names[static_cast<int>(situation)];
}

bool is_refused(Expected expected) {
  return expected == Expected::policy || expected == Expected::reads_node || expected == Expected::no_slope;
}

/// Sections of docs/theory.md:
///   1  REINFORCE needs nothing
///   3  the product over children is unbiased without Assumption 1, and refused by Hnca{} as a policy
///   4  a black box that reads the node biases hindsight, children or not; a known reward does not;
///      a node without a route to the reward is not credited
///   7  there is no slope where a reward reads the node, known or not, nor from a child without
///      backpropagate; straight-through is biased everywhere else, and needs no assumption
///   9  several steps are as unbiased as one
Expected expected(Family family, Access access, bool is_known, Situation situation) {
  constexpr Expected fine = Expected::unbiased, bias = Expected::biased, idle = Expected::idle,
                     rule = Expected::policy, read = Expected::reads_node, flat = Expected::no_slope;
  constexpr Expected table[4][4][4] = {
      // holds, violated, silent_child, childless
      {{fine, fine, fine, idle},   // likelihood: black box below
       {fine, fine, fine, fine},   //             black box of the node
       {fine, fine, fine, idle},   //             known below
       {fine, fine, fine, fine}},  //             known of the node
      {{fine, rule, fine, idle},   // enforced
       {read, read, read, read},   //
       {fine, rule, fine, idle},   //
       {fine, rule, fine, fine}},  //
      {{fine, fine, fine, idle},   // relaxed
       {read, read, read, read},   //
       {fine, fine, fine, idle},   //
       {fine, fine, fine, fine}},  //
      {{bias, bias, flat, idle},   // straight
       {flat, flat, flat, flat},   //
       {bias, bias, flat, idle},   //
       {flat, flat, flat, flat}},
  };
  const int reward = 2 * (is_known ? 1 : 0) + (access == Access::itself ? 1 : 0);
  return table[static_cast<int>(family)][reward][static_cast<int>(situation)];
}

SmallGraph small_graph(const NamedKind& kind, Situation situation, const NamedRewards& rewards) {
  return CombinationBuilder(kind, situation).build(rewards);
}

bool can_paste(const std::string& line) { return line.starts_with(for_node); }

void paste(SmallGraph& small, const std::string& line, std::span<const NamedEstimator> estimators) {
  std::string_view rest = std::string_view(line).substr(for_node.size());
  const auto reward = [&]() -> std::optional<RewardId> {
    for (const RewardId candidate : small.rewards) {
      const std::string argument = small.graph.name(candidate) + ", ";
      if (!rest.starts_with(argument)) continue;
      rest.remove_prefix(argument.size());
      return candidate;
    }
    return std::nullopt;
  }();
  const auto choose = [&](const EstimatorChoice& choice) {
    if (reward)
      small.graph.estimate_with(small.node, *reward, choice);
    else
      small.graph.estimate_with(small.node, choice);
  };
  for (const NamedEstimator& estimator : estimators)
    if (rest.starts_with(estimator.expression + ");")) return choose(estimator.choice);
  for (const RewardId other : small.rewards)
    if (rest.starts_with("graph.choice(a, " + small.graph.name(other) + "));"))
      return choose(small.graph.choice(small.node, other));
  throw std::runtime_error("no line that could be pasted: " + line);
}

}  // namespace hindsight::testing
