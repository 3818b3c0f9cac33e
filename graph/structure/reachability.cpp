#include <hindsight/graph/reachability.hpp>

#include <algorithm>
#include <bit>
#include <functional>

#include <hindsight/graph/parent_graph.hpp>

namespace hindsight::internal {

ReachabilitySweep::ReachabilitySweep(const ParentGraph& dag)
    : dag_(dag), places_(dag.size()), rows_(first_row) {
  if (dag_.transparent.empty()) sort_parents();
}

void ReachabilitySweep::sort_parents() {
  parents_.reserve(num_edges(dag_.edges));
  parents_begin_.reserve(dag_.size() + 1);
  for (Vertex vertex = 0; vertex < dag_.size(); ++vertex) {
    const std::span<const Vertex> listed = dag_.parents_of(vertex);
    const auto begin = static_cast<std::ptrdiff_t>(parents_.size());
    parents_begin_.push_back(parents_.size());
    parents_.insert(parents_.end(), listed.begin(), listed.end());
    std::sort(parents_.begin() + begin, parents_.end(), std::greater<>());
  }
  parents_begin_.push_back(parents_.size());
}

std::span<const ReachabilitySweep::Hit> ReachabilitySweep::run(std::span<const Source> sources) {
  // Outside the sweep every place is empty, so that parents before it need no question.
  if (!places_.empty()) std::fill(places_.begin() + first_, places_.begin() + last_ + 1, Place{});
  hits_.clear();
  used_ = first_row;
  if (sources.empty()) return hits_;
  first_ = sources.front().vertex;
  last_ = last_source_ = sources.back().vertex;
  rows_[everybody] = {};
  for (std::size_t slot = 0; slot < sources.size(); ++slot) {
    places_[sources[slot].vertex].slot = static_cast<std::int32_t>(slot);
    rows_[everybody].bits[slot / 64] |= std::uint64_t{1} << (slot % 64);
    last_ = std::max(last_, sources[slot].last_child);
  }
  for (Vertex vertex = first_ + 1; vertex <= last_; ++vertex)
    if (dag_.transparent.empty())
      visit(vertex);
    else
      visit_where_some_are_transparent(vertex);
  return hits_;
}

ReachabilitySweep::Row& ReachabilitySweep::append(const Row& row) {
  if (used_ == rows_.size()) rows_.resize(rows_.size() + rows_.size() / 2 + 64);
  return rows_[used_++] = row;
}

/// The sources that reach a parent are those that go round; the parents that are sources are those that do
/// not. Who does both has an edge at fault. Far from the sources most vertices are reached by all of them,
/// which one such parent tells.
void ReachabilitySweep::visit(Vertex vertex) {
  const Vertex* parent = parents_.data() + parents_begin_[vertex];
  const Vertex* const end = parents_.data() + parents_begin_[vertex + 1];
  if (parent == end || *parent < first_) return;
  Row round;
  std::array<std::uint32_t, most_sources> direct;
  std::size_t count = 0;
  bool any = false, all = false;
  for (; parent != end && *parent >= first_; ++parent) {
    const Place place = places_[*parent];
    if (place.slot >= 0) direct[count++] = static_cast<std::uint32_t>(place.slot);
    if (place.row == nobody || all) continue;
    if (place.row == everybody) {
      all = true;
      round = rows_[everybody];
      if (*parent > last_source_)
        parent =
            std::lower_bound(parent, end, last_source_, std::greater<>()) - 1;  // only sources matter now
      continue;
    }
    any = true;
    const Row& row = rows_[place.row];
    for (std::size_t i = 0; i < words; ++i) round.bits[i] |= row.bits[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (has(round, direct[i])) hits_.push_back({direct[i], vertex});
    if (!all) round.bits[direct[i] / 64] |= std::uint64_t{1} << (direct[i] % 64);
  }
  if (all || round.bits == rows_[everybody].bits) {
    places_[vertex].row = everybody;
  } else if (any || count > 0) {
    places_[vertex].row = static_cast<std::uint32_t>(used_);
    append(round);
  }
}

/// The same, but who goes round and who does not is handed on by transparent vertices.
void ReachabilitySweep::visit_where_some_are_transparent(Vertex vertex) {
  Row round, direct;
  for (const Vertex parent : dag_.parents_of(vertex)) {
    const Place place = places_[parent];
    const Row& row = rows_[place.row];
    for (std::size_t i = 0; i < words; ++i) round.bits[i] |= row.bits[i];
    if (place.slot >= 0)
      direct.bits[static_cast<std::size_t>(place.slot) / 64] |= std::uint64_t{1} << (place.slot % 64);
    if (!dag_.transparent[parent]) continue;
    const Row& handed_on = rows_[place.row + 1];
    for (std::size_t i = 0; i < words; ++i) direct.bits[i] |= handed_on.bits[i];
  }
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < words; ++i) any |= round.bits[i] | direct.bits[i];
  if (any == 0) return;
  places_[vertex].row = static_cast<std::uint32_t>(used_);
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
