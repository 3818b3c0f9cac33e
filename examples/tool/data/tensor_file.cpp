#include "tool/tensor_file.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <hindsight/core/report.hpp>

namespace hindsight::tool {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they lie in memory");

using Json = nlohmann::json;
using Shape = TensorFile::Shape;

constexpr std::size_t length_size = sizeof(std::uint64_t);
constexpr std::size_t header_limit = std::size_t{16} << 20U;
/// Every header starts with it, so that the place of the checksum does not depend on what follows.
constexpr std::string_view header_start = R"({"__metadata__":{"crc32":")";
constexpr std::size_t checksum_place = length_size + header_start.size();
constexpr std::string_view no_checksum = "00000000";

[[noreturn]] void refuse_tensors(const std::string& file, const std::string& found, const std::string& help) {
  refuse({.code = "tensor-file", .message = fmt::format("'{}': {}", file, found), .help = {help}});
}

[[noreturn]] void refuse_content(const std::string& file, const std::string& found) {
  refuse_tensors(file, found, "the file is damaged, or of another kind: restore a copy, or write it again");
}

/// A text fit to be shown: one from a file can be endless, or steer the terminal.
std::string in_quotes(std::string_view text) {
  std::size_t shown = std::min<std::size_t>(text.size(), 60);
  const auto inside_character = [&] { return (static_cast<unsigned char>(text[shown]) & 0xC0U) == 0x80U; };
  while (shown > 0 && shown < text.size() && inside_character()) --shown;
  std::string printable(text.substr(0, shown));
  for (char& c : printable)
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) c = '?';
  return fmt::format("'{}{}'", printable, shown < text.size() ? "…" : "");
}

std::string in_brackets(const Shape& shape) {
  constexpr std::size_t shown = 8;
  if (shape.size() <= shown) return fmt::format("[{}]", fmt::join(shape, ","));
  return fmt::format("[{},…]", fmt::join(shape.begin(), shape.begin() + shown, ","));
}

/// Zero if there is no such type.
std::size_t element_size(std::string_view type) {
  if (type == "F32" || type == "U32") return 4;
  return type == "F64" || type == "U64" ? 8 : 0;
}

/// Nothing if the number does not fit, even where a zero follows: others may multiply in another order.
std::optional<std::size_t> byte_count(const Shape& shape, std::size_t size) {
  bool empty = false;
  for (const std::size_t length : shape) {
    empty = empty || length == 0;
    if (length == 0) continue;
    if (size > std::numeric_limits<std::size_t>::max() / length) return std::nullopt;
    size *= length;
  }
  return empty ? 0 : size;
}

/// Of the whole file, as if the digits of the checksum were zeros.
std::string checksum(std::string_view bytes) {
  const auto extended = [](uLong sum, std::string_view part) {
    return crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
  };
  const uLong start = extended(crc32_z(0, nullptr, 0), bytes.substr(0, checksum_place));
  const std::string_view rest = bytes.substr(checksum_place + no_checksum.size());
  return fmt::format("{:08x}", extended(extended(start, no_checksum), rest));
}

std::string json_text(const std::string& file, const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    refuse_tensors(file, fmt::format("expected UTF-8, found a text of {} bytes that is not", text.size()),
                   "file.add(\"weights\", {rows, columns}, values);   // a name in UTF-8");
  }
}

/// The header's objects in their order. What has no place in a header is refused before it takes memory, and
/// so are repeated names, of which the parser would silently keep the last.
std::vector<std::pair<std::string, Json>> parse_header(const std::string& file, std::string_view header) {
  using Event = Json::parse_event_t;
  std::vector<std::pair<std::string, Json>> entries;
  std::set<std::string> names;
  std::set<std::string> fields;
  const auto visit = [&](int depth, Event event, Json& value) {
    if (event == Event::key) {
      const auto& name = value.get_ref<const std::string&>();
      if (!(depth == 1 ? names : fields).insert(name).second)
        refuse_content(file, fmt::format("its header has {} twice in one place", in_quotes(name)));
      if (depth == 1) entries.emplace_back(name, nullptr);
    }
    if (depth < 2 && (event == Event::value || event == Event::array_start))
      refuse_content(file, fmt::format("expected {} to be an object in JSON, found another value",
                                       depth == 0 ? "its header" : in_quotes(entries.back().first)));
    if ((depth >= 2 && event == Event::object_start) || (depth > 2 && event == Event::array_start))
      refuse_content(file, in_quotes(entries.back().first) + " is nested too deeply in its header");
    if (event == Event::object_start) fields.clear();
    if (event != Event::object_end || depth != 1) return true;
    // Kept by the parser, all entries so far would be searched at the end of each.
    entries.back().second = std::move(value);
    return false;
  };
  // The parser would take a zero byte for the end.
  if (header.find('\0') != std::string_view::npos)
    refuse_content(file, "its header is not JSON: it has a zero byte");
  try {
    [[maybe_unused]] const Json emptied = Json::parse(header, visit);
  } catch (const Json::parse_error& error) {
    refuse_content(file, fmt::format("its header is not JSON: byte {} has no place there", error.byte));
  } catch (const Json::exception&) {
    refuse_content(file, "its header is not JSON: a number is out of range");
  }
  return entries;
}

/// Nothing if it is not an array of whole numbers.
std::optional<Shape> whole_numbers(const Json& list) {
  if (!list.is_array()) return std::nullopt;
  Shape numbers;
  for (const Json& number : list) {
    if (!number.is_number_unsigned()) return std::nullopt;
    numbers.push_back(number.get<std::size_t>());
  }
  return numbers;
}

/// One tensor as the header describes it: its data are the bytes from `begin` to before `end`.
struct Description {
  std::string type;
  Shape shape;
  std::size_t begin;
  std::size_t end;
};

Description described(const std::string& file, const std::string& name, const Json& fields) {
  const auto require = [&](bool valid, const std::string& found) {
    if (!valid) refuse_content(file, fmt::format("tensor {}: {}", in_quotes(name), found));
  };
  for (const char* field : {"dtype", "shape", "data_offsets"})
    require(fields.contains(field), fmt::format("expected the field {}, found none", field));
  require(fields.size() == 3, fmt::format("expected 3 fields, found {}", fields.size()));
  require(fields["dtype"].is_string(), "expected dtype to be a text, found another value");
  const auto& type = fields["dtype"].get_ref<const std::string&>();
  require(element_size(type) != 0, "expected the dtype F32, F64, U32 or U64, found " + in_quotes(type));
  const std::optional<Shape> shape = whole_numbers(fields["shape"]);
  require(shape.has_value(), "expected shape to be an array of numbers from 0 to 2^64 - 1, found others");
  const std::optional<Shape> offsets = whole_numbers(fields["data_offsets"]);
  require(offsets && offsets->size() == 2,
          "expected data_offsets to be an array of two numbers from 0 to 2^64 - 1, found others");
  const std::size_t begin = offsets->front();
  const std::size_t end = offsets->back();
  require(begin <= end, fmt::format("its data_offsets begin at {}, after they end at {}", begin, end));
  const std::optional<std::size_t> size = byte_count(*shape, element_size(type));
  require(size.has_value(), fmt::format("shape {} is too large for any memory", in_brackets(*shape)));
  require(end - begin == *size, fmt::format("expected {} bytes for shape {} of {}, found {} by data_offsets",
                                            *size, in_brackets(*shape), type, end - begin));
  return {.type = type, .shape = *shape, .begin = begin, .end = end};
}

}  // namespace

void TensorFile::insert(const std::string& name, std::string_view type, const Shape& shape,
                        std::span<const std::byte> bytes) {
  if (name == "__metadata__" || contains(name))
    refuse_tensors(shown_name_, fmt::format("expected a new name, found {}, which is taken", in_quotes(name)),
                   "give each tensor a name of its own");
  const std::size_t size = element_size(type);
  if (byte_count(shape, size) != bytes.size())
    refuse_tensors(shown_name_,
                   fmt::format("tensor {}: expected as many numbers as shape {} has, found {}",
                               in_quotes(name), in_brackets(shape), bytes.size() / size),
                   "file.add(\"weights\", {rows, columns}, values);   // rows * columns values");
  std::string copy(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  tensors_.push_back({.name = name, .type = std::string(type), .shape = shape, .bytes = std::move(copy)});
  places_.emplace(name, tensors_.size() - 1);
}

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors_) names.push_back(tensor.name);
  return names;
}

const TensorFile::Tensor& TensorFile::find(const std::string& name) const {
  const auto place = places_.find(name);
  if (place == places_.end())
    refuse_tensors(shown_name_,
                   fmt::format("expected a tensor {}, found none among {}", in_quotes(name), tensors_.size()),
                   "file.names()   // lists them");
  return tensors_[place->second];
}

const std::string& TensorFile::bytes_of(const std::string& name, std::string_view type) const {
  const Tensor& tensor = find(name);
  if (tensor.type != type)
    refuse_tensors(shown_name_,
                   fmt::format("tensor {}: expected {}, found {}", in_quotes(name), type, tensor.type),
                   "file.floats(name) reads F32; doubles F64; uint32s U32; uint64s U64");
  return tensor.bytes;
}

std::string TensorFile::to_bytes() const {
  if (metadata.contains("crc32"))
    refuse_tensors(shown_name_, "its metadata has the key 'crc32', which belongs to the checksum",
                   "file.metadata.erase(\"crc32\");");
  std::string header = fmt::format("{}{}\"", header_start, no_checksum);
  for (const auto& [key, text] : metadata)
    header += fmt::format(",{}:{}", json_text(shown_name_, key), json_text(shown_name_, text));
  header += '}';
  std::size_t end = 0;
  for (const Tensor& tensor : tensors_) {
    const std::size_t begin = std::exchange(end, end + tensor.bytes.size());
    header += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          json_text(shown_name_, tensor.name), tensor.type, fmt::join(tensor.shape, ","),
                          begin, end);
  }
  header += '}';
  while (header.size() % length_size != 0) header += ' ';
  if (header.size() > header_limit)
    refuse_tensors(
        shown_name_,
        fmt::format("expected at most {} bytes of names and texts, found {}", header_limit, header.size()),
        "keep long texts in a file of their own");
  const std::uint64_t header_size = header.size();
  std::string bytes(length_size, '\0');
  std::memcpy(bytes.data(), &header_size, length_size);
  bytes.reserve(length_size + header.size() + end);
  bytes += header;
  for (const Tensor& tensor : tensors_) bytes += tensor.bytes;
  return bytes.replace(checksum_place, no_checksum.size(), checksum(bytes));
}

TensorFile TensorFile::from_bytes(std::string_view bytes, const std::string& shown_name) {
  const auto require = [&](bool valid, const std::string& found) {
    if (!valid) refuse_content(shown_name, found);
  };
  require(bytes.size() >= length_size, fmt::format("expected at least 8 bytes, found {}", bytes.size()));
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), length_size);
  const std::size_t room = bytes.size() - length_size;
  require(header_size <= room, fmt::format("expected a header of {} bytes, found {}", header_size, room));
  require(header_size <= header_limit,
          fmt::format("expected a header of at most {} bytes, found {}", header_limit, header_size));
  const std::string_view header = bytes.substr(length_size, header_size);
  const std::string_view data = bytes.substr(length_size + header_size);
  const auto entries = parse_header(shown_name, header);
  if (!header.starts_with(header_start) || header.size() <= header_start.size() + no_checksum.size())
    refuse_tensors(shown_name, "not written by hindsight: expected a crc32 first in its header, found none",
                   "read the file with other tools, file.add() its tensors, and write it with to_bytes()");

  TensorFile file;
  file.shown_name_ = shown_name;
  std::string written;
  std::size_t position = 0;
  for (const auto& [name, fields] : entries) {
    if (name == "__metadata__") {
      for (const auto& [key, text] : fields.items()) {
        require(text.is_string(),
                fmt::format("expected metadata {} to be a text, found another value", in_quotes(key)));
        (key == "crc32" ? written : file.metadata[key]) = text;
      }
      continue;
    }
    const Description tensor = described(shown_name, name, fields);
    require(tensor.begin == position,
            fmt::format("tensor {}: expected its data to begin at {}, found {}: {}", in_quotes(name),
                        position, tensor.begin, tensor.begin < position ? "an overlap" : "a gap"));
    require(tensor.end <= data.size(), fmt::format("tensor {}: expected data up to byte {}, found {} bytes",
                                                   in_quotes(name), tensor.end, data.size()));
    file.insert(name, tensor.type, tensor.shape,
                std::as_bytes(std::span(data.substr(position, tensor.end - position))));
    position = tensor.end;
  }
  require(position == data.size(),
          fmt::format("expected {} bytes of data, found {}: bytes trail", position, data.size()));
  const std::string actual = checksum(bytes);
  require(written == actual, fmt::format("expected the crc32 {}, found {}", actual, in_quotes(written)));
  return file;
}

}  // namespace hindsight::tool
