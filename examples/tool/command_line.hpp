#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace hindsight::tool {

/// A range that does not clutter the help.
CLI::Validator in(int least, int most);
/// From 0 to the largest number of 64 bits. CLI11 would take those beyond for some within.
CLI::Validator whole();
/// A number from 0; one that is none is in no range.
CLI::Validator up_to(double most);
/// A name that a file can have.
CLI::Validator name_of_file();

/// An option must not be passed over in silence because the network comes from elsewhere.
void refuse_beside(const CLI::Option* network, const CLI::Option* option, const char* instead);

/// An exit code where help or the version was all that was wanted. Whatever is wrong is refused by the code
/// "option", and so are texts that are empty: none of them means anything.
std::optional<int> understand(CLI::App& app, int argc, char** argv);

}  // namespace hindsight::tool
