// One libFuzzer target per reader of graph files (HINDSIGHT_FUZZ_FORMAT). Whatever the bytes are, the reader
// gives a graph or throws Error; a graph is validated, written and read again without a change.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include <hindsight/hindsight.hpp>

#include "structured_mutator.hpp"

using namespace hindsight;

namespace {

/// Wiring large populations at random takes seconds: true of the library, and of no interest here.
bool draws_for_long(const Graph& graph) { return graph.unit_count() > 10'000; }

void demand(bool truth, const char* what) {
  if (truth) return;
  fmt::print(stderr, "{}\n", what);
  std::abort();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most,
                                               unsigned seed) {
  return fuzz::mutate_graph_file(bytes, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Catalogue catalogue = standard_catalogue();
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const Graph graph = parse_graph(text, GraphFormat::HINDSIGHT_FUZZ_FORMAT, catalogue);
    if (draws_for_long(graph)) return 0;
    demand(!to_string(validate(graph, catalogue)).empty() || graph.node_count() == 0, "an empty report");
    const std::string written = to_dot(graph, catalogue);
    demand(to_dot(parse_graph(written, GraphFormat::dot, catalogue), catalogue) == written,
           "a graph changes when it is written and read");
  } catch (const Error& refusal) {
    demand(!refusal.report().diagnostics.empty() && !refusal.report().diagnostics.front().place.empty(),
           "a refusal without a line");
    for (const char c : std::string_view(refusal.what()))
      demand(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "a refusal that a terminal obeys");
  }
  return 0;
}
