#include <hindsight/estimators/baselines.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/report.hpp>

namespace hindsight {
namespace {

std::size_t index(int number) { return static_cast<std::size_t>(number); }

[[noreturn]] void refuse_option(std::string_view baseline, const std::string& what, const std::string& help) {
  refuse({.code = "baseline-option", .message = fmt::format("{}: {}", baseline, what), .help = {help}});
}

/// Of one sample: the linear function whose weights are all but the last number of the state.
template <class S>
double value(const BaselineView<S>& view, std::span<const double> state, std::size_t sample) {
  double sum = state[view.features];
  for (std::size_t j = 0; j < view.features; ++j)
    sum += state[j] * static_cast<double>(view.inputs[j * view.stride + sample]);
  return sum;
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
  for (std::size_t i = 0; i < index(view.samples); ++i) out[i] = static_cast<S>(value(view, state, i));
}

/// Sample after sample, so that no batch size can make it diverge.
template <class S>
void LinearCritic::learn(const BaselineView<S>& view, std::span<double> state) const {
  for (std::size_t i = 0; i < index(view.samples); ++i) {
    const auto input = [&](std::size_t j) { return static_cast<double>(view.inputs[j * view.stride + i]); };
    double length = 1;
    for (std::size_t j = 0; j < view.features; ++j) length += input(j) * input(j);
    const double step = rate * (static_cast<double>(view.rewards[i]) - value(view, state, i)) / length;
    for (std::size_t j = 0; j < view.features; ++j) state[j] += step * input(j);
    state[view.features] += step;
  }
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
