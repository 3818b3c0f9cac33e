#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hindsight {

/// What a graph file says of one node or edge: values by name, in the order in which they were written.
class Attributes {
 public:
  /// Replaces what the name had before.
  void set(std::string_view name, std::string value);
  void set(std::string_view name, std::int64_t value);
  void set(std::string_view name, std::span<const double> values);
  /// None: not there.
  const std::string* find(std::string_view name) const;

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  bool operator==(const Attributes&) const = default;
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

/// "name(option=value,…)", or a name alone.
struct Expression {
  std::string name;
  Attributes options;
};
/// Blanks do not count. Throws Error (bad-expression) where brackets or equals signs are amiss.
Expression parse_expression(std::string_view text);

/// Letters of ASCII alone.
std::string lower_case(std::string_view text);
/// Numbers so that reading them gives the same bits: "-1,1".
std::string to_text(std::span<const double> values);
/// Numbers between commas. Throws Error (bad-attribute) that calls them by `name`.
std::vector<double> to_numbers(std::string_view text, std::string_view name);

/// Asks attributes for what a reader understands, and remembers what was asked: whatever nobody asked for is
/// refused in the end. What is not what it should be throws Error (bad-attribute).
class AttributeReader {
 public:
  explicit AttributeReader(const Attributes& attributes) : attributes_(attributes) {}

  bool has(std::string_view name) { return find(name) != nullptr; }
  std::string text(std::string_view name, std::string_view otherwise);
  /// A whole number from 1 to the largest int.
  int count(std::string_view name, int otherwise);
  /// A whole number from 0 to 2^64 - 1.
  std::uint64_t seed(std::string_view name, std::uint64_t otherwise);
  double number(std::string_view name, double otherwise);
  /// Which of the words it is; the first, if it is not there.
  std::size_t choice(std::string_view name, std::initializer_list<std::string_view> words);
  /// Numbers between commas; none: not there.
  std::vector<double> numbers(std::string_view name);

  /// Throws Error (unknown-attribute) for the first attribute that was never asked for and is not `ignored`.
  void refuse_others(const std::function<bool(std::string_view name)>& ignored) const;

 private:
  const std::string* find(std::string_view name);

  const Attributes& attributes_;
  std::vector<std::string> asked_;
};

}  // namespace hindsight
