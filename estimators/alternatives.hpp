#pragma once

#include <hindsight/core/report.hpp>

namespace hindsight::internal {

/// What any estimator may offer in its place.
inline const Alternative reinforce_instead{"Reinforce{}", "unbiased everywhere, usually more variance",
                                           "reinforce"};

}  // namespace hindsight::internal
