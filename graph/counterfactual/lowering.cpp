#include <hindsight/graph/lowering.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <hindsight/core/callback.hpp>

namespace hindsight::internal {

template <class S>
Blocks<S> lower_groups(std::span<const std::vector<AnyNode::Placed>> groups) {
  Blocks<S> blocks;
  for (const std::vector<AnyNode::Placed>& placed : groups) {
    const std::string& first = placed.front().at->name;
    Blocks<S> lowered =
        guarded_call({"node-threw", &first, "its lower"}, [&] { return AnyNode::lower<S>(placed); });
    if (lowered.empty() || std::count(lowered.begin(), lowered.end(), nullptr) > 0)
      refuse({.code = "nothing-lowered",
              .node = first,
              .message = fmt::format("the lower of its type ({}) gave no block, or one that is null",
                                     placed.front().node->kind()),
              .help = {"return blocks that cover every member of the group, or leave lower out"}});
    std::move(lowered.begin(), lowered.end(), std::back_inserter(blocks));
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const auto& a, const auto& b) { return a->level() < b->level(); });
  return blocks;
}

template Blocks<float> lower_groups<float>(std::span<const std::vector<AnyNode::Placed>>);
template Blocks<double> lower_groups<double>(std::span<const std::vector<AnyNode::Placed>>);

}  // namespace hindsight::internal
