// What a page shows as an example is that example.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
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
