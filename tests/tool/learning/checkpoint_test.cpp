// Checkpoints that no run has written, though their checksums are right.
#include "tool/checkpoint.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"
#include "tool/atomic_file.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using hindsight::testing::refusal;
using hindsight::testing::ScratchFolder;

namespace {

using TensorShape = TensorFile::Shape;

LabelledImages some_images() {
  LabelledImages images{.rows = 4, .columns = 4, .classes = 3, .pixels = {}, .labels = {}};
  for (int i = 0; i < 40; ++i) {
    images.labels.push_back(static_cast<std::uint8_t>(i % 3));
    for (int pixel = 0; pixel < 16; ++pixel)
      images.pixels.push_back(static_cast<std::uint8_t>(i * 7 + pixel * 13));
  }
  return images;
}
const Dataset small_data{"small", some_images(), some_images()};

/// A run of Adam, one epoch and two batches long, and what can be made of its checkpoint.
class CheckpointFolder : public ScratchFolder {
 public:
  explicit CheckpointFolder(const std::string& optimizer = "adam",
                            const std::string& baseline = "running-mean") {
    run_.network.hidden = {16, 5};
    run_.network.baseline = baseline;
    run_.training.optimizer = optimizer;
    run_.training.batch = 16;
    const Network network = make_network(run_.network, 16, 3);
    Training training(network, small_data, run_.training);
    while (!training.epoch_is_complete()) training.step();
    training.finish_epoch(1000);
    training.step();
    training.step();
    write_checkpoint(file(), run_, training);
  }

  std::filesystem::path file() const { return path() / "checkpoint.safetensors"; }
  TensorFile tensors() const { return TensorFile::from_bytes(read_file(file()), "it"); }

  /// What is said of these tensors by whoever goes on with the run; without the file's name and the help.
  std::string refusal_of(const TensorFile& changed) const { return refusal_on(changed, run_.network); }
  std::string refusal_on(const TensorFile& changed, const NetworkOptions& options) const {
    std::ofstream(file(), std::ios::binary) << changed.to_bytes();
    const Network network = make_network(options, 16, 3);
    Training training(network, small_data, run_.training);
    const std::vector<float> before = training.state().parameters;
    std::string said = refusal([&] { Checkpoint(file()).restore(training); });
    CHECK((said == "nothing was refused" || training.state().parameters == before));
    if (const auto name = said.find(file().string()); name != std::string::npos)
      said.replace(name, file().string().size(), "FILE");
    return said.substr(0, said.find("\n  help: "));
  }
  const NetworkOptions& network() const { return run_.network; }

 private:
  RunDescription run_;
};

/// Adds a tensor as `source` is, but for name and shape.
void add_like(TensorFile& copy, const TensorFile& tensors, const std::string& source, const std::string& name,
              const TensorShape& shape) {
  if (source.starts_with("parameters/") || source.ends_with("_moment"))
    copy.add(name, shape, std::span<const float>(tensors.floats(source)));
  else if (source == "adam/steps")
    copy.add(name, shape, std::span<const std::uint64_t>(tensors.uint64s(source)));
  else if (source == "position/stream" || source == "position/data")
    copy.add(name, shape, std::span<const std::uint32_t>(tensors.uint32s(source)));
  else
    copy.add(name, shape, std::span<const double>(tensors.doubles(source)));
}

/// A copy whose tensor has another shape, or is left out.
TensorFile reshaped(const TensorFile& tensors, const std::string& changed, const TensorShape* shape) {
  TensorFile copy;
  copy.metadata = tensors.metadata;
  for (const std::string& name : tensors.names())
    if (name != changed)
      add_like(copy, tensors, name, name, tensors.shape(name));
    else if (shape)
      add_like(copy, tensors, name, name, *shape);
  return copy;
}

/// A copy in which two tensors have each other's place.
TensorFile swapped(const TensorFile& tensors, const std::string& one, const std::string& other) {
  TensorFile copy;
  copy.metadata = tensors.metadata;
  for (const std::string& name : tensors.names()) {
    const std::string& source = name == one ? other : name == other ? one : name;
    add_like(copy, tensors, source, name, tensors.shape(source));
  }
  return copy;
}

/// A copy in which these numbers take the tensor's place.
template <class T>
TensorFile replaced(const TensorFile& tensors, const std::string& changed, const TensorShape& shape,
                    const std::vector<T>& values) {
  TensorFile copy = reshaped(tensors, changed, nullptr);
  copy.add(changed, shape, std::span<const T>(values));
  return copy;
}

TensorFile described(const TensorFile& tensors, const std::string& part, const std::string& replacement) {
  TensorFile copy = reshaped(tensors, "", nullptr);
  std::string& text = copy.metadata.at("run");
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  text.replace(at, part.size(), replacement);
  return copy;
}

}  // namespace

TEST_CASE("a checkpoint as it was written is restored") {
  for (const char* optimizer : {"sgd", "momentum", "adam"})
    for (const char* baseline : {"", "running-mean", "linear-critic", "leave-one-out(samples=3)"}) {
      const CheckpointFolder folder(optimizer, baseline);
      CHECK(folder.refusal_of(folder.tensors()) == "nothing was refused");
    }
}

TEST_CASE("a velocity that is not the run's is refused") {
  const CheckpointFolder folder("momentum"), plain("sgd");
  CHECK(folder.refusal_of(replaced<float>(folder.tensors(), "momentum/velocity", {3}, {0, 0, 0})) ==
        "error[checkpoint]: FILE: tensor 'momentum/velocity' holds 3 numbers, not 375");
  CHECK_FALSE(plain.tensors().contains("momentum/velocity"));
}

TEST_CASE("a parameter with transposed or other sizes is refused with its name") {
  const CheckpointFolder folder;
  const TensorFile tensors = folder.tensors();
  REQUIRE(tensors.shape("parameters/h2/weights/h1") == TensorShape{5, 16});
  for (const TensorShape& shape :
       {TensorShape{16, 5}, TensorShape{80}, TensorShape{5, 16, 1}, TensorShape{80, 1}})
    CHECK(
        folder.refusal_of(reshaped(tensors, "parameters/h2/weights/h1", &shape)) ==
        fmt::format("error[checkpoint]: FILE: tensor 'parameters/h2/weights/h1' has the shape [{}], not the "
                    "[5,16] of this network",
                    fmt::join(shape, ",")));
}

TEST_CASE("parameters whose sizes are swapped, with the same sum, are refused") {
  const CheckpointFolder folder;
  CHECK(folder.refusal_of(swapped(folder.tensors(), "parameters/h1/weights/x", "parameters/h2/weights/h1")) ==
        "error[checkpoint]: FILE: tensor 'parameters/h1/weights/x' has the shape [5,16], not the [16,16] of "
        "this "
        "network");
}

TEST_CASE("a checkpoint of another network is refused with the parameter at which they part") {
  const CheckpointFolder folder;
  NetworkOptions other = folder.network();
  other.hidden = {16};
  CHECK(folder.refusal_on(folder.tensors(), other)
            .find("error[checkpoint]: FILE: its parameters are not those of this network: expected "
                  "'parameters/output/") == 0);
  other.hidden = {16, 5, 4};
  CHECK(folder.refusal_on(folder.tensors(), other).find("expected 'parameters/h3/") != std::string::npos);
  const CheckpointFolder plain("sgd");
  CHECK(plain.refusal_of(reshaped(plain.tensors(), "parameters/h1/weights/x", nullptr))
            .find("expected 'parameters/h1/weights/x', found 'parameters/") != std::string::npos);
}

TEST_CASE("a checkpoint of another number of samples for each image is refused") {
  const CheckpointFolder folder("sgd", "leave-one-out(samples=3)");
  const TensorFile tensors = folder.tensors();
  NetworkOptions other = folder.network();
  other.baseline = "leave-one-out(samples=4)";
  CHECK(folder.refusal_on(tensors, other) ==
        "error[checkpoint]: FILE: its run drew each image 3 times, this network draws it 4 times");
  CHECK(folder.refusal_of(described(tensors, "\"replicas\":3", "\"replicas\":4")) ==
        "error[checkpoint]: FILE: its run drew each image 4 times, this network draws it 3 times");
  // Written before there was that key.
  CHECK(folder.refusal_of(described(tensors, "\"replicas\":3,", "")) == "nothing was refused");
}

TEST_CASE("a checkpoint of other baselines is refused with the tensor's name") {
  const CheckpointFolder folder;
  NetworkOptions other = folder.network();
  other.baseline = "linear-critic";
  CHECK(folder.refusal_on(folder.tensors(), other) ==
        "error[checkpoint]: FILE: tensor 'baselines' holds 2 numbers; the baselines of this network remember "
        "17");
}

TEST_CASE("tensors of another shape, type or number are refused with their names") {
  const CheckpointFolder folder;
  const TensorFile tensors = folder.tensors();
  const auto says = [&](const TensorFile& changed, const std::string& message) {
    CHECK(folder.refusal_of(changed) == "error[checkpoint]: FILE: tensor " + message);
  };
  const TensorShape one{1}, row{1, 3}, square{1, 2}, matrix{2, 1};
  says(reshaped(tensors, "adam/steps", &one), "'adam/steps' has the shape [1], not a single number");
  says(reshaped(tensors, "position/stream", &row), "'position/stream' has the shape [1,3], not [3]");
  says(reshaped(tensors, "position/data", &square), "'position/data' has the shape [1,2], not [2]");
  says(reshaped(tensors, "position/reward_sum", &one),
       "'position/reward_sum' has the shape [1], not a single number");
  says(reshaped(tensors, "baselines", &matrix), "'baselines' has the shape [2,1], not that of a list");
  says(replaced<double>(tensors, "metrics/train_reward", {2}, {0, 0}),
       "'metrics/train_reward' has the shape [2], not [1]");
  says(replaced<float>(tensors, "adam/first_moment", {3}, {0, 0, 0}),
       "'adam/first_moment' holds 3 numbers, not 375");
  says(replaced<float>(tensors, "adam/second_moment", {0}, {}),
       "'adam/second_moment' holds 0 numbers, not 375");
  TensorFile more = tensors;
  more.add("extra", {1}, std::span<const double>(std::vector<double>{1}));
  says(more, "'extra' is none that a checkpoint has");
  for (const char* name : {"adam/steps", "position/stream", "position/data", "position/reward_sum",
                           "adam/first_moment", "metrics/test_accuracy_mean"}) {
    CHECK(folder.refusal_of(reshaped(tensors, name, nullptr)) ==
          fmt::format("error[tensor-file]: 'FILE': expected a tensor '{}', found none among {}", name,
                      tensors.names().size() - 1));
    const TensorFile wrong = name == std::string("position/stream") || name == std::string("position/data")
                                 ? replaced<float>(tensors, name, {1}, {0})
                                 : replaced<std::uint32_t>(tensors, name, {1}, {0});
    CHECK(folder.refusal_of(wrong).find(fmt::format("tensor '{}'", name)) != std::string::npos);
  }
  const TensorFile doubles =
      replaced<double>(tensors, "parameters/h1/weights/x", {16, 16}, std::vector<double>(256));
  CHECK(folder.refusal_of(doubles) ==
        "error[tensor-file]: 'FILE': tensor 'parameters/h1/weights/x': expected F32, found F64");
}

TEST_CASE("numbers that no run comes to are refused with the tensor's name") {
  const CheckpointFolder folder;
  const TensorFile tensors = folder.tensors();
  const auto says = [&](const TensorFile& changed, const std::string& message) {
    CHECK(folder.refusal_of(changed) == "error[checkpoint]: FILE: " + message);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -1.0}) {
    says(replaced<double>(tensors, "position/reward_sum", {}, {bad}),
         fmt::format("tensor 'position/reward_sum' is {}, which no sum of rewards is", bad));
    for (const char* name : {"metrics/train_reward", "metrics/samples_per_s"})
      says(replaced<double>(tensors, name, {1}, {bad}),
           fmt::format("tensor '{}' holds {}, which it cannot be", name, bad));
  }
  says(replaced<double>(tensors, "metrics/test_accuracy_mean", {1}, {1.5}),
       "tensor 'metrics/test_accuracy_mean' holds 1.5, which it cannot be");
  says(replaced<std::uint32_t>(tensors, "position/stream", {3}, {0, 6, 0}),
       "tensor 'position/stream' is 0, 6, 0, but after 1 epochs and 2 batches it is 0, 5, 0");
  says(replaced<std::uint32_t>(tensors, "position/stream", {3}, {1, 5, 0}),
       "tensor 'position/stream' is 1, 5, 0, but after 1 epochs and 2 batches it is 0, 5, 0");
  says(replaced<std::uint32_t>(tensors, "position/data", {2}, {1, 4}),
       "it stopped at batch 4 of an epoch; this data has 3");
  CHECK(folder.refusal_of(replaced<std::uint32_t>(tensors, "position/data", {2}, {4'294'967'295U, 0}))
            .find("has the shape [1], not [4294967295]") != std::string::npos);
  const CheckpointFolder plain("sgd", "");
  CHECK(plain.refusal_of(replaced<std::uint64_t>(plain.tensors(), "adam/steps", {}, {5})) ==
        "error[checkpoint]: FILE: tensor 'adam/steps' is 5, but the run's optimizer is sgd");
}

TEST_CASE("a checkpoint whose options could not be options is refused with their names") {
  const CheckpointFolder folder;
  const TensorFile tensors = folder.tensors();
  const std::string start = "error[checkpoint]: FILE: its description of the run cannot be read: ";
  const auto says = [&](const std::string& part, const std::string& replacement, const std::string& message) {
    CHECK(folder.refusal_of(described(tensors, part, replacement)) == start + message);
  };
  for (const std::string bad :
       {"0", "-1", "1.5", "1048577", "18446744073709551616", "null", "\"16\"", "true"})
    says("\"batch\":16", "\"batch\":" + bad,
         "'batch' must be a whole number from 1 to 1048576, found " +
             (bad == "18446744073709551616" ? "1.8446744073709552e+19" : bad));
  says("\"epochs\":20", "\"epochs\":65536", "'epochs' must be a whole number from 1 to 65535, found 65536");
  says("\"test_passes\":1", "\"test_passes\":0",
       "'test_passes' must be a whole number from 1 to 1000, found 0");
  says("\"seed\":0", "\"seed\":-1", "'seed' must be a whole number from 0 to 18446744073709551615, found -1");
  says("\"rate\":0.0625", "\"rate\":-0.5", "'rate' must be a number above 0, found -0.5");
  says("\"rate\":0.0625", "\"rate\":null", "'rate' must be a number above 0, found null");
  says("[16,5]", "[16,0]", "'hidden' must be a list of whole numbers from 1 to 1000000, found 0");
  says("[16,5]", "16", "'hidden' must be a list of whole numbers from 1 to 1000000, found 16");
  says("[16,5]", "[[16]]", "expected numbers, texts and lists of them, found lists within lists");
  says("\"estimators\":[]", "\"estimators\":[7]", "'estimators' must be a list of texts, found 7");
  says("\"method\":\"hnca\"", "\"method\":7", "'method' must be a text, found 7");
  says("\"method\":\"hnca\",", "", "the key 'method' is missing");
  says("\"seed\":0", "\"seed\":0,\"seed\":1", "the key 'seed' is given twice");
}
