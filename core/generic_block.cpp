#include <hindsight/core/generic_block.hpp>

#include <fmt/format.h>

namespace hindsight {

void throw_unnormalised(const std::string& node, int unit, double total) {
  refuse(
      {.code = "unnormalised",
       .node = node,
       .message =
           fmt::format("its log_probs gave unit {} probabilities that sum to {:.6g}, not to 1", unit, total),
       .help = {"log_softmax(out.data() + unit * outcomes, outcomes);   // in log_probs, after the scores"}});
}

}  // namespace hindsight
