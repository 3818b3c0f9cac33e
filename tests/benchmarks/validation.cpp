#include <memory>

#include <fmt/format.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/transitive_closure.hpp>

#include <hindsight/hindsight.hpp>

#include "dags.hpp"
#include "memory.hpp"
#include "suites.hpp"

namespace hindsight::benchmarks {
namespace {

/// Every node a single neuron; the reward reads what nobody else does. Lists of the DAG are given up one by
/// one, so that they do not count as memory of the graph.
Graph graph_of(Dag dag) {
  const std::vector<int> sinks = dag.sinks();
  Graph graph;
  for (std::size_t i = 0; i < dag.parents.size(); ++i) {
    std::vector<Edge> parents;
    for (const int parent : dag.parents[i]) parents.emplace_back(NodeId{parent});
    dag.parents[i] = {};
    graph.add(fmt::format("n{}", i), Bernoulli{}, std::move(parents));
  }
  std::vector<NodeId> read;
  for (const int sink : sinks) read.push_back({sink});
  graph.reward("reward", std::move(read));
  return graph;
}

class Finding {
 public:
  explicit Finding(const Dag& dag) : graph_(graph_of(dag)) {}
  void step() {
    const Violations violations = find_violations(graph_);
    label_ =
        fmt::format("{} nodes and {} edges at fault", violations.nodes().size(), violations.edge_count());
  }
  const std::string& label() const { return label_; }

 private:
  Graph graph_;
  std::string label_;
};

class Validation {
 public:
  explicit Validation(const Dag& dag) : graph_(graph_of(dag)) {}
  void step() { benchmark::DoNotOptimize(validate(graph_)); }

 private:
  Graph graph_;
};

/// What one would have to ask of Boost.Graph to know which edges are at fault.
class BoostClosure {
 public:
  explicit BoostClosure(const Dag& dag) : digraph_(dag.parents.size()) {
    for (std::size_t child = 0; child < dag.parents.size(); ++child)
      for (const int parent : dag.parents[child])
        boost::add_edge(static_cast<std::size_t>(parent), child, digraph_);
  }
  void step() {
    Digraph closure;
    boost::transitive_closure(digraph_, closure);
    label_ = fmt::format("{} pairs", boost::num_edges(closure));
  }
  const std::string& label() const { return label_; }

 private:
  using Digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Digraph digraph_;
  std::string label_;
};

/// Few repetitions: it takes seconds.
template <class Work>
std::string add_slow(const std::string& name, int repetitions, std::function<Dag()> make) {
  add_benchmark(name, {}, [make] { return std::make_unique<Work>(make()); })
      ->Iterations(1)
      ->Repetitions(repetitions);
  return name;
}

}  // namespace

std::size_t measure_validation_memory(std::size_t edges) {
  const std::size_t before = peak_memory();  // libtorch and the other peers
  const Graph graph = graph_of(random_dag(static_cast<int>(edges / 10), edges));
  const Violations violations = find_violations(graph);
  benchmark::DoNotOptimize(violations.edge_count() + validate(graph).nodes.size());
  return peak_memory() - before;
}

std::vector<Row> validation() {
  const auto small = [] { return random_dag(20'000, 200'000); };
  const auto large = [] { return random_dag(100'000, 1'000'000); };
  const auto local = [] { return local_dag(1'000'000, 3, 50); };
  constexpr double bytes_per_megabyte = 1e6;
  return {
      ratio("k", "2·10^4 nodes, 2·10^5 edges: Boost's transitive closure / all violating edges",
            {.least = 50}, {add_slow<BoostClosure>("validation/closure/boost", 1, small)},
            {add_slow<Finding>("validation/small/find", 5, small)}),
      seconds("k", "random DAG, 10^5 nodes, 10^6 edges: seconds for all violating edges", {.most = 3},
              add_slow<Finding>("validation/random/find", 5, large)),
      seconds("k", "the same: seconds for the whole report", {},
              add_slow<Validation>("validation/random/report", 5, large)),
      counter("k", "the same: MB of peak memory for graph, edges at fault and report", {.most = 300},
              add_memory_benchmark("validation/random/memory", "validation", 1'000'000), "bytes",
              1 / bytes_per_megabyte),
      seconds("k", "local DAG, 10^6 nodes, 3·10^6 edges: seconds for all violating edges", {.most = 10},
              add_slow<Finding>("validation/local/find", 3, local)),
      seconds("k", "the same: seconds for the whole report", {},
              add_slow<Validation>("validation/local/report", 3, local)),
  };
}

}  // namespace hindsight::benchmarks
