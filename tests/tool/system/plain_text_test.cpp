#include "tool/plain_text.hpp"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using hindsight::printable;
using namespace hindsight::tool;

TEST_CASE("text without commands stays as it is") {
  for (const std::string text :
       {"", "plain", "ügröße 神経 🧠 × → …", "a\\x1b", "\xC2\xA0", "\xE2\x80\x8D"}) {
    CHECK(printable(text) == text);
    CHECK(printable_lines(text) == text);
    CHECK(printable_json(text) == text);
  }
}

TEST_CASE("control characters and overrides of the direction are written out") {
  CHECK(printable("a\x1b[2J\n\tb\x7F") == "a\\u001b[2J\\u000a\\u0009b\\u007f");
  CHECK(printable(std::string("a\0b", 3)) == "a\\u0000b");
  CHECK(printable("\xC2\x80\xC2\x9B\xC2\x9F") == "\\u0080\\u009b\\u009f");
  CHECK(printable("\xE2\x80\x8E\xE2\x80\x8F\xE2\x80\xAA\xE2\x80\xAE\xE2\x81\xA6\xE2\x81\xA9\xD8\x9C") ==
        "\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069\\u061c");
  CHECK(printable("\xE2\x80\xA8\xE2\x80\xA9") == "\\u2028\\u2029");
  CHECK(printable_lines("a\nb\rc\n") == "a\nb\\u000dc\n");
  CHECK(one_line("a\x1b\xC2\x9B\xE2\x80\xAE b") == "a\\u001b\\u009b\\u202e b");
}

TEST_CASE("bytes that are no UTF-8 are written out one by one") {
  CHECK(printable("\xFF") == "\\xff");
  CHECK(printable("\x9B"
                  "31m") == "\\x9b31m");         // the same command in Latin 1
  CHECK(printable("\xC0\x9B") == "\\xc0\\x9b");  // too long for what it means
  CHECK(printable("\xE0\x82\x9B") == "\\xe0\\x82\\x9b");
  CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(printable("a\xE2\x80") == "a\\xe2\\x80");  // cut short
  CHECK(printable("\xE2z") == "\\xe2z");
}

TEST_CASE("JSON means the same afterwards") {
  const std::string name = "a\x7F\xC2\x9B\xE2\x80\xAE\xE2\x81\xA6 ü";
  const std::string shown = printable_json(nlohmann::json(name).dump());
  CHECK(shown == "\"a\\u007f\\u009b\\u202e\\u2066 ü\"");
  CHECK(nlohmann::json::parse(shown) == name);
}
