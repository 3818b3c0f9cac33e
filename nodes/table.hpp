#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <hindsight/core/catalogue.hpp>
#include <hindsight/core/node.hpp>

namespace hindsight {

/// A conditional probability table over discrete parents: one row of probabilities for every joint outcome of
/// the parents' units, the last unit of the last parent varying fastest. The rows given are where learning
/// starts; each unit then has rows of its own. A probability of 0 stays 0.
struct Table {
  std::vector<std::vector<double>> rows;
  int units = 1;
  std::vector<double> values = {};  ///< one number per outcome for the children; none: one-hot

  static constexpr std::string_view kind = "Table";

  Shape shape(std::span<const ParentShape> parents) const;
  template <class S>
  void log_probs(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<S> out) const;
  template <class S>
  void accumulate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> credit,
                  std::span<S> out) const;
  void initialise(const Initialisation& start, std::span<double> theta) const;

  /// Rows lie between semicolons: rows="0.1,0.9; 0.5,0.5".
  static Table read(AttributeReader& given);
  void write(Attributes& written) const;
};

static_assert(Node<Table> && WrittenNode<Table>);

extern template AnyNode::AnyNode(Table);

}  // namespace hindsight
