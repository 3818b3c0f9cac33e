#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

/// What a graph file says, before anything of it is checked. Every reader makes one; `build_graph` alone
/// knows what it means.
class GraphDraft {
 public:
  /// A longer name is a sign that the file is no graph.
  static constexpr std::size_t longest_name = 4096;
  /// A short file can ask for any number of edges: {a b c} -> {d e f}.
  static constexpr std::size_t most_edges = 50'000'000;
  /// Of those, so many need not be written one by one: reading takes time as the file is long.
  static constexpr std::size_t most_grouped_edges = 10'000'000;
  /// Of one node or edge, and of one list of defaults.
  static constexpr std::size_t most_attributes = 1000;
  /// Of all attributes together; defaults are kept once, but read at every node they hold for.
  static constexpr std::size_t most_attribute_bytes = std::size_t{1} << 30;

  /// Which of the lists of defaults; 0: none.
  using Defaults = std::uint32_t;
  /// What is said of a node, or of edges.
  struct Description {
    Attributes own = {};
    Defaults defaults = 0;  ///< hold where `own` says nothing
  };
  struct Node {
    const std::string* name = nullptr;
    std::uint32_t line = 0;
    bool is_declared = false;  ///< in a statement of its own, not just as the end of an edge
    Description description = {};
  };
  struct Edge {
    std::uint32_t from = 0, to = 0, line = 0;
    std::uint32_t description = 0;  ///< which of them; 0: nothing is said
  };
  enum class Strangers {
    refused,  ///< attributes that nobody understands
    ignored,  ///< unless one of ours was probably meant
  };

  explicit GraphDraft(std::string file, Strangers strangers = Strangers::refused)
      : file_(std::move(file)), strangers_(strangers) {}

  const std::string& file() const { return file_; }
  Strangers strangers() const { return strangers_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }
  const Description& description(const Edge& edge) const { return edge_descriptions_[edge.description]; }
  const Attributes& defaults(Defaults which) const { return defaults_[which]; }
  /// None: neither the node itself says it nor a default.
  const std::string* find(const Description& description, std::string_view attribute) const;
  bool is_described(const Description& description) const {
    return !description.own.empty() || !defaults_[description.defaults].empty();
  }
  AttributeReader reader(const Description& description) const {
    return {description.own, defaults_[description.defaults]};
  }
  /// Calls visit(name, value) for all that holds.
  template <class Visit>
  void for_each_attribute(const Description& description, const Visit& visit) const {
    for (const auto& [name, value] : description.own) visit(name, value);
    for (const auto& [name, value] : defaults_[description.defaults])
      if (!description.own.find(name)) visit(name, value);
  }

  /// Repeated edges are one, as Graphviz' `strict` has it.
  void merge_repeated_edges() { merges_ = true; }
  bool merges_repeated_edges() const { return merges_; }

  /// The node of that name; `fresh` says whether it was new.
  struct Found {
    std::uint32_t node;
    bool fresh;
  };
  Found node(std::string_view name, std::size_t line);
  /// None: there is no such node.
  const std::uint32_t* find(std::string_view name) const;
  void declare(std::uint32_t node) { nodes_[node].is_declared = true; }
  /// Keeps a list of defaults, to be shared by nodes or by edges.
  Defaults share(Attributes attributes, std::size_t line);
  /// Of a node that has none.
  void set_defaults(std::uint32_t node, Defaults defaults, std::size_t line);
  /// Refuses, before it is tried, a graph of as many nodes as there are and one more.
  void require_room_for_nodes(std::size_t line) const;
  /// Adds to what the node has; later values win.
  void describe(std::uint32_t node, const Attributes& attributes, std::size_t line);
  /// Of one or more edges, to be passed to add_edge.
  std::uint32_t keep(Description description, std::size_t line);
  /// Of groups with so many members: refuses, before it is tried, what would take too long.
  void require_grouped_edges(double count, double members, std::size_t line);
  void add_edge(std::uint32_t from, std::uint32_t to, std::size_t line, std::uint32_t description = 0);
  /// Leaves none behind: a graph is built while they are forgotten.
  std::vector<Edge> take_edges() { return std::move(edges_); }

  /// Sets an attribute as a file has it; too many are refused.
  void note(Attributes& attributes, std::string_view name, std::string value, std::size_t line) const;

  /// Throws the diagnostic with the file and the line as its place.
  [[noreturn]] void refuse_at(std::size_t line, Diagnostic diagnostic) const;

 private:
  void count_bytes(std::size_t bytes, std::size_t line);
  void require_room(std::size_t edges, std::size_t line) const;
  void require_memory_at(std::size_t line, double bytes, const std::string& what) const;

  std::string file_;
  Strangers strangers_;
  bool merges_ = false;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Description> edge_descriptions_{1};
  std::vector<Attributes> defaults_{1};
  std::vector<std::size_t> default_bytes_{0};
  std::unordered_map<Defaults, std::uint32_t> kept_defaults_;  ///< edges that say nothing themselves
  std::size_t attribute_bytes_ = 0;
  double grouped_edges_ = 0;
  std::unordered_map<std::string, std::uint32_t> index_;
};

/// The graph that the draft describes. Nodes are added in the order of the file as far as parents allow.
Graph build_graph(GraphDraft draft, const Catalogue& catalogue);

/// How an edge with these attributes is wired.
Pattern to_pattern(AttributeReader& given);

/// Whether Graphviz understands an attribute of that name, so that we need not.
bool is_graphviz_attribute(std::string_view name);

/// What is said of edges without it: no part of ours asks an edge for more than its pattern. What Graphviz
/// understands of nodes is kept, since a node type may ask for it.
Attributes without_graphviz(const Attributes& attributes);

/// What the library said, with help in the words of files instead of C++.
Diagnostic in_words_of_files(Diagnostic diagnostic);

GraphDraft read_dot(std::string_view text, const std::string& file);
GraphDraft read_edge_list(std::string_view text, const std::string& file);
GraphDraft read_graphml(std::string_view text, const std::string& file);

}  // namespace hindsight::internal
