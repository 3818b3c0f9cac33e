// None of these nodes may be added. Each must say why in one sentence, and nothing else.
#include <span>

#include <hindsight/core/node.hpp>

using namespace hindsight;

struct Shaped {
  Shape shape(std::span<const ParentShape>) const;
};
struct ForSamples : Shaped {
  template <class S>
  void log_probs(std::span<const S>, const Reading<S>&, std::span<S>) const;
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>) const;
};
struct ForChunks : Shaped {
  template <class S>
  void log_probs(std::span<const S>, const ChunkReading<S>&, MatrixView<S>) const;
  template <class S>
  void accumulate(std::span<const S>, const ChunkReading<S>&, MatrixView<const S>, std::span<S>) const;
};

struct NoGradient : Shaped {
  template <class S>
  void log_probs(std::span<const S>, const Reading<S>&, std::span<S>) const;
};
struct NotConst : NoGradient {
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>);
};
struct InFloatAlone : NoGradient {
  void accumulate(std::span<const float>, const Reading<float>&, std::span<const float>,
                  std::span<float>) const;
};
struct Mixed : NoGradient {
  template <class S>
  void accumulate(std::span<const S>, const ChunkReading<S>&, MatrixView<const S>, std::span<S>) const;
};
struct MixedFunction : Shaped {
  template <class S>
  void evaluate(std::span<const S>, const ChunkReading<S>&, MatrixView<S>) const;
  template <class S>
  void backpropagate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>,
                     std::span<S>) const;
};
struct SaysChunks : ForSamples {
  static constexpr bool takes_chunks = true;
};
struct OtherSlopes : ForChunks {
  template <class S>
  void backpropagate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>) const;
};
struct SlopesNotConst : ForSamples {
  template <class S>
  void backpropagate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>);
};
struct SlopesInDouble : ForSamples {
  void backpropagate(std::span<const double>, const Reading<double>&, std::span<const double>,
                     std::span<double>) const;
};

// clang-format off
// error: hindsight: a node has log_probs and accumulate, a function evaluate and backpropagate; they are const, take float and double, and are all for one sample (Reading, std::span) or all for a chunk (ChunkReading, MatrixView)
const AnyNode no_gradient = NoGradient{};
// error: hindsight: a node has log_probs and accumulate, a function evaluate and backpropagate; they are const, take float and double, and are all for one sample (Reading, std::span) or all for a chunk (ChunkReading, MatrixView)
const AnyNode not_const = NotConst{};
// error: hindsight: a node has log_probs and accumulate, a function evaluate and backpropagate; they are const, take float and double, and are all for one sample (Reading, std::span) or all for a chunk (ChunkReading, MatrixView)
const AnyNode in_float_alone = InFloatAlone{};
// error: hindsight: a node has log_probs and accumulate, a function evaluate and backpropagate; they are const, take float and double, and are all for one sample (Reading, std::span) or all for a chunk (ChunkReading, MatrixView)
const AnyNode mixed = Mixed{};
// error: hindsight: a node has log_probs and accumulate, a function evaluate and backpropagate; they are const, take float and double, and are all for one sample (Reading, std::span) or all for a chunk (ChunkReading, MatrixView)
const AnyNode mixed_function = MixedFunction{};
// error: hindsight: a node has log_probs and accumulate, a function evaluate and backpropagate; they are const, take float and double, and are all for one sample (Reading, std::span) or all for a chunk (ChunkReading, MatrixView)
const AnyNode says_chunks = SaysChunks{};
// error: hindsight: backpropagate is const, takes float and double, and is for one sample or for a chunk as log_probs is
const AnyNode other_slopes = OtherSlopes{};
// error: hindsight: backpropagate is const, takes float and double, and is for one sample or for a chunk as log_probs is
const AnyNode slopes_in_double = SlopesInDouble{};
// error: hindsight: backpropagate is const, takes float and double, and is for one sample or for a chunk as log_probs is
const AnyNode slopes_not_const = SlopesNotConst{};
