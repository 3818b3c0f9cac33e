#include <hindsight/graph/graph.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/index.hpp>

namespace hindsight {
namespace {

const EstimatorChoice automatic;  ///< where no estimator was chosen
const BaselineChoice none;        ///< where no baseline was

void check_shape(const std::string& name, const Shape& shape, bool deterministic) {
  if (deterministic) {
    if (shape.encoding == Encoding{}) return;
    refuse({.code = "bad-shape",
            .node = name,
            .message = "it is deterministic, so its shape must not have an encoding: it has no outcomes",
            .help = {"return Shape{.units = 1, .parameters = …} from shape()"}});
  }
  const Encoding& encoding = shape.encoding;
  const auto table = static_cast<std::size_t>(std::max(encoding.outcome_count, 0)) *
                     static_cast<std::size_t>(std::max(encoding.width, 0));
  const bool fits =
      encoding.is_one_hot() ? encoding.width == encoding.outcome_count : encoding.values.size() == table;
  const bool finite =
      std::all_of(encoding.values.begin(), encoding.values.end(), [](double v) { return std::isfinite(v); });
  if (encoding.outcome_count >= 2 && encoding.width >= 1 && fits && finite) return;
  refuse({.code = "bad-shape",
          .node = name,
          .message = fmt::format(
              "its encoding is {} × {} (outcomes × numbers for the children) with {} {}; at least 2 × 1 "
              "is needed, with as many finite values or, for one-hot, none",
              encoding.outcome_count, encoding.width, encoding.values.size(),
              finite ? "values" : "values, not all finite"),
          .help = {"return Shape{.units = 1, .encoding = scalar_encoding({-1, 1})} or "
                   "one_hot_encoding(outcome_count) from shape()"}});
}

/// What a node's own shape() must hold besides an encoding.
void check_parameters(const std::string& name, const Shape& shape) {
  std::set<std::string_view> names;
  double count = 0;
  for (const ParameterBlock& block : shape.parameters) {
    if (block.rows.is_negative() || block.cols.is_negative())
      refuse({.code = "bad-shape",
              .node = name,
              .message = fmt::format("its parameter block '{}' has fewer than 0 rows or columns", block.name),
              .help = {".parameters = {{\"weights\", 3}, {\"bias\", 1}}   // rows, and columns if there are "
                       "several"}});
    count += static_cast<double>(std::size_t{block.rows}) * static_cast<double>(std::size_t{block.cols});
    if (count >= 0x1p63)  // more than can be counted
      refuse({.code = "too-large",
              .node = name,
              .message = fmt::format("its shape has {:.2g} parameters and more", count),
              .help = {"check the rows and columns of its parameter blocks"}});
    if (block.name.empty() || !names.insert(block.name).second)
      refuse({.code = "bad-shape",
              .node = name,
              .message = fmt::format("its shape has two parameter blocks called '{}', or one without a name",
                                     block.name),
              .help = {".parameters = {{\"weights\", 3}, {\"bias\", 1}}   // names of their own"}});
  }
  if (shape.logits < 1)
    refuse({.code = "bad-shape",
            .node = name,
            .message =
                fmt::format("its shape says that a unit forms {} logits; it forms at least 1", shape.logits),
            .help = {".logits = 1"}});
}

/// For one more, or as many as said. Adds a quarter to what there is, where push_back would double it: graphs
/// are large, and most grow only once.
template <class T>
void make_room(std::vector<T>& list, std::size_t more = 1) {
  constexpr std::size_t least = 2;
  if (list.size() + more > list.capacity())
    list.reserve(list.size() + std::max(more, list.size() / 4 + least));
}

}  // namespace

NodeId Graph::input(std::string name, int units) {
  check_name(name);
  check_units(name, units);
  return append({.name = std::move(name),
                 .node = {},
                 .shape = NodeShape({.units = units}),
                 .parents = {},
                 .children = {}});
}

NodeId Graph::add(std::string name, AnyNode node, std::vector<Edge> edges) {
  check_name(name);
  for (const Edge& edge : edges)
    if (!has(edge.parent))
      refuse(
          {.code = "unknown-parent",
           .node = name,
           .message =
               fmt::format("its parent, node number {}, does not exist; {}", edge.parent.index, census()),
           .help = {"add parents first and pass the NodeId that graph.add(…) or graph.input(…) returned"}});
  Entry entry{.name = name, .node = std::move(node), .shape = {}, .parents = {}, .children = {}};
  Wirings wirings;
  entry.parents = resolve(name, *entry.node, edges, wirings);
  const Shape shape = internal::guarded_call({"node-threw", &name, "its shape"},
                                             [&] { return entry.node->shape(parent_shapes(entry.parents)); });
  check_units(name, shape.units);
  check_shape(name, shape, entry.node->is_deterministic());
  check_slopes(name, *entry.node, entry.parents);
  check_parameters(name, shape);
  entry.shape = NodeShape(shape);
  for (const Parent& parent : entry.parents)
    if (parent.connectivity && parent.connectivity->child_units() != entry.shape.units)
      refuse({.code = "bad-shape",
              .node = name,
              .message =
                  fmt::format("its shape has {} units when its parents are dense and {} when they are not",
                              parent.connectivity->child_units(), entry.shape.units),
              .help = {"let shape() give the same number of units whatever ParentShape::connectivity is"}});
  return append(std::move(entry), std::move(wirings));
}

/// All memory is taken before anything changes, so that running out of it leaves the graph as it was.
NodeId Graph::append(Entry entry, Wirings wirings) {
  make_room(nodes_);
  make_room(wirings_, wirings.size());
  for (const Parent& parent : entry.parents) make_room(nodes_[internal::index(parent.node)].children);
  const NodeId added{node_count()};
  names_.emplace(entry.name, added);
  entry.first_unit = static_cast<std::uint32_t>(unit_count());
  entry.first_edge = edge_count();
  if (entry.node) entry.role = entry.node->is_deterministic() ? Role::deterministic : Role::stochastic;
  for (const Parent& parent : entry.parents) nodes_[internal::index(parent.node)].children.push_back(added);
  nodes_.push_back(std::move(entry));
  std::move(wirings.begin(), wirings.end(), std::back_inserter(wirings_));
  return added;
}

RewardId Graph::reward(std::string name, std::vector<NodeId> reads, KnownReward value) {
  if (!value)
    refuse({.code = "empty-reward-function",
            .message = fmt::format("the function of reward '{}' is empty; it cannot be asked", name),
            .help = {fmt::format("graph.reward(\"{}\", {{output}});   // a black box", name)}});
  const RewardId added = reward(std::move(name), std::move(reads));
  rewards_.back().value = std::move(value);
  return added;
}

RewardId Graph::reward(std::string name, std::vector<NodeId> reads) {
  check_name(name);
  if (reads.empty())
    refuse({.code = "reward-reads-nothing",
            .message = fmt::format("reward '{}' reads no node, so nothing could be credited with it", name),
            .help = {fmt::format("graph.reward(\"{}\", {{output}})", name)}});
  for (const NodeId node : reads)
    if (!has(node))
      refuse(
          {.code = "unknown-node",
           .message = fmt::format("reward '{}' reads node number {}, which does not exist; {}", name,
                                  node.index, census()),
           .help = {
               "add what is read first and pass the NodeId that graph.add(…) or graph.input(…) returned"}});
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  make_room(rewards_);
  const RewardId added{reward_count()};
  names_.emplace(name, added);
  rewards_.push_back({std::move(name), std::move(reads), {}});
  return added;
}

void Graph::estimate_with(NodeId node, EstimatorChoice estimator) {
  check_creditable(node, "estimator");
  estimators_.choose(node, std::move(estimator));
}

void Graph::estimate_with(NodeId node, RewardId reward, EstimatorChoice estimator) {
  check_creditable(node, "estimator");
  at(reward);
  estimators_.choose(node, reward, std::move(estimator));
}

const EstimatorChoice& Graph::choice(NodeId node) const {
  at(node);
  const EstimatorChoice* const chosen = estimators_.of(node);
  return chosen ? *chosen : automatic;
}

const EstimatorChoice& Graph::choice(NodeId node, RewardId reward) const {
  at(reward);
  at(node);
  const EstimatorChoice* const chosen = estimators_.for_pair(node, reward);
  return chosen ? *chosen : automatic;
}

void Graph::baseline(RewardId reward, BaselineChoice baseline) {
  at(reward);
  baselines_.choose(reward, std::move(baseline));
}

void Graph::baseline(NodeId node, BaselineChoice baseline) {
  check_creditable(node, "baseline");
  baselines_.choose(node, std::move(baseline));
}

void Graph::baseline(NodeId node, RewardId reward, BaselineChoice baseline) {
  check_creditable(node, "baseline");
  at(reward);
  baselines_.choose(node, reward, std::move(baseline));
}

const BaselineChoice* Graph::chosen_baseline(NodeId node) const {
  at(node);
  return baselines_.of(node);
}

const BaselineChoice* Graph::chosen_baseline(RewardId reward) const {
  at(reward);
  return baselines_.of(reward);
}

const BaselineChoice* Graph::chosen_baseline(NodeId node, RewardId reward) const {
  at(node);
  at(reward);
  return baselines_.of(node, reward);
}

const BaselineChoice& Graph::baseline_of(NodeId node, RewardId reward) const {
  at(node);
  at(reward);
  const BaselineChoice* const chosen = baselines_.for_pair(node, reward);
  return chosen ? *chosen : none;
}

ParentShape Graph::parent_shape(const Parent& parent) const {
  ParentShape shape{
      .name = name(parent.node), .units = at(parent.node).shape.units, .connectivity = parent.connectivity};
  if (is_stochastic(parent.node)) shape.encoding = at(parent.node).shape.encoding;
  return shape;
}

std::vector<ParentShape> Graph::parent_shapes(std::span<const Parent> parents) const {
  std::vector<ParentShape> shapes;
  shapes.reserve(parents.size());
  for (const Parent& parent : parents) shapes.push_back(parent_shape(parent));
  return shapes;
}

std::vector<ParameterBlock> Graph::parameters(NodeId node) const {
  const Entry& entry = at(node);
  if (!entry.node) return {};
  return internal::guarded_call({"node-threw", &entry.name, "its shape"},
                                [&] { return entry.node->shape(parent_shapes(entry.parents)).parameters; });
}

void Graph::check_name(const std::string& name) const {
  if (name.empty())
    refuse({.code = "empty-name",
            .message = "a node or reward has an empty name; reports and parameters could not refer to it",
            .help = {"graph.add(\"hidden\", …)"}});
  const auto bad = [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(name.begin(), name.end(), bad))
    refuse({.code = "bad-name",
            .message = fmt::format(
                "the name {:?} holds a '/' or a control character; '/' separates a node from its parameters",
                name),
            .help = {"use letters, digits, '_', '.' or spaces"}});
  if (const auto found = names_.find(name); found != names_.end()) {
    const NodeId* const node = std::get_if<NodeId>(&found->second);
    refuse({.code = "duplicate-name",
            .message = fmt::format("the name '{}' is taken by {} already", name,
                                   !node             ? "a reward"
                                   : is_input(*node) ? "an input"
                                                     : fmt::format("a {} node", kind(*node))),
            .help = {fmt::format("give each node and reward a name of its own, e.g. \"{}_2\"", name)}});
  }
}

void Graph::check_units(const std::string& name, int units) const {
  if (units < 1)
    refuse({.code = "zero-units",
            .node = name,
            .message = fmt::format("it has {} units; a population has at least 1", units),
            .help = {".units = 1"}});
  constexpr std::size_t most = (std::size_t{1} << 31) - 1;
  if (unit_count() + static_cast<std::size_t>(units) > most)
    refuse({.code = "too-many-units",
            .node = name,
            .message = fmt::format("with its {} units the graph would have {}; {} is the most", units,
                                   unit_count() + static_cast<std::size_t>(units), most),
            .help = {"split the model into several graphs"}});
}

const Graph::Entry& Graph::at(NodeId node) const {
  if (!has(node))
    refuse({.code = "unknown-node",
            .message = fmt::format("node number {} does not exist; {}", node.index, census()),
            .help = {"use the NodeId that graph.add(…) or graph.input(…) returned"}});
  return nodes_[internal::index(node)];
}

const Graph::RewardEntry& Graph::at(RewardId reward) const {
  if (reward.index < 0 || reward.index >= reward_count())
    refuse({.code = "unknown-reward",
            .message = fmt::format("reward number {} does not exist; the graph has {} so far", reward.index,
                                   reward_count()),
            .help = {"use the RewardId that graph.reward(…) returned"}});
  return rewards_[internal::index(reward)];
}

std::string Graph::census() const {
  return fmt::format("the graph has {} {} so far", node_count(), node_count() == 1 ? "node" : "nodes");
}

void Graph::check_slopes(const std::string& name, const AnyNode& node,
                         std::span<const Parent> parents) const {
  if (node.can_backpropagate()) return;
  for (const Parent& parent : parents)
    if (is_deterministic(parent.node))
      refuse({.code = "no-backpropagate",
              .node = name,
              .message =
                  fmt::format("its parent '{}' is deterministic and learns from the slopes that its children "
                              "pass back; a {} node passes none",
                              this->name(parent.node), node.kind()),
              .help = {
                  "give its type a const backpropagate(theta, reading, credit, out); docs/write_a_node.md"}});
}

void Graph::check_creditable(NodeId node, std::string_view what) const {
  if (is_deterministic(node))
    refuse({.code = "no-estimator-here",
            .node = name(node),
            .message = fmt::format(
                "it is deterministic: it learns from the slopes of its children and takes no {}", what),
            .help = {fmt::format("choose {}s for the stochastic nodes that read it", what)}});
  if (is_input(node))
    refuse({.code = "input-has-no-estimator",
            .node = name(node),
            .message = fmt::format("it is an input: it is given, not learned, and takes no {}", what),
            .help = {fmt::format("choose {}s for the nodes that graph.add(…) made", what)}});
}

std::vector<Graph::Parent> Graph::resolve(const std::string& name, const AnyNode& node,
                                          const std::vector<Edge>& edges, Wirings& wirings) const {
  std::vector<Parent> parents;
  parents.reserve(edges.size());
  std::set<NodeId> listed;
  for (const Edge& edge : edges) {
    if (!listed.insert(edge.parent).second)
      refuse(
          {.code = "duplicate-parent",
           .node = name,
           .message = fmt::format("it lists '{}' twice; one edge joins two nodes", this->name(edge.parent)),
           .help = {"list each parent once; Pattern::pairs joins any set of units"}});
    parents.push_back({edge.parent, nullptr});
  }
  const bool sparse =
      std::any_of(edges.begin(), edges.end(), [](const Edge& edge) { return !edge.pattern.is_dense(); });
  if (!sparse) return parents;
  if (!node.reads_patterns())
    refuse({.code = "pattern-unread",
            .node = name,
            .message = fmt::format("a {} node reads all units of its parents; it cannot honour a pattern",
                                   node.kind()),
            .help = {"drop the pattern, or put it on an edge into a Bernoulli or Categorical node that this "
                     "one reads"}});
  const std::vector<ParentShape> dense = parent_shapes(parents);
  const int units =
      internal::guarded_call({"node-threw", &name, "its shape"}, [&] { return node.shape(dense).units; });
  check_units(name, units);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    auto wiring = internal::guarded_call({"node-threw", &name, "its pattern"}, [&] {
      return edges[e].pattern.connect({dense[e].units, first_unit(edges[e].parent)},
                                      {units, static_cast<std::uint32_t>(unit_count())},
                                      std::string(dense[e].name));
    });
    if (wiring)
      parents[e].connectivity =
          wirings.emplace_back(std::make_shared<const Connectivity>(std::move(*wiring))).get();
  }
  return parents;
}

}  // namespace hindsight
