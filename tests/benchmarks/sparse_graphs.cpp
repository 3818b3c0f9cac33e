#include <functional>
#include <memory>

#include <fmt/format.h>

#include "dags.hpp"
#include "instructions.hpp"
#include "networks.hpp"
#include "products.hpp"
#include "suites.hpp"

namespace hindsight::benchmarks {
namespace {

constexpr int batch = 64, nodes = 10'000;
constexpr std::size_t edges = 1'000'000;

/// Every node a single neuron; those without parents read the input. Assumption 1 fails nearly everywhere,
/// hence `relaxed`; what nobody else reads, the reward does.
Network network_of(const Dag& dag, int steps) {
  Network network;
  Graph& graph = network.graph;
  network.input = graph.input("x", 1);
  std::vector<NodeId> ids;
  for (const std::vector<int>& list : dag.parents) {
    std::vector<Edge> parents;
    for (const int parent : list) parents.emplace_back(ids[static_cast<std::size_t>(parent)]);
    if (parents.empty()) parents.emplace_back(network.input);
    ids.push_back(graph.add(fmt::format("n{}", ids.size()), Bernoulli{}, std::move(parents)));
    graph.estimate_with(ids.back(), Hnca{.assumption = Assumption::relaxed, .steps = steps});
  }
  std::vector<NodeId> read;
  for (const int sink : dag.sinks()) {
    read.push_back(ids[static_cast<std::size_t>(sink)]);
    graph.estimate_with(read.back(), Reinforce{});
  }
  network.output = read.back();
  network.reward = graph.reward("reward", read);
  return network;
}

/// A training step on the graph.
class SparseTrainer {
 public:
  explicit SparseTrainer(const Dag& dag, int steps = 1)
      : images_(dense_images(batch, 1)),
        trainer_(network_of(dag, steps), batch, images_),
        label_(fmt::format("{} levels", dag.levels())) {}
  void step() { trainer_.step(); }
  const std::string& label() const { return label_; }

 private:
  Images images_;
  Trainer trainer_;
  std::string label_;
};

/// The fastest that Eigen can do with one weight per edge.
std::unique_ptr<FastestProduct> fastest_eigen(const Dag& dag) {
  std::vector<int> begin{0}, columns;
  for (const std::vector<int>& list : dag.parents) {
    columns.insert(columns.end(), list.begin(), list.end());
    begin.push_back(static_cast<int>(columns.size()));
  }
  const SparsePattern pattern{nodes, begin.data(), columns.data()};
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < sparse_variants.size(); ++i) {
    const auto variant = static_cast<int>(i);
    const auto add = [&](const char* instructions, Product* product) {
      candidates.push_back(
          {fmt::format("{}, {}", sparse_variants[i], instructions), std::unique_ptr<Product>(product)});
    };
    if (cpu_has_avx2()) add("AVX2", avx2::eigen_sparse(pattern, batch, variant));
    if (may_use_avx512()) add("AVX-512", avx512::eigen_sparse(pattern, batch, variant));
  }
  return std::make_unique<FastestProduct>(std::move(candidates));
}

}  // namespace

std::vector<Row> sparse_graphs() {
  struct Case {
    std::string name, text;
    Target target;
    std::function<Dag()> make;
  };
  const Case cases[] = {
      {"shallow",
       "sparse DAG, 10^6 edges in 20 levels",
       {.most = 6},
       [] { return shallow_dag(nodes, 20, edges); }},
      {"random", "the same, fully random: thin levels", {}, [] { return random_dag(nodes, edges); }},
      {"small_world", "the same, small world", {}, [] { return small_world_dag(nodes, 20, edges, 0.1); }}};
  std::vector<Row> rows;
  for (const Case& graph : cases) {
    const std::string prefix = "dag/" + graph.name + "/";
    const Counters counters{{"samples", batch}, {"edges", edges}};
    add_benchmark(prefix + "hnca", counters,
                  [make = graph.make] { return std::make_unique<SparseTrainer>(make()); });
    Names peers;
    if (cpu_has_avx2()) {
      peers.push_back(prefix + "eigen");
      add_benchmark(peers.back(), counters, [make = graph.make] { return fastest_eigen(make()); });
    }
    rows.push_back(ratio("d", graph.text + ": HNCA step / Eigen's sparse product", graph.target,
                         {prefix + "hnca"}, peers));
  }
  // What summing out takes: 10,000 neurons that read and are read by at most four.
  const auto name = [](int steps) { return fmt::format("dag/bounded/hnca_{}", steps); };
  for (const int steps : {1, 2, 3})
    add_benchmark(name(steps), {{"samples", batch}, {"nodes", nodes}},
                  [steps] { return std::make_unique<SparseTrainer>(bounded_dag(nodes, 4, 200), steps); });
  rows.push_back(ratio("l", "sparse DAG, fan-in and fan-out ≤ 4: HNCA step by two steps / by one",
                       {.most = 20}, {name(2)}, {name(1)}));
  rows.push_back(ratio("l", "the same, three steps / one", {}, {name(3)}, {name(1)}));
  return rows;
}

}  // namespace hindsight::benchmarks
