#include "lab/embedded_sample.hpp"

#include <cstdint>

// The assembler copies a file as it is, where an array of a million numbers would cost the compiler seconds.
// The compiler does not list the file among what it has read: the build must be told that it is an input.
// clang-format off
#define HINDSIGHT_EMBED(symbol, file)                                   \
  asm(".pushsection .rodata\n"                                          \
      ".global " #symbol ", " #symbol "_size\n"                         \
      #symbol ": .incbin \"" HINDSIGHT_SAMPLE_DIRECTORY "/" file "\"\n" \
      "0: .balign 4\n"                                                  \
      #symbol "_size: .4byte 0b - " #symbol "\n"                        \
      ".popsection\n");                                                 \
  extern "C" const std::byte symbol[];                                  \
  extern "C" const std::uint32_t symbol##_size
// clang-format on

HINDSIGHT_EMBED(hindsight_sample_train_images, "train-images.gz");
HINDSIGHT_EMBED(hindsight_sample_train_labels, "train-labels.gz");
HINDSIGHT_EMBED(hindsight_sample_test_images, "test-images.gz");
HINDSIGHT_EMBED(hindsight_sample_test_labels, "test-labels.gz");

namespace hindsight::lab {

EmbeddedSample embedded_sample() {
  return {.train_images = {hindsight_sample_train_images, hindsight_sample_train_images_size},
          .train_labels = {hindsight_sample_train_labels, hindsight_sample_train_labels_size},
          .test_images = {hindsight_sample_test_images, hindsight_sample_test_images_size},
          .test_labels = {hindsight_sample_test_labels, hindsight_sample_test_labels_size}};
}

}  // namespace hindsight::lab
