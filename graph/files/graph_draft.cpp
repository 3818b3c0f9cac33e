#include <hindsight/graph/graph_draft.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/memory.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight::internal {
namespace {

/// What an attribute takes beside its text: where it is kept, and where it is only looked at.
constexpr std::size_t bytes_kept = sizeof(std::pair<std::string, std::string>) + sizeof(std::uint32_t);
constexpr std::size_t bytes_looked_at = 16;
constexpr std::string_view gather = "gather units into populations: h [kind=bernoulli units=64]";

std::size_t bytes_of(const Attributes& attributes, std::size_t of_each) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : attributes) bytes += of_each + name.size() + value.size();
  return bytes;
}

}  // namespace

const std::string* GraphDraft::find(const Description& description, std::string_view attribute) const {
  const std::string* const own = description.own.find(attribute);
  return own ? own : defaults_[description.defaults].find(attribute);
}

GraphDraft::Found GraphDraft::node(std::string_view name, std::size_t line) {
  if (name.size() > longest_name)
    refuse_at(line, {.code = "file-syntax",
                     .message = fmt::format("a name of {} bytes begins here, '{}'; {} is the most",
                                            name.size(), shortened(name, 20), longest_name),
                     .help = {"is this a graph file?"}});
  if (nodes_.size() == nodes_.capacity()) require_room_for_nodes(line);
  const auto [at, fresh] = index_.try_emplace(std::string(name), static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({&at->first, static_cast<std::uint32_t>(line)});
  return {at->second, fresh};
}

const std::uint32_t* GraphDraft::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &found->second;
}

void GraphDraft::note(Attributes& attributes, std::string_view name, std::string value,
                      std::size_t line) const {
  attributes.set(name, std::move(value));
  if (attributes.size() > most_attributes)
    refuse_at(line, {.code = "file-size",
                     .message = fmt::format("a node or edge has more than {} attributes", most_attributes),
                     .help = {"h [kind=bernoulli units=64]"}});
}

void GraphDraft::count_bytes(std::size_t bytes, std::size_t line) {
  attribute_bytes_ += bytes;
  if (attribute_bytes_ > most_attribute_bytes)
    refuse_at(line, {.code = "file-size",
                     .message = fmt::format("attributes would take more than {} bytes", most_attribute_bytes),
                     .help = {"give long attributes to the nodes that need them, not to all by default"}});
}

GraphDraft::Defaults GraphDraft::share(Attributes attributes, std::size_t line) {
  count_bytes(bytes_of(attributes, bytes_kept), line);
  default_bytes_.push_back(bytes_of(attributes, bytes_looked_at));
  defaults_.push_back(std::move(attributes));
  return static_cast<Defaults>(defaults_.size() - 1);
}

void GraphDraft::set_defaults(std::uint32_t node, Defaults defaults, std::size_t line) {
  count_bytes(default_bytes_[defaults], line);
  nodes_[node].description.defaults = defaults;
}

void GraphDraft::describe(std::uint32_t node, const Attributes& attributes, std::size_t line) {
  count_bytes(bytes_of(attributes, bytes_kept), line);
  for (const auto& [name, value] : attributes) note(nodes_[node].description.own, name, value, line);
}

std::uint32_t GraphDraft::keep(Description description, std::size_t line) {
  if (!is_described(description)) return 0;
  const auto next = static_cast<std::uint32_t>(edge_descriptions_.size());
  if (description.own.empty()) {
    const auto [at, fresh] = kept_defaults_.try_emplace(description.defaults, next);
    if (!fresh) return at->second;
  }
  count_bytes(bytes_of(description.own, bytes_kept) + default_bytes_[description.defaults], line);
  edge_descriptions_.push_back(std::move(description));
  return next;
}

void GraphDraft::require_grouped_edges(double count, double members, std::size_t line) {
  const double edges = static_cast<double>(edges_.size()) + count;
  grouped_edges_ += std::max(count - members, 0.0);
  if (grouped_edges_ > static_cast<double>(most_grouped_edges))
    refuse_at(line, {.code = "file-size",
                     .message = fmt::format(
                         "groups such as {{a b}} -> {{c d}} make {:.0f} edges up to here; {} that are not "
                         "written one by one is the most",
                         edges, most_grouped_edges),
                     .help = {std::string(gather)}});
  require_room(static_cast<std::size_t>(edges), line);
}

void GraphDraft::require_room(std::size_t edges, std::size_t line) const {
  if (edges > most_edges)
    refuse_at(line, {.code = "file-size",
                     .message = fmt::format("the file asks for more than {} edges", most_edges),
                     .help = {std::string(gather)}});
  // In the draft, and in the graph with its name among the child's parameters, from both ends.
  constexpr double bytes_per_edge =
      sizeof(Edge) + sizeof(Graph::Parent) + sizeof(ParameterBlock) + 2 * sizeof(NodeId);
  require_memory_at(line, bytes_per_edge * static_cast<double>(edges),
                    fmt::format("a graph of {} edges", edges));
}

void GraphDraft::require_room_for_nodes(std::size_t line) const {
  // Here and in the graph, with a short name.
  constexpr double bytes_per_node = 700;
  require_memory_at(line, bytes_per_node * static_cast<double>(nodes_.size() + 1),
                    fmt::format("a graph of {} nodes", nodes_.size() + 1));
}

void GraphDraft::require_memory_at(std::size_t line, double bytes, const std::string& what) const {
  try {
    require_memory(bytes, what, std::string(gather));
  } catch (const Error& refusal) {
    refuse_at(line, refusal.report().diagnostics.front());
  }
}

void GraphDraft::add_edge(std::uint32_t from, std::uint32_t to, std::size_t line, std::uint32_t description) {
  if (edges_.size() == most_edges || edges_.size() == edges_.capacity()) {
    require_room(edges_.size() + 1, line);
    edges_.reserve(std::min(2 * edges_.size() + 16, most_edges));
  }
  edges_.push_back({from, to, static_cast<std::uint32_t>(line), description});
}

void GraphDraft::refuse_at(std::size_t line, Diagnostic diagnostic) const {
  diagnostic.place = fmt::format("{}:{}", file_, line);
  refuse(std::move(diagnostic));
}

}  // namespace hindsight::internal
