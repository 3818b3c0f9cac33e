// What `hindsight train` does around its steps: dealing and converting images, metrics, progress, looking at
// the clock.
#include <chrono>
#include <memory>

#include "instructions.hpp"
#include "progress_bar.hpp"
#include "suites.hpp"
#include "tool/training.hpp"

namespace hindsight::benchmarks {
namespace {

constexpr int batch = 16;

tool::TrainingOptions options() { return {.rate = 0.01, .batch = batch, .instructions = widest_set()}; }

struct Subject {
  explicit Subject(const tool::Dataset& data)
      : network(tool::make_network({}, data.train.features(), data.train.classes)),
        training(network, data, options()) {}
  tool::Network network;
  tool::Training training;
};

/// As the command does it, its bar included; epochs end, but nothing is evaluated.
class WholeRun {
 public:
  explicit WholeRun(const tool::Dataset& data) : subject_(data), bar_("", std::int64_t{1} << 60) {}
  void step() {
    subject_.training.step();
    bar_.advance([] { return ""; });
    const auto now = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(now);
  }

 private:
  Subject subject_;
  ProgressBar bar_;
};

/// The same steps on batches that lie ready.
class BareSteps {
 public:
  explicit BareSteps(const tool::Dataset& data)
      : network_(tool::make_network({}, data.train.features(), data.train.classes)),
        model_(compile(network_.graph, {.instructions = widest_set()})),
        run_(model_.workspace(batch)),
        features_(data.train.features()) {
    tool::Batches batches(data.train, batch, 0);
    for (std::size_t i = 0; i < ready; ++i) {
      batches.next();
      pixels_.insert(pixels_.end(), batches.pixels().data(),
                     batches.pixels().data() + static_cast<std::ptrdiff_t>(batch) * features_);
      labels_.insert(labels_.end(), batches.labels().begin(), batches.labels().end());
    }
  }
  void step() {
    next_ = (next_ + 1) % ready;
    const float* const pixels =
        pixels_.data() + static_cast<std::ptrdiff_t>(next_) * batch * static_cast<std::ptrdiff_t>(features_);
    model_.forward(run_, {{network_.input, MatrixView<const float>(pixels, batch, features_)}});
    for (std::size_t i = 0; i < batch; ++i)
      rewards_[i] =
          run_.outcomes(network_.output)(static_cast<std::ptrdiff_t>(i)) == labels_[next_ * batch + i];
    model_.backward(run_, {{network_.reward, std::span<const float>(rewards_)}});
    sgd_.step(model_.parameters(), run_.gradient());
  }

 private:
  static constexpr std::size_t ready = 256;

  tool::Network network_;
  Model model_;
  Workspace run_;
  int features_;
  Sgd sgd_{{.rate = 0.01}};
  std::vector<float> pixels_;
  std::vector<int> labels_;
  float rewards_[batch] = {};
  std::size_t next_ = 0;
};

/// The test images after one epoch, as often as the command classifies them.
class Evaluation {
 public:
  explicit Evaluation(const tool::Dataset& data) : subject_(data) {}
  void step() { subject_.training.finish_epoch(0); }

 private:
  Subject subject_;
};

}  // namespace

std::vector<Row> pipeline(const tool::Dataset& data) {
  const std::string prefix = "train/784-64-64-10/";
  add_benchmark(prefix + "whole", {{"samples", batch}}, [&data] { return std::make_unique<WholeRun>(data); });
  add_benchmark(prefix + "bare", {{"samples", batch}}, [&data] { return std::make_unique<BareSteps>(data); });
  add_benchmark(prefix + "evaluation", {{"samples", data.test.count()}},
                [&data] { return std::make_unique<Evaluation>(data); });
  const double steps = static_cast<double>(data.train.count()) / batch;
  return {ratio("j", "hindsight train, 784-64-64-10: step with data, metrics and progress / bare step",
                {.most = 1.1}, {prefix + "whole"}, {prefix + "bare"}),
          ratio("j", "hindsight train, 784-64-64-10: testing after an epoch / training of the epoch", {},
                {prefix + "evaluation"}, {prefix + "whole"}, 1 / steps)};
}

}  // namespace hindsight::benchmarks
