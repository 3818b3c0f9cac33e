#include "tool/dataset.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#define ZLIB_CONST
#include <zlib.h>

#include <hindsight/core/report.hpp>

#include "tool/embedded_sample.hpp"

namespace hindsight::tool {
namespace {

constexpr auto sample_name = "sample";

/// What one IDX file unpacks to, from its first byte to its last.
class ByteSource {
 public:
  /// `repair` is the help for whoever has a damaged file.
  ByteSource(std::string name, std::string repair) : name_(std::move(name)), repair_(std::move(repair)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// How many bytes were read; fewer than asked for only at the end.
  virtual std::size_t read(std::span<std::uint8_t> into) = 0;

  const std::string& name() const { return name_; }

  [[noreturn]] void refuse_as(const char* code, const std::string& message) const {
    refuse({.code = code, .message = message, .help = {repair_}});
  }

  [[noreturn]] void refuse_format(const std::string& what) const {
    refuse_as("data-format", fmt::format("'{}' {}", name_, what));
  }

 private:
  std::string name_;
  std::string repair_;
};

class FileSource : public ByteSource {
 public:
  FileSource(const std::string& path, std::string repair)
      : ByteSource(path, std::move(repair)), file_(gzopen(path.c_str(), "rb"), &gzclose_r) {
    if (!file_) refuse_unreadable(std::strerror(errno));
    gzbuffer(file_.get(), 1U << 17U);
  }

  std::size_t read(std::span<std::uint8_t> into) override {
    const int count = gzread(file_.get(), into.data(), static_cast<unsigned>(into.size()));
    int status = Z_OK;
    std::string_view reason = gzerror(file_.get(), &status);
    if (reason.starts_with(name() + ": ")) reason.remove_prefix(name().size() + 2);
    if (status == Z_ERRNO) refuse_unreadable(reason);
    // A file cut short inside its gzip data is no failure to gzread, only to gzerror.
    if (count < 0 || status < 0) refuse_format(fmt::format("is a damaged gzip file: {}", reason));
    return static_cast<std::size_t>(count);
  }

 private:
  [[noreturn]] void refuse_unreadable(std::string_view reason) const {
    refuse_as("data-missing", fmt::format("'{}' cannot be read: {}", name(), reason));
  }

  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

/// A gzip file that lies in memory.
class MemorySource : public ByteSource {
 public:
  MemorySource(std::string name, std::string repair, std::span<const std::byte> bytes)
      : ByteSource(std::move(name), std::move(repair)) {
    stream_.next_in = reinterpret_cast<const Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    // 16 asks for gzip's framing, whose checksum inflate then compares.
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) refuse_format("cannot be unpacked: no memory");
  }
  ~MemorySource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<std::uint8_t> into) override {
    stream_.next_out = into.data();
    stream_.avail_out = static_cast<uInt>(into.size());
    while (stream_.avail_out > 0 && !ended_) {
      const int status = inflate(&stream_, Z_NO_FLUSH);
      ended_ = status == Z_STREAM_END;
      if (status != Z_OK && !ended_)
        refuse_format(fmt::format("is damaged gzip data: {}", stream_.msg ? stream_.msg : zError(status)));
    }
    return into.size() - stream_.avail_out;
  }

 private:
  z_stream stream_ = {};
  bool ended_ = false;
};

/// What a file must hold: its IDX magic number says "unsigned bytes" and the number of dimensions.
struct Kind {
  const char* name;
  std::uint32_t magic;
  std::size_t dimensions;
};
constexpr Kind images_kind{.name = "images", .magic = 0x00000803, .dimensions = 3};
constexpr Kind labels_kind{.name = "labels", .magic = 0x00000801, .dimensions = 1};

/// An IDX file: `sizes` are those of its dimensions; their product, the number of bytes, fits an int.
struct Idx {
  std::array<int, 3> sizes = {1, 1, 1};
  std::vector<std::uint8_t> bytes;
};

constexpr std::uint64_t most_bytes = std::numeric_limits<int>::max();

std::uint32_t big_endian(std::span<const std::uint8_t> bytes) {
  return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U | std::uint32_t{bytes[2]} << 8U |
         std::uint32_t{bytes[3]};
}

/// The sizes that the header tells, all above zero, with a product that is accepted.
std::array<int, 3> read_header(ByteSource& source, Kind kind) {
  std::array<std::uint8_t, 16> bytes = {};
  const auto header = std::span(bytes).first(4 + 4 * kind.dimensions);
  const std::size_t present = source.read(header);
  if (const std::uint32_t magic = big_endian(header); present >= 4 && magic != kind.magic)
    source.refuse_format(
        fmt::format("is not an IDX file of {}: expected the magic number {:#010x}, found {:#010x}", kind.name,
                    kind.magic, magic));
  if (present < header.size())
    source.refuse_format(fmt::format("is truncated: expected a header of {} bytes, found {} bytes in all",
                                     header.size(), present));

  std::array<std::uint32_t, 3> sizes = {1, 1, 1};
  for (std::size_t i = 0; i < kind.dimensions; ++i) sizes[i] = big_endian(header.subspan(4 + 4 * i));
  if (sizes[0] == 0) source.refuse_format(fmt::format("holds no {}", kind.name));
  if (sizes[1] == 0 || sizes[2] == 0)
    source.refuse_format(fmt::format("holds images without pixels, of size {} × {}", sizes[1], sizes[2]));
  // Divided, not multiplied: three such numbers can overflow 64 bits.
  if (most_bytes / sizes[0] / sizes[1] / sizes[2] == 0)
    source.refuse_format(fmt::format("promises {} bytes, which is too much: expected at most {}",
                                     fmt::join(std::span(sizes).first(kind.dimensions), " × "), most_bytes));
  return {static_cast<int>(sizes[0]), static_cast<int>(sizes[1]), static_cast<int>(sizes[2])};
}

Idx read_idx(ByteSource& source, Kind kind) {
  Idx idx{.sizes = read_header(source, kind), .bytes = {}};
  const auto expected = static_cast<std::size_t>(idx.sizes[0]) * static_cast<std::size_t>(idx.sizes[1]) *
                        static_cast<std::size_t>(idx.sizes[2]);
  // Piece by piece: the memory taken is in proportion to what is there, whatever the header promises.
  constexpr std::size_t piece = std::size_t{1} << 20U;
  while (idx.bytes.size() < expected) {
    const std::size_t before = idx.bytes.size();
    idx.bytes.resize(std::min(expected, before + piece));
    const std::size_t after = before + source.read(std::span(idx.bytes).subspan(before));
    if (after < idx.bytes.size())
      source.refuse_format(fmt::format("is truncated: expected {} bytes of {} after the header, found {}",
                                       expected, kind.name, after));
  }
  // Reading past the end is also what makes zlib compare the checksum.
  std::uint8_t left_over = 0;
  if (source.read(std::span(&left_over, 1)) != 0)
    source.refuse_format(fmt::format(
        "has bytes left over: expected {} bytes of {} after the header, found more", expected, kind.name));
  return idx;
}

struct Sources {
  std::unique_ptr<ByteSource> images;
  std::unique_ptr<ByteSource> labels;
};

LabelledImages read_pair(const Sources& sources) {
  Idx images = read_idx(*sources.images, images_kind);
  Idx labels = read_idx(*sources.labels, labels_kind);
  if (images.sizes[0] != labels.sizes[0])
    sources.labels->refuse_as(
        "data-mismatch", fmt::format("'{}' holds {} images, but '{}' holds {} labels", sources.images->name(),
                                     images.sizes[0], sources.labels->name(), labels.sizes[0]));
  const int classes = std::max(10, *std::max_element(labels.bytes.begin(), labels.bytes.end()) + 1);
  return {.rows = images.sizes[1],
          .columns = images.sizes[2],
          .classes = classes,
          .pixels = std::move(images.bytes),
          .labels = std::move(labels.bytes)};
}

Dataset read_dataset(const std::string& name, const Sources& train_sources, const Sources& test_sources) {
  Dataset data{.name = name, .train = read_pair(train_sources), .test = read_pair(test_sources)};
  const LabelledImages& train = data.train;
  LabelledImages& test = data.test;
  if (train.rows != test.rows || train.columns != test.columns)
    test_sources.images->refuse_as(
        "data-mismatch", fmt::format("'{}' holds images of {} × {} pixels, but '{}' holds images of {} × {}",
                                     train_sources.images->name(), train.rows, train.columns,
                                     test_sources.images->name(), test.rows, test.columns));
  if (test.classes > train.classes)
    test_sources.labels->refuse_as(
        "data-mismatch", fmt::format("'{}' holds the label {}, but '{}' knows only the classes 0 to {}",
                                     test_sources.labels->name(), test.classes - 1,
                                     train_sources.labels->name(), train.classes - 1));
  test.classes = train.classes;
  return data;
}

/// A folder with a data set, and what to do if it is not there or not in order.
struct Place {
  std::filesystem::path folder;
  std::string origin = {};  ///< how the user came to name it, for the message
  std::vector<std::string> fetch;
  std::string repair;

  [[noreturn]] void refuse_missing(const std::string& what) const {
    refuse({.code = "data-missing",
            .message = fmt::format("the folder '{}'{} {}", folder.string(), origin, what),
            .help = fetch});
  }
};

Place find_place(const std::string& where) {
  if (where == "mnist") {
    const char* chosen = std::getenv("HINDSIGHT_DATA");
    const bool is_chosen = chosen != nullptr && *chosen != '\0';
    return {.folder = is_chosen ? chosen : ".cache/mnist",
            .origin = is_chosen ? ", which HINDSIGHT_DATA names," : "",
            .fetch = {"make data", "export HINDSIGHT_DATA=<folder>   # if you have MNIST elsewhere"},
            .repair = "make data   # after removing the file"};
  }
  if (where == "fashion")
    return {.folder = "/usr/share/datasets/fashion-mnist",
            .fetch = {"apt-get install dataset-fashion-mnist"},
            .repair = "apt-get install --reinstall dataset-fashion-mnist"};
  return {.folder = where,
          .fetch = {"name sample, mnist, fashion, or a folder with the four IDX files of a data set"},
          .repair = "replace the file, or take the data set sample, which needs none"};
}

/// One of the four that a data set consists of.
struct Part {
  const char* stem;
  const char* suffix;

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const char* separator : {"-", "."})
      for (const char* ending : {"", ".gz"})
        names.push_back(fmt::format("{}{}{}{}", stem, separator, suffix, ending));
    return names;
  }
};
constexpr std::array<Part, 4> parts{{{"train-images", "idx3-ubyte"},
                                     {"train-labels", "idx1-ubyte"},
                                     {"t10k-images", "idx3-ubyte"},
                                     {"t10k-labels", "idx1-ubyte"}}};

std::unique_ptr<ByteSource> open_file(const Place& place, const Part& part) {
  const std::vector<std::string> names = part.names();
  for (const std::string& name : names) {
    // What is there but no regular file is passed over: some archives make folders of these names, and
    // opening a pipe would wait for ever. Where the type cannot be told, opening says why.
    std::error_code ignored;
    const auto type = std::filesystem::status(place.folder / name, ignored).type();
    if (type == std::filesystem::file_type::regular || type == std::filesystem::file_type::none)
      return std::make_unique<FileSource>((place.folder / name).string(), place.repair);
  }
  place.refuse_missing(fmt::format("holds no file of {}: looked for {}", part.stem, fmt::join(names, ", ")));
}

Dataset load_folder(const std::string& where) {
  const Place place = find_place(where);
  std::error_code error;
  const auto type = std::filesystem::status(place.folder, error).type();
  if (type == std::filesystem::file_type::not_found) place.refuse_missing("does not exist");
  if (type == std::filesystem::file_type::none)
    place.refuse_missing(fmt::format("cannot be read: {}", error.message()));
  if (type != std::filesystem::file_type::directory) place.refuse_missing("is a file");
  // All are opened before one is read: what is missing is told at once.
  const Sources train{open_file(place, parts[0]), open_file(place, parts[1])};
  const Sources test{open_file(place, parts[2]), open_file(place, parts[3])};
  return read_dataset(where, train, test);
}

Dataset load_sample() {
  const EmbeddedSample sample = embedded_sample();
  const auto open = [](const char* name, std::span<const std::byte> bytes) {
    return std::make_unique<MemorySource>(name, "build the program again, from an undamaged copy", bytes);
  };
  return read_dataset(
      sample_name,
      {open("sample/train-images.gz", sample.train_images),
       open("sample/train-labels.gz", sample.train_labels)},
      {open("sample/test-images.gz", sample.test_images), open("sample/test-labels.gz", sample.test_labels)});
}

}  // namespace

Dataset load_dataset(const std::string& where) {
  return where == sample_name ? load_sample() : load_folder(where);
}

std::vector<std::filesystem::path> files_of_dataset(const std::string& where) {
  std::vector<std::filesystem::path> files;
  if (where == sample_name) return files;
  const std::filesystem::path folder = find_place(where).folder;
  for (const Part& part : parts)
    for (const std::string& name : part.names()) files.push_back(folder / name);
  return files;
}

}  // namespace hindsight::tool
