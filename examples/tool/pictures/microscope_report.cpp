#include "tool/microscope_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tool/figures.hpp"
#include "tool/overview.hpp"

namespace hindsight::tool {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Nodes up to this many have lines of their own.
constexpr std::size_t most_places = 12;

bool took_part(const Comparison::Row& row) { return row.refusal.empty(); }

double length(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// Some nodes that share a line.
struct Place {
  std::string name;
  std::vector<std::size_t> nodes;  ///< of the comparison
};

std::map<int, std::vector<std::size_t>> nodes_by_level(const Comparison& comparison) {
  std::map<int, std::vector<std::size_t>> levels;
  for (std::size_t i = 0; i < comparison.nodes.size(); ++i) levels[comparison.nodes[i].level].push_back(i);
  return levels;
}

std::vector<Place> places_of(const Comparison& comparison, std::size_t most) {
  std::vector<Place> places;
  if (comparison.nodes.size() <= most) {
    for (std::size_t i = 0; i < comparison.nodes.size(); ++i)
      places.push_back({comparison.nodes[i].name, {i}});
    return places;
  }
  const auto by_level = nodes_by_level(comparison);
  const std::vector<std::pair<int, std::vector<std::size_t>>> levels(by_level.begin(), by_level.end());
  const std::size_t inner = levels.size() - 1, bands = std::min(inner, most - 1);
  for (std::size_t band = 0; band <= bands; ++band) {
    const std::size_t first = band < bands ? inner * band / bands : inner,
                      end = band < bands ? inner * (band + 1) / bands : inner + 1;
    Place place{levels[first].first == levels[end - 1].first
                    ? fmt::format("level {}", levels[first].first)
                    : fmt::format("levels {} … {}", levels[first].first, levels[end - 1].first),
                {}};
    for (std::size_t l = first; l < end; ++l)
      place.nodes.insert(place.nodes.end(), levels[l].second.begin(), levels[l].second.end());
    places.push_back(std::move(place));
  }
  return places;
}

Line line_of(const Comparison& comparison, const Place& place, std::size_t r) {
  const Comparison::Row& row = comparison.rows[r];
  Line line{.place = place.name, .row = r};
  double bias = 0, gradient = 0, doubt = 0, doubtful = 0;
  line.is_exact = true;
  for (const std::size_t i : place.nodes) {
    const Comparison::Node& node = comparison.nodes[i];
    const Comparison::View& view = row.nodes[i];
    line.weights += node.parameters.count;
    line.variance += view.best_variance();
    bias += std::pow(view.best_bias(), 2);
    gradient += std::pow(
        length(std::span(comparison.reference).subspan(node.parameters.first, node.parameters.count)), 2);
    if (std::abs(view.z) > std::abs(line.z)) line.z = view.z;
    line.is_exact = line.is_exact && view.exact_bias.has_value();
    line.applies = line.applies || view.applies;
    line.unbiased = line.unbiased && view.unbiased;
    line.is_seen_biased = line.is_seen_biased || view.is_seen_biased();
    if (!view.doubt) continue;
    doubt += *view.doubt;
    line.prior_doubt += node.prior_doubt;
    ++doubtful;
  }
  line.bias = std::sqrt(bias);
  line.gradient = std::sqrt(gradient);
  if (doubtful > 0) {
    line.doubt = doubt / doubtful;
    line.prior_doubt /= doubtful;
  }
  return line;
}

/// In parts of the gradient's length.
std::string bias_of(const Line& line) {
  if (!line.is_seen_biased) return line.is_exact ? "0" : "not seen";
  return line.gradient > 0 ? fmt::format("{:.2g}", line.bias / line.gradient) : "all of it";
}

std::string doubt_of(const Line& line) {
  return line.doubt ? fmt::format("{:.2g} of {:.2g}", *line.doubt, line.prior_doubt) : "";
}

std::string remark_of(const Comparison::Row& row) {
  std::size_t biased = 0, seen = 0, elsewhere = 0;
  for (const Comparison::View& view : row.nodes) {
    biased += view.unbiased ? 0 : 1;
    seen += view.is_seen_biased() ? 1 : 0;
    elsewhere += view.applies ? 0 : 1;
  }
  std::string remark;
  const auto add = [&](const std::string& text) { remark += (remark.empty() ? "" : ", ") + text; };
  if (biased > 0) add(fmt::format("biased at {} of {} nodes", biased, row.nodes.size()));
  if (seen > 0) add(fmt::format("bias seen at {}", seen));
  if (elsewhere > 0) add(fmt::format("not admissible at {}", elsewhere));
  return remark;
}

std::string contenders_table(const Comparison& comparison, std::span<const std::string> names) {
  std::string table =
      "| estimator | µs per sample | variance | variance × time | remarks |\n|---|---:|---:|---:|---|\n";
  for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
    const Comparison::Row& row = comparison.rows[r];
    if (!took_part(row)) {
      table += fmt::format("| {} | – | – | – | {} |\n", names[r], row.refusal);
      continue;
    }
    const double micros = 1e6 * row.seconds_per_sample;
    table += fmt::format("| {} | {:.3g} | {:.3g} | {:.3g} | {} |\n", names[r], micros, row.variance(),
                         row.variance() * micros, remark_of(row));
  }
  return table;
}

std::string lines_table(const Comparison& comparison, std::span<const std::string> names) {
  std::string table =
      "| where | weights | estimator | variance | of the first | × time | bias | z | doubt |\n"
      "|---|---:|---|---:|---:|---:|---:|---:|---:|\n";
  for (const Line& line : summarise(comparison, most_places)) {
    if (!line.applies) continue;
    table += fmt::format("| {} | {} | {}{} | {:.3g} | {} | {:.3g} | {} | {:.1f} | {} |\n", line.place,
                         line.weights, names[line.row], line.unbiased ? "" : " (biased)", line.variance,
                         line.of_first ? fmt::format("{:.2g}", *line.of_first) : "",
                         line.variance * 1e6 * comparison.rows[line.row].seconds_per_sample, bias_of(line),
                         line.z, doubt_of(line));
  }
  return table;
}

std::string blocks_table(const Comparison& comparison, std::span<const std::string> names) {
  std::string head = "| block | weights |", rule = "|---|---:|", body;
  for (std::size_t r = 0; r < comparison.rows.size(); ++r)
    if (took_part(comparison.rows[r])) {
      head += fmt::format(" {} |", names[r]);
      rule += "---:|";
    }
  for (std::size_t b = 0; b < comparison.blocks.size(); ++b) {
    body += fmt::format("| {} | {} |", comparison.blocks[b].path, comparison.blocks[b].parameters.count);
    for (const Comparison::Row& row : comparison.rows)
      if (took_part(row)) body += fmt::format(" {:.3g} |", row.block_variances[b]);
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

std::string reference_of(const Comparison& comparison) {
  if (comparison.states > 0) return fmt::format("the exact gradient, over {} states", comparison.states);
  double error = 0;
  for (const Comparison::Node& node : comparison.nodes) error += std::pow(node.reference_error, 2);
  const double whole = length(comparison.reference);
  if (whole == 0) return "the mean of a long run, which is 0";
  return fmt::format("the mean of a long run, known to {:.2g} of its length", std::sqrt(error) / whole);
}

OrderedJson part_of(std::span<const double> values, const ParameterRange& range) {
  const auto part = values.subspan(range.first, range.count);
  return std::vector<double>(part.begin(), part.end());
}

OrderedJson view_to_json(const Comparison& comparison, const Comparison::Row& row, std::size_t i) {
  const Comparison::View& view = row.nodes[i];
  OrderedJson json{{"node", comparison.nodes[i].name},
                   {"applies", view.applies},
                   {"unbiased", view.unbiased},
                   {"mean", part_of(row.mean, comparison.nodes[i].parameters)},
                   {"bias", view.bias},
                   {"z", view.z},
                   {"variance", view.variance},
                   {"variance_times_seconds", view.best_variance() * row.seconds_per_sample}};
  if (view.exact_bias) json["exact_bias"] = *view.exact_bias;
  if (view.exact_variance) json["exact_variance"] = *view.exact_variance;
  if (view.doubt) json["doubt"] = *view.doubt;
  OrderedJson blocks = OrderedJson::object();
  for (std::size_t b = 0; b < comparison.blocks.size(); ++b)
    if (comparison.blocks[b].node == i) blocks[comparison.blocks[b].path] = row.block_variances[b];
  json["block_variances"] = std::move(blocks);
  return json;
}

}  // namespace

std::vector<Line> summarise(const Comparison& comparison, std::size_t most) {
  std::vector<Line> lines;
  for (const Place& place : places_of(comparison, most)) {
    std::optional<double> first;
    for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
      if (!took_part(comparison.rows[r])) continue;
      Line line = line_of(comparison, place, r);
      if (!first) first = line.variance;
      if (*first > 0) line.of_first = line.variance / *first;
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string to_tables(const Comparison& comparison, std::span<const std::string> names,
                      const std::string& scene, bool blocks) {
  std::string text = fmt::format("{}\ncompared with {}\n\n{}\n{}", scene, reference_of(comparison),
                                 contenders_table(comparison, names), lines_table(comparison, names));
  if (blocks) text += "\n" + blocks_table(comparison, names);
  return text;
}

std::string to_json(const Comparison& comparison, std::span<const std::string> names,
                    const std::string& scene) {
  OrderedJson json{{"scene", scene},
                   {"states", comparison.states},
                   {"gradients", comparison.gradients},
                   {"nodes", OrderedJson::array()}};
  for (const Comparison::Node& node : comparison.nodes)
    json["nodes"].push_back({{"name", node.name},
                             {"level", node.level},
                             {"gradient", part_of(comparison.reference, node.parameters)},
                             {"gradient_error", node.reference_error},
                             {"prior_doubt", node.prior_doubt}});
  for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
    const Comparison::Row& row = comparison.rows[r];
    OrderedJson contender{{"estimator", names[r]}};
    if (took_part(row)) {
      contender["seconds_per_sample"] = row.seconds_per_sample;
      contender["samples_per_row"] = row.replicas;
      contender["variance"] = row.variance();
      contender["nodes"] = OrderedJson::array();
      for (std::size_t i = 0; i < comparison.nodes.size(); ++i)
        contender["nodes"].push_back(view_to_json(comparison, row, i));
    } else {
      contender["refusal"] = row.refusal;
    }
    json["contenders"].push_back(std::move(contender));
  }
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void draw_variances(const Comparison& comparison, std::span<const std::string> names,
                    const std::filesystem::path& path) {
  const auto levels = nodes_by_level(comparison);
  std::vector<NamedCurve> curves;
  for (std::size_t r = 0; r < comparison.rows.size(); ++r) {
    if (!took_part(comparison.rows[r])) continue;
    NamedCurve curve{.label = names[r]};
    for (const auto& [level, nodes] : levels) {
      double variance = 0;
      bool applies = false;
      for (const std::size_t i : nodes) {
        variance += comparison.rows[r].nodes[i].best_variance();
        applies = applies || comparison.rows[r].nodes[i].applies;
      }
      if (!applies || variance <= 0) continue;  // 0 has no place on a logarithmic axis
      curve.positions.push_back(level);
      curve.mean.push_back(variance);
    }
    if (!curve.mean.empty()) curves.push_back(std::move(curve));
  }
  if (curves.empty())
    refuse({.code = "figure-data",
            .message = "no gradient scatters, so there is nothing to draw",
            .help = {"leave out --figure"}});
  compare_curves(curves,
                 {.title = "how much one sample's gradient scatters",
                  .y_label = "variance, summed over the level's weights",
                  .x_label = "level",
                  .logarithmic = true,
                  .marked = true},
                 path);
}

std::string credits_by_estimator(const Graph& graph) {
  std::map<std::string, std::set<std::string>> nodes;
  for (const CreditVerdict& credit : validate(graph).credits) nodes[credited_by(credit)].insert(credit.node);
  std::string text;
  for (const auto& [name, its] : nodes)
    text += fmt::format("  {} at {} node{}\n", name, its.size(), its.size() == 1 ? "" : "s");
  return text;
}

}  // namespace hindsight::tool
