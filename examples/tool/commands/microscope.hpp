#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <hindsight/graph/microscope.hpp>

#include "tool/graph_commands.hpp"
#include "tool/training.hpp"

namespace hindsight::tool {

struct MicroscopeCommand {
  GraphSource source;
  std::filesystem::path run;  ///< folder of a run instead: its network, data and parameters
  std::string data = {};      ///< as for train, or "bandit"; empty: images if the graph can classify them
  int rows = 8;               ///< of the inputs of a bandit
  std::vector<std::string> methods;  ///< as for train, without those of the paper; empty: a choice
  TrainingOptions training = {};     ///< before parameters are frozen, by HNCA
  int epochs = 0;                    ///< of that training
  int gradients = 1000, batch = 64;
  std::size_t most_states = 1 << 14;
  double most_operations = MicroscopeOptions{}.most_operations;
  bool json = false, blocks = false;
  std::filesystem::path figure;  ///< without its ending; empty: none
  std::filesystem::path advice;  ///< graph file to write; empty: none
};

/// Compares estimators and prints what came of it.
void look_closely(const MicroscopeCommand& command);

}  // namespace hindsight::tool
