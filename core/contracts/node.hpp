#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include <hindsight/core/block.hpp>
#include <hindsight/core/matrix_view.hpp>
#include <hindsight/core/shape.hpp>

namespace hindsight {
namespace internal {

/// How a function of a node is given its numbers: those of one sample, or of a chunk of samples.
template <class Scalar>
struct SampleForm {
  using S = Scalar;
  using Reading = hindsight::Reading<S>;
  using Input = std::span<const S>;
  using Output = std::span<S>;
};
template <class Scalar>
struct ChunkForm {
  using S = Scalar;
  using Reading = ChunkReading<S>;
  using Input = MatrixView<const S>;
  using Output = MatrixView<S>;
};

template <class N>
concept HasShape = std::copy_constructible<N> &&
    requires(const N node, std::span<const ParentShape> parents) {
  { node.shape(parents) } -> std::same_as<Shape>;
};
template <class N, class Form>
concept HasNodeMath = requires(const N node, std::span<const typename Form::S> theta,
                               const typename Form::Reading& reading, typename Form::Input credit,
                               typename Form::Output out, std::span<typename Form::S> gradient) {
  node.log_probs(theta, reading, out);
  node.accumulate(theta, reading, credit, gradient);
};
template <class N, class Form>
concept HasBackpropagate = requires(N& node, std::span<const typename Form::S> theta,
                                    const typename Form::Reading& reading, typename Form::Input credit,
                                    typename Form::Output out) {
  node.backpropagate(theta, reading, credit, out);
};
/// Whether it is const or not, and in any form.
template <class N>
concept MentionsBackpropagate =
    HasBackpropagate<N, SampleForm<float>> || HasBackpropagate<N, SampleForm<double>> ||
    HasBackpropagate<N, ChunkForm<float>> || HasBackpropagate<N, ChunkForm<double>>;
template <class F, class Form>
concept HasFunctionMath = requires(const F function, std::span<const typename Form::S> theta,
                                   const typename Form::Reading& reading, typename Form::Input slopes,
                                   typename Form::Output out, std::span<typename Form::S> gradient) {
  function.evaluate(theta, reading, out);
  function.backpropagate(theta, reading, slopes, gradient, out);
};
template <class N>
concept TakesChunks = requires {
  requires N::takes_chunks;
};

}  // namespace internal

/// A Node whose functions are given one sample: a Reading and spans. So is one whose functions would take
/// either form, unless it says that it takes_chunks.
template <class N>
concept SampleNode = internal::HasShape<N> && !internal::TakesChunks<N> &&
                     internal::HasNodeMath<N, internal::SampleForm<float>> &&
                     internal::HasNodeMath<N, internal::SampleForm<double>>;

/// A Node whose functions are given a chunk of up to 64 samples: a ChunkReading and matrices with a row per
/// sample, which as_eigen maps. Each column lies in one piece.
///   log_probs(theta, reading, out)              out(i, unit·K + k) = log π(k | sample i)
///   accumulate(theta, reading, credit, out)     out += Σ credit(i, unit·K + k)·∇log π(k | sample i), over i
///                                               too; samples without credit have rows of zeros
///   backpropagate(theta, reading, credit, out)  out(i, feature) += Σ credit(i, unit·K + k)·∂log π/∂feature
/// A batch is cut into chunks at multiples of 64 samples, and only its last chunk may be shorter. So a
/// product of matrices may be summed in an order that depends on the size of the chunk, and yet no result
/// depends on the number of threads, nor on how a batch is cut at multiples of 64.
template <class N>
concept ChunkNode =
    internal::HasShape<N> && !SampleNode<N> && internal::HasNodeMath<N, internal::ChunkForm<float>> &&
    internal::HasNodeMath<N, internal::ChunkForm<double>>;

/// What a unit is: one population as plain mathematics, in float and in double. Nothing to inherit.
///   shape(parents) -> Shape                   refuses parents it cannot read by throwing Error
///   log_probs(theta, reading, out)            out[unit·K + k] = log π(k | reading), normalised per unit
///   accumulate(theta, reading, credit, out)   out += Σ credit[unit·K + k]·∇log π(k | reading)
/// Either for one sample, which is shorter to write (SampleNode), or for a chunk of samples, which is faster
/// where products of matrices do the work (ChunkNode).
/// Optional:
///   backpropagate(theta, reading, credit, out)         out[feature] += Σ credit·∂log π/∂feature; without it
///                                                      the node cannot have parents that want slopes:
///                                                      deterministic or credited by straight-through
///   static constexpr std::string_view kind             how reports call it
///   static constexpr bool reads_patterns = true        it honours ParentShape::connectivity
///   static constexpr bool takes_chunks = true          chunks, though its functions, which are generic or
///                                                      written twice, would take single samples too
///   initialise(const Initialisation&, span<double>)    initial parameters; zeros otherwise
///   static lower<S>(span<const Member<N>>) -> Blocks<S>   blocks of its own for many nodes at once
///   static factors<S>(vector<FactorGroup>) -> unique_ptr<FactorTables<S>>   fast tables for elimination
/// What is missing is synthesised: sampling from the table, messages by log_probs once per candidate.
template <class N>
concept Node = SampleNode<N> || ChunkNode<N>;

/// A Node that passes slopes to its parents.
template <class N>
concept BackpropagatingNode = (SampleNode<N> &&
                               internal::HasBackpropagate<const N, internal::SampleForm<float>> &&
                               internal::HasBackpropagate<const N, internal::SampleForm<double>>) ||
                              (ChunkNode<N> &&
                               internal::HasBackpropagate<const N, internal::ChunkForm<float>> &&
                               internal::HasBackpropagate<const N, internal::ChunkForm<double>>);

/// A Function whose functions are given one sample, or a chunk of samples as those of a ChunkNode are.
template <class F>
concept SampleFunction = internal::HasShape<F> && !internal::TakesChunks<F> &&
                         internal::HasFunctionMath<F, internal::SampleForm<float>> &&
                         internal::HasFunctionMath<F, internal::SampleForm<double>>;
template <class F>
concept ChunkFunction =
    internal::HasShape<F> && !SampleFunction<F> && internal::HasFunctionMath<F, internal::ChunkForm<float>> &&
    internal::HasFunctionMath<F, internal::ChunkForm<double>>;

/// What a deterministic unit is: a number that follows from what it reads, in float and in double.
///   shape(parents) -> Shape                    units and parameters; no encoding
///   evaluate(theta, reading, out)              out[unit], or out(i, unit) for a chunk
///   backpropagate(theta, reading, slopes, parameters, features)
///       parameters += Σ slopes[unit]·∂value/∂theta, features[j] += Σ slopes[unit]·∂value/∂feature
/// Optional: kind, reads_patterns, takes_chunks, initialise and lower, as for a Node.
template <class F>
concept Function = SampleFunction<F> || ChunkFunction<F>;

/// One node of a group of nodes of type N.
template <class N>
struct Member {
  const N* node = nullptr;
  const Placement* at = nullptr;
};

namespace internal {

/// No backpropagate, or one that can be called. The others are looked at last: what a generic function
/// returns is not asked where its form is known.
template <class N>
concept AgreesOnBackpropagate = !Node<N> || BackpropagatingNode<N> || !MentionsBackpropagate<N>;

/// The mathematics of a stochastic node, whatever its type.
template <class Form>
class NodeMath {
 public:
  using S = typename Form::S;
  virtual ~NodeMath() = default;
  virtual void log_probs(std::span<const S> theta, const typename Form::Reading&,
                         typename Form::Output out) const = 0;
  virtual void accumulate(std::span<const S> theta, const typename Form::Reading&,
                          typename Form::Input credit, std::span<S> out) const = 0;
  virtual void backpropagate(std::span<const S> theta, const typename Form::Reading&,
                             typename Form::Input credit, typename Form::Output out) const = 0;
};

/// The mathematics of a deterministic node, whatever its type.
template <class Form>
class FunctionMath {
 public:
  using S = typename Form::S;
  virtual ~FunctionMath() = default;
  virtual void evaluate(std::span<const S> theta, const typename Form::Reading&,
                        typename Form::Output out) const = 0;
  virtual void backpropagate(std::span<const S> theta, const typename Form::Reading&,
                             typename Form::Input slopes, std::span<S> parameters,
                             typename Form::Output features) const = 0;
};

template <class N, class Form>
class NodeMathOf final : public NodeMath<Form> {
 public:
  using S = typename Form::S;
  explicit NodeMathOf(const N& node) : node_(node) {}
  void log_probs(std::span<const S> theta, const typename Form::Reading& reading,
                 typename Form::Output out) const override {
    node_.log_probs(theta, reading, out);
  }
  void accumulate(std::span<const S> theta, const typename Form::Reading& reading,
                  typename Form::Input credit, std::span<S> out) const override {
    node_.accumulate(theta, reading, credit, out);
  }
  void backpropagate(std::span<const S> theta, const typename Form::Reading& reading,
                     typename Form::Input credit, typename Form::Output out) const override {
    if constexpr (BackpropagatingNode<N>) node_.backpropagate(theta, reading, credit, out);
  }

 private:
  const N& node_;
};

template <class F, class Form>
class FunctionMathOf final : public FunctionMath<Form> {
 public:
  using S = typename Form::S;
  explicit FunctionMathOf(const F& function) : function_(function) {}
  void evaluate(std::span<const S> theta, const typename Form::Reading& reading,
                typename Form::Output out) const override {
    function_.evaluate(theta, reading, out);
  }
  void backpropagate(std::span<const S> theta, const typename Form::Reading& reading,
                     typename Form::Input slopes, std::span<S> parameters,
                     typename Form::Output features) const override {
    function_.backpropagate(theta, reading, slopes, parameters, features);
  }

 private:
  const F& function_;
};

/// Blocks that run one node from its mathematics.
template <class S>
std::unique_ptr<Block<S>> generic_block(std::unique_ptr<const NodeMath<SampleForm<S>>>, const Placement&);
template <class S>
std::unique_ptr<Block<S>> generic_block(std::unique_ptr<const NodeMath<ChunkForm<S>>>, const Placement&);
template <class S>
std::unique_ptr<Block<S>> generic_block(std::unique_ptr<const FunctionMath<SampleForm<S>>>, const Placement&);
template <class S>
std::unique_ptr<Block<S>> generic_block(std::unique_ptr<const FunctionMath<ChunkForm<S>>>, const Placement&);

}  // namespace internal

/// Any node, stochastic or deterministic, as a value.
class AnyNode {
 public:
  /// One node of a group that is lowered together.
  struct Placed {
    const AnyNode* node = nullptr;
    const Placement* at = nullptr;
  };

  /// Defined below: node types that ship say `extern template`, so that programs need not compile them.
  template <class N>
  requires(!std::same_as<N, AnyNode> && internal::HasShape<N>) AnyNode(N node);

  template <class N>
  requires(!std::same_as<N, AnyNode> && !internal::HasShape<N>) AnyNode(const N&) {
    static_assert(internal::HasShape<N>,
                  "hindsight: this is no node; a node has `Shape shape(std::span<const ParentShape>) const`");
  }

  Shape shape(std::span<const ParentShape> parents) const { return self_->shape(parents); }
  std::string_view kind() const { return self_->kind(); }
  std::type_index type() const { return self_->type(); }
  bool reads_patterns() const { return self_->reads_patterns(); }
  bool is_deterministic() const { return self_->is_deterministic(); }
  /// It can pass slopes to its parents.
  bool can_backpropagate() const { return self_->can_backpropagate(); }
  /// Its type makes the tables of its own factors.
  bool has_factors() const { return self_->has_factors(); }
  void initialise(const Initialisation& start, std::span<double> theta) const {
    self_->initialise(start, theta);
  }

  /// The node itself if it has this type.
  template <class N>
  const N* as() const {
    return type() == typeid(N) ? &static_cast<const Held<N>&>(*self_).node : nullptr;
  }

  /// Blocks for nodes that all have the type of the first.
  template <class S>
  static Blocks<S> lower(std::span<const Placed> group) {
    return group.front().node->self_->lower(group, S{});
  }
  /// For groups of factors of nodes that all have this one's type, which has_factors.
  template <class S>
  std::unique_ptr<FactorTables<S>> factors(std::vector<FactorGroup> groups) const {
    return self_->factors(std::move(groups), S{});
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual Shape shape(std::span<const ParentShape>) const = 0;
    virtual std::string_view kind() const = 0;
    virtual std::type_index type() const = 0;
    virtual bool reads_patterns() const = 0;
    virtual bool is_deterministic() const = 0;
    virtual bool can_backpropagate() const = 0;
    virtual bool has_factors() const = 0;
    virtual void initialise(const Initialisation&, std::span<double>) const = 0;
    virtual Blocks<float> lower(std::span<const Placed>, float) const = 0;
    virtual Blocks<double> lower(std::span<const Placed>, double) const = 0;
    virtual std::unique_ptr<FactorTables<float>> factors(std::vector<FactorGroup>, float) const = 0;
    virtual std::unique_ptr<FactorTables<double>> factors(std::vector<FactorGroup>, double) const = 0;
  };

  template <class N>
  struct Held final : Interface {
    explicit Held(N held) : node(std::move(held)) {}

    Shape shape(std::span<const ParentShape> parents) const override { return node.shape(parents); }
    std::string_view kind() const override {
      if constexpr (requires { std::string_view(N::kind); })
        return N::kind;
      else
        return "custom";
    }
    std::type_index type() const override { return typeid(N); }
    bool reads_patterns() const override {
      if constexpr (requires { N::reads_patterns; })
        return N::reads_patterns;
      else
        return false;
    }
    bool is_deterministic() const override { return Function<N>; }
    bool can_backpropagate() const override { return Function<N> || BackpropagatingNode<N>; }
    static constexpr bool makes_factors = requires(std::vector<FactorGroup> groups) {
      { N::template factors<float>(groups) } -> std::same_as<std::unique_ptr<FactorTables<float>>>;
      { N::template factors<double>(groups) } -> std::same_as<std::unique_ptr<FactorTables<double>>>;
    };
    bool has_factors() const override { return makes_factors; }
    void initialise(const Initialisation& start, std::span<double> theta) const override {
      if constexpr (requires { node.initialise(start, theta); })
        node.initialise(start, theta);
      else
        static_assert(
            !requires { &N::initialise; },
            "initialise must be const and take (const Initialisation&, std::span<double>)");
    }
    Blocks<float> lower(std::span<const Placed> group, float) const override {
      return lower_as<float>(group);
    }
    Blocks<double> lower(std::span<const Placed> group, double) const override {
      return lower_as<double>(group);
    }
    std::unique_ptr<FactorTables<float>> factors(std::vector<FactorGroup> groups, float) const override {
      return factors_as<float>(std::move(groups));
    }
    std::unique_ptr<FactorTables<double>> factors(std::vector<FactorGroup> groups, double) const override {
      return factors_as<double>(std::move(groups));
    }

    template <class S>
    static std::unique_ptr<FactorTables<S>> factors_as(std::vector<FactorGroup> groups) {
      if constexpr (makes_factors)
        return N::template factors<S>(std::move(groups));
      else
        return nullptr;
    }

    template <class S>
    static Blocks<S> lower_as(std::span<const Placed> group) {
      std::vector<Member<N>> members;
      for (const Placed& placed : group)
        members.push_back({&static_cast<const Held&>(*placed.node->self_).node, placed.at});
      if constexpr (requires { N::template lower<S>(std::span<const Member<N>>(members)); }) {
        return N::template lower<S>(std::span<const Member<N>>(members));
      } else {
        static_assert(
            !requires { &N::template lower<S>; },
            "lower<S> must be static and take (std::span<const Member<N>>)");
        using Form = std::conditional_t<ChunkNode<N> || ChunkFunction<N>, internal::ChunkForm<S>,
                                        internal::SampleForm<S>>;
        using Math =
            std::conditional_t<Function<N>, internal::FunctionMathOf<N, Form>, internal::NodeMathOf<N, Form>>;
        Blocks<S> blocks;
        if constexpr (Node<N> || Function<N>)
          for (const Member<N>& member : members)
            blocks.push_back(
                internal::generic_block<S>(std::make_unique<const Math>(*member.node), *member.at));
        return blocks;
      }
    }

    N node;
  };

  std::shared_ptr<const Interface> self_;
};

template <class N>
requires(!std::same_as<N, AnyNode> && internal::HasShape<N>) AnyNode::AnyNode(N node)
    : self_(std::make_shared<const Held<N>>(std::move(node))) {
  static_assert(
      Node<N> || Function<N>,
      "hindsight: a node has log_probs and accumulate, a function evaluate and backpropagate; they are "
      "const, take float and double, and are all for one sample (Reading, std::span) or all for a chunk "
      "(ChunkReading, MatrixView)");
  static_assert(
      internal::AgreesOnBackpropagate<N>,
      "hindsight: backpropagate is const, takes float and double, and is for one sample or for a chunk "
      "as log_probs is");
}

}  // namespace hindsight
