#include "tool/embedded_sample.hpp"

#include "tool/embed_file.hpp"

HINDSIGHT_EMBED(hindsight_sample_train_images, HINDSIGHT_SAMPLE_DIRECTORY "/train-images.gz");
HINDSIGHT_EMBED(hindsight_sample_train_labels, HINDSIGHT_SAMPLE_DIRECTORY "/train-labels.gz");
HINDSIGHT_EMBED(hindsight_sample_test_images, HINDSIGHT_SAMPLE_DIRECTORY "/test-images.gz");
HINDSIGHT_EMBED(hindsight_sample_test_labels, HINDSIGHT_SAMPLE_DIRECTORY "/test-labels.gz");

namespace hindsight::tool {

EmbeddedSample embedded_sample() {
  return {.train_images = {hindsight_sample_train_images, hindsight_sample_train_images_size},
          .train_labels = {hindsight_sample_train_labels, hindsight_sample_train_labels_size},
          .test_images = {hindsight_sample_test_images, hindsight_sample_test_images_size},
          .test_labels = {hindsight_sample_test_labels, hindsight_sample_test_labels_size}};
}

}  // namespace hindsight::tool
