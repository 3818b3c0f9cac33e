// Prose has at most 120 columns, so that it can be read beside something else and a change shows as what it
// is.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_columns = 120;

/// Letters, not bytes: of UTF-8 all but what continues one.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Tables, headings, pictures and the targets of links cannot be broken, nor can a single long word.
bool is_prose(const std::string& line) {
  const auto first = line.find_first_not_of(' ');
  if (first == std::string::npos || line.find(' ', first) == std::string::npos) return false;
  const std::string text = line.substr(first);
  const auto bracket = text.find(']');
  const bool is_target =
      text.starts_with('[') && bracket != std::string::npos && text.compare(bracket, 3, "]: ") == 0;
  return !text.starts_with('|') && !text.starts_with('#') && !text.starts_with("![") && !is_target;
}

/// Prose that is too wide, by line; what lies between fences is none.
std::vector<std::string> too_wide(const fs::path& document) {
  std::ifstream file(document);
  REQUIRE_MESSAGE(file, document.string());
  std::vector<std::string> found;
  std::string line;
  bool in_fence = false;
  for (int number = 1; std::getline(file, line); ++number) {
    const auto first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, 3, "```") == 0)
      in_fence = !in_fence;
    else if (!in_fence && is_prose(line) && columns(line) > most_columns)
      found.push_back(fmt::format("{}: {} columns: {}", number, columns(line), line));
  }
  CHECK_FALSE(in_fence);
  return found;
}

}  // namespace

TEST_CASE("prose has at most 120 columns") {
  const fs::path top = HINDSIGHT_SOURCE_DIR;
  std::vector<fs::path> documents = {top / "README.md", top / "CHANGELOG.md", top / "examples/README.md"};
  for (const auto& file : fs::directory_iterator(top / "docs"))
    if (file.path().extension() == ".md") documents.push_back(file.path());
  CHECK(documents.size() > 12);
  for (const fs::path& document : documents) {
    const std::string name = fs::relative(document, top).string();
    CAPTURE(name);
    CHECK(fmt::format("{}", fmt::join(too_wide(document), "\n")) == "");
  }
}

TEST_CASE("what is too wide is found, and no table, heading, target or code is taken for prose") {
  const fs::path path = fs::temp_directory_path() / "hindsight-prose-test.md";
  const std::string wide(121, 'x'), words = "word " + std::string(116, 'x');
  std::ofstream(path) << words << "\n- " << words << "\n| " << words << "\n# " << words
                      << "\n[a link]: " << wide << "\n"
                      << wide << "\n```text\n"
                      << words << "\n```\n"
                      << "word " << std::string(115, 'x') << "\nwörd " << std::string(115, 'x') << "\n";
  const std::vector<std::string> found = too_wide(path);
  fs::remove(path);
  REQUIRE(found.size() == 2);
  CHECK(found[0].starts_with("1: 121 columns: word "));
  CHECK(found[1].starts_with("2: 123 columns: - word "));
}
