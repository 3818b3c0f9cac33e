#pragma once

#include <filesystem>

namespace hindsight::tool {

struct DemoOptions {
  int seeds = 5;
  int epochs = 40;
  std::filesystem::path out = "demo";  ///< the figure, without its ending
};

/// Trains a graph that has no layers and a layered network with as many weights, each by HNCA and by
/// REINFORCE, on the embedded images; ends with a table and a figure. Returns false if it was interrupted.
bool run_demo(const DemoOptions& options);

}  // namespace hindsight::tool
