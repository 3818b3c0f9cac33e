// hindsight_bench: measures Hindsight beside its peers and says which targets are met. Everything runs
// interleaved in one process, and what counts are ratios of medians, so that a slow spell of the machine hits
// all sides alike.
//
//   --images=DATA         a folder with MNIST's IDX files; the digits in the program by default
//   --output=DIRECTORY    where benchmarks.json (every repetition) and bench.json (the table) go: here, or
//   there
//   --document=FILE       puts the table into this file, between its markers
//   --instructions=avx2   keeps all sides to AVX2 on a machine that has more
//   --benchmark_…         as Google Benchmark has them, e.g. --benchmark_filter=paper
//   --benchmark_repetitions=3
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "instructions.hpp"
#include "products.hpp"
#include "report.hpp"
#include "suites.hpp"
#include "torch_suite.hpp"

namespace hindsight::benchmarks {
namespace {

struct Options {
  std::string images = "sample";
  std::filesystem::path output = ".";
  std::optional<std::filesystem::path> document;
  std::string section = "bench";      ///< of that document
  std::optional<std::string> memory;  ///< kind:edges, what a child process is to measure
  std::vector<std::string> rest;      ///< for Google Benchmark
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto value = [&](std::string_view flag) -> std::optional<std::string> {
      if (!argument.starts_with(flag)) return std::nullopt;
      return std::string(argument.substr(flag.size()));
    };
    if (const auto images = value("--images="))
      options.images = *images;
    else if (const auto output = value("--output="))
      options.output = *output;
    else if (const auto document = value("--document="))
      options.document = *document;
    else if (argument == "--instructions=avx2") {
      restrict_to(InstructionSet::avx2);
      options.section = "bench-avx2";
    } else if (const auto memory = value("--memory="))
      options.memory = *memory;
    else
      options.rest.emplace_back(argument);
  }
  return options;
}

/// Later arguments win, so users can override what the program asks for.
void initialise_benchmark(const Options& options, char* program) {
  std::vector<std::string> arguments{"--benchmark_repetitions=21", "--benchmark_min_time=0.02",
                                     "--benchmark_enable_random_interleaving=true",
                                     "--benchmark_out_format=json",
                                     "--benchmark_out=" + (options.output / "benchmarks.json").string()};
  arguments.insert(arguments.end(), options.rest.begin(), options.rest.end());
  std::vector<char*> pointers{program};  // is kept by Google Benchmark, unlike the others
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (benchmark::ReportUnrecognizedArguments(count, pointers.data())) std::exit(2);
}

/// Peers choose their kernels by the processors they knew when they were packaged, OpenBLAS while it is
/// loaded: hence the new start. Users may choose otherwise by the same variables.
void choose_kernels_of_peers(char** argv) {
  constexpr int keep = 0;
  setenv("ATEN_CPU_CAPABILITY", may_use_avx512() ? "avx512" : "avx2", keep);
  const bool restricted = widest_set() != available_instruction_sets().back();
  if ((openblas_is_outdated() || restricted) && std::getenv("OPENBLAS_CORETYPE") == nullptr) {
    setenv("OPENBLAS_CORETYPE", may_use_avx512() ? "SkylakeX" : "Haswell", keep);
    execv("/proc/self/exe", argv);
    throw std::runtime_error("cannot start again");
  }
  use_one_blas_thread();
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.memory) {
    const std::size_t colon = options.memory->find(':');
    const std::string kind = options.memory->substr(0, colon);
    const std::size_t edges = std::stoul(options.memory->substr(colon + 1));
    fmt::print("{}\n", kind == "validation"           ? measure_validation_memory(edges)
                       : kind.starts_with("neurons_") ? measure_neurons_memory(kind, edges)
                                                      : measure_memory(kind, edges));
    return 0;
  }
  choose_kernels_of_peers(argv);
  initialise_benchmark(options, argv[0]);

  // libtorch takes and gives back large temporaries in every step. Left to itself the C library hands them
  // back to the system, and much of the time would go into fresh pages.
  constexpr int largest_allowed = 32 << 20;
  mallopt(M_MMAP_THRESHOLD, largest_allowed);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);

  const tool::Dataset learned = tool::load_dataset(options.images);
  const Data data{.mnist = first_images(learned, 4096), .dense = dense_images(4096, 784)};
  check_torch(data.mnist);
  std::vector<Row> rows;
  for (const std::vector<Row>& suite : {paper_networks(data), large_network(data), message_kernel(),
                                        sparse_graphs(), growth(data), pipeline(learned), validation()})
    rows.insert(rows.end(), suite.begin(), suite.end());

  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();  // what they work on must not outlive the images
  const Setting setting = describe_setting(data.mnist.source);
  const std::vector<Line> lines = work_out(rows, collector.measurements());
  std::ofstream(options.output / "bench.json") << json(setting, lines, collector.measurements());
  if (options.document)
    fill_document(*options.document, options.section, markdown(setting, lines, collector.measurements()));
  fmt::print("\n{}, {}; {}\n{}", setting.processor, setting.instructions, setting.images,
             terminal_table(lines));
  return 0;
}

}  // namespace
}  // namespace hindsight::benchmarks

int main(int argc, char** argv) {
  try {
    return hindsight::benchmarks::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
