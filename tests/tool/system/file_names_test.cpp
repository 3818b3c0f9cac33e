#include "tool/file_names.hpp"

#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "support/refusal.hpp"
#include "support/scratch_folder.hpp"

using namespace hindsight::tool;
using hindsight::testing::refusal;
using hindsight::testing::says;
using hindsight::testing::ScratchFolder;
namespace fs = std::filesystem;

namespace {

const std::string nothing_refused = "nothing was refused";

}  // namespace

TEST_CASE("names are as long as names can be") {
  CHECK(problem_of_name("a/b.dot").empty());
  CHECK(problem_of_name("/").empty());
  CHECK(problem_of_name("a//" + std::string(255, 'n') + "/").empty());
  CHECK(problem_of_name("a/" + std::string(256, 'n') + "/b") ==
        "expected names of at most 255 bytes between slashes, found one of 256");
  CHECK(problem_of_name("") == "expected the name of a file or folder, found nothing");
  std::string path;
  while (path.size() < 4095) path += path.size() % 2 == 0 ? 'n' : '/';
  CHECK(problem_of_name(path).empty());
  CHECK(problem_of_name(path + "n") == "expected a path of at most 4095 bytes, found 4096");
}

TEST_CASE("files are told apart by what they are, not by their names") {
  const ScratchFolder folder;
  const fs::path read = folder / "read", other = folder / "other";
  std::ofstream(read) << "x";
  std::ofstream(other) << "x";
  fs::create_symlink("read", folder / "link");
  fs::create_symlink("link", folder / "second");
  fs::create_hard_link(read, folder / "twin");
  fs::create_directory_symlink(".", folder / "round");
  for (const char* name : {"read", "./read", "link", "second", "twin", "round/read"}) {
    CAPTURE(name);
    CHECK(refusal([&] {
            keep_files_apart({read}, {other, folder / name});
          }) == "error[file-is-read]: '" + folder / name + "' would be overwritten: it is '" + read.string() +
                    "', which the command reads\n  help: give what is written another name");
  }
  CHECK(refusal([&] { keep_files_apart({read, ""}, {other, "", "", folder / "new"}); }) == nothing_refused);
  CHECK(refusal([&] { keep_files_apart({folder / "missing"}, {folder / "new"}); }) == nothing_refused);
}

TEST_CASE("two files that are not there yet can be one") {
  const ScratchFolder folder;
  fs::create_directory_symlink(".", folder / "round");
  for (const char* name : {"new", "./new", "round/new", "missing/../new"}) {
    CAPTURE(name);
    CHECK(says(refusal([&] {
                 keep_files_apart({}, {folder / "new", folder / name});
               }),
               "the command writes something else there, too"));
  }
  CHECK(refusal([&] { keep_files_apart({}, {folder / "new", folder / "newer"}); }) == nothing_refused);
}

TEST_CASE("what cannot be looked at is not taken for missing") {
  const ScratchFolder folder;
  std::ofstream(folder / "file") << "x";
  CHECK(is_there(folder / "file"));
  CHECK_FALSE(is_there(folder / "none"));
  CHECK(says(refusal([&] { is_there(folder / std::string(300, 'n')); }), "error[file-not-read]: "));
}
