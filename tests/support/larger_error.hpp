#pragma once

#include <cmath>

namespace hindsight::testing {

/// The larger of two errors; not a number if one of them is not, so that no check lets it pass.
inline double larger_error(double a, double b) { return std::isnan(a) || a > b ? a : b; }

}  // namespace hindsight::testing
