#pragma once

#include <string>
#include <string_view>

namespace hindsight::internal {

/// A name or value as DOT writes it: bare where that is the same, in quotes otherwise. Between those what
/// terminals would obey is escaped, which our reader of DOT undoes.
std::string dot_id(std::string_view text);

}  // namespace hindsight::internal
