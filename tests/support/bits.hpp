#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// Stricter than ==, by which zeros of either sign are equal and what is no number is not.
template <class A, class B>
bool same_bits(const A& a, const B& b) {
  const std::span first(a), second(b);
  static_assert(std::is_same_v<typename decltype(first)::value_type, typename decltype(second)::value_type>);
  return first.size() == second.size() &&
         (first.empty() || std::memcmp(first.data(), second.data(), first.size_bytes()) == 0);
}

template <class S>
bool same_gradient(const BasicWorkspace<S>& a, const BasicWorkspace<S>& b) {
  return same_bits(a.gradient(), b.gradient());
}

/// Every bit that a run leaves for its user to see, sample by sample; the gradient apart.
template <class S>
std::vector<unsigned char> bits(const BasicWorkspace<S>& run, const std::vector<NodeId>& nodes,
                                const std::vector<NodeId>& functions = {}) {
  std::vector<unsigned char> all;
  const auto append = [&](const auto& view, std::ptrdiff_t row) {
    for (std::ptrdiff_t j = 0; j < view.cols(); ++j) {
      const auto* const first = reinterpret_cast<const unsigned char*>(&view(row, j));
      all.insert(all.end(), first, first + sizeof(view(row, j)));
    }
  };
  for (int i = 0; i < run.samples(); ++i) {
    for (const NodeId node : nodes) {
      append(run.outcomes(node), i);
      append(run.log_probs(node), i);
      append(run.evidence(node), i);
      append(run.credit(node), i);
    }
    for (const NodeId node : functions) append(run.values(node), i);
  }
  return all;
}

}  // namespace hindsight::testing
