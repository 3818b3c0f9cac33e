#pragma once

#include <new>
#include <stdexcept>
#include <string>

namespace hindsight::tool {

/// Refuses with "too-large", by computing and not by trying, what cannot fit into this machine's memory or
/// into what this process may take of it.
void require_memory(double bytes, const std::string& what, const std::string& help);

/// The same for what nobody computed beforehand.
[[noreturn]] void refuse_lack_of_memory();

/// What the action returns; memory that it does not get is refused.
template <class Action>
auto within_memory(const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    refuse_lack_of_memory();
  } catch (const std::length_error&) {
    refuse_lack_of_memory();
  }
}

}  // namespace hindsight::tool
