#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hindsight/hindsight.hpp>

namespace hindsight::tool {

// What a comparison says, for people and for programs. `names` are the contenders', one per row; `scene` says
// in words what was looked at.

/// A node, or neighbouring levels of a graph with many, as one contender credits it.
struct Line {
  std::string place;  ///< "h1", "3 … 5"
  std::size_t weights = 0;
  std::size_t row = 0;  ///< of the comparison
  double variance = 0;
  std::optional<double> of_first = {};  ///< in parts of what the first contender has, if that is not 0
  double bias = 0, gradient = 0;        ///< lengths
  double z = 0;                         ///< the largest
  bool is_exact = false, applies = false, unbiased = true, is_seen_biased = false;
  std::optional<double> doubt = {};
  double prior_doubt = 0;
};

/// Node by node, or in at most so many bands of levels if there are more nodes; the last level stands alone.
std::vector<Line> summarise(const Comparison& comparison, std::size_t most_places);

/// Markdown: the contenders, then their lines, then, if asked for, variances by block.
std::string to_tables(const Comparison& comparison, std::span<const std::string> names,
                      const std::string& scene, bool blocks);

/// One object, without the end of the line.
std::string to_json(const Comparison& comparison, std::span<const std::string> names,
                    const std::string& scene);

/// Variance by level and contender, as SVG and PNG.
void draw_variances(const Comparison& comparison, std::span<const std::string> names,
                    const std::filesystem::path& path);

/// How many nodes are credited by what, a line each.
std::string credits_by_estimator(const Graph& graph);

}  // namespace hindsight::tool
