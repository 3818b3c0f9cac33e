#include <memory>

#include <fmt/format.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/transitive_closure.hpp>

#include <hindsight/hindsight.hpp>

#include "dags.hpp"
#include "memory.hpp"
#include "networks.hpp"
#include "suites.hpp"

namespace hindsight::benchmarks {
namespace {

class Finding {
 public:
  explicit Finding(const Dag& dag) : graph_(neurons(dag)) {}
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
  explicit Validation(const Dag& dag) : graph_(neurons(dag)) {}
  void step() { benchmark::DoNotOptimize(validate(graph_)); }

 private:
  Graph graph_;
};

class Compilation {
 public:
  explicit Compilation(const Dag& dag) : graph_(neurons(dag)) {}
  void step() { benchmark::DoNotOptimize(compile(graph_).parameters().data()); }

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
std::string add_slow(const std::string& name, int repetitions, std::function<Dag()> make,
                     const Counters& counters = {}) {
  add_benchmark(name, counters, [make] { return std::make_unique<Work>(make()); })
      ->Iterations(1)
      ->Repetitions(repetitions);
  return name;
}

constexpr int fan_in = 20;

/// Nodes that read twenty of those before them: of the last 2,000, or of all.
Dag twenty_of_the_last(std::size_t edges) {
  return local_dag(static_cast<int>(edges) / fan_in, fan_in, 2000);
}
Dag twenty_of_all(std::size_t edges) { return random_dag(static_cast<int>(edges) / fan_in, edges); }

std::vector<Row> growth_of_neurons(const std::string& kind, const std::string& text,
                                   Dag (*make)(std::size_t)) {
  Names compiled, validated;
  for (const std::size_t edges : {100'000, 300'000, 1'000'000, 3'000'000}) {
    const auto at_size = [=] { return make(edges); };
    const Counters counters{{"edges", static_cast<double>(edges)}};
    const auto name = [&](const char* what) { return fmt::format("neurons/{}/{}/{}", kind, what, edges); };
    compiled.push_back(add_slow<Compilation>(name("compile"), 5, at_size, counters));
    validated.push_back(add_slow<Validation>(name("validate"), 5, at_size, counters));
  }
  const std::string memory =
      add_memory_benchmark(fmt::format("neurons/{}/memory", kind), "neurons_" + kind, 3'000'000);
  const Target gentle{.most = 1.15};
  return {exponent("m", text + ", 10^5 … 3·10^6 edges: exponent of the time of compile", gentle, compiled,
                   "edges"),
          exponent("m", "the same, of the time of validate", gentle, validated, "edges"),
          quotient("m", "3·10^6 edges: bytes of peak memory per edge for graph, report and model", memory,
                   "bytes", "edges", {.most = 150})};
}

}  // namespace

std::size_t measure_neurons_memory(const std::string& kind, std::size_t edges) {
  const Dag dag = kind == "neurons_local" ? twenty_of_the_last(edges) : twenty_of_all(edges);
  forget_peak_memory();
  const std::size_t before = peak_memory();
  const Graph graph = neurons(dag);
  const Model model = compile(graph);
  benchmark::DoNotOptimize(model.report().nodes.size());
  return peak_memory() - before;
}

std::size_t measure_validation_memory(std::size_t edges) {
  const std::size_t before = peak_memory();  // libtorch and the other peers
  const Graph graph = neurons(random_dag(static_cast<int>(edges / 10), edges));
  const Violations violations = find_violations(graph);
  benchmark::DoNotOptimize(violations.edge_count() + validate(graph).nodes.size());
  return peak_memory() - before;
}

std::vector<Row> validation() {
  const auto small = [] { return random_dag(20'000, 200'000); };
  const auto large = [] { return random_dag(100'000, 1'000'000); };
  const auto local = [] { return local_dag(1'000'000, 3, 50); };
  constexpr double bytes_per_megabyte = 1e6;
  std::vector<Row> rows = {
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
  for (const std::vector<Row>& grown :
       {growth_of_neurons("local", "neurons that read 20 of the last 2,000", twenty_of_the_last),
        growth_of_neurons("random", "neurons that read 20 of all before them", twenty_of_all)})
    rows.insert(rows.end(), grown.begin(), grown.end());
  return rows;
}

}  // namespace hindsight::benchmarks
