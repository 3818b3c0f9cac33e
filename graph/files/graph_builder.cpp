// From the draft of a file to a graph: what it means, and everything that may be wrong with it.
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/nearest_name.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/dot_id.hpp>
#include <hindsight/graph/graph_draft.hpp>
#include <hindsight/graph/topological_order.hpp>

namespace hindsight::internal {
namespace {

/// With the name of a reward behind them, they speak of that reward alone.
constexpr std::string_view estimator_for = "estimator:", baseline_for = "baseline:";

/// Not ours, and no misspelling of ours either.
bool is_strange(std::string_view name) {
  static const std::vector<std::string> ours{"kind",      "units",   "values", "classes", "rows",
                                             "estimator", "density", "seed",   "pattern", "baseline"};
  return is_graphviz_attribute(name) || nearest_name(name, ours).empty();
}

std::string without_blanks(std::string_view text) {
  std::string kept;
  std::copy_if(text.begin(), text.end(), std::back_inserter(kept), [](char c) { return c != ' '; });
  return kept;
}

class Builder {
 public:
  Builder(GraphDraft draft, const Catalogue& catalogue) : draft_(std::move(draft)), catalogue_(catalogue) {
    if (draft_.nodes().size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      draft_.refuse_at(1, {.code = "file-size", .message = "the file has more nodes than an int can number"});
    draft_.require_room_for_nodes(1);
  }

  Graph run() {
    graph_.set_origin(Origin::file);
    sort_edges();
    check_rewards();
    check_declared();
    const std::vector<std::uint32_t> order = order_nodes();
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
      return draft_.strangers() == GraphDraft::Strangers::ignored ? is_stranger(name)
                                                                  : is_graphviz_attribute(name);
    });
  }
  /// Worked out once per name: a default holds for many nodes.
  bool is_stranger(std::string_view name) const {
    const auto known = strangers_.find(name);
    return known != strangers_.end() ? known->second
                                     : strangers_.emplace(std::string(name), is_strange(name)).first->second;
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
      draft_.refuse_at(line, in_words_of_files(std::move(diagnostic)));
    }
  }

  /// By child, in the order of the file; a node's parents keep the order in which the file lists them.
  void sort_edges() {
    const std::size_t count = draft_.nodes().size();
    begin_.assign(count + 1, 0);
    has_children_.resize(count);
    const std::vector<GraphDraft::Edge> given = draft_.take_edges();
    for (const GraphDraft::Edge& edge : given) {
      if (edge.from == edge.to) draft_.refuse_at(edge.line, explain_self_loop(*node(edge.to).name));
      ++begin_[edge.to + 1];
      has_children_[edge.from] = true;
    }
    for (std::size_t i = 0; i < count; ++i) begin_[i + 1] += begin_[i];
    edges_.resize(given.size());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (const GraphDraft::Edge& edge : given) edges_[next[edge.to]++] = edge;
    drop_repeated_edges();
  }

  bool say_the_same(const GraphDraft::Edge& one, const GraphDraft::Edge& other) const {
    return one.description == other.description || attributes_of(one) == attributes_of(other);
  }
  std::map<std::string_view, std::string_view> attributes_of(const GraphDraft::Edge& edge) const {
    std::map<std::string_view, std::string_view> all;
    draft_.for_each_attribute(
        draft_.description(edge),
        [&](const std::string& name, const std::string& value) { all.emplace(name, value); });
    return all;
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
        } else if (!draft_.merges_repeated_edges() || !say_the_same(edge, edges_[kept_as[edge.from]])) {
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
      const std::string* const kind = draft_.find(node(i).description, "kind");
      is_plain_ = is_plain_ && !kind;
      is_reward_[i] = kind && lower_case(*kind) == "reward";
    }
    for (const GraphDraft::Edge& edge : edges_)
      if (is_reward_[edge.from])
        draft_.refuse_at(edge.line,
                         {.code = "reward-has-child",
                          .node = *node(edge.from).name,
                          .message = fmt::format("it is a reward, and '{}' reads it; a reward ends a route",
                                                 *node(edge.to).name),
                          .help = {fmt::format("leave out {} -> {}", dot_id(*node(edge.from).name),
                                               dot_id(*node(edge.to).name))}});
  }

  /// Where nodes have kinds, one that only edges mention is a slip of the pen rather than a neuron.
  void check_declared() const {
    if (is_plain_) return;
    const auto is_missing = [&](const GraphDraft::Node& given) {
      return !given.is_declared && !draft_.find(given.description, "kind");
    };
    const auto missing = std::find_if(draft_.nodes().begin(), draft_.nodes().end(), is_missing);
    if (missing == draft_.nodes().end()) return;
    constexpr std::size_t most_compared = 10'000;
    std::vector<std::string> declared;
    for (const GraphDraft::Node& given : draft_.nodes())
      if (!is_missing(given) && declared.size() < most_compared) declared.push_back(*given.name);
    draft_.refuse_at(missing->line,
                     {.code = "undeclared-node",
                      .node = *missing->name,
                      .message = fmt::format("only edges mention it, in a file whose nodes have kinds{}",
                                             did_you_mean(*missing->name, declared)),
                      .help = {fmt::format("{} [kind=bernoulli];", dot_id(*missing->name))}});
  }

  /// Parents first; among those that may come next, the first of the file.
  std::vector<std::uint32_t> order_nodes() const {
    std::vector<std::uint32_t> parents;
    parents.reserve(edges_.size());
    for (const GraphDraft::Edge& edge : edges_) parents.push_back(edge.from);
    internal::TopologicalOrder found = internal::topological_order({begin_, parents});
    if (!found.cycle.empty()) refuse_cycle(found.cycle);
    return std::move(found.order);
  }

  /// In the line of the edge that closed it.
  [[noreturn]] void refuse_cycle(std::span<const std::uint32_t> cycle) const {
    Route names;
    std::uint32_t line = 0, before = cycle.back();
    for (const std::uint32_t member : cycle) {
      names.push_back(*node(member).name);
      for (const GraphDraft::Edge& edge : into(member))
        if (edge.from == before) line = std::max(line, edge.line);
      before = member;
    }
    draft_.refuse_at(line, internal::explain_cycle(std::move(names)));
  }

  void add(std::uint32_t index) {
    const GraphDraft::Node& given = node(index);
    at_line(given.line, *given.name, [&] {
      AttributeReader reader = draft_.reader(given.description);
      const bool is_source = into(index).empty();
      const std::string kind = lower_case(reader.text("kind", is_source ? "input" : "bernoulli"));
      reader.has("estimator");
      reader.has("baseline");
      std::optional<AnyNode> made;
      int inputs = 0;
      if (kind == "input")
        inputs = reader.count("units", 1);
      else if (const NodeKind* known = catalogue_.kind(kind))
        made = guarded_call({"node-threw", given.name, "its read"}, [&] { return known->read(reader); });
      else
        refuse_kind(kind);
      refuse_others(reader);
      if (!made && !is_source)
        refuse({.code = "input-has-parent",
                .message = fmt::format("it is an input, which is given, and yet it has the parent '{}'",
                                       *node(into(index).front().from).name),
                .help = {fmt::format("{} [kind=bernoulli]", dot_id(*given.name))}});
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
    const auto [known, is_new] = patterns_.try_emplace(edge.description, Pattern::dense());
    if (is_new && edge.description != 0) {
      AttributeReader reader = draft_.reader(draft_.description(edge));
      known->second = to_pattern(reader);
      refuse_others(reader);
    }
    return known->second;
  }

  void add_reward(std::uint32_t index) {
    const GraphDraft::Node& given = node(index);
    at_line(given.line, *given.name, [&] {
      AttributeReader reader = draft_.reader(given.description);
      reader.has("kind");
      reader.has("baseline");
      refuse_others(reader);
      std::vector<NodeId> reads;
      for (const GraphDraft::Edge& edge : into(index)) {
        const auto said = attributes_of(edge);
        if (!said.empty() && draft_.strangers() == GraphDraft::Strangers::refused)
          draft_.refuse_at(
              edge.line, {.code = "unknown-attribute",
                          .node = *given.name,
                          .message = fmt::format("an edge into a reward has no attributes, but here is '{}'",
                                                 shortened(said.begin()->first)),
                          .help = {"leave it out; a reward reads all units of its nodes"}});
        reads.push_back(ids_[edge.from]);
      }
      graph_.reward(*given.name, std::move(reads));
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
    draft_.for_each_attribute(given.description, [&](const std::string& key, const std::string& text) {
      at_line(given.line, *given.name, [&] {
        if (is_reward_[index]) {
          if (key == "baseline") graph_.baseline(graph_.find_reward(*given.name).value(), to_baseline(text));
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
    });
  }

  RewardId reward_of(const std::string& key, std::string_view prefix) const {
    const std::string_view name = std::string_view(key).substr(prefix.size());
    if (const std::optional<RewardId> reward = graph_.find_reward(name)) return *reward;
    std::vector<std::string> known;
    for (const RewardId reward : graph_.rewards()) known.push_back(graph_.name(reward));
    refuse({.code = "unknown-reward",
            .message = fmt::format("'{}' speaks of a reward that the file does not have{}", shortened(key),
                                   did_you_mean(name, known)),
            .help = {prefix == estimator_for ? "estimator=hnca   // for all rewards"
                                             : "baseline=running-mean   // for all rewards"}});
  }

  BaselineChoice to_baseline(const std::string& text) const {
    if (without_blanks(text) == "none") return NoBaseline{};
    return catalogue_.baseline(text);
  }

  EstimatorChoice to_choice(const std::string& name) const {
    if (without_blanks(name) == "auto") return Auto{};
    if (const auto estimator = catalogue_.estimator(name)) return *estimator;
    std::vector<std::string> known = catalogue_.estimator_names();
    known.emplace_back("auto");
    refuse({.code = "unknown-estimator",
            .message = fmt::format("there is no estimator called '{}'{}", shortened(name),
                                   did_you_mean(name, known)),
            .help = {fmt::format("estimator one of: {}", fmt::join(known, ", "))}});
  }

  GraphDraft draft_;
  const Catalogue& catalogue_;
  std::vector<GraphDraft::Edge> edges_;  ///< sorted by child
  std::vector<std::size_t> begin_;       ///< per child, and one more
  std::vector<bool> has_children_, is_reward_;
  bool is_plain_ = true;  ///< no node has a kind
  std::vector<NodeId> ids_;
  std::unordered_map<std::uint32_t, Pattern> patterns_;  ///< per list of attributes of edges
  mutable std::map<std::string, bool, std::less<>> strangers_;
  Graph graph_;
};

}  // namespace

Graph build_graph(GraphDraft draft, const Catalogue& catalogue) {
  return Builder(std::move(draft), catalogue).run();
}

}  // namespace hindsight::internal
