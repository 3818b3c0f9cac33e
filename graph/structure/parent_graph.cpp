#include <hindsight/graph/parent_graph.hpp>

#include <boost/iterator/transform_iterator.hpp>

namespace hindsight::internal {

ChildGraph child_graph(const EdgeList& edges, std::size_t vertices) {
  const auto turned = [](const EdgeList::value_type& edge) { return std::pair(edge.second, edge.first); };
  return {SparseRows(boost::edges_are_unsorted_multi_pass,
                     boost::make_transform_iterator(edges.begin(), turned),
                     boost::make_transform_iterator(edges.end(), turned), static_cast<Vertex>(vertices))};
}

}  // namespace hindsight::internal
