#include <algorithm>
#include <iterator>
#include <ranges>
#include <unordered_set>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/core/ids.hpp>

using namespace hindsight;

TEST_CASE("a list of nodes is a range that algorithms may jump about in") {
  using Nodes = IdRange<NodeId>;
  static_assert(std::ranges::random_access_range<const Nodes> && std::ranges::sized_range<const Nodes>);
  static_assert(std::ranges::view<Nodes> && std::ranges::borrowed_range<Nodes>);
  const Nodes nodes(7);
  const auto first = nodes.begin(), last = nodes.end();
  CHECK(last - first == 7);
  CHECK(std::distance(first, last) == 7);
  CHECK(first[3] == NodeId{3});
  CHECK(nodes[6] == NodeId{6});
  CHECK(*(2 + first) == NodeId{2});
  CHECK(*(last - 1) == NodeId{6});
  CHECK(first < last);
  auto at = first;
  CHECK(*at++ == NodeId{0});
  CHECK(*at-- == NodeId{1});
  CHECK(*--(at += 5) == NodeId{4});
  CHECK(*(at -= 2) == NodeId{2});
  CHECK(std::ranges::lower_bound(nodes, NodeId{5}) == first + 5);
  CHECK(std::vector(std::reverse_iterator(last), std::reverse_iterator(last - 2)) ==
        std::vector{NodeId{6}, NodeId{5}});
}

TEST_CASE("ids can be keys of unordered containers") {
  const std::unordered_set<NodeId> nodes{{0}, {1}, {0}};
  const std::unordered_set<RewardId> rewards{{2}, {2}};
  CHECK(nodes.size() == 2);
  CHECK(nodes.contains(NodeId{1}));
  CHECK(rewards.size() == 1);
}
