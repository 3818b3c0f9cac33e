#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::testing {

/// Two outcomes, one parameter, and whatever the test puts in place of its functions.
struct Faulty {
  using Function = void (*)();
  Function in_shape = [] {}, in_log_probs = [] {}, in_accumulate = [] {}, in_initialise = [] {};
  double log_prob_0 = std::log(0.5), log_prob_1 = std::log(0.5);
  int units = 1;
  Encoding encoding = scalar_encoding({-1, 1});

  Shape shape(std::span<const ParentShape>) const {
    in_shape();
    return {.units = units, .encoding = encoding, .parameters = {{"nothing", 1}}};
  }
  template <class S>
  void log_probs(std::span<const S>, const Reading<S>&, std::span<S> out) const {
    in_log_probs();
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<S>(i == out.size() - 2   ? log_prob_0
                              : i == out.size() - 1 ? log_prob_1
                                                    : std::log(0.5));
  }
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>) const {
    in_accumulate();
  }
  void initialise(const Initialisation&, std::span<double>) const { in_initialise(); }
};

/// Things that the functions of a faulty node may do.
inline void boom() { throw std::runtime_error("boom"); }
inline void number() { throw 7; }
inline void out_of_memory() { throw std::bad_alloc(); }
inline void refusal() { refuse({.code = "mine", .message = "no", .help = {"yes"}}); }

/// What is told of them.
inline std::string threw(const std::string& function, const std::string& what) {
  return "error[node-threw]: node 'bad': its " + function + " threw: " + what +
         "\n  help: let it answer whatever it is asked; to refuse with a reason of its own, let it throw "
         "Error";
}
inline const std::string not_standard = "something that is no std::exception";
inline const std::string refused = "error[mine]: node 'bad': no\n  help: yes";

/// Adds the node as 'bad', compiles, goes forward and back.
template <class S>
void run_alone(const AnyNode& node) {
  Graph graph;
  const NodeId bad = graph.add("bad", node, {});
  const RewardId r = graph.reward("r", {bad});
  const auto model = compile<S>(graph);
  auto run = model.workspace(2);
  model.forward(run, {});
  const std::vector<S> rewards = {S(1), S(2)};
  model.backward(run, {{r, rewards}});
}

}  // namespace hindsight::testing
