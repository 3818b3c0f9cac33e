#include <cmath>
#include <memory>

#include <doctest/doctest.h>
#include <Eigen/Core>

#include "support/random_graphs.hpp"
#include "support/refusal.hpp"

using namespace hindsight;
using namespace hindsight::testing;

TEST_CASE("parameters lie in the order of addition, per node its edges and then its bias") {
  Graph graph;
  const NodeId x = graph.input("x", 3);
  const NodeId a = graph.add("a", Bernoulli{.units = 2}, {x});
  const NodeId b = graph.add("b", Categorical{.units = 2, .classes = 3},
                             {a, Edge{x, Pattern::pairs({{0, 0}, {2, 0}, {1, 1}})}});
  graph.add("t", Table{.rows = std::vector<std::vector<double>>(9, {0.5, 0.5})}, {b});
  graph.reward("r", {b});
  Model model = compile(graph, {.seed = 2});
  CHECK(model.parameter_names() == std::vector<std::string>{"a/weights/x", "a/bias", "b/weights/a",
                                                            "b/weights/x", "b/bias", "t/logits"});
  CHECK(model.parameters().size() == 6 + 2 + 12 + 9 + 6 + 18);
  CHECK(model.parameters("a/weights/x").rows() == 2);
  CHECK(model.parameters("a/weights/x").cols() == 3);
  CHECK(&model.parameters("a/weights/x")(1, 2) == &model.parameters()[5]);
  CHECK(&model.parameters("b/weights/a")(5, 1) == &model.parameters()[8 + 11]);
  CHECK(model.parameters("b/weights/x").rows() == 9);
  CHECK(model.parameters("t/logits")(0, 0) == doctest::Approx(std::log(0.5)));
}

TEST_CASE("float and double models of one seed start from the same numbers") {
  const RandomGraph random = random_graph(3, {.nodes = 6, .most_states = 1e9});
  const auto single = compile<float>(random.graph, {.seed = 8});
  const auto precise = compile<double>(random.graph, {.seed = 8});
  for (std::size_t i = 0; i < single.parameters().size(); ++i)
    CHECK(single.parameters()[i] == static_cast<float>(precise.parameters()[i]));
}

TEST_CASE("a model outlives its graph, and copies share the plan but not the parameters") {
  std::optional<Model> model;
  NodeId a;
  RewardId reward;
  {
    Graph graph;
    a = graph.add("a", Bernoulli{.units = 3}, {});
    const NodeId b = graph.add("b", Table{.rows = std::vector<std::vector<double>>(2, {0.1, 0.9})},
                               {graph.add("s", Bernoulli{}, {Edge{a, Pattern::pairs({{1, 0}})}})});
    reward = graph.reward("r", {b});
    model.emplace(compile(graph));
  }
  Model copy = *model;
  copy.parameters()[0] = 42;
  CHECK(model->parameters()[0] != 42);
  auto run = copy.workspace(4);
  model->forward(run, {});  // a workspace fits all copies of its model
  const std::vector<float> rewards(4, 1.0F);
  model->backward(run, {{reward, rewards}});
  CHECK(run.samples() == 4);
}

TEST_CASE("Eigen matrices and plain vectors go in and come out without copies by hand") {
  Graph graph;
  const NodeId x = graph.input("x", 3);
  const NodeId y = graph.add("y", Categorical{.classes = 4}, {x});
  const RewardId reward = graph.reward("r", {y});
  const Model model = compile(graph, {.seed = 1});
  auto run = model.workspace(5), same = model.workspace(5);
  const Eigen::MatrixXf columns = Eigen::MatrixXf::Random(5, 3);
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = columns;
  model.forward(run, {{x, columns}});
  model.forward(same, {{x, rows}});
  for (int i = 0; i < 5; ++i) {
    CHECK(run.outcomes(y)(i) == same.outcomes(y)(i));
    for (int k = 0; k < 4; ++k) CHECK(run.log_probs(y)(i, k) == same.log_probs(y)(i, k));
  }
  const Eigen::VectorXf ones = Eigen::VectorXf::Ones(5);
  model.backward(run, {{reward, ones}});
  model.backward(same, {{reward, std::vector<float>(5, 1.0F)}});
  CHECK(std::equal(run.gradient().begin(), run.gradient().end(), same.gradient().begin()));
}

TEST_CASE("ascending the estimated gradient raises the exact expected reward") {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    RandomGraph random = random_graph(seed, {.nodes = 5, .most_states = 512});
    auto model = random_model<double>(random.graph, seed, 0.3);
    std::vector<std::vector<double>> storage;
    const auto inputs = random.bind(storage);
    const auto total = [&] {
      double sum = 0;
      for (const double reward :
           enumerate<double>(model, inputs, random.rewards, {.variance = false}).rewards)
        sum += reward;
      return sum;
    };
    const double before = total();
    const Sgd sgd{{.rate = 0.5}};
    for (int step = 0; step < 50; ++step)
      sgd.step(model.parameters(),
               enumerate<double>(model, inputs, random.rewards, {.variance = false}).estimate);
    CHECK(total() > before);
  }
}

namespace {

/// Gives another shape each time it is asked after the node was added.
struct Forgetful {
  std::shared_ptr<bool> forgot = std::make_shared<bool>(false);
  Shape shape(std::span<const ParentShape>) const {
    return {.units = 1, .encoding = one_hot_encoding(2), .parameters = {{"w", *forgot ? 9 : 2}}};
  }
  template <class S>
  void log_probs(std::span<const S>, const Reading<S>&, std::span<S> out) const {
    for (S& value : out) value = std::log(S(0.5));
  }
  template <class S>
  void accumulate(std::span<const S>, const Reading<S>&, std::span<const S>, std::span<S>) const {}
};

}  // namespace

TEST_CASE("a node whose shape is another when its parameters are asked for by name is refused") {
  Graph graph;
  const Forgetful type;
  graph.reward("r", {graph.add("mine", type, {})});
  Model model = compile(graph);
  *type.forgot = true;
  const std::string refused =
      "error[bad-shape]: node 'mine': its shape has 9 parameters now; it had 2 when it was added\n"
      "  help: let shape() depend on the node's own options and on its parents alone";
  CHECK(refusal([&] { model.parameters("mine/w"); }) == refused);
  CHECK(refusal([&] { model.parameter_names(); }) == refused);
  *type.forgot = false;
  CHECK(model.parameters("mine/w").rows() == 2);
}
