#include <hindsight/core/node_runner.hpp>

#include <fmt/format.h>

namespace hindsight::internal {

void refuse_not_a_number(const std::string& reader, std::string_view changed) {
  refuse({.code = "value-not-a-number",
          .node = reader,
          .message =
              fmt::format("its log-probabilities are not numbers once '{}' takes another outcome", changed),
          .help = {"sums have overflowed, or log_probs or an evaluate is wrong: scale the inputs, or check "
                   "them by finite differences"}});
}

template <class S>
void NodeRunner<S>::refuse_sum(std::size_t unit, double total, std::string_view remedy) const {
  refuse({.code = "unnormalised",
          .node = at.name,
          .message = fmt::format("its log_probs gave unit {} probabilities that sum to {:.6g}, not to 1",
                                 unit, total),
          .help = {std::string(remedy)}});
}

template class NodeRunner<float>;
template class NodeRunner<double>;

}  // namespace hindsight::internal
