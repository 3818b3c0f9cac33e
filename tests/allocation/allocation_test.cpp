// All memory that a run needs is taken by workspace(). A program of its own, because it replaces operator
// new.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <doctest/doctest.h>

#include <hindsight/hindsight.hpp>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HINDSIGHT_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HINDSIGHT_SANITIZED
#endif
#endif

#ifdef HINDSIGHT_SANITIZED

TEST_CASE("NOT TESTED under a sanitizer, which has an operator new of its own: no memory is taken by a run") {
  MESSAGE("allocations cannot be counted in this build; the plain build counts them");
}

#else

#include <atomic>

namespace {

std::atomic<long> allocations = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  if (size == 0) size = 1;
  void* const memory = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
                           ? std::malloc(size)
                           : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

constexpr std::size_t plain = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size, plain); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, plain); }
void* operator new(std::size_t size, std::align_val_t at) { return allocate_or_throw(size, number(at)); }
void* operator new[](std::size_t size, std::align_val_t at) { return allocate_or_throw(size, number(at)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, plain); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, plain); }
void* operator new(std::size_t size, std::align_val_t at, const std::nothrow_t&) noexcept {
  return allocate(size, number(at));
}
void* operator new[](std::size_t size, std::align_val_t at, const std::nothrow_t&) noexcept {
  return allocate(size, number(at));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }

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
    b = graph.add("b", Categorical{.classes = 3, .units = 2}, {x});
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

/// Allocations of a step with these settings, after `warm_up` others.
template <class S>
long allocations_of_a_step(const Net& net, int threads, int warm_up, InstructionSet set) {
  constexpr int samples = 150;
  auto model = compile<S>(net.graph, {.seed = 1, .instructions = set});
  auto run = model.workspace(samples, {.threads = threads});
  const Sgd sgd{{.rate = 0.01}};
  const std::vector<S> x(12 * samples, S(0.5)), rewards(samples, S(1));
  const std::vector<Outcome> outcomes(samples, 1);
  const ForwardOptions clamp{.clamp = {{net.y, outcomes}}};
  const auto step = [&] {
    model.forward(run, {{net.x, {x.data(), samples, 12}}});
    model.backward(run, {{net.r, rewards}});
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

TEST_CASE("the count counts") {
  const long before = allocations;
  delete new int(1);
  std::vector<double> numbers(10);
  CHECK(allocations - before >= 1);
  const long aligned = allocations;
  ::operator delete(::operator new(64, std::align_val_t(64)), std::align_val_t(64));
  CHECK(allocations - aligned == 1);
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
    REQUIRE_FALSE(compile<S>(net.graph).plan().eliminations.empty());
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

// OpenMP makes its threads at the first call.
TEST_CASE_TEMPLATE("several threads take no memory once they are there", S, float, double) {
  const Net net(false);
  for (const int threads : {2, 3})
    CHECK(allocations_of_a_step<S>(net, threads, 1, available_instruction_sets().back()) == 0);
}

#endif
