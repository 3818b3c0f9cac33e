#pragma once

namespace hindsight::testing {

// g++ and clang say it differently.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool under_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool under_sanitizer = true;
#else
inline constexpr bool under_sanitizer = false;
#endif
#else
inline constexpr bool under_sanitizer = false;
#endif

/// Of that many random cases, or of what is to be found in them, those to look at: all, but a quarter under a
/// sanitizer, which asks what code does and not what numbers it finds, and is slow.
template <class Integer>
constexpr Integer share(Integer cases) {
  return under_sanitizer ? (cases + 3) / 4 : cases;
}

}  // namespace hindsight::testing
