#include <hindsight/graph/reachability.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include <hindsight/graph/parent_graph.hpp>

namespace hindsight::internal {

ReachabilitySweep::ReachabilitySweep(const ParentGraph& dag)
    : dag_(dag), places_(dag.size(), nobody), slots_(dag.size(), no_slot), rows_(first_row) {
  if (dag_.transparent.empty()) sort_edges();
}

void ReachabilitySweep::sort_edges() {
  const auto count = static_cast<Vertex>(dag_.size());
  children_begin_.assign(count + 1, 0);
  parents_begin_.assign(count + 1, 0);
  for (Vertex vertex = 0; vertex < count; ++vertex) {
    const std::span<const Vertex> parents = dag_.parents_of(vertex);
    parents_begin_[vertex + 1] = parents_begin_[vertex] + parents.size();
    for (const Vertex parent : parents) ++children_begin_[parent + 1];
  }
  std::partial_sum(children_begin_.begin(), children_begin_.end(), children_begin_.begin());
  children_.resize(num_edges(dag_.edges));
  std::vector<std::size_t> next(children_begin_.begin(), children_begin_.end() - 1);
  for (Vertex vertex = 0; vertex < count; ++vertex)
    for (const Vertex parent : dag_.parents_of(vertex)) children_[next[parent]++] = vertex;
  parents_.resize(children_.size());
  std::copy(parents_begin_.begin(), parents_begin_.end() - 1, next.begin());
  for (Vertex vertex = count; vertex-- > 0;)
    for (std::size_t i = children_begin_[vertex]; i < children_begin_[vertex + 1]; ++i)
      parents_[next[children_[i]]++] = vertex;
  parents_end_.assign(parents_begin_.begin() + 1, parents_begin_.end());
  reads_source_.assign(count, 0);
}

std::span<const ReachabilitySweep::Hit> ReachabilitySweep::run(std::span<const Source> sources) {
  // Outside the sweep every place is empty, so that parents before it need no question.
  if (!places_.empty()) {
    std::fill(places_.begin() + first_, places_.begin() + last_ + 1, nobody);
    std::fill(slots_.begin() + first_, slots_.begin() + last_source_ + 1, no_slot);
  }
  hits_.clear();
  used_ = first_row;
  if (sources.empty()) return hits_;
  first_ = sources.front().vertex;
  last_ = last_source_ = sources.back().vertex;
  rows_[everybody] = {};
  for (std::size_t slot = 0; slot < sources.size(); ++slot) {
    slots_[sources[slot].vertex] = static_cast<std::uint32_t>(slot);
    rows_[everybody].bits[slot / 64] |= std::uint64_t{1} << (slot % 64);
    last_ = std::max(last_, sources[slot].last_child);
  }
  if (dag_.transparent.empty())
    sweep(sources);
  else
    for (Vertex vertex = first_ + 1; vertex <= last_; ++vertex) visit_where_some_are_transparent(vertex);
  return hits_;
}

void ReachabilitySweep::sweep(std::span<const Source> sources) {
  const auto mark_readers = [&](char mark) {
    for (const Source& source : sources)
      for (std::size_t i = children_begin_[source.vertex]; i < children_begin_[source.vertex + 1]; ++i)
        reads_source_[children_[i]] = mark;
  };
  mark_readers(1);
  for (Vertex vertex = first_ + 1; vertex <= last_; ++vertex)
    if (reads_source_[vertex])
      visit_reader(vertex);
    else
      places_[vertex] = row_of_parents(vertex);
  mark_readers(0);
  for (const auto& [slot, child] : hits_) forget(sources[slot].vertex, child);
}

/// Who reaches the parent reaches the child by the longer route, too.
void ReachabilitySweep::forget(Vertex parent, Vertex child) {
  const auto first = parents_.begin() + static_cast<std::ptrdiff_t>(parents_begin_[child]),
             last = parents_.begin() + static_cast<std::ptrdiff_t>(parents_end_[child]--);
  const auto at = std::lower_bound(first, last, parent, std::greater<>());
  std::copy(at + 1, last, at);
}

ReachabilitySweep::Row& ReachabilitySweep::append(const Row& row) {
  if (used_ == rows_.size()) rows_.resize(rows_.size() + rows_.size() / 2 + 64);
  return rows_[used_++] = row;
}

/// Who reaches the vertex if it reads no source itself. Far from the sources most vertices are reached by all
/// of them, as one parent tells.
std::uint32_t ReachabilitySweep::row_of_parents(Vertex vertex) {
  std::uint32_t only = nobody;  // one row that is all there is
  bool several = false;
  Row round;
  for (std::size_t i = parents_begin_[vertex]; i < parents_end_[vertex] && parents_[i] >= first_; ++i) {
    const std::uint32_t row = places_[parents_[i]];
    if (row == everybody) return everybody;
    if (row == nobody || row == only) continue;
    several = several || only != nobody;
    only = row;
    for (std::size_t w = 0; w < words; ++w) round.bits[w] |= rows_[row].bits[w];
  }
  if (!several) return only;
  if (round.bits == rows_[everybody].bits) return everybody;
  append(round);
  return static_cast<std::uint32_t>(used_ - 1);
}

/// The sources that reach a parent are those that go round; the parents that are sources are those that do
/// not. Who does both has an edge at fault.
void ReachabilitySweep::visit_reader(Vertex vertex) {
  Row round;
  std::array<std::uint32_t, most_sources> direct;
  std::size_t count = 0;
  for (std::size_t i = parents_begin_[vertex]; i < parents_end_[vertex] && parents_[i] >= first_; ++i) {
    const Vertex parent = parents_[i];
    if (parent <= last_source_ && slots_[parent] != no_slot) direct[count++] = slots_[parent];
    if (places_[parent] == nobody) continue;
    for (std::size_t w = 0; w < words; ++w) round.bits[w] |= rows_[places_[parent]].bits[w];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (has(round, direct[i])) hits_.push_back({direct[i], vertex});
    round.bits[direct[i] / 64] |= std::uint64_t{1} << (direct[i] % 64);
  }
  const bool all = round.bits == rows_[everybody].bits;
  places_[vertex] = all ? everybody : static_cast<std::uint32_t>(used_);
  if (!all) append(round);
}

/// The same, but who goes round and who does not is handed on by transparent vertices.
void ReachabilitySweep::visit_where_some_are_transparent(Vertex vertex) {
  Row round, direct;
  for (const Vertex parent : dag_.parents_of(vertex)) {
    const Row& row = rows_[places_[parent]];
    for (std::size_t i = 0; i < words; ++i) round.bits[i] |= row.bits[i];
    if (const std::uint32_t slot = slots_[parent]; slot != no_slot)
      direct.bits[slot / 64] |= std::uint64_t{1} << (slot % 64);
    if (!dag_.transparent[parent]) continue;
    const Row& handed_on = rows_[places_[parent] + 1];
    for (std::size_t i = 0; i < words; ++i) direct.bits[i] |= handed_on.bits[i];
  }
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < words; ++i) any |= round.bits[i] | direct.bits[i];
  if (any == 0) return;
  places_[vertex] = static_cast<std::uint32_t>(used_);
  if (dag_.transparent[vertex]) {
    append(round);
    append(direct);
    return;
  }
  for (std::size_t i = 0; i < words; ++i) {
    for (std::uint64_t both = round.bits[i] & direct.bits[i]; both != 0; both &= both - 1)
      hits_.push_back(
          {static_cast<std::uint32_t>(64 * i) + static_cast<std::uint32_t>(std::countr_zero(both)), vertex});
    round.bits[i] |= direct.bits[i];
  }
  append(round);
}

ContractedParents::ContractedParents(const ParentGraph& dag)
    : dag_(dag), seen_(dag.transparent.empty() ? 0 : dag.size(), 0) {}

std::span<const Vertex> ContractedParents::of(Vertex vertex) {
  if (dag_.transparent.empty()) return dag_.parents_of(vertex);
  ++call_;
  found_.clear();
  stack_.assign(1, dag_.parents_of(vertex));  // of our own: chains of deterministic nodes may be long
  while (!stack_.empty()) {
    std::span<const Vertex>& left = stack_.back();
    if (left.empty()) {
      stack_.pop_back();
      continue;
    }
    const Vertex parent = left.front();
    left = left.subspan(1);
    ++steps_;
    if (seen_[parent] == call_) continue;
    seen_[parent] = call_;
    if (dag_.transparent[parent])
      stack_.push_back(dag_.parents_of(parent));
    else
      found_.push_back(parent);
  }
  return found_;
}

std::vector<std::span<const Source>> gather_in_order(std::span<const Source> sources) {
  std::vector<std::span<const Source>> groups;
  for (std::size_t first = 0; first < sources.size(); first += ReachabilitySweep::most_sources)
    groups.push_back(
        sources.subspan(first, std::min(ReachabilitySweep::most_sources, sources.size() - first)));
  return groups;
}

std::vector<std::span<const Source>> gather_by_reach(std::vector<Source>& sources) {
  // Steps of 8: with n sources the sweeps of one step take no more than a pass over the graph and n / 512
  // times 8 times what the nearest of them needs.
  const auto step = [](const Source& source) {
    return std::bit_width(source.last_child - std::min(source.vertex, source.last_child)) / 3;
  };
  std::stable_sort(sources.begin(), sources.end(),
                   [&](const Source& a, const Source& b) { return step(a) < step(b); });
  std::vector<std::span<const Source>> groups;
  for (std::size_t first = 0, last = 0; first < sources.size(); first = last) {
    while (last < sources.size() && step(sources[last]) == step(sources[first])) ++last;
    const auto same = gather_in_order(std::span<const Source>(sources).subspan(first, last - first));
    groups.insert(groups.end(), same.begin(), same.end());
  }
  std::reverse(groups.begin(), groups.end());
  return groups;
}

EdgesAtFault::EdgesAtFault(const ParentGraph& dag, std::vector<Source> sources) {
  ReachabilitySweep sweep(dag);
  for (const std::span<const Source> group : gather_by_reach(sources))
    for (const auto& [slot, child] : sweep.run(group)) edges_.emplace_back(group[slot].vertex, child);
  std::sort(edges_.begin(), edges_.end());
}

bool EdgesAtFault::contains(Vertex parent, Vertex child) const {
  return std::binary_search(edges_.begin(), edges_.end(), std::pair(parent, child));
}

}  // namespace hindsight::internal
