#include <memory>

#include "networks.hpp"
#include "suites.hpp"
#include "torch_suite.hpp"

namespace hindsight::benchmarks {
namespace {

constexpr int batch = 16;

void add(const std::string& name, const std::function<Network()>& build, const Images& images,
         int samples = batch) {
  add_benchmark(name, {{"samples", samples}},
                [=, &images] { return std::make_unique<Trainer>(build(), samples, images); });
}

}  // namespace

std::vector<Row> paper_networks(const Data& data) {
  std::vector<Row> rows;
  const Layers networks[] = {{784, 64, 10}, {784, 64, 64, 10}, {784, 64, 64, 64, 10}};
  for (const Layers& layers : networks) {
    const std::string name = name_of(layers), prefix = "paper/" + name;
    const std::string hnca = prefix + "/hnca", reinforce = prefix + "/reinforce", torch = prefix + "/torch/";
    add(
        hnca, [layers] { return layered(layers); }, data.mnist);
    add(
        reinforce, [layers] { return with_reinforce(layered(layers)); }, data.mnist);
    add_torch_peers(prefix, layers, batch, data.mnist, TorchPeers::all);

    rows.push_back(ratio("a", name + ": fastest libtorch HNCA / HNCA", {.least = 5},
                         {torch + "literal", torch + "flip", torch + "factored"}, {hnca}));
    rows.push_back(
        ratio("a", name + ": libtorch backprop by hand / HNCA", {.least = 2}, {torch + "backprop"}, {hnca}));
    rows.push_back(
        ratio("a", name + ": libtorch autograd backprop / HNCA", {}, {torch + "autograd"}, {hnca}));
    rows.push_back(ratio("a", name + ": our closed form in libtorch / HNCA", {}, {torch + "closed"}, {hnca}));
    rows.push_back(ratio("b", name + ": HNCA / REINFORCE", {.most = 2}, {hnca}, {reinforce}));
  }

  const Layers& middle = networks[1];
  const std::string prefix = "paper/" + name_of(middle);
  add(
      prefix + "/neuron_by_neuron", [middle] { return neuron_by_neuron(middle); }, data.mnist);
  add(
      prefix + "/dense_inputs", [middle] { return layered(middle); }, data.dense);
  rows.push_back(ratio("g", name_of(middle) + ": neuron by neuron / populations", {.most = 1.3},
                       {prefix + "/neuron_by_neuron"}, {prefix + "/hnca"}));
  rows.push_back(ratio("h", name_of(middle) + ": " + data.mnist.source + " / no zeros", {.most = 1},
                       {prefix + "/hnca"}, {prefix + "/dense_inputs"}));
  return rows;
}

}  // namespace hindsight::benchmarks
