//  x ─→ a ─→ c ─→ y ─→ correct      the network is a boost::adjacency_list,
//  └──→ b ────────↗                 what it learns, the exclusive or of two signs, lies in Eigen matrices
#include <string>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <hindsight/graph/boost.hpp>
#include <hindsight/hindsight.hpp>
using namespace hindsight;

int main() {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, std::string> network;
  const auto x = add_vertex("x", network), y = add_vertex("y", network), a = add_vertex("a", network),
             b = add_vertex("b", network), c = add_vertex("c", network);
  for (const auto& [from, to] : {std::pair(x, a), {x, b}, {a, c}, {c, y}, {b, y}})
    add_edge(from, to, network);

  Graph graph;  // parents are made before children, whatever the order of vertices
  const std::vector<NodeId> node = add_vertices(network, [&](auto vertex, const std::vector<Edge>& parents) {
    if (vertex == x) return graph.input("x", 2);
    if (vertex == y) return graph.add("y", Categorical{.classes = 2}, parents);
    return graph.add(network[vertex], Bernoulli{.units = 8}, parents);
  });
  const RewardId correct = graph.reward("correct", {node[y]});

  const Eigen::MatrixXf signs = Eigen::MatrixXf{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}.replicate(25, 1);
  const Eigen::ArrayXi differ = Eigen::ArrayXi{{0, 1, 1, 0}}.replicate(25, 1);
  Model model = compile(graph, {.seed = 1});
  Workspace run = model.workspace(100);
  for (int step = 0; step <= 1000; ++step) {
    model.forward(run, {{node[x], signs}});
    const Eigen::ArrayXf score = (as_eigen(run.outcomes(node[y])).array() == differ).cast<float>();
    if (step % 200 == 0) fmt::print("step {:>4}: {:.0f} % right\n", step, 100 * score.mean());
    model.backward(run, {{correct, score}});
    as_eigen(model.parameters()) += as_eigen(run.gradient());
  }
}
