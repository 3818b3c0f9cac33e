#include "torch_peers.hpp"

#include "torch_network.hpp"

namespace hindsight::benchmarks {
namespace {

constexpr double rate = 0.01;

/// torch has no view of constant memory; nothing here writes to it.
Tensor view_of(const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
  return torch::from_blob(const_cast<float*>(values.data()), {rows, columns});
}

Tensor view_of(const std::vector<std::int64_t>& values) {
  return torch::from_blob(const_cast<std::int64_t*>(values.data()),
                          {static_cast<std::int64_t>(values.size()), 1}, torch::kInt64);
}

}  // namespace

struct TorchTrainer::State {
  TorchNetwork network;
  Tensor pixels, labels;
  const Images& images;
  int batch;
  TorchMethod method;
  Cursor cursor = {};

  void autograd_step(const Tensor& input, const Tensor& truth);
};

TorchTrainer::TorchTrainer(std::span<const int> layers, int batch, TorchMethod method, const Images& images)
    : state_(new State{.network = TorchNetwork(layers, batch),
                       .pixels = view_of(images.pixels, images.count, images.features),
                       .labels = view_of(images.labels),
                       .images = images,
                       .batch = batch,
                       .method = method}) {
  torch::set_num_threads(1);
  if (method == TorchMethod::autograd)
    for (TorchLayer& layer : state_->network.layers) {
      layer.weights.requires_grad_();
      layer.bias.requires_grad_();
    }
}

TorchTrainer::~TorchTrainer() = default;

void TorchTrainer::step() {
  State& at = *state_;
  const int first = at.cursor.next(at.images, at.batch);
  const Tensor input = at.pixels.narrow(0, first, at.batch), truth = at.labels.narrow(0, first, at.batch);
  if (at.method == TorchMethod::autograd) return at.autograd_step(input, truth);

  const torch::InferenceMode no_autograd;
  const bool tanh_units = at.method == TorchMethod::backprop;
  tanh_units ? at.network.forward_tanh(input) : at.network.forward_stochastic(input);
  const Tensor rewards = at.network.classes().eq(truth).to(torch::kFloat);
  tanh_units ? at.network.credit_backprop(rewards) : at.network.credit_hnca(rewards, at.method);
  at.network.learn(rate);
}

void TorchTrainer::State::autograd_step(const Tensor& input, const Tensor& truth) {
  Tensor hidden = input, logits;
  for (TorchLayer& layer : network.layers) {
    logits = torch::addmm(layer.bias, hidden, layer.weights.t());
    if (&layer != &network.layers.back()) hidden = logits.tanh();
  }
  const Tensor log_probabilities = torch::log_softmax(logits, 1);
  Tensor classes, rewards;
  {
    const torch::NoGradGuard no_gradient;
    classes = (log_probabilities.exp() / torch::empty_like(log_probabilities).exponential_()).argmax(1, true);
    rewards = classes.eq(truth).to(torch::kFloat);
  }
  log_probabilities.gather(1, classes).mul(rewards).mean().backward();
  const torch::NoGradGuard no_gradient;
  for (TorchLayer& layer : network.layers)
    for (Tensor* parameters : {&layer.weights, &layer.bias}) {
      parameters->add_(parameters->grad(), rate);
      parameters->mutable_grad().reset();
    }
}

TorchProbe probe_torch(std::span<const int> layers, std::span<const float> parameters, TorchMethod method,
                       const Images& images, std::span<const float> rewards, std::uint64_t seed) {
  const torch::InferenceMode no_autograd;
  torch::manual_seed(seed);
  const auto samples = static_cast<std::int64_t>(rewards.size());
  TorchNetwork network(layers, static_cast<int>(samples));
  const float* next = parameters.data();
  const auto fill = [&next](Tensor& tensor) {
    std::copy_n(next, tensor.numel(), tensor.data_ptr<float>());
    next += tensor.numel();
  };
  for (TorchLayer& layer : network.layers) {
    fill(layer.weights);
    fill(layer.bias);
  }
  network.forward_stochastic(view_of(images.pixels, images.count, images.features).narrow(0, 0, samples));
  network.credit_hnca(torch::tensor(std::vector<float>(rewards.begin(), rewards.end())).unsqueeze(1), method);

  TorchProbe probe;
  for (const TorchLayer& layer : network.layers) {
    const bool classes = &layer == &network.layers.back();
    const Tensor outcomes = (classes ? layer.outcomes : layer.outcomes.gt(0)).to(torch::kInt32).contiguous();
    const auto* outcome = outcomes.data_ptr<std::int32_t>();
    probe.outcomes.emplace_back(outcome, outcome + outcomes.numel());
    for (const Tensor& gradient : {layer.deltas.t().mm(layer.input), layer.deltas.sum(0)}) {
      const Tensor flat = gradient.contiguous();
      const auto* value = flat.data_ptr<float>();
      probe.gradient.insert(probe.gradient.end(), value, value + flat.numel());
    }
  }
  return probe;
}

}  // namespace hindsight::benchmarks
