#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lab/results.hpp"

namespace hindsight::lab {

/// What a sweep's file says: every rate is explored with a few seeds; then the best of each method and depth,
/// and the rates beside it, run longer and with more seeds.
struct SweepPlan {
  std::string data = "sample";
  std::string values = "-1,1";
  std::string optimizer = "sgd";
  int units = 64;
  int batch = 16;
  std::vector<std::string> methods = {"hnca", "reinforce"};  ///< e.g. "hnca(steps=2) + running-mean"
  std::vector<int> depths = {1, 2, 3};
  std::vector<std::string> topologies = {};  ///< instead of depths, e.g. "small-world:units=200"
  std::vector<int> rates = {-10, -9, -8, -7, -6, -5, -4, -3, -2, -1, 0};  ///< exponents of 2
  int seeds = 2;
  int epochs = 20;
  int best_seeds = 0;  ///< 0: explore only
  int best_epochs = 100;
  int neighbour_seeds = 0;
  int neighbour_epochs = 40;
};

/// Every method on every network, each once, without rate, seed and epochs. Throws Error where a method is
/// none.
std::vector<RunSettings> combinations(const SweepPlan& plan);
/// All runs that exploring those takes, the quick ones first.
std::vector<RunSettings> exploration(const SweepPlan& plan, const std::vector<RunSettings>& combinations);
/// All runs that follow from what exploring found; throws Error if it is not complete.
std::vector<RunSettings> refinement(const SweepPlan& plan, const std::vector<RunSettings>& combinations,
                                    const std::vector<RunResult>& explored);

/// As it is called in the results folder.
std::string file_name(const RunSettings& settings);

struct SweepOptions {
  std::filesystem::path results;
  std::filesystem::path known =
      {};           ///< results that are there already, as read_results takes them; none: empty
  int workers = 0;  ///< runs at a time; 0: as many as there are cores
};

/// Runs what the folder does not hold yet. A method that comes to nothing on a network is left out there, and
/// a line on stderr says so. Returns false if it was interrupted; what was finished is kept.
bool run_sweep(const SweepPlan& plan, const SweepOptions& options);

}  // namespace hindsight::lab
