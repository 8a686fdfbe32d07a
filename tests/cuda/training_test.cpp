// Trainings of one process by the kernels, on the emulated device, beside the same ones by the
// host.
#include <catch2/catch.hpp>

#include "cuda/both_trainings.h"
#include "support/skip.h"

using namespace trainscope;
using namespace trainscope::test;

TEST_CASE("an mlp learns by the kernels as by the host, whatever order the device works in") {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) check_same(mlp_with({}), kFp32, seed);
}

TEST_CASE("every optimizer, clipping and accumulation give the host's losses") {
  check_same(mlp_with({"optimizer.momentum=0.9", "optimizer.weight_decay=0.01"}), kFp32);
  check_same(mlp_with({"optimizer.name=adam", "optimizer.lr=0.001"}), kFp32);
  check_same(
      mlp_with({"optimizer.name=adamw", "optimizer.impl=fused", "optimizer.weight_decay=0.1"}),
      kFp32);
  check_same(mlp_with({"clip_grad_norm=0.1", "accumulate_steps=2"}), kFp32);
  check_same(mlp_with({"optimizer.impl=for_loop", "optimizer.name=adam", "optimizer.lr=0.001",
                       "zero_grad.when=never"}),
             kFp32);
}

// A loss is one number of the type, of steps of 2^-11 or 2^-8 of itself; weights that are rounded
// to the other side move it by another or two.
TEST_CASE("weights of a narrow type give the host's losses, however they are updated") {
  constexpr double kBf16 = 3 * 0x1p-8, kFp16 = 3 * 0x1p-11;
  const auto with = [](const char* type, std::vector<std::string> more) {
    more.push_back(std::string("model.dtype=") + type);
    return mlp_with(more);
  };
  check_same(with("bf16", {"optimizer.momentum=0.9", "clip_grad_norm=0.5"}), kBf16);
  check_same(with("bf16", {"optimizer.name=adam", "optimizer.lr=0.001"}), kBf16);
  check_same(with("bf16", {"optimizer.name=adamw", "optimizer.impl=fused"}), kBf16);
  check_same(with("bf16", {"precision=bf16", "accumulate_steps=2"}), kBf16);
  check_same(with("bf16", {"data.location=device"}), kBf16);
  check_same(with("bf16", {"compile.fuse=true", "compile.cuda_graph=true"}), kBf16);
  check_same(with("fp16", {"optimizer.momentum=0.9", "clip_grad_norm=0.5"}), kFp16);
  check_same(with("fp16", {"scaler.enabled=true", "optimizer.impl=fused"}), kFp16);
}

// One rounding of FP16 (2^-11) or BF16 (2^-8) a value, of which a loss is a mean.
TEST_CASE("autocast and a loss scale give the host's losses, scales and skipped steps") {
  const std::vector<std::string> scaled{"precision=fp16", "scaler.enabled=true",
                                        "scaler.inject_inf_at=2", "scaler.growth_interval=2"};
  check_same(mlp_with(scaled), 2e-3);
  std::vector<std::string> fused = scaled;
  fused.insert(fused.end(), {"optimizer.impl=fused", "optimizer.name=adam"});
  check_same(mlp_with(fused), 2e-3);
  check_same(mlp_with({"precision=bf16"}), 1e-2);
}

const std::vector<std::string> kCnn{"model.name=cnn", "workload=train", "data.name=digits",
                                    "steps=2", "batch_size=4"};

TEST_CASE("a cnn learns by the kernels as by the host") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  check_same(kCnn, 1e-4);
}

// Small: every barrier of every thread is a switch of stacks in the emulator.
const std::vector<std::string> kGpt{"model.name=gpt-mini", "workload=train",  "steps=1",
                                    "batch_size=1",        "model.width=8",   "model.blocks=1",
                                    "model.heads=2",       "model.seq_len=4", "model.dropout=0.1"};

TEST_CASE("gpt-mini learns by the kernels as by the host") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  check_same(kGpt, 1e-4);
}

TEST_CASE("loader workers, the pin thread and a copy stream bring the same batches") {
  check_same(mlp_with({"loader.num_workers=2", "loader.pin_memory=true",
                       "transfer.non_blocking=true", "loader.shuffle=true"}),
             kFp32);
}

TEST_CASE("one batch that every step takes is read once, and stays what it is") {
  const std::vector<std::string> one{"data.one_batch=true", "data.source=tensor",
                                     "loader.pin_memory=true", "transfer.non_blocking=true"};
  for (std::uint32_t seed = 1; seed <= 3; ++seed) check_same(mlp_with(one), kFp32, seed);
}

// What never leaves a fused kernel is rounded as if it did, so the numbers are those of its parts.
TEST_CASE("a compiled model learns by the kernels as by the host, fused and in graphs") {
  const std::vector<std::string> fused{"compile.fuse=true"}, graph{"compile.cuda_graph=true"},
      both{"compile.fuse=true", "compile.cuda_graph=true"};
  for (const auto& how : {fused, graph, both}) {
    INFO(how.front() << " and " << how.size() - 1 << " more");
    check_same(mlp_with(how), kFp32);
    auto scaled = how;
    scaled.insert(scaled.end(), {"precision=fp16", "scaler.enabled=true", "scaler.inject_inf_at=2",
                                 "scaler.growth_interval=2"});
    check_same(mlp_with(scaled), 2e-3);
  }
}

// Compiled, in either way and in both, beside the host's and beside the device's own, not compiled:
// of FP32 the latter's bits.
void check_compiled(const std::vector<std::string>& settings, double allowed) {
  const auto with = [&](const std::vector<std::string>& how) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), how.begin(), how.end());
    return config_of(all);
  };
  const Training host = rows_of(*analysis::run_config("A", with({})).trace);
  const Training plain = on_device(with({}), 1);
  const std::string fuse = "compile.fuse=true", graph = "compile.cuda_graph=true";
  for (const auto& how : {std::vector{fuse}, {graph}, {fuse, graph}}) {
    INFO(settings.front() << ": " << how.front() << " and " << how.size() - 1 << " more");
    const Training compiled = on_device(with(how), 1);
    compare(compiled, host, allowed);
    compare(compiled, plain, 0);
  }
}

// A graph is captured in the second step; what it draws it draws at each launch.
TEST_CASE("a compiled cnn and gpt-mini learn as they do uncompiled, and as by the host") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  check_compiled({"model.name=cnn", "workload=train", "data.name=digits", "steps=3", "batch_size=4",
                  "loop.evaluate=false", "optimizer.lr=0.001"},
                 1e-4);
  check_compiled(
      {"model.name=gpt-mini", "workload=train", "steps=3", "batch_size=2", "model.width=8",
       "model.blocks=2", "model.heads=2", "model.seq_len=5", "model.dropout=0"},
      1e-4);
}

TEST_CASE("a dropout in a graph draws anew at each launch, and what it draws uncaptured") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  check_compiled(
      {"model.name=gpt-mini", "workload=train", "steps=5", "batch_size=2", "model.width=8",
       "model.blocks=1", "model.heads=2", "model.seq_len=5", "model.dropout=0.3"},
      1e-4);
}

TEST_CASE("a fused gpt-mini drops what it drops unfused") {
  if (kWatched) TRAINSCOPE_SKIP("the emulator is too slow for it under a sanitizer");
  std::vector<std::string> fused = kGpt;
  fused.push_back("compile.fuse=true");
  check_same(fused, 1e-4);
  compare(on_device(config_of(fused), 1), on_device(config_of(kGpt), 1), 0);
}

TEST_CASE("a validation between steps is carried out on the device, and changes no training") {
  const std::vector<std::string> validates{"validation.batches=3", "validation.every=2"};
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{},
        {"validation.no_grad=false"},
        {"validation.no_grad=false", "validation.keep=loss", "loop.keep_losses=tensor"},
        {"validation.keep=output", "loop.keep_losses=item"}}) {
    std::vector<std::string> settings = mlp_with(validates);
    settings.insert(settings.end(), more.begin(), more.end());
    check_same(settings, kFp32);
    compare(on_device(config_of(settings), 1), on_device(config_of(kMlp), 1), 0);
  }
}
