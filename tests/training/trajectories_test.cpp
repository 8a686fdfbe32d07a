// Whole trainings beside PyTorch's: tests/golden/trajectories.py started from our initial weights,
// took our batches, and trained in FP64 and in FP32. Ours may be at most three times as far from
// the former as the latter is.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "support/skip.h"
#include "training/training_run.h"

using namespace trainscope;
using nlohmann::json;
using test::TrainingRun;

namespace {

constexpr double kTimesAway = 3;

// The batches of a program, in order: what its loader reads.
struct Batches {
  std::vector<float> values;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> targets;
};

Batches batches_of(const program::Program& program, bool test) {
  host::BatchSource source(program.data, host::DataSets(program.data), 0);
  const auto find = [&](const char* name) -> const program::Buffer& {
    for (const program::Buffer& buffer : program.buffers)
      if (buffer.name == name) return buffer;
    FAIL("no buffer is called " << name);
    return program.buffers.front();
  };
  const bool has_tokens = find("x").type == program::ElementType::kInt64;
  const auto x = static_cast<std::size_t>(find("x").elements());
  const auto y = static_cast<std::size_t>(find("y").elements());
  const std::int64_t size = program.data.batch_size;
  const auto count = static_cast<std::size_t>(
      test ? program.tested_samples / size
           : program.steps * std::llround(program.samples_per_step) / size);
  Batches all;
  (void)(has_tokens ? all.tokens.resize(count * x) : all.values.resize(count * x));
  all.targets.resize(count * y);
  for (std::size_t i = 0; i < count; ++i)
    source.read(static_cast<std::int64_t>(i), test,
                {has_tokens ? std::span<float>() : std::span(all.values).subspan(i * x, x),
                 has_tokens ? std::span(all.tokens).subspan(i * x, x) : std::span<std::int64_t>(),
                 std::span(all.targets).subspan(i * y, y)});
  return all;
}

std::string hash_of(const Batches& batches) {
  test::Hash hash;
  hash.add(batches.values);
  for (const auto* list : {&batches.tokens, &batches.targets})
    for (const std::int64_t word : *list) hash.add(static_cast<std::uint64_t>(word));
  return hash.text();
}

std::vector<double> reals(const std::string& digits) {
  std::vector<double> values;
  for (std::size_t i = 0; i + 16 <= digits.size(); i += 16)
    values.push_back(std::bit_cast<double>(std::stoull(digits.substr(i, 16), nullptr, 16)));
  return values;
}

double distance(const std::vector<double>& ours, const std::vector<double>& exact) {
  REQUIRE(ours.size() == exact.size());
  double squares = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    squares += (ours[i] - exact[i]) * (ours[i] - exact[i]);
  return std::sqrt(squares / static_cast<double>(ours.size()));
}

// Of each parameter the numbers that the golden file has.
std::vector<double> sampled(TrainingRun& run, const json& strides) {
  std::vector<double> values;
  for (const program::Index parameter : run.parameters()) {
    const host::Results all = run.numbers().values(parameter);
    const std::size_t stride = strides.at(run.program().buffers[parameter].name);
    for (std::size_t i = 0; i < all.size(); i += stride) values.push_back(all[i]);
  }
  return values;
}

void check_distance(const std::string& name, const char* what, double ours, double pytorch) {
  if (std::getenv("TRAINSCOPE_GOLDEN_REPORT"))
    fmt::print("{:32} {:10}  ours {:9.3g}  PyTorch FP32 {:9.3g}  ratio {:5.2f}\n", name, what, ours,
               pytorch, ours / pytorch);
  INFO(what << ": ours " << ours << ", PyTorch's FP32 " << pytorch);
  CHECK(ours <= kTimesAway * pytorch);
}

void check(const std::string& name, const json& golden) {
  INFO(name);
  TrainingRun run(golden.at("settings").get<std::vector<std::string>>());
  test::Hash weights;
  weights.add(run.weights());
  REQUIRE(weights.text() == golden.at("weights"));
  REQUIRE(hash_of(batches_of(run.program(), false)) == golden.at("batches"));
  run.finish();
  CHECK(run.skipped_steps() == golden.at("skipped").get<std::vector<std::int64_t>>());
  check_distance(name, "losses", distance(run.losses(), reals(golden.at("losses"))),
                 golden.at("away").at("losses"));
  check_distance(name, "parameters",
                 distance(sampled(run, golden.at("every")), reals(golden.at("parameters"))),
                 golden.at("away").at("parameters"));
  if (!golden.contains("correct")) return;
  REQUIRE(run.trace().evaluations().size() == 1);
  CHECK(run.trace().evaluations()[0].correct == golden.at("correct"));
}

template <typename Number>
void write_numbers(const std::string& path, const std::vector<Number>& numbers) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers.data()),
             static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
}

void write_batches(const std::string& folder, const Batches& batches) {
  batches.tokens.empty() ? write_numbers(folder + "x.bin", batches.values)
                         : write_numbers(folder + "x.bin", batches.tokens);
  write_numbers(folder + "y.bin", batches.targets);
}

}  // namespace

TEST_CASE("trainings stay as near to PyTorch's FP64 as PyTorch's FP32 does, three times over") {
  const std::string path = std::string(TRAINSCOPE_SOURCE_DIR) + "/tests/golden/trajectories.json";
  const json golden = json::parse(read_file(path, 1 << 22));
  for (const auto& [name, one] : golden.at("cases").items()) check(name, one);
}

// For tests/golden/trajectories.py: what a training with the settings TRAINSCOPE_SETTINGS (one a
// line) starts from, into the folder TRAINSCOPE_DUMP.
TEST_CASE("dumps initial weights and batches", "[.dump]") {
  if (!std::getenv("TRAINSCOPE_DUMP") || !std::getenv("TRAINSCOPE_SETTINGS"))
    TRAINSCOPE_SKIP("no TRAINSCOPE_DUMP and TRAINSCOPE_SETTINGS");
  const std::string folder = std::string(std::getenv("TRAINSCOPE_DUMP")) + "/";
  std::vector<std::string> settings;
  std::istringstream lines(std::getenv("TRAINSCOPE_SETTINGS"));
  for (std::string line; std::getline(lines, line);) settings.push_back(line);
  TrainingRun run(settings);
  json about = {{"parameters", json::array()},
                {"tokens", run.program().data.tokens > 0},
                {"tested", run.program().tested_samples}};
  for (const program::Index parameter : run.parameters())
    about["parameters"].push_back(
        {run.program().buffers[parameter].name, run.program().buffers[parameter].elements()});
  write_numbers(folder + "weights.bin", run.weights());
  write_batches(folder + "train_", batches_of(run.program(), false));
  if (run.program().tested_samples > 0)
    write_batches(folder + "test_", batches_of(run.program(), true));
  std::ofstream(folder + "about.json") << about;
}
