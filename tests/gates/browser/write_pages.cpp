// write_pages <folder>: the pages that page_test.mjs opens in a browser.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <hindsight/hindsight.hpp>

#include "support/picture_graphs.hpp"
#include "tool/page.hpp"

int main(int, char** argv) try {
  using namespace hindsight;
  using namespace hindsight::testing;
  const std::filesystem::path folder = argv[1];
  const auto write = [&](const std::string& name, const Graph& graph) {
    tool::write_page(graph, validate(graph), folder / (name + ".html"));
  };
  write("five", five_nodes());
  write("sixty", sixty_nodes());
  write("neurons", single_neurons(200, 20));
  write("many", single_neurons(5000, 50));
  write("hostile", hostile_names());
  write("empty", Graph{});
  return 0;
} catch (const std::exception& problem) {
  fmt::print(stderr, "{}\n", problem.what());
  return 1;
}
