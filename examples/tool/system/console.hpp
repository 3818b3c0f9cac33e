#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace hindsight::tool {

/// To be called before anything is opened or printed. A standard stream that is closed takes no place that a
/// file could get; a limit on the size of files and a reader that is gone become errors of the call that
/// writes.
void prepare_console();

/// A result, for standard output. What cannot be written is remembered until `finish_results`, so that
/// whatever else can be kept is.
void write_result(std::string_view text);

template <class... Parts>
void print_result(fmt::format_string<Parts...> text, Parts&&... parts) {
  write_result(fmt::format(text, std::forward<Parts>(parts)...));
}

/// Refused with "output-not-written" unless all results have arrived. Nothing may be printed after it.
void finish_results();

/// A remark, for standard error. Nobody has to listen.
void write_remark(std::string_view text);

template <class... Parts>
void print_remark(fmt::format_string<Parts...> text, Parts&&... parts) {
  write_remark(fmt::format(text, std::forward<Parts>(parts)...));
}

/// Whether a person reads the results as they come.
bool results_go_to_a_terminal();

}  // namespace hindsight::tool
