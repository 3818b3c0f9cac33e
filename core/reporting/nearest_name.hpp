#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hindsight::internal {

/// Of the known names the one that was probably meant: few letters differ. Empty: none is near. Ties go to
/// the first.
std::string nearest_name(std::string_view written, std::span<const std::string> known);

}  // namespace hindsight::internal
