// The trainings whose operations are carried out in lockstep, small for the emulator and larger for
// a device, and the check of them.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "cuda/lockstep.h"
#include "support/config.h"
#include "support/stepper.h"
#include "train/build.h"

namespace trainscope::test {

enum class LockstepSize { kSmall, kLarge };

// Every model, type, optimizer and way of compiling once.
inline std::vector<Settings> lockstep_models(LockstepSize size) {
  const bool large = size == LockstepSize::kLarge;
  const Settings mlp{"model.name=mlp", "data.name=digits", large ? "batch_size=64" : "batch_size=6",
                     large ? "model.hidden=256" : "model.hidden=17"};
  const Settings cnn{"model.name=cnn", "data.name=digits", large ? "batch_size=32" : "batch_size=2",
                     "cudnn.allow_tf32=false"};
  const Settings rnn{"model.name=rnn", "data.name=digits", large ? "batch_size=64" : "batch_size=3",
                     large ? "model.hidden=128" : "model.hidden=9",
                     large ? "model.seq_len=28" : "model.seq_len=7"};
  const Settings gpt =
      large ? Settings{"model.name=gpt-mini", "data.name=text", "batch_size=8", "model.dropout=0.1"}
            : Settings{"model.name=gpt-mini", "data.name=text",   "batch_size=1",
                       "model.width=8",       "model.blocks=1",   "model.heads=2",
                       "model.seq_len=5",     "model.dropout=0.1"};
  const Settings adamw{"optimizer.name=adamw", "optimizer.lr=0.001"};
  const Settings fp16{"precision=fp16", "scaler.enabled=true"}, bf16{"precision=bf16"};
  const Settings fused{"optimizer.impl=fused"}, one_by_one{"optimizer.impl=for_loop"};
  const Settings flash{"attention.kernel=flash"}, compiled{"compile.fuse=true"};
  const Settings eager{"attention.kernel=eager"};
  std::vector<Settings> all{mlp,
                            with(mlp, {"precision=tf32"}),
                            with(mlp, with(fp16, {"clip_grad_norm=0.1", "optimizer.momentum=0.9"})),
                            with(mlp, with(bf16, with(adamw, one_by_one))),
                            with(mlp, with(fp16, with(adamw, fused))),
                            with(mlp, {"accumulate_steps=2", "optimizer.weight_decay=0.1"}),
                            with(mlp, compiled),
                            with(cnn, adamw),
                            with(cnn, {"memory_format=channels_last"}),
                            with(cnn, with(fp16, {"memory_format=channels_last"})),
                            with(cnn, bf16),
                            with(cnn, compiled),
                            with(rnn, adamw),
                            with(rnn, compiled),
                            with(gpt, adamw),
                            with(gpt, with(flash, fp16)),
                            with(gpt, with(flash, bf16)),
                            with(gpt, with(eager, bf16)),
                            with(gpt, with(adamw, compiled))};
  // Weights of a narrow type. FP16 under Adam is no number after a step.
  const Settings fp16_weights{"model.dtype=fp16"}, bf16_weights{"model.dtype=bf16"};
  const Settings clipped{"clip_grad_norm=0.1", "optimizer.momentum=0.9",
                         "optimizer.weight_decay=0.1"};
  for (const Settings& one :
       {with(mlp, with(fp16_weights, clipped)), with(mlp, with(bf16_weights, adamw)),
        with(mlp, with(bf16_weights, with(adamw, fused))),
        with(mlp, with(fp16_weights,
                       {"scaler.enabled=true", "optimizer.impl=fused", "scaler.init_scale=1024"})),
        with(mlp, with(bf16_weights, {"precision=bf16", "accumulate_steps=2"})),
        with(cnn, with(bf16_weights, clipped)),
        with(cnn, with(fp16_weights, {"memory_format=channels_last"})),
        with(gpt, with(bf16_weights, adamw)), with(gpt, with(flash, fp16_weights)),
        with(gpt, with(bf16_weights, {"precision=bf16"})), with(mlp, with(bf16_weights, compiled)),
        with(rnn, bf16_weights), with(cnn, with(fp16_weights, compiled)),
        with(gpt, with(bf16_weights, compiled))})
    all.push_back(one);
  if (large) all.push_back({"model.name=cnn", "data.name=digits", "batch_size=32"});  // in TF32
  return all;
}

// With TRAINSCOPE_LOCKSTEP_REPORT set, what was found is printed.
inline void check_in_lockstep(cuda::DeviceCalls& device, const Settings& settings,
                              const OfLibraries& libraries = {}) {
  const program::Config config =
      config_of(with(settings, {"workload=train", "steps=2", "loop.evaluate=false"}));
  const program::Program program = train::build_program(config, train::machine_of(config));
  Lockstep lockstep(program, device, libraries);
  Stepper stepper(program, lockstep);
  for (int i = 0; i < 2; ++i) stepper.step();
  std::string words;
  for (const std::string& setting : settings) words += setting + " ";
  INFO(words);
  CHECK(lockstep.operations() > 10);
  const bool reports = std::getenv("TRAINSCOPE_LOCKSTEP_REPORT") != nullptr;
  if (reports) fmt::print("{}: {} operations\n", words, lockstep.operations());
  for (const auto& [name, difference] : lockstep.differences()) {
    if (reports)
      fmt::print("  {:72} {:9.3g} of {:6.0f} ulp\n", name, difference.ulps, difference.allowed);
    INFO(name << ", " << difference.worst);
    CHECK(difference.ulps <= difference.allowed);
  }
}

}  // namespace trainscope::test
