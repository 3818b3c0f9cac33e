#pragma once

#include <filesystem>
#include <optional>

#include "tool/checkpoint.hpp"

namespace hindsight::tool {

struct TrainCommand {
  RunDescription run = {};
  std::string graph = {};  ///< file that the network comes from; empty: the description says all
  std::filesystem::path out = "run";
  bool resume = false;                  ///< the description comes from the checkpoint in `out`
  std::optional<int> more_epochs = {};  ///< of a run that goes on: another goal than it had
  double checkpoint_seconds = 10;
};

enum class TrainEnd { finished, interrupted, diverged };

/// One run: metrics.jsonl, checkpoint.safetensors and a picture of the learning curve in `out`.
TrainEnd train(TrainCommand command);

}  // namespace hindsight::tool
