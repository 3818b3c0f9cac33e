// What a page shows as an example is that example.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the page on Boost.Graph shows all of its example, which has less than 40 lines") {
  const std::filesystem::path top = HINDSIGHT_SOURCE_DIR;
  const std::string example = text_of(top / "examples/08_boost_network.cpp");
  CHECK(text_of(top / "docs/boost.md").find("```cpp\n" + example + "```\n") != std::string::npos);
  CHECK(std::count(example.begin(), example.end(), '\n') < 40);
}

TEST_CASE("the way of one sample through the code is at most 25 files, all of which are there") {
  const std::filesystem::path top = HINDSIGHT_SOURCE_DIR;
  const std::string page = text_of(top / "docs/architecture.md");
  const std::size_t first = page.find("### One sample, from `forward` to the gradient");
  REQUIRE(first != std::string::npos);
  const std::string section = page.substr(first, page.find("`graph/run/blame.cpp`", first) - first);

  // A name without a folder lies in the folder of the one before.
  const std::regex name("`((?:[a-z_]+/)*)([a-z_-]+\\.[ch]pp)`");
  std::filesystem::path folder;
  std::set<std::filesystem::path> files;
  for (std::sregex_iterator found(section.begin(), section.end(), name), end; found != end; ++found) {
    if ((*found)[1].length() > 0) folder = (*found)[1].str();
    const std::filesystem::path file = folder / (*found)[2].str();
    CHECK_MESSAGE(std::filesystem::exists(top / file), file.string());
    CHECK_MESSAGE(files.insert(file).second, file.string(), " is listed twice");
  }
  CHECK(files.size() > 20);
  CHECK(files.size() <= 25);
}
