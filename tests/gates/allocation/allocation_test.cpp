// All memory that a run needs is taken by workspace(). A program of its own, because it replaces malloc.
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/graph/access.hpp>
#include <hindsight/graph/plan.hpp>
#include <hindsight/hindsight.hpp>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HINDSIGHT_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HINDSIGHT_SANITIZED
#endif
#endif

#ifdef HINDSIGHT_SANITIZED

TEST_CASE("NOT TESTED under a sanitizer, which has a malloc of its own: no memory is taken by a run") {
  MESSAGE("allocations cannot be counted in this build; the plain build counts them");
}

#else

#include <atomic>

namespace {

std::atomic<long> allocations = 0;

}  // namespace

// In the place of the C library's: whoever takes memory comes here, also operator new and Eigen.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept { return aligned_alloc(alignment, size); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  *memory = aligned_alloc(alignment, size);
  return *memory ? 0 : ENOMEM;
}
}

using namespace hindsight;

namespace {

/// x ─→ a(20) ─ dense ──→ c(9) ────────→ y(4 classes) ─→ r
///  │     └─── sparse ──→ d(6) ───────────↗ ↑
///  └→ b(2 units of 3) ─→ e(4 classes) ─────┘
///     c and d ─→ f (5, ReLU) ───────────┘
///  └→ s ─→ t (table) ──────────────────────┘       with_table only
struct Net {
  Graph graph;
  NodeId x, y, b, s;  ///< s: only with the table
  RewardId r;

  explicit Net(bool with_table) {
    x = graph.input("x", 12);
    const NodeId a = graph.add("a", Bernoulli{.units = 20}, {x});
    b = graph.add("b", Categorical{.units = 2, .classes = 3}, {x});
    const NodeId c = graph.add("c", Bernoulli{.units = 9}, {a});
    const NodeId d =
        graph.add("d", Bernoulli{.units = 6, .values = zero_one}, {Edge{a, Pattern::random(0.4, 1)}});
    const NodeId e = graph.add("e", Categorical{.classes = 4}, {b, Edge{x, Pattern::random(0.5, 2)}});
    std::vector<Edge> last{c, d, e, graph.add("f", Relu{5}, {c, Edge{d, Pattern::random(0.5, 3)}})};
    if (with_table) {
      s = graph.add("s", Bernoulli{}, {x});
      last.emplace_back(graph.add("t", Table{.rows = {{0.2, 0.8}, {0.6, 0.4}}}, {s}));
    }
    y = graph.add("y", Categorical{.classes = 4}, last);
    r = graph.reward("r", {y});
  }
};

/// So that compilers cannot know that nobody reads it.
std::vector<double> kept;

/// The chance of 1 grows with the sum of all features. Written for chunks, and takes no memory itself.
struct SumChance {
  Shape shape(std::span<const ParentShape>) const {
    return {.encoding = scalar_encoding({-1, 1}), .parameters = {{"bias", 1}}};
  }
  template <class S>
  void log_probs(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<S> out) const {
    for (std::ptrdiff_t i = 0; i < out.rows(); ++i) {
      out(i, 0) = log_sigmoid(-logit(theta, reading, i));
      out(i, 1) = log_sigmoid(logit(theta, reading, i));
    }
  }
  template <class S>
  void accumulate(std::span<const S> theta, const ChunkReading<S>& reading, MatrixView<const S> credit,
                  std::span<S> out) const {
    for (std::ptrdiff_t i = 0; i < credit.rows(); ++i)
      out[0] += credit(i, 1) * sigmoid(-logit(theta, reading, i)) -
                credit(i, 0) * sigmoid(logit(theta, reading, i));
  }

 private:
  template <class S>
  static S logit(std::span<const S> theta, const ChunkReading<S>& reading, std::ptrdiff_t sample) {
    S sum = theta[0];
    for (std::ptrdiff_t f = 0; f < reading.features.cols(); ++f) sum += reading.features(sample, f);
    return sum;
  }
};
static_assert(ChunkNode<SumChance> && ChunkNode<Table>);

/// Allocations of a step with these settings, after `warm_up` others.
template <class S>
long allocations_of_a_step(const Net& net, int threads, int warm_up, InstructionSet set) {
  constexpr int samples = 150;
  auto model = compile<S>(net.graph, {.seed = 1, .instructions = set});
  auto run = model.workspace(samples, {.threads = threads, .batch = 2 * samples});
  const Sgd sgd{{.rate = 0.01}};
  const std::vector<S> x(12 * samples, S(0.5)), rewards(samples, S(1));
  const std::vector<Outcome> outcomes(samples, 1);
  const ForwardOptions clamp{.clamp = {{net.y, outcomes}}};
  const auto step = [&] {
    model.forward(run, {{net.x, {x.data(), samples, 12}}});
    model.backward(run, {{net.r, rewards}}, {.of = 2 * samples});
    sgd.step(model.parameters(), run.gradient());
    model.forward(run, {{net.x, {x.data(), samples, 12}}}, clamp);
    model.backward(run, {{net.r, rewards}}, {.of = 2 * samples, .continues = true});
  };
  for (int i = 0; i < warm_up; ++i) step();
  const long before = allocations;
  step();
  return allocations - before;
}

}  // namespace

TEST_CASE("the count counts, whoever takes the memory") {
  const auto taken = [](const auto& take) {
    const long before = allocations;
    take();
    return allocations - before;
  };
  CHECK(taken([] { std::free(std::malloc(1)); }) == 1);
  CHECK(taken([] { std::free(std::calloc(2, 1)); }) == 1);
  CHECK(taken([] { std::free(std::aligned_alloc(64, 64)); }) == 1);
  CHECK(taken([] { ::operator delete(::operator new(1)); }) == 1);
  CHECK(taken([] { ::operator delete(::operator new(64, std::align_val_t(64)), std::align_val_t(64)); }) ==
        1);
  CHECK(taken([] { std::vector<double>(10).swap(kept); }) == 1);
  CHECK(taken([] { Eigen::internal::aligned_free(Eigen::internal::aligned_malloc(64)); }) == 1);
}

TEST_CASE_TEMPLATE("forward, backward and step take no memory, not even the first time", S, float, double) {
  const Net net(false);
  for (const InstructionSet set : available_instruction_sets())
    CHECK(allocations_of_a_step<S>(net, 1, 0, set) == 0);
}

TEST_CASE_TEMPLATE("a network with a table takes no memory while it runs", S, float, double) {
  const Net net(true);
  CHECK(allocations_of_a_step<S>(net, 1, 0, available_instruction_sets().back()) == 0);
}

TEST_CASE_TEMPLATE("summing units out takes no memory while it runs", S, float, double) {
  for (const EstimatorChoice& choice :
       {EstimatorChoice(Hnca{.steps = 2}), EstimatorChoice(HindsightCredit{})}) {
    Net net(true);
    for (const NodeId node : {net.b, net.s}) net.graph.estimate_with(node, choice);
    REQUIRE_FALSE(internal::Access::plan(compile<S>(net.graph)).credit.eliminations.empty());
    for (const InstructionSet set : available_instruction_sets())
      CHECK(allocations_of_a_step<S>(net, 1, 0, set) == 0);
  }
}

TEST_CASE_TEMPLATE("a network that goes straight through takes no memory while it runs", S, float, double) {
  Net net(false);
  for (const Surrogate through : {Surrogate::probabilities, Surrogate::identity, Surrogate::clipped}) {
    for (const int node : {1, 2, 3})
      net.graph.estimate_with(NodeId{node}, StraightThrough{through});  // a, b, c
    CHECK(allocations_of_a_step<S>(net, 1, 0, available_instruction_sets().back()) == 0);
  }
}

//  x ─→ a ─→ t ────→ r      t, a table, and v are written for chunks and read a and c; b lies between these
//  ├──→ b ─→ w ────↗ ↑      in memory, so that t and v are shown a copy
//  └──→ c ─→ v (a too)
TEST_CASE_TEMPLATE("Adam, a critic and nodes written for chunks take no memory while they run", S, float,
                   double) {
  constexpr int samples = 150;
  Graph graph;
  const NodeId x = graph.input("x", 2), a = graph.add("a", Bernoulli{}, {x}),
               b = graph.add("b", Bernoulli{}, {x}), c = graph.add("c", Bernoulli{}, {x});
  const NodeId t = graph.add("t", Table{.rows = {{0.2, 0.8}, {0.6, 0.4}, {0.5, 0.5}, {0.9, 0.1}}}, {a, c}),
               v = graph.add("v", SumChance{}, {a, c}), w = graph.add("w", Bernoulli{}, {b});
  const RewardId r = graph.reward("r", {t, v, w});
  graph.baseline(r, LinearCritic{});
  auto model = compile<S>(graph, {.seed = 1});
  const auto& layout = internal::Access::plan(model).layout;
  REQUIRE(layout.placement(c).feature_row == layout.placement(a).feature_row + 2);
  auto run = model.workspace(samples);
  BasicAdam<S> adam{{.rate = 0.01}};
  const std::vector<S> features(2 * samples, S(0.5)), rewards(samples, S(1));
  const auto step = [&] {
    model.forward(run, {{x, {features.data(), samples, 2}}});
    model.backward(run, {{r, rewards}});
    adam.step(model.parameters(), run.gradient());
  };
  step();  // Adam's state grows with its first step
  const long before = allocations;
  step();
  CHECK(allocations - before == 0);
}

TEST_CASE("matrices and blocks and maps of Eigen's take no memory, an expression takes its own") {
  const Net net(false);
  Model model = compile(net.graph);
  Workspace run = model.workspace(8);
  const Eigen::MatrixXf images = Eigen::MatrixXf::Random(9, 24);
  const Eigen::VectorXf rewards = Eigen::VectorXf::Random(8);
  const auto step = [&](const auto& inputs) {
    const long before = allocations;
    model.forward(run, {{net.x, inputs}});
    model.backward(run, {{net.r, rewards}});
    as_eigen(model.parameters()) += 0.01F * as_eigen(run.gradient());
    return allocations - before;
  };
  CHECK(step(images.block(1, 2, 8, 12)) == 0);
  CHECK(step(Eigen::Map<const Eigen::MatrixXf>(images.data(), 8, 12)) == 0);
  CHECK(step(MatrixView<const float>(images.data(), 8, 12)) == 0);
  CHECK(step(images.topLeftCorner(8, 12) / 2) > 0);
}

// OpenMP makes its threads at the first call.
TEST_CASE_TEMPLATE("several threads take no memory once they are there", S, float, double) {
  const Net net(false);
  for (const int threads : {2, 3})
    CHECK(allocations_of_a_step<S>(net, threads, 1, available_instruction_sets().back()) == 0);
}

#endif
