#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hindsight/core/attributes.hpp>
#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight {

/// What a graph file says, before anything of it is checked. Every reader makes one; `build_graph` alone
/// knows what it means.
class GraphDraft {
 public:
  /// A longer name is a sign that the file is no graph.
  static constexpr std::size_t longest_name = 4096;
  /// A short file can ask for any number of edges: {a b c} -> {d e f}.
  static constexpr std::size_t most_edges = 50'000'000;

  /// Of one node or edge.
  static constexpr std::size_t most_attributes = 1000;
  /// Of all attributes together: defaults are kept once per node they hold for.
  static constexpr std::size_t most_attribute_bytes = std::size_t{1} << 30;

  struct Node {
    const std::string* name = nullptr;
    std::uint32_t line = 0;
    Attributes attributes = {};
  };
  struct Edge {
    std::uint32_t from = 0, to = 0, line = 0;
    std::uint32_t attributes = 0;  ///< which of edge_attributes; 0: none
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
  const Attributes& attributes(const Edge& edge) const { return edge_attributes_[edge.attributes]; }

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
  const Attributes& attributes_of(std::uint32_t node) const { return nodes_[node].attributes; }
  /// Adds to what the node has; later values win.
  void describe(std::uint32_t node, const Attributes& attributes, std::size_t line);
  /// Of one or more edges, to be passed to add_edge.
  std::uint32_t keep(const Attributes& attributes, std::size_t line);
  void add_edge(std::uint32_t from, std::uint32_t to, std::size_t line, std::uint32_t attributes = 0);

  /// Sets an attribute as a file has it: those of Graphviz are left out, and too many are refused.
  void note(Attributes& attributes, const std::string& name, std::string value, std::size_t line) const;

  /// Throws the diagnostic with the file and the line as its place.
  [[noreturn]] void refuse_at(std::size_t line, Diagnostic diagnostic) const;

 private:
  void count_bytes(const Attributes& attributes, std::size_t line);

  std::string file_;
  Strangers strangers_;
  bool merges_ = false;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Attributes> edge_attributes_{1};
  std::size_t attribute_bytes_ = 0;
  std::unordered_map<std::string, std::uint32_t> index_;
};

/// The graph that the draft describes. Nodes are added in the order of the file as far as parents allow.
Graph build_graph(const GraphDraft& draft, const Catalogue& catalogue);

/// Whether Graphviz understands an attribute of that name, so that we need not.
bool is_graphviz_attribute(std::string_view name);

GraphDraft read_dot(std::string_view text, const std::string& file);
GraphDraft read_edge_list(std::string_view text, const std::string& file);
GraphDraft read_graphml(std::string_view text, const std::string& file);

}  // namespace hindsight
