// Of which blocks checkpointing recomputes: their launches, and the memory that the others keep.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "base/files.h"
#include "program/idle_knobs.h"
#include "support/attention_launches.h"
#include "support/built_program.h"
#include "support/program_order.h"

using namespace trainscope;
using program::Phase;
using program::Program;
using test::Settings;
using test::with;

namespace {

const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.blocks=6",
                    "model.dropout=0",     "steps=1",        "loop.evaluate=false"};

Settings every(int blocks) {
  return {"checkpoint.enabled=true", "checkpoint.every=" + std::to_string(blocks)};
}

// Products of a pass: of forward, those that backward does again.
std::size_t forward_products(const Program& program, Phase phase) {
  const auto all = test::launched(program, phase);
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const test::Launched& one) {
    const auto* linear = std::get_if<program::Linear>(&one.operation->function);
    return linear && linear->part == program::Part::kForward;
  }));
}

std::int64_t peak(const Program& program) {
  std::int64_t bytes = 0, most = 0;
  test::in_order(program, 0, [&](const program::Command& command) {
    if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
      bytes += program.buffers[alloc->buffer].bytes;
    if (const auto* free = std::get_if<program::Free>(&command.action))
      bytes -= program.buffers[free->buffer].bytes;
    most = std::max(most, bytes);
  });
  return most;
}

// Bytes that the first step's forward leaves, but for what cuBLAS works in.
std::int64_t behind_forward(const Program& program) {
  std::int64_t bytes = 0;
  bool done = false;
  test::in_order(program, 0, [&](const program::Command& command) {
    done |= command.phase == Phase::kBackward;
    const std::string line = command.line > 0 ? program.listing.lines[command.line - 1U] : "";
    if (done || line.find("out = model(") == line.npos) return;
    const auto* alloc = std::get_if<program::Alloc>(&command.action);
    if (alloc && program.buffers[alloc->buffer].role != program::Role::kWorkspace)
      bytes += program.buffers[alloc->buffer].bytes;
    const auto* free = std::get_if<program::Free>(&command.action);
    if (free && program.buffers[free->buffer].role != program::Role::kWorkspace)
      bytes -= program.buffers[free->buffer].bytes;
  });
  return bytes;
}

}  // namespace

TEST_CASE("every so many-th block is recomputed, counted from 1") {
  constexpr std::size_t kAgain = 3;  // of a block: down is only added to
  const auto again = [](const Settings& more) {
    return forward_products(test::program_of(with(kGpt, more)), Phase::kBackward);
  };
  CHECK(again({}) == 0);
  CHECK(again(every(1)) == 6 * kAgain);
  CHECK(again(every(2)) == 3 * kAgain);
  CHECK(again(every(4)) == 1 * kAgain);  // the fourth alone
  CHECK(again(every(7)) == 0);
  CHECK(again({"checkpoint.every=2"}) == 0);
}

TEST_CASE("what lives behind the forward is what PyTorch has") {
  const nlohmann::json golden = nlohmann::json::parse(
      read_file(TRAINSCOPE_SOURCE_DIR "/tests/golden/kept_graphs.json", std::size_t{1} << 20));
  const Settings cnn{"model.name=cnn", "model.batch_norm=false", "batch_size=64", "steps=1",
                     "loop.evaluate=false"};
  REQUIRE(golden.at("kept").at("checkpointed").size() == 4);
  for (const auto& row : golden.at("kept").at("checkpointed")) {
    const int blocks = row[0].get<int>();
    CAPTURE(blocks);
    const Settings more = blocks > 0 ? every(blocks) : Settings{};
    CHECK(behind_forward(test::program_of(with(cnn, more))) == row[1].get<std::int64_t>());
  }
}

TEST_CASE("the fewer blocks are recomputed, the more memory a step needs") {
  std::vector<std::int64_t> peaks;
  const Settings large = with(kGpt, {"batch_size=64"});
  for (const int blocks : {1, 2, 3})
    peaks.push_back(peak(test::program_of(with(large, every(blocks)))));
  peaks.push_back(peak(test::program_of(large)));
  CAPTURE(peaks);
  CHECK(std::ranges::adjacent_find(peaks, std::ranges::greater_equal{}) == peaks.end());
}

TEST_CASE("the stages of a pipeline count their blocks together") {
  const Settings stages =
      with(kGpt, {"machine=h100-sxm-8", "parallel.strategy=pipeline", "parallel.world_size=2",
                  "pipeline.microbatches=2", "batch_size=4"});
  const Program program = test::program_of(with(stages, every(2)));
  std::vector<std::string> again;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* launch = std::get_if<program::Launch>(&command.action);
          launch && command.phase == Phase::kBackward) {
        const program::Operation& operation = program.operations[launch->operation];
        const auto* linear = std::get_if<program::Linear>(&operation.function);
        if (!linear || linear->part != program::Part::kForward) continue;
        const std::string& name = program.buffers[operation.writes.front()].name;
        if (name.find("qkv") != name.npos) again.push_back(name.substr(0, name.find(',')));
      }
  std::ranges::sort(again);
  CHECK(again ==
        std::vector<std::string>{"block 2", "block 2", "block 4", "block 4", "block 6", "block 6"});
}

TEST_CASE("which blocks are recomputed matters where any are") {
  CHECK(program::idle_because(test::config_of(kGpt), "checkpoint.every") ==
        "checkpoint.enabled = False");
  CHECK(program::idle_because(test::config_of(with(kGpt, every(2))), "checkpoint.every").empty());
}

TEST_CASE("a model's own attribute says which blocks are recomputed, else a comment does") {
  const auto listing = [](const Settings& more) {
    return test::listing_of(test::program_of(with({"steps=1"}, more)));
  };
  using Catch::Matchers::Contains;
  const Settings second = every(2);
  CHECK_THAT(listing(with(second, {"model.name=gpt2"})),
             Contains("model.gradient_checkpointing_enable(gradient_checkpointing_kwargs="
                      "{\"use_reentrant\": False})\n"
                      "for i, block in enumerate(model.transformer.h, 1): "
                      "block.gradient_checkpointing = i % 2 == 0\n"));
  CHECK_THAT(listing(with(second, {"model.name=gpt-mini"})),
             Contains("        if not self.is_recomputed: return self.layers(x)\n"
                      "        return checkpoint(self.layers, x, use_reentrant=False)\n"
                      "    def layers(self, x):\n") &&
                 Contains("for i, block in enumerate(model.blocks, 1): "
                          "block.is_recomputed = i % 2 == 0\n"));
  CHECK_THAT(listing(with(every(3), {"model.name=resnet50"})),
             Contains("# forward: x = checkpoint(block, x, use_reentrant=False) for the last of "
                      "every 3 blocks\n"));
  CHECK_THAT(listing(with(every(1), {"model.name=gpt-mini"})), !Contains("is_recomputed"));
}
