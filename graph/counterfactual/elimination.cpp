#include <hindsight/graph/elimination.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/min_fill.hpp>

namespace hindsight::internal {
namespace {

/// Edges that a search for open units passes, which takes some hundredths of a second.
constexpr double most_walked = 2e6;
/// Edges that all searches of one planner may pass, a unit counted as ten of them: about a second, and five
/// under a sanitizer. A line of 1,300 units is planned whole.
constexpr double most_explored = 1e7;
constexpr double edges_per_unit = 10;

}  // namespace

EliminationPlanner::EliminationPlanner(const Graph& graph, const Contraction& contraction)
    : graph_(graph), contraction_(contraction) {}

bool EliminationPlanner::is_in_time() const { return explored_ <= most_explored; }

const std::vector<bool>& EliminationPlanner::read_by(RewardId reward) {
  const auto found = read_.find(reward);
  return found != read_.end() ? found->second
                              : read_.emplace(reward, contraction_.read_directly(reward)).first->second;
}

template <class Visit>
bool EliminationPlanner::for_each_child(const UnitRef& unit, const Visit& visit) {
  ++visit_;
  std::vector<UnitRef> queue{unit};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const UnitRef from = queue[next];
    for (const NodeId child : graph_.children(from.node)) {
      const std::span<const Graph::Parent> edges = graph_.parents(child);
      const Graph::Parent& edge = *std::find_if(
          edges.begin(), edges.end(), [&](const Graph::Parent& one) { return one.node == from.node; });
      const auto arrive = [&](int child_unit) {
        const UnitRef to{child, child_unit};
        ++explored_;
        std::uint32_t& by = visited_[number(to)];
        if (by == visit_) return true;
        by = visit_;
        if (!graph_.is_deterministic(child)) return visit(to);
        queue.push_back(to);
        return true;
      };
      if (edge.connectivity) {
        for (const int child_unit : edge.connectivity->children_of(from.unit))
          if (!arrive(child_unit)) return false;
      } else {
        for (int child_unit = 0; child_unit < graph_.shape(child).units; ++child_unit)
          if (!arrive(child_unit)) return false;
      }
    }
  }
  return true;
}

/// Breadth first: distances are shortest. Of edges, those that leave open units count for the cost and all
/// for the time that planning takes.
std::optional<EliminationPlanner::Vertices> EliminationPlanner::explore(const UnitRef& unit, RewardId reward,
                                                                        int steps, double most_edges) {
  const std::vector<bool>& read = read_by(reward);
  seen_.resize(graph_.unit_count(), 0);
  slot_.resize(graph_.unit_count(), 0);
  visited_.resize(graph_.unit_count(), 0);
  ++search_;
  Vertices vertices;
  vertices.push_back({.unit = unit, .distance = 0, .is_open = true});
  double from_open = 0, walked = 0;
  for (std::size_t next = 0; next < vertices.size(); ++next) {
    const UnitRef from = vertices[next].unit;
    const int distance = vertices[next].distance;
    const bool is_open = vertices[next].is_open;
    // What is known passes nothing on; what lies behind it may still be near enough to be open.
    if (!is_open && distance + 1 >= steps) continue;
    const bool all = for_each_child(from, [&](const UnitRef& child) {
      const std::uint32_t at = number(child);
      if (seen_[at] != search_) {
        seen_[at] = search_;
        slot_[at] = static_cast<std::uint32_t>(vertices.size());
        vertices.push_back({.unit = child,
                            .distance = distance + 1,
                            .is_open = distance + 1 < steps && !read[index(child.node.index)] &&
                                       graph_.shape(child.node).outcome_count() > 1});
      }
      if (is_open) vertices[slot_[at]].parents.push_back(static_cast<int>(next));
      return ++walked <= most_walked && (!is_open || ++from_open <= most_edges);
    });
    explored_ += edges_per_unit;
    if (!all || !is_in_time()) return std::nullopt;
  }
  return vertices;
}

/// An open unit that nothing else depends on sums to one. Children come after their parents in the graph.
EliminationPlanner::Vertices EliminationPlanner::without_barren(Vertices vertices) {
  std::vector<int> readers(vertices.size(), 0), order;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    for (const int parent : vertices[v].parents) ++readers[index(parent)];
    if (v > 0 && vertices[v].is_open) order.push_back(static_cast<int>(v));
  }
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return vertices[index(a)].unit.node > vertices[index(b)].unit.node; });
  for (const int v : order) {
    if (readers[index(v)] > 0) continue;
    Vertex& barren = vertices[index(v)];
    for (const int parent : barren.parents) --readers[index(parent)];
    barren.is_open = false;
    barren.parents.clear();
  }
  return vertices;
}

/// The open vertices that some chain of factors joins to the first; the others are a constant factor.
std::vector<int> EliminationPlanner::connected(const Vertices& vertices) {
  std::vector<std::vector<int>> readers(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v)
    for (const int parent : vertices[v].parents) readers[index(parent)].push_back(static_cast<int>(v));
  std::vector<bool> is_in(vertices.size(), false), is_done(vertices.size(), false);
  std::vector<int> queue{0};
  is_in[0] = true;
  const auto join = [&](int v) {
    if (!vertices[index(v)].is_open || is_in[index(v)]) return;
    is_in[index(v)] = true;
    queue.push_back(v);
  };
  const auto join_factor = [&](int of) {
    if (is_done[index(of)]) return;
    is_done[index(of)] = true;
    join(of);
    for (const int parent : vertices[index(of)].parents) join(parent);
  };
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const int v = queue[next];
    if (v != 0) join_factor(v);
    for (const int reader : readers[index(v)]) join_factor(reader);
  }
  return queue;
}

/// `variables` are vertices, in the order of the plan's.
void EliminationPlanner::add_factors(EliminationPlan& plan, const Vertices& vertices,
                                     std::span<const int> variables) {
  std::vector<int> number_of(vertices.size(), -1);
  for (std::size_t i = 0; i < variables.size(); ++i) number_of[index(variables[i])] = static_cast<int>(i);
  plan.variables.clear();
  plan.factors.clear();
  for (const int v : variables) plan.variables.push_back(vertices[index(v)].unit);
  for (std::size_t v = 1; v < vertices.size(); ++v) {
    EliminationPlan::Factor factor{.unit = vertices[v].unit, .open = {}, .own = number_of[v]};
    for (const int parent : vertices[v].parents)
      if (number_of[index(parent)] >= 0) factor.open.push_back(number_of[index(parent)]);
    if (factor.open.empty() && factor.own < 0) continue;
    std::sort(factor.open.begin(), factor.open.end());
    plan.factors.push_back(std::move(factor));
  }
}

std::vector<NodeId> EliminationPlanner::functions_between(const EliminationPlan& plan,
                                                          const EliminationPlan::Trial& trial) const {
  std::set<NodeId> below, above;
  for (const int variable : trial.open)
    for (const NodeId function : contraction_.below_functions(plan.variables[index(variable)].node).functions)
      below.insert(function);
  std::vector<NodeId> queue;
  for (const std::size_t f : trial.factors) queue.push_back(plan.factors[f].unit.node);
  for (std::size_t next = 0; next < queue.size(); ++next)
    for (const Graph::Parent& parent : graph_.parents(queue[next]))
      if (below.contains(parent.node) && above.insert(parent.node).second) queue.push_back(parent.node);
  return {above.begin(), above.end()};
}

void EliminationPlanner::add_trials(EliminationPlan& plan) const {
  std::map<std::vector<int>, EliminationPlan::Trial> trials;
  for (std::size_t f = 0; f < plan.factors.size(); ++f) {
    const EliminationPlan::Factor& factor = plan.factors[f];
    const bool behind_functions = std::any_of(factor.open.begin(), factor.open.end(), [&](int variable) {
      return contraction_.is_joined_by_functions(plan.variables[index(variable)].node, factor.unit.node);
    });
    if (!behind_functions && graph_.node(factor.unit.node)->has_factors()) continue;
    EliminationPlan::Trial& trial = trials[factor.open];
    trial.open = factor.open;
    trial.factors.push_back(f);
  }
  plan.trials.clear();
  for (auto& [open, trial] : trials) {
    trial.functions = functions_between(plan, trial);
    plan.trials.push_back(std::move(trial));
  }
}

/// Per joint outcome, a trial computes all parameters of what it runs, a type's own factors their logits.
double EliminationPlanner::factor_cost(const EliminationPlan& plan) const {
  const auto joint_outcome_count = [&](const std::vector<int>& open) {
    double product = 1;
    for (const int variable : open)
      product *= graph_.shape(plan.variables[index(variable)].node).outcome_count();
    return product;
  };
  double cost = 0;
  std::vector<bool> is_tried(plan.factors.size(), false);
  for (const EliminationPlan::Trial& trial : plan.trials) {
    std::set<NodeId> nodes(trial.functions.begin(), trial.functions.end());
    for (const std::size_t f : trial.factors) {
      is_tried[f] = true;
      nodes.insert(plan.factors[f].unit.node);
    }
    double each = 0;
    for (const NodeId node : nodes)
      each += std::max<double>(1, static_cast<double>(graph_.shape(node).parameter_count));
    cost += joint_outcome_count(trial.open) * each;
  }
  for (std::size_t f = 0; f < plan.factors.size(); ++f)
    if (!is_tried[f])
      cost += joint_outcome_count(plan.factors[f].open) * graph_.shape(plan.factors[f].unit.node).logits;
  return cost;
}

EliminationPlan EliminationPlanner::plan(const UnitRef& unit, RewardId reward, int steps, double limit) {
  EliminationPlan plan;
  const auto give_up = [&](double cost) {
    plan.cost = cost;
    plan.is_complete = false;
    return plan;
  };
  // Nearly every such edge is part of a table with two entries or more.
  std::optional<Vertices> explored = explore(unit, reward, steps, 2 * limit);
  if (!explored) {
    plan.is_explored = false;
    return give_up(limit);
  }
  const bool sums_children = std::any_of(explored->begin(), explored->end(), [](const Vertex& vertex) {
    return vertex.distance == 1 && vertex.is_open;
  });
  const Vertices vertices = without_barren(*std::move(explored));
  const std::vector<int> variables = connected(vertices);
  add_factors(plan, vertices, variables);
  plan.is_one_step = variables.size() == 1 && !sums_children;
  std::vector<int> outcome_counts;
  for (const UnitRef& variable : plan.variables)
    outcome_counts.push_back(graph_.shape(variable.node).outcome_count());
  std::vector<std::vector<int>> neighbours(variables.size());
  for (const EliminationPlan::Factor& factor : plan.factors) {
    std::vector<int> scope = factor.open;
    if (factor.own >= 0) scope.push_back(factor.own);
    double entries = 1;
    for (const int variable : scope) entries *= outcome_counts[index(variable)];
    if (entries > limit) {  // listing the pairs alone could take long
      for (const int variable : scope) plan.largest.push_back(plan.variables[index(variable)]);
      return give_up(entries);
    }
    for (const int a : scope)
      for (const int b : scope)
        if (a != b) neighbours[index(a)].push_back(b);
  }
  for (std::vector<int>& of : neighbours) {
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
  }
  const EliminationOrder order = min_fill(std::move(neighbours), outcome_counts, limit);
  for (const int variable : order.largest) plan.largest.push_back(plan.variables[index(variable)]);
  if (!order.is_complete) return give_up(order.entries);
  std::vector<int> ordered{variables[0]};
  for (auto next = order.order.rbegin(); next != order.order.rend(); ++next)
    ordered.push_back(variables[index(*next)]);
  add_factors(plan, vertices, ordered);
  add_trials(plan);
  plan.cost = order.entries + factor_cost(plan);
  plan.is_complete = plan.cost <= limit;
  if (plan.largest.empty()) plan.largest = {unit};
  return plan;
}

EliminationPlan EliminationPlanner::costliest(NodeId node, RewardId reward, int steps, double limit) {
  EliminationPlan most;
  for (int unit = 0; unit < graph_.shape(node).units; ++unit) {
    EliminationPlan one = plan({node, unit}, reward, steps, limit);
    if (unit == 0 || one.cost > most.cost) most = std::move(one);
    if (!most.is_complete) break;
  }
  return most;
}

std::string list_nodes(const Graph& graph, std::span<const UnitRef> units) {
  constexpr std::size_t most = 8;
  std::set<NodeId> nodes;
  for (const UnitRef& unit : units) nodes.insert(unit.node);
  std::string text;
  std::size_t listed = 0;
  for (const NodeId node : nodes) {
    if (listed == most) break;
    const bool last = ++listed == nodes.size();
    text += fmt::format("{}'{}'", listed == 1 ? "" : last ? " and " : ", ", graph.name(node));
  }
  return nodes.size() > most ? fmt::format("{} and {} more", text, nodes.size() - most) : text;
}

}  // namespace hindsight::internal
