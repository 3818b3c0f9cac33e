// What nodes and estimators of the user's own do wrong while the library calls them.
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hindsight/hindsight.hpp>

#include "support/chain.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

enum class Mood { good, throws, throws_no_exception, refuses, names_another, no_memory, unnormalised, nan };

/// Which function misbehaves, and how.
struct Trouble {
  std::string_view site = {};
  Mood mood = Mood::good;

  bool is(std::string_view where, Mood how) const { return site == where && mood == how; }
  void erupt(std::string_view where) const {
    if (site != where) return;
    if (mood == Mood::throws) throw std::runtime_error("lost the coin");
    if (mood == Mood::throws_no_exception) throw 42;
    if (mood == Mood::no_memory) throw std::bad_alloc();
    if (mood == Mood::refuses || mood == Mood::names_another)
      refuse({.code = "no-coin",
              .node = mood == Mood::refuses ? "" : "purse",
              .message = "the coin is lost",
              .help = {"bring another"}});
  }
};

/// Two fair coins with one parameter.
struct Coin {
  static constexpr bool reads_patterns = true;
  const Trouble* trouble;

  Shape shape(std::span<const ParentShape>) const {
    trouble->erupt("shape");
    return {.units = 2, .encoding = one_hot_encoding(2), .parameters = {{"nothing", 1}}};
  }
  void initialise(const Initialisation&, std::span<double>) const { trouble->erupt("initialise"); }
  template <class S>
  void log_probs(std::span<const S>, const Reading<S>&, std::span<S> out) const {
    trouble->erupt("log_probs");
    for (S& value : out) value = std::log(S(0.5));
    if (trouble->is("log_probs", Mood::unnormalised)) out[3] = std::log(S(0.25));
    if (trouble->is("log_probs", Mood::nan)) out[2] = std::numeric_limits<S>::quiet_NaN();
  }
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>) const {
    trouble->erupt("accumulate");
  }
};

struct Moody : Reinforce {
  const Trouble* trouble;

  explicit Moody(const Trouble& shared) : trouble(&shared) {}
  std::string name() const { return "moody"; }
  template <class S>
  void add_credit(const LocalView<S>& view, const CreditTable<S>& credit) const {
    trouble->erupt("add_credit");
    Reinforce::add_credit(view, credit);
    if (trouble->is("add_credit", Mood::nan)) credit(0, 1, 1) = std::numeric_limits<S>::quiet_NaN();
  }
};

/// a ─→ coin ─→ r, where a is credited by Moody
struct Purse {
  Trouble trouble;
  Graph graph;
  NodeId a = graph.add("a", Bernoulli{}, {});
  std::optional<Model> model;
  std::optional<Workspace> run;
  RewardId r;
  std::vector<float> rewards{1.0F, -1.0F, 2.0F};

  void build(const Pattern& pattern = Pattern::dense()) {
    r = graph.reward("r", {graph.add("coin", Coin{&trouble}, {Edge{a, pattern}})});
    graph.estimate_with(a, Moody(trouble));
    model = compile(graph, {.seed = 3});
    run = model->workspace(3);
  }
  void forward() { model->forward(*run, {}); }
  void backward(bool continues = false) {
    model->backward(*run, {{r, rewards}}, {.of = 6, .continues = continues});
  }
  std::vector<float> gradient() const { return {run->gradient().begin(), run->gradient().end()}; }
  void is_good() { trouble = {}; }
};

/// The refusal of the first call that meets the trouble.
std::string text(std::string_view site, Mood mood) {
  Purse purse;
  purse.trouble = {site, mood};
  return refusal([&] {
    purse.build();
    purse.forward();
    purse.backward();
  });
}

const std::string help =
    "\n  help: let it answer whatever it is asked; to refuse with a reason of its own, let it throw Error";

}  // namespace

TEST_CASE("whatever a node of the user's own throws carries its name") {
  for (const std::string_view site : {"shape", "initialise", "log_probs", "accumulate"}) {
    CHECK(text(site, Mood::throws) ==
          fmt::format("error[node-threw]: node 'coin': its {} threw: lost the coin", site) + help);
    CHECK(text(site, Mood::throws_no_exception) ==
          fmt::format("error[node-threw]: node 'coin': its {} threw: something that is no std::exception",
                      site) +
              help);
  }
}

TEST_CASE("whatever an estimator of the user's own throws carries the name of the node it credits") {
  CHECK(text("add_credit", Mood::throws) ==
        "error[estimator-threw]: node 'a': its estimator threw: lost the coin" + help);
  CHECK(text("add_credit", Mood::throws_no_exception) ==
        "error[estimator-threw]: node 'a': its estimator threw: something that is no std::exception" + help);
}

TEST_CASE("a refusal of the user's own keeps its words and is given a node only if it names none") {
  for (const std::string_view site : {"shape", "initialise", "log_probs", "accumulate", "add_credit"}) {
    CHECK(text(site, Mood::refuses) == fmt::format(R"(error[no-coin]: node '{}': the coin is lost
  help: bring another)",
                                                   site == "add_credit" ? "a" : "coin"));
    CHECK(text(site, Mood::names_another) == R"(error[no-coin]: node 'purse': the coin is lost
  help: bring another)");
  }
}

TEST_CASE("running out of memory is not taken for a fault of the user's") {
  for (const std::string_view site : {"shape", "initialise", "log_probs", "accumulate", "add_credit"})
    CHECK_THROWS_AS(text(site, Mood::no_memory), std::bad_alloc);
}

TEST_CASE("a node that throws while it is added is not added") {
  Purse purse;
  for (const Pattern& pattern : {Pattern::dense(), Pattern::pairs({{0, 1}})}) {
    purse.trouble = {"shape", Mood::throws};
    CHECK(refusal([&] { purse.build(pattern); }) ==
          "error[node-threw]: node 'coin': its shape threw: lost the coin" + help);
    CHECK(purse.graph.node_count() == 1);
    CHECK(purse.graph.edge_count() == 0);
    CHECK(purse.graph.children(purse.a).empty());
  }
  purse.is_good();
  purse.build(Pattern::pairs({{0, 1}}));
  CHECK(purse.graph.node_count() == 2);
}

TEST_CASE("what a node of the user's own answers wrong in a forward pass carries its name") {
  Purse purse;
  purse.build();
  const auto answer = [&](Mood mood) {
    purse.trouble = {"log_probs", mood};
    return refusal([&] { purse.forward(); });
  };
  CHECK(
      answer(Mood::unnormalised) ==
      R"(error[unnormalised]: node 'coin': its log_probs gave unit 1 probabilities that sum to 0.75, not to 1
  help: log_softmax(out.data() + unit * outcome_count, outcome_count);   // in log_probs, after the scores)");
  CHECK(
      answer(Mood::nan) ==
      R"(error[log-probs-not-finite]: node 'coin': its log-probabilities are not numbers in sample 0, though its parameters are finite
  help: logits have overflowed or log_probs is wrong: scale the inputs, or check the node by finite differences)");
  CHECK(answer(Mood::throws) == "error[node-threw]: node 'coin': its log_probs threw: lost the coin" + help);
  CHECK(purse.run->position() == StreamPosition{});
  purse.is_good();
  purse.forward();
  CHECK(purse.run->position().step == 1);
}

TEST_CASE("a node that throws while messages are sent leaves the gradient as it was") {
  Purse purse;
  purse.build();
  purse.graph.estimate_with(purse.a, Hnca{});
  purse.model = compile(purse.graph);
  purse.run = purse.model->workspace(3);
  purse.forward();
  purse.backward();
  const std::vector<float> gradient = purse.gradient();
  purse.trouble = {"log_probs", Mood::throws};
  CHECK(refusal([&] { purse.backward(true); }) ==
        "error[node-threw]: node 'coin': its log_probs threw: lost the coin" + help);
  CHECK(same_bits(purse.gradient(), gradient));
  purse.is_good();
  purse.backward();
  CHECK(same_bits(purse.gradient(), gradient));
}

TEST_CASE("an estimator that throws or gives what is no number leaves the gradient as it was") {
  Purse purse;
  purse.build();
  purse.forward();
  purse.backward();
  const std::vector<float> gradient = purse.gradient();
  purse.trouble = {"add_credit", Mood::throws};
  CHECK(refusal([&] { purse.backward(true); }) ==
        "error[estimator-threw]: node 'a': its estimator threw: lost the coin" + help);
  CHECK(same_bits(purse.gradient(), gradient));
  purse.trouble.mood = Mood::nan;
  CHECK(
      refusal([&] { purse.backward(true); }) ==
      R"(error[credit-not-finite]: node 'a': its estimator moody gave the credit nan in sample 1 for reward 'r'
  help: check add_credit: it must give finite credit for finite signals)");
  CHECK(same_bits(purse.gradient(), gradient));
  CHECK(purse.run->position().step == 1);
  purse.is_good();
  purse.backward(true);  // the sum of the parts before is whole
  for (std::size_t i = 0; i < gradient.size(); ++i) CHECK(purse.gradient()[i] == 2 * gradient[i]);
}

TEST_CASE("a gradient that failed half-way cannot be continued") {
  constexpr const char* expected =
      R"(error[broken-sum]: there is no sum to continue: the backward pass of an earlier part failed half-way
  help: run all parts again, the first without .continues)";
  for (const bool fails_first : {true, false}) {
    Purse purse;
    purse.build();
    purse.forward();
    if (!fails_first) purse.backward();
    purse.trouble = {"accumulate", Mood::throws};
    CHECK(refusal([&] { purse.backward(!fails_first); }) ==
          "error[node-threw]: node 'coin': its accumulate threw: lost the coin" + help);
    purse.is_good();
    CHECK(refusal([&] { purse.backward(true); }) == expected);
    purse.forward();
    CHECK(refusal([&] { purse.backward(true); }) == expected);

    Workspace fresh = purse.model->workspace(3);
    fresh.seek({.step = 1});
    purse.model->forward(fresh, {});
    for (const bool continues : {false, true}) {
      purse.backward(continues);
      purse.model->backward(fresh, {{purse.r, purse.rewards}}, {.of = 6, .continues = continues});
    }
    CHECK(same_bits(purse.run->gradient(), fresh.gradient()));
  }
}

TEST_CASE("credit that is no number is told with the node, the estimator and the reward it came from") {
  //  a, b ─→ c ─→ r1, r2      a and b are credited in one run; only b's second reward goes wrong
  struct Wild {
    Needs needs() const { return {}; }
    Verdict admissible(const Facts&) const { return {}; }
    std::string name() const { return "wild"; }
    void add_credit(const LocalView<float>& view, const CreditTable<float>& credit) const {
      credit(view.units - 1, 0, 0) = std::numeric_limits<float>::quiet_NaN();
    }
    void add_credit(const LocalView<double>& view, const CreditTable<double>& credit) const {
      credit(view.units - 1, 0, 0) = std::numeric_limits<double>::quiet_NaN();
    }
  };
  Graph graph;
  const NodeId a = graph.add("a", Bernoulli{}, {}), b = graph.add("b", Bernoulli{}, {});
  const NodeId c = graph.add("c", Bernoulli{}, {a, b});
  const RewardId r1 = graph.reward("r1", {c}), r2 = graph.reward("r2", {c});
  const AnyEstimator wild = Wild{};
  graph.estimate_with(a, r2, wild);
  graph.estimate_with(b, r2, wild);
  const Model model = compile(graph);
  auto run = model.workspace(1);
  model.forward(run, {});
  const std::vector<float> one{1.0F};
  const char* const text =
      "error[credit-not-finite]: node 'b': its estimator wild gave the credit nan in sample 0 for reward "
      "'r2'\n  help: check add_credit: it must give finite credit for finite signals";
  CHECK_THROWS_WITH_AS(model.backward(run, {{r1, one}, {r2, one}}), text, Error);
  const std::vector<RewardFunction> value{{r1, [](const JointOutcome&) { return 1.0; }},
                                          {r2, [](const JointOutcome&) { return 1.0; }}};
  CHECK_THROWS_WITH_AS(enumerate(model, {}, value), text, Error);
}
