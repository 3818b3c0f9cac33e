// Help that the library gives to those who write C++, for those who write files.
#include <array>
#include <string_view>

#include <hindsight/graph/graph_draft.hpp>

namespace hindsight::internal {
namespace {

struct Translation {
  std::string_view code, begins_with, in_file;
};

constexpr std::array translations{
    Translation{"values", "Bernoulli{", "values=\"0,1\"   // or leave it out: -1,1 is the default"},
    Translation{"values", "leave .values out", "leave values out for one-hot features"},
    Translation{"one-class", "Categorical{", "classes=2"},
    Translation{"zero-units", ".units", "units=1"},
    Translation{"table-parent", "read it through",
                "read it through a discrete node: bits [kind=bernoulli units=4]; x -> bits;"},
    Translation{"table-rows", "Table{", "rows=\"0.5,0.5\""},
    Translation{"pattern", "Edge{", "[density=0.2 seed=1]   // a fifth of all pairs"},
    Translation{"pattern", "list the pairs", "[pattern=\"0>0 1>2\"]   // list the pairs that are joined"},
    Translation{"empty-name", "graph.add", "hidden [kind=bernoulli]"},
    Translation{"reward-reads-nothing", "graph.reward",
                "output -> r   // with the names of a node and of the reward"},
    Translation{"input-has-no-estimator", "choose", "leave it out: only nodes that are sampled are credited"},
    Translation{"baseline-option", "RunningMean{", "baseline=\"running-mean(decay=0.99)\""},
    Translation{"baseline-option", "LeaveOneOut{", "baseline=\"leave-one-out(samples=4)\""},
    Translation{"baseline-option", "LinearCritic{", "baseline=\"linear-critic(rate=0.1)\""},
};

}  // namespace

Diagnostic in_words_of_files(Diagnostic diagnostic) {
  for (std::string& line : diagnostic.help)
    for (const Translation& translation : translations)
      if (diagnostic.code == translation.code && line.starts_with(translation.begins_with)) {
        line = translation.in_file;
        break;
      }
  return diagnostic;
}

}  // namespace hindsight::internal
