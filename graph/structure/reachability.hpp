#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <hindsight/graph/vertex.hpp>

namespace hindsight::internal {

struct ParentGraph;

/// A vertex whose edges are to be checked, and the last of its children that may be at fault.
struct Source {
  Vertex vertex = 0, last_child = 0;
};

/// Which of up to 512 sources reach which vertices: one sweep in topological order, a row of bits per vertex
/// that is reached at all. It ends at the last child that may be at fault, so that the cost follows how far
/// edges reach and not how large the graph is.
class ReachabilitySweep {
 public:
  static constexpr std::size_t most_sources = 512;

  /// An edge of the contraction, from sources[slot], that a longer route accompanies.
  struct Hit {
    std::uint32_t slot;
    Vertex child;
  };

  /// Refers to the DAG.
  explicit ReachabilitySweep(const ParentGraph& dag);

  /// Sources in ascending order, each in one run only. All edges at fault, by child in ascending order; valid
  /// until the next run.
  std::span<const Hit> run(std::span<const Source> sources);

  /// After a run: a route of at least one edge leads from the source to the vertex, which is not transparent
  /// and not beyond the children that may be at fault.
  bool reaches(std::size_t slot, Vertex vertex) const { return has(rows_[places_[vertex]], slot); }

 private:
  static constexpr std::size_t words = most_sources / 64;
  struct alignas(64) Row {
    std::array<std::uint64_t, words> bits{};
  };
  /// Rows that serve every vertex that no source reaches, this one and the one after it, and every vertex
  /// that all sources reach.
  static constexpr std::uint32_t nobody = 0, everybody = 2, first_row = 3;
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  static bool has(const Row& row, std::size_t slot) { return (row.bits[slot / 64] >> (slot % 64) & 1) != 0; }
  void sort_edges();
  void sweep(std::span<const Source> sources);
  std::uint32_t row_of_parents(Vertex vertex);
  void visit_reader(Vertex vertex);
  void forget(Vertex parent, Vertex child);
  void visit_where_some_are_transparent(Vertex vertex);
  Row& append(const Row& row);

  const ParentGraph& dag_;
  /// The neighbours of all vertices, children in ascending and parents in descending order: of these none
  /// below the first source is of interest. Edges that were found at fault are among the parents no longer.
  /// All empty where some vertices are transparent.
  std::vector<Vertex> children_, parents_;
  std::vector<std::size_t> children_begin_, parents_begin_, parents_end_;
  std::vector<char> reads_source_;     ///< per vertex; all are 0 between runs
  std::vector<std::uint32_t> places_;  ///< per vertex: its row; a transparent vertex has two
  std::vector<std::uint32_t> slots_;   ///< per vertex: which source it is
  std::vector<Row> rows_;
  std::size_t used_ = first_row;
  Vertex first_ = 0, last_ = 0, last_source_ = 0;  ///< of the last run
  std::vector<Hit> hits_;
};

/// Lists the vertex's parents in the contraction, in the order in which it lists them, depth first through
/// transparent vertices.
class ContractedParents {
 public:
  explicit ContractedParents(const ParentGraph& dag);
  /// Valid until the next call.
  std::span<const Vertex> of(Vertex vertex);
  /// Edges followed by all calls.
  std::size_t steps() const { return steps_; }

 private:
  const ParentGraph& dag_;
  std::size_t steps_ = 0;
  std::vector<std::uint32_t> seen_;  ///< per vertex: the call that saw it last
  std::uint32_t call_ = 0;
  std::vector<std::span<const Vertex>> stack_;  ///< what is left of the lists of parents, the innermost last
  std::vector<Vertex> found_;
};

/// Reorders the sources so that each run of `most_sources` neighbours reaches about equally far: few sources
/// with far children do not make the sweeps of all others long. The spans are ascending. Those that lie last
/// come first: beyond the sources only edges that are not known to be at fault are followed.
std::vector<std::span<const Source>> gather_by_reach(std::vector<Source>& sources);

/// In their own order.
std::vector<std::span<const Source>> gather_in_order(std::span<const Source> sources);

/// Which edges of the contraction, from the sources, a longer route accompanies: the transitive reduction has
/// all others.
class EdgesAtFault {
 public:
  EdgesAtFault(const ParentGraph& dag, std::vector<Source> sources);
  bool contains(Vertex parent, Vertex child) const;

 private:
  std::vector<std::pair<Vertex, Vertex>> edges_;  ///< sorted
};

}  // namespace hindsight::internal
