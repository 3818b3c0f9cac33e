#include <hindsight/graph/graph_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include <hindsight/graph/graph_draft.hpp>

namespace hindsight {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t largest_file = std::size_t{1} << 30;

/// The length of the UTF-8 sequence at the beginning of the text; 0: there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : (first & 0xF0U) == 0xE0       ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  const bool too_long = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool no_character = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return too_long || no_character || first == 0 ? 0 : length;
}

void check_encoding(std::string_view text, const std::string& name) {
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text.substr(at, 4));
    if (length == 0)
      GraphDraft(name).refuse_at(line,
                                 {.code = "file-encoding",
                                  .message = fmt::format("the byte {:#04x} is no part of a text in UTF-8",
                                                         static_cast<unsigned char>(text[at])),
                                  .help = {fmt::format("iconv -f latin1 -t utf-8 {} > converted", name)}});
    line += text[at] == '\n' ? 1 : 0;
    at += length;
  }
}

[[noreturn]] void refuse_file(const std::string& name, std::string message, std::string help) {
  refuse(
      {.code = "file-unreadable", .message = std::move(message), .help = {std::move(help)}, .place = name});
}

/// Read to the end rather than by the size it claims to have: pipes and devices have none.
std::string read_text(const std::filesystem::path& path, const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    refuse_file(name, "this is a folder, not a file", "name a file in it");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file)
    refuse_file(name, fmt::format("it cannot be opened: {}", std::strerror(errno)),
                "check its name and rights");
  std::string text;
  std::array<char, 1 << 16> portion;
  while (const std::size_t count = std::fread(portion.data(), 1, portion.size(), file.get())) {
    text.append(portion.data(), count);
    if (text.size() > largest_file)
      refuse({.code = "file-size",
              .message = fmt::format("it is larger than {} bytes", largest_file),
              .help = {"gather units into populations: h [kind=bernoulli units=64]"},
              .place = name});
  }
  if (std::ferror(file.get()))
    refuse_file(name, fmt::format("it cannot be read: {}", std::strerror(errno)), "check its disk");
  return text;
}

}  // namespace

GraphFormat format_of(const std::filesystem::path& file, std::string_view text) {
  const std::string ending = file.extension().string();
  const auto is_one_of = [&](std::initializer_list<const char*> endings) {
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  if (is_one_of({".dot", ".gv"})) return GraphFormat::dot;
  if (is_one_of({".graphml", ".xml"})) return GraphFormat::graphml;
  if (is_one_of({".edges", ".edgelist", ".txt", ".csv", ".tsv"})) return GraphFormat::edge_list;
  text.remove_prefix(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.starts_with('<')) return GraphFormat::graphml;
  for (const char* const word : {"digraph", "strict", "graph", "//", "/*"})
    if (text.starts_with(word)) return GraphFormat::dot;
  return GraphFormat::edge_list;
}

Graph parse_graph(std::string_view text, GraphFormat format, const Catalogue& catalogue,
                  const std::string& name) {
  text.remove_prefix(text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  check_encoding(text, name);
  switch (format) {
    case GraphFormat::dot:
      return build_graph(read_dot(text, name), catalogue);
    case GraphFormat::graphml:
      return build_graph(read_graphml(text, name), catalogue);
    default:
      return build_graph(read_edge_list(text, name), catalogue);
  }
}

Graph read_graph(const std::filesystem::path& file, const Catalogue& catalogue) {
  const std::string name = file.string();
  const std::string text = read_text(file, name);
  return parse_graph(text, format_of(file, text), catalogue, name);
}

}  // namespace hindsight
