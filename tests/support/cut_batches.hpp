#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "support/bits.hpp"
#include "support/share.hpp"

namespace hindsight::testing {

/// A batch of 300 samples, chunks of 64, 64, 64, 64 and 44, has the same bits for every number of threads and
/// however it is cut between chunks. `work(run, begin, end, options)` runs the samples begin … end-1, forward
/// and backward.
template <class S, class Work>
void check_cuts(const BasicModel<S>& model, const std::vector<NodeId>& nodes,
                const std::vector<NodeId>& functions, const Work& work) {
  constexpr int samples = 300;
  auto whole = model.workspace(samples);
  work(whole, 0, samples, BackwardOptions{});
  const std::vector<unsigned char> expected = bits(whole, nodes, functions);
  for (const int threads : under_sanitizer ? std::vector{1, 3} : std::vector{1, 2, 3, 7})
    for (const std::vector<int>& cuts :
         {std::vector{0, 300}, std::vector{0, 64, 300}, std::vector{0, 128, 192, 300},
          std::vector{0, 256, 300}, std::vector{0, 64, 128, 192, 256, 300}}) {
      int largest = 0;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) largest = std::max(largest, cuts[i + 1] - cuts[i]);
      auto part = model.workspace(largest, {.threads = threads});
      // Twice: what is left of the first time must not show.
      for (int repetition = 0; repetition < 2; ++repetition) {
        std::vector<unsigned char> seen;
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
          part.seek({.first_sample = static_cast<std::uint32_t>(cuts[i])});
          work(part, cuts[i], cuts[i + 1], BackwardOptions{.of = samples, .continues = i > 0});
          const std::vector<unsigned char> more = bits(part, nodes, functions);
          seen.insert(seen.end(), more.begin(), more.end());
        }
        INFO(threads, " threads, ", cuts.size() - 1, " parts, ", repetition, " times before");
        CHECK(seen == expected);
        CHECK(same_gradient(part, whole));
      }
    }
}

}  // namespace hindsight::testing
