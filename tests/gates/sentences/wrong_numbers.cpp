// None of these calls may compile. Each must say why in one sentence, and nothing else.
#include <vector>

#include <Eigen/SparseCore>

#include <hindsight/core/eigen.hpp>
#include <hindsight/graph/model.hpp>

using namespace hindsight;

void in_a_float_model(const Model& model, Workspace& run, NodeId x, RewardId r) {
  const Eigen::MatrixXd images(2, 3);
  // error: hindsight: a float model takes float inputs and rewards; write values.cast<float>()
  model.forward(run, {{x, images}});
  // error: hindsight: a float model takes float inputs and rewards; write values.cast<float>()
  model.forward(run, {{x, images / 255.0}});
  // error: hindsight: a float model takes float inputs and rewards; write values.cast<float>()
  model.forward(run, {{x, images.topRows(1)}});
  const Eigen::SparseMatrix<double> sparse(2, 3);
  // error: hindsight: a float model takes float inputs and rewards; write values.cast<float>()
  model.forward(run, {{x, sparse}});

  // error: hindsight: a float model takes float inputs and rewards; write as_eigen(values).cast<float>()
  model.backward(run, {{r, run.outcomes(x)}});
  // error: hindsight: a float model takes float inputs and rewards; write values.cast<float>()
  model.backward(run, {{r, as_eigen(run.outcomes(x))}});
  const Eigen::ArrayXi labels(2);
  // error: hindsight: a float model takes float inputs and rewards; write values.cast<float>()
  model.backward(run, {{r, as_eigen(run.outcomes(x)).array() == labels}});
  // error: hindsight: a float model takes float inputs and rewards; write values.cast<float>()
  model.backward(run, {{r, 1 - labels}});
  // error: hindsight: a float model takes float inputs and rewards; write as_eigen(values).cast<float>()
  model.backward(run, {{r, std::vector<double>{1.0, 0.0}}});
}

void in_a_double_model(const BasicModel<double>& model, BasicWorkspace<double>& run, NodeId x, RewardId r) {
  const Eigen::MatrixXf images(2, 3);
  // error: hindsight: a double model takes double inputs and rewards; write values.cast<double>()
  model.forward(run, {{x, images}});
  // error: hindsight: a double model takes double inputs and rewards; write as_eigen(values).cast<double>()
  model.backward(run, {{r, std::vector<int>{1, 0}}});
}

void clamped(const Model& model, Workspace& run, NodeId x) {
  const Eigen::MatrixXf outcomes(2, 3);
  // error: hindsight: clamped outcomes are of type Outcome; write values.cast<Outcome>()
  model.forward(run, {}, {.clamp = {{x, outcomes}}});
  // error: hindsight: clamped outcomes are of type Outcome; write as_eigen(values).cast<Outcome>()
  model.forward(run, {}, {.clamp = {{x, std::vector<long>{1, 0}}}});
}

void named_views(std::vector<float> (&rewards)()) {
  // error: hindsight: a view would outlive this temporary; give the matrix or vector a name first
  MatrixView<const float> of_a_matrix = Eigen::MatrixXf(2, 3);
  // error: hindsight: a view would outlive this temporary; give the matrix or vector a name first
  MatrixView<const float> of_a_vector = rewards();
  // error: hindsight: a view would outlive this temporary; give the matrix or vector a name first
  const auto of_a_sample = one_sample(rewards());
}
