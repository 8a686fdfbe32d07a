// Trainings as a person at a terminal meets them: those that go wrong, and those that cannot begin.

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.h"

using nlohmann::json;
using namespace trainscope::test;

namespace {

const std::string kTrain = "run --set workload=train --set loop.evaluate=false ";
const std::string kDiverging = kTrain + "--set data.name=digits --set optimizer.lr=1e6 --steps 20 ";

void check_refused(const std::string& settings, const std::string& part) {
  const Result ran = run(kTrain + settings);
  INFO(settings);
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, Catch::StartsWith("trainscope: ") && Catch::Contains(part));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
}

std::string word(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

// MNIST's four files, with 64 images of nothing and one label for all of them.
void write_mnist(const Folder& folder, char label) {
  for (const char* split : {"train", "t10k"}) {
    std::ofstream(folder.file(std::string(split) + "-images-idx3-ubyte"), std::ios::binary)
        << word(0x803) << word(64) << word(28) << word(28) << std::string(64 * 784, '\0');
    std::ofstream(folder.file(std::string(split) + "-labels-idx1-ubyte"), std::ios::binary)
        << word(0x801) << word(64) << std::string(64, label);
  }
}

}  // namespace

TEST_CASE("a training that diverges ends there, well, and says what to try") {
  const Result ran = run(kDiverging);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("training diverged at line ") &&
                          Catch::Contains("the loss of step ") &&
                          Catch::Contains("try a lower optimizer.lr") &&
                          !Catch::Contains("scaler.enabled"));
}

TEST_CASE("the JSON of a training that diverged says so in words and in numbers") {
  const json one = json::parse(run(kDiverging + "--json").out)["runs"]["A"];
  const json& why = one["diverged"];
  CHECK(why["message"].get<std::string>().starts_with("training diverged at line "));
  CHECK((why["loss"] == "NaN" || why["loss"] == "Infinity"));
  CHECK(why["step"] > 0);
  CHECK(why["step"] < 19);
  CHECK(why["line"] > 0);
  CHECK_FALSE(one.contains("out_of_memory"));
  const json fine = json::parse(run(kTrain + "--set data.name=digits --json").out);
  CHECK_FALSE(fine["runs"]["A"].contains("diverged"));
}

TEST_CASE("a training that diverged is saved, opened and reported as it was") {
  const Folder folder;
  const std::string saved = folder.file("diverged.tsrun");
  CHECK_THAT(saved_and_opened(kDiverging, saved),
             Catch::Contains("<strong>Training diverged.</strong> Training diverged at line "));
  CHECK_THAT(run("run " + saved + " --series loss").out, Catch::StartsWith("0 2.3"));
}

TEST_CASE("FP16 without a scaler is told of the scaler, and a scaler skips what overflows") {
  const std::string half = kTrain +
                           "--set data.name=digits --set precision=fp16 --set "
                           "scaler.inject_inf_at=3 --steps 8 ";
  CHECK_THAT(run(half).out, Catch::Contains("the loss of step 4 is NaN") &&
                                Catch::Contains("scaler.enabled = true or precision = bf16"));
  const json scaled = json::parse(run(half + "--set scaler.enabled=true --json").out);
  CHECK_FALSE(scaled["runs"]["A"].contains("diverged"));
  CHECK(scaled["runs"]["A"]["metrics"]["scaler.skipped_steps"]["value"] == 1);
}

TEST_CASE("models and data that do not fit are refused with what fits") {
  check_refused("--set data.name=spirals", "set model.inputs = 2");
  check_refused("--set data.name=text", "set data.name = digits, or model.name = gpt-mini");
  check_refused("--set model.name=cnn --set data.name=text", "cnn reads images, and text has none");
  check_refused("--set model.name=cnn --set data.name=spirals", "does not fit images of 1 x 1");
  check_refused("--set model.name=gpt-mini --set data.name=digits", "set data.name = text");
  check_refused("--set model.name=gpt-mini --set model.heads=3",
                "model.width = 128 cannot be split among 3 heads; set model.heads to a divisor");
  check_refused("--set model.name=gpt-mini --set model.seq_len=5000", "from 1 to 4096");
  check_refused("--set data.name=digits --set batch_size=20000",
                "more than the 10000 samples of digits; make it smaller");
}

TEST_CASE("types and scales that cannot be are refused") {
  check_refused("--set scaler.init_scale=inf", "scaler.init_scale: inf is out of range");
  check_refused("--set scaler.init_scale=nan", "scaler.init_scale: ");
  check_refused("--set scaler.init_scale=0", "scaler.init_scale: 0 is out of range");
  check_refused("--set scaler.init_scale=-3", "scaler.init_scale: -3 is out of range");
  check_refused("--set scaler.inject_inf_at=a,b", "write whole numbers from 0, as in \"3, 7\"");
  check_refused("--set scaler.inject_inf_at=1,-2", "write whole numbers from 0, as in \"3, 7\"");
  check_refused("--set model.dtype=fp16 --set scaler.enabled=true",
                "Attempting to unscale FP16 gradients.");
  check_refused("--set model.dtype=bf16 --set scaler.enabled=true",
                "not implemented for 'BFloat16'");
  check_refused("--set model.dtype=bf16 --machine t4-1",
                "NVIDIA T4 has no units for BF16, which came with compute capability 8.0; set "
                "model.dtype = fp16");
  check_refused("--set model.dtype=bf16 --set device=cpu",
                "model.dtype = bf16 is built for the GPU");
  check_refused("--set precision=fp64", "did you mean fp32?");
  check_refused("--set precision=bf16 --machine t4-1",
                "NVIDIA T4 has no units for BF16, which came with compute capability 8.0");
}

TEST_CASE("MNIST of one's own is trained on, and refused by name when it is damaged") {
  const Folder right;
  write_mnist(right, 7);
  const std::string mnist = "--set data.name=mnist --set batch_size=32 --steps 2 ";
  CHECK(run(kTrain + mnist + "--set data.path=" + right.file("")).code == 0);
  const Folder wrong;
  write_mnist(wrong, 11);
  check_refused(mnist + "--set data.path=" + wrong.file(""), "t10k-labels-idx1-ubyte");
  std::filesystem::resize_file(right.file("train-images-idx3-ubyte"), 1000);
  check_refused(mnist + "--set data.path=" + right.file(""), "train-images-idx3-ubyte");
  check_refused(mnist + "--set data.path=" + right.file("nowhere"), "nowhere");
}

TEST_CASE("the folder of one's own data that a config names stands beside the config") {
  const Folder folder;
  write_mnist(folder, 7);
  std::filesystem::create_directory(folder.file("configs"));
  const std::string config = folder.file("configs/train.toml");
  std::ofstream(config) << "workload = \"train\"\nsteps = 2\nbatch_size = 32\n[loop]\nevaluate = "
                           "false\n[data]\nname = \"mnist\"\npath = \"..\"\n";
  const Result ran = run("run " + config);
  INFO(ran.err);
  CHECK(ran.code == 0);
  std::filesystem::remove(folder.file("train-images-idx3-ubyte"));
  CHECK_THAT(run("run " + config).err, Catch::Contains("train-images-idx3-ubyte"));
  // A flag's is one from where the program is started.
  CHECK(run("run " + config + " --set data.path=configs").code == 2);
}

TEST_CASE("a machine's file that a config names stands beside the config, and is missed there") {
  const Folder folder;
  std::filesystem::create_directory(folder.file("configs"));
  std::ofstream(folder.file("ours.toml")) << "base = \"t4-1\"\nname = \"our own box\"\n";
  const std::string config = folder.file("configs/copy.toml");
  const auto write = [&](const std::string& machine) {
    std::ofstream(config) << "workload = \"copy\"\nmachine = \"" << machine << "\"\n";
  };
  write("../ours.toml");
  const Result ran = run("run " + config);
  INFO(ran.err);
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("our own box"));
  write("theirs.toml");
  CHECK_THAT(run("run " + config).err,
             Catch::Contains("copy.toml:2:11: ") && Catch::Contains("configs/theirs.toml"));
  write("t4");
  CHECK_THAT(run("check " + config).out, Catch::Contains("copy.toml:2:11: there is no machine t4"));
  write("../ours.toml");
  std::ofstream(folder.file("ours.toml")) << "base = \"t4-1\"\nnmae = \"our own box\"\n";
  CHECK_THAT(run("run " + config).err, Catch::Contains("ours.toml:2:1: "));
}
