// Every estimator with every kind of node, baseline, kind of reward and situation in the graph: what
// docs/theory.md says of it, what the validator says, and what enumeration finds.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/graph/access.hpp>

#include "support/combinations.hpp"
#include "support/larger_error.hpp"
#include "support/random_graphs.hpp"
#include "support/share.hpp"

using namespace hindsight;
using namespace hindsight::testing;

namespace {

/// What the node is credited with by the black box, and by the known reward.
struct Estimators {
  const NamedEstimator& box;
  const NamedEstimator& known;
};

struct Tally {
  int unbiased = 0, biased = 0, refused = 0, idle = 0;
  bool operator==(const Tally&) const = default;
  Tally operator*(int times) const {
    return {unbiased * times, biased * times, refused * times, idle * times};
  }
};

doctest::String toString(const Tally& tally) {
  return fmt::format("{} unbiased, {} biased, {} refused, {} idle", tally.unbiased, tally.biased,
                     tally.refused, tally.idle)
      .c_str();
}

struct Finding {
  std::string code;
  Reason reason;
  bool operator==(const Finding&) const = default;
};

/// Compares theory, validator and enumeration, one combination after another.
class Judge {
 public:
  void judge(const Estimators& estimators, const NamedKind& kind, Situation situation,
             const NamedRewards& rewards, const NamedBaseline& baseline) {
    CAPTURE(estimators.box.name);
    CAPTURE(estimators.known.name);
    CAPTURE(kind.name);
    CAPTURE(to_string(situation));
    CAPTURE(rewards.name);
    CAPTURE(baseline.name);
    small_ = small_graph(kind, situation, rewards);
    credits_.clear();
    if (rewards.box) expect(estimators.box, *rewards.box, false, situation);
    if (rewards.known) expect(estimators.known, *rewards.known, true, situation);
    choose(estimators);
    for (const RewardId reward : small_.rewards) small_.graph.baseline(reward, baseline.choice);
    const Report report = validate(small_.graph);
    CAPTURE(fmt::to_string(report));
    for (std::size_t i = 0; i < credits_.size(); ++i) check_credit(report, i, baseline);
    if (!expected_findings().empty())
      judge_refusal();
    else if (expects(Expected::biased))
      judge_bias(report, baseline);
    else if (expects(Expected::unbiased))
      judge_unbiased();
    else
      judge_idle(report);
  }

  const Tally& tally() const { return tally_; }

 private:
  struct ExpectedCredit {
    const NamedEstimator* estimator;
    Expected expected;
    std::string automatic;  ///< what Auto takes here
  };

  void expect(const NamedEstimator& estimator, Access access, bool is_known, Situation situation) {
    const bool hnca = expected(Family::enforced, access, is_known, situation) == Expected::unbiased;
    credits_.push_back(
        {&estimator, expected(estimator.family, access, is_known, situation), hnca ? "hnca" : "reinforce"});
  }

  bool expects(Expected what) const {
    return std::any_of(credits_.begin(), credits_.end(),
                       [&](const ExpectedCredit& credit) { return credit.expected == what; });
  }

  void choose(const Estimators& estimators) {
    if (&estimators.box == &estimators.known)
      small_.graph.estimate_with(small_.node, estimators.box.choice);
    else
      for (std::size_t i = 0; i < credits_.size(); ++i)
        small_.graph.estimate_with(small_.node, small_.rewards[i], credits_[i].estimator->choice);
  }

  void check_credit(const Report& report, std::size_t which, const NamedBaseline& baseline) const {
    const auto& [estimator, expected, automatic] = credits_[which];
    const std::string& reward = small_.graph.name(small_.rewards[which]);
    const auto found = std::find_if(
        report.credits.begin(), report.credits.end(),
        [&](const CreditVerdict& credit) { return credit.node == "a" && credit.reward == reward; });
    const bool is_credited = found != report.credits.end();
    CHECK(is_credited == (expected != Expected::idle));
    if (!is_credited) return;
    CHECK(found->verdict.admissible == !is_refused(expected));
    CHECK(found->verdict.unbiased == (expected == Expected::unbiased || expected == Expected::policy));
    CHECK(found->estimator == (estimator->choice.chosen() ? estimator->name : automatic));
    CHECK(found->baseline == (estimator->family == Family::straight ? "" : baseline.name));
  }

  /// The mean over everything that can happen, with baselines in the middle of their lives.
  Enumeration enumerate_all() {
    constexpr std::uint64_t seed = 9;  // no unit of it is so saturated that there would be nothing to see
    const BasicModel<double> model = random_model<double>(small_.graph, seed, 2);
    const Placement& at = internal::Access::plan(model).layout.placement(small_.node);
    first_ = at.first_parameter;
    last_ = first_ + at.shape.parameter_count;
    Dice dice(seed);
    std::vector<double> state;
    for (std::size_t i = 0; i < internal::Access::plan(model).credit.baseline_scalars; ++i)
      state.push_back(dice.between(0.1, 1.5));
    const std::vector<double> values{1, -0.5};
    const std::vector<InputValues<double>> inputs{
        {small_.input, MatrixView<const double>(values.data(), 1, 2)}};
    return enumerate<double>(model, inputs, small_.boxes, {.variance = false, .baselines = state});
  }

  /// The largest entry of a - b among the node's own parameters, or among all others.
  double difference(const std::vector<double>& a, const std::vector<double>& b, bool own) const {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      if ((first_ <= i && i < last_) == own) largest = larger_error(largest, std::abs(a[i] - b[i]));
    return largest;
  }
  double size_of_own(const std::vector<double>& gradient) const {
    return difference(gradient, std::vector<double>(gradient.size()), true);
  }

  void judge_unbiased() {
    ++tally_.unbiased;
    const Enumeration exact = enumerate_all();
    CHECK(difference(exact.estimate, exact.gradient, true) <= 1e-10);
    CHECK(difference(exact.estimate, exact.gradient, false) <= 1e-10);
    CHECK(size_of_own(exact.gradient) > 1e-4);  // there is something to estimate
  }

  /// What other nodes learn is right all the same, and a baseline does not change the mean of slopes.
  void judge_bias(const Report& report, const NamedBaseline& baseline) {
    ++tally_.biased;
    CHECK(report.admissible());
    CHECK(report.count("biased-estimator") == credits_.size());
    for (const Diagnostic& diagnostic : report.diagnostics)
      if (diagnostic.code == "biased-estimator") {
        CHECK(diagnostic.severity == Severity::warning);
        CHECK(diagnostic.node == "a");
        CHECK(diagnostic.reason == Reason::biased);
        CHECK(check_help(diagnostic, {}) > 0);
      }
    const Enumeration exact = enumerate_all();
    CHECK(difference(exact.estimate, exact.gradient, false) <= 1e-10);
    CHECK(difference(exact.estimate, exact.gradient, true) > 1e-5);
    if (baseline.name.empty()) without_baseline_ = exact.estimate;
    CHECK(difference(exact.estimate, without_baseline_, true) <= 1e-10);
  }

  /// Nothing leads from the node to a reward: whatever was chosen, its gradient is zero.
  void judge_idle(const Report& report) {
    ++tally_.idle;
    CHECK(std::any_of(report.diagnostics.begin(), report.diagnostics.end(), [](const Diagnostic& found) {
      return found.code == "no-path-to-reward" && found.node == "a";
    }));
    const Enumeration exact = enumerate_all();
    CHECK(size_of_own(exact.gradient) <= 1e-10);
    CHECK(size_of_own(exact.estimate) == 0);
    CHECK(difference(exact.estimate, exact.gradient, false) <= 1e-10);
  }

  /// In the order of the rewards; a violation is told once.
  std::vector<Finding> expected_findings() const {
    std::vector<Finding> findings;
    const Finding violation{"assumption-1", Reason::policy};
    bool is_straight = false, differs = false;
    for (const ExpectedCredit& credit : credits_) {
      if (credit.expected == Expected::policy && std::count(findings.begin(), findings.end(), violation) == 0)
        findings.push_back(violation);
      if (credit.expected == Expected::reads_node) findings.push_back({"reward-reads-node", Reason::biased});
      if (credit.expected == Expected::no_slope)
        findings.push_back({"inadmissible-estimator", Reason::undefined});
      is_straight = is_straight || credit.estimator->family == Family::straight;
      differs = differs || credit.estimator != credits_.front().estimator;
    }
    if (is_straight && differs && !expects(Expected::idle))
      findings.push_back({"mixed-pathwise", Reason::undefined});
    return findings;
  }

  void judge_refusal() {
    ++tally_.refused;
    std::vector<Diagnostic> errors;
    try {
      compile<double>(small_.graph);
    } catch (const Error& refusal) {
      const std::vector<Diagnostic>& said = refusal.report().diagnostics;
      std::copy_if(said.begin(), said.end(), std::back_inserter(errors),
                   [](const Diagnostic& found) { return found.severity == Severity::error; });
    }
    std::vector<Finding> findings;
    for (const Diagnostic& error : errors) {
      findings.push_back({error.code, error.reason});
      CHECK(error.node == "a");
      CHECK((error.witness.empty() == (error.code == "mixed-pathwise")));
      CHECK(check_help(error, errors) > 0);
    }
    CHECK((findings == expected_findings()));
  }

  /// Each line of a diagnostic that names an estimator, pasted after all lines of all errors, of which the
  /// last for each reward counts, leads to a graph that compiles; going straight through for all rewards does
  /// so by itself. Returns how many lines there are.
  int check_help(const Diagnostic& diagnostic, const std::vector<Diagnostic>& errors) const {
    int lines = 0;
    for (const std::string& line : diagnostic.help) {
      if (!can_paste(line)) continue;
      ++lines;
      SmallGraph mended = small_;
      if (!is_for_all(line))
        for (const Diagnostic& error : errors)
          for (const std::string& other : error.help)
            if (can_paste(other) && !is_for_all(other)) paste(mended, other, known_estimators_);
      paste(mended, line, known_estimators_);
      const Report report = validate(mended.graph);
      CAPTURE(line);
      CAPTURE(fmt::to_string(report));
      CHECK(report.admissible());
      for (const CreditVerdict& credit : report.credits) CHECK((credit.verdict.unbiased || is_for_all(line)));
    }
    return lines;
  }
  static bool is_for_all(const std::string& line) { return line.ends_with("// for all"); }

  const std::vector<NamedEstimator> known_estimators_ = all_estimators();
  Tally tally_;
  SmallGraph small_;
  std::vector<ExpectedCredit> credits_;  ///< per reward
  std::size_t first_ = 0, last_ = 0;     ///< the parameters of the node
  std::vector<double> without_baseline_;
};

constexpr int judged_baselines = under_sanitizer ? 2 : 4;

/// Each estimator of the family, for all rewards of the node, with everything that it could meet. They fare
/// alike.
Tally judge(Family family, std::size_t estimators) {
  std::vector<Tally> tallies;
  const std::vector<NamedBaseline> baselines = all_baselines();
  for (const NamedEstimator& estimator : all_estimators()) {
    if (estimator.family != family) continue;
    Judge judge;
    std::size_t turn = 0;
    for (const NamedKind& kind : all_kinds())
      for (const Situation situation : all_situations())
        for (const NamedRewards& rewards : all_rewards()) {
          const std::size_t other = 1 + turn++ % (baselines.size() - 1);
          for (std::size_t b = 0; b < baselines.size(); ++b)
            if (!under_sanitizer || b == 0 || b == other)
              judge.judge({estimator, estimator}, kind, situation, rewards, baselines[b]);
        }
    tallies.push_back(judge.tally());
    CHECK(judge.tally() == tallies.front());
  }
  CHECK(tallies.size() == estimators);
  return tallies.front();
}

}  // namespace

TEST_CASE("combinations: the lists hold all that the catalogue knows") {
  const Catalogue catalogue = standard_catalogue();
  std::set<std::string> estimators, kinds, baselines;
  for (const NamedEstimator& estimator : all_estimators()) {
    estimators.insert(estimator.name);
    if (estimator.choice.chosen()) CHECK(estimator.choice.chosen()->name() == estimator.name);
  }
  for (const NamedKind& kind : all_kinds()) {
    kinds.insert(lower_case(kind.node.kind()));
    if (kind.between) kinds.insert(lower_case(kind.between->kind()));
  }
  for (const NamedBaseline& baseline : all_baselines())
    baselines.insert(baseline.name.substr(0, baseline.name.find('(')));
  for (const std::string& name : catalogue.estimator_names()) {
    CAPTURE(name);
    CHECK(estimators.contains(name));
  }
  for (const NodeKind& kind : catalogue.kinds()) {
    CAPTURE(kind.name);
    CHECK(kinds.contains(lower_case(kind.name)));
  }
  for (const std::string& name : catalogue.baseline_names()) {
    CAPTURE(name);
    CHECK(baselines.contains(name));
  }
}

// Per estimator 11 kinds and 4 baselines (or the first and another by turns, under a sanitizer), and of the 8
// sets of rewards in the 4 situations as many as follow.
TEST_CASE("combinations: REINFORCE and Auto are unbiased wherever there is credit") {
  CHECK(judge(Family::likelihood, 2) == Tally{.unbiased = 29, .idle = 3} * 11 * judged_baselines);
}

TEST_CASE("combinations: HNCA is unbiased where it does not refuse") {
  CHECK(judge(Family::enforced, 3) ==
        Tally{.unbiased = 12, .refused = 17, .idle = 3} * 11 * judged_baselines);
}

TEST_CASE("combinations: hindsight without the assumption refuses black boxes of the node only") {
  CHECK(judge(Family::relaxed, 4) == Tally{.unbiased = 17, .refused = 12, .idle = 3} * 11 * judged_baselines);
}

TEST_CASE("combinations: straight-through is biased and says so, or has no slope") {
  CHECK(judge(Family::straight, 3) == Tally{.biased = 6, .refused = 23, .idle = 3} * 11 * judged_baselines);
}

// 12 estimators for the one reward, each with 11 others for the other one, for 4 pairs of rewards in 4
// situations. Unbiased are 2·72 + 2·16 pairs where Assumption 1 holds, whatever the children pass back, 2·30
// + 2·10 where it is violated, and 99 + 22 + 16 without children, where all are idle if both rewards are
// below.
TEST_CASE("combinations: two estimators for two rewards of a node are unbiased, or do not go together") {
  Judge judge;
  const std::vector<NamedEstimator> estimators = all_estimators();
  const NamedKind kind = all_kinds().front();
  for (const NamedEstimator& box : estimators)
    for (const NamedEstimator& known : estimators)
      if (&box != &known)
        for (const Situation situation : all_situations())
          for (const NamedRewards& rewards : all_rewards())
            if (rewards.box && rewards.known)
              judge.judge({box, known}, kind, situation, rewards, {"", NoBaseline{}});
  CHECK(judge.tally() == Tally{.unbiased = 569, .refused = 1411, .idle = 132});
}
