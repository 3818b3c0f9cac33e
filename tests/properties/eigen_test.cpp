// Nodes and estimators of a user's own may be written with Eigen maps of what they are given.
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#include "support/larger_error.hpp"

using namespace hindsight;
using hindsight::testing::largest_difference;

namespace {

/// Categorical once more, as three lines of linear algebra.
struct EigenSoftmax {
  int classes = 3;

  Shape shape(std::span<const ParentShape> parents) const {
    std::size_t features = 0;
    for (const ParentShape& parent : parents) features += parent.features();
    const auto rows = static_cast<std::size_t>(classes);
    return {.encoding = one_hot_encoding(classes),
            .parameters = {{"weights", rows, features}, {"bias", rows}}};
  }

  template <class S>
  void log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
    auto logits = as_eigen(out);
    logits = as_eigen(weights(theta, reading)) * as_eigen(reading.features) + as_eigen(theta).tail(classes);
    logits.array() -= logits.maxCoeff();
    logits.array() -= std::log(logits.array().exp().sum());
  }

  template <class S>
  void accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> credit,
                  std::span<S> out) const {
    std::vector<S> log_pi(credit.size());
    log_probs(theta, reading, std::span<S>(log_pi));
    const Eigen::Matrix<S, Eigen::Dynamic, 1> along_logits =
        as_eigen(credit).array() - as_eigen(credit).sum() * as_eigen(log_pi).array().exp();
    as_eigen(weights(out, reading)) += along_logits * as_eigen(reading.features).transpose();
    as_eigen(out).tail(classes) += along_logits;
  }

 private:
  template <class T, class S>
  MatrixView<T> weights(std::span<T> theta, const Reading<S>& reading) const {
    return {theta.data(), classes, static_cast<std::ptrdiff_t>(reading.features.size())};
  }
};
static_assert(Node<EigenSoftmax>);

/// HNCA once more, all samples of a unit at once.
struct EigenHnca {
  Needs needs() const { return {.hindsight_steps = 1}; }
  Verdict admissible(const Facts&) const { return {.why = "it is HNCA"}; }
  std::string name() const { return "eigen-hnca"; }

  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
    for (int unit = 0; unit < view.units; ++unit) {
      Eigen::Array<S, Eigen::Dynamic, Eigen::Dynamic> posterior =
          as_eigen(view.log_probs_of(unit)) + as_eigen(view.evidence_of(unit));
      posterior.rowwise() -= posterior.colwise().maxCoeff().eval();
      posterior = posterior.exp();
      posterior.rowwise() /= posterior.colwise().sum().eval();
      as_eigen(credit.of(unit)).array() += posterior * as_eigen(view.signals_of(unit)).array();
    }
  }
};
static_assert(Estimator<EigenHnca>);

//  x(2) ─→ a(2) ─→ y(3 classes) ─→ r
struct SoftmaxNet {
  Graph graph;
  NodeId x = graph.input("x", 2), a = graph.add("a", Bernoulli{.units = 2}, {x}), y;
  RewardId r;

  explicit SoftmaxNet(const AnyNode& last, const EstimatorChoice& of_a) {
    y = graph.add("y", last, {a});
    r = graph.reward("r", {y});
    graph.estimate_with(a, of_a);
  }
  Enumeration judge(const BasicModel<double>& model) const {
    const Eigen::MatrixXd rows{{0.5, -1.0}, {1.5, 0.25}, {-0.75, 2.0}};
    const std::vector<RewardFunction> value{
        {r, [this](const JointOutcome& at) { return at(y) == 1 ? -0.5 : 1.5 * at(y); }}};
    return enumerate(model, {{x, rows}}, value);
  }
};

}  // namespace

TEST_CASE("a node and an estimator written with Eigen are as exact as the library's") {
  const SoftmaxNet mine(EigenSoftmax{}, EigenHnca{}), shipped(Categorical{.classes = 3}, Hnca{});
  const BasicModel<double> reference = compile<double>(shipped.graph, {.seed = 3});
  BasicModel<double> model = compile<double>(mine.graph);
  for (const std::string piece : {"a/weights/x", "a/bias", "y/bias"})
    as_eigen(model.parameters(piece)) = as_eigen(reference.parameters(piece));
  as_eigen(model.parameters("y/weights")) = as_eigen(reference.parameters("y/weights/a"));

  const Enumeration exact = mine.judge(model), expected = shipped.judge(reference);
  CHECK(as_eigen(expected.gradient).cwiseAbs().maxCoeff() > 0.01);
  CHECK(exact.rewards[0] == doctest::Approx(expected.rewards[0]).epsilon(1e-12));
  CHECK(largest_difference(exact.gradient, expected.gradient) < 1e-12);
  CHECK(largest_difference(exact.estimate, exact.gradient) < 1e-12);
  CHECK(largest_difference(exact.variance, expected.variance) < 1e-12);
}
