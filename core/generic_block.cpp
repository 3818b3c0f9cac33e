#include <hindsight/core/generic_block.hpp>

#include <fmt/format.h>

namespace hindsight {

void throw_node_failure(const std::string& node, const char* function, const std::string& what) {
  refuse({.code = "node-threw",
          .node = node,
          .message = fmt::format("its {} threw: {}", function, what),
          .help = {fmt::format("make {} total: it must answer for every reading of its parents", function)}});
}

void throw_unnormalised(const std::string& node, int unit, double total) {
  refuse(
      {.code = "unnormalised",
       .node = node,
       .message =
           fmt::format("its log_probs gave unit {} probabilities that sum to {:.6g}, not to 1", unit, total),
       .help = {"log_softmax(out.data() + unit * outcomes, outcomes);   // in log_probs, after the scores"}});
}

}  // namespace hindsight
