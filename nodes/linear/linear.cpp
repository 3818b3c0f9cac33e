#include <hindsight/nodes/linear.hpp>

#include <cmath>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>

namespace hindsight::internal {

std::vector<ParameterBlock> linear_parameters(std::span<const ParentShape> parents, int units, int logits) {
  const std::size_t rows = index(units) * index(logits);
  std::vector<ParameterBlock> blocks;
  blocks.reserve(parents.size() + 1);
  for (const ParentShape& parent : parents) {
    std::string name = fmt::format("weights/{}", parent.name);
    if (parent.connectivity)
      blocks.push_back(
          {std::move(name), index(logits) * parent.connectivity->pairs() * index(parent.width())});
    else
      blocks.push_back({std::move(name), rows, parent.features()});
  }
  blocks.push_back({"bias", rows});
  return blocks;
}

LinearLayout::LinearLayout(std::span<const ParentShape> parents, int units, int logits)
    : units_(index(units)), logits_(index(logits)) {
  edges_.reserve(parents.size());
  for (const ParentShape& parent : parents) add(parent.units, parent.width(), parent.connectivity);
}

LinearLayout::LinearLayout(const Placement& at) : units_(at.units()), logits_(index(at.shape.logits)) {
  edges_.reserve(at.parents.size());
  for (std::size_t p = 0; p < at.parents.size(); ++p)
    add(at.parents[p].from->shape.units, at.parents[p].from->width(), at.wiring(p));
}

void LinearLayout::add(int parent_units, int width, const Connectivity* connectivity) {
  edges_.push_back({parent_units, index(width), connectivity, bias_});
  const std::size_t pairs = connectivity ? connectivity->pairs() : units_ * index(parent_units);
  bias_ += logits_ * pairs * index(width);
}

std::vector<WeightRun> LinearLayout::runs(int unit) const {
  std::vector<WeightRun> runs;
  runs.reserve(edges_.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const auto& [units, width, connectivity, first_of_edge] = edges_[e];
    if (!connectivity) {
      const std::size_t features = index(units) * width;
      runs.push_back({e, 0, units, first_of_edge + index(unit) * logits_ * features, features});
      continue;
    }
    const std::span<const int> read = connectivity->parents_of(unit);
    const std::size_t first = first_of_edge + logits_ * width * connectivity->pairs_before(unit);
    for (std::size_t i = 0, end = 0; i < read.size(); i = end) {
      end = i + 1;
      while (end < read.size() && read[end] == read[end - 1] + 1) ++end;
      runs.push_back({e, read[i], static_cast<int>(end - i), first + i * width, read.size() * width});
    }
  }
  return runs;
}

namespace {

/// Calls visit(unit, logit, feature of the reading, parameter) for every weight.
template <class S, class Visit>
void for_each_weight(const Reading<S>& reading, const LinearLayout& layout, int units, int logits,
                     const Visit& visit) {
  std::vector<std::size_t> first_feature;
  std::size_t features = 0;
  for (const ParentShape& parent : reading.parents) {
    first_feature.push_back(features);
    features += parent.features();
  }
  for (int unit = 0; unit < units; ++unit)
    for (const WeightRun& run : layout.runs(unit)) {
      const std::size_t width = index(reading.parents[run.parent].width());
      const std::size_t feature = first_feature[run.parent] + index(run.first_unit) * width;
      for (int logit = 0; logit < logits; ++logit)
        for (std::size_t j = 0; j < index(run.units) * width; ++j)
          visit(unit, logit, feature + j, run.parameter + index(logit) * run.logit_stride + j);
    }
}

}  // namespace

template <class S>
void linear_logits(std::span<const S> theta, const Reading<S>& reading, int units, int logits,
                   std::span<S> out) {
  const LinearLayout layout(reading.parents, units, logits);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = theta[layout.bias(0) + i];
  for_each_weight(
      reading, layout, units, logits, [&](int unit, int logit, std::size_t feature, std::size_t parameter) {
        out[index(unit) * index(logits) + index(logit)] += theta[parameter] * reading.features[feature];
      });
}

template <class S>
void accumulate_linear(const Reading<S>& reading, int units, int logits, std::span<const S> delta,
                       std::span<S> out) {
  const LinearLayout layout(reading.parents, units, logits);
  for (std::size_t i = 0; i < delta.size(); ++i) out[layout.bias(0) + i] += delta[i];
  for_each_weight(
      reading, layout, units, logits, [&](int unit, int logit, std::size_t feature, std::size_t parameter) {
        out[parameter] += delta[index(unit) * index(logits) + index(logit)] * reading.features[feature];
      });
}

template <class S>
void backpropagate_linear(std::span<const S> theta, const Reading<S>& reading, int units, int logits,
                          std::span<const S> delta, std::span<S> out) {
  const LinearLayout layout(reading.parents, units, logits);
  for_each_weight(reading, layout, units, logits,
                  [&](int unit, int logit, std::size_t feature, std::size_t parameter) {
                    out[feature] += theta[parameter] * delta[index(unit) * index(logits) + index(logit)];
                  });
}

void initialise_glorot(const Initialisation& start, int logits, std::span<double> theta) {
  const LinearLayout layout(start.parents, start.units, logits);
  for (int unit = 0; unit < start.units; ++unit) {
    std::size_t fan_in = 0;
    for (const ParentShape& parent : start.parents) fan_in += parent.fan_in(unit) * index(parent.width());
    for (const WeightRun& run : layout.runs(unit)) {
      const int width = start.parents[run.parent].width();
      std::size_t parameter = run.parameter;
      for (int parent_unit = run.first_unit; parent_unit < run.first_unit + run.units; ++parent_unit) {
        const std::size_t fan_out = start.starts[run.parent].fan_out[index(parent_unit)];
        const double bound = std::sqrt(6.0 / static_cast<double>(fan_in + fan_out));
        for (int feature = 0; feature < width; ++feature, ++parameter)
          for (int logit = 0; logit < logits; ++logit)
            theta[parameter + index(logit) * run.logit_stride] =
                bound * (2 * start.uniform(unit, logit, run.parent, parent_unit, feature) - 1);
      }
    }
  }
}

template void linear_logits<float>(std::span<const float>, const Reading<float>&, int, int, std::span<float>);
template void linear_logits<double>(std::span<const double>, const Reading<double>&, int, int,
                                    std::span<double>);
template void backpropagate_linear<float>(std::span<const float>, const Reading<float>&, int, int,
                                          std::span<const float>, std::span<float>);
template void backpropagate_linear<double>(std::span<const double>, const Reading<double>&, int, int,
                                           std::span<const double>, std::span<double>);
template void accumulate_linear<float>(const Reading<float>&, int, int, std::span<const float>,
                                       std::span<float>);
template void accumulate_linear<double>(const Reading<double>&, int, int, std::span<const double>,
                                        std::span<double>);

}  // namespace hindsight::internal
