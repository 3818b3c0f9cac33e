//  x ─→ a ─→ c ─→ gate ─→ d ─→ y ─→ score      every route to the score passes the gate and y;
//  │    └──→ h ──↗ ↑└───→ e ──↗                between them, and between a and the gate, routes part and meet
//  └──→ b ─────────┘
//
// Boost.Graph's algorithms run on a graph as it is, and say where an estimator is worth its price. Where
// routes part, the next node that all of them pass is found by the dominator tree of the reversed graph; how
// much traffic there is, by betweenness. Looking through what lies between the two is then chosen where it
// pays most, and the oracle says what it is worth.
#include <span>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/betweenness_centrality.hpp>
#include <boost/graph/copy.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/reverse_graph.hpp>

#include <hindsight/graph/boost.hpp>
#include <hindsight/hindsight.hpp>

using namespace hindsight;

/// Per node, the first of all others that every route from it to the reward passes; none: the routes meet
/// only there. A reward is no vertex, so a copy gets one for it, behind all nodes. Every node must lead to
/// the reward.
std::vector<NodeId> meeting_points(const Graph& graph, RewardId reward) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS> network;
  boost::copy_graph(graph, network);
  const auto exit = add_vertex(network);
  for (const NodeId node : graph.reads(reward))
    add_edge(get(boost::vertex_index, graph, node), exit, network);

  std::vector<std::size_t> dominator(num_vertices(network));
  boost::lengauer_tarjan_dominator_tree(boost::make_reverse_graph(network), exit, dominator.data());
  std::vector<NodeId> points;
  for (const NodeId node : graph.nodes()) {
    const std::size_t point = dominator[get(boost::vertex_index, graph, node)];
    points.push_back(point == exit ? NodeId{} : vertex(point, graph));
  }
  return points;
}

/// Exact variance of the gradient, summed over each node's parameters.
std::vector<double> variances(const Graph& graph, NodeId x, NodeId y, RewardId score) {
  const BasicModel<double> model = compile<double>(graph, {.seed = 3});
  const Eigen::RowVector2d features{0.5, -1.0};
  const std::vector<RewardFunction> value{
      {score, [=](const JointOutcome& outcome) { return outcome(y) == 2 ? 1.0 : 0.0; }}};
  const Enumeration exact = enumerate(model, {{x, features}}, value);
  std::vector<double> sums;
  for (const NodeId node : graph.nodes()) {
    const ParameterRange range = model.range(node);
    sums.push_back(as_eigen(std::span(exact.variance).subspan(range.first, range.count)).sum());
  }
  return sums;
}

int main() {
  Graph graph;
  const NodeId x = graph.input("x", 2);
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
  const NodeId b = graph.add("b", Bernoulli{}, {x});
  const NodeId c = graph.add("c", Bernoulli{.units = 2}, {a});
  const NodeId h = graph.add("h", Bernoulli{}, {a});
  const NodeId gate = graph.add("gate", Categorical{.classes = 3}, {c, h, b});
  const NodeId d = graph.add("d", Bernoulli{.units = 2}, {gate});
  const NodeId e = graph.add("e", Bernoulli{.units = 2}, {gate});
  const NodeId y = graph.add("y", Categorical{.classes = 3}, {d, e});
  const RewardId score = graph.reward("score", {y});

  const std::vector<NodeId> meets = meeting_points(graph, score);
  std::vector<double> between(num_vertices(graph));
  boost::brandes_betweenness_centrality(
      graph, boost::make_iterator_property_map(between.begin(), get(boost::vertex_index, graph)));
  const double busy = as_eigen(between).mean();

  const std::vector<double> before = variances(graph, x, y, score);
  const auto level = get(vertex_level, graph);
  for (const NodeId node : graph.nodes()) {
    const std::size_t i = get(boost::vertex_index, graph, node);
    const bool parts = meets[i] != NodeId{} && !edge(node, meets[i], graph).second;
    if (parts && graph.is_stochastic(node) && between[i] > busy)
      graph.estimate_with(node, Hnca{.steps = level[meets[i]] - level[node]});
  }
  const std::vector<double> after = variances(graph, x, y, score);

  fmt::print("node  between  routes meet in  variance by Auto  as chosen\n");
  for (const NodeId node : graph.nodes()) {
    const std::size_t i = get(boost::vertex_index, graph, node);
    fmt::print("{:<6}{:>7.1f}  {:<14}  {:>16.5f}  {:>9.5f}\n", get(boost::vertex_name, graph, node),
               between[i], meets[i] == NodeId{} ? "the reward" : graph.name(meets[i]), before[i], after[i]);
  }
  fmt::print("\n{}\n", validate(graph));
}
