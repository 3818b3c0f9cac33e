#include "tool/tensor_file.hpp"

#include <limits>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hindsight/core/report.hpp>

#include "support/refusal.hpp"
#include "support/share.hpp"

using namespace hindsight;
using namespace hindsight::tool;
using hindsight::testing::refusal_message;
using hindsight::testing::share;

namespace {

using TensorShape = TensorFile::Shape;

const std::string start = R"({"__metadata__":{"crc32":"00000000"})";

/// The layout written by hand, with a header of one's own choice.
std::string laid_out(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  return bytes + header + data;
}

/// The checksum bit by bit, as its definition has it.
std::string crc32_of(const std::string& bytes) {
  std::uint32_t sum = ~0U;
  for (const char c : bytes) {
    sum ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) sum = (sum >> 1U) ^ (sum & 1U ? 0xEDB88320U : 0U);
  }
  return fmt::format("{:08x}", ~sum);
}

std::string refusal_of(const std::string& bytes) {
  return refusal_message([&] { TensorFile::from_bytes(bytes, "w.safetensors"); }, "tensor-file");
}

TensorFile small_file() {
  TensorFile file;
  file.metadata["step"] = "7";
  file.add("a", {2}, std::vector<float>{1, -2});
  file.add("b", {1, 1}, std::vector<std::uint64_t>{3});
  return file;
}

template <class T>
std::vector<T> extremes() {
  using Limits = std::numeric_limits<T>;
  return {T(0), T(1), Limits::lowest(), Limits::max(), Limits::denorm_min(), -Limits::infinity()};
}

}  // namespace

TEST_CASE("a tensor file keeps every type to the bit, with names, shapes and texts") {
  TensorFile file;
  file.metadata = {{"", "empty key"}, {"quotes \" \\ \n", std::string("zero\0byte", 9)}, {"größe", "→"}};
  file.add("z last in the alphabet", {2, 3}, extremes<float>());
  file.add("crc32", {3, 1, 2}, extremes<double>());
  file.add("\"crc32\":\"", {6}, extremes<std::uint32_t>());
  file.add("", {1, 6}, extremes<std::uint64_t>());
  const TensorFile read = TensorFile::from_bytes(file.to_bytes(), "w.safetensors");
  CHECK(read.metadata == file.metadata);
  CHECK(read.names() == std::vector<std::string>{"z last in the alphabet", "crc32", "\"crc32\":\"", ""});
  CHECK(read.shape("crc32") == TensorShape{3, 1, 2});
  CHECK(read.floats("z last in the alphabet") == extremes<float>());
  CHECK(read.doubles("crc32") == extremes<double>());
  CHECK(read.uint32s("\"crc32\":\"") == extremes<std::uint32_t>());
  CHECK(read.uint64s("") == extremes<std::uint64_t>());
  CHECK(read.to_bytes() == file.to_bytes());
}

TEST_CASE("a tensor file keeps empty tensors, scalars and nothing at all") {
  CHECK(TensorFile::from_bytes(TensorFile().to_bytes(), "w").names().empty());
  TensorFile file;
  file.add("none", {0}, std::span<const float>());
  file.add("scalar", {}, std::vector<double>{0.5});
  file.add("rows of none", {3, 0, 2}, std::span<const std::uint32_t>());
  file.add("none again", {0, 0}, std::span<const double>());
  const TensorFile read = TensorFile::from_bytes(file.to_bytes(), "w");
  CHECK(read.names() == std::vector<std::string>{"none", "scalar", "rows of none", "none again"});
  CHECK(read.shape("scalar").empty());
  CHECK(read.shape("rows of none") == TensorShape{3, 0, 2});
  CHECK(read.floats("none").empty());
  CHECK(read.doubles("scalar") == std::vector{0.5});
  CHECK(read.uint32s("rows of none").empty());
  CHECK(read.contains("none again"));
  CHECK_FALSE(read.contains("none such"));
}

// The checksum is Python's zlib.crc32 of the same bytes with zeros in its place.
TEST_CASE("a tensor file has the bytes of the safetensors layout") {
  using namespace std::string_literals;
  const std::string bytes = small_file().to_bytes();
  CHECK(bytes.substr(0, 8) == "\xA0\0\0\0\0\0\0\0"s);
  CHECK(bytes.substr(8, 160) == R"({"__metadata__":{"crc32":"bb9b58f8","step":"7"},)"
                                R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                R"("b":{"dtype":"U64","shape":[1,1],"data_offsets":[8,16]}}   )");
  CHECK(bytes.substr(168) == "\0\0\x80\x3F\0\0\0\xC0\3\0\0\0\0\0\0\0"s);
}

TEST_CASE("the data of a tensor file is aligned however long its header is") {
  for (std::size_t length = 0; length < 9; ++length) {
    TensorFile file;
    file.metadata["text"] = std::string(length, 'x');
    file.add("a", {}, std::vector<float>{1});
    CHECK((file.to_bytes().size() - sizeof(float)) % 8 == 0);
    CHECK(TensorFile::from_bytes(file.to_bytes(), "w").metadata == file.metadata);
  }
}

TEST_CASE("a tensor file refuses what its tensors cannot be and stays as it was") {
  TensorFile file = small_file();
  const std::vector<float> two{1, 2};
  const auto adding = [&](const std::string& name, const TensorShape& shape) {
    return refusal_message([&] { file.add(name, shape, two); }, "tensor-file");
  };
  constexpr std::size_t half = std::size_t{1} << 63U;
  for (const TensorShape& shape : {TensorShape{3}, TensorShape{}, TensorShape{0}, TensorShape{half, 2},
                                   TensorShape{half + 1, 2}, TensorShape{0, half, half}})
    CHECK(adding("c", shape) ==
          fmt::format("'tensors in memory': tensor 'c': expected as many numbers as shape "
                      "[{}] has, found 2",
                      fmt::join(shape, ",")));
  for (const char* name : {"a", "__metadata__"})
    CHECK(adding(name, {2}) ==
          fmt::format("'tensors in memory': expected a new name, found '{}', which is taken", name));
  CHECK(file.to_bytes() == small_file().to_bytes());
}

TEST_CASE("a tensor file refuses a tensor that it does not have, or has in another type") {
  const TensorFile file = TensorFile::from_bytes(small_file().to_bytes(), "w.safetensors");
  CHECK_THROWS_WITH_AS(file.doubles("a"),
                       "error[tensor-file]: 'w.safetensors': tensor 'a': expected F64, found F32\n"
                       "  help: file.floats(name) reads F32; doubles F64; uint32s U32; uint64s U64",
                       Error);
  CHECK_THROWS_AS(file.uint32s("b"), Error);
  const std::string missing = "'w.safetensors': expected a tensor 'c', found none among 2";
  CHECK(refusal_message([&] { file.floats("c"); }, "tensor-file") == missing);
  CHECK(refusal_message([&] { static_cast<void>(file.shape("c")); }, "tensor-file") == missing);
}

TEST_CASE("a tensor file refuses to write texts that its header cannot hold") {
  const auto writing = [](const std::string& key, const std::string& text) {
    TensorFile file;
    file.metadata[key] = text;
    return refusal_message([&] { static_cast<void>(file.to_bytes()); }, "tensor-file");
  };
  const std::string file = "'tensors in memory': ";
  CHECK(writing("crc32", "") == file + "its metadata has the key 'crc32', which belongs to the checksum");
  CHECK(writing("key", "\xff\xfe") == file + "expected UTF-8, found a text of 2 bytes that is not");
  CHECK(writing("\xc3", "") == file + "expected UTF-8, found a text of 1 bytes that is not");
  CHECK(writing("key", std::string(1U << 24U, 'x')) ==
        file + "expected at most 16777216 bytes of names and texts, found 16777264");
}

TEST_CASE("a tensor file that is cut short, prolonged or changed in one bit is refused") {
  const std::string bytes = small_file().to_bytes();
  REQUIRE(refusal_of(bytes).empty());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(refusal_of(bytes.substr(0, size)).empty());
  CHECK_FALSE(refusal_of(bytes + '\0').empty());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    CHECK_FALSE(refusal_of(flipped).empty());
  }
}

TEST_CASE("a tensor file says what is wrong with its header") {
  const auto says = [](const std::string& header, const std::string& message) {
    CHECK(refusal_of(laid_out(header, "")) == "'w.safetensors': " + message);
  };
  CHECK(refusal_of("1234567") == "'w.safetensors': expected at least 8 bytes, found 7");
  CHECK(refusal_of("\xff\xff\xff\xff\xff\xff\xff\xff{}") ==
        "'w.safetensors': expected a header of 18446744073709551615 bytes, found 2");
  says(std::string((1U << 24U) + 8, ' '), "expected a header of at most 16777216 bytes, found 16777224");
  says("", "its header is not JSON: byte 1 has no place there");
  says("{\"\xff\":1}", "its header is not JSON: byte 3 has no place there");
  says("{\"a\":{\"shape\":[NaN]}}", "its header is not JSON: byte 16 has no place there");
  says("{\"a\":{\"shape\":[1e999]}}", "its header is not JSON: a number is out of range");
  says(start + std::string("}\0{", 3), "its header is not JSON: it has a zero byte");
  says("7", "expected its header to be an object in JSON, found another value");
  says("{\"a\":7}", "expected 'a' to be an object in JSON, found another value");
  says("{\"\\u001b[2J\":[]}", "expected '?[2J' to be an object in JSON, found another value");
  says(start + R"(,"a":{},"\u0061":{}})", "its header has 'a' twice in one place");
  says(start + R"(,"__metadata__":{}})", "its header has '__metadata__' twice in one place");
  says(R"({"__metadata__":{"crc32":"00000000","crc32":""}})", "its header has 'crc32' twice in one place");
  says(R"({"__metadata__":{"crc32":"00000000","k":7}})",
       "expected metadata 'k' to be a text, found another value");
  says(start + "}", "expected the crc32 " + crc32_of(laid_out(start + "}", "")) + ", found '00000000'");
  const std::string long_name(59, 'n');
  says("{\"" + long_name + "→\":7}",
       "expected '" + long_name + "…' to be an object in JSON, found another value");
}

TEST_CASE("a tensor file says what is wrong with a tensor") {
  const auto with = [](const std::string& fields) {
    return refusal_of(laid_out(start + ",\"a\":{" + fields + "}}", "01234567"));
  };
  const auto says = [&](const std::string& fields, const std::string& message) {
    CHECK(with(fields) == "'w.safetensors': tensor 'a': " + message);
  };
  const auto f32 = [](const std::string& shape, const std::string& offsets) {
    return fmt::format(R"("dtype":"F32","shape":{},"data_offsets":{})", shape, offsets);
  };
  CHECK(with(R"("shape":[],"shape":[])") == "'w.safetensors': its header has 'shape' twice in one place");
  says(R"("dtype":"F32","shape":[2])", "expected the field data_offsets, found none");
  says(f32("[2]", "[0,8]") + R"(,"x":0)", "expected 3 fields, found 4");
  says(R"("dtype":4,"shape":[],"data_offsets":[])", "expected dtype to be a text, found another value");
  says(R"("dtype":"F16","shape":[4],"data_offsets":[0,8])",
       "expected the dtype F32, F64, U32 or U64, found 'F16'");
  for (const char* shape : {"2", "null", "[-2]", "[2.0]", "[true]", "[-0]", "[18446744073709551616]"})
    says(f32(shape, "[0,8]"), "expected shape to be an array of numbers from 0 to 2^64 - 1, found others");
  for (const char* offsets : {"8", "[]", "[8]", "[0,8,8]", "[-8,0]", "[0,8.0]", "[0,1e1]"})
    says(f32("[2]", offsets),
         "expected data_offsets to be an array of two numbers from 0 to 2^64 - 1, found others");
  says(f32("[2]", "[8,0]"), "its data_offsets begin at 8, after they end at 0");
  says(f32("[1]", "[18446744073709551612,0]"),
       "its data_offsets begin at 18446744073709551612, after they end at 0");
  says(f32("[3]", "[0,8]"), "expected 12 bytes for shape [3] of F32, found 8 by data_offsets");
  for (const char* shape : {"[4611686018427387904]", "[4294967296,4294967298]", "[0,4294967296,4294967296]"})
    says(f32(shape, "[0,0]"), fmt::format("shape {} is too large for any memory", shape));
  says(f32("[2]", "[4,12]"), "expected its data to begin at 0, found 4: a gap");
  says(f32("[4]", "[0,16]"), "expected data up to byte 16, found 8 bytes");
  CHECK(with(f32("[1]", "[0,4]")) == "'w.safetensors': expected 4 bytes of data, found 8: bytes trail");
  const std::string then_b = f32("[1]", "[0,4]") + R"(},"b":{"dtype":"U32","shape":[1],"data_offsets":)";
  const std::string refused_b = "'w.safetensors': tensor 'b': expected its data to begin at 4, found ";
  CHECK(with(then_b + "[0,4]") == refused_b + "0: an overlap");
  CHECK(with(then_b + "[5,9]") == refused_b + "5: a gap");
}

TEST_CASE("a tensor file written by other programs is refused as such") {
  for (const char* header :
       {R"({"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}})", R"({"__metadata__":{}})",
        R"({"__metadata__":{"format":"pt","crc32":"00000000"}})", R"( {"__metadata__":{"crc32":"00000000"}})",
        R"({"__metadata__":{"crc32":""}})", "{}"})
    CHECK(refusal_of(laid_out(header, "01234567")) ==
          "'w.safetensors': not written by hindsight: expected a crc32 first in its header, found none");
}

TEST_CASE("a tensor file nested 100,000 deep is refused") {
  for (const char* before :
       {"", R"({"a":)", R"({"a":{"shape":)", R"({"a":{"shape":[)", R"({"__metadata__":{"a":)"})
    for (const char* level : {"[", R"({"a":)", R"([{"a":)"}) {
      std::string header = before;
      for (int depth = 0; depth < 100'000; ++depth) header += level;
      const std::string message = refusal_of(laid_out(header, ""));
      CHECK_MESSAGE(
          (message.ends_with("too deeply in its header") || message.ends_with("found another value")),
          message);
    }
}

// Time that grows with the square of the number would be noticed.
TEST_CASE("a tensor file of a hundred thousand tensors is written and read") {
  TensorFile file;
  constexpr std::uint32_t count = share(100'000U);
  for (std::uint32_t i = 0; i < count; ++i) file.add(fmt::format("{}", i), {}, std::vector<std::uint32_t>{i});
  const TensorFile read = TensorFile::from_bytes(file.to_bytes(), "w");
  CHECK(read.names() == file.names());
  CHECK(read.uint32s(fmt::format("{}", count - 1)) == std::vector{count - 1});
}

// The right checksum lets damage through to the checks behind it.
TEST_CASE("a tensor file damaged at random is refused or read whole, even under the right checksum") {
  std::mt19937 rng(1);
  const std::string whole = small_file().to_bytes();
  const std::string alphabet = R"(0189-.e"\{}[],: aF)";
  const std::size_t digits = 8 + start.find("00000000");
  int accepted = 0;
  for (int round = 0; round < share(20'000); ++round) {
    std::string bytes = whole;
    for (unsigned change = rng() % 3; change < 3; ++change)
      bytes[rng() % bytes.size()] = alphabet[rng() % alphabet.size()];
    bytes.replace(digits, 8, "00000000");
    bytes.replace(digits, 8, crc32_of(bytes));
    if (!refusal_of(bytes).empty()) continue;
    ++accepted;
    const TensorFile file = TensorFile::from_bytes(bytes, "w");
    CHECK(TensorFile::from_bytes(file.to_bytes(), "w").names() == file.names());
  }
  CHECK(accepted > 0);
}
