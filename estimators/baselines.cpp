#include <hindsight/estimators/baselines.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <Eigen/Core>

#include <hindsight/core/index.hpp>
#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

using internal::index;

[[noreturn]] void refuse_option(std::string_view baseline, const std::string& what, const std::string& help) {
  refuse({.code = "baseline-option", .message = fmt::format("{}: {}", baseline, what), .help = {help}});
}

/// So many samples are summed side by side.
constexpr int group_size = 8;
using Group = Eigen::Array<double, group_size, 1>;

/// start + Σ term(feature, its inputs) for `count` samples from `first`. Each sample adds up its features in
/// their order, so that its bits do not depend on what stands beside it.
template <int count, class S, class Term>
Eigen::Array<double, count, 1> sum_over_features(const BaselineView<S>& view, std::size_t first, double start,
                                                 const Term& term) {
  using Inputs = Eigen::Map<const Eigen::Array<S, count, 1>>;
  Eigen::Array<double, count, 1> sums = Eigen::Array<double, count, 1>::Constant(start);
  for (std::size_t j = 0; j < view.features; ++j)
    sums += term(j, Inputs(view.inputs + j * view.stride + first).template cast<double>());
  return sums;
}

/// The sums of up to group_size samples; further places are not theirs.
template <class S, class Term>
Group sums_of_group(const BaselineView<S>& view, std::size_t first, double start, const Term& term) {
  const std::size_t left = index(view.samples) - first;
  if (left >= group_size) return sum_over_features<group_size>(view, first, start, term);
  Group sums = Group::Constant(start);
  for (std::size_t i = 0; i < left; ++i)
    sums[static_cast<Eigen::Index>(i)] = sum_over_features<1>(view, first + i, start, term)[0];
  return sums;
}

}  // namespace

std::string RunningMean::name() const {
  if (!(decay >= 0 && decay < 1))
    refuse_option(kind, fmt::format("its decay is {}; it lies from 0 to below 1", decay),
                  "RunningMean{.decay = 0.99}");
  return decay == RunningMean{}.decay ? std::string(kind) : fmt::format("{}(decay={})", kind, decay);
}

template <class S>
void RunningMean::predict(const BaselineView<S>&, std::span<const double> state, std::span<S> out) const {
  std::fill(out.begin(), out.end(), state[1] > 0 ? static_cast<S>(state[0] / state[1]) : S(0));
}

template <class S>
void RunningMean::learn(const BaselineView<S>& view, std::span<double> state) const {
  double sum = 0;
  for (int i = 0; i < view.samples; ++i) sum += static_cast<double>(view.rewards[i]);
  state[0] = decay * state[0] + (1 - decay) * sum / view.samples;
  state[1] = decay * state[1] + (1 - decay);
}

RunningMean RunningMean::read(AttributeReader& given) {
  return {.decay = given.number("decay", RunningMean{}.decay)};
}

std::string LeaveOneOut::name() const {
  if (samples < 2)
    refuse_option(kind,
                  fmt::format("with {} samples of an input there is no other one to compare with", samples),
                  "LeaveOneOut{.samples = 4}");
  if (samples > most_replicas)
    refuse_option(
        kind, fmt::format("{} samples of each input are too many; {} is the most", samples, most_replicas),
        "LeaveOneOut{.samples = 4}");
  return samples == LeaveOneOut{}.samples ? std::string(kind) : fmt::format("{}(samples={})", kind, samples);
}

template <class S>
void LeaveOneOut::predict(const BaselineView<S>& view, std::span<const double>, std::span<S> out) const {
  for (int first = 0; first < view.samples; first += samples) {
    double sum = 0;
    for (int i = 0; i < samples; ++i) sum += static_cast<double>(view.rewards[first + i]);
    for (int i = first; i < first + samples; ++i)
      out[index(i)] = static_cast<S>((sum - static_cast<double>(view.rewards[i])) / (samples - 1));
  }
}

LeaveOneOut LeaveOneOut::read(AttributeReader& given) {
  return {.samples = given.count("samples", LeaveOneOut{}.samples)};
}

std::string LinearCritic::name() const {
  if (!(rate > 0 && rate < 2))
    refuse_option(kind,
                  fmt::format("its rate is {}; it lies between 0 and 2, beyond which it diverges", rate),
                  "LinearCritic{.rate = 0.1}");
  return rate == LinearCritic{}.rate ? std::string(kind) : fmt::format("{}(rate={})", kind, rate);
}

template <class S>
void LinearCritic::predict(const BaselineView<S>& view, std::span<const double> state,
                           std::span<S> out) const {
  const auto weighted = [&](std::size_t j, const auto& inputs) { return state[j] * inputs; };
  for (std::size_t first = 0; first < index(view.samples); first += group_size) {
    const Group values = sums_of_group(view, first, state[view.features], weighted);
    const auto count = static_cast<Eigen::Index>(std::min<std::size_t>(group_size, out.size() - first));
    Eigen::Map<Eigen::Array<S, Eigen::Dynamic, 1>>(out.data() + first, count) =
        values.head(count).template cast<S>();
  }
}

/// Sample after sample, so that no batch size can make it diverge. What one sample teaches is added while the
/// value of the next is summed: a sum in a fixed order waits for its terms, and leaves the time.
template <class S>
void LinearCritic::learn(const BaselineView<S>& view, std::span<double> state) const {
  const auto squared = [](std::size_t, const auto& inputs) { return inputs.square(); };
  double* const weights = state.data();
  double& intercept = state[view.features];
  Group lengths;
  const std::size_t each = view.features > 0 ? 1 : 0;  // without inputs there is nothing to point at
  const S* before = view.inputs;                       // the sample that `step` is along; at first no step
  double step = 0;
  const auto take_step = [&](std::size_t j) {
    return weights[j] += step * static_cast<double>(before[j * view.stride]);
  };
  for (std::size_t i = 0; i < index(view.samples); ++i) {
    if (i % group_size == 0) lengths = sums_of_group(view, i, 1, squared);
    const S* const inputs = view.inputs + i * each;
    intercept += step;
    double value = intercept;
    for (std::size_t j = 0; j < view.features; ++j)
      value += take_step(j) * static_cast<double>(inputs[j * view.stride]);
    step = rate * (static_cast<double>(view.rewards[i]) - value) /
           lengths[static_cast<Eigen::Index>(i % group_size)];
    before = inputs;
  }
  if (view.samples == 0) return;
  for (std::size_t j = 0; j < view.features; ++j) take_step(j);
  intercept += step;
}

LinearCritic LinearCritic::read(AttributeReader& given) {
  return {.rate = given.number("rate", LinearCritic{}.rate)};
}

template void RunningMean::predict(const BaselineView<float>&, std::span<const double>,
                                   std::span<float>) const;
template void RunningMean::predict(const BaselineView<double>&, std::span<const double>,
                                   std::span<double>) const;
template void RunningMean::learn(const BaselineView<float>&, std::span<double>) const;
template void RunningMean::learn(const BaselineView<double>&, std::span<double>) const;
template void LeaveOneOut::predict(const BaselineView<float>&, std::span<const double>,
                                   std::span<float>) const;
template void LeaveOneOut::predict(const BaselineView<double>&, std::span<const double>,
                                   std::span<double>) const;
template void LinearCritic::predict(const BaselineView<float>&, std::span<const double>,
                                    std::span<float>) const;
template void LinearCritic::predict(const BaselineView<double>&, std::span<const double>,
                                    std::span<double>) const;
template void LinearCritic::learn(const BaselineView<float>&, std::span<double>) const;
template void LinearCritic::learn(const BaselineView<double>&, std::span<double>) const;

}  // namespace hindsight
