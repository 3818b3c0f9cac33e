#include "lab/gradient_variance.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace hindsight;
using namespace hindsight::lab;

namespace {

/// Two images of four pixels, one per class.
const LabelledImages two_images{
    .rows = 2, .columns = 2, .classes = 2, .pixels = {255, 0, 40, 200, 10, 180, 255, 0}, .labels = {0, 1}};
const Dataset pair{"pair", two_images, two_images};

/// What the oracle says of the same network, per node: exact, over both images and every outcome.
std::vector<double> exact_variances(const std::string& method, const VarianceOptions& options) {
  NetworkOptions described = options.network;
  described.method = method;
  const Network network = make_network(described, 4, 2);
  const Model model = compile(network.graph, {.seed = options.training.seed});
  std::vector<float> pixels(8);
  for (int i = 0; i < 2; ++i) copy_pixels(two_images.image(i), pixels.data() + 4 * i);
  const std::vector<InputValues<float>> inputs{{network.input, MatrixView<const float>(pixels.data(), 2, 4)}};
  const std::vector<RewardFunction> rewards{{network.reward, [&](const JointOutcome& outcome) {
                                               return outcome(network.output) == outcome.input_row() ? 1.0
                                                                                                     : 0.0;
                                             }}};
  const Enumeration exact = enumerate(model, inputs, rewards);
  std::vector<double> by_node;
  std::size_t parameter = 0;
  for (int i = 1; i < network.graph.node_count(); ++i) {
    by_node.push_back(0);
    for (std::size_t left = network.graph.shape({i}).parameter_count(); left > 0; --left)
      by_node.back() += exact.variance[parameter++];
  }
  return by_node;
}

}  // namespace

//  x(4) ─→ h1(3) ─→ h2(2) ─→ output ─→ correct
TEST_CASE("variances of gradients are those of the oracle, level by level") {
  const VarianceOptions options{
      .network = {.hidden = {3, 2}}, .training = {.batch = 1, .seed = 3}, .epochs = 0, .batches = 40000};
  const GradientVariance measured = gradient_variance(options, pair);
  const std::vector<double> hnca = exact_variances("hnca", options),
                            reinforce = exact_variances("reinforce", options);
  REQUIRE(measured.levels.size() == 3);
  CHECK(measured.levels[0].weights == 15);
  CHECK(measured.levels[1].weights == 8);
  CHECK(measured.levels[2].weights == 6);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    // 40,000 samples of a variance whose fourth moments are within ten times its square: three standard
    // errors are below 5 %.
    CHECK(measured.levels[i].hnca == doctest::Approx(hnca[i]).epsilon(0.05));
    CHECK(measured.levels[i].reinforce == doctest::Approx(reinforce[i]).epsilon(0.05));
    CHECK(hnca[i] <= reinforce[i] + 1e-12);
  }
  CHECK(measured.hnca_samples_per_s > 0);
}

TEST_CASE("the table of variances ends with what a step costs") {
  const GradientVariance variance{.levels = {{.level = 1, .weights = 10, .reinforce = 0.5, .hnca = 0.125}},
                                  .reinforce_samples_per_s = 2e5,
                                  .hnca_samples_per_s = 1e5};
  CHECK(to_table(variance) ==
        "| level | weights | REINFORCE | HNCA | HNCA / REINFORCE |\n"
        "|---:|---:|---:|---:|---:|\n"
        "| 1 | 10 | 0.5 | 0.125 | 0.25 |\n"
        "| samples/s | | 200 k | 100 k | 0.50 |\n");
}

TEST_CASE("many levels are gathered into bands, the output alone") {
  GradientVariance variance;
  for (int level = 1; level <= 20; ++level)
    variance.levels.push_back({.level = level, .weights = 10, .reinforce = 2, .hnca = 1});
  const std::vector<GradientVariance::Band> bands = in_bands(variance, 8);
  REQUIRE(bands.size() == 8);
  CHECK(bands.back().first == 20);
  CHECK(bands.back().sums.weights == 10);
  std::size_t weights = 0;
  double reinforce = 0, hnca = 0;
  int next = 1;
  for (const auto& [first, sums] : bands) {
    CHECK(first == next);
    next = sums.level + 1;
    weights += sums.weights;
    reinforce += sums.reinforce;
    hnca += sums.hnca;
  }
  CHECK(next == 21);
  CHECK(weights == 200);
  CHECK(reinforce == 40);
  CHECK(hnca == 20);
  CHECK(to_table(variance).find("| 1 … 2 | 20 | 4 | 2 | 0.5 |\n") != std::string::npos);
}
