#include <hindsight/graph/graph_file.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <span>
#include <thread>

#include <fmt/format.h>

#include <hindsight/core/printable.hpp>
#include <hindsight/core/report.hpp>
#include <hindsight/graph/graph_draft.hpp>

namespace hindsight {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t largest_file = std::size_t{1} << 30;
constexpr std::size_t longest_path = 4096;

/// A name as a shell takes it for one word.
std::string in_shell(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+,").find(c) != std::string_view::npos;
  };
  if (!name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), is_plain)) return name;
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void check_encoding(std::string_view text, const std::string& name) {
  std::size_t line = 1;
  while (!text.empty()) {
    const internal::Character character = internal::first_character(text);
    if (!character.is_utf8 || character.code == 0)
      internal::GraphDraft(name).refuse_at(
          line, {.code = "file-encoding",
                 .message = fmt::format("the byte {:#04x} is no part of a text in UTF-8",
                                        static_cast<unsigned char>(text.front())),
                 .help = {fmt::format("iconv -f latin1 -t utf-8 {} > converted", in_shell(name))}});
    line += character.code == '\n' ? 1 : 0;
    text.remove_prefix(character.bytes);
  }
}

[[noreturn]] void refuse_file(const std::string& name, std::string message, std::string help) {
  refuse({.code = "file-unreadable",
          .message = std::move(message),
          .help = {std::move(help)},
          .place = shortened(name, longest_path)});
}

/// A file that is open, until it goes.
class OpenFile {
 public:
  /// Without waiting for somebody who writes into a pipe.
  OpenFile(const std::filesystem::path& path, const std::string& name)
      : name_(name), descriptor_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (descriptor_ < 0)
      refuse_file(name, fmt::format("it cannot be opened: {}", std::strerror(errno)),
                  "check its name and rights");
  }
  ~OpenFile() { close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// 0: the end. A pipe that nobody writes into has come to its end, but only after a while: its writer may
  /// just be starting.
  std::size_t read_portion(std::span<char> portion) {
    while (true) {
      const ssize_t count = read(descriptor_, portion.data(), portion.size());
      is_begun_ = is_begun_ || count > 0;
      if (count > 0 || (count == 0 && (is_begun_ || !is_pipe() || waits_ == most_waits)))
        return static_cast<std::size_t>(count);
      if (count == 0) {
        ++waits_;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      } else if (errno == EAGAIN || errno == EINTR) {
        pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
        poll(&wanted, 1, -1);
      } else {
        refuse_file(name_, fmt::format("it cannot be read: {}", std::strerror(errno)), "check its disk");
      }
    }
  }

 private:
  static constexpr int most_waits = 50;

  bool is_pipe() const {
    struct stat about {};
    return fstat(descriptor_, &about) == 0 && S_ISFIFO(about.st_mode);
  }

  const std::string& name_;
  int descriptor_;
  int waits_ = 0;
  bool is_begun_ = false;
};

/// Read to the end rather than by the size it claims to have: pipes and devices have none.
std::string read_text(const std::filesystem::path& path, const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    refuse_file(name, "this is a folder, not a file", "name a file in it");
  OpenFile file(path, name);
  std::string text;
  std::array<char, 1 << 16> portion;
  while (const std::size_t count = file.read_portion(portion)) {
    text.append(portion.data(), count);
    if (text.size() > largest_file)
      refuse({.code = "file-size",
              .message = fmt::format("it is larger than {} bytes", largest_file),
              .help = {"gather units into populations: h [kind=bernoulli units=64]"},
              .place = name});
  }
  return text;
}

internal::GraphDraft read_draft(std::string_view text, GraphFormat format, const std::string& name) {
  switch (format) {
    case GraphFormat::dot:
      return internal::read_dot(text, name);
    case GraphFormat::graphml:
      return internal::read_graphml(text, name);
    default:
      return internal::read_edge_list(text, name);
  }
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
  try {
    return internal::build_graph(read_draft(text, format, name), catalogue);
  } catch (const std::bad_alloc&) {
    refuse({.code = "too-large",
            .message = "the graph that it describes takes more memory than there is",
            .help = {"gather units into populations: h [kind=bernoulli units=64]"},
            .place = name});
  }
}

Graph read_graph(const std::filesystem::path& file, const Catalogue& catalogue) {
  const std::string name = file.string();
  const std::string text = read_text(file, name);
  return parse_graph(text, format_of(file, text), catalogue, name);
}

}  // namespace hindsight
