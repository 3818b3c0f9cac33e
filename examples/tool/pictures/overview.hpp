#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph.hpp>

// What a picture of a graph shows, whatever draws it: every node by itself, or, where they are too many,
// boxes for all nodes of one level and kind.

namespace hindsight::tool {

enum class Look { input, stochastic, deterministic, reward };
std::string to_string(Look);

/// What credits something in the picture: an estimator, with its baseline if it has one. The tone is the
/// number of the estimator's colour: always the same for those of the library, in order of appearance for
/// others.
struct Mark {
  std::string name;
  int tone = 0;
};
inline constexpr int tones = 7;

/// A node or a reward.
struct Item {
  Look look = Look::stochastic;
  std::string name;
  std::string kind;
  int units = 1;
  int level = 0;                                   ///< of a reward: one more than of any node
  bool checked = false;                            ///< Assumption 1 was
  bool violates = false;                           ///< Assumption 1
  std::vector<const CreditVerdict*> credits = {};  ///< in the report
  std::vector<int> marks = {};                     ///< of Overview::marks, each once
};

/// An edge, or what a reward reads; the ends are numbers of items.
struct ItemLink {
  int from = 0, to = 0;
  bool sparse = false;
  std::size_t pairs = 0, all_pairs = 0;  ///< of units: those joined, and those there are
  bool on_edge = false;                  ///< part of the shorter route of a violation
  bool on_route = false;                 ///< part of the longer
};

/// The two routes that prove a violation: as numbers of items, and as the validator names them, units too.
struct Proof {
  int node = 0, child = 0;
  std::vector<int> edge, route;
  Route edge_names, route_names;
};

struct Overview {
  std::vector<Item> items;  ///< nodes as they were added, then rewards
  std::vector<ItemLink> links;
  std::vector<Proof> proofs;
  std::vector<Mark> marks;
  int levels = 0;  ///< of nodes
};

/// The report must be the graph's and outlive what is returned.
Overview overview(const Graph&, const Report&);

/// All nodes of one kind and one level, or of neighbouring levels where there are very many; or all rewards.
struct Group {
  Look look = Look::stochastic;
  std::string kind;
  int first_level = 0, last_level = 0;
  int band = 0;  ///< number of the levels that lie together
  std::size_t nodes = 0, units = 0, violating = 0;
  std::vector<std::pair<int, std::size_t>> marks = {};  ///< how many of its nodes each mark credits
  std::vector<std::string> examples = {};               ///< some names, of violating nodes if it has any
};

struct GroupLink {
  int from = 0, to = 0;
  std::size_t edges = 0;
};

struct LevelView {
  std::vector<Group> groups;
  std::vector<GroupLink> links;  ///< the heaviest, between different bands
  std::size_t links_left_out = 0;
  std::vector<Mark> marks;
  std::vector<std::pair<int, int>> bands;  ///< first and last level
};

LevelView level_view(const Graph&, const Report&);

/// How much a way of drawing can show node by node.
struct DrawingLimits {
  int items = 0;
  std::size_t links = 0;
  std::size_t passed = 0;  ///< levels that links pass on their way, which cost a layout more than links do
};
bool fits(const Graph&, const DrawingLimits&);

/// "reinforce + running-mean", as the command line has it; empty if no estimator was found.
std::string credited_by(const CreditVerdict&);
/// "Bernoulli ×8", as reports say it.
std::string caption(const Item&);
/// "holds", "violated", "given" or "computed", as reports say it; nothing for a reward.
std::string assumption(const Item&);
/// "level 3", or "levels 3–5".
std::string level_caption(std::pair<int, int> band);
/// "5 nodes, 5 edges, 1 reward".
std::string census(const Graph&);
/// "5 nodes, 5 edges, 1 reward: admissible, Assumption 1 holds everywhere".
std::string headline(const Graph&, const Report&);
/// "1 node", "2,000 nodes".
std::string counted(std::size_t number, const std::string& noun);

}  // namespace hindsight::tool
