#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <hindsight/graph/graph_file.hpp>

namespace hindsight {
namespace {

/// As DOT writes it: bare where that is the same, in quotes otherwise.
std::string id(std::string_view text) {
  constexpr std::array<std::string_view, 6> keywords{"node",    "edge",     "graph",
                                                     "digraph", "subgraph", "strict"};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_bare = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
  };
  const std::string lower = lower_case(text);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto is_digits = [&](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_digit);
  };
  const bool is_number =
      is_digits(text.substr(0, point)) && (point == text.size() || is_digits(text.substr(point + 1)));
  const bool is_word = !text.empty() && !is_digit(text[0]) &&
                       std::all_of(text.begin(), text.end(), is_bare) &&
                       std::find(keywords.begin(), keywords.end(), lower) == keywords.end();
  if (is_number || is_word) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string list(const Attributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", id(name), id(value));
  return text.empty() ? "" : fmt::format(" [{}]", text);
}

class DotWriter {
 public:
  DotWriter(const Graph& graph, const Catalogue& catalogue) : graph_(graph), catalogue_(catalogue) {}

  std::string run() {
    text_ = "digraph hindsight {\n";
    for (int i = 0; i < graph_.node_count(); ++i)
      text_ += fmt::format("  {}{};\n", id(graph_.name(NodeId{i})), list(describe(NodeId{i})));
    for (int i = 0; i < graph_.reward_count(); ++i)
      text_ += fmt::format("  {}{};\n", id(graph_.name(RewardId{i})), list(describe(RewardId{i})));
    for (int i = 0; i < graph_.node_count(); ++i)
      for (const Graph::Parent& parent : graph_.parents({i}))
        text_ += fmt::format("  {} -> {}{};\n", id(graph_.name(parent.node)), id(graph_.name(NodeId{i})),
                             list(describe(parent)));
    for (int i = 0; i < graph_.reward_count(); ++i)
      for (const NodeId node : graph_.reads({i}))
        text_ += fmt::format("  {} -> {};\n", id(graph_.name(node)), id(graph_.name(RewardId{i})));
    return std::move(text_) + "}\n";
  }

 private:
  Attributes describe(NodeId node) const {
    Attributes attributes;
    if (graph_.is_input(node)) {
      attributes.set("kind", "input");
      if (graph_.shape(node).units != 1) attributes.set("units", graph_.shape(node).units);
      return attributes;
    }
    if (auto known = catalogue_.describe(*graph_.node(node)))
      attributes = std::move(*known);
    else
      refuse({.code = "cannot-write",
              .node = graph_.name(node),
              .message = fmt::format("its kind, {}, is not in the catalogue, so no file could bring it back",
                                     graph_.kind(node)),
              .help = {"catalogue.know<MyNode>();   // with read and write, see docs/graph_files.md"}});
    if (const auto& chosen = graph_.choice(node).chosen())
      attributes.set("estimator", name_of(node, *chosen));
    for (int i = 0; i < graph_.reward_count(); ++i)
      if (const RewardId reward{i}; graph_.has_own_choice(node, reward)) {
        const auto& chosen = graph_.choice(node, reward).chosen();
        attributes.set("estimator:" + graph_.name(reward), chosen ? name_of(node, *chosen) : "auto");
      }
    if (const BaselineChoice* const chosen = graph_.chosen_baseline(node))
      attributes.set("baseline", name_of(graph_.name(node), *chosen));
    for (int i = 0; i < graph_.reward_count(); ++i)
      if (const BaselineChoice* const chosen = graph_.chosen_baseline(node, {i}))
        attributes.set("baseline:" + graph_.name(RewardId{i}), name_of(graph_.name(node), *chosen));
    return attributes;
  }

  Attributes describe(RewardId reward) const {
    if (graph_.is_known(reward))
      refuse({.code = "cannot-write",
              .message = fmt::format("reward '{}' is known, and no file could bring its function back",
                                     graph_.name(reward)),
              .help = {fmt::format("graph.reward(\"{}\", {{…}});   // a black box, in a graph to be written",
                                   graph_.name(reward))}});
    Attributes attributes;
    attributes.set("kind", "reward");
    if (const BaselineChoice* const chosen = graph_.chosen_baseline(reward))
      attributes.set("baseline", name_of(graph_.name(reward), *chosen));
    return attributes;
  }

  std::string name_of(const std::string& owner, const BaselineChoice& choice) const {
    const auto& chosen = choice.chosen();
    if (!chosen) return "none";
    try {
      if (catalogue_.baseline(chosen->name()) == *chosen) return chosen->name();
    } catch (const Error&) {  // its name means nothing to the catalogue: said below
    }
    refuse({.code = "cannot-write",
            .node = owner,
            .message = fmt::format(
                "its baseline, {}, is not in the catalogue, so no file could bring it back", chosen->name()),
            .help = {"catalogue.know<MyBaseline>();   // with kind and read"}});
  }

  std::string name_of(NodeId node, const AnyEstimator& estimator) const {
    if (const auto known = catalogue_.estimator(estimator.name()); known && *known == estimator)
      return estimator.name();
    refuse(
        {.code = "cannot-write",
         .node = graph_.name(node),
         .message = fmt::format("its estimator, {}, is not in the catalogue, so no file could bring it back",
                                estimator.name()),
         .help = {"catalogue.offer(MyEstimator{});   // comparable by =="}});
  }

  static Attributes describe(const Graph::Parent& parent) {
    Attributes attributes;
    if (!parent.connectivity) return attributes;
    if (const auto& drawn = parent.connectivity->drawn_from()) {
      attributes.set("density", std::array{drawn->density});
      attributes.set("seed", std::to_string(drawn->seed));
      return attributes;
    }
    std::string pairs;
    for (int unit = 0; unit < parent.connectivity->child_units(); ++unit)
      for (const int read : parent.connectivity->parents_of(unit))
        pairs += fmt::format("{}{}>{}", pairs.empty() ? "" : " ", read, unit);
    attributes.set("pattern", std::move(pairs));
    return attributes;
  }

  const Graph& graph_;
  const Catalogue& catalogue_;
  std::string text_;
};

}  // namespace

std::string to_dot(const Graph& graph, const Catalogue& catalogue) {
  return DotWriter(graph, catalogue).run();
}

}  // namespace hindsight
