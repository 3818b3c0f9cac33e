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

/// The message of the first diagnostic that the call is refused with, which has this code; nothing if it is
/// not refused.
template <class Call>
std::string refusal_message(const Call& call, const std::string& code) {
  try {
    call();
  } catch (const Error& error) {
    const Diagnostic& first = error.report().diagnostics.front();
    return first.code == code ? first.message : "refused as " + first.code;
  }
  return {};
}

inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace hindsight::testing
