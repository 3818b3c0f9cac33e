#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hindsight/graph/contraction.hpp>
#include <hindsight/graph/graph.hpp>

namespace hindsight::internal {

/// How the evidence of one unit for one reward is summed exactly (docs/theory.md): the units whose outcomes
/// are open, the factors that depend on them, and the order in which they are summed out.
struct EliminationPlan {
  /// log π of one unit's outcome.
  struct Factor {
    UnitRef unit;
    std::vector<int> open;  ///< variables that it reads, sorted
    int own = -1;           ///< the variable that it is itself; -1: its outcome is known
  };
  /// Factors that are evaluated by running blocks anew, once per joint outcome of the same variables.
  struct Trial {
    std::vector<int> open;
    std::vector<std::size_t> factors;
    std::vector<NodeId> functions;  ///< deterministic nodes between, in order of addition
  };

  std::vector<UnitRef> variables;  ///< first the unit itself; the last is summed out first
  std::vector<Factor> factors;     ///< without the unit's own
  std::vector<Trial> trials;       ///< factors in none of them are made by their node's type
  double cost = 0;                 ///< operations per sample
  bool is_complete = true;   ///< false: the limit was passed; then the cost is a lower bound, and no more is
                             ///< known than the variables and `largest`
  bool is_explored = true;   ///< false: there are too many edges to plan anything
  bool is_one_step = false;  ///< nothing is summed out: messages say the same
  std::vector<UnitRef> largest;  ///< the units that the largest table joins
};

/// Works out eliminations. The graph is read unit by unit and no further than needed. What one planner
/// explores in all is limited: with all steps, every node of a long line looks at all that follow it.
class EliminationPlanner {
 public:
  /// Refers to both.
  EliminationPlanner(const Graph&, const Contraction&);

  /// Sums out the units that the reward does not read and that descend from the unit by less than `steps`
  /// edges. Stops as soon as the cost passes the limit.
  EliminationPlan plan(const UnitRef& unit, RewardId reward, int steps, double limit);
  /// That of the unit of the node that costs most, or the first that passes the limit.
  EliminationPlan costliest(NodeId node, RewardId reward, int steps, double limit);
  /// False: as much was explored as may be, and no plan will be complete any more.
  bool is_in_time() const;

 private:
  /// A unit near the one that is planned for.
  struct Vertex {
    UnitRef unit;
    int distance = 0;
    bool is_open = false;
    std::vector<int> parents = {};  ///< vertices that are open
  };
  using Vertices = std::vector<Vertex>;  ///< the unit itself is the first

  std::uint32_t number(const UnitRef& unit) const {
    return graph_.first_unit(unit.node) + static_cast<std::uint32_t>(unit.unit);
  }
  const std::vector<bool>& read_by(RewardId reward);
  /// Calls visit(unit) for every unit that reads it, directly or through deterministic ones, once.
  template <class Visit>
  bool for_each_child(const UnitRef& unit, const Visit& visit);
  /// None: there are too many edges.
  std::optional<Vertices> explore(const UnitRef& unit, RewardId reward, int steps, double most_edges);
  static Vertices without_barren(Vertices vertices);
  static std::vector<int> connected(const Vertices& vertices);
  static void add_factors(EliminationPlan& plan, const Vertices& vertices, std::span<const int> variables);
  void add_trials(EliminationPlan& plan) const;
  double factor_cost(const EliminationPlan& plan) const;
  std::vector<NodeId> functions_between(const EliminationPlan& plan,
                                        const EliminationPlan::Trial& trial) const;

  const Graph& graph_;
  const Contraction& contraction_;
  std::map<RewardId, std::vector<bool>> read_;
  std::vector<std::uint32_t> seen_, slot_, visited_;  ///< per unit of the graph: by which search, and where
  std::uint32_t search_ = 0, visit_ = 0;
  double explored_ = 0;
};

/// Their names, at most eight: "'a', 'b' and 3 more".
std::string list_nodes(const Graph&, std::span<const UnitRef> units);

}  // namespace hindsight::internal
