#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lab/dataset.hpp"
#include "lab/training.hpp"

namespace hindsight::lab {

struct VarianceOptions {
  NetworkOptions network = {};
  TrainingOptions training = {};  ///< before parameters are frozen, by HNCA
  int epochs = 1;                 ///< of that training
  int batches = 1000;             ///< of which gradients are taken afterwards
};

/// What the gradient of one batch scatters by at frozen parameters, images and outcomes drawn anew.
struct GradientVariance {
  struct Level {
    int level = 0;
    std::size_t weights = 0;
    double reinforce = 0, hnca = 0;  ///< sums over the level's weights of the variance of each
  };
  /// Neighbouring levels together.
  struct Band {
    int first = 0;
    Level sums;  ///< over the band; `level` is its last
  };
  std::vector<Level> levels;                                   ///< those that learn
  double reinforce_samples_per_s = 0, hnca_samples_per_s = 0;  ///< forward and backward, without the update
};

/// Both estimators see the same images and the same random numbers.
GradientVariance gradient_variance(const VarianceOptions& options, const Dataset& data);

/// At most so many bands, 2 or more.
std::vector<GradientVariance::Band> in_bands(const GradientVariance& variance, std::size_t most);

/// As a table in Markdown, every line ended; many levels are gathered into bands.
std::string to_table(const GradientVariance& variance);

}  // namespace hindsight::lab
