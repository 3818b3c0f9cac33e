#include <array>

#include <fmt/format.h>

#include <hindsight/graph/dot_id.hpp>
#include <hindsight/graph/graph_draft.hpp>
#include <hindsight/graph/graph_file.hpp>

namespace hindsight {
namespace {

using internal::dot_id;

std::string list(const Attributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", dot_id(name), dot_id(value));
  return text.empty() ? "" : fmt::format(" [{}]", text);
}

class DotWriter {
 public:
  DotWriter(const Graph& graph, const Catalogue& catalogue) : graph_(graph), catalogue_(catalogue) {}

  std::string run() {
    text_ = "digraph hindsight {\n";
    for (const NodeId node : graph_.nodes()) check_name(graph_.name(node));
    for (const RewardId reward : graph_.rewards()) check_name(graph_.name(reward));
    for (const NodeId node : graph_.nodes())
      text_ += fmt::format("  {}{};\n", dot_id(graph_.name(node)), list(describe(node)));
    for (const RewardId reward : graph_.rewards())
      text_ += fmt::format("  {}{};\n", dot_id(graph_.name(reward)), list(describe(reward)));
    for (const NodeId node : graph_.nodes())
      for (const Graph::Parent& parent : graph_.parents(node))
        text_ += fmt::format("  {} -> {}{};\n", dot_id(graph_.name(parent.node)), dot_id(graph_.name(node)),
                             list(describe(parent)));
    for (const RewardId reward : graph_.rewards())
      for (const NodeId node : graph_.reads(reward))
        text_ += fmt::format("  {} -> {};\n", dot_id(graph_.name(node)), dot_id(graph_.name(reward)));
    return std::move(text_) + "}\n";
  }

 private:
  static void check_name(const std::string& name) {
    constexpr std::size_t most = internal::GraphDraft::longest_name;
    if (name.size() > most)
      refuse(
          {.code = "cannot-write",
           .node = shortened(name),
           .message = fmt::format("its name has {} bytes; files hold names of up to {}", name.size(), most),
           .help = {"give it a shorter name"}});
  }

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
    for (const RewardId reward : graph_.rewards())
      if (graph_.has_own_choice(node, reward)) {
        const auto& chosen = graph_.choice(node, reward).chosen();
        attributes.set("estimator:" + graph_.name(reward), chosen ? name_of(node, *chosen) : "auto");
      }
    if (const BaselineChoice* const chosen = graph_.chosen_baseline(node))
      attributes.set("baseline", name_of(graph_.name(node), *chosen));
    for (const RewardId reward : graph_.rewards())
      if (const BaselineChoice* const chosen = graph_.chosen_baseline(node, reward))
        attributes.set("baseline:" + graph_.name(reward), name_of(graph_.name(node), *chosen));
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
