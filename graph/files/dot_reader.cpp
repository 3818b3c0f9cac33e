// Reads Graphviz' DOT. Boost.Graph has a reader too, but it knows no lines, and nested subgraphs exhaust its
// stack.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/dot_tokens.hpp>
#include <hindsight/graph/graph_draft.hpp>

namespace hindsight::internal {
namespace {

constexpr int deepest = 100;

/// What `node [...]` and `edge [...]` say for the rest of a pair of braces.
struct Scope {
  GraphDraft::Defaults node = 0, edge = 0;
  std::vector<std::uint32_t> members = {};  ///< nodes that are named inside
  /// Those of them that are named alone: declared, unless the braces are the end of an edge.
  std::vector<std::uint32_t> declared = {};
};

/// One end of an edge, or a statement of its own: a node, or all nodes of a group.
struct End {
  std::vector<std::uint32_t> members, declared;
};

class DotReader {
 public:
  DotReader(std::string_view text, const std::string& file) : draft_(file), tokens_(text, draft_) {}

  GraphDraft run() {
    if (tokens_.next().is_keyword("strict")) {
      tokens_.take();
      draft_.merge_repeated_edges();
    }
    if (tokens_.next().is_keyword("graph"))
      draft_.refuse_at(
          tokens_.next().line,
          {.code = "file-syntax",
           .message = "edges of a `graph` have no direction, so parents and children cannot be told apart",
           .help = {"digraph net { a -> b; }"}});
    if (!tokens_.next().is_keyword("digraph")) tokens_.refuse_next("'digraph'");
    tokens_.take();
    if (tokens_.next().kind == DotToken::Kind::id) tokens_.take();
    tokens_.expect("{", "the name of the graph");
    Scope scope;
    read_statements(scope, 0);
    for (const std::uint32_t node : scope.declared) draft_.declare(node);
    if (tokens_.next().kind != DotToken::Kind::end)
      tokens_.refuse_next("the end of the file: it holds one graph");
    return std::move(draft_);
  }

 private:
  /// Up to and with the closing brace.
  void read_statements(Scope& scope, int depth) {
    if (depth > deepest)
      draft_.refuse_at(tokens_.next().line,
                       {.code = "file-syntax",
                        .message = fmt::format("subgraphs are nested more than {} deep", deepest),
                        .help = {"subgraphs mean nothing here but groups of nodes; leave them out"}});
    while (!tokens_.accept("}")) {
      if (tokens_.accept(";")) continue;
      read_statement(scope, depth);
    }
  }

  void read_statement(Scope& scope, int depth) {
    const DotToken first = tokens_.next();
    if (first.is_keyword("node") || first.is_keyword("edge") || first.is_keyword("graph")) {
      tokens_.take();
      if (!tokens_.next().is("[")) tokens_.refuse_next(fmt::format("'[' after {}", first.text));
      if (first.is_keyword("node"))
        scope.node = draft_.share(read_attributes(draft_.defaults(scope.node)), first.line);
      else if (first.is_keyword("edge"))
        scope.edge = draft_.share(without_graphviz(read_attributes(draft_.defaults(scope.edge))), first.line);
      else
        check_graph_attributes(read_attributes({}), first.line);
      return;
    }
    const bool is_group = first.is("{") || first.is_keyword("subgraph");
    if (!is_group && first.kind != DotToken::Kind::id) tokens_.refuse_next("a node, an edge or '}'");
    if (!is_group && tokens_.is_assignment()) {  // "rankdir = LR"
      Attributes about_graph;
      const std::string name = tokens_.take().text;
      tokens_.take();
      about_graph.set(name, tokens_.expect_id("a value"));
      check_graph_attributes(about_graph, first.line);
      return;
    }
    std::vector<End> chain{read_end(scope, depth)};
    while (tokens_.next().is("->") || tokens_.next().is("--")) {
      if (tokens_.next().is("--")) tokens_.refuse_next("'->'");
      tokens_.take();
      chain.push_back(read_end(scope, depth));
    }
    const Attributes attributes = read_attributes({});
    if (chain.size() > 1) {
      join(chain, scope.edge, attributes, first.line);
      return;
    }
    const std::vector<std::uint32_t>& declared = chain.front().declared;
    scope.declared.insert(scope.declared.end(), declared.begin(), declared.end());
    if (is_group) return;
    const std::uint32_t node = chain.front().members.front();
    draft_.describe(node, attributes, first.line);
    if (attributes.empty())
      scope.declared.push_back(node);
    else
      draft_.declare(node);
  }

  void join(const std::vector<End>& chain, GraphDraft::Defaults defaults, const Attributes& attributes,
            std::size_t line) {
    const auto size = [&](std::size_t end) { return static_cast<double>(chain[end].members.size()); };
    double count = 0, members = size(0);
    for (std::size_t i = 1; i < chain.size(); ++i) {
      count += size(i - 1) * size(i);
      members += size(i);
    }
    if (count > members) draft_.require_grouped_edges(count, members, line);
    const std::uint32_t kept = draft_.keep({without_graphviz(attributes), defaults}, line);
    for (std::size_t i = 0; i + 1 < chain.size(); ++i)
      for (const std::uint32_t from : chain[i].members)
        for (const std::uint32_t to : chain[i + 1].members) draft_.add_edge(from, to, line, kept);
  }

  End read_end(Scope& scope, int depth) {
    const DotToken& first = tokens_.next();
    if (first.is("{") || first.is_keyword("subgraph")) return read_group(scope, depth);
    const std::size_t line = first.line;
    const std::string name = tokens_.expect_id("the name of a node");
    while (tokens_.accept(":")) tokens_.expect_id("the name of a port");
    const auto [node, fresh] = draft_.node(name, line);
    if (fresh) draft_.set_defaults(node, scope.node, line);
    scope.members.push_back(node);
    return {{node}, {}};
  }

  End read_group(Scope& scope, int depth) {
    if (tokens_.next().is_keyword("subgraph")) {
      tokens_.take();
      if (tokens_.next().kind == DotToken::Kind::id) tokens_.take();
    }
    tokens_.expect("{", "the name of a subgraph");
    Scope inner{scope.node, scope.edge};
    read_statements(inner, depth + 1);
    std::sort(inner.members.begin(), inner.members.end());
    inner.members.erase(std::unique(inner.members.begin(), inner.members.end()), inner.members.end());
    scope.members.insert(scope.members.end(), inner.members.begin(), inner.members.end());
    return {std::move(inner.members), std::move(inner.declared)};
  }

  /// Adds to the attributes.
  Attributes read_attributes(Attributes attributes) {
    while (tokens_.accept("["))
      while (!tokens_.accept("]")) {
        const std::string name = tokens_.expect_id("the name of an attribute or ']'");
        // Graphviz takes a name alone for one that is true.
        const std::size_t line = tokens_.next().line;
        draft_.note(attributes, name, tokens_.accept("=") ? tokens_.expect_id("a value") : "true", line);
        if (!tokens_.accept(",")) tokens_.accept(";");
      }
    return attributes;
  }

  void check_graph_attributes(const Attributes& attributes, std::size_t line) const {
    for (const auto& [name, value] : attributes)
      if (!is_graphviz_attribute(name))
        draft_.refuse_at(line,
                         {.code = "unknown-attribute",
                          .message = fmt::format("a graph has no attribute '{}'; nodes and edges have some",
                                                 shortened(name)),
                          .help = {"h [kind=bernoulli units=64];"}});
  }

  GraphDraft draft_;
  DotTokens tokens_;
};

}  // namespace

GraphDraft read_dot(std::string_view text, const std::string& file) { return DotReader(text, file).run(); }

}  // namespace hindsight::internal
