#include <hindsight/nodes/table.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/numerics.hpp>

namespace hindsight {
namespace {

/// Joint outcomes of the parents; saturates far above any table that could be written.
double joint_outcomes(std::span<const ParentShape> parents) {
  double count = 1;
  for (const ParentShape& parent : parents) {
    if (!parent.encoding)
      refuse({.code = "table-parent",
              .message = fmt::format("a Table has a row per outcome of its parents, but '{}' is real-valued",
                                     parent.name),
              .help = {
                  "read it through a discrete node, e.g. graph.add(\"bits\", Bernoulli{.units = 4}, {x})"}});
    count *= std::pow(parent.encoding->outcomes, parent.units);
  }
  return count;
}

void check_row(std::span<const double> row, std::size_t number, std::size_t outcomes) {
  if (row.size() != outcomes)
    refuse({.code = "table-rows",
            .message =
                fmt::format("row {} of its table has {} entries, row 0 has {}", number, row.size(), outcomes),
            .help = {"give every row one probability per outcome"}});
  const bool bad = std::any_of(row.begin(), row.end(), [](double p) { return !(p >= 0 && p <= 1); });
  const double total = std::accumulate(row.begin(), row.end(), 0.0);
  if (bad || std::abs(total - 1) > 1e-9)
    refuse({.code = "table-rows",
            .message = bad ? fmt::format("row {} of its table, {{{:.6g}}}, holds what is no probability",
                                         number, fmt::join(row, ", "))
                           : fmt::format("row {} of its table, {{{:.6g}}}, sums to {:.6g}, not to 1", number,
                                         fmt::join(row, ", "), total),
            .help = {"make the entries of each row non-negative and their sum 1"}});
}

/// Which row of the table the parents' outcomes select.
template <class S>
std::size_t selected_row(const Reading<S>& reading) {
  std::size_t row = 0, unit = 0;
  for (const ParentShape& parent : reading.parents)
    for (int j = 0; j < parent.units; ++j, ++unit)
      row = row * static_cast<std::size_t>(parent.encoding->outcomes) +
            static_cast<std::size_t>(reading.outcomes[unit]);
  return row;
}

}  // namespace

Shape Table::shape(std::span<const ParentShape> parents) const {
  const double expected = joint_outcomes(parents);
  if (static_cast<double>(rows.size()) != expected)
    refuse({.code = "table-rows",
            .message = fmt::format(
                "its table has {} rows; one is needed for each joint outcome of its parents, {:.6g} in all",
                rows.size(), expected),
            .help = {"give one row per joint outcome, the last parent varying fastest"}});
  const std::size_t outcomes = rows.front().size();
  if (outcomes < 2)
    refuse({.code = "one-class",
            .message = fmt::format("a Table chooses among at least 2 outcomes, not {}", outcomes),
            .help = {"Table{.rows = {{0.5, 0.5}}}"}});
  for (std::size_t i = 0; i < rows.size(); ++i) check_row(rows[i], i, outcomes);
  const bool finite = std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  if (!values.empty() && (values.size() != outcomes || !finite))
    refuse({.code = "values",
            .message = fmt::format("its values {{{}}} must be {} finite numbers, one per outcome",
                                   fmt::join(values, ", "), outcomes),
            .help = {"leave .values out for one-hot features"}});
  return {.units = units,
          .encoding = values.empty() ? one_hot_encoding(static_cast<int>(outcomes)) : scalar_encoding(values),
          .parameters = {{"logits", static_cast<std::size_t>(units) * rows.size(), outcomes}}};
}

Table Table::read(AttributeReader& given) {
  Table table{.rows = {}, .units = given.count("units", 1), .values = given.numbers("values")};
  const std::string text = given.text("rows", "");
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    table.rows.push_back(to_numbers(rest.substr(0, end), "rows"));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return table;
}

void Table::write(Attributes& written) const {
  std::string text;
  for (const std::vector<double>& row : rows) text += (text.empty() ? "" : "; ") + to_text(row);
  written.set("rows", std::move(text));
  if (units != 1) written.set("units", units);
  if (!values.empty()) written.set("values", values);
}

template <class S>
void Table::log_probs(std::span<const S> theta, const Reading<S>& reading, std::span<S> out) const {
  const std::size_t selected = selected_row(reading), outcomes = rows.front().size();
  for (std::size_t unit = 0; unit < static_cast<std::size_t>(units); ++unit) {
    const std::size_t first = (unit * rows.size() + selected) * outcomes;
    for (std::size_t k = 0; k < outcomes; ++k)
      out[unit * outcomes + k] = rows[selected][k] > 0
                                     ? theta[first + k] + 0 * theta[first + k]  // NaN if it is not finite
                                     : -std::numeric_limits<S>::infinity();
    log_softmax(out.data() + unit * outcomes, outcomes);
  }
}

template <class S>
void Table::accumulate(std::span<const S> theta, const Reading<S>& reading, std::span<const S> weights,
                       std::span<S> out) const {
  const std::size_t selected = selected_row(reading), outcomes = rows.front().size();
  const auto can_occur = [&](std::size_t k) { return rows[selected][k] > 0; };
  for (std::size_t unit = 0; unit < static_cast<std::size_t>(units); ++unit) {
    const std::size_t first = (unit * rows.size() + selected) * outcomes, at = unit * outcomes;
    const auto logit = [&](std::size_t k) {
      return can_occur(k) ? theta[first + k] : -std::numeric_limits<S>::infinity();
    };
    const LogNormaliser<S> normalised = log_normaliser<S>(outcomes, logit);
    S total = 0;  // what cannot occur has no part in it
    for (std::size_t k = 0; k < outcomes; ++k)
      if (can_occur(k)) total += weights[at + k];
    for (std::size_t k = 0; k < outcomes; ++k)
      if (can_occur(k)) out[first + k] += softmax_gradient(weights[at + k], normalised(logit(k)), total);
  }
}

void Table::initialise(const Initialisation&, std::span<double> theta) const {
  auto parameter = theta.begin();
  for (int unit = 0; unit < units; ++unit)
    for (const std::vector<double>& row : rows)
      for (const double p : row) *parameter++ = p > 0 ? std::log(p) : 0.0;
}

template void Table::log_probs(std::span<const float>, const Reading<float>&, std::span<float>) const;
template void Table::log_probs(std::span<const double>, const Reading<double>&, std::span<double>) const;
template void Table::accumulate(std::span<const float>, const Reading<float>&, std::span<const float>,
                                std::span<float>) const;
template void Table::accumulate(std::span<const double>, const Reading<double>&, std::span<const double>,
                                std::span<double>) const;

}  // namespace hindsight
