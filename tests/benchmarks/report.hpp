#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "measurements.hpp"
#include "rows.hpp"

namespace hindsight::benchmarks {

/// What everything was measured on.
struct Setting {
  std::string processor, instructions, compiler, commit, date, images;
};
Setting describe_setting(const std::string& images);

/// One row of the table, worked out.
struct Line {
  std::string id, text;
  Quartiles value;
  Target target;
  /// "met", "not met" or "reported".
  std::string verdict() const;
};

/// The rows whose benchmarks ran.
std::vector<Line> work_out(const std::vector<Row>& rows, const Measurements& measurements);

std::string terminal_table(const std::vector<Line>& lines);
std::string json(const Setting& setting, const std::vector<Line>& lines, const Measurements& measurements);
std::string markdown(const Setting& setting, const std::vector<Line>& lines,
                     const Measurements& measurements);

/// Puts the text between the markers <!-- section:begin --> and <!-- section:end --> of a document. Throws if
/// it has none.
void fill_document(const std::filesystem::path& document, const std::string& section,
                   const std::string& text);

}  // namespace hindsight::benchmarks
