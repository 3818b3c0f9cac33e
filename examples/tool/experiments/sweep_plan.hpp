#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <hindsight/core/report.hpp>

#include "tool/results.hpp"

namespace hindsight::tool {

/// Where the keys of a plan were written, for messages.
struct PlanSource {
  std::string file = "the sweep";
  std::map<std::string, int, std::less<>> lines = {};

  /// "paper.toml:3"; the file alone for a key that it leaves to its default.
  std::string place(std::string_view key) const;
};

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
  PlanSource source = {};
};

/// The keys of a plan by what they hold, with what the numbers may be.
struct PlanText {
  const char* key;
  std::string SweepPlan::*member;
};
struct PlanNumber {
  const char* key;
  int SweepPlan::*member;
  Bounds bounds;
};
struct PlanTexts {
  const char* key;
  std::vector<std::string> SweepPlan::*member;
};
struct PlanNumbers {
  const char* key;
  std::vector<int> SweepPlan::*member;
  Bounds bounds;
};
inline constexpr Bounds plan_seeds{1, 10'000}, further_seeds{0, 10'000};
inline constexpr PlanText plan_texts[] = {
    {"data", &SweepPlan::data}, {"values", &SweepPlan::values}, {"optimizer", &SweepPlan::optimizer}};
inline constexpr PlanNumber plan_numbers[] = {
    {"units", &SweepPlan::units, units_bounds},
    {"batch", &SweepPlan::batch, batch_bounds},
    {"seeds", &SweepPlan::seeds, plan_seeds},
    {"epochs", &SweepPlan::epochs, epoch_bounds},
    {"best-seeds", &SweepPlan::best_seeds, further_seeds},
    {"best-epochs", &SweepPlan::best_epochs, epoch_bounds},
    {"neighbour-seeds", &SweepPlan::neighbour_seeds, further_seeds},
    {"neighbour-epochs", &SweepPlan::neighbour_epochs, epoch_bounds}};
inline constexpr PlanTexts plan_text_lists[] = {{"methods", &SweepPlan::methods},
                                                {"topologies", &SweepPlan::topologies}};
inline constexpr PlanNumbers plan_number_lists[] = {{"depths", &SweepPlan::depths, depth_bounds},
                                                    {"rates", &SweepPlan::rates, rate_bounds}};

/// The same refusal, with file, line and key, and with what it is about.
[[noreturn]] void refuse_again(const Error& problem, const PlanSource& source, std::string_view key,
                               const std::string& about = {});

/// Refuses, with file, line and key, every plan of which a run or the writing of its result would be refused
/// later: a number out of its range, also where it only arises beside the best rate; a list that is empty or
/// lists something twice; a text that means nothing; more runs than anybody waits for. Code "sweep-plan" but
/// for methods. Whether networks admit their methods is seen when they are made.
void check(const SweepPlan&);

/// Every method on every network, each once, without rate, seed and epochs. Throws Error where a method is
/// none.
std::vector<RunSettings> combinations(const SweepPlan& plan);
/// All runs that exploring those takes, the quick ones first.
std::vector<RunSettings> exploration(const SweepPlan& plan, const std::vector<RunSettings>& combinations);
/// All runs that follow from what exploring found; throws Error if it is not complete.
std::vector<RunSettings> refinement(const SweepPlan& plan, const std::vector<RunSettings>& combinations,
                                    const std::vector<RunResult>& explored);

/// That refining one combination takes, whichever rate is the best.
std::int64_t refinement_epochs(const SweepPlan& plan);

/// As it is called in the results folder.
std::string file_name(const RunSettings& settings);

}  // namespace hindsight::tool
