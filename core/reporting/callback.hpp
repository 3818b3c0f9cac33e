#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <hindsight/core/report.hpp>

namespace hindsight::internal {

/// A function that the user wrote and that the library is about to call.
struct Callback {
  std::string_view code;     ///< of the diagnostic if it throws
  const std::string* node;   ///< whose it is; none where no node is concerned
  std::string_view subject;  ///< "its log_probs"
};

[[noreturn]] void throw_failed(const Callback&, std::string_view what);
/// The user's own refusal, with the node's name where it names none.
[[noreturn]] void throw_refused(const Callback&, const Error&);

/// Calls it. Whatever it throws reaches the caller as Error with the node's name; running out of memory stays
/// what it is.
template <class Call>
decltype(auto) guarded_call(const Callback& callback, Call&& function) {
  try {
    return std::forward<Call>(function)();
  } catch (const Error& refusal) {
    throw_refused(callback, refusal);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& problem) {
    throw_failed(callback, problem.what());
  } catch (...) {
    throw_failed(callback, "something that is no std::exception");
  }
}

/// The same where a text of what is called would take longer to make than the call: it is made if need be.
template <class Subject, class Call>
auto guarded_call(std::string_view code, const std::string* node, const Subject& subject, Call&& function) {
  try {
    return std::forward<Call>(function)();
  } catch (...) {
    const std::string text = subject();
    return guarded_call({code, node, text}, []() -> decltype(function()) { throw; });
  }
}

}  // namespace hindsight::internal
