#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hindsight::tool {

/// Named arrays of numbers with texts about them, kept in the safetensors layout and under a checksum of the
/// whole file: other programs can read them, and damage does not pass unnoticed.
///
/// Invariant: names are unique, and a tensor holds as many numbers as its shape says. Whatever is wrong is
/// refused with the code "tensor-file".
class TensorFile {
 public:
  using Shape = std::vector<std::size_t>;  ///< empty for a single number

  /// Texts to keep with the tensors. The key "crc32" belongs to the checksum, which is not listed here.
  std::map<std::string, std::string> metadata;

  void add(const std::string& name, const Shape& shape, std::span<const float> values) {
    insert(name, "F32", shape, std::as_bytes(values));
  }
  void add(const std::string& name, const Shape& shape, std::span<const double> values) {
    insert(name, "F64", shape, std::as_bytes(values));
  }
  void add(const std::string& name, const Shape& shape, std::span<const std::uint32_t> values) {
    insert(name, "U32", shape, std::as_bytes(values));
  }
  void add(const std::string& name, const Shape& shape, std::span<const std::uint64_t> values) {
    insert(name, "U64", shape, std::as_bytes(values));
  }

  /// In the order of their addition.
  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return places_.contains(name); }
  const Shape& shape(const std::string& name) const { return find(name).shape; }

  /// The numbers of a tensor that was added with exactly this type.
  std::vector<float> floats(const std::string& name) const { return values<float>(name, "F32"); }
  std::vector<double> doubles(const std::string& name) const { return values<double>(name, "F64"); }
  std::vector<std::uint32_t> uint32s(const std::string& name) const {
    return values<std::uint32_t>(name, "U32");
  }
  std::vector<std::uint64_t> uint64s(const std::string& name) const {
    return values<std::uint64_t>(name, "U64");
  }

  std::string to_bytes() const;
  /// Accepts only what `to_bytes` has written. Messages call the file by `shown_name`.
  static TensorFile from_bytes(std::string_view bytes, const std::string& shown_name);

 private:
  struct Tensor {
    std::string name;
    std::string type;  ///< as the layout spells it
    Shape shape;
    std::string bytes;
  };

  template <class T>
  std::vector<T> values(const std::string& name, std::string_view type) const {
    const std::string& bytes = bytes_of(name, type);
    std::vector<T> numbers(bytes.size() / sizeof(T));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  void insert(const std::string& name, std::string_view type, const Shape& shape,
              std::span<const std::byte> bytes);
  const Tensor& find(const std::string& name) const;
  const std::string& bytes_of(const std::string& name, std::string_view type) const;

  std::string shown_name_ = "tensors in memory";
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace hindsight::tool
