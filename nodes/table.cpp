#include <hindsight/nodes/table.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/index.hpp>
#include <hindsight/core/numerics.hpp>

namespace hindsight {
namespace {

using internal::index;

/// Joint outcomes of the parents; saturates far above any table that could be written.
double joint_outcome_count(std::span<const ParentShape> parents) {
  double count = 1;
  for (const ParentShape& parent : parents) {
    if (!parent.encoding)
      refuse({.code = "table-parent",
              .message = fmt::format("a Table has a row per outcome of its parents, but '{}' is real-valued",
                                     parent.name),
              .help = {
                  "read it through a discrete node, e.g. graph.add(\"bits\", Bernoulli{.units = 4}, {x})"}});
    count *= std::pow(parent.encoding->outcome_count, parent.units);
  }
  return count;
}

void check_row(std::span<const double> row, std::size_t number, std::size_t outcome_count) {
  if (row.size() != outcome_count)
    refuse({.code = "table-rows",
            .message = fmt::format("row {} of its table has {} entries, row 0 has {}", number, row.size(),
                                   outcome_count),
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

/// Which row of the table the parents' outcomes select, per sample.
template <class S>
std::array<std::size_t, chunk_samples> selected_rows(const ChunkReading<S>& reading) {
  std::array<std::size_t, chunk_samples> rows{};
  std::ptrdiff_t unit = 0;
  for (const ParentShape& parent : reading.parents)
    for (int j = 0; j < parent.units; ++j, ++unit)
      for (std::ptrdiff_t i = 0; i < reading.samples(); ++i) {
        std::size_t& row = rows[static_cast<std::size_t>(i)];
        row = row * index(parent.encoding->outcome_count) + index(reading.outcomes(i, unit));
      }
  return rows;
}

/// The rows of one unit as log-probabilities. What turns logits into them is kept for the next sample that
/// selects the row.
template <class S>
class NormalisedRows {
 public:
  NormalisedRows(std::span<const std::vector<double>> given, std::span<const S> logits)
      : given_(given), logits_(logits), outcome_count_(given.front().size()) {
    kept_row_.fill(none);
  }

  bool can_occur(std::size_t row, std::size_t outcome) const { return given_[row][outcome] > 0; }
  /// NaN if a logit of the row is not finite.
  const LogNormaliser<S>& normaliser(std::size_t row) {
    const std::size_t slot = row % kept_row_.size();
    if (kept_row_[slot] != row) {
      kept_[slot] = log_normaliser<S>(outcome_count_, [&](std::size_t k) { return logit(row, k); });
      kept_row_[slot] = row;
    }
    return kept_[slot];
  }
  S logit(std::size_t row, std::size_t outcome) const {
    const S given = logits_[row * outcome_count_ + outcome];
    return can_occur(row, outcome) ? given + 0 * given : -std::numeric_limits<S>::infinity();
  }

 private:
  static constexpr auto none = static_cast<std::size_t>(-1);
  std::span<const std::vector<double>> given_;
  std::span<const S> logits_;
  std::size_t outcome_count_;
  std::array<std::size_t, chunk_samples> kept_row_;
  std::array<LogNormaliser<S>, chunk_samples> kept_;
};

/// Calls work(table, unit, sample, row) for every unit and sample: its row of the unit's table.
template <class S, class Work>
void for_each_selected_row(const Table& node, std::span<const S> theta, const ChunkReading<S>& reading,
                           const Work& work) {
  const auto selected = selected_rows(reading);
  const std::size_t logits = node.rows.size() * node.rows.front().size();
  for (std::size_t unit = 0; unit < index(node.units); ++unit) {
    NormalisedRows<S> table(node.rows, theta.subspan(unit * logits, logits));
    for (std::ptrdiff_t i = 0; i < reading.samples(); ++i)
      work(table, unit, i, selected[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

Shape Table::shape(std::span<const ParentShape> parents) const {
  const double expected = joint_outcome_count(parents);
  if (static_cast<double>(rows.size()) != expected)
    refuse({.code = "table-rows",
            .message = fmt::format(
                "its table has {} rows; one is needed for each joint outcome of its parents, {:.6g} in all",
                rows.size(), expected),
            .help = {"give one row per joint outcome, the last parent varying fastest"}});
  const std::size_t outcome_count = rows.front().size();
  if (outcome_count < 2)
    refuse({.code = "one-class",
            .message = fmt::format("a Table chooses among at least 2 outcomes, not {}", outcome_count),
            .help = {"Table{.rows = {{0.5, 0.5}}}"}});
  for (std::size_t i = 0; i < rows.size(); ++i) check_row(rows[i], i, outcome_count);
  const bool finite = std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  if (!values.empty() && (values.size() != outcome_count || !finite))
    refuse({.code = "values",
            .message = fmt::format("its values {{{}}} must be {} finite numbers, one per outcome",
                                   fmt::join(values, ", "), outcome_count),
            .help = {"leave .values out for one-hot features"}});
  return {.units = units,
          .encoding =
              values.empty() ? one_hot_encoding(static_cast<int>(outcome_count)) : scalar_encoding(values),
          .parameters = {{"logits", index(units) * rows.size(), outcome_count}}};
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
void Table::log_probs(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<S> out) const {
  const std::size_t outcome_count = rows.front().size();
  for_each_selected_row(
      *this, theta, reading, [&](auto& table, std::size_t unit, std::ptrdiff_t i, auto row) {
        const LogNormaliser<S>& normalised = table.normaliser(row);
        for (std::size_t k = 0; k < outcome_count; ++k)
          out(i, static_cast<std::ptrdiff_t>(unit * outcome_count + k)) = normalised(table.logit(row, k));
      });
}

template <class S>
void Table::accumulate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> credit,
                       std::span<S> out) const {
  const std::size_t outcome_count = rows.front().size();
  for_each_selected_row(*this, theta, reading,
                        [&](auto& table, std::size_t unit, std::ptrdiff_t i, auto row) {
                          const auto given = [&](std::size_t k) {
                            return credit(i, static_cast<std::ptrdiff_t>(unit * outcome_count + k));
                          };
                          const LogNormaliser<S>& normalised = table.normaliser(row);
                          S total = 0;  // what cannot occur has no part in it
                          for (std::size_t k = 0; k < outcome_count; ++k)
                            if (table.can_occur(row, k)) total += given(k);
                          for (std::size_t k = 0; k < outcome_count; ++k)
                            if (table.can_occur(row, k))
                              out[(unit * rows.size() + row) * outcome_count + k] +=
                                  softmax_gradient(given(k), normalised(table.logit(row, k)), total);
                        });
}

void Table::initialise(const Initialisation&, std::span<double> theta) const {
  auto parameter = theta.begin();
  for (int unit = 0; unit < units; ++unit)
    for (const std::vector<double>& row : rows)
      for (const double p : row) *parameter++ = p > 0 ? std::log(p) : 0.0;
}

template void Table::log_probs(std::span<const float>, const ChunkReading<float>&, MatrixView<float>) const;
template void Table::log_probs(std::span<const double>, const ChunkReading<double>&,
                               MatrixView<double>) const;
template void Table::accumulate(std::span<const float>, const ChunkReading<float>&, MatrixView<const float>,
                                std::span<float>) const;
template void Table::accumulate(std::span<const double>, const ChunkReading<double>&,
                                MatrixView<const double>, std::span<double>) const;

template AnyNode::AnyNode(Table);

}  // namespace hindsight
