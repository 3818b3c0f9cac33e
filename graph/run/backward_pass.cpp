#include <hindsight/graph/backward_pass.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/graph/blame.hpp>
#include <hindsight/graph/gradient_sum.hpp>
#include <hindsight/graph/load_arguments.hpp>
#include <hindsight/graph/signals.hpp>

namespace hindsight::internal {
namespace {

template <class S>
void check_options(const RunState<S>& state, const BackwardOptions& options) {
  if (!state.forwarded)
    refuse({.code = "no-forward",
            .message = "there is nothing to go back over: no forward pass has succeeded in this workspace",
            .help = {"model.forward(run, …);   // before model.backward(run, …)"}});
  if (options.of < 0 || (options.of > 0 && options.of < state.samples))
    refuse({.code = "batch-size",
            .message = fmt::format("{} samples cannot be a part of a batch of {}", state.samples, options.of),
            .help = {".of = the samples of all parts together"}});
  if (options.continues && state.sum_is_open && options.of != state.summed_of)
    refuse({.code = "batch-size",
            .message = fmt::format("this part continues a batch of {} samples, and says that it is one of {}",
                                   state.summed_of, options.of),
            .help = {fmt::format(".of = {}   // in every part, the first included", state.summed_of)}});
  if (options.continues && state.sum_is_open && state.summed_samples + state.samples > options.of)
    refuse({.code = "batch-size",
            .message =
                fmt::format("{} samples are too many for the rest of a batch of {}, of which {} were given",
                            state.samples, options.of, state.summed_samples),
            .help = {".of = the samples of all parts together"}});
  if (options.continues && !state.sum_is_whole)
    refuse({.code = "broken-sum",
            .message = "there is no sum to continue: the backward pass of an earlier part failed half-way",
            .help = {"run all parts again, the first without .continues"}});
}

template <class S>
void prepare_tables(const Pass<S>& pass) {
  const Schedule<S>& schedule = pass.plan.schedule;
  const std::vector<Slice>& slices = pass.state.table_slices;
  for_each_item(static_cast<int>(slices.size()), pass.state.threads, [&](int item, int worker) {
    const Slice& slice = slices[index(item)];
    Frame<S> at = pass.frame(0, worker);
    at.tables = pass.state.tables.data() + schedule.first_table[slice.block];
    guarded_call({"node-threw", nullptr, "the prepare of a block"},
                 [&] { schedule.blocks[slice.block]->prepare(at, slice.first, slice.last); });
  });
}

template <class S>
void sum_out(const Pass<S>& pass, const Frame<S>& at, const Frame<S>& trial, int chunk, int worker) {
  RunState<S>& state = pass.state;
  const std::size_t per_thread = state.elimination_tables.size() / index(state.threads);
  guarded_call({"node-threw", nullptr, "the forward or the factors of a block"}, [&] {
    pass.plan.credit.eliminations.run(at, trial,
                                      state.eliminated_evidence.data() + index(chunk) * chunk_samples,
                                      state.elimination_tables.data() + index(worker) * per_thread);
  });
}

/// What one run of units looks like to its estimator, signals and slopes aside.
template <class S>
LocalView<S> view_of(const CreditRun& run, const Frame<S>& at) {
  return {.units = run.units,
          .outcome_count = run.outcome_count,
          .samples = at.samples,
          .stride = at.stride,
          .log_probs = at.log_prob(run.table_row),
          .sampled = at.outcome(run.unit_row),
          .evidence = at.evidence(run.table_row),
          .instructions = at.instructions};
}

template <class S>
void ask_estimator(const Pass<S>& pass, const CreditRun& run, const Frame<S>& at, const LocalView<S>& view) {
  guarded_call({"estimator-threw", &run.node, "its estimator"}, [&] {
    run.estimator.add_credit(view, CreditTable<S>{&view, at.credit(run.table_row)});
  });
  refuse_infinite_credit(pass, at, run);
}

/// The only part of the backward pass that has an order. A node's slopes are complete once all blocks of
/// later levels have passed theirs back; then its credit can be made of them, and only then can it pass
/// slopes on.
template <class S>
void backpropagate(const Pass<S>& pass, std::span<const PathwiseRun> pathwise) {
  if (pass.plan.layout.slope_rows.empty()) return;
  const Blocks<S>& blocks = pass.plan.schedule.blocks;
  pass.for_each_chunk([&](int, int, const Frame<S>& at) {
    for (const RowRange& rows : pass.plan.layout.slope_rows)
      for (std::size_t row = rows.first; row < rows.last; ++row) std::fill_n(at.slope(row), at.lanes, S(0));
    auto next = pathwise.begin();
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      for (; next != pathwise.end() && next->level >= (*block)->level(); ++next) {
        LocalView<S> view = view_of(next->credit, at);
        view.slopes = at.slope(next->feature_row);
        view.encoding = next->encoding;
        ask_estimator(pass, next->credit, at, view);
      }
      guarded_call({"node-threw", nullptr, "the backpropagate of a block"},
                   [&] { (*block)->backpropagate(at); });
    }
  });
}

}  // namespace

template <class S>
void backward(const Pass<S>& pass, std::span<const RewardValues<S>> rewards, const BackwardOptions& options) {
  RunState<S>& state = pass.state;
  pass.check_owner();
  check_options(state, options);
  reserve_sums(pass, options);
  load_rewards(pass, rewards);
  ask_known_rewards(pass);
  const int samples = options.of > 0 ? options.of : state.samples;
  std::fill(state.shares.begin(), state.shares.end(), S(1) / static_cast<S>(samples));
  make_signals(pass);
  send_messages(pass);
  make_credit(pass);
  learn_baselines(pass);
  accumulate(pass, options);
  state.baselines.swap(state.learned);
}

template <class S>
void send_messages(const Pass<S>& pass) {
  prepare_tables(pass);
  const Schedule<S>& schedule = pass.plan.schedule;
  pass.for_each_chunk([&](int chunk, int worker, Frame<S> at) {
    for (const RowRange& rows : pass.plan.layout.evidence_rows)
      for (std::size_t row = rows.first; row < rows.last; ++row)
        std::fill_n(at.evidence(row), at.lanes, S(0));
    for (std::size_t b = 0; b < schedule.blocks.size(); ++b) {
      at.tables = pass.state.tables.data() + schedule.first_table[b];
      guarded_call({"node-threw", nullptr, "the send_messages of a block"},
                   [&] { schedule.blocks[b]->send_messages(at); });
    }
    const Frame<S> trial = pass.plan.tries_chunks() ? pass.trial_frame(at, worker) : at;
    for (const ClampedRerun<S>& rerun : schedule.reruns)
      guarded_call({"node-threw", nullptr, "the forward of a block"}, [&] { rerun.send(at, trial); });
    if (!pass.plan.credit.eliminations.empty()) sum_out(pass, at, trial, chunk, worker);
  });
}

template <class S>
void zero_evidence(const Pass<S>& pass, int sample) {
  RunState<S>& state = pass.state;
  for (auto* rows : {&state.evidence, &state.eliminated_evidence})
    for (std::size_t i = index(sample); i < rows->size(); i += state.stride) (*rows)[i] = 0;
}

template <class S>
void make_credit(const Pass<S>& pass) {
  RunState<S>& state = pass.state;
  const CreditPlan<S>& credit = pass.plan.credit;
  std::fill(state.credit.begin(), state.credit.end(), S(0));
  pass.for_each_chunk([&](int chunk, int worker, const Frame<S>& at) {
    const Frame<S> trial = credit.reward_reruns.empty() ? at : pass.trial_frame(at, worker);
    S* const candidates =
        state.candidate_signals.data() + index(worker) * credit.candidate_rows * chunk_samples;
    const std::size_t first = index(chunk) * chunk_samples;
    for (const CreditRun& run : credit.runs) {
      if (run.reward_rerun) ask_candidates(pass, run, at, trial, chunk, candidates);
      LocalView<S> view = view_of(run, at);
      if (run.eliminated_row)
        view.evidence = state.eliminated_evidence.data() + *run.eliminated_row * state.stride + first;
      view.signal = state.signals.data() + run.signal * state.stride + first;
      view.candidate_signals = run.reward_rerun ? candidates : nullptr;
      view.candidate_stride = chunk_samples;
      ask_estimator(pass, run, at, view);
    }
  });
  backpropagate(pass, std::span(credit.pathwise));
}

template <class S>
void make_score_credit(const Pass<S>& pass) {
  RunState<S>& state = pass.state;
  const Layout& layout = pass.plan.layout;
  std::fill(state.credit.begin(), state.credit.end(), S(0));
  for (const NodeId node : layout.nodes()) {
    if (!layout.is_stochastic(node)) continue;
    const Placement& at = layout.placements[index(node)];
    for (int unit = 0; unit < at.shape.units; ++unit)
      for (int i = 0; i < state.samples; ++i) {
        S& credit = state.credit[pass.sampled_entry(at, unit, i)];
        for (std::size_t r = 0; r < pass.plan.rewards.size(); ++r)
          credit += state.rewards[r * state.stride + index(i)] * state.shares[index(i)];
      }
  }
  backpropagate(pass, {});
}

template void backward(const Pass<float>&, std::span<const RewardValues<float>>, const BackwardOptions&);
template void backward(const Pass<double>&, std::span<const RewardValues<double>>, const BackwardOptions&);
template void send_messages(const Pass<float>&);
template void send_messages(const Pass<double>&);
template void zero_evidence(const Pass<float>&, int);
template void zero_evidence(const Pass<double>&, int);
template void make_credit(const Pass<float>&);
template void make_credit(const Pass<double>&);
template void make_score_credit(const Pass<float>&);
template void make_score_credit(const Pass<double>&);

}  // namespace hindsight::internal
