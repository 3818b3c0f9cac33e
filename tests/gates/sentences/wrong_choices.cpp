// None of these calls may compile. Each must say why in one sentence, and nothing else.
#include <hindsight/core/eigen.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/model.hpp>
#include <hindsight/nodes/bernoulli.hpp>
#include <hindsight/nodes/categorical.hpp>

using namespace hindsight;

struct Shapeless {
  int units = 1;
};

// clang-format off
void nodes(Graph& graph, NodeId x, RewardId r) {
  // error: hindsight: this is no node; a node has `Shape shape(std::span<const ParentShape>) const`
  graph.add("h", Shapeless{}, {x});
  // error: hindsight: this is no node; a node has `Shape shape(std::span<const ParentShape>) const`
  graph.add("h", 10, {x});
  // error: hindsight: a reward has no children; give a node as the parent
  graph.add("h", Bernoulli{}, {r});
}

// error: hindsight: units or classes? write Categorical{.units = 1, .classes = 2}
const Categorical positional{3, 2};

void estimators(Graph& graph, NodeId x, RewardId r) {
  // error: hindsight: this is no estimator; give Auto, a Reinforce, an Hnca, a HindsightCredit, a StraightThrough, or a type of your own that has needs, admissible, name and add_credit
  graph.estimate_with(x, Bernoulli{});
  // error: hindsight: this is no baseline; give a NoBaseline, a RunningMean, a LeaveOneOut, a LinearCritic, or a type of your own that has predict, learn, state_size, replicas and name
  graph.baseline(r, 0.5);
}

void inputs(const Model& model, Workspace& run, NodeId x, RewardId r, const Eigen::MatrixXf& images) {
  // error: hindsight: this is a reward; a node is asked for here
  model.forward(run, {{r, images}});
  // error: hindsight: this is a node; a reward is asked for here
  model.backward(run, {{x, images}});
}
