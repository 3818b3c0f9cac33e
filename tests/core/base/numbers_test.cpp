#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <hindsight/core/numbers.hpp>

using namespace hindsight;

TEST_CASE("a text is a number as a whole or not at all") {
  CHECK(internal::parse_number<int>("-12") == -12);
  CHECK(internal::parse_number<double>("2.5e-1") == 0.25);
  for (const char* text : {"", " ", "12 ", " 12", "12x", "+12", "1.5", "0x1f", "-", "twelve"}) {
    CAPTURE(text);
    CHECK_FALSE(internal::parse_number<int>(text));
  }
  for (const char* text : {"", "1.5.", "1,5", "+1.5", "1e", "."}) {
    CAPTURE(text);
    CHECK_FALSE(internal::parse_number<double>(text));
  }
}

TEST_CASE("a number that its type cannot hold is none") {
  CHECK(internal::parse_number<int>("2147483647") == std::numeric_limits<int>::max());
  CHECK_FALSE(internal::parse_number<int>("2147483648"));
  CHECK(internal::parse_number<std::uint64_t>("18446744073709551615") ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK_FALSE(internal::parse_number<std::uint64_t>("18446744073709551616"));
  CHECK_FALSE(internal::parse_number<std::uint64_t>("-1"));
  CHECK_FALSE(internal::parse_number<double>("1e999"));
}
