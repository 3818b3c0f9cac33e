#pragma once

#include <cstdint>
#include <string>

#include "tool/training.hpp"

namespace hindsight::tool {

/// Tests of one epoch draw from random numbers that belong to it; there are so many.
inline constexpr int most_epochs = 65535;
inline constexpr int most_batch = 1 << 20, most_test_passes = 1000, most_hidden_units = 1'000'000;

/// All that decides what a run computes, bit by bit; a run that goes on must agree with it.
struct RunDescription {
  std::string data = "sample";
  std::uint32_t data_checksum = 0;  ///< of all images and labels
  NetworkOptions network = {};
  TrainingOptions training = {};
  int epochs = 20;  ///< where it ends
};

/// As one object of JSON, with the instruction set and the samples per image that the model came to have.
std::string to_json(const RunDescription& run, const Model& model);

struct ReadDescription {
  RunDescription run = {};
  int replicas = 0;  ///< 0: written before that was
};

/// Reads what `to_json` writes. Refused with "checkpoint" if a key is missing or given twice, or a value is
/// not what an option could be; `file` opens the message.
ReadDescription parse_description(const std::string& text, const std::string& file);

/// Refuses a checkpoint; the problem follows the name of its file.
[[noreturn]] void refuse_checkpoint(const std::string& file, const std::string& problem);

}  // namespace hindsight::tool
