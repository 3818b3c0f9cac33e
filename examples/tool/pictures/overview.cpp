#include "tool/overview.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/violations.hpp>

namespace hindsight::tool {
namespace {

/// Beyond so many columns or lines a picture of groups is itself too large to read.
constexpr int most_bands = 24;
constexpr std::size_t most_group_links = 80;
constexpr std::size_t most_examples = 20;

std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// Numbers what credits in a picture.
class Marks {
 public:
  int of(const CreditVerdict& credit) {
    const std::string name = credited_by(credit);
    const auto [known, added] = numbers_.emplace(name, static_cast<int>(list_.size()));
    if (added) list_.push_back({name, tone(credit.estimator)});
    return known->second;
  }
  /// Those of one node, each once.
  std::vector<int> of(const std::vector<const CreditVerdict*>& credits) {
    std::vector<int> found;
    for (const CreditVerdict* credit : credits)
      if (!credit->estimator.empty())
        if (const int mark = of(*credit); std::find(found.begin(), found.end(), mark) == found.end())
          found.push_back(mark);
    return found;
  }
  std::vector<Mark> list() { return std::move(list_); }

 private:
  int tone(const std::string& estimator) {
    constexpr std::array<std::string_view, 3> fixed{"hnca", "reinforce", "hnca(assumption=relaxed)"};
    const auto found = std::find(fixed.begin(), fixed.end(), estimator);
    if (found != fixed.end()) return static_cast<int>(found - fixed.begin());
    const int own = static_cast<int>(fixed.size());
    return others_.emplace(estimator, own + static_cast<int>(others_.size()) % (tones - own)).first->second;
  }

  std::unordered_map<std::string, int> numbers_;
  std::vector<Mark> list_;
  std::unordered_map<std::string, int> others_;  ///< their tones
};

/// What the report says, by node.
class Findings {
 public:
  explicit Findings(const Report& report) {
    for (const NodeSummary& node : report.nodes) summaries_.emplace(node.name, &node);
    for (const CreditVerdict& credit : report.credits) credits_[credit.node].push_back(&credit);
  }
  /// None where the validator saw nothing to examine.
  const NodeSummary* summary(const std::string& node) const {
    const auto found = summaries_.find(node);
    return found == summaries_.end() ? nullptr : found->second;
  }
  const std::vector<const CreditVerdict*>& credits(const std::string& node) const {
    const auto found = credits_.find(node);
    return found == credits_.end() ? none_ : found->second;
  }

 private:
  std::unordered_map<std::string_view, const NodeSummary*> summaries_;
  std::unordered_map<std::string_view, std::vector<const CreditVerdict*>> credits_;
  std::vector<const CreditVerdict*> none_;
};

Look look(Role role) {
  switch (role) {
    case Role::input:
      return Look::input;
    case Role::deterministic:
      return Look::deterministic;
    default:
      return Look::stochastic;
  }
}

int level_count(const std::vector<int>& level) {
  return level.empty() ? 0 : 1 + *std::max_element(level.begin(), level.end());
}

ItemLink link(const Graph& graph, const Graph::Parent& parent, NodeId child) {
  const std::size_t all = index(graph.shape(parent.node).units) * index(graph.shape(child).units);
  return {.from = parent.node.index,
          .to = child.index,
          .sparse = parent.connectivity != nullptr,
          .pairs = parent.connectivity ? parent.connectivity->pairs() : all,
          .all_pairs = all};
}

Proof proof(const Graph& graph, const Violation& violation) {
  Proof proof{.node = violation.node.node.index,
              .child = violation.child.node.index,
              .edge = {},
              .route = {},
              .edge_names = {},
              .route_names = {}};
  for (const UnitRef& unit : violation.edge) {
    proof.edge.push_back(unit.node.index);
    proof.edge_names.push_back(to_string(graph, unit));
  }
  for (const UnitRef& unit : violation.route) {
    proof.route.push_back(unit.node.index);
    proof.route_names.push_back(to_string(graph, unit));
  }
  return proof;
}

}  // namespace

std::string to_string(Look look) {
  switch (look) {
    case Look::input:
      return "input";
    case Look::stochastic:
      return "stochastic";
    case Look::deterministic:
      return "deterministic";
    case Look::reward:
      return "reward";
  }
  return {};
}

Overview overview(const Graph& graph, const Report& report) {
  const Findings findings(report);
  const std::vector<int> level = levels(graph);
  Marks marks;
  Overview out;
  out.levels = level_count(level);
  for (const NodeId node : graph.nodes()) {
    const NodeSummary* summary = findings.summary(graph.name(node));
    Item& item = out.items.emplace_back(Item{.look = look(graph.role(node)),
                                             .name = graph.name(node),
                                             .kind = std::string(graph.kind(node)),
                                             .units = graph.shape(node).units,
                                             .level = level[index(node.index)],
                                             .checked = summary && summary->checked,
                                             .violates = summary && !summary->assumption_1,
                                             .credits = findings.credits(graph.name(node))});
    item.marks = marks.of(item.credits);
    for (const Graph::Parent& parent : graph.parents(node)) out.links.push_back(link(graph, parent, node));
  }
  for (const RewardId reward : graph.rewards()) {
    for (const NodeId read : graph.reads(reward))
      out.links.push_back({.from = read.index, .to = graph.node_count() + reward.index});
    out.items.push_back(
        {.look = Look::reward, .name = graph.name(reward), .kind = "reward", .level = out.levels});
  }
  out.marks = marks.list();

  std::map<std::pair<int, int>, ItemLink*> by_ends;
  for (ItemLink& each : out.links) by_ends[{each.from, each.to}] = &each;
  WitnessSearch search(graph);
  for (const NodeId node : graph.nodes()) {
    if (!out.items[index(node.index)].violates) continue;
    const Proof& found = out.proofs.emplace_back(proof(graph, search.shortest(node).value()));
    for (std::size_t step = 1; step < found.edge.size(); ++step)
      by_ends.at({found.edge[step - 1], found.edge[step]})->on_edge = true;
    for (std::size_t step = 1; step < found.route.size(); ++step)
      by_ends.at({found.route[step - 1], found.route[step]})->on_route = true;
  }
  return out;
}

LevelView level_view(const Graph& graph, const Report& report) {
  const Findings findings(report);
  const std::vector<int> level = levels(graph);
  // The first level stays by itself: what is drawn from it would otherwise be lost within a band.
  const int count = level_count(level), thickness = std::max(1, (count + most_bands - 3) / (most_bands - 1));
  const auto band_of = [&](int its_level) { return (its_level + thickness - 1) / thickness; };
  LevelView out;
  for (int i = 0; i < count; ++i) {
    if (band_of(i) == static_cast<int>(out.bands.size())) out.bands.emplace_back(i, i);
    out.bands.back().second = i;
  }

  Marks marks;
  std::map<std::tuple<int, Look, std::string>, int> numbers;
  std::vector<std::map<int, std::size_t>> mark_counts;
  std::vector<std::vector<std::string>> violating;
  const auto group_of = [&](int band, Look shape, const std::string& kind) {
    const auto [known, added] =
        numbers.emplace(std::tuple(band, shape, kind), static_cast<int>(numbers.size()));
    if (added) {
      const auto last = static_cast<int>(out.bands.size());
      out.groups.push_back({.look = shape,
                            .kind = kind,
                            .first_level = band < last ? out.bands[index(band)].first : count,
                            .last_level = band < last ? out.bands[index(band)].second : count,
                            .band = band});
      mark_counts.emplace_back();
      violating.emplace_back();
    }
    return known->second;
  };
  std::vector<int> group(index(graph.node_count()));
  for (const NodeId node : graph.nodes()) {
    const std::string& name = graph.name(node);
    const int number =
        group_of(band_of(level[index(node.index)]), look(graph.role(node)), std::string(graph.kind(node)));
    group[index(node.index)] = number;
    Group& its = out.groups[index(number)];
    ++its.nodes;
    its.units += index(graph.shape(node).units);
    if (its.examples.size() < most_examples) its.examples.push_back(name);
    for (const int mark : marks.of(findings.credits(name))) ++mark_counts[index(number)][mark];
    if (const NodeSummary* summary = findings.summary(name); summary && !summary->assumption_1) {
      ++its.violating;
      if (violating[index(number)].size() < most_examples) violating[index(number)].push_back(name);
    }
  }
  std::map<std::pair<int, int>, std::size_t> edges;
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node))
      ++edges[{group[index(parent.node.index)], group[index(node.index)]}];
  for (const RewardId reward : graph.rewards()) {
    const int number = group_of(static_cast<int>(out.bands.size()), Look::reward, "reward");
    Group& its = out.groups[index(number)];
    ++its.nodes;
    if (its.examples.size() < most_examples) its.examples.push_back(graph.name(reward));
    for (const NodeId read : graph.reads(reward)) ++edges[{group[index(read.index)], number}];
  }
  for (std::size_t i = 0; i < out.groups.size(); ++i) {
    out.groups[i].marks.assign(mark_counts[i].begin(), mark_counts[i].end());
    if (out.groups[i].violating > 0) out.groups[i].examples = violating[i];
  }
  out.marks = marks.list();

  for (const auto& [ends, number] : edges)
    if (out.groups[index(ends.first)].band != out.groups[index(ends.second)].band)
      out.links.push_back({ends.first, ends.second, number});
  std::stable_sort(out.links.begin(), out.links.end(),
                   [](const GroupLink& a, const GroupLink& b) { return a.edges > b.edges; });
  // No box may look alone that is not: its heaviest lines in and out come first.
  std::set<int> leaves, arrives;
  std::stable_partition(out.links.begin(), out.links.end(), [&](const GroupLink& each) {
    const bool first_out = leaves.insert(each.from).second, first_in = arrives.insert(each.to).second;
    return first_out || first_in;
  });
  if (out.links.size() > most_group_links) {
    out.links_left_out = out.links.size() - most_group_links;
    out.links.resize(most_group_links);
  }
  return out;
}

bool fits(const Graph& graph, const DrawingLimits& limits) {
  if (graph.node_count() + graph.reward_count() > limits.items) return false;
  const std::vector<int> level = levels(graph);
  const int count = level_count(level);
  std::size_t links = 0, passed = 0;
  const auto add = [&](NodeId from, int to) {
    ++links;
    passed += index(to - level[index(from.index)] - 1);
  };
  for (const NodeId node : graph.nodes())
    for (const Graph::Parent& parent : graph.parents(node)) add(parent.node, level[index(node.index)]);
  for (const RewardId reward : graph.rewards())
    for (const NodeId read : graph.reads(reward)) add(read, count);
  return links <= limits.links && passed <= limits.passed;
}

std::string credited_by(const CreditVerdict& credit) {
  return credit.baseline.empty() ? credit.estimator : credit.estimator + " + " + credit.baseline;
}

std::string caption(const Item& item) {
  return item.units == 1 ? item.kind : fmt::format("{} ×{}", item.kind, item.units);
}

std::string assumption(const Item& item) {
  if (item.look == Look::reward) return {};
  if (item.look == Look::deterministic) return "computed";
  if (!item.checked) return item.look == Look::input ? "given" : "not checked";
  return item.violates ? "violated" : "holds";
}

std::string level_caption(std::pair<int, int> band) {
  return band.first == band.second ? fmt::format("level {}", band.first)
                                   : fmt::format("levels {}–{}", band.first, band.second);
}

std::string counted(std::size_t number, const std::string& noun) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return fmt::format("{} {}{}", digits, noun, number == 1 ? "" : "s");
}

std::string census(const Graph& graph) {
  return fmt::format("{}, {}, {}", counted(index(graph.node_count()), "node"),
                     counted(graph.edge_count(), "edge"), counted(index(graph.reward_count()), "reward"));
}

std::string headline(const Graph& graph, const Report& report) {
  return fmt::format("{}: {}{}", census(graph), report.admissible() ? "admissible" : "not admissible",
                     report.nodes.empty()          ? ""
                     : report.assumption_1_holds() ? ", Assumption 1 holds everywhere"
                                                   : ", Assumption 1 is violated");
}

}  // namespace hindsight::tool
