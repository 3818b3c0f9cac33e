// Numbers and texts that options cannot mean, given to the program itself.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/scratch_folder.hpp"
#include "support/tool_process.hpp"

using namespace hindsight::testing;

namespace {

const std::vector<std::string> no_numbers{"nan", "inf", "-1", "18446744073709551616", "1e999", "x", ""};

}  // namespace

TEST_CASE("every option of train that is a number refuses what is none, or too large") {
  const ScratchFolder folder;
  for (const char* option : {"--lr", "--batch", "--seed", "--epochs", "--threads", "--test-passes",
                             "--checkpoint-seconds", "--hidden"})
    for (const std::string& number : no_numbers) {
      if (option == std::string("--lr") && number == "18446744073709551616") continue;  // a rate all the same
      const Ended ended = run(folder, {"train", option, number, "--out", folder / "run"});
      CAPTURE(option);
      CAPTURE(number);
      CAPTURE(ended.said);
      CHECK(ended.code == 2);
      CHECK_FALSE(std::filesystem::exists(folder / "run"));
    }
  for (const std::string number : {"-1", "18446744073709551616", "1.5", "0x10", "+1", " 1"})
    CHECK(run(folder, {"train", "--seed", number, "--out", folder / "run"})
              .said.find(
                  "error[option]: --seed: expected a whole number from 0 to 18446744073709551615, found " +
                  number) == 0);
  CHECK(run(folder, {"train", "--checkpoint-seconds", "nan", "--out", folder / "run"})
            .said.find("error[option]: --checkpoint-seconds: expected a number from 0 to 1e+09, found nan") ==
        0);
  CHECK(run(folder, {"train", "--seed", "18446744073709551615", "--hidden", "4", "--batch", "500", "--epochs",
                     "1", "--checkpoint-seconds", "0.5", "--out", folder / "run"})
            .code == 0);
  CHECK(content(folder / "run/checkpoint.safetensors").find("\\\"seed\\\":18446744073709551615") !=
        std::string::npos);
}

TEST_CASE("an option that is given nothing is refused, not passed over") {
  const ScratchFolder folder;
  for (const char* option : {"--data", "--method", "--estimator", "--baseline", "--values", "--optimizer",
                             "--graph", "--topology", "--out", "--seed", "--lr"}) {
    const Ended ended = run(folder, {"train", option, "", "--epochs", "1", "--batch", "500"});
    CAPTURE(option);
    CAPTURE(ended.said);
    CHECK(ended.code == 2);
  }
  CHECK(run(folder, {"train", "--values", "1e39,0", "--out", folder / "run"}).said ==
        "error[option]: '1e39,0': 1e+39 is infinite as a float, which holds up to 3.4e+38\n"
        "  help: --values -1,1   # or 0,1\n");
  CHECK(run(folder, {"train", "--baseline", "", "--out", folder / "run"}).said ==
        "error[option]: --baseline is given, but empty\n  help: leave it out, or see: hindsight train "
        "--help\n");
  std::ofstream(folder / "plan.toml") << "seeds = 1\n";
  CHECK(run(folder, {"sweep", folder / "plan.toml", "--out", folder / "results", "--known", ""}).said ==
        "error[option]: --known: expected the name of a file or folder, found nothing\n  help: hindsight "
        "sweep --help\n");
  CHECK(run(folder, {"microscope", "--topology", "skip", "--data", ""}).code == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "results"));
}

TEST_CASE("every option of the other commands that is a number refuses what is none, or too large") {
  const ScratchFolder folder;
  std::ofstream(folder / "plan.toml") << "seeds = 1\n";
  for (const std::string& number : no_numbers) {
    CAPTURE(number);
    for (const char* option : {"--rows", "--epochs", "--gradients", "--batch", "--most-states", "--seed"}) {
      const Ended ended = run(folder, {"microscope", "--topology", "skip:units=4", option, number});
      CAPTURE(option);
      CAPTURE(ended.said);
      CHECK(ended.code == 2);
    }
    CHECK(
        run(folder, {"sweep", folder / "plan.toml", "--out", folder / "results", "--workers", number}).code ==
        2);
    for (const char* option : {"--seeds", "--epochs"})
      CHECK(run(folder, {"demo", option, number, "--out", folder / "demo"}).code == 2);
  }
  for (const char* number : {"nan", "inf", "-1", ""})
    CHECK(run(folder, {"microscope", "--topology", "skip:units=4", "--epochs", "1", "--lr", number}).code ==
          2);
  CHECK_FALSE(std::filesystem::exists(folder / "results"));
}
