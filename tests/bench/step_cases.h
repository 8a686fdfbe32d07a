// The trainings that are timed, on the CPU and on a GPU; tests/bench/vs_torch.py and
// gpu_vs_torch.py take the same steps in PyTorch, matched by name.
#pragma once

#include <string>
#include <vector>

#include "program/config.h"

namespace trainscope::bench {

struct StepCase {
  std::string name;
  std::vector<std::string> settings;

  // With AdamW as PyTorch has it by default.
  program::Config config() const {
    program::Config config;
    for (const std::string& setting : settings) config.set_text(setting);
    config.set_text("optimizer.name=adamw");
    config.set_text("optimizer.lr=0.001");
    config.set_text("optimizer.weight_decay=0.01");
    config.set_text("loop.evaluate=false");
    return config;
  }
};

inline std::vector<StepCase> step_cases() {
  return {{"mlp-784-256-256-10",
           {"model.name=mlp", "data.name=digits", "batch_size=64", "model.layers=2",
            "model.hidden=256"}},
          {"mlp-784-1024-1024-10",
           {"model.name=mlp", "data.name=digits", "batch_size=128", "model.layers=2",
            "model.hidden=1024"}},
          {"cnn-28x28-16-32",
           {"model.name=cnn", "data.name=digits", "batch_size=64", "cudnn.allow_tf32=false"}},
          {"gpt-mini-2x128",
           {"model.name=gpt-mini", "data.name=text", "batch_size=16", "model.seq_len=64"}}};
}

}  // namespace trainscope::bench
