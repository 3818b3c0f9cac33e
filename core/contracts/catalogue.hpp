#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hindsight/core/baseline.hpp>
#include <hindsight/core/estimator.hpp>
#include <hindsight/core/node.hpp>

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
  /// Where the name stands in `by_name_`, or would.
  std::size_t rank(std::string_view name) const;
  bool is_at(std::size_t rank, std::string_view name) const;

  std::vector<std::pair<std::string, std::string>> entries_;
  std::vector<std::uint32_t> by_name_;  ///< numbers of entries, their names ascending
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
  /// The defaults hold where the attributes say nothing.
  AttributeReader(const Attributes& attributes, const Attributes& defaults)
      : attributes_(attributes), defaults_(&defaults) {}

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
  const Attributes* defaults_ = nullptr;
  std::vector<std::string> asked_;
};

/// A node type that graph files can hold. What `write` sets, `read` must understand; both leave out what has
/// its default value.
///   static constexpr std::string_view kind       files write it in lower case
///   static read(AttributeReader&) -> N
///   write(Attributes&) const
template <class N>
concept WrittenNode = (Node<N> || Function<N>)&&requires(const N node, AttributeReader& given,
                                                         Attributes& written) {
  {std::string_view(N::kind)};
  { N::read(given) } -> std::same_as<N>;
  node.write(written);
};

/// A node type as graph files call it.
struct NodeKind {
  std::string name;
  std::function<AnyNode(AttributeReader&)> read;
  std::function<bool(const AnyNode&, Attributes&)> write;  ///< false: the node has another type
};

/// An estimator type that files can name with options: "hnca(steps=3)".
///   static constexpr std::string_view kind
///   static read(AttributeReader&) -> E
template <class E>
concept WrittenEstimator = Estimator<E> && requires(AttributeReader& given) {
  {std::string_view(E::kind)};
  { E::read(given) } -> std::same_as<E>;
};

struct EstimatorKind {
  std::string name;
  std::function<AnyEstimator(AttributeReader&)> read;
};

/// A baseline type that graph files can name: "running-mean(decay=0.9)".
///   static constexpr std::string_view kind
///   static read(AttributeReader&) -> B
template <class B>
concept WrittenBaseline = Baseline<B> && requires(AttributeReader& given) {
  {std::string_view(B::kind)};
  { B::read(given) } -> std::same_as<B>;
};

struct BaselineKind {
  std::string name;
  std::function<AnyBaseline(AttributeReader&)> read;
};

/// The node types, estimators and baselines that parts of the library may speak of without including them. A
/// value: copy it and add your own.
class Catalogue {
 public:
  /// Reports give an opinion on it for every node and reward; files may name it.
  Catalogue& offer(AnyEstimator estimator);
  /// Auto considers it too, after those preferred before it.
  Catalogue& prefer(AnyEstimator estimator);
  /// Files may hold nodes of this type.
  template <WrittenNode N>
  Catalogue& know() {
    return know({std::string(N::kind), [](AttributeReader& given) { return AnyNode(N::read(given)); },
                 [](const AnyNode& node, Attributes& written) {
                   const N* const held = node.as<N>();
                   if (held) held->write(written);
                   return held != nullptr;
                 }});
  }
  Catalogue& know(NodeKind kind);
  /// Files may name estimators of this type, whatever their options.
  template <WrittenEstimator E>
  Catalogue& know() {
    estimators_.push_back(
        {std::string(E::kind), [](AttributeReader& given) { return AnyEstimator(E::read(given)); }});
    return *this;
  }
  /// Files may name baselines of this type.
  template <WrittenBaseline B>
  Catalogue& know() {
    baselines_.push_back(
        {std::string(B::kind), [](AttributeReader& given) { return AnyBaseline(B::read(given)); }});
    return *this;
  }

  std::span<const AnyEstimator> offered() const { return offered_; }
  std::span<const AnyEstimator> preferred() const { return preferred_; }
  std::span<const NodeKind> kinds() const { return kinds_; }
  /// By its name in reports and files, blanks aside: one that is offered, or of a known type with other
  /// options. None: neither. Throws Error where an option is wrong.
  std::optional<AnyEstimator> estimator(std::string_view name) const;
  std::vector<std::string> estimator_names() const;
  /// As its name says in reports and files. Throws Error where there is none, or an option of it is wrong.
  AnyBaseline baseline(std::string_view text) const;
  std::vector<std::string> baseline_names() const;
  /// None: not known.
  const NodeKind* kind(std::string_view name) const;
  /// What a file says of the node, its kind first. None: no known type.
  std::optional<Attributes> describe(const AnyNode& node) const;

 private:
  std::vector<AnyEstimator> offered_, preferred_;
  std::vector<NodeKind> kinds_;
  std::vector<EstimatorKind> estimators_;
  std::vector<BaselineKind> baselines_;
};

}  // namespace hindsight
