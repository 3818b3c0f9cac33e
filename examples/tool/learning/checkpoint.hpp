#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tool/run_description.hpp"
#include "tool/tensor_file.hpp"

namespace hindsight::tool {

std::uint32_t checksum(const Dataset& data);

/// Replaces the file by the state of the run, as tensors in the safetensors layout (docs/results.md says
/// which).
void write_checkpoint(const std::filesystem::path& file, const RunDescription& run, const Training& training);

/// A checkpoint that was read and found whole: every tensor has the type, the shape and the numbers that a
/// run gives it, and none is there besides. Refused with the code "checkpoint" otherwise, or "tensor-file",
/// with the names of file and tensor.
class Checkpoint {
 public:
  explicit Checkpoint(const std::filesystem::path& file);

  const RunDescription& run() const { return read_.run; }
  /// Puts the training where the run stopped; refuses, before anything changes, what does not fit its
  /// network.
  void restore(Training& training) const;

 private:
  struct Parameter {
    std::string name;
    TensorFile::Shape shape;
  };

  [[noreturn]] void refuse_tensor(const std::string& tensor, const std::string& problem) const;
  void read_state(const TensorFile& tensors);
  void check_optimizer() const;
  void check_metrics() const;
  void check_parameters(const Model& model) const;
  void check_position(const Training& training) const;

  std::string name_;
  ReadDescription read_;
  TrainingState state_;  ///< parameters in the order of the file
  std::vector<Parameter> parameters_;
};

}  // namespace hindsight::tool
