#include <hindsight/graph/graph_draft.hpp>

#include <fmt/format.h>

namespace hindsight {

GraphDraft::Found GraphDraft::node(std::string_view name, std::size_t line) {
  if (name.size() > longest_name)
    refuse_at(line, {.code = "file-syntax",
                     .message = fmt::format("a name of {} bytes begins here, '{}…'; {} is the most",
                                            name.size(), name.substr(0, 20), longest_name),
                     .help = {"is this a graph file?"}});
  const auto [at, fresh] = index_.try_emplace(std::string(name), static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({&at->first, static_cast<std::uint32_t>(line)});
  return {at->second, fresh};
}

const std::uint32_t* GraphDraft::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &found->second;
}

void GraphDraft::add_edge(std::uint32_t from, std::uint32_t to, std::size_t line,
                          const Attributes& attributes) {
  if (edges_.size() == most_edges)
    refuse_at(line, {.code = "file-size",
                     .message = fmt::format("the file asks for more than {} edges", most_edges),
                     .help = {"gather units into populations: h [kind=bernoulli units=64]"}});
  Edge edge{from, to, static_cast<std::uint32_t>(line)};
  if (!attributes.empty()) {
    edge.attributes = static_cast<std::uint32_t>(edge_attributes_.size());
    edge_attributes_.push_back(attributes);
  }
  edges_.push_back(edge);
}

void GraphDraft::refuse_at(std::size_t line, Diagnostic diagnostic) const {
  diagnostic.place = fmt::format("{}:{}", file_, line);
  refuse(std::move(diagnostic));
}

}  // namespace hindsight
