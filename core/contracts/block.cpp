#include <hindsight/core/block.hpp>

#include <cmath>
#include <span>

namespace hindsight {
namespace {

template <class S>
Outcome invert(const S* log_probs, std::size_t stride, int outcome_count, S uniform) {
  double cumulative = 0;  // in float the sum over many outcomes would drift past the last of them
  Outcome last_possible = 0;
  for (Outcome k = 0; k < outcome_count; ++k) {
    const S probability = std::exp(log_probs[static_cast<std::size_t>(k) * stride]);
    if (!(probability > 0)) continue;
    last_possible = k;
    cumulative += static_cast<double>(probability);
    if (static_cast<double>(uniform) < cumulative) break;
  }
  return last_possible;
}

}  // namespace

std::vector<ParentShape> Placement::parent_shapes() const {
  std::vector<ParentShape> shapes;
  shapes.reserve(parents.size());
  for (std::size_t p = 0; p < parents.size(); ++p) {
    const Placement& parent = *parents[p].from;
    shapes.push_back({.name = parent.name, .units = parent.shape.units, .connectivity = wiring(p)});
    if (parent.is_discrete) shapes.back().encoding = parent.shape.encoding;
  }
  return shapes;
}

template <class S>
void write_features(const Frame<S>& frame, const Encoding& encoding, const Outcome* outcomes, S* features) {
  for (int j = 0; j < encoding.width; ++j, features += frame.stride)
    for (int i = 0; i < frame.lanes; ++i) features[i] = static_cast<S>(encoding.value(outcomes[i], j));
}

template <class S>
void sample_unit(const Frame<S>& frame, const Placement& at, int unit) {
  const auto index = static_cast<std::size_t>(unit);
  const Encoding& encoding = at.shape.encoding;
  const auto outcome_count = static_cast<std::size_t>(encoding.outcome_count),
             width = static_cast<std::size_t>(encoding.width);
  Outcome* const outcome = frame.outcome(at.unit_row + index);
  S* const features = frame.feature(at.feature_row + index * width);
  if (!frame.clamped[at.unit_row + index]) {
    // The features are about to be overwritten: until then their first row holds the uniforms.
    draw_uniforms(frame.seed, frame.position, at.first_unit + static_cast<std::uint32_t>(unit),
                  std::span(features, static_cast<std::size_t>(frame.lanes)));
    const S* const log_probs = frame.log_prob(at.table_row + index * outcome_count);
    for (int i = 0; i < frame.lanes; ++i)
      outcome[i] = invert(log_probs + i, frame.stride, encoding.outcome_count, features[i]);
  }
  write_features(frame, encoding, outcome, features);
}

template void write_features<float>(const Frame<float>&, const Encoding&, const Outcome*, float*);
template void write_features<double>(const Frame<double>&, const Encoding&, const Outcome*, double*);
template void sample_unit<float>(const Frame<float>&, const Placement&, int);
template void sample_unit<double>(const Frame<double>&, const Placement&, int);

}  // namespace hindsight
