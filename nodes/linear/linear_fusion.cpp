#include <hindsight/nodes/linear_fusion.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <hindsight/core/index.hpp>

namespace hindsight::internal {
namespace {

/// Shorter runs gain nothing from a dense product.
constexpr std::size_t long_run = 8;
/// Fewer logits than this do not share what a dense product loads.
constexpr std::size_t least_rows = 4;

/// Units that differ in it are not worked together; one of them speaks for all when messages are sent.
using RunKey = std::vector<std::tuple<std::size_t, std::size_t, std::size_t, bool>>;

RunKey key_of(const std::vector<FeatureRun>& runs, std::size_t least_features) {
  RunKey key;
  for (const FeatureRun& run : runs)
    if (run.features >= least_features)
      key.emplace_back(run.feature_row, run.features, run.step, run.wants_messages);
  return key;
}

bool are_equal(const Encoding* a, const Encoding* b) { return a == b || (a && b && *a == *b); }

/// Appends the run, or lengthens the last one by it.
void append(std::vector<FeatureRun>& runs, const FeatureRun& run, bool one_logit) {
  if (!runs.empty() && run.parameter > runs.back().parameter) {
    FeatureRun& last = runs.back();
    const std::size_t step = last.features == 1 ? run.parameter - last.parameter : last.step;
    if (last.feature_row + last.features == run.feature_row && are_equal(last.encoding, run.encoding) &&
        last.wants_slopes == run.wants_slopes && last.wants_messages == run.wants_messages &&
        last.parameter + last.features * step == run.parameter && (run.features == 1 || run.step == step) &&
        (one_logit || last.logit_stride == run.logit_stride)) {
      last.step = step;
      last.features += run.features;
      return;
    }
  }
  runs.push_back(run);
}

ReadingUnit read(const Placement& at, const LinearLayout& layout, int unit) {
  ReadingUnit reading{.at = &at, .unit = unit, .bias = at.first_parameter + layout.bias(unit)};
  for (const WeightRun& run : layout.runs(unit)) {
    const ParentPlace& parent = at.parents[run.parent];
    const std::size_t width = index(parent.from->width());
    append(reading.runs,
           {.feature_row = parent.from->feature_row + index(run.first_unit) * width,
            .features = index(run.units) * width,
            .parameter = at.first_parameter + run.parameter,
            .logit_stride = run.logit_stride,
            .unit_row = parent.from->unit_row + index(run.first_unit),
            .encoding = parent.from->encoding(),
            .wants_slopes = parent.wants_slopes,
            .wants_messages = parent.wants_messages},
           at.shape.logits == 1);
  }
  return reading;
}

/// What all units read: their long runs, which are the same, and the short ones if they are the same too.
std::vector<FeatureRun> shared_runs(const std::vector<ReadingUnit>& units) {
  const std::vector<FeatureRun>& first = units.front().runs;
  const RunKey key = key_of(first, 0);
  const bool all = std::all_of(units.begin(), units.end(),
                               [&](const ReadingUnit& unit) { return key_of(unit.runs, 0) == key; });
  std::vector<FeatureRun> shared;
  for (const FeatureRun& run : first)
    if (all || run.features >= long_run) shared.push_back(run);
  return shared;
}

}  // namespace

std::vector<FusedUnits> fuse(std::span<const Placement* const> group) {
  std::map<RunKey, std::vector<ReadingUnit>> by_key;
  for (const Placement* at : group) {
    const LinearLayout layout(*at);
    for (int unit = 0; unit < at->shape.units; ++unit) {
      ReadingUnit reading = read(*at, layout, unit);
      by_key[key_of(reading.runs, long_run)].push_back(std::move(reading));
    }
  }
  std::vector<FusedUnits> fused;
  FusedUnits rest;
  for (auto& [key, units] : by_key) {
    const std::size_t rows = units.size() * index(group.front()->shape.logits);
    if (key.empty() || rows < least_rows) {
      std::move(units.begin(), units.end(), std::back_inserter(rest.units));
      continue;
    }
    std::vector<FeatureRun> shared = shared_runs(units);
    fused.push_back({std::move(units), std::move(shared)});
  }
  if (!rest.units.empty()) fused.push_back(std::move(rest));
  return fused;
}

}  // namespace hindsight::internal
