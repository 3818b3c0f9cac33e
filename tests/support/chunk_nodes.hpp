#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <hindsight/hindsight.hpp>

#include "support/custom_nodes.hpp"

namespace hindsight::testing {

/// Matrices of a node that is written for chunks.
template <class S>
using Columns = Eigen::Array<S, Eigen::Dynamic, Eigen::Dynamic>;

/// SineVote, written for chunks.
struct ChunkSineVote : SineVote {
  static constexpr std::string_view kind = "ChunkSineVote";

  template <class S>
  void log_probs(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<S> out) const {
    as_eigen(out) = table(theta, reading).matrix();
  }

  template <class S>
  void accumulate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> credit,
                  std::span<S> out) const {
    const auto delta = deltas(theta, reading, credit);
    auto votes = as_eigen(MatrixView<S>(out.data(), outcome_count, reading.features.cols() + 1));
    votes.col(0) += delta.colwise().sum().transpose().matrix();
    votes.rightCols(reading.features.cols()) += delta.matrix().transpose() * sines(reading).matrix();
  }

  template <class S>
  void backpropagate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> credit,
                     MatrixView<S> out) const {
    const auto features = as_eigen(reading.features);
    const Columns<S> by_sine =
        deltas(theta, reading, credit).matrix() * votes_of(theta, reading).rightCols(features.cols());
    as_eigen(out).array() += by_sine * (features.array() + S(0.3)).cos();
  }

  static ChunkSineVote read(AttributeReader&) { return {}; }

 private:
  template <class S>
  static auto votes_of(std::span<const S> theta, const ChunkReading<S>& reading) {
    return as_eigen(MatrixView<const S>(theta.data(), outcome_count, reading.features.cols() + 1));
  }
  template <class S>
  static Columns<S> sines(const ChunkReading<S>& reading) {
    return (as_eigen(reading.features).array() + S(0.3)).sin();
  }
  template <class S>
  static Columns<S> table(std::span<const S> theta, const ChunkReading<S>& reading) {
    const auto votes = votes_of(theta, reading);
    Columns<S> table =
        (sines(reading).matrix() * votes.rightCols(reading.features.cols()).transpose()).rowwise() +
        votes.col(0).transpose();
    for (Eigen::Index i = 0; i < table.rows(); ++i)
      log_softmax(&table(i, 0), outcome_count, static_cast<std::size_t>(table.rows()));
    return table;
  }
  template <class S>
  static Columns<S> deltas(std::span<const S> theta, const ChunkReading<S>& reading,
                           MatrixView<const S> credit) {
    Columns<S> table = ChunkSineVote::table(theta, reading);
    const Columns<S> total = as_eigen(credit).rowwise().sum();
    for (Eigen::Index i = 0; i < table.rows(); ++i)
      for (Eigen::Index k = 0; k < table.cols(); ++k)
        table(i, k) = softmax_gradient(credit(i, k), table(i, k), total(i, 0));
    return table;
  }
};

static_assert(ChunkNode<ChunkSineVote> && !SampleNode<ChunkSineVote> && Node<ChunkSineVote>);
static_assert(BackpropagatingNode<ChunkSineVote> && WrittenNode<ChunkSineVote>);

/// NoisyOr, written for chunks: outcomes as a matrix.
struct ChunkNoisyOr : NoisyOr {
  template <class S>
  void log_probs(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<S> out) const {
    const Columns<S> off = fires(reading).matrix() * log_off(theta).matrix();
    as_eigen(out).col(0) = off.matrix();
    as_eigen(out).col(1) = off.unaryExpr([](S x) { return std::log(-std::expm1(x)); }).matrix();
  }
  template <class S>
  void accumulate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> credit,
                  std::span<S> out) const {
    // Where no parent fires, the second outcome cannot occur, and its slope is multiplied by no parent at
    // all.
    const Columns<S> off = fires(reading).matrix() * log_off(theta).matrix();
    const Columns<S> odds = (off < 0).select((-off).unaryExpr([](S x) { return 1 / std::expm1(x); }), S(0));
    const auto given = as_eigen(credit).array();
    const Columns<S> along = given.col(1) * odds.col(0) - given.col(0);
    const Columns<S> on = as_eigen(theta).array().unaryExpr([](S x) { return sigmoid(x); });
    as_eigen(out).array() +=
        on.col(0) * (fires(reading).matrix().transpose() * along.matrix()).array().col(0);
  }

 private:
  template <class S>
  static Columns<S> fires(const ChunkReading<S>& reading) {
    return (as_eigen(reading.outcomes).array() == 1).template cast<S>();
  }
  template <class S>
  static Columns<S> log_off(std::span<const S> theta) {
    return as_eigen(theta).array().unaryExpr([](S x) { return -softplus(x); });
  }
};

static_assert(ChunkNode<ChunkNoisyOr> && !SampleNode<ChunkNoisyOr> && !BackpropagatingNode<ChunkNoisyOr>);

/// SquareSums, written for chunks.
struct ChunkSquareSums : SquareSums {
  static constexpr std::string_view kind = "ChunkSquareSums";

  template <class S>
  void evaluate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<S> out) const {
    const auto weights = weights_of(theta, reading);
    as_eigen(out) = (roots(reading).square().matrix() * signed_weights(weights).transpose()).rowwise() +
                    weights.col(0).transpose();
  }

  template <class S>
  void backpropagate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> slopes,
                     std::span<S> parameters, MatrixView<S> features) const {
    const auto given = as_eigen(slopes);
    auto sums = as_eigen(MatrixView<S>(parameters.data(), units, reading.features.cols() + 1));
    sums.col(0) += given.colwise().sum().transpose();
    sums.rightCols(reading.features.cols()) +=
        signs<S>().asDiagonal() * (given.transpose() * roots(reading).square().matrix());
    as_eigen(features).array() +=
        2 * roots(reading) * (given * signed_weights(weights_of(theta, reading))).array();
  }

  static ChunkSquareSums read(AttributeReader&) { return {}; }

 private:
  template <class S>
  static auto weights_of(std::span<const S> theta, const ChunkReading<S>& reading) {
    return as_eigen(MatrixView<const S>(theta.data(), units, reading.features.cols() + 1));
  }
  template <class S>
  static Eigen::Matrix<S, units, 1> signs() {
    return {S(1), S(-1)};
  }
  template <class S>
  static Columns<S> roots(const ChunkReading<S>& reading) {
    return as_eigen(reading.features).array() + S(0.5);
  }
  template <class M>
  static auto signed_weights(const M& weights) {
    using S = typename M::Scalar;
    return Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>(signs<S>().asDiagonal() *
                                                            weights.rightCols(weights.cols() - 1));
  }
};

static_assert(ChunkFunction<ChunkSquareSums> && !SampleFunction<ChunkSquareSums> &&
              Function<ChunkSquareSums>);
static_assert(WrittenNode<ChunkSquareSums>);

/// The numbers of one row.
template <class T>
std::vector<std::remove_const_t<T>> row_of(MatrixView<T> matrix, std::ptrdiff_t row) {
  std::vector<std::remove_const_t<T>> numbers;
  for (std::ptrdiff_t col = 0; col < matrix.cols(); ++col) numbers.push_back(matrix(row, col));
  return numbers;
}
template <class S>
void set_row(MatrixView<S> matrix, std::ptrdiff_t row, const std::vector<S>& numbers) {
  for (std::ptrdiff_t col = 0; col < matrix.cols(); ++col)
    matrix(row, col) = numbers[static_cast<std::size_t>(col)];
}

/// A node that is written for one sample, asked sample by sample: what runs is the block of chunks, and
/// nothing else should change, not by a bit.
template <class N>
struct InChunks {
  N node;
  static constexpr bool reads_patterns = true;

  Shape shape(std::span<const ParentShape> parents) const { return node.shape(parents); }

  template <class S>
  void log_probs(std::span<const S> theta, const ChunkReading<S>& reading,
                 MatrixView<S> out) const requires SampleNode<N> {
    for_each_sample(reading, [&](std::ptrdiff_t i, const Reading<S>& one) {
      std::vector<S> row = row_of(out, i);
      node.log_probs(theta, one, std::span<S>(row));
      set_row(out, i, row);
    });
  }
  template <class S>
  void accumulate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> credit,
                  std::span<S> out) const requires SampleNode<N> {
    for_each_sample(reading, [&](std::ptrdiff_t i, const Reading<S>& one) {
      const std::vector<S> given = row_of(credit, i);
      if (given != std::vector<S>(given.size())) node.accumulate(theta, one, std::span<const S>(given), out);
    });
  }
  template <class S>
  void backpropagate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> credit,
                     MatrixView<S> out) const requires BackpropagatingNode<N> {
    for_each_sample(reading, [&](std::ptrdiff_t i, const Reading<S>& one) {
      const std::vector<S> given = row_of(credit, i);
      std::vector<S> row = row_of(out, i);
      node.backpropagate(theta, one, std::span<const S>(given), std::span<S>(row));
      set_row(out, i, row);
    });
  }

  template <class S>
  void evaluate(std::span<const S> theta, const ChunkReading<S>& reading,
                MatrixView<S> out) const requires SampleFunction<N> {
    for_each_sample(reading, [&](std::ptrdiff_t i, const Reading<S>& one) {
      std::vector<S> row = row_of(out, i);
      node.evaluate(theta, one, std::span<S>(row));
      set_row(out, i, row);
    });
  }
  template <class S>
  void backpropagate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> slopes,
                     std::span<S> parameters, MatrixView<S> features) const requires SampleFunction<N> {
    for_each_sample(reading, [&](std::ptrdiff_t i, const Reading<S>& one) {
      const std::vector<S> given = row_of(slopes, i);
      std::vector<S> row = row_of(features, i);
      if (given != std::vector<S>(given.size()))
        node.backpropagate(theta, one, std::span<const S>(given), parameters, std::span<S>(row));
      set_row(features, i, row);
    });
  }

  void initialise(const Initialisation& start, std::span<double> theta) const {
    if constexpr (requires { node.initialise(start, theta); }) node.initialise(start, theta);
  }

 private:
  template <class S, class Work>
  static void for_each_sample(const ChunkReading<S>& reading, const Work& work) {
    for (std::ptrdiff_t i = 0; i < reading.samples(); ++i) {
      const std::vector<S> features = row_of(reading.features, i);
      const std::vector<Outcome> outcomes = row_of(reading.outcomes, i);
      work(i, Reading<S>{features, outcomes, reading.parents});
    }
  }
};

static_assert(ChunkNode<InChunks<SineVote>> && BackpropagatingNode<InChunks<SineVote>>);
static_assert(ChunkNode<InChunks<Tally>> && !BackpropagatingNode<InChunks<Tally>>);
static_assert(ChunkFunction<InChunks<FeatureProduct>> && !Node<InChunks<FeatureProduct>>);

}  // namespace hindsight::testing
