//  a ─→ b ─→ c ─→ d ─→ hit      every node may be credited in a way of its own
//
// The same chain under different choices of estimator. The oracle gives the exact variance of each node's
// gradient, so the table below is no simulation.
#include <span>
#include <string>
#include <vector>

#include <hindsight/hindsight.hpp>

using namespace hindsight;

struct Chain {
  Graph graph;
  std::vector<NodeId> nodes;
  RewardId hit;

  Chain() {
    for (const std::string name : {"a", "b", "c", "d"})
      nodes.push_back(graph.add(name, Bernoulli{.units = name == "d" ? 1 : 2},
                                nodes.empty() ? std::vector<Edge>{} : std::vector<Edge>{nodes.back()}));
    hit = graph.reward("hit", {nodes.back()});
  }
};

/// Exact variance of the gradient, summed over a node's parameters, one number per node.
std::vector<double> variances(const Chain& chain) {
  const BasicModel<double> model = compile<double>(chain.graph, {.seed = 3});
  const NodeId d = chain.nodes.back();
  const std::vector<RewardFunction> value{
      {chain.hit, [=](const JointOutcome& outcome) { return outcome(d) == 1 ? 1.0 : 0.0; }}};
  const Enumeration exact = enumerate<double>(model, {}, value);
  std::vector<double> sums;
  for (const NodeId node : chain.nodes) {
    const ParameterRange range = model.range(node);
    sums.push_back(as_eigen(std::span(exact.variance).subspan(range.first, range.count)).sum());
  }
  return sums;
}

int main() {
  fmt::print("{:<34}{:>9}{:>9}{:>9}{:>9}\n", "variance of the gradient of", "a", "b", "c", "d");
  const auto show = [](const std::string& label, const Chain& chain) {
    fmt::print("{:<34}", label);
    for (const double variance : variances(chain)) fmt::print("{:>9.5f}", variance);
    fmt::print("\n");
  };

  Chain automatic;  // Auto: HNCA where it is admissible, REINFORCE at d, which the reward reads
  show("Auto", automatic);

  Chain mixed;
  mixed.graph.estimate_with(mixed.nodes[1], Reinforce{});  // one node by REINFORCE changes that node only
  show("b by REINFORCE", mixed);

  Chain reinforce;
  for (const NodeId node : reinforce.nodes) reinforce.graph.estimate_with(node, Reinforce{});
  show("all by REINFORCE", reinforce);

  fmt::print("\n{}\n", validate(mixed.graph));
}
