// Bad numbers are refused in the same words however they are given.
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <Eigen/SparseCore>

#include "support/chain.hpp"

using namespace hindsight;
using namespace hindsight::testing;

TEST_CASE("bad inputs are refused in the same words however they are given") {
  Chain chain;
  const auto text = [&](const InputValues<float>& input) {
    return chain.refused([&] { chain.model.forward(chain.run, {input}); });
  };
  // In both orders, with strides of both kinds, as an expression and as a sparse matrix.
  const auto texts = [&](const Eigen::MatrixXf& images) {
    const Eigen::Index rows = images.rows(), cols = images.cols();
    const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = images;
    Eigen::MatrixXf larger = Eigen::MatrixXf::Zero(rows + 1, 3 * cols + 1);
    auto block = larger.bottomRows(rows)(Eigen::all, Eigen::seqN(0, cols, 3));
    block = images;
    const Eigen::SparseMatrix<float> sparse = images.sparseView();
    const std::string said = text({chain.x, images});
    CHECK(text({chain.x, by_rows}) == said);
    CHECK(text({chain.x, MatrixView<const float>(larger.data() + 1, rows, cols, 1, 3 * (rows + 1))}) == said);
    CHECK(text({chain.x, block}) == said);
    CHECK(text({chain.x, images * 1.0F}) == said);
    CHECK(text({chain.x, sparse}) == said);
    return said;
  };
  CHECK(texts(Eigen::MatrixXf::Ones(3, 1)) ==
        R"(error[input-shape]: node 'x': it was given 3 × 1 values; 3 × 2 are expected (samples × units)
  help: give all inputs the same number of rows, one per sample, and one column per unit)");
  CHECK(texts(Eigen::MatrixXf::Ones(2, 4)) ==
        R"(error[input-shape]: node 'x': it was given 2 × 4 values; 2 × 2 are expected (samples × units)
  help: give all inputs the same number of rows, one per sample, and one column per unit)");
  CHECK(texts(Eigen::MatrixXf()) ==
        R"(error[input-shape]: node 'x': it was given 0 × 0 values; 0 × 2 are expected (samples × units)
  help: give all inputs the same number of rows, one per sample, and one column per unit)");
  CHECK(texts(Eigen::MatrixXf(0, 2)) ==
        R"(error[batch-size]: node 'x': it was given 0 samples; this workspace runs 1 to 4
  help: give at least one sample)");
  CHECK(texts(Eigen::MatrixXf::Ones(5, 2)) ==
        R"(error[batch-size]: node 'x': it was given 5 samples; this workspace runs 1 to 4
  help: auto run = model.workspace(5);)");
  Eigen::MatrixXf spoilt = Eigen::MatrixXf::Ones(4, 2);
  spoilt(3, 0) = std::numeric_limits<float>::quiet_NaN();
  CHECK(texts(spoilt) == R"(error[input-not-finite]: node 'x': its value in sample 3, unit 0 is nan
  help: clean the data: inputs must be finite numbers)");
  spoilt(2, 1) = -std::numeric_limits<float>::infinity();
  CHECK(texts(spoilt) == R"(error[input-not-finite]: node 'x': its value in sample 2, unit 1 is -inf
  help: clean the data: inputs must be finite numbers)");
  chain.check_runs();
}

TEST_CASE("bad rewards are refused in the same words however they are given") {
  Chain chain;
  chain.forward();
  const auto texts = [&](const Eigen::MatrixXf& rewards) {
    const auto text = [&](const RewardValues<float>& reward) {
      return chain.refused([&] { chain.model.backward(chain.run, {reward}); });
    };
    const std::string said = text({chain.r, rewards});
    CHECK(text({chain.r, rewards.array() + 0.0F}) == said);
    CHECK(text({chain.r, Eigen::SparseMatrix<float>(rewards.sparseView())}) == said);
    return said;
  };
  CHECK(texts(Eigen::MatrixXf::Ones(2, 1)) ==
        R"(error[reward-length]: reward 'r' was given 2 × 1 values for 3 samples
  help: give one value per sample of the last forward pass)");
  CHECK(texts(Eigen::MatrixXf::Ones(3, 3)) ==
        R"(error[reward-length]: reward 'r' was given 3 × 3 values for 3 samples
  help: give one value per sample of the last forward pass)");
  CHECK(texts(Eigen::MatrixXf()) == R"(error[reward-length]: reward 'r' was given 0 × 0 values for 3 samples
  help: give one value per sample of the last forward pass)");
  Eigen::MatrixXf spoilt = Eigen::MatrixXf::Ones(1, 3);
  spoilt(0, 1) = std::numeric_limits<float>::quiet_NaN();
  CHECK(texts(spoilt) == R"(error[reward-not-finite]: reward 'r' is nan in sample 1
  help: give finite rewards; use 0 where there is none)");
  chain.check_runs();
}
