#pragma once

#include <hindsight/graph/violations.hpp>

namespace hindsight::internal {

/// find_violations where the contraction has been made already.
Violations find_violations(const Graph&, const Contraction&, InputPolicy);

}  // namespace hindsight::internal
