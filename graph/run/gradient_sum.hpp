#pragma once

#include <hindsight/graph/model.hpp>
#include <hindsight/graph/pass.hpp>

namespace hindsight::internal {

/// Takes the memory in which sums wait for each other, if parts of a batch want more of it than the workspace
/// has. Refuses, and changes nothing, if there is not so much.
template <class S>
void reserve_sums(const Pass<S>& pass, const BackwardOptions& options);

/// From credit and slopes to the gradient: the sum over the batch's chunks in the order of their tree. After
/// a part of a batch the gradient shows the sum of all parts so far.
template <class S>
void accumulate(const Pass<S>& pass, const BackwardOptions& options);

}  // namespace hindsight::internal
