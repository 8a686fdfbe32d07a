#include "train/kernels/convolutions.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "machine/machine.h"
#include "program/marks.h"
#include "train/build.h"

namespace trainscope::train {
namespace {

using program::Index;

program::Program built(const std::vector<std::string>& settings) {
  program::Config config;
  for (const char* word : {"model.name=resnet18", "batch_size=8", "steps=3"}) config.set_text(word);
  for (const std::string& word : settings) config.set_text(word);
  return build_program(config, machine_of(config));
}

std::vector<std::string> with_words(std::vector<std::string> words,
                                    const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<program::Launch> launches(const program::Program& program) {
  std::vector<program::Launch> all;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* launch = std::get_if<program::Launch>(&command.action))
        all.push_back(*launch);
  return all;
}

std::size_t launched(const program::Program& program, std::string_view kernel) {
  return static_cast<std::size_t>(
      std::ranges::count_if(launches(program), [&](const program::Launch& launch) {
        return program.operations[launch.operation].kernel.starts_with(kernel);
      }));
}

// Of each thread, how often each buffer is taken and given back.
void check_workspaces(const program::Program& program) {
  std::set<Index> there;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands) {
      const auto* alloc = std::get_if<program::Alloc>(&command.action);
      const auto* free = std::get_if<program::Free>(&command.action);
      const Index buffer = alloc ? alloc->buffer : free ? free->buffer : program::kNoIndex;
      if (buffer == program::kNoIndex || program.buffers[buffer].name != "cuDNN workspace")
        continue;
      CHECK((alloc ? there.insert(buffer).second : there.erase(buffer) == 1));
    }
  CHECK(there.empty());
}

std::size_t searches(const program::Program& program) {
  std::size_t count = 0;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (std::holds_alternative<program::BeginMark>(command.action) &&
          command.name != program::kNoIndex &&
          program.names[command.name] == program::kBenchmarkMark)
        ++count;
  return count;
}

}  // namespace

TEST_CASE("Under autocast every convolution turns its tensors round, unless channels lie last") {
  const auto first = built({"machine=v100-sxm-1", "precision=fp16"});
  const auto last = built({"machine=v100-sxm-1", "precision=fp16", "memory_format=channels_last"});
  // Forward and the two gradients read five tensors and write three.
  CHECK(launched(first, "nhwcToNchw") > 0);
  CHECK(launched(first, "nchwToNhwc") > launched(first, "nhwcToNchw"));
  CHECK(launched(last, "nchwToNhwc") == 0);
  CHECK(launched(last, "nhwcToNchw") == 0);
  CHECK(launched(first, "conv ") == launched(last, "conv "));
  check_workspaces(first);
}

TEST_CASE("What cuDNN launches beside a convolution costs no operator of its own") {
  const auto program = built({"machine=v100-sxm-1", "precision=fp16"});
  bool before_was_turned = false;
  int turned_back = 0, computed = 0;
  for (const program::Launch& launch : launches(program)) {
    const std::string& kernel = program.operations[launch.operation].kernel;
    if (kernel == "nhwcToNchw") {
      ++turned_back;
      CHECK(launch.same_operator);
    }
    if (kernel.starts_with("conv ")) {
      ++computed;
      CHECK(launch.same_operator == before_was_turned);
    }
    before_was_turned = kernel == "nchwToNhwc";
  }
  CHECK(turned_back > 0);
  CHECK(computed > 0);
}

TEST_CASE("The search is made once for each shape and part, and later steps launch what it found") {
  const auto off = built({"machine=v100-sxm-1"});
  const auto on = built({"machine=v100-sxm-1", "cudnn.benchmark=true"});
  CHECK(searches(off) == 0);
  // resnet18 has 11 convolutions of different shapes, of which the first has no input's gradient.
  CHECK(searches(on) == 3 * 11 - 1);
  CHECK(launched(on, "winograd") > 0);
  check_workspaces(on);
  const auto longer = built({"machine=v100-sxm-1", "cudnn.benchmark=true", "steps=6"});
  CHECK(searches(longer) == searches(on));
}

TEST_CASE("Images of another size are new shapes for the search") {
  const auto one = built({"machine=v100-sxm-1", "cudnn.benchmark=true"});
  const auto three =
      built({"machine=v100-sxm-1", "cudnn.benchmark=true", "data.image_sizes=3", "steps=6"});
  CHECK(searches(three) == 3 * searches(one));
  CHECK(launched(three, "upsample_nearest2d") == 6);
}

TEST_CASE("On a CPU there is no cuDNN") {
  CHECK_THROWS_WITH(built({"device=cpu", "cudnn.benchmark=true"}),
                    Catch::Contains("cudnn.benchmark has no meaning with device = cpu"));
}

TEST_CASE("Only a ResNet takes images of several sizes") {
  CHECK_THROWS_WITH(built({"model.name=mlp", "data.image_sizes=2"}),
                    Catch::Contains("data.image_sizes above 1 needs a model"));
  CHECK_THROWS_WITH(built({"data.image_sizes=2", "transfer.prefetch=true"}),
                    Catch::Contains("is not built for transfer.prefetch"));
}

TEST_CASE("Images whose channels lie innermost are copied to be flattened, and so are gradients") {
  const std::vector<std::string> cnn{"model.name=cnn", "data.name=digits", "machine=t4-1"};
  const auto last = with_words(cnn, {"memory_format=channels_last"});
  CHECK(launched(built(cnn), "elementwise_kernel: copy") == 0);
  const auto program = built(last);
  CHECK(launched(program, "elementwise_kernel: copy") > 0);
  std::set<std::string> callers;
  std::string before;
  for (const program::Launch& launch : launches(program)) {
    const program::Operation& one = program.operations[launch.operation];
    if (one.kernel == "elementwise_kernel: copy") {
      callers.insert(one.framework);
      // 8 images of 7 x 7 pixels and 32 channels, read and written.
      CHECK(one.bytes == 2 * 8 * 7 * 7 * 32 * 4);
      CHECK(before == (one.is_gradient ? "gradient" : "max_pool"));
    }
    before = one.is_gradient ? "gradient" : one.kernel;
  }
  CHECK(callers == std::set<std::string>{"aten::clone", "MaxPool2DWithIndicesBackward0"});
  CHECK(launched(built(with_words(last, {"compile.fuse=true"})), "triton_poi_fused_clone") > 0);
  // A ResNet's pooling leaves a pixel: a view.
  CHECK(launched(built({"machine=t4-1", "memory_format=channels_last"}),
                 "elementwise_kernel: copy") == 0);
}

TEST_CASE("The listing tells of the layout and of the search") {
  const auto program =
      built({"memory_format=channels_last", "cudnn.benchmark=true", "data.image_sizes=2"});
  std::string text;
  for (const auto& line : program.listing.lines) text += line + "\n";
  CHECK_THAT(text, Catch::Contains("torch.backends.cudnn.benchmark = True"));
  CHECK_THAT(text, Catch::Contains("model = model.to(memory_format=torch.channels_last)"));
  CHECK_THAT(text, Catch::Contains("memory_format=torch.channels_last)\n"));
  CHECK_THAT(text, Catch::Contains("x = F.interpolate(x, size=next(sizes))"));
}

}  // namespace trainscope::train
