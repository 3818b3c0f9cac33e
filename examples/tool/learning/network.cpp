#include "tool/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tool/methods.hpp"

namespace hindsight::tool {
namespace {

constexpr std::string_view backprop = "backprop-";

[[noreturn]] void refuse_option(std::string message, std::string help) {
  refuse({.code = "option", .message = std::move(message), .help = {std::move(help)}});
}

TwoValues parse_values(const std::string& text) {
  std::vector<double> values;
  try {
    values = to_numbers(text, "values");
  } catch (const Error&) {  // is said below in words of the command line
  }
  if (values.size() != 2)
    refuse_option(fmt::format("'{}' is not two numbers", text), "--values -1,1   # or 0,1");
  for (const double value : values)
    if (!std::isfinite(static_cast<float>(value)))
      refuse_option(fmt::format("'{}': {:g} is infinite as a float, which holds up to {:.2g}", text, value,
                                std::numeric_limits<float>::max()),
                    "--values -1,1   # or 0,1");
  return {values[0], values[1]};
}

AnyNode hidden_layer(const NetworkOptions& options, int units) {
  if (options.method == "backprop-tanh") return Tanh{units};
  if (options.method == "backprop-relu") return Relu{units};
  if (options.method == "backprop-sigmoid") return Sigmoid{units};
  return Bernoulli{.units = units, .values = parse_values(options.values)};
}

/// None: backpropagation, which is a matter of the layers, or the graph file's own choices.
std::optional<CreditMethod> credit_method(const NetworkOptions& options) {
  std::vector<std::string> others{own_method};
  if (options.graph.empty()) {
    others = method_names();
    std::erase_if(others, [](const std::string& name) { return !name.starts_with(backprop); });
  }
  if (std::find(others.begin(), others.end(), options.method) != others.end()) return std::nullopt;
  CreditMethod method = parse_credit_method(options.method, others);
  if (method.baseline && !options.baseline.empty())
    refuse_option(fmt::format("method '{}' has a baseline already", options.method),
                  fmt::format("--method \"{}\"   # without --baseline", method_name(method)));
  return method;
}

[[noreturn]] void refuse_graph(const std::string& problem) {
  refuse(
      {.code = "graph-cannot-classify",
       .message = fmt::format("the graph cannot learn to classify these images: {}", problem),
       .help = {"x [kind=input units=784]; y [kind=categorical classes=10]; r [kind=reward]; x -> y -> r;"}});
}

/// x ─→ h1 ─→ … ─→ output ─→ correct
Network layered_network(const NetworkOptions& options, int features, int classes) {
  Network network;
  NodeId last = network.input = network.graph.input("x", features);
  for (std::size_t i = 0; i < options.hidden.size(); ++i)
    last = network.graph.add(fmt::format("h{}", i + 1), hidden_layer(options, options.hidden[i]), {last});
  network.output = network.graph.add("output", Categorical{.classes = classes}, {last});
  network.reward = network.graph.reward("correct", {network.output});
  return network;
}

Network other_network(const NetworkOptions& options, int features, int classes) {
  if (!options.graph.empty() && !options.topology.empty())
    refuse_option("a network is a graph from a file or a topology, not both", "--topology small-world");
  if (options.topology.empty())
    return as_classifier(parse_graph(options.graph, GraphFormat::dot, standard_catalogue()), features,
                         classes);
  Topology topology = make_topology(options.topology, image_parts(options, features, classes));
  return {std::move(topology.graph), topology.input, topology.output, topology.reward};
}

}  // namespace

Network as_classifier(Graph graph, int features, int classes) {
  Network network;
  std::vector<NodeId> inputs;
  for (const NodeId node : graph.nodes())
    if (graph.is_input(node)) inputs.push_back(node);
  if (inputs.size() != 1) refuse_graph(fmt::format("it has {} inputs, not one", inputs.size()));
  network.input = inputs.front();
  if (const int units = graph.shape(network.input).units; units != features)
    refuse_graph(fmt::format("its input '{}' has {} units, an image {} pixels", graph.name(network.input),
                             units, features));
  if (graph.reward_count() != 1)
    refuse_graph(fmt::format("it has {} rewards, not one", graph.reward_count()));
  network.reward = {0};
  const auto reads = graph.reads(network.reward);
  if (reads.size() != 1)
    refuse_graph(fmt::format("its reward '{}' reads {} nodes, not the one that names the class",
                             graph.name(network.reward), reads.size()));
  network.output = reads.front();
  const NodeShape& shape = graph.shape(network.output);
  if (!graph.is_stochastic(network.output) || shape.units != 1 || shape.outcome_count() != classes)
    refuse_graph(fmt::format("'{}', which its reward reads, is not a single unit with {} outcomes",
                             graph.name(network.output), classes));
  network.graph = std::move(graph);
  return network;
}

TopologyParts image_parts(const NetworkOptions& options, int features, int classes) {
  return {.inputs = features,
          .hidden = [options](int units) { return hidden_layer(options, units); },
          .output = Categorical{.classes = classes}};
}

Network make_network(const NetworkOptions& given, int features, int classes) {
  NetworkOptions options = given;
  options.method = trimmed(given.method);
  const std::optional<CreditMethod> method = credit_method(options);
  Network network = options.graph.empty() && options.topology.empty()
                        ? layered_network(options, features, classes)
                        : other_network(options, features, classes);
  if (method) credit_by(network.graph, *method);
  if (options.baseline == "none")
    network.graph.baseline(network.reward, NoBaseline{});
  else if (!options.baseline.empty())
    network.graph.baseline(network.reward, standard_catalogue().baseline(options.baseline));
  for (const std::string& choice : options.estimators) {
    const std::size_t equals = choice.find('=');
    if (equals == std::string::npos)
      refuse_option(fmt::format("'{}' does not name a node and an estimator", choice),
                    "--estimator h1=reinforce");
    choose_estimator(network, choice.substr(0, equals), choice.substr(equals + 1));
  }
  return network;
}

void choose_estimator(Network& network, const std::string& node, const std::string& estimator) {
  const auto found = network.graph.find(node);
  if (!found) {
    std::vector<std::string> names;
    for (const NodeId other : network.graph.nodes())
      if (network.graph.is_stochastic(other)) names.push_back(network.graph.name(other));
    refuse_option(fmt::format("there is no node '{}' to estimate", node),
                  fmt::format("--estimator NODE={}   # NODE one of: {}", estimator, fmt::join(names, ", ")));
  }
  const Catalogue catalogue = standard_catalogue();
  const std::optional<AnyEstimator> offered = catalogue.estimator(estimator);
  if (!offered)
    refuse_option(fmt::format("there is no estimator '{}'", estimator),
                  fmt::format("--estimator {}=NAME   # NAME one of: {}", node,
                              fmt::join(catalogue.estimator_names(), ", ")));
  estimate_everywhere(network.graph, *found, *offered);
}

}  // namespace hindsight::tool
