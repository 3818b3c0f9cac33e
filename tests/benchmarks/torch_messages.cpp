// The messages of HNCA in libtorch. x: the parent's outcomes (samples × parents), s: the child's (samples ×
// children), l: the child's logits, W: its weights (children × parents). To flip x_i moves l_c by
// -2·W_ci·x_i.
#include <algorithm>
#include <functional>

#include "torch_network.hpp"

namespace hindsight::benchmarks {
namespace {

/// One tile of the work: some samples and some children, all parents.
struct Tile {
  Tensor x, signs, logits;  ///< samples × parents; samples × children
  std::int64_t first_child = 0, children = 0;
  Tensor room;  ///< samples × children × parents, to write to

  Tensor rows(const Tensor& table) const {
    const bool is_whole = table.size(0) == children;
    return (is_whole ? table : table.narrow(0, first_child, children)).unsqueeze(0);
  }
};

/// Σ over tiles of children; the temporaries of a tile stay in the cache, and calls are few.
Tensor sum_over_tiles(TorchLayer& child, const std::function<Tensor(Tile)>& term) {
  constexpr std::int64_t elements = 1 << 18, chunk = 16;
  const std::int64_t samples = child.logits.size(0), children = child.logits.size(1);
  const std::int64_t parents = child.weights.size(1);
  const std::int64_t some_samples = std::clamp<std::int64_t>(elements / (chunk * parents), 1, samples);
  const std::int64_t fitting = std::max(elements / (some_samples * parents) / chunk * chunk, chunk);
  const std::int64_t some_children = std::min(children, fitting);

  if (!child.room.defined()) child.room = torch::empty({some_samples, some_children, parents});
  if (some_samples == samples && some_children == children)
    return term({.x = child.input,
                 .signs = child.outcomes,
                 .logits = child.logits,
                 .children = children,
                 .room = child.room});
  Tensor sum = torch::zeros({samples, parents});
  for (std::int64_t i = 0; i < samples; i += some_samples)
    for (std::int64_t c = 0; c < children; c += some_children) {
      const std::int64_t height = std::min(some_samples, samples - i),
                         width = std::min(some_children, children - c);
      const auto cut = [&](const Tensor& all) { return all.narrow(0, i, height).narrow(1, c, width); };
      sum.narrow(0, i, height)
          .add_(term({.x = child.input.narrow(0, i, height),
                      .signs = cut(child.outcomes),
                      .logits = cut(child.logits),
                      .first_child = c,
                      .children = width,
                      .room = child.room.narrow(0, 0, height).narrow(1, 0, width)}));
    }
  return sum;
}

/// Σ_c log σ(s_c·(l_c + W_ci·shift_i)). Softplus is torch's fastest safe way to write log σ.
Tensor log_likelihood(Tile& tile, const Tensor& weights, const Tensor& shift) {
  torch::mul_out(tile.room, tile.rows(weights), shift.unsqueeze(1)).add_(tile.logits.unsqueeze(2));
  return torch::softplus(tile.room.mul_(tile.signs.neg().unsqueeze(2))).sum(1).neg_();
}

/// Lines 10 to 13 of Algorithm 1, for -1/+1 units.
Tensor literal_evidence(TorchLayer& child) {
  return sum_over_tiles(child, [&](Tile tile) {
    return log_likelihood(tile, child.weights, 1 - tile.x) - log_likelihood(tile, child.weights, -1 - tile.x);
  });
}

Tensor flip_evidence(TorchLayer& child) {
  return sum_over_tiles(child, [&](Tile tile) {
    const Tensor actual = torch::softplus((tile.signs * tile.logits).neg_()).sum(1, true).neg_();
    return (actual - log_likelihood(tile, child.weights, -2 * tile.x)).mul_(tile.x);
  });
}

/// Σ log over children, one logarithm for sixteen factors where their number allows.
Tensor sum_of_logarithms(Tensor factors) {
  for (int halving = 0; halving < 4 && factors.size(1) % 2 == 0; ++halving) {
    const std::int64_t half = factors.size(1) / 2;
    factors = factors.narrow(1, 0, half).mul_(factors.narrow(1, half, half));
  }
  return factors.log_().sum(1);
}

/// x·Σ_c log(p + q·e^{2·s·x·W}), p = σ(s·l), q = σ(-s·l). As e^{2·s·x·W} = cosh 2W + s·x·sinh 2W, nothing has
/// to be selected by sign, which torch does slowly.
Tensor factored_evidence(TorchLayer& child) {
  const Tensor up = (2 * child.weights).exp_(), down = up.reciprocal();
  const Tensor even = (up + down).mul_(0.5), odd = (up - down).mul_(0.5);
  return sum_over_tiles(child, [&](Tile tile) {
    const Tensor margin = tile.signs * tile.logits;
    const Tensor p = torch::sigmoid(margin).unsqueeze(2), q = torch::sigmoid(margin.neg_()).unsqueeze(2);
    torch::mul_out(tile.room, q * tile.signs.unsqueeze(2), tile.x.unsqueeze(1));
    tile.room.mul_(tile.rows(odd)).addcmul_(q, tile.rows(even)).add_(p);
    return sum_of_logarithms(tile.room).mul_(tile.x);
  });
}

/// Σ_c s·W + x·Σ_c (log cosh W + log(1 - x·tanh(l/2)·tanh W)): the form that Hindsight itself uses.
Tensor closed_evidence(TorchLayer& child) {
  static const Tensor one = torch::ones({1, 1, 1});
  const Tensor slopes = child.weights.tanh(), heights = child.weights.cosh().log_().sum(0);
  Tensor sum = sum_over_tiles(child, [&](Tile tile) {
    const Tensor means = (tile.logits * 0.5).tanh_();
    torch::mul_out(tile.room, means.unsqueeze(2), tile.x.unsqueeze(1));
    torch::addcmul_out(tile.room, one, tile.room, tile.rows(slopes), -1);
    return sum_of_logarithms(tile.room);
  });
  return sum.add_(heights).mul_(child.input).addmm_(child.outcomes, child.weights);
}

/// log P(class | logits moved by shift): samples × parents × classes.
Tensor log_softmax_at(const TorchLayer& child, const Tensor& shift) {
  const Tensor moved = child.weights.t().unsqueeze(0) * shift.unsqueeze(2) + child.logits.unsqueeze(1);
  const Tensor classes = child.outcomes.unsqueeze(1).expand({-1, shift.size(1), 1});
  return torch::log_softmax(moved, 2).gather(2, classes).squeeze(2);
}

}  // namespace

Tensor evidence_of_bernoulli(TorchLayer& child, TorchMethod form) {
  switch (form) {
    case TorchMethod::literal:
      return literal_evidence(child);
    case TorchMethod::flip:
      return flip_evidence(child);
    case TorchMethod::factored:
      return factored_evidence(child);
    default:
      return closed_evidence(child);
  }
}

Tensor evidence_of_softmax(const TorchLayer& child, TorchMethod form) {
  const Tensor& x = child.input;
  if (form == TorchMethod::literal) return log_softmax_at(child, 1 - x) - log_softmax_at(child, -1 - x);
  if (form == TorchMethod::flip) {
    const Tensor actual = child.probabilities.gather(1, child.outcomes).log_();
    return (actual - log_softmax_at(child, -2 * x)).mul_(x);
  }
  // 2·W_ci + x·log Σ_k p_k·e^{-2·x·W_ki}: two products with tables that are made once per step.
  const Tensor up = (2 * child.weights).exp_(), down = up.reciprocal();
  const Tensor if_one = child.probabilities.mm(down), if_minus_one = child.probabilities.mm(up);
  const Tensor sums = torch::where(x > 0, if_one, if_minus_one).log_().mul_(x);
  return sums.add_(child.weights.index_select(0, child.outcomes.squeeze(1)), 2);
}

}  // namespace hindsight::benchmarks
