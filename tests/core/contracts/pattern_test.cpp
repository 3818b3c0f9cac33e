#include <hindsight/core/shape.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include <doctest/doctest.h>

#include <hindsight/core/report.hpp>

using namespace hindsight;

namespace {

using Pairs = Pattern::Pairs;

Pairs pairs_of(const Connectivity& wiring, int child_units) {
  Pairs pairs;
  for (int child = 0; child < child_units; ++child)
    for (const int parent : wiring.parents_of(child)) pairs.emplace_back(parent, child);
  return pairs;
}

std::vector<int> listed(std::span<const int> units) { return {units.begin(), units.end()}; }

}  // namespace

TEST_CASE("a dense pattern needs no wiring") {
  CHECK(Pattern::dense().is_dense());
  CHECK_FALSE(Pattern::dense().connect({3}, {4}, "x").has_value());
  CHECK_FALSE(Pattern::random(0.5, 1).is_dense());
  CHECK_FALSE(Pattern::pairs({{0, 0}}).is_dense());
}

TEST_CASE("pairs are sorted whatever the order they were listed in") {
  const auto wiring = Pattern::pairs({{3, 1}, {0, 2}, {2, 1}, {0, 0}, {1, 1}}).connect({4}, {3}, "x");
  REQUIRE(wiring);
  CHECK(pairs_of(*wiring, 3) == Pairs{{0, 0}, {1, 1}, {2, 1}, {3, 1}, {0, 2}});
  CHECK(wiring->pairs() == 5);
  CHECK(wiring->pairs_before(0) == 0);
  CHECK(wiring->pairs_before(1) == 1);
  CHECK(wiring->pairs_before(2) == 4);
}

TEST_CASE("children of a unit mirror the parents of its children") {
  const auto wiring = Pattern::pairs({{3, 1}, {0, 2}, {3, 0}, {0, 0}}).connect({5}, {4}, "x");
  REQUIRE(wiring);
  CHECK(listed(wiring->children_of(0)) == std::vector<int>{0, 2});
  CHECK(listed(wiring->children_of(1)).empty());
  CHECK(listed(wiring->children_of(3)) == std::vector<int>{0, 1});
  CHECK(listed(wiring->children_of(4)).empty());
  CHECK(listed(wiring->parents_of(3)).empty());

  const auto random = Pattern::random(0.3, 5).connect({17}, {23}, "x");
  REQUIRE(random);
  std::set<std::pair<int, int>> forwards, backwards;
  for (int child = 0; child < 23; ++child)
    for (const int parent : random->parents_of(child)) forwards.emplace(parent, child);
  for (int parent = 0; parent < 17; ++parent) {
    CHECK(std::is_sorted(random->children_of(parent).begin(), random->children_of(parent).end()));
    for (const int child : random->children_of(parent)) backwards.emplace(parent, child);
  }
  CHECK(forwards == backwards);
  CHECK(forwards.size() == random->pairs());
}

TEST_CASE("random patterns are sorted and reproducible and differ by seed") {
  const auto first = Pattern::random(0.4, 11).connect({30}, {20}, "x"),
             again = Pattern::random(0.4, 11).connect({30}, {20}, "y"),
             other = Pattern::random(0.4, 12).connect({30}, {20}, "x");
  CHECK(pairs_of(*first, 20) == pairs_of(*again, 20));
  CHECK(pairs_of(*first, 20) != pairs_of(*other, 20));
  for (int child = 0; child < 20; ++child) {
    const auto parents = first->parents_of(child);
    CHECK(std::adjacent_find(parents.begin(), parents.end(), std::greater_equal<>()) == parents.end());
    for (const int parent : parents) CHECK((parent >= 0 && parent < 30));
  }
}

// Seeds 1 to 3. Of n = 60000 pairs each is joined with probability d: the count has standard deviation
// sqrt(n·d·(1-d)), the bound is 5 of them. Rows and columns likewise, with 200 and 300 pairs each; 5
// deviations of 500 counts fail by chance with probability 3e-4.
TEST_CASE("random patterns join the share of pairs they were asked for") {
  for (const std::uint64_t seed : {1U, 2U, 3U})
    for (const double density : {0.02, 0.3, 0.9}) {
      const auto wiring = Pattern::random(density, seed).connect({200}, {300}, "x");
      const auto deviations = [&](std::size_t joined, double of) {
        return std::abs(static_cast<double>(joined) - of * density) / std::sqrt(of * density * (1 - density));
      };
      CHECK(deviations(wiring->pairs(), 60000) < 5);
      if (density != 0.3) continue;
      for (int child = 0; child < 300; ++child) CHECK(deviations(wiring->parents_of(child).size(), 200) < 5);
      for (int parent = 0; parent < 200; ++parent)
        CHECK(deviations(wiring->children_of(parent).size(), 300) < 5);
    }
}

// Seed 4. 10¹⁰ pairs of which each is joined with probability 10⁻⁷: 1000 are, with standard deviation 32; the
// bound is 5 of them, which chance passes with probability 6e-7. Had pairs been drawn one by one this would
// take minutes.
TEST_CASE("a random pattern takes as long as what it joins") {
  const auto start = std::chrono::steady_clock::now();
  const auto wiring = Pattern::random(1e-7, 4).connect({100'000, 7}, {100'000, 100'007}, "x");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  REQUIRE(wiring);
  CHECK(wiring->pairs() > 840);
  CHECK(wiring->pairs() < 1160);
  // Halves hold 500 each, standard deviation 16 given the sum.
  std::size_t of_the_first = 0;
  for (int parent = 0; parent < 50'000; ++parent) of_the_first += wiring->children_of(parent).size();
  CHECK(2 * of_the_first > wiring->pairs() - 160);
  CHECK(2 * of_the_first < wiring->pairs() + 160);
}

// Seed 5. Neighbours are joined independently: of 300·199 pairs of neighbours d² are both joined. The count's
// variance is at most n·d²·(1 + 2d); the bound is 5 standard deviations, passed by chance three times in ten
// million.
TEST_CASE("a random pattern joins neighbours independently") {
  for (const double density : {0.05, 0.3, 0.9}) {
    const auto wiring = Pattern::random(density, 5).connect({200}, {300}, "x");
    REQUIRE(wiring);
    double both = 0;
    for (int child = 0; child < 300; ++child) {
      const auto parents = wiring->parents_of(child);
      for (std::size_t i = 1; i < parents.size(); ++i) both += parents[i] == parents[i - 1] + 1 ? 1 : 0;
    }
    const double n = 300 * 199, expected = n * density * density;
    CHECK(std::abs(both - expected) < 5 * std::sqrt(expected * (1 + 2 * density)));
  }
}

// Seed 7. Of 400 children the numbers of parents they read through either edge; a correlation of independent
// numbers has standard deviation 1/20, the bound is 5 of them.
TEST_CASE("edges of one seed and different densities are wired independently") {
  const std::pair<double, double> pairs_of_densities[] = {
      {0.25, 0.125}, {0.5, 0.25}, {0.3, 0.25}, {0.3, 0.3}};
  for (const auto& [first, second] : pairs_of_densities) {
    const auto a = Pattern::random(first, 7).connect({16, 0}, {400, 100}, "a"),
               b = Pattern::random(second, 7).connect({16, 16}, {400, 100}, "b");
    REQUIRE(a);
    REQUIRE(b);
    double sum = 0, squares_of_a = 0, squares_of_b = 0;
    for (int child = 0; child < 400; ++child) {
      const double off_a = static_cast<double>(a->parents_of(child).size()) - 16 * first,
                   off_b = static_cast<double>(b->parents_of(child).size()) - 16 * second;
      sum += off_a * off_b;
      squares_of_a += off_a * off_a;
      squares_of_b += off_b * off_b;
    }
    CAPTURE(first);
    CAPTURE(second);
    CHECK(std::abs(sum) < 0.25 * std::sqrt(squares_of_a * squares_of_b));
  }
}

TEST_CASE("a random pattern does not depend on how units are gathered into nodes") {
  for (const double density : {1e-3, 0.05, 0.3, 0.9}) {
    const auto whole = Pattern::random(density, 6).connect({1000, 40}, {30, 5000}, "x");
    const auto left = Pattern::random(density, 6).connect({333, 40}, {30, 5000}, "x"),
               right = Pattern::random(density, 6).connect({667, 373}, {10, 5020}, "x");
    REQUIRE(whole);
    REQUIRE(left);
    REQUIRE(right);
    for (int child = 20; child < 30; ++child) {
      std::vector<int> joined = listed(left->parents_of(child));
      for (const int parent : right->parents_of(child - 20)) joined.push_back(333 + parent);
      CHECK(joined == listed(whole->parents_of(child)));
    }
  }
}

TEST_CASE("a random pattern of density one joins all pairs") {
  const auto wiring = Pattern::random(1, 1).connect({6}, {5}, "x");
  REQUIRE(wiring);
  CHECK(wiring->pairs() == 30);
  CHECK(listed(wiring->parents_of(4)) == std::vector<int>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a density outside its range is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<double, std::string> cases[] = {{0.0, "0"}, {-0.5, "-0.5"}, {nan, "nan"}, {1.5, "1.5"}};
  for (const auto& [density, text] : cases) {
    const std::string expected = "error[pattern]: the edge from 'x' has density " + text +
                                 "; it must lie above 0 and not above 1\n"
                                 "  help: Edge{x, Pattern::random(0.2, 1)}   // a fifth of all pairs, seed 1";
    CHECK_THROWS_WITH_AS(Pattern::random(density, 1).connect({2}, {2}, "x"), expected.c_str(), Error);
  }
}

TEST_CASE("a pair outside either population is refused") {
  const std::pair<int, int> outside[] = {{4, 0}, {-1, 0}, {0, 3}, {0, -1}};
  for (const auto& pair : outside) {
    const std::string expected = "error[pattern]: the edge from 'x' joins unit " +
                                 std::to_string(pair.first) + " to unit " + std::to_string(pair.second) +
                                 ", but 'x' has 4 units and the child 3\n"
                                 "  help: keep pairs within (0 … 3, 0 … 2)";
    CHECK_THROWS_WITH_AS(Pattern::pairs({{0, 0}, pair}).connect({4}, {3}, "x"), expected.c_str(), Error);
  }
}

TEST_CASE("a pair that is listed twice is refused") {
  CHECK_THROWS_WITH_AS(Pattern::pairs({{2, 1}, {0, 0}, {2, 1}}).connect({4}, {3}, "x"),
                       "error[pattern]: the edge from 'x' joins unit 2 to unit 1 twice\n"
                       "  help: list each pair once; one pair carries one weight",
                       Error);
}

TEST_CASE("a pattern that joins nothing is refused") {
  CHECK_THROWS_WITH_AS(Pattern::pairs({}).connect({4}, {3}, "x"),
                       "error[pattern]: the edge from 'x' joins no units at all\n"
                       "  help: list at least one pair, or drop the edge",
                       Error);
  CHECK_THROWS_WITH_AS(Pattern::random(1e-7, 1).connect({2}, {2}, "x"),
                       "error[pattern]: the edge from 'x' joins no units at all\n"
                       "  help: raise the density, try another seed, or drop the edge",
                       Error);
}
