#include <hindsight/graph/topological_order.hpp>

#include <algorithm>
#include <functional>
#include <queue>

#include <fmt/format.h>

namespace hindsight::internal {
namespace {

/// Every vertex that still waits has a parent that waits: going back must come round.
std::vector<std::uint32_t> find_cycle(const ParentLists& lists, std::span<const std::size_t> waits_for) {
  const auto waiting_parent = [&](std::uint32_t child) {
    const auto parents =
        lists.parents.subspan(lists.begin[child], lists.begin[child + 1] - lists.begin[child]);
    return *std::find_if(parents.begin(), parents.end(),
                         [&](std::uint32_t parent) { return waits_for[parent] > 0; });
  };
  auto at = static_cast<std::uint32_t>(
      std::find_if(waits_for.begin(), waits_for.end(), [](std::size_t n) { return n > 0; }) -
      waits_for.begin());
  std::vector<bool> seen(waits_for.size());
  for (; !seen[at]; at = waiting_parent(at)) seen[at] = true;
  std::vector<std::uint32_t> cycle;  // backwards
  for (std::uint32_t vertex = at; cycle.empty() || vertex != at; vertex = waiting_parent(vertex))
    cycle.push_back(vertex);
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

}  // namespace

TopologicalOrder topological_order(const ParentLists& lists) {
  const std::size_t count = lists.begin.size() - 1;
  std::vector<std::size_t> waits_for(count), begin(count + 1, 0);
  for (const std::uint32_t parent : lists.parents) ++begin[parent + 1];
  for (std::size_t i = 0; i < count; ++i) {
    waits_for[i] = lists.begin[i + 1] - lists.begin[i];
    begin[i + 1] += begin[i];
  }
  std::vector<std::uint32_t> children(lists.parents.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t child = 0; child < count; ++child)
    for (std::size_t e = lists.begin[child]; e < lists.begin[child + 1]; ++e)
      children[next[lists.parents[e]]++] = child;

  TopologicalOrder found;
  found.order.reserve(count);
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < count; ++i)
    if (waits_for[i] == 0) ready.push(i);
  while (!ready.empty()) {
    const std::uint32_t at = ready.top();
    ready.pop();
    found.order.push_back(at);
    for (std::size_t c = begin[at]; c < begin[at + 1]; ++c)
      if (--waits_for[children[c]] == 0) ready.push(children[c]);
  }
  if (found.order.size() < count) found.cycle = find_cycle(lists, waits_for);
  return found;
}

Diagnostic explain_cycle(Route names) {
  const std::size_t count = names.size();
  names.push_back(names.front());
  return {
      .code = "cycle",
      .node = names.front(),
      .message = fmt::format("{} nodes read each other in a circle, so none could be sampled first", count),
      .witness = {names},
      .help = {fmt::format("leave out one of these edges, e.g. {} -> {}", names[count - 1], names[count])}};
}

Diagnostic explain_self_loop(const std::string& name) {
  return {.code = "self-loop",
          .node = name,
          .message = "it is its own parent; a graph without cycles has no such edge",
          .help = {fmt::format("leave out {0} -> {0}", name)}};
}

}  // namespace hindsight::internal
