#include <hindsight/graph/plan.hpp>

#include <algorithm>
#include <map>
#include <typeindex>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/memory.hpp>
#include <hindsight/graph/lowering.hpp>
#include <hindsight/graph/topology.hpp>

namespace hindsight {
namespace {

std::size_t index(NodeId node) { return static_cast<std::size_t>(node.index); }

/// Appends the range, or lengthens the last one by it.
void append_rows(std::vector<RowRange>& ranges, const RowRange& rows) {
  if (!ranges.empty() && ranges.back().last == rows.first)
    ranges.back().last = rows.last;
  else
    ranges.push_back(rows);
}

/// Per node and unit: how many logits of the whole graph read it.
std::vector<std::vector<std::size_t>> fan_out(const Graph& graph) {
  std::vector<std::vector<std::size_t>> readers;
  for (int i = 0; i < graph.node_count(); ++i)
    readers.emplace_back(static_cast<std::size_t>(graph.shape({i}).units), 0);
  for (int i = 0; i < graph.node_count(); ++i)
    for (const Graph::Parent& parent : graph.parents({i})) {
      const auto logits = static_cast<std::size_t>(graph.shape({i}).logits),
                 units = static_cast<std::size_t>(graph.shape({i}).units);
      std::vector<std::size_t>& counts = readers[index(parent.node)];
      if (!parent.connectivity) {
        for (std::size_t& count : counts) count += logits * units;
        continue;
      }
      for (std::size_t unit = 0; unit < units; ++unit)
        for (const int read : parent.connectivity->parents_of(static_cast<int>(unit)))
          counts[static_cast<std::size_t>(read)] += logits;
    }
  return readers;
}

void refuse_oversize(const Graph& graph, std::size_t bytes_per_parameter) {
  double parameters = 0;
  for (int i = 0; i < graph.node_count(); ++i)
    for (const ParameterBlock& block : graph.shape({i}).parameters)
      parameters += static_cast<double>(block.rows) * static_cast<double>(block.cols);
  const double bytes = parameters * static_cast<double>(bytes_per_parameter) +
                       static_cast<double>(graph.unit_count()) * sizeof(std::size_t);
  require_memory(bytes, fmt::format("{:.4g} parameters", parameters),
                 "use fewer units, or Pattern::random(density, seed) on the largest edges");
}

}  // namespace

template <class S>
Plan<S>::Plan(const Graph& graph, const std::vector<Assignment>& assignments, std::uint64_t seed_of_model,
              InstructionSet instruction_set, double elimination_limit)
    : seed(seed_of_model), instructions(instruction_set) {
  refuse_oversize(graph, sizeof(S) + sizeof(double));
  for (int i = 0; i < graph.reward_count(); ++i) {
    const auto reads = graph.reads({i});
    rewards.push_back(graph.name(RewardId{i}));
    reward_plans.push_back({graph.known({i}), {reads.begin(), reads.end()}});
  }
  number_nodes(graph);
  const std::vector<Group> groups = group(graph);
  lay_out_rows(groups);
  const Contraction contraction(graph);
  const Eliminated eliminated = plan_eliminations(graph, contraction, assignments, elimination_limit);
  std::vector<bool> wants_messages(placements.size(), false), wants_slopes(placements.size(), false);
  for (std::size_t i = 0; i < roles.size(); ++i) wants_slopes[i] = roles[i] == Role::deterministic;
  for (const Assignment& assignment : assignments) {
    if (assignment.estimator.needs().hindsight_steps > 0 &&
        !eliminated.contains({assignment.node, assignment.reward}))
      wants_messages[index(assignment.node)] = true;
    if (assignment.estimator.needs().pathwise) wants_slopes[index(assignment.node)] = true;
  }
  join_parents(graph, contraction, wants_messages, wants_slopes);
  list_rows(groups, wants_messages, wants_slopes);
  lower(graph, groups);
  add_reevaluations(contraction, wants_messages);
  credit(assignments, contraction, eliminated);
  credit_pathwise(assignments);
  pack_levels();
}

template <class S>
auto Plan<S>::group(const Graph& graph) -> std::vector<Group> {
  const std::vector<int> level = levels(graph);
  std::map<std::type_index, int> kinds;
  std::map<std::pair<int, int>, Group> groups;
  for (int i = 0; i < graph.node_count(); ++i) {
    const int kind =
        graph.is_input({i})
            ? -1
            : kinds.emplace(graph.node({i})->type(), static_cast<int>(kinds.size())).first->second;
    const int at = level[static_cast<std::size_t>(i)];
    groups.emplace(std::pair{at, kind}, Group{at, kind, {}}).first->second.nodes.push_back(i);
  }
  std::vector<Group> ordered;
  for (auto& [key, members] : groups) ordered.push_back(std::move(members));
  return ordered;
}

template <class S>
void Plan<S>::number_nodes(const Graph& graph) {
  placements.resize(static_cast<std::size_t>(graph.node_count()));
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const NodeId node{static_cast<int>(i)};
    Placement& at = placements[i];
    at.name = graph.name(node);
    at.shape = graph.shape(node);
    at.first_unit = graph.first_unit(node);
    at.first_parameter = parameter_count;
    roles.push_back(graph.role(node));
    for (const ParameterBlock& block : at.shape.parameters) {
      parameters.push_back(
          {fmt::format("{}/{}", at.name, block.name), parameter_count, block.rows, block.cols});
      parameter_count += block.size();
    }
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) by_path_.emplace(parameters[i].path, i);
}

template <class S>
void Plan<S>::lay_out_rows(std::span<const Group> groups) {
  for (const Group& members : groups)
    for (const int i : members.nodes) {
      Placement& at = placements[static_cast<std::size_t>(i)];
      const auto units = static_cast<std::size_t>(at.shape.units);
      at.feature_row = feature_rows;
      at.unit_row = unit_rows;
      at.table_row = table_rows;
      const bool stochastic = is_stochastic(static_cast<std::size_t>(i));
      feature_rows += units * static_cast<std::size_t>(stochastic ? at.shape.encoding.width : 1);
      if (members.holds_inputs()) input_rows = feature_rows;
      if (!stochastic) continue;
      unit_rows += units;
      table_rows += units * static_cast<std::size_t>(at.shape.outcomes());
    }
}

template <class S>
void Plan<S>::join_parents(const Graph& graph, const Contraction& contraction,
                           const std::vector<bool>& wants_messages, const std::vector<bool>& wants_slopes) {
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const NodeId child{static_cast<int>(i)};
    for (const Graph::Parent& parent : graph.parents(child)) {
      const Placement& from = placements[index(parent.node)];
      ParentShape shape = graph.parent_shape(parent);
      shape.name = from.name;  // the plan may outlive the graph
      if (parent.connectivity) wirings_.push_back(parent.connectivity);
      // What reaches the child by deterministic nodes too is told by re-evaluation, all routes at once.
      const bool told_by_messages = wants_messages[index(parent.node)] && is_stochastic(i) &&
                                    !contraction.is_joined_by_functions(parent.node, child);
      placements[i].parents.push_back({shape, from.feature_row, from.unit_row, from.table_row,
                                       told_by_messages, wants_slopes[index(parent.node)]});
      placements[i].parent_shapes.push_back(std::move(shape));
    }
  }
}

template <class S>
void Plan<S>::list_rows(std::span<const Group> groups, const std::vector<bool>& wants_messages,
                        const std::vector<bool>& wants_slopes) {
  for (const Group& members : groups)
    for (const int i : members.nodes) {
      const Placement& at = placements[static_cast<std::size_t>(i)];
      const auto units = static_cast<std::size_t>(at.shape.units);
      if (wants_messages[static_cast<std::size_t>(i)])
        append_rows(told,
                    {at.table_row, at.table_row + units * static_cast<std::size_t>(at.shape.outcomes())});
      if (!wants_slopes[static_cast<std::size_t>(i)]) continue;
      const bool stochastic = is_stochastic(static_cast<std::size_t>(i));
      const auto width = static_cast<std::size_t>(stochastic ? at.shape.encoding.width : 1);
      append_rows(sloped, {at.feature_row, at.feature_row + units * width});
    }
}

template <class S>
void Plan<S>::add_reevaluations(const Contraction& contraction, const std::vector<bool>& wants_messages) {
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (!wants_messages[i]) continue;
    const Downstream& below = contraction.below_functions({static_cast<int>(i)});
    if (!below.children.empty()) reevaluations.emplace_back(placements[i], below, placements, nodes_);
  }
}

template <class S>
void Plan<S>::lower(const Graph& graph, std::span<const Group> groups) {
  nodes_.reserve(placements.size());
  for (std::size_t i = 0; i < placements.size(); ++i) {
    const AnyNode* const node = graph.node({static_cast<int>(i)});
    nodes_.push_back(node ? std::optional(*node) : std::nullopt);
  }
  std::map<int, std::vector<AnyNode::Placed>> by_kind;
  for (const Group& members : groups)
    for (const int i : members.nodes) {
      placements[static_cast<std::size_t>(i)].level = members.level;
      if (members.holds_inputs()) continue;
      const auto node = static_cast<std::size_t>(i);
      by_kind[members.kind].push_back({&*nodes_[node], &placements[node]});
    }
  std::vector<std::vector<AnyNode::Placed>> of_one_kind;
  for (auto& of_kind : by_kind) of_one_kind.push_back(std::move(of_kind.second));
  blocks = lower_groups<S>(of_one_kind);
  for (const auto& block : blocks) {
    first_table.push_back(table_scalars);
    table_scalars += padded(block->table_size());
  }
}

/// Rows of one level lie together, and the last of its blocks completes them.
template <class S>
void Plan<S>::pack_levels() {
  packed_after.resize(blocks.size());
  const auto reads = [](const auto& block) { return block->reads_bits(); };
  const auto reevaluates = [](const Reevaluation<S>& reevaluation) { return reevaluation.reads_bits(); };
  if (std::none_of(blocks.begin(), blocks.end(), reads) && !eliminations.reads_bits() &&
      std::none_of(reevaluations.begin(), reevaluations.end(), reevaluates) &&
      std::none_of(candidates.begin(), candidates.end(), reevaluates))
    return;
  std::map<int, RowRange> rows;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (!is_stochastic(i)) continue;
    const Placement& at = placements[i];
    const std::size_t last = at.unit_row + static_cast<std::size_t>(at.shape.units);
    RowRange& level = rows.emplace(at.level, RowRange{at.unit_row, last}).first->second;
    level = {std::min(level.first, at.unit_row), std::max(level.last, last)};
  }
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (b + 1 == blocks.size() || blocks[b + 1]->level() != blocks[b]->level())
      packed_after[b] = rows[blocks[b]->level()];
}

template <class S>
std::vector<S> Plan<S>::initial_parameters(const Graph& graph) const {
  const auto readers = fan_out(graph);
  std::vector<double> theta(parameter_count, 0.0);
  for (int i = 0; i < graph.node_count(); ++i) {
    if (graph.is_input({i})) continue;
    const Placement& at = placements[static_cast<std::size_t>(i)];
    std::vector<ParentStart> starts;
    for (const Graph::Parent& parent : graph.parents({i}))
      starts.push_back({placements[index(parent.node)].first_unit, readers[index(parent.node)]});
    const Initialisation start{seed, at.first_unit, at.shape.units, at.parent_shapes, starts};
    guarded_call({"node-threw", &at.name, "its initialise"}, [&] {
      graph.node({i})->initialise(start,
                                  std::span(theta).subspan(at.first_parameter, at.shape.parameter_count()));
    });
  }
  return std::vector<S>(theta.begin(), theta.end());
}

template <class S>
const Placement& Plan<S>::placement(NodeId node) const {
  if (node.index < 0 || index(node) >= placements.size())
    refuse({.code = "unknown-node",
            .message = fmt::format("node number {} does not exist; the model has {} {}", node.index,
                                   placements.size(), placements.size() == 1 ? "node" : "nodes"),
            .help = {"use the NodeId that graph.add(…) returned"}});
  return placements[index(node)];
}

template <class S>
const ParameterPlace& Plan<S>::parameter(std::string_view path) const {
  if (const auto found = by_path_.find(path); found != by_path_.end()) return parameters[found->second];
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(parameters.size(), 8); ++i)
    known += (i ? ", " : "") + parameters[i].path;
  if (parameters.size() > 8) known += ", …";
  refuse({.code = "unknown-parameter",
          .message = fmt::format("there are no parameters called '{}'", path),
          .help = {fmt::format("known: {}", known)}});
}

template struct Plan<float>;
template struct Plan<double>;

}  // namespace hindsight
