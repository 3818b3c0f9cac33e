// From the draft of a file to a graph: what it means, and everything that may be wrong with it.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/nearest_name.hpp>
#include <hindsight/core/numbers.hpp>
#include <hindsight/core/terminal_text.hpp>
#include <hindsight/graph/graph_draft.hpp>

namespace hindsight {
namespace {

/// With the name of a reward behind them, they speak of that reward alone.
constexpr std::string_view estimator_for = "estimator:", baseline_for = "baseline:";

/// "0>1 0>5": unit of the parent, unit of the child.
Pattern::Pairs to_pairs(std::string_view text) {
  constexpr std::string_view separators = " ,\t\n\r";
  Pattern::Pairs pairs;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty()) return pairs;
    const std::string_view word = text.substr(0, text.find_first_of(separators));
    const std::size_t arrow = std::min(word.find('>'), word.size());
    const auto from = parse_number<int>(word.substr(0, arrow));
    const auto to = parse_number<int>(word.substr(std::min(arrow + 1, word.size())));
    if (!from || !to)
      refuse({.code = "bad-attribute",
              .message = fmt::format("the pattern holds '{}', which is no pair of units", shortened(word)),
              .help = {"pattern=\"0>1 0>5\"   // unit of the parent > unit of the child"}});
    pairs.emplace_back(*from, *to);
    text.remove_prefix(word.size());
  }
}

Pattern to_pattern(AttributeReader& given) {
  const bool drawn = given.has("density") || given.has("seed"), listed = given.has("pattern");
  if (drawn && listed)
    refuse(
        {.code = "bad-attribute",
         .message =
             "the edge has both a pattern, which lists its pairs, and a density or a seed, which draw them",
         .help = {"[density=0.2 seed=3]", "[pattern=\"0>1 0>5\"]"}});
  if (listed) return Pattern::pairs(to_pairs(given.text("pattern", "")));
  if (drawn) return Pattern::random(given.number("density", 1), given.seed("seed", 0));
  return Pattern::dense();
}

/// Not ours, and no misspelling of ours either.
bool is_strange(std::string_view name) {
  static const std::vector<std::string> ours{"kind",      "units",   "values", "classes", "rows",
                                             "estimator", "density", "seed",   "pattern", "baseline"};
  return is_graphviz_attribute(name) || nearest_name(name, ours).empty();
}

class Builder {
 public:
  Builder(const GraphDraft& draft, const Catalogue& catalogue) : draft_(draft), catalogue_(catalogue) {
    if (draft.nodes().size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      draft.refuse_at(1, {.code = "file-size", .message = "the file has more nodes than an int can number"});
  }

  Graph run() {
    sort_edges();
    check_rewards();
    const std::vector<std::uint32_t> order = topological_order();
    ids_.resize(draft_.nodes().size());
    for (const std::uint32_t node : order)
      if (!is_reward_[node]) add(node);
    for (std::uint32_t node = 0; node < is_reward_.size(); ++node)
      if (is_reward_[node]) add_reward(node);
    if (is_plain_) add_default_reward();
    for (std::uint32_t node = 0; node < is_reward_.size(); ++node) choose(node);
    return std::move(graph_);
  }

 private:
  const GraphDraft::Node& node(std::uint32_t index) const { return draft_.nodes()[index]; }
  std::span<const GraphDraft::Edge> into(std::uint32_t node) const {
    return std::span(edges_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }
  void refuse_others(const AttributeReader& reader) const {
    reader.refuse_others([&](std::string_view name) {
      // Read when all rewards are known.
      if (name.starts_with(estimator_for) || name.starts_with(baseline_for)) return true;
      return draft_.strangers() == GraphDraft::Strangers::ignored ? is_strange(name)
                                                                  : is_graphviz_attribute(name);
    });
  }

  /// Whatever a part of the library refuses gets the line of the file that caused it.
  template <class Work>
  void at_line(std::uint32_t line, const std::string& name, const Work& work) const {
    try {
      work();
    } catch (const Error& refusal) {
      Diagnostic diagnostic = refusal.report().diagnostics.front();
      if (!diagnostic.place.empty()) throw;
      if (diagnostic.node.empty()) diagnostic.node = name;
      draft_.refuse_at(line, std::move(diagnostic));
    }
  }

  /// By child, in the order of the file; a node's parents keep the order in which the file lists them.
  void sort_edges() {
    const std::size_t count = draft_.nodes().size();
    begin_.assign(count + 1, 0);
    has_children_.resize(count);
    for (const GraphDraft::Edge& edge : draft_.edges()) {
      if (edge.from == edge.to)
        draft_.refuse_at(edge.line,
                         {.code = "self-loop",
                          .node = *node(edge.to).name,
                          .message = "it is its own parent; a graph without cycles has no such edge",
                          .help = {fmt::format("leave out {0} -> {0}", *node(edge.to).name)}});
      ++begin_[edge.to + 1];
      has_children_[edge.from] = true;
    }
    for (std::size_t i = 0; i < count; ++i) begin_[i + 1] += begin_[i];
    edges_.resize(draft_.edges().size());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (const GraphDraft::Edge& edge : draft_.edges()) edges_[next[edge.to]++] = edge;
    drop_repeated_edges();
  }

  void drop_repeated_edges() {
    std::vector<std::uint32_t> listed_by(draft_.nodes().size(), 0);
    std::vector<std::size_t> kept_as(draft_.nodes().size(), 0);
    std::size_t kept = 0, first = 0;
    for (std::uint32_t child = 0; child + 1 < begin_.size(); ++child) {
      const std::size_t last = begin_[child + 1];
      for (std::size_t e = first; e < last; ++e) {
        const GraphDraft::Edge edge = edges_[e];
        if (listed_by[edge.from] != child + 1) {
          listed_by[edge.from] = child + 1;
          kept_as[edge.from] = kept;
          edges_[kept++] = edge;
        } else if (!draft_.merges_repeated_edges() ||
                   draft_.attributes(edge) != draft_.attributes(edges_[kept_as[edge.from]])) {
          draft_.refuse_at(
              edge.line,
              {.code = "duplicate-edge",
               .node = *node(child).name,
               .message = fmt::format("the edge {} → {} is there already, in line {}", *node(edge.from).name,
                                      *node(child).name, edges_[kept_as[edge.from]].line),
               .help = {"list each edge once; pattern=\"0>1 0>5\" joins any set of units"}});
        }
      }
      first = last;
      begin_[child + 1] = kept;
    }
    edges_.resize(kept);
  }

  void check_rewards() {
    is_reward_.resize(draft_.nodes().size());
    for (std::uint32_t i = 0; i < is_reward_.size(); ++i) {
      const std::string* const kind = node(i).attributes.find("kind");
      is_plain_ = is_plain_ && !kind;
      is_reward_[i] = kind && lower_case(*kind) == "reward";
    }
    for (const GraphDraft::Edge& edge : edges_)
      if (is_reward_[edge.from])
        draft_.refuse_at(
            edge.line,
            {.code = "reward-has-child",
             .node = *node(edge.from).name,
             .message =
                 fmt::format("it is a reward, and '{}' reads it; a reward ends a route", *node(edge.to).name),
             .help = {fmt::format("leave out {} -> {}", *node(edge.from).name, *node(edge.to).name)}});
  }

  /// Parents first; among those that may come next, the first of the file.
  std::vector<std::uint32_t> topological_order() const {
    const std::size_t count = draft_.nodes().size();
    std::vector<std::size_t> waits_for(count), begin(count + 1, 0);
    std::vector<std::uint32_t> children(edges_.size()), order;
    for (const GraphDraft::Edge& edge : edges_) {
      ++waits_for[edge.to];
      ++begin[edge.from + 1];
    }
    for (std::size_t i = 0; i < count; ++i) begin[i + 1] += begin[i];
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (const GraphDraft::Edge& edge : edges_) children[next[edge.from]++] = edge.to;

    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t i = 0; i < count; ++i)
      if (waits_for[i] == 0) ready.push(i);
    while (!ready.empty()) {
      const std::uint32_t at = ready.top();
      ready.pop();
      order.push_back(at);
      for (std::size_t c = begin[at]; c < begin[at + 1]; ++c)
        if (--waits_for[children[c]] == 0) ready.push(children[c]);
    }
    if (order.size() < count) refuse_cycle(waits_for);
    return order;
  }

  /// Every node that still waits has a parent that waits: going back must come round.
  [[noreturn]] void refuse_cycle(std::span<const std::size_t> waits_for) const {
    const auto waiting_parent = [&](std::uint32_t child) {
      const auto parents = into(child);
      return *std::find_if(parents.begin(), parents.end(),
                           [&](const GraphDraft::Edge& edge) { return waits_for[edge.from] > 0; });
    };
    auto at = static_cast<std::uint32_t>(
        std::find_if(waits_for.begin(), waits_for.end(), [](std::size_t n) { return n > 0; }) -
        waits_for.begin());
    std::vector<bool> seen(waits_for.size());
    for (; !seen[at]; at = waiting_parent(at).from) seen[at] = true;
    std::vector<std::uint32_t> cycle;  // backwards
    std::uint32_t line = 0;
    for (std::uint32_t node = at; cycle.empty() || node != at; node = waiting_parent(node).from) {
      cycle.push_back(node);
      line = std::max(line, waiting_parent(node).line);
    }
    std::reverse(cycle.begin(), cycle.end());
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    Route route;
    for (const std::uint32_t member : cycle) route.push_back(*node(member).name);
    route.push_back(route.front());
    draft_.refuse_at(line, {.code = "cycle",
                            .node = route.front(),
                            .message = fmt::format("{} nodes read each other in a circle, so none could be "
                                                   "sampled first",
                                                   cycle.size()),
                            .witness = {route},
                            .help = {fmt::format("leave out one of these edges, e.g. {} -> {}",
                                                 route[route.size() - 2], route.back())}});
  }

  void add(std::uint32_t index) {
    const GraphDraft::Node& given = node(index);
    at_line(given.line, *given.name, [&] {
      AttributeReader reader(given.attributes);
      const bool is_source = into(index).empty();
      const std::string kind = lower_case(reader.text("kind", is_source ? "input" : "bernoulli"));
      reader.has("estimator");
      reader.has("baseline");
      std::optional<AnyNode> made;
      int inputs = 0;
      if (kind == "input")
        inputs = reader.count("units", 1);
      else if (const NodeKind* known = catalogue_.kind(kind))
        made = known->read(reader);
      else
        refuse_kind(kind);
      refuse_others(reader);
      if (!made && !is_source)
        refuse({.code = "input-has-parent",
                .message = fmt::format("it is an input, which is given, and yet it has the parent '{}'",
                                       *node(into(index).front().from).name),
                .help = {fmt::format("{} [kind=bernoulli]", *given.name)}});
      ids_[index] = made ? graph_.add(*given.name, std::move(*made), parents_of(index))
                         : graph_.input(*given.name, inputs);
    });
  }

  [[noreturn]] void refuse_kind(const std::string& kind) const {
    std::vector<std::string> known{"input", "reward"};
    for (const NodeKind& offered : catalogue_.kinds()) known.push_back(offered.name);
    refuse({.code = "unknown-kind",
            .message = fmt::format("there is no kind of node called '{}'{}", shortened(kind),
                                   did_you_mean(kind, known)),
            .help = {fmt::format("kind one of: {}", fmt::join(known, ", "))}});
  }

  std::vector<Edge> parents_of(std::uint32_t index) {
    std::vector<Edge> parents;
    for (const GraphDraft::Edge& edge : into(index))
      at_line(edge.line, *node(index).name, [&] { parents.emplace_back(ids_[edge.from], pattern_of(edge)); });
    return parents;
  }

  /// Read once for all edges that share their attributes: there may be a hundred thousand of them, and as
  /// many blanks in one.
  const Pattern& pattern_of(const GraphDraft::Edge& edge) {
    const auto [known, is_new] = patterns_.try_emplace(edge.attributes, Pattern::dense());
    if (is_new && edge.attributes != 0) {
      AttributeReader reader(draft_.attributes(edge));
      known->second = to_pattern(reader);
      refuse_others(reader);
    }
    return known->second;
  }

  void add_reward(std::uint32_t index) {
    const GraphDraft::Node& given = node(index);
    at_line(given.line, *given.name, [&] {
      AttributeReader reader(given.attributes);
      reader.has("kind");
      reader.has("baseline");
      refuse_others(reader);
      std::vector<NodeId> reads;
      for (const GraphDraft::Edge& edge : into(index)) {
        if (!draft_.attributes(edge).empty() && draft_.strangers() == GraphDraft::Strangers::refused)
          draft_.refuse_at(
              edge.line, {.code = "unknown-attribute",
                          .node = *given.name,
                          .message = fmt::format("an edge into a reward has no attributes, but here is '{}'",
                                                 shortened(draft_.attributes(edge).begin()->first)),
                          .help = {"leave it out; a reward reads all units of its nodes"}});
        reads.push_back(ids_[edge.from]);
      }
      rewards_.emplace(*given.name, graph_.reward(*given.name, std::move(reads)));
    });
  }

  /// A file that knows no kinds has no rewards either: what nobody reads feeds one.
  void add_default_reward() {
    std::vector<NodeId> reads;
    for (std::uint32_t i = 0; i < is_reward_.size(); ++i)
      if (!has_children_[i] && !graph_.is_input(ids_[i])) reads.push_back(ids_[i]);
    if (reads.empty()) return;
    std::string name = "reward";
    while (draft_.find(name)) name += '_';
    graph_.reward(name, std::move(reads));
  }

  /// Estimators and baselines.
  void choose(std::uint32_t index) {
    const GraphDraft::Node& given = node(index);
    for (const auto& [name, value] : given.attributes)
      at_line(given.line, *given.name, [&, &key = name, &text = value] {
        if (is_reward_[index]) {
          if (key == "baseline") graph_.baseline(rewards_.find(*given.name)->second, to_baseline(text));
        } else if (key == "estimator") {
          graph_.estimate_with(ids_[index], to_choice(text));
        } else if (key.starts_with(estimator_for)) {
          graph_.estimate_with(ids_[index], reward_of(key, estimator_for), to_choice(text));
        } else if (key == "baseline") {
          graph_.baseline(ids_[index], to_baseline(text));
        } else if (key.starts_with(baseline_for)) {
          graph_.baseline(ids_[index], reward_of(key, baseline_for), to_baseline(text));
        }
      });
  }

  RewardId reward_of(const std::string& key, std::string_view prefix) const {
    const auto reward = rewards_.find(key.substr(prefix.size()));
    if (reward == rewards_.end())
      refuse({.code = "unknown-reward",
              .message = fmt::format("'{}' speaks of a reward that the file does not have", key),
              .help = {prefix == estimator_for ? "estimator=hnca   // for all rewards"
                                               : "baseline=running-mean   // for all rewards"}});
    return reward->second;
  }

  BaselineChoice to_baseline(const std::string& text) const {
    if (text == "none") return NoBaseline{};
    return catalogue_.baseline(text);
  }

  EstimatorChoice to_choice(const std::string& name) const {
    if (name == "auto") return Auto{};
    if (const auto estimator = catalogue_.estimator(name)) return *estimator;
    std::vector<std::string> known = catalogue_.estimator_names();
    known.emplace_back("auto");
    refuse({.code = "unknown-estimator",
            .message = fmt::format("there is no estimator called '{}'{}", shortened(name),
                                   did_you_mean(name, known)),
            .help = {fmt::format("estimator one of: {}", fmt::join(known, ", "))}});
  }

  const GraphDraft& draft_;
  const Catalogue& catalogue_;
  std::vector<GraphDraft::Edge> edges_;  ///< sorted by child
  std::vector<std::size_t> begin_;       ///< per child, and one more
  std::vector<bool> has_children_, is_reward_;
  bool is_plain_ = true;  ///< no node has a kind
  std::vector<NodeId> ids_;
  std::unordered_map<std::uint32_t, Pattern> patterns_;  ///< per list of attributes of edges
  std::map<std::string, RewardId, std::less<>> rewards_;
  Graph graph_;
};

}  // namespace

Graph build_graph(const GraphDraft& draft, const Catalogue& catalogue) {
  return Builder(draft, catalogue).run();
}

}  // namespace hindsight
