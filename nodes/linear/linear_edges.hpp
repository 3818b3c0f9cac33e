#pragma once

#include <vector>

#include <hindsight/nodes/linear_fusion.hpp>
#include <hindsight/nodes/linear_messages.hpp>
#include <hindsight/nodes/linear_reads.hpp>

namespace hindsight::internal {

/// The edges of one block to parents that want messages, by how those are made.
template <class S>
struct BlockEdges {
  std::vector<typename DenseMessages<S>::Group> groups = {};  ///< refer to the block's runs
  std::vector<UnitEdge> general = {};
};

/// What all units of the block read by dense runs is grouped; of the other edges between binary units the
/// parents are listed.
template <class S>
BlockEdges<S> collect_edges(const std::vector<ReadingUnit>& units, const std::vector<DenseRun>& runs,
                            LinkFunction link, SparseEdges& sparse);

}  // namespace hindsight::internal
