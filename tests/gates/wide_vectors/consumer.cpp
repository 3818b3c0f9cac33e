// What a user's program does with matrices of its own beside the library's: whatever of the library works
// with Eigen is used here.
#include <vector>

#include <Eigen/Core>

#include <hindsight/hindsight.hpp>

static_assert(EIGEN_MAX_ALIGN_BYTES == 32, "the program is not compiled for AVX");

using namespace hindsight;

int use_the_library();

namespace {

/// Matrices that grow, shrink and move, so that Eigen's allocators are called for all that they can do.
Eigen::MatrixXd own_matrices(Eigen::Index size) {
  Eigen::MatrixXd square = Eigen::MatrixXd::Identity(size, size);
  std::vector<Eigen::VectorXd> columns;
  for (Eigen::Index i = 0; i < size; ++i) columns.emplace_back(square.col(i) * static_cast<double>(i + 1));
  for (Eigen::VectorXd& column : columns) column.conservativeResize(column.size() + 1);
  square.conservativeResize(size + 3, size);
  return square.topRows(size) * Eigen::MatrixXd::Ones(size, size);
}

//  x(5) ─→ h(3) ─→ a ─→ r
struct Net {
  Graph graph;
  NodeId x, h, a;
  RewardId r;

  Net() {
    x = graph.input("x", 5);
    h = graph.add("h", Bernoulli{.units = 3}, {x});
    a = graph.add("a", Categorical{.classes = 3}, {h});
    r = graph.reward("r", {a});
    graph.baseline(r, LinearCritic{.rate = 0.2});
  }
};

/// Steps of Adam towards a = 2, under a critic of the inputs. Returns how often a was 2 in the last batch.
float train(const Net& net, Model& model) {
  constexpr int samples = 67;
  Workspace run = model.workspace(samples);
  Adam adam{{.rate = 0.05}};
  Eigen::VectorXf reward(samples);
  for (int step = 0; step < 60; ++step) {
    const Eigen::MatrixXf inputs = Eigen::MatrixXf::Random(samples, 5);
    model.forward(run, {{net.x, inputs * 0.5F}});
    reward = (as_eigen(run.outcomes(net.a)).col(0).array() == 2).cast<float>();
    model.backward(run, {{net.r, reward}});
    adam.step(model.parameters(), run.gradient());
  }
  return reward.mean();
}

/// The exact covariance of the gradient has the variance on its diagonal, and no direction below 0.
bool is_covariance_right(const Net& net) {
  const auto model = compile<double>(net.graph, {.seed = 4});
  const Eigen::MatrixXd inputs = Eigen::MatrixXd::Random(2, 5);
  const std::vector<InputValues<double>> given{{net.x, inputs}};
  const std::vector<RewardFunction> value{
      {net.r, [a = net.a](const JointOutcome& outcome) { return outcome(a) == 2 ? 1.0 : 0.0; }}};
  const Enumeration exact = enumerate(model, given, value, {.covariance = true});
  const Eigen::MatrixXd covariance = as_eigen(exact.covariance_matrix());
  const Eigen::VectorXd variance = as_eigen(exact.variance);
  const Eigen::MatrixXd directions = Eigen::MatrixXd::Random(covariance.rows(), 100);
  const Eigen::VectorXd along = (directions.transpose() * covariance * directions).diagonal();
  return covariance.rows() == static_cast<Eigen::Index>(model.parameters().size()) &&
         covariance.diagonal() == variance && variance.sum() > 0 && along.minCoeff() >= 0;
}

}  // namespace

int use_the_library() {
  const Net net;
  Model model = compile(net.graph, {.seed = 3});
  const Eigen::MatrixXd before = own_matrices(9);
  const float reward = train(net, model);
  const bool right = is_covariance_right(net);
  const bool untouched = before == own_matrices(9);
  fmt::print("reward {:.2f}, covariance {}, own matrices {}\n", reward, right ? "right" : "wrong",
             untouched ? "untouched" : "spoilt");
  return reward > 0.9F && right && untouched ? 0 : 1;
}
