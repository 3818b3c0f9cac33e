// What is given to a run is what was meant, however it lies in memory: every way of giving the same numbers
// ends in the same bits.
#include <hindsight/graph/model.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <Eigen/SparseCore>

#include <hindsight/hindsight.hpp>

#include "support/bits.hpp"

using namespace hindsight;
using hindsight::testing::same_bits;

namespace {

template <class S>
using ByColumns = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class S>
using ByRows = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class S>
using Column = Eigen::Matrix<S, Eigen::Dynamic, 1>;
using AnyStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;

constexpr int picture_count = 70, pixel_count = 5;  // more than one chunk of samples

/// Small multiples of 1/8, of which doubling and halving, or adding and taking away, lose nothing.
template <class S>
ByColumns<S> exact_numbers(int rows, int cols, int seed) {
  return ByColumns<S>::NullaryExpr(rows, cols, [seed](Eigen::Index i, Eigen::Index j) {
    return static_cast<S>((i * 7 + j * 3 + seed) % 17 - 8) / S(8);
  });
}

//  x(5) ─→ a(3) ─→ c(4 classes) ─→ r
//  └─────────────↗
template <class S>
struct ArgumentNet {
  Graph graph;
  NodeId x = graph.input("x", pixel_count);
  NodeId a = graph.add("a", Bernoulli{.units = 3}, {x});
  NodeId c = graph.add("c", Categorical{.classes = 4}, {a, x});
  RewardId r = graph.reward("r", {c});
  BasicModel<S> model = compile<S>(graph, {.seed = 11});
};

/// All that a step leaves behind; two are equal only to the bit.
template <class S>
struct Trace {
  ByColumns<Outcome> outcomes;
  std::vector<ByColumns<S>> tables;

  const ByColumns<S>& inputs() const { return tables[0]; }
  const ByColumns<S>& rewards() const { return tables[1]; }
  const ByColumns<S>& gradient() const { return tables[2]; }
  bool operator==(const Trace& other) const {
    const auto same = [](const ByColumns<S>& a, const ByColumns<S>& b) {
      return a.rows() == b.rows() && a.cols() == b.cols() &&
             same_bits(std::span(a.data(), static_cast<std::size_t>(a.size())),
                       std::span(b.data(), static_cast<std::size_t>(b.size())));
    };
    return outcomes == other.outcomes && std::ranges::equal(tables, other.tables, same);
  }
};

template <class S>
Trace<S> step(const ArgumentNet<S>& net, const InputValues<S>& input, const RewardValues<S>& reward,
              const ForwardOptions& options = {}) {
  auto run = net.model.workspace(2 * picture_count);
  net.model.forward(run, {input}, options);
  net.model.backward(run, {reward});
  return {as_eigen(run.outcomes(net.c)),
          {as_eigen(run.values(net.x)), as_eigen(run.rewards(net.r)), as_eigen(run.gradient()),
           as_eigen(run.log_probs(net.c)), as_eigen(run.evidence(net.a)), as_eigen(run.credit(net.a))}};
}

template <class S>
struct Given {
  ByColumns<S> images = exact_numbers<S>(picture_count, pixel_count, 1);
  ByRows<S> rows = images;
  std::vector<S> plain = std::vector<S>(rows.data(), rows.data() + rows.size());
  Column<S> scores = exact_numbers<S>(picture_count, 1, 4);
  std::vector<S> plain_scores = std::vector<S>(scores.data(), scores.data() + scores.size());

  MatrixView<const S> view() const { return {plain.data(), picture_count, pixel_count}; }
};

}  // namespace

TEST_CASE_TEMPLATE("inputs in any order and stride give the same bits", S, float, double) {
  const ArgumentNet<S> net;
  const Given<S> given;
  const RewardValues<S> reward{net.r, given.plain_scores};
  const Trace<S> expected = step<S>(net, {net.x, given.view()}, reward);
  REQUIRE(expected.inputs() == given.images);
  REQUIRE(expected.gradient().norm() > 0);
  const auto same = [&](const InputValues<S>& input) { CHECK(step<S>(net, input, reward) == expected); };

  same({net.x, given.images});
  same({net.x, given.rows});
  same({net.x, given.images.array()});
  const ByColumns<S> flipped = given.images.transpose();
  same({net.x, flipped.transpose()});
  ByColumns<S> larger =
      ByColumns<S>::Constant(picture_count + 3, pixel_count + 4, std::numeric_limits<S>::quiet_NaN());
  larger.block(2, 1, picture_count, pixel_count) = given.images;
  same({net.x, larger.block(2, 1, picture_count, pixel_count)});
  ByRows<S> larger_rows = larger;
  same({net.x, larger_rows.block(2, 1, picture_count, pixel_count)});
  const Eigen::Ref<const ByColumns<S>> reference(larger.block(2, 1, picture_count, pixel_count));
  same({net.x, reference});

  // Every third number, in rows of 20: nothing between them may be read.
  std::vector<S> spread(picture_count * 20, std::numeric_limits<S>::infinity());
  Eigen::Map<ByRows<S>, Eigen::Unaligned, AnyStride> strided(spread.data(), picture_count, pixel_count,
                                                             AnyStride(20, 3));
  strided = given.images;
  same({net.x, strided});
  same({net.x, Eigen::Map<const ByRows<S>, Eigen::Unaligned, AnyStride>(spread.data(), picture_count,
                                                                        pixel_count, AnyStride(20, 3))});
  const MatrixView<S> writable(spread.data(), picture_count, pixel_count, 20, 3);
  same({net.x, writable});
  same({net.x, as_eigen(writable)});
  const Eigen::Matrix<S, picture_count, pixel_count> fixed = given.images;
  same({net.x, fixed});
}

TEST_CASE("inputs that are expressions give the same bits") {
  const ArgumentNet<float> net;
  const Given<float> given;
  const RewardValues<float> reward{net.r, given.plain_scores};
  const Trace<float> expected = step<float>(net, {net.x, given.view()}, reward);
  const auto same = [&](const InputValues<float>& input) {
    CHECK(step<float>(net, input, reward) == expected);
  };

  const ByColumns<float> doubled = 2.0F * given.images;
  same({net.x, doubled / 2.0F});
  same({net.x, given.rows + ByRows<float>::Zero(picture_count, pixel_count)});
  same({net.x, given.images.array() * 1.0F});
  same({net.x, given.images * ByColumns<float>::Identity(pixel_count, pixel_count)});
  same({net.x, given.images.cast<double>().cast<float>()});
  same({net.x, (8.0F * given.images).cast<int>().cast<float>() / 8.0F});
  const ByColumns<float> turned = given.images.reverse();
  same({net.x, turned.reverse()});
  same({net.x, given.images(Eigen::all, Eigen::seqN(0, pixel_count))});
  same({net.x, (given.images + given.images).leftCols(pixel_count) / 2.0F});
  const auto named = doubled / 2.0F;
  same({net.x, named});
}

TEST_CASE("sparse inputs give the same bits") {
  const ArgumentNet<float> net;
  Given<float> given;
  given.images = (given.images.array() > 0.25F).select(given.images, 0.0F);
  const RewardValues<float> reward{net.r, given.plain_scores};
  const Trace<float> expected = step<float>(net, {net.x, given.images}, reward);
  const auto same = [&](const InputValues<float>& input) {
    CHECK(step<float>(net, input, reward) == expected);
  };

  const Eigen::SparseMatrix<float> columns = given.images.sparseView();
  const Eigen::SparseMatrix<float, Eigen::RowMajor> rows = columns;
  REQUIRE(columns.nonZeros() < given.images.size());
  same({net.x, columns});
  same({net.x, rows});
  Eigen::SparseMatrix<float> with_room = columns;
  with_room.reserve(Eigen::VectorXi::Constant(pixel_count, picture_count));
  REQUIRE_FALSE(with_room.isCompressed());
  same({net.x, with_room});
  same({net.x, Eigen::SparseMatrix<float>(columns.transpose()).transpose()});
  same({net.x, 2.0F * columns / 2.0F});
  same({net.x, columns.leftCols(pixel_count)});
  same({net.x, rows.middleRows(0, picture_count)});
  same({net.x, columns * ByColumns<float>::Identity(pixel_count, pixel_count)});
}

TEST_CASE("rewards of any kind and direction give the same bits") {
  const ArgumentNet<float> net;
  const Given<float> given;
  const InputValues<float> input{net.x, given.images};
  const Trace<float> expected = step<float>(net, input, {net.r, given.plain_scores});
  REQUIRE(expected.rewards() == given.scores);
  const auto same = [&](const RewardValues<float>& reward) {
    CHECK(step<float>(net, input, reward) == expected);
  };

  same({net.r, given.scores});
  same({net.r, given.scores.array()});
  same({net.r, given.scores.transpose()});
  const Eigen::Matrix<float, 1, Eigen::Dynamic> row = given.scores;
  same({net.r, row});
  same({net.r, row * 1.0F});
  same({net.r, (given.scores + given.scores) / 2.0F});
  const ByColumns<float> among_others = given.scores.replicate(1, 3);
  same({net.r, among_others.col(1)});
  const ByRows<float> side_by_side = among_others;
  same({net.r, side_by_side.col(1)});
  same({net.r, Eigen::Map<const Column<float>, 0, Eigen::InnerStride<>>(
                   side_by_side.data() + 2, picture_count, Eigen::InnerStride<>(3))});
  same({net.r, Eigen::SparseMatrix<float>(given.scores.sparseView())});
  same({net.r, Eigen::SparseVector<float>(given.scores.sparseView())});
  same({net.r, as_eigen(given.plain_scores)});
}

TEST_CASE("a comparison with labels is a reward") {
  const ArgumentNet<float> net;
  const Given<float> given;
  const Eigen::ArrayXi labels =
      Eigen::ArrayXi::NullaryExpr(picture_count, [](Eigen::Index i) { return static_cast<int>(i % 4); });
  auto run = net.model.workspace(picture_count), other = net.model.workspace(picture_count);
  net.model.forward(run, {{net.x, given.images}});
  net.model.backward(run, {{net.r, (as_eigen(run.outcomes(net.c)).array() == labels).cast<float>()}});
  net.model.forward(other, {{net.x, given.images}});
  std::vector<float> right;
  for (int i = 0; i < picture_count; ++i)
    right.push_back(other.outcomes(net.c)(i) == labels(i) ? 1.0F : 0.0F);
  net.model.backward(other, {{net.r, right}});
  CHECK(as_eigen(run.rewards(net.r)).sum() > 0);
  CHECK(as_eigen(run.rewards(net.r)) == as_eigen(other.rewards(net.r)));
  CHECK(as_eigen(run.gradient()) == as_eigen(other.gradient()));
}

TEST_CASE("outcomes are clamped by matrices and expressions") {
  const ArgumentNet<float> net;
  const Given<float> given;
  const InputValues<float> input{net.x, given.images};
  const RewardValues<float> reward{net.r, given.scores};
  const Eigen::MatrixXi wanted = (given.images.leftCols(3).array() > 0.0F).cast<Outcome>();
  const ByRows<Outcome> rows = wanted;
  const Trace<float> expected =
      step<float>(net, input, reward, {.clamp = {{net.a, {rows.data(), picture_count, 3}}}});
  const auto same = [&](std::vector<ClampedOutcomes> clamps) {
    CHECK(step<float>(net, input, reward, {.clamp = std::move(clamps)}) == expected);
  };
  same({{net.a, wanted}});
  same({{net.a, rows}});
  same({{net.a, (given.images.leftCols(3).array() > 0.0F).cast<Outcome>()}});
  same({{net.a, Eigen::SparseMatrix<Outcome>(wanted.sparseView())}});
}

TEST_CASE("an argument keeps what it evaluated as long as any copy lives") {
  const ArgumentNet<float> net;
  const Given<float> given;
  const Trace<float> expected = step<float>(net, {net.x, given.view()}, {net.r, given.plain_scores});
  // The matrices that the expressions are made of are gone when the arguments are read.
  const auto argument = [&] {
    const ByColumns<float> doubled = 2.0F * given.images;
    return InputValues<float>{net.x, doubled / 2.0F};
  };
  const auto rewards = [&] {
    const Eigen::SparseMatrix<float> scores = Column<float>(given.scores).sparseView();
    return std::vector<RewardValues<float>>{{net.r, scores}};
  };
  CHECK(step<float>(net, argument(), rewards().front()) == expected);

  InputValues<float> copy;
  {
    InputValues<float> first = argument(), second = first;
    CHECK(second.values.data() == first.values.data());
    first = InputValues<float>{net.x, given.images};
    copy = second;
    second = std::move(first);
    CHECK(second.values.data() == given.images.data());
  }
  std::vector<InputValues<float>> list{copy, copy};
  list.reserve(list.capacity() + 1);  // moves
  list.erase(list.begin());
  copy = {};
  CHECK(copy.values.data() == nullptr);
  CHECK(step<float>(net, list.front(), rewards().front()) == expected);
}

TEST_CASE("what lies in memory is viewed and not copied") {
  Given<float> given;
  const NodeId x{0};
  CHECK(InputValues<float>{x, given.images}.values.data() == given.images.data());
  CHECK(InputValues<float>{x, given.rows.row(3)}.values.data() == &given.rows(3, 0));
  CHECK(InputValues<float>{x, given.images.transpose()}.values.data() == given.images.data());
  CHECK(InputValues<float>{x, given.plain}.values.data() == given.plain.data());
  CHECK(InputValues<float>{x, given.view()}.values.data() == given.plain.data());
  CHECK(InputValues<float>{x, as_eigen(given.view())}.values.data() == given.plain.data());
  CHECK(InputValues<float>{x, std::span(given.plain)}.values.rows() == picture_count * pixel_count);
}

TEST_CASE("rows of inputs are repeated for baselines that want replicas") {
  Graph graph;
  const NodeId x = graph.input("x", pixel_count);
  const NodeId a = graph.add("a", Bernoulli{.units = 3}, {x});
  const RewardId r = graph.reward("r", {a});
  graph.baseline(a, LeaveOneOut{.samples = 2});
  const Model model = compile(graph, {.seed = 2});
  const Given<float> given;
  const Column<float> scores = exact_numbers<float>(2 * picture_count, 1, 4);
  const auto gradient = [&](const InputValues<float>& input) -> Column<float> {
    auto run = model.workspace(2 * picture_count);
    model.forward(run, {input});
    REQUIRE(run.samples() == 2 * picture_count);
    model.backward(run, {{r, scores}});
    for (int i = 0; i < 2 * picture_count; ++i)
      CHECK(as_eigen(run.values(x)).row(i) == given.images.row(i / 2));
    return as_eigen(run.gradient());
  };
  const Column<float> expected = gradient({x, given.view()});
  CHECK(expected.norm() > 0);
  CHECK(gradient({x, given.images}) == expected);
  CHECK(gradient({x, 2.0F * given.images / 2.0F}) == expected);
  CHECK(gradient({x, Eigen::SparseMatrix<float>(given.images.sparseView())}) == expected);
}

TEST_CASE("the oracle takes Eigen inputs of every kind") {
  const ArgumentNet<double> net;
  const Given<double> given;
  const std::vector<RewardFunction> value{
      {net.r, [&](const JointOutcome& at) { return at(net.c) == 1 ? 1.0 : 0.25; }}};
  const ByRows<double> some = given.rows.topRows(3);
  const std::vector<InputValues<double>> views{{net.x, {some.data(), 3, pixel_count}}};
  const Enumeration expected = enumerate(net.model, views, value);
  CHECK(expected.states == 3 * 8 * 4);
  const auto same = [&](const Enumeration& exact) {
    CHECK(exact.rewards == expected.rewards);
    CHECK(exact.gradient == expected.gradient);
    CHECK(exact.estimate == expected.estimate);
    CHECK(exact.variance == expected.variance);
  };
  same(enumerate(net.model, {{net.x, some}}, value));
  same(enumerate(net.model, {{net.x, given.images.topRows(3)}}, value));
  same(enumerate(net.model, {{net.x, 2.0 * given.images.topRows(3) / 2.0}}, value));
  const Eigen::SparseMatrix<double> sparse = some.sparseView();
  same(enumerate(net.model, {{net.x, sparse}}, value));
  const std::vector<InputValues<double>> kept{{net.x, 2.0 * given.images.topRows(3) / 2.0}};
  same(enumerate(net.model, kept, value));
}

TEST_CASE("a step along the gradient can be written with maps") {
  const ArgumentNet<float> net;
  const Given<float> given;
  Model model = net.model, by_optimizer = net.model;
  Workspace run = model.workspace(picture_count);
  model.forward(run, {{net.x, given.images}});
  model.backward(run, {{net.r, given.scores}});
  as_eigen(model.parameters()) += 0.5F * as_eigen(run.gradient());
  Sgd{{.rate = 0.5}}.step(by_optimizer.parameters(), run.gradient());
  CHECK(as_eigen(model.parameters()) == as_eigen(by_optimizer.parameters()));
  const ParameterRange range = model.range("a/weights/x");
  const Eigen::MatrixXf weights = as_eigen(std::as_const(model).parameters("a/weights/x"));
  CHECK(weights.rows() == 3);
  CHECK(weights.cols() == pixel_count);
  CHECK(weights(1, 2) == model.parameters()[range.first + pixel_count + 2]);
  CHECK(as_eigen(run.gradient("a/weights/x"))(2, 4) == run.gradient()[range.first + 2 * pixel_count + 4]);
  as_eigen(model.parameters("a/bias")).setConstant(3.0F);
  CHECK(model.parameters("a/bias")(2) == 3.0F);
}
