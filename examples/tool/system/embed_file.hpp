#pragma once

#include <cstddef>
#include <cstdint>

// The assembler copies a file as it is, where an array of a million numbers would cost the compiler seconds.
// The compiler does not list the file among what it has read: the build must be told that it is an input.
// `path` is made of string literals; the bytes are then `symbol[0]` to `symbol[symbol_size - 1]`.
// clang-format off
#define HINDSIGHT_EMBED(symbol, path)                                   \
  asm(".pushsection .rodata\n"                                          \
      ".global " #symbol ", " #symbol "_size\n"                         \
      #symbol ": .incbin \"" path "\"\n"                                \
      "0: .balign 4\n"                                                  \
      #symbol "_size: .4byte 0b - " #symbol "\n"                        \
      ".popsection\n");                                                 \
  extern "C" const std::byte symbol[];                                  \
  extern "C" const std::uint32_t symbol##_size
// clang-format on
