#pragma once

#include <filesystem>
#include <string>

#include "lab/training.hpp"

namespace hindsight::lab {

/// All that decides what a run computes, bit by bit; a run that goes on must agree with it.
struct RunDescription {
  std::string data = "sample";
  std::uint32_t data_checksum = 0;  ///< of all images and labels
  NetworkOptions network = {};
  TrainingOptions training = {};
  int epochs = 20;  ///< where it ends
};

std::uint32_t checksum(const Dataset& data);

/// Replaces the file by the state of the run, as tensors in the safetensors layout (docs/results.md says
/// which).
void write_checkpoint(const std::filesystem::path& file, const RunDescription& run, const Training& training);

/// A checkpoint that was read and found whole.
class Checkpoint {
 public:
  explicit Checkpoint(const std::filesystem::path& file);

  const RunDescription& run() const { return run_; }
  /// Puts the training where the run stopped; refuses, before anything changes, what does not fit its
  /// network.
  void restore(Training& training) const;

 private:
  std::string name_;
  RunDescription run_;
  TrainingState state_;  ///< parameters in the order of the file
  std::vector<std::string> parameter_names_;
};

}  // namespace hindsight::lab
