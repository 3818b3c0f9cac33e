#include <hindsight/graph/boost_import.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/topological_order.hpp>

namespace hindsight::internal {
namespace {

void refuse_self_loops(const ParentLists& lists, const VertexName& name_of) {
  for (std::uint32_t child = 0; child + 1 < lists.begin.size(); ++child)
    for (std::size_t e = lists.begin[child]; e < lists.begin[child + 1]; ++e)
      if (lists.parents[e] == child) refuse(explain_self_loop(name_of(child)));
}

void refuse_parallel_edges(const ParentLists& lists, const VertexName& name_of) {
  std::vector<std::uint32_t> listed_by(lists.begin.size() - 1, 0);  // the child, from 1
  for (std::uint32_t child = 0; child + 1 < lists.begin.size(); ++child)
    for (std::size_t e = lists.begin[child]; e < lists.begin[child + 1]; ++e)
      if (std::exchange(listed_by[lists.parents[e]], child + 1) == child + 1)
        refuse({.code = "duplicate-parent",
                .node = name_of(child),
                .message = fmt::format(
                    "{} edges lead to it from '{}'; one edge joins two nodes",
                    std::count(lists.parents.begin() + static_cast<std::ptrdiff_t>(lists.begin[child]),
                               lists.parents.begin() + static_cast<std::ptrdiff_t>(lists.begin[child + 1]),
                               lists.parents[e]),
                    name_of(lists.parents[e])),
                .help = {"list each edge once; Pattern::pairs joins any set of units"}});
}

}  // namespace

std::vector<std::uint32_t> order_vertices(std::span<const std::size_t> begin,
                                          std::span<const std::uint32_t> parents, const VertexName& name_of) {
  refuse_self_loops({begin, parents}, name_of);
  refuse_parallel_edges({begin, parents}, name_of);
  TopologicalOrder found = topological_order({begin, parents});
  if (found.cycle.empty()) return std::move(found.order);
  Route names;
  for (const std::uint32_t member : found.cycle) names.push_back(name_of(member));
  refuse(explain_cycle(std::move(names)));
}

void refuse_unlisted_vertex(const std::string& neighbour) {
  refuse(
      {.code = "unlisted-vertex",
       .message = fmt::format(
           "an edge joins '{}' to a vertex that vertices(network) does not list; no node could be made of it",
           neighbour),
       .help = {"list every vertex, or leave the edge out: boost::filtered_graph does"}});
}

void check_vertex_count(std::size_t count) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (count > most)
    refuse({.code = "too-many-units",
            .message = fmt::format("the network has {} vertices, each of at least one unit; {} is the most",
                                   count, most),
            .help = {"split the model into several graphs"}});
}

void refuse_missing_parent(const std::string& parent, const std::string& child) {
  refuse({.code = "unknown-parent",
          .node = parent,
          .message =
              fmt::format("make_node returned NodeId{{}}, so it became no node, and '{}' reads it", child),
          .help = {fmt::format("make a node of {0}, or leave out {0} -> {1}", parent, child)}});
}

void refuse_with_name(const Error& refusal, const std::string& vertex) {
  const std::vector<Diagnostic>& said = refusal.report().diagnostics;
  if (said.size() != 1 || !said.front().node.empty()) return;
  Diagnostic named = said.front();
  named.node = vertex;
  refuse(std::move(named));
}

}  // namespace hindsight::internal
