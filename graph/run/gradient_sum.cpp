#include <hindsight/graph/gradient_sum.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>
#include <hindsight/core/memory.hpp>
#include <hindsight/graph/chunk_tree.hpp>

namespace hindsight::internal {
namespace {

/// How a pass's chunks belong to their batch.
enum class BatchPart {
  whole,   ///< the pass is all of it: the first sum is the gradient itself
  part,    ///< sums wait apart from the gradient, since more chunks may pair with them
  on_top,  ///< as whole, but the gradient of a batch that was thought to be whole is there already
};

template <class S>
BatchPart part_of(const RunState<S>& state, const BackwardOptions& options) {
  if (options.continues) return state.sum_is_open ? BatchPart::part : BatchPart::on_top;
  return options.of > state.samples ? BatchPart::part : BatchPart::whole;
}

template <class S>
std::size_t waiting_sums(const Pass<S>& pass, const BackwardOptions& options) {
  const RunState<S>& state = pass.state;
  const std::size_t chunks = index(pass.chunks());
  switch (part_of(state, options)) {
    case BatchPart::whole:
    case BatchPart::on_top:
      return ChunkTree::slots_of_whole(chunks) - 1;
    case BatchPart::part:
      break;
  }
  const std::size_t so_far = (options.continues ? state.summed_chunks : 0) + chunks;
  return ChunkTree::slots_of_parts(std::max(chunks_of_parts(options.of, state.samples), so_far));
}

/// One pass's chunks on their way into the gradient.
template <class S>
class GradientSum {
 public:
  GradientSum(const Pass<S>& pass, const BackwardOptions& options)
      : pass_(pass), state_(pass.state), part_(part_of(state_, options)), of_(options.of) {
    if (part_ == BatchPart::part && options.continues) {
      first_chunk_ = state_.summed_chunks;
      samples_ = state_.summed_samples;
    }
    samples_ += state_.samples;
    is_last_ = part_ != BatchPart::part || samples_ >= options.of;
  }

  void run() {
    const std::size_t last = first_chunk_ + index(pass_.chunks());
    for (std::size_t first = first_chunk_, next; first < last; first = next) {
      const ChunkTree::Step step = step_of(first, last);
      next = first + 1;
      std::size_t pairings = step.pairings;
      for (; pairings == 0 && next < last && step_of(next, last).slot == step.slot &&
             !step_of(next, last).starts;
           ++next)
        pairings = step_of(next, last).pairings;
      const bool is_there = part_ == BatchPart::on_top && step.slot == 0;
      add_chunks(first, next, sum(step.slot), step.starts && !is_there);
      for (std::size_t slot = step.slot; pairings > 0; --pairings, --slot) add(sum(slot), sum(slot - 1));
    }
    if (part_ == BatchPart::part) show(is_last_ ? 1 : ChunkTree::slots_after(last));
    state_.sum_is_open = !is_last_;
    state_.summed_chunks = last;
    state_.summed_samples = samples_;
    state_.summed_of = of_;
  }

 private:
  ChunkTree::Step step_of(std::size_t chunk, std::size_t last) const {
    return ChunkTree::step(chunk, is_last_ && chunk + 1 == last);
  }
  S* sum(std::size_t slot) const {
    if (part_ == BatchPart::part) return state_.waiting_sums[slot].data();
    return slot == 0 ? state_.gradient.data() : state_.waiting_sums[slot - 1].data();
  }

  void add_chunks(std::size_t first, std::size_t last, S* into, bool starts) const {
    for_each_item(static_cast<int>(state_.row_slices.size()), state_.threads, [&](int item, int worker) {
      const Slice& slice = state_.row_slices[index(item)];
      for (std::size_t chunk = first; chunk < last; ++chunk) {
        Frame<S> at = pass_.frame(static_cast<int>(chunk - first_chunk_), worker);
        at.gradient = into;
        at.starts_sum = starts && chunk == first;
        guarded_call({"node-threw", nullptr, "the accumulate of a block"}, [&] {
          pass_.plan.schedule.blocks[slice.block]->accumulate(at, slice.first, slice.last);
        });
      }
    });
  }

  /// work(first, last) on stretches of the parameters.
  template <class Work>
  void for_each_stretch(const Work& work) const {
    constexpr std::size_t stretch = 1 << 14;
    const std::size_t count = state_.gradient.size();
    for_each_item(static_cast<int>((count + stretch - 1) / stretch), state_.threads, [&](int item, int) {
      work(index(item) * stretch, std::min(count, (index(item) + 1) * stretch));
    });
  }
  void add(const S* from, S* into) const {
    for_each_stretch([&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) into[i] += from[i];
    });
  }
  /// The smallest sums first, as the last chunk of the batch would add them up.
  void show(std::size_t sums) const {
    for_each_stretch([&](std::size_t first, std::size_t last) {
      S* const gradient = state_.gradient.data();
      std::copy(sum(sums - 1) + first, sum(sums - 1) + last, gradient + first);
      for (std::size_t slot = sums - 1; slot-- > 0;)
        for (std::size_t i = first; i < last; ++i) gradient[i] = sum(slot)[i] + gradient[i];
    });
  }

  const Pass<S>& pass_;
  RunState<S>& state_;
  const BatchPart part_;
  std::size_t first_chunk_ = 0;
  std::int64_t samples_ = 0;  ///< of the batch, this pass included
  bool is_last_ = true;
  const int of_;
};

}  // namespace

template <class S>
void reserve_sums(const Pass<S>& pass, const BackwardOptions& options) {
  const std::size_t wanted = waiting_sums(pass, options), there = pass.state.waiting_sums.size();
  if (wanted <= there) return;
  const std::size_t parameters = pass.state.gradient.size();
  require_memory(static_cast<double>(wanted - there) * static_cast<double>(parameters) * sizeof(S),
                 fmt::format("the {} sums of a batch that comes in parts", wanted),
                 "model.workspace(256)   // larger parts: half as many of them keep one sum less");
  std::vector<AlignedBuffer<S>> more(wanted - there);
  for (AlignedBuffer<S>& sum : more) sum.resize(parameters);
  pass.state.waiting_sums.reserve(wanted);
  std::move(more.begin(), more.end(), std::back_inserter(pass.state.waiting_sums));
}

template <class S>
void accumulate(const Pass<S>& pass, const BackwardOptions& options) {
  pass.state.sum_is_whole = false;
  GradientSum<S>(pass, options).run();
  pass.state.sum_is_whole = true;
}

template void reserve_sums(const Pass<float>&, const BackwardOptions&);
template void reserve_sums(const Pass<double>&, const BackwardOptions&);
template void accumulate(const Pass<float>&, const BackwardOptions&);
template void accumulate(const Pass<double>&, const BackwardOptions&);

}  // namespace hindsight::internal
