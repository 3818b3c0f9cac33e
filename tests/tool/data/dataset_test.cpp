#include "tool/dataset.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <hindsight/core/report.hpp>

using namespace hindsight;
using namespace hindsight::tool;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes idx(const std::vector<std::uint32_t>& header, const Bytes& content) {
  Bytes bytes;
  for (const std::uint32_t number : header)
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(number >> shift));
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

Bytes labels(const Bytes& values) { return idx({0x801, static_cast<std::uint32_t>(values.size())}, values); }

const std::string train_images = "train-images-idx3-ubyte";
const std::string train_labels = "train-labels-idx1-ubyte";
const std::string test_images = "t10k-images-idx3-ubyte";
const std::string test_labels = "t10k-labels-idx1-ubyte";
const Bytes pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

/// Two training images of 2 × 3 pixels and one test image, in a folder that goes when this does.
class Folder {
 public:
  Folder() {
    REQUIRE(mkdtemp(path_.data()) != nullptr);
    write(train_images, idx({0x803, 2, 2, 3}, pixels));
    write(train_labels, labels({7, 0}));
    write(test_images, idx({0x803, 1, 2, 3}, {21, 22, 23, 24, 25, 26}));
    write(test_labels, labels({9}));
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(Folder&&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& file) const { return path_ + "/" + file; }
  void remove(const std::string& file) const { REQUIRE(std::filesystem::remove(path(file))); }

  void write(const std::string& file, const Bytes& bytes) const {
    std::ofstream out(path(file), std::ios::binary);
    std::copy(bytes.begin(), bytes.end(), std::ostreambuf_iterator<char>(out));
    REQUIRE(out.flush());
  }

  /// Returns the bytes of the compressed file.
  Bytes write_gzip(const std::string& file, const Bytes& bytes) const {
    const gzFile out = gzopen(path(file).c_str(), "wb");
    REQUIRE(gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size())) > 0);
    REQUIRE(gzclose(out) == Z_OK);
    std::ifstream in(path(file), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// What load_dataset says, with DATA for this folder.
  std::string refusal(const std::string& where) const {
    std::string text = "nothing is refused";
    try {
      load_dataset(where);
    } catch (const Error& error) {
      text = error.what();
    }
    while (text.find(path_) != text.npos) text.replace(text.find(path_), path_.size(), "DATA");
    return text;
  }
  std::string refusal() const { return refusal(path_); }

 private:
  std::string path_ = std::filesystem::temp_directory_path() / "hindsight-XXXXXX";
};

const char* const names = "name sample, mnist, fashion, or a folder with the four IDX files of a data set";

std::string missing(const std::string& folder, const std::string& help = names) {
  return "error[data-missing]: the folder " + folder + "\n  help: " + help;
}

/// Writes the bytes in the file's place and checks what is said.
void check_refused(const std::string& file, const Bytes& bytes, const std::string& what) {
  const Folder folder;
  folder.write(file, bytes);
  const std::string help = "\n  help: replace the file, or take the data set sample, which needs none";
  CHECK(folder.refusal() == "error[data-" + what + help);
}

void check_images_refused(const Bytes& bytes, const std::string& why) {
  check_refused(train_images, bytes, "format]: 'DATA/train-images-idx3-ubyte' " + why);
}

bool consistent(const Dataset& data) {
  return std::ranges::all_of(std::array{&data.train, &data.test}, [&](const LabelledImages* part) {
    return part->count() > 0 && part->count() * part->features() == std::ssize(part->pixels) &&
           part->rows == data.train.rows && part->columns == data.train.columns &&
           part->classes == data.train.classes && std::ranges::max(part->labels) < part->classes;
  });
}

}  // namespace

TEST_CASE("a folder of four raw files is loaded as they are") {
  const Folder folder;
  const Dataset data = load_dataset(folder.path());
  CHECK(data.name == folder.path());
  CHECK(data.train.rows == 2);
  CHECK(data.train.columns == 3);
  CHECK(data.train.pixels == pixels);
  CHECK(data.train.labels == Bytes{7, 0});
  CHECK(std::ranges::equal(data.train.image(1), Bytes{7, 8, 9, 10, 11, 12}));
  CHECK(std::ranges::equal(data.test.image(0), Bytes{21, 22, 23, 24, 25, 26}));
  CHECK(data.test.labels == Bytes{9});
}

TEST_CASE("gzip files and the spelling with a dot are read too, after a raw file of the usual name") {
  for (const std::string ending : {"-idx3-ubyte.gz", ".idx3-ubyte", ".idx3-ubyte.gz"}) {
    const Folder folder;
    folder.write_gzip("train-images" + ending, idx({0x803, 2, 2, 3}, Bytes(12, 99)));
    CHECK(load_dataset(folder.path()).train.pixels == pixels);
    folder.remove(train_images);
    CHECK(load_dataset(folder.path()).train.pixels == Bytes(12, 99));
  }
}

TEST_CASE("images of several megabytes are loaded whole, raw and from gzip") {
  Bytes many(3'000'000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::uint8_t>(i * i / 1000);
  const Folder folder;
  folder.write(test_images, idx({0x803, 1, 1000, 1500}, Bytes(1'500'000, 1)));
  folder.write(train_images, idx({0x803, 2, 1000, 1500}, many));
  CHECK(load_dataset(folder.path()).train.pixels == many);
  folder.write_gzip(train_images, idx({0x803, 2, 1000, 1500}, many));
  CHECK(load_dataset(folder.path()).train.pixels == many);
}

TEST_CASE("a missing file is told with the names that were looked for") {
  for (const std::string& name : {train_images, train_labels, test_images, test_labels}) {
    const Folder folder;
    folder.remove(name);
    const std::string stem = name.substr(0, name.rfind("-idx")), suffix = name.substr(stem.size() + 1);
    const char* text = "'DATA' holds no file of {0}: looked for {0}-{1}, {0}-{1}.gz, {0}.{1}, {0}.{1}.gz";
    CHECK(folder.refusal() == missing(fmt::format(fmt::runtime(text), stem, suffix)));
  }
}

TEST_CASE("a folder or a pipe that bears a file's name is passed over") {
  const Folder folder;
  folder.remove(train_images);
  REQUIRE(mkfifo(folder.path(train_images).c_str(), 0600) == 0);
  std::filesystem::create_directory(folder.path(train_images + ".gz"));
  CHECK(folder.refusal().find("'DATA' holds no file of train-images: looked for") != std::string::npos);
  folder.write("train-images.idx3-ubyte", idx({0x803, 2, 2, 3}, pixels));
  CHECK(load_dataset(folder.path()).train.pixels == pixels);
}

TEST_CASE("what is no folder is refused with the names that are data sets") {
  const Folder folder;
  CHECK(folder.refusal("") == missing("'' does not exist"));
  CHECK(folder.refusal(folder.path("minst")) == missing("'DATA/minst' does not exist"));
  CHECK(folder.refusal(folder.path(test_labels)) == missing("'DATA/t10k-labels-idx1-ubyte' is a file"));
  const std::string longest(5000, 'a');
  CHECK(folder.refusal(longest) == missing("'" + longest + "' cannot be read: File name too long"));
}

TEST_CASE("a file that cannot be opened is refused with the system's reason") {
  const Folder folder;
  folder.remove(test_labels);
  std::filesystem::create_symlink(test_labels, folder.path(test_labels));
  const std::string reason = "' cannot be read: Too many levels of symbolic links\n  help: replace the file";
  CHECK(folder.refusal().starts_with("error[data-missing]: 'DATA/" + test_labels + reason));
}

TEST_CASE("mnist is the folder that HINDSIGHT_DATA names, or else .cache/mnist") {
  const Folder folder;
  setenv("HINDSIGHT_DATA", folder.path().c_str(), 1);
  CHECK(load_dataset("mnist").name == "mnist");
  CHECK(load_dataset("mnist").train.pixels == pixels);
  folder.write(test_labels, {1});
  CHECK(folder.refusal("mnist").ends_with("\n  help: make data   # after removing the file"));
  const char* help = "make data\n  help: export HINDSIGHT_DATA=<folder>   # if you have MNIST elsewhere";
  setenv("HINDSIGHT_DATA", folder.path("none").c_str(), 1);
  CHECK(folder.refusal("mnist") == missing("'DATA/none', which HINDSIGHT_DATA names, does not exist", help));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const auto unset : {+[] { setenv("HINDSIGHT_DATA", "", 1); }, +[] { unsetenv("HINDSIGHT_DATA"); }}) {
    unset();
    CHECK(folder.refusal("mnist") == missing("'.cache/mnist' does not exist", help));
  }
  std::filesystem::current_path(before);
}

TEST_CASE("fashion is what Debian's package installs") {
  const std::string folder = "/usr/share/datasets/fashion-mnist",
                    help = "apt-get install dataset-fashion-mnist";
  if (std::filesystem::exists(folder))
    CHECK(load_dataset("fashion").train.count() == 60000);
  else
    CHECK(Folder().refusal("fashion") == missing("'" + folder + "' does not exist", help));
}

TEST_CASE("a file that is not what its name says is refused") {
  const std::string magic = "is not an IDX file of images: expected the magic number 0x00000803, found ";
  check_images_refused(labels({7, 0}), magic + "0x00000801");
  const std::string header = "is truncated: expected a header of 16 bytes, found ";
  check_images_refused({}, header + "0 bytes in all");
  check_images_refused(idx({0x803, 2, 2}, {}), header + "12 bytes in all");
  const std::string content = "expected 12 bytes of images after the header, found ";
  check_images_refused(idx({0x803, 2, 2, 3}, Bytes(11)), "is truncated: " + content + "11");
  check_images_refused(idx({0x803, 2, 2, 3}, Bytes(13)), "has bytes left over: " + content + "more");
  check_images_refused(idx({0x803, 0, 2, 3}, {}), "holds no images");
  check_images_refused(idx({0x803, 2, 0, 3}, {}), "holds images without pixels, of size 0 × 3");
}

TEST_CASE("a header that promises too much is refused before memory is taken") {
  const std::string most = " × 2147483648 bytes, which is too much: expected at most 2147483647";
  check_images_refused(idx({0x803, 1, 1, 1U << 31U}, {}), "promises 1 × 1" + most);
  check_images_refused(idx({0x803, 4, 1U << 31U, 1U << 31U}, {}), "promises 4 × 2147483648" + most);
  check_images_refused(idx({0x803, 1, 1, ~0U >> 1U}, {5}),
                       "is truncated: expected 2147483647 bytes of images after the header, found 1");
}

TEST_CASE("a damaged gzip file is refused with zlib's reason") {
  Bytes packed = Folder().write_gzip("any", idx({0x803, 2, 2, 3}, pixels));
  check_images_refused({packed.begin(), packed.end() - 1}, "is a damaged gzip file: unexpected end of file");
  packed[packed.size() - 8] ^= 1U;
  check_images_refused(packed, "is a damaged gzip file: incorrect data check");
}

TEST_CASE("files that do not belong together are refused") {
  const std::string images = "mismatch]: 'DATA/train-images-idx3-ubyte' holds ";
  check_refused(train_labels, labels({1, 2, 3}),
                images + "2 images, but 'DATA/train-labels-idx1-ubyte' holds 3 labels");
  check_refused(test_images, idx({0x803, 1, 3, 2}, Bytes(6)),
                images + "images of 2 × 3 pixels, but 'DATA/t10k-images-idx3-ubyte' holds images of 3 × 2");
  check_refused(test_labels, labels({10}),
                "mismatch]: 'DATA/t10k-labels-idx1-ubyte' holds the label 10, but "
                "'DATA/train-labels-idx1-ubyte' knows only the classes 0 to 9");
}

TEST_CASE("there are as many classes as the training labels name, and ten at the least") {
  const Folder folder;
  for (const int label : {0, 9, 10, 255}) {
    folder.write(train_labels, labels({0, static_cast<std::uint8_t>(label)}));
    CHECK(load_dataset(folder.path()).train.classes == std::max(10, label + 1));
    CHECK(consistent(load_dataset(folder.path())));
  }
}

TEST_CASE("a file cut anywhere is refused, and with any bit turned over refused or consistent") {
  for (const std::string& name : {train_images, train_labels}) {
    const Folder folder;
    const Bytes raw = name == train_images ? idx({0x803, 2, 2, 3}, pixels) : labels({7, 0});
    for (const Bytes& whole : {raw, folder.write_gzip("any", raw)}) {
      for (auto end = whole.begin(); end != whole.end(); ++end) {
        folder.write(name, {whole.begin(), end});
        CHECK(folder.refusal().starts_with("error[data-format]: 'DATA/" + name));
      }
      for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        Bytes changed = whole;
        changed[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
        folder.write(name, changed);
        if (folder.refusal().starts_with("error[data-")) continue;
        CHECK_MESSAGE(consistent(load_dataset(folder.path())), name, ", bit ", bit);
      }
    }
  }
}

TEST_CASE("the sample is 5,000 and 1,000 images of MNIST, with each class well represented") {
  const Dataset data = load_dataset("sample");
  CHECK(consistent(data));
  CHECK(data.train.features() == 28 * 28);
  CHECK(data.train.count() == 5000);
  CHECK(data.test.count() == 1000);
  for (int label = 0; label < 10; ++label) {
    CHECK(std::ranges::count(data.train.labels, label) > 400);
    CHECK(std::ranges::count(data.test.labels, label) > 80);
  }
  CHECK(std::ranges::equal(std::span(data.train.labels).first(5), Bytes{5, 0, 4, 1, 9}));
  CHECK(std::ranges::equal(std::span(data.test.labels).first(5), Bytes{7, 2, 1, 0, 4}));
}
