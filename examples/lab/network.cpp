#include "lab/network.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lab/methods.hpp"

namespace hindsight::lab {
namespace {

[[noreturn]] void refuse_option(std::string message, std::string help) {
  refuse({.code = "option", .message = std::move(message), .help = {std::move(help)}});
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

TwoValues parse_values(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma != std::string::npos) {
    const auto zero = number(std::string_view(text).substr(0, comma)),
               one = number(std::string_view(text).substr(comma + 1));
    if (zero && one) return {*zero, *one};
  }
  refuse_option(fmt::format("'{}' is not two numbers", text), "--values -1,1   # or 0,1");
}

AnyNode hidden_layer(const NetworkOptions& options, int units) {
  if (options.method == "backprop-tanh") return Tanh{units};
  if (options.method == "backprop-relu") return Relu{units};
  if (options.method == "backprop-sigmoid") return Sigmoid{units};
  return Bernoulli{.units = units, .values = parse_values(options.values)};
}

std::optional<NodeId> find(const Graph& graph, const std::string& name) {
  for (int i = 0; i < graph.node_count(); ++i)
    if (graph.name(NodeId{i}) == name) return NodeId{i};
  return std::nullopt;
}

}  // namespace

Network layered_network(const NetworkOptions& options, int features, int classes) {
  const std::vector<std::string> methods = method_names();
  if (std::find(methods.begin(), methods.end(), options.method) == methods.end())
    refuse_option(fmt::format("there is no method '{}'", options.method),
                  fmt::format("--method one of: {}", fmt::join(methods, ", ")));
  Network network;
  NodeId last = network.input = network.graph.input("x", features);
  for (std::size_t i = 0; i < options.hidden.size(); ++i)
    last = network.graph.add(fmt::format("h{}", i + 1), hidden_layer(options, options.hidden[i]), {last});
  network.output = network.graph.add("output", Categorical{.classes = classes}, {last});
  network.reward = network.graph.reward("correct", {network.output});
  if (options.method == "reinforce") use_reinforce(network);
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
  const auto found = find(network.graph, node);
  if (!found) {
    std::vector<std::string> names;
    for (int i = 0; i < network.graph.node_count(); ++i)
      if (network.graph.is_stochastic({i})) names.push_back(network.graph.name(NodeId{i}));
    refuse_option(fmt::format("there is no node '{}' to estimate", node),
                  fmt::format("--estimator NODE={}   # NODE one of: {}", estimator, fmt::join(names, ", ")));
  }
  std::vector<std::string> known;
  const Catalogue catalogue = standard_catalogue();
  for (const AnyEstimator& offered : catalogue.offered()) {
    if (offered.name() == estimator) {
      network.graph.estimate_with(*found, offered);
      return;
    }
    known.push_back(offered.name());
  }
  refuse_option(fmt::format("there is no estimator '{}'", estimator),
                fmt::format("--estimator {}=NAME   # NAME one of: {}", node, fmt::join(known, ", ")));
}

void use_reinforce(Network& network) {
  for (int i = 0; i < network.graph.node_count(); ++i)
    if (network.graph.is_stochastic({i})) network.graph.estimate_with({i}, Reinforce{});
}

}  // namespace hindsight::lab
