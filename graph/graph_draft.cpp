#include <hindsight/graph/graph_draft.hpp>

#include <fmt/format.h>

#include <hindsight/core/terminal_text.hpp>

namespace hindsight {

GraphDraft::Found GraphDraft::node(std::string_view name, std::size_t line) {
  if (name.size() > longest_name)
    refuse_at(line, {.code = "file-syntax",
                     .message = fmt::format("a name of {} bytes begins here, '{}'; {} is the most",
                                            name.size(), shortened(name, 20), longest_name),
                     .help = {"is this a graph file?"}});
  const auto [at, fresh] = index_.try_emplace(std::string(name), static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({&at->first, static_cast<std::uint32_t>(line)});
  return {at->second, fresh};
}

const std::uint32_t* GraphDraft::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &found->second;
}

void GraphDraft::note(Attributes& attributes, const std::string& name, std::string value,
                      std::size_t line) const {
  if (is_graphviz_attribute(name)) return;
  attributes.set(name, std::move(value));
  if (attributes.size() > most_attributes)
    refuse_at(line, {.code = "file-size",
                     .message = fmt::format("a node or edge has more than {} attributes", most_attributes),
                     .help = {"h [kind=bernoulli units=64]"}});
}

void GraphDraft::count_bytes(const Attributes& attributes, std::size_t line) {
  for (const auto& [name, value] : attributes) attribute_bytes_ += name.size() + value.size();
  if (attribute_bytes_ > most_attribute_bytes)
    refuse_at(line, {.code = "file-size",
                     .message = fmt::format("attributes would take more than {} bytes", most_attribute_bytes),
                     .help = {"give long attributes to the nodes that need them, not to all by default"}});
}

void GraphDraft::describe(std::uint32_t node, const Attributes& attributes, std::size_t line) {
  count_bytes(attributes, line);
  for (const auto& [name, value] : attributes) note(nodes_[node].attributes, name, value, line);
}

std::uint32_t GraphDraft::keep(const Attributes& attributes, std::size_t line) {
  if (attributes.empty()) return 0;
  count_bytes(attributes, line);
  edge_attributes_.push_back(attributes);
  return static_cast<std::uint32_t>(edge_attributes_.size() - 1);
}

void GraphDraft::add_edge(std::uint32_t from, std::uint32_t to, std::size_t line, std::uint32_t attributes) {
  if (edges_.size() == most_edges)
    refuse_at(line, {.code = "file-size",
                     .message = fmt::format("the file asks for more than {} edges", most_edges),
                     .help = {"gather units into populations: h [kind=bernoulli units=64]"}});
  edges_.push_back({from, to, static_cast<std::uint32_t>(line), attributes});
}

void GraphDraft::refuse_at(std::size_t line, Diagnostic diagnostic) const {
  diagnostic.place = fmt::format("{}:{}", file_, line);
  refuse(std::move(diagnostic));
}

}  // namespace hindsight
