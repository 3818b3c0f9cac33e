#include <hindsight/graph/microscope.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include <hindsight/graph/deviation.hpp>
#include <hindsight/graph/gradient_sampler.hpp>
#include <hindsight/graph/moments.hpp>
#include <hindsight/graph/topology.hpp>

namespace hindsight {
namespace {

constexpr int warm_up_batches = 200;
constexpr int batches_for_doubt = 64;
/// Gradients are made in float: smaller differences say nothing.
constexpr double rounding = 1e-6;

std::span<const double> part(std::span<const double> values, const ParameterRange& range) {
  return values.subspan(range.first, range.count);
}

double total_variance(const Moments& moments, const ParameterRange& range) {
  return moments.total_variance(range.first, range.count);
}

/// Of the mean; 0 if nothing was added.
double total_squared_error(const Moments& moments, const ParameterRange& range) {
  return moments.count() == 0 ? 0 : total_variance(moments, range) / static_cast<double>(moments.count());
}

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double norm(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

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

/// A contender while it is measured.
struct Candidate {
  Candidate(Comparison::Row& its_row, Model model, const Task& task, int batch)
      : row(its_row),
        sampler(std::move(model), task.rewards, batch),
        doubt(sampler.model()),
        moments(sampler.model().parameters().size()) {}

  Comparison::Row& row;
  GradientSampler sampler;
  Doubt doubt;
  Moments moments;
  Deviation deviation;  ///< of the second half of the gradients
  std::vector<double> seconds;
};

void check(const Task& task, const MicroscopeOptions& options) {
  const auto refuse_count = [](const char* what, int given, int least) {
    if (given < least)
      refuse({.code = "microscope-options",
              .message = fmt::format("{} is {}; there must be at least {}", what, given, least),
              .help = {fmt::format("{{.{} = {}}}", what, std::max(least, 1000))}});
  };
  refuse_count("gradients", options.gradients, 4);
  refuse_count("reference_gradients", options.reference_gradients, 4);
  refuse_count("batch", options.batch, 1);
  if (options.contenders.empty() && options.graphs.empty())
    refuse({.code = "microscope-options",
            .message = "no contenders are given, so there is nothing to compare",
            .help = {"{.contenders = {{Hnca{}}, {Reinforce{}}}}"}});
  for (const InputValues<float>& input : task.inputs)
    if (input.values.rows() < 1 || input.values.rows() != task.inputs.front().values.rows() ||
        input.values.rows() > std::numeric_limits<int>::max())
      refuse({.code = "microscope-inputs",
              .message = fmt::format("input number {} has {} rows; all inputs must have the same, at least 1",
                                     input.node.index, input.values.rows()),
              .help = {"give every input as many rows"}});
}

class Microscope {
 public:
  Microscope(const Graph& graph, const Catalogue& catalogue, std::span<const float> parameters,
             const Task& task, const MicroscopeOptions& options)
      : graph_(graph),
        catalogue_(catalogue),
        task_(task),
        options_(options),
        parameters_(parameters.begin(), parameters.end()),
        rows_(task.inputs, options.batch, options.seed) {
    Graph unaided = graph;
    estimate_with_first(unaided, options.stand_ins, catalogue, limits());
    compare_everywhere(unaided, NoBaseline{});
    reference_model_.emplace(compiled<float>(unaided));
    reference_graph_ = std::move(unaided);
    list_nodes();
  }

  Comparison run() {
    result_.rows.resize(options_.contenders.size() + options_.graphs.size());
    auto row = result_.rows.begin();
    for (const CreditMethod& contender : options_.contenders) enter(contender, *row++);
    for (const Graph& graph : options_.graphs) enter(graph, *row++);
    find_exact_reference();
    measure();
    conclude();
    return std::move(result_);
  }

 private:
  ValidateOptions limits() const { return {.elimination_limit = options_.elimination_limit}; }

  template <class S>
  BasicModel<S> compiled(const Graph& graph) {
    BasicModel<S> model(graph, catalogue_,
                        {.seed = options_.seed, .elimination_limit = options_.elimination_limit});
    if (parameters_.empty()) parameters_.assign(model.parameters().begin(), model.parameters().end());
    if (parameters_.size() != model.parameters().size())
      refuse({.code = "microscope-parameters",
              .message = fmt::format("{} parameters were given for a graph that has {}", parameters_.size(),
                                     model.parameters().size()),
              .help = {"compare_estimators(graph, model.parameters(), task, options)"}});
    std::copy(parameters_.begin(), parameters_.end(), model.parameters().begin());
    return model;
  }

  void list_nodes() {
    const std::vector<int> level = levels(graph_);
    std::vector<bool> learns(static_cast<std::size_t>(graph_.node_count()));
    for (int r = 0; r < graph_.reward_count(); ++r) {
      const std::vector<bool> upstream = upstream_of(graph_, {r});
      for (std::size_t i = 0; i < learns.size(); ++i) learns[i] = learns[i] || upstream[i];
    }
    for (int i = 0; i < graph_.node_count(); ++i) {
      const ParameterRange range = reference_model_->range(NodeId{i});
      if (range.count == 0 || !learns[static_cast<std::size_t>(i)]) continue;
      result_.nodes.push_back({.id = {i},
                               .name = graph_.name(NodeId{i}),
                               .level = level[static_cast<std::size_t>(i)],
                               .parameters = range});
    }
    for (const std::string& path : reference_model_->parameter_names()) {
      const ParameterRange range = reference_model_->range(path);
      const auto after = std::upper_bound(
          result_.nodes.begin(), result_.nodes.end(), range.first,
          [](std::size_t first, const Comparison::Node& node) { return first < node.parameters.first; });
      if (range.count == 0 || after == result_.nodes.begin()) continue;
      const auto node = static_cast<std::size_t>(after - result_.nodes.begin()) - 1;
      const ParameterRange& all = result_.nodes[node].parameters;
      if (range.first < all.first + all.count) result_.blocks.push_back({path, node, range});
    }
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
      candidates_.push_back(
          std::make_unique<Candidate>(row, compiled<float>(row.graph), task_, options_.batch));
      read_verdicts(candidates_.back()->sampler.model().report(), row);
    } catch (const Error& refusal) {
      row.refusal = refusal.report().diagnostics.empty() ? refusal.what()
                                                         : refusal.report().diagnostics.front().message;
    }
  }

  void read_verdicts(const Report& report, Comparison::Row& row) const {
    std::map<std::string_view, Comparison::View> by_name;
    bool all_unbiased = true;
    for (const Credit& credit : report.credits) {
      Comparison::View& view = by_name[credit.node];
      view.applies =
          view.applies || !row.contender.estimator || credit.estimator == row.contender.estimator->name();
      view.unbiased = view.unbiased && credit.verdict.unbiased;
      all_unbiased = all_unbiased && credit.verdict.unbiased;
    }
    for (const Comparison::Node& node : result_.nodes) {
      row.nodes.push_back(by_name[node.name]);
      // What is deterministic learns from the weights of others, and inherits their bias.
      if (!graph_.is_deterministic(node.id)) continue;
      row.nodes.back().unbiased = all_unbiased;
      row.nodes.back().applies = true;
    }
  }

  void find_exact_reference() {
    if (!is_within_limit(*reference_model_)) return;
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
    const std::ptrdiff_t rows = task_.inputs.empty() ? 1 : task_.inputs.front().values.rows();
    return count_states(model, rows) <= static_cast<double>(options_.most_states);
  }

  Enumeration enumerated(const Graph& graph, bool variance, std::span<const double> baselines) {
    return enumerate<double>(
        compiled<double>(graph), exact_inputs_, task_.rewards,
        {.most_states = options_.most_states, .variance = variance, .baselines = baselines});
  }

  /// Contenders in turn on every batch, so that what disturbs the machine disturbs them all.
  void measure() {
    for (const auto& candidate : candidates_) candidate->sampler.warm_up(rows_, warm_up_batches);
    const int half = options_.gradients / 2;
    for (int i = 0; i < options_.gradients; ++i) {
      if (i == half) turn_to_bias();
      rows_.draw(Stream::contenders, static_cast<std::uint32_t>(i));
      for (const auto& candidate : candidates_) {
        add_gradient(*candidate, i, i >= half);
        tell_progress();
      }
    }
  }

  void add_gradient(Candidate& candidate, int number, bool second_half) {
    const std::span<const float> gradient =
        candidate.sampler.sample(rows_, Stream::contenders, static_cast<std::uint32_t>(number));
    candidate.moments.add(gradient);
    candidate.seconds.push_back(candidate.sampler.seconds() / candidate.sampler.run().samples());
    if (number < batches_for_doubt) candidate.doubt.add(candidate.sampler.run());
    if (second_half) candidate.deviation.add(gradient);
  }

  /// After the first half: which way each mean is off, and the reference seen from there.
  void turn_to_bias() {
    std::optional<GradientSampler> sampler;
    const int half = options_.reference_gradients / 2;
    if (!reference_.exact) {
      sampler.emplace(*reference_model_, task_.rewards, options_.batch);
      reference_.whole = Moments(parameters_.size());
      for (int i = 0; i < half; ++i) add_reference(*sampler, i);
      reference_.first = reference_.whole;
    }
    std::vector<ParameterRange> stretches;
    for (const Comparison::Node& node : result_.nodes) stretches.push_back(node.parameters);
    for (const auto& candidate : candidates_)
      candidate->deviation = {stretches, candidate->moments.mean(), reference_.for_direction()};
    for (int i = half; sampler && i < options_.reference_gradients; ++i) {
      const std::span<const float> gradient = add_reference(*sampler, i);
      for (const auto& candidate : candidates_) candidate->deviation.add_reference(gradient);
    }
    for (const auto& candidate : candidates_)
      if (reference_.exact) candidate->deviation.add_reference(std::span<const double>(*reference_.exact));
  }

  std::span<const float> add_reference(GradientSampler& sampler, int number) {
    rows_.draw(Stream::reference, static_cast<std::uint32_t>(number));
    const std::span<const float> gradient =
        sampler.sample(rows_, Stream::reference, static_cast<std::uint32_t>(number));
    reference_.whole.add(gradient);
    tell_progress();
    return gradient;
  }

  void tell_progress() {
    ++done_;
    const auto gradients = static_cast<std::size_t>(options_.gradients) * candidates_.size() +
                           (reference_.exact ? 0 : static_cast<std::size_t>(options_.reference_gradients));
    if (options_.progress) options_.progress(done_, gradients);
  }

  void conclude() {
    const std::span<const double> gradient = reference_.gradient();
    result_.reference.assign(gradient.begin(), gradient.end());
    for (Comparison::Node& node : result_.nodes) {
      node.reference_error = std::sqrt(total_squared_error(reference_.whole, node.parameters));
      if (!candidates_.empty()) node.prior_doubt = candidates_.front()->doubt.prior(node.id);
    }
    for (const auto& candidate : candidates_) conclude(*candidate);
  }

  void conclude(Candidate& candidate) {
    Comparison::Row& row = candidate.row;
    const Moments& moments = candidate.moments;
    row.replicas = candidate.sampler.model().plan().replicas;
    row.mean.assign(moments.mean().begin(), moments.mean().end());
    const auto middle = candidate.seconds.begin() + std::ssize(candidate.seconds) / 2;
    std::nth_element(candidate.seconds.begin(), middle, candidate.seconds.end());
    row.seconds_per_sample = *middle;
    const double samples = candidate.sampler.run().samples();
    std::optional<Enumeration> exact;
    if (reference_.exact && is_within_limit(candidate.sampler.model()))
      exact = enumerated(row.graph, true, candidate.sampler.baselines());
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
      view.z = candidate.deviation.z(
          i, rounding * (norm(mean) + std::sqrt(total_variance(moments, node.parameters))));
      view.doubt = candidate.doubt.posterior(node.id);
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
  std::vector<float> parameters_;
  DrawnRows rows_;
  Graph reference_graph_;
  std::optional<Model> reference_model_;
  std::vector<std::vector<double>> exact_values_;
  std::vector<InputValues<double>> exact_inputs_;
  Reference reference_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
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
  check(task, options);
  return Microscope(graph, catalogue, parameters, task, options).run();
}

}  // namespace hindsight
