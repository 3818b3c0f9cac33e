#include <functional>
#include <memory>

#include <fmt/format.h>
#include <hindsight/graph/access.hpp>
#include <hindsight/graph/backward_pass.hpp>
#include <hindsight/hindsight.hpp>

#include "instructions.hpp"
#include "products.hpp"
#include "suites.hpp"

namespace hindsight::benchmarks {
namespace {

/// x ─→ a ─→ b ─→ reward: all that there is to send are the messages from b to a.
class MessageKernel {
 public:
  MessageKernel(int units, int batch)
      : model_(compile(build(units), {.seed = 1, .instructions = widest_set()})),
        run_(model_.workspace(batch)) {
    const std::vector<float> ones(static_cast<std::size_t>(batch), 1.0F);
    model_.forward(run_, {{NodeId{0}, ones}});
  }

  void step() {
    internal::send_messages(internal::Pass<float>{
        internal::Access::plan(model_), std::as_const(model_).parameters(), internal::Access::state(run_)});
  }

 private:
  static Graph build(int units) {
    Graph graph;
    const NodeId x = graph.input("x", 1);
    const NodeId a = graph.add("a", Bernoulli{.units = units}, {x});
    const NodeId b = graph.add("b", Bernoulli{.units = units}, {a});
    graph.estimate_with(a, Hnca{});
    graph.estimate_with(b, Reinforce{});
    graph.reward("reward", {b});
    return graph;
  }

  Model model_;
  Workspace run_;
};

using MakeProduct = std::function<std::unique_ptr<Product>(int variant)>;

void add_gemm(const std::string& name, double operations, const MakeProduct& make) {
  add_benchmark(name, {{"edge_samples", operations}}, [make] {
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < dense_variants.size(); ++i)
      candidates.push_back({dense_variants[i], make(static_cast<int>(i))});
    return std::make_unique<FastestProduct>(std::move(candidates));
  });
}

}  // namespace

std::vector<Row> message_kernel() {
  std::vector<Row> rows;
  struct Case {
    int units, batch;
  };
  for (const auto& [units, batch] : {Case{256, 64}, Case{1024, 256}}) {
    const std::string size = fmt::format("{0}x{0}x{1}", units, batch), prefix = "messages/" + size + "/";
    const ProductShape shape{units, units, batch};
    const double edge_samples = static_cast<double>(units) * units * batch;
    add_benchmark(prefix + "hindsight", {{"edge_samples", edge_samples}},
                  [units = units, batch = batch] { return std::make_unique<MessageKernel>(units, batch); });
    Names peers;
    const auto add_peer = [&](const std::string& name, const MakeProduct& make) {
      peers.push_back(prefix + name);
      add_gemm(peers.back(), edge_samples, make);
    };
    if (cpu_has_avx2())
      add_peer("eigen_avx2",
               [=](int variant) { return std::unique_ptr<Product>(avx2::eigen_dense(shape, variant)); });
    if (may_use_avx512())
      add_peer("eigen_avx512",
               [=](int variant) { return std::unique_ptr<Product>(avx512::eigen_dense(shape, variant)); });
    if (cpu_has_avx2()) {
      const auto add_tiles = [&](const std::string& name, Product* (*make)(const ProductShape&)) {
        add_benchmark(prefix + name, {{"edge_samples", edge_samples}},
                      [=] { return std::unique_ptr<Product>(make(shape)); });
      };
      add_tiles("tiles_in_highway", may_use_avx512() ? avx512::highway_messages : avx2::highway_messages);
      add_tiles("tiles_in_eigen", may_use_avx512() ? avx512::eigen_messages : avx2::eigen_messages);
      rows.push_back(ratio("i", "message tiles " + size + ": Eigen's packets / Highway's vectors", {},
                           {prefix + "tiles_in_eigen"}, {prefix + "tiles_in_highway"}));
    }
    if (has_openblas()) add_peer("openblas", [=](int variant) { return openblas_dense(shape, variant); });
    rows.push_back(ratio("c", "messages " + size + " / fastest product of that shape", {.most = 5},
                         {prefix + "hindsight"}, peers));
  }
  return rows;
}

}  // namespace hindsight::benchmarks
