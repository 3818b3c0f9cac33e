#pragma once

#include <cstddef>
#include <string>

#include <hindsight/graph/microscope.hpp>

namespace hindsight::internal {

// What a comparison may ask for, and what it may take.

/// Before it is measured, of a contender whose baselines learn.
inline constexpr int warm_up_batches = 200;

/// Of each contender, or of the reference: sums and differences of such counts stay within an int.
inline constexpr int most_gradients = 1'000'000'000;

/// What a model takes, in operations of about a nanosecond. Reward functions and the work of the user's own
/// nodes are not counted: nobody knows what they take.
struct GradientCost {
  double passes = 0;  ///< forward and backward, per gradient
  double sums = 0;    ///< what summing units out takes besides
  int warm_up = 0;    ///< gradients beforehand
  double exact = 0;   ///< going through all states, once for all gradients

  double of(double gradients) const { return (passes + sums) * (gradients + warm_up) + exact; }
};
GradientCost cost_of_gradient(const Graph& graph, const Model& model, const MicroscopeOptions& options);
/// By enumeration of that many states.
double cost_of_exact_gradient(const Graph& graph, const Model& model, double states);
double cost_of_exact_variance(const Graph& graph, const Model& model, double states);

/// Throws Error where counts are too small or too large, or inputs do not fit each other.
void check(const Task& task, const MicroscopeOptions& options);

/// Throws Error where what is kept of that many contenders and parameters does not fit into memory.
void require_memory_for(std::size_t contenders, std::size_t parameters);

/// The same where workspaces and rows of all who are compared do not.
void require_memory_for(double bytes, const MicroscopeOptions& options);

/// The fewest that a comparison makes do with.
int least_gradients(const MicroscopeOptions& options);

/// How many of its reference come with that many gradients of each contender.
int reference_gradients(const MicroscopeOptions& options, int gradients);

/// Why the contender takes no part: with it, the fewest gradients would take too long.
std::string too_long(const GradientCost& cost, const MicroscopeOptions& options);

/// Throws Error where even those who sum nothing out would take too long: so many operations, of
/// which so many go through all states.
[[noreturn]] void refuse_time(double operations, double exact, const MicroscopeOptions& options);

}  // namespace hindsight::internal
