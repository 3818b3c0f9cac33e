#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hindsight/core/report.hpp>

#include "tool/console.hpp"
#include "tool/file_names.hpp"
#include "tool/plain_text.hpp"

namespace hindsight::tool {
namespace {

/// Options and arguments; not flags, which have no text.
void refuse_empty_texts(const CLI::App& command) {
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    for (const std::string& text : option->results())
      if (text.empty())
        refuse({.code = "option",
                .message = fmt::format("{} is given, but empty", option->get_name()),
                .help = {fmt::format("leave it out, or see: hindsight {} --help", command.get_name())}});
  }
}

}  // namespace

CLI::Validator in(int least, int most) { return CLI::Range(least, most).description(""); }

CLI::Validator whole() {
  // CLI11 takes -1 and numbers beyond 64 bits for others.
  const auto problem = [](const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (text.empty() || (read.ec == std::errc() && read.ptr == end)) return std::string();
    return fmt::format("expected a whole number from 0 to 18446744073709551615, found {}", shortened(text));
  };
  return {problem, ""};
}

CLI::Validator up_to(double most) {
  const auto problem = [most](const std::string& text) {
    double number = 0;
    if (CLI::detail::lexical_cast(text, number) && number >= 0 && number <= most) return std::string();
    return fmt::format("expected a number from 0 to {:g}, found {}", most, shortened(text));
  };
  return {problem, ""};
}

CLI::Validator name_of_file() {
  return {[](const std::string& text) { return problem_of_name(text); }, ""};
}

void refuse_beside(const CLI::Option* network, const CLI::Option* option, const char* instead) {
  if (network->count() == 0 || option->count() == 0) return;
  refuse({.code = "option",
          .message = fmt::format("{} means nothing beside {}", option->get_name(), network->get_name()),
          .help = {instead}});
}

std::optional<int> understand(CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string first = argc > 1 ? argv[1] : "";
  const bool known = std::find(names.begin(), names.end(), first) != names.end();
  if (argc > 1 && !first.starts_with('-') && !known)
    refuse({.code = "option",
            .message = fmt::format("there is no command '{}'", printable(shortened(first))),
            .help = {fmt::format("hindsight one of: {}", fmt::join(names, ", "))}});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() != 0)
      refuse({.code = "option",
              .message = printable(shortened(problem.what(), 500)),
              .help = {known ? fmt::format("hindsight {} --help", first) : "hindsight --help"}});
    std::ostringstream wanted;
    app.exit(problem, wanted, wanted);
    write_result(wanted.str());
    return 0;
  }
  for (const CLI::App* const command : app.get_subcommands()) refuse_empty_texts(*command);
  return std::nullopt;
}

}  // namespace hindsight::tool
