#pragma once

#include <string>

#include <hindsight/core/report.hpp>

namespace hindsight::testing {

/// What the library says when it refuses the call.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace hindsight::testing
