#include <hindsight/graph/microscope.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include <hindsight/core/index.hpp>
#include <hindsight/graph/bias_test.hpp>
#include <hindsight/graph/compared_parts.hpp>
#include <hindsight/graph/comparison_limits.hpp>
#include <hindsight/graph/gradient_sampler.hpp>
#include <hindsight/graph/graph.hpp>
#include <hindsight/graph/moments.hpp>
#include <hindsight/graph/vector_norms.hpp>

namespace hindsight {
namespace {

using internal::BiasTest;
using internal::distance;
using internal::Doubt;
using internal::DrawnRows;
using internal::GradientCost;
using internal::GradientSampler;
using internal::index;
using internal::Moments;
using internal::norm;
using internal::part;
using internal::Stream;
using internal::sum;
using internal::total_squared_error;
using internal::total_variance;

constexpr int batches_for_doubt = 64;
/// Gradients are made in float: smaller differences say nothing.
constexpr double rounding = 1e-6;

/// The gradient to compare with: exact, or the mean of a long run in two halves, one to find the direction of
/// a bias and one to measure along it.
struct Reference {
  std::optional<std::vector<double>> exact;
  Moments whole, first;

  std::span<const double> gradient() const { return exact ? std::span<const double>(*exact) : whole.mean(); }
  std::span<const double> for_direction() const {
    return exact ? std::span<const double>(*exact) : first.mean();
  }
};

/// A contender before it is known who takes part.
struct Entrant {
  Comparison::Row* row;
  Model model;
  GradientCost cost;
};

/// A contender while it is measured.
struct Contender {
  Contender(Comparison::Row& its_row, Model model, const Task& task, int batch)
      : row(its_row),
        sampler(std::move(model), task.rewards, batch),
        doubt(sampler.model()),
        moments(sampler.model().parameters().size()) {}

  Comparison::Row& row;
  GradientSampler sampler;
  Doubt doubt;
  Moments moments;
  BiasTest bias_test;  ///< of the second half of the gradients
  std::vector<double> seconds;
};

class Microscope {
 public:
  Microscope(const Graph& graph, const Catalogue& catalogue, std::span<const float> parameters,
             const Task& task, const MicroscopeOptions& options)
      : graph_(graph),
        catalogue_(catalogue),
        task_(task),
        options_(options),
        reference_graph_(reference_graph()),
        reference_model_(reference_graph_, catalogue, compile_options()),
        parameters_(parameters.empty() ? initial_parameters()
                                       : std::vector(parameters.begin(), parameters.end())) {
    take_parameters(reference_model_);
    result_.nodes = internal::learning_nodes(graph, reference_model_);
    result_.blocks = internal::weight_blocks(reference_model_, result_.nodes);
  }

  Comparison run() {
    result_.rows.resize(options_.contenders.size() + options_.graphs.size());
    internal::require_memory_for(result_.rows.size(), parameters_.size());
    double bytes = DrawnRows::bytes(task_.inputs, options_.batch);
    if (!is_exact()) bytes += GradientSampler::bytes(reference_model_, options_.batch);
    internal::require_memory_for(bytes, options_);
    auto row = result_.rows.begin();
    for (const CreditMethod& contender : options_.contenders) enter(contender, *row++);
    for (const Graph& graph : options_.graphs) enter(graph, *row++);
    leave_out_what_takes_too_long();
    for (const Entrant& entrant : entrants_) bytes += GradientSampler::bytes(entrant.model, options_.batch);
    internal::require_memory_for(bytes, options_);
    rows_.emplace(task_.inputs, options_.batch, options_.seed);
    for (Entrant& entrant : entrants_)
      contenders_.push_back(
          std::make_unique<Contender>(*entrant.row, std::move(entrant.model), task_, options_.batch));
    find_exact_reference();
    measure();
    conclude();
    if (options_.progress) options_.progress(all_gradients(), all_gradients());
    return std::move(result_);
  }

 private:
  ValidateOptions limits() const { return {.elimination_limit = options_.elimination_limit}; }

  CompileOptions compile_options() const {
    return {.seed = options_.seed, .elimination_limit = options_.elimination_limit};
  }

  /// Credited by stand-ins alone, without baselines.
  Graph reference_graph() const {
    Graph unaided = graph_;
    estimate_with_first(unaided, options_.stand_ins, catalogue_, limits());
    compare_everywhere(unaided, NoBaseline{});
    return unaided;
  }

  std::vector<float> initial_parameters() const {
    return {reference_model_.parameters().begin(), reference_model_.parameters().end()};
  }

  template <class S>
  BasicModel<S> compiled(const Graph& graph) const {
    BasicModel<S> model(graph, catalogue_, compile_options());
    take_parameters(model);
    return model;
  }

  template <class S>
  void take_parameters(BasicModel<S>& model) const {
    if (parameters_.size() != model.parameters().size())
      refuse({.code = "microscope-parameters",
              .message = fmt::format("{} parameters were given for a graph that has {}", parameters_.size(),
                                     model.parameters().size()),
              .help = {"compare_estimators(graph, model.parameters(), task, options)"}});
    std::copy(parameters_.begin(), parameters_.end(), model.parameters().begin());
  }

  void enter(const CreditMethod& contender, Comparison::Row& row) {
    row.contender = contender;
    if (contender.estimator)
      if (const auto why = why_useless(graph_, *contender.estimator, catalogue_, limits())) {
        row.graph = graph_;
        row.refusal = "comes to nothing: " + *why;
        return;
      }
    Graph credited = graph_;
    credit_with(credited, contender, options_.stand_ins, catalogue_, limits());
    enter(credited, row);
  }

  void enter(const Graph& graph, Comparison::Row& row) {
    row.graph = graph;
    try {
      Model model = compiled<float>(row.graph);
      row.nodes = internal::views_of(graph_, result_.nodes, row.contender, model.report());
      GradientCost cost = internal::cost_of_gradient(row.graph, model, options_);
      if (is_exact() && is_within_limit(model))
        cost.exact = internal::cost_of_exact_variance(row.graph, model, states(model));
      entrants_.push_back({&row, std::move(model), cost});
    } catch (const Error& refusal) {
      row.refusal = refusal.report().diagnostics.empty() ? refusal.what()
                                                         : refusal.report().diagnostics.front().message;
    }
  }

  /// For the fewest gradients; then as many are taken as fit.
  void leave_out_what_takes_too_long() {
    const int least = internal::least_gradients(options_);
    const GradientCost reference = is_exact()
                                       ? GradientCost{.exact = internal::cost_of_exact_gradient(
                                                          graph_, reference_model_, states(reference_model_))}
                                       : internal::cost_of_gradient(graph_, reference_model_, options_);
    const auto operations = [&](int gradients) {
      double sum = reference.of(internal::reference_gradients(options_, gradients));
      for (const Entrant& entrant : entrants_) sum += entrant.cost.of(gradients);
      return sum;
    };
    while (operations(least) > options_.most_operations) {
      const auto dearest =
          std::max_element(entrants_.begin(), entrants_.end(),
                           [](const Entrant& a, const Entrant& b) { return a.cost.sums < b.cost.sums; });
      if (dearest == entrants_.end() || dearest->cost.sums == 0)
        internal::refuse_time(operations(least), exact_operations(reference), options_);
      dearest->row->refusal = internal::too_long(dearest->cost, options_);
      dearest->row->nodes.clear();
      entrants_.erase(dearest);
    }
    int fitting = least, over = options_.gradients + 1;
    while (over - fitting > 1) {
      const int middle = fitting + (over - fitting) / 2;
      (operations(middle) <= options_.most_operations ? fitting : over) = middle;
    }
    result_.gradients = fitting;
  }

  double exact_operations(const GradientCost& reference) const {
    double sum = reference.exact;
    for (const Entrant& entrant : entrants_) sum += entrant.cost.exact;
    return sum;
  }

  bool is_exact() const { return is_within_limit(reference_model_); }

  void find_exact_reference() {
    if (!is_exact()) return;
    for (const InputValues<float>& input : task_.inputs) {
      std::vector<double>& values = exact_values_.emplace_back();
      for (std::ptrdiff_t row = 0; row < input.values.rows(); ++row)
        for (std::ptrdiff_t unit = 0; unit < input.values.cols(); ++unit)
          values.push_back(static_cast<double>(input.values(row, unit)));
      exact_inputs_.push_back(
          {input.node, MatrixView<const double>(values.data(), input.values.rows(), input.values.cols())});
    }
    const Enumeration exact = enumerated(reference_graph_, false, {});
    reference_.exact = exact.gradient;
    result_.states = exact.states;
  }

  bool is_within_limit(const Model& model) const {
    return states(model) <= static_cast<double>(options_.most_states);
  }

  double states(const Model& model) const {
    return count_states(model, task_.inputs.empty() ? 1 : task_.inputs.front().values.rows());
  }

  Enumeration enumerated(const Graph& graph, bool variance, std::span<const double> baselines) {
    return enumerate<double>(
        compiled<double>(graph), exact_inputs_, task_.rewards,
        {.most_states = options_.most_states, .variance = variance, .baselines = baselines});
  }

  /// Contenders in turn on every batch, so that what disturbs the machine disturbs them all.
  void measure() {
    for (const auto& contender : contenders_) contender->sampler.warm_up(*rows_, internal::warm_up_batches);
    const int half = result_.gradients / 2;
    for (int i = 0; i < result_.gradients; ++i) {
      if (i == half) turn_to_bias();
      rows_->draw(Stream::contenders, static_cast<std::uint32_t>(i));
      for (const auto& contender : contenders_) {
        add_gradient(*contender, i, i >= half);
        tell_progress();
      }
    }
  }

  void add_gradient(Contender& contender, int number, bool second_half) {
    const std::span<const float> gradient =
        contender.sampler.sample(*rows_, Stream::contenders, static_cast<std::uint32_t>(number));
    contender.moments.add(gradient);
    contender.seconds.push_back(contender.sampler.seconds() / contender.sampler.run().samples());
    if (number < batches_for_doubt) contender.doubt.add(contender.sampler.run());
    if (second_half) contender.bias_test.add(gradient);
  }

  /// After the first half: which way each mean is off, and the reference seen from there.
  void turn_to_bias() {
    std::optional<GradientSampler> sampler;
    const int gradients = internal::reference_gradients(options_, result_.gradients), half = gradients / 2;
    if (!reference_.exact) {
      sampler.emplace(reference_model_, task_.rewards, options_.batch);
      reference_.whole = Moments(parameters_.size());
      for (int i = 0; i < half; ++i) add_reference(*sampler, i);
      reference_.first = reference_.whole;
    }
    std::vector<ParameterRange> stretches;
    for (const Comparison::Node& node : result_.nodes) stretches.push_back(node.parameters);
    for (const auto& contender : contenders_)
      contender->bias_test = {stretches, contender->moments.mean(), reference_.for_direction()};
    for (int i = half; sampler && i < gradients; ++i) {
      const std::span<const float> gradient = add_reference(*sampler, i);
      for (const auto& contender : contenders_) contender->bias_test.add_reference(gradient);
    }
    for (const auto& contender : contenders_)
      if (reference_.exact) contender->bias_test.add_reference(std::span<const double>(*reference_.exact));
  }

  std::span<const float> add_reference(GradientSampler& sampler, int number) {
    rows_->draw(Stream::reference, static_cast<std::uint32_t>(number));
    const std::span<const float> gradient =
        sampler.sample(*rows_, Stream::reference, static_cast<std::uint32_t>(number));
    reference_.whole.add(gradient);
    tell_progress();
    return gradient;
  }

  void tell_progress() {
    ++done_;
    if (options_.progress && done_ < all_gradients()) options_.progress(done_, all_gradients());
  }

  std::size_t all_gradients() const {
    return index(result_.gradients) * contenders_.size() +
           (reference_.exact ? 0 : index(internal::reference_gradients(options_, result_.gradients)));
  }

  void conclude() {
    const std::span<const double> gradient = reference_.gradient();
    result_.reference.assign(gradient.begin(), gradient.end());
    for (Comparison::Node& node : result_.nodes) {
      node.reference_error = std::sqrt(total_squared_error(reference_.whole, node.parameters));
      if (!contenders_.empty()) node.prior_doubt = contenders_.front()->doubt.prior(node.id);
    }
    for (const auto& contender : contenders_) conclude(*contender);
  }

  void conclude(Contender& contender) {
    Comparison::Row& row = contender.row;
    const Moments& moments = contender.moments;
    row.replicas = contender.sampler.model().replicas();
    row.mean.assign(moments.mean().begin(), moments.mean().end());
    const auto middle = contender.seconds.begin() + std::ssize(contender.seconds) / 2;
    std::nth_element(contender.seconds.begin(), middle, contender.seconds.end());
    row.seconds_per_sample = *middle;
    const double samples = contender.sampler.run().samples();
    std::optional<Enumeration> exact;
    if (reference_.exact && is_within_limit(contender.sampler.model()))
      exact = enumerated(row.graph, true, contender.sampler.baselines());
    for (const Comparison::Block& block : result_.blocks)
      row.block_variances.push_back(exact ? row.replicas * sum(part(exact->variance, block.parameters))
                                          : samples * total_variance(moments, block.parameters));
    for (std::size_t i = 0; i < result_.nodes.size(); ++i) {
      const Comparison::Node& node = result_.nodes[i];
      Comparison::View& view = row.nodes[i];
      const std::span<const double> mean = part(moments.mean(), node.parameters),
                                    reference = part(result_.reference, node.parameters);
      const double chance = total_squared_error(moments, node.parameters) +
                            total_squared_error(reference_.whole, node.parameters);
      view.bias = std::sqrt(std::max(0.0, std::pow(distance(mean, reference), 2) - chance));
      view.variance = samples * total_variance(moments, node.parameters);
      view.z = contender.bias_test.z(
          i, rounding * (norm(mean) + std::sqrt(total_variance(moments, node.parameters))));
      view.doubt = contender.doubt.posterior(node.id);
      if (!exact) continue;
      view.exact_variance = row.replicas * sum(part(exact->variance, node.parameters));
      const double off = distance(part(exact->estimate, node.parameters), reference);
      view.exact_bias = off < rounding * (norm(reference) + std::sqrt(*view.exact_variance)) ? 0 : off;
    }
  }

  const Graph& graph_;
  const Catalogue& catalogue_;
  const Task& task_;
  const MicroscopeOptions& options_;
  std::optional<DrawnRows> rows_;  ///< once they are known to fit into memory
  const Graph reference_graph_;
  Model reference_model_;
  const std::vector<float> parameters_;
  std::vector<std::vector<double>> exact_values_;
  std::vector<InputValues<double>> exact_inputs_;
  Reference reference_;
  std::vector<Entrant> entrants_;
  std::vector<std::unique_ptr<Contender>> contenders_;
  Comparison result_;
  std::size_t done_ = 0;
};

}  // namespace

bool Comparison::View::is_seen_biased() const {
  return exact_bias ? *exact_bias > 0 : std::abs(z) > certain_z;
}

double Comparison::Row::variance() const {
  double sum = 0;
  for (const View& view : nodes) sum += view.best_variance();
  return sum;
}

Comparison compare_estimators(const Graph& graph, const Catalogue& catalogue,
                              std::span<const float> parameters, const Task& task,
                              const MicroscopeOptions& options) {
  internal::check(task, options);
  return Microscope(graph, catalogue, parameters, task, options).run();
}

}  // namespace hindsight
