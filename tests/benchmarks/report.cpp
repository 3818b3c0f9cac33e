#include "report.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "instructions.hpp"

namespace hindsight::benchmarks {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string count_text(double count) {
  if (count < 1e4) return fmt::format("{:.0f}", count);
  if (count < 1e6) return fmt::format("{:.1f} k", count / 1e3);
  if (count < 1e9) return fmt::format("{:.2f} M", count / 1e6);
  return fmt::format("{:.2f} G", count / 1e9);
}

/// Samples per second or, where every edge is worked for every sample, edges times samples.
std::string rate_text(const Measurement& measurement) {
  const double seconds = measurement.quartiles().median;
  const auto counter = [&](const char* name) {
    const auto found = measurement.counters.find(name);
    return found == measurement.counters.end() ? 0.0 : found->second;
  };
  const double edge_samples = std::max(counter("edge_samples"), counter("edges") * counter("samples"));
  if (edge_samples > 0) return count_text(edge_samples / seconds) + " edge-samples/s";
  if (counter("samples") > 0) return count_text(counter("samples") / seconds) + " samples/s";
  return "";
}

std::string spread_text(const Quartiles& value) {
  return value.low == value.high ? "" : fmt::format("{:.2f} … {:.2f}", value.low, value.high);
}

/// JSON allows any character in a string but these.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    if (static_cast<unsigned char>(character) >= ' ') out += character;
  }
  return out + '"';
}

/// Characters, not bytes: what the terminal shows.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

}  // namespace

Setting describe_setting(const std::string& images) {
  const std::time_t now = std::time(nullptr);
  return {.processor = processor_name(),
          .instructions = fmt::format("instructions: {}", name(widest_set())),
          .compiler = HINDSIGHT_COMPILER,
          .commit = HINDSIGHT_COMMIT,
          .date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(now)),
          .images = images};
}

std::string Line::verdict() const {
  if (!target.is_given()) return "reported";
  return target.met_by(value.median) ? "met" : "not met";
}

std::vector<Line> work_out(const std::vector<Row>& rows, const Measurements& measurements) {
  std::vector<Line> lines;
  for (const Row& row : rows)
    if (const std::optional<Quartiles> value = row.value(measurements))
      lines.push_back({row.id, row.text, *value, row.target});
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.id < b.id; });
  return lines;
}

std::string terminal_table(const std::vector<Line>& lines) {
  std::size_t width = 4;
  for (const Line& line : lines) width = std::max(width, width_of(line.text));
  std::string out = fmt::format("   {}    ratio  {}  {}  verdict\n", padded("row", width),
                                padded("quartiles", 17), padded("target", 9));
  for (const Line& line : lines)
    out += fmt::format("{}  {}  {:7.2f}  {}  {}  {}\n", line.id, padded(line.text, width), line.value.median,
                       padded(spread_text(line.value), 17), padded(line.target.text(), 9), line.verdict());
  return out;
}

std::string json(const Setting& setting, const std::vector<Line>& lines, const Measurements& measurements) {
  std::vector<std::string> rows, benchmarks;
  for (const Line& line : lines)
    rows.push_back(fmt::format(
        R"(    {{"id": {}, "row": {}, "ratio": {}, "low": {}, "high": {}, "target": {}, "verdict": {}}})",
        quoted(line.id), quoted(line.text), line.value.median, line.value.low, line.value.high,
        quoted(line.target.text()), quoted(line.verdict())));
  for (const auto& [name, measurement] : measurements)
    benchmarks.push_back(fmt::format(R"(    {}: {{"median_seconds": {}, "low": {}, "high": {}}})",
                                     quoted(name), measurement.quartiles().median,
                                     measurement.quartiles().low, measurement.quartiles().high));
  return fmt::format(
      "{{\n  \"processor\": {},\n  \"instructions\": {},\n  \"compiler\": {},\n  \"commit\": {},\n  "
      "\"date\": {},\n"
      "  \"images\": {},\n  \"rows\": [\n{}\n  ],\n  \"benchmarks\": {{\n{}\n  }}\n}}\n",
      quoted(setting.processor), quoted(setting.instructions), quoted(setting.compiler),
      quoted(setting.commit), quoted(setting.date), quoted(setting.images), fmt::join(rows, ",\n"),
      fmt::join(benchmarks, ",\n"));
}

std::string markdown(const Setting& setting, const std::vector<Line>& lines,
                     const Measurements& measurements) {
  std::string out = fmt::format("{}, {}; {}; {}; commit {}; {}.\n\n", setting.processor, setting.instructions,
                                setting.compiler, setting.images, setting.commit, setting.date);
  out += "| | row | ratio | quartiles | target | verdict |\n|---|---|--:|---|---|---|\n";
  for (const Line& line : lines)
    out += fmt::format("| {} | {} | {:.2f} | {} | {} | {} |\n", line.id, line.text, line.value.median,
                       spread_text(line.value), line.target.text(), line.verdict());
  out += "\n| benchmark | median of one step | rate |\n|---|--:|--:|\n";
  for (const auto& [name, measurement] : measurements)
    if (!measurement.counters.contains("bytes"))
      out += fmt::format("| {} | {} | {} |\n", name, time_text(measurement.quartiles().median),
                         rate_text(measurement));
  return out;
}

void fill_document(const std::filesystem::path& document, const std::string& section,
                   const std::string& text) {
  const std::string begin = fmt::format("<!-- {}:begin -->", section),
                    end = fmt::format("<!-- {}:end -->", section);
  std::ifstream in(document);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  const std::size_t from = all.find(begin), to = all.find(end);
  if (from == std::string::npos || to == std::string::npos || to < from)
    throw std::runtime_error(document.string() + " lacks the markers " + begin + " and " + end);
  std::ofstream(document) << all.substr(0, from) << begin << "\n\n" << text << "\n" << all.substr(to);
}

}  // namespace hindsight::benchmarks
