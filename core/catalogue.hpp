#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hindsight/core/attributes.hpp>
#include <hindsight/core/baseline.hpp>
#include <hindsight/core/estimator.hpp>
#include <hindsight/core/node.hpp>

namespace hindsight {

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
