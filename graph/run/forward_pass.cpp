#include <hindsight/graph/forward_pass.hpp>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/vector_kernels.hpp>
#include <hindsight/graph/blame.hpp>
#include <hindsight/graph/load_arguments.hpp>

namespace hindsight::internal {
namespace {

template <class S>
void pack_outcomes(const Frame<S>& at, const RowRange& rows) {
  if (!rows.empty())
    vector_kernels<S>(at.instructions)
        .pack_outcomes(at.outcome(rows.first), at.stride, rows.last - rows.first, at.lanes,
                       at.outcome_bits + rows.first);
}

}  // namespace

template <class S>
void forward(const Pass<S>& pass, std::span<const InputValues<S>> inputs, const ForwardOptions& options) {
  pass.check_owner();
  pass.state.forwarded = false;
  load_inputs(pass, inputs, options.samples);
  clamp(pass, std::span(options.clamp));
  sample(pass);
  refuse_impossible_clamps(pass, std::span(options.clamp));
  ++pass.state.position.step;
  pass.state.forwarded = true;
}

template <class S>
void sample(const Pass<S>& pass) {
  const Blocks<S>& blocks = pass.plan.schedule.blocks;
  pass.for_each_chunk([&](int chunk, int, const Frame<S>& at) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      guarded_call({"node-threw", nullptr, "the forward of a block"}, [&] { blocks[b]->forward(at); });
      pack_outcomes(at, pass.plan.packed_after[b]);
    }
    refuse_nan(pass, at, chunk);
  });
}

template <class S>
double log_probability(const Pass<S>& pass, int sample) {
  const Layout& layout = pass.plan.layout;
  double total = 0;
  for (const NodeId node : layout.nodes()) {
    if (!layout.is_stochastic(node)) continue;
    const Placement& at = layout.placements[index(node)];
    for (int unit = 0; unit < at.shape.units; ++unit)
      total += static_cast<double>(pass.state.log_probs[pass.sampled_entry(at, unit, sample)]);
  }
  return total;
}

template void forward(const Pass<float>&, std::span<const InputValues<float>>, const ForwardOptions&);
template void forward(const Pass<double>&, std::span<const InputValues<double>>, const ForwardOptions&);
template void sample(const Pass<float>&);
template void sample(const Pass<double>&);
template double log_probability(const Pass<float>&, int);
template double log_probability(const Pass<double>&, int);

}  // namespace hindsight::internal
