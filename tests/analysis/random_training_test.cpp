// Training under random knobs: whatever is chosen, the run ends, its numbers do not depend on how
// batches travel or memory is kept, and it is the same run when it is repeated.

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "analysis/runs/run.h"
#include "analysis/runs/run_file.h"

using namespace trainscope;
using analysis::Run;

namespace {

using Random = std::mt19937;

struct Choice {
  const char* knob;
  std::vector<const char*> values;
};

// What changes numbers.
const std::vector<Choice> kTraining = {
    {"model.name", {"mlp", "mlp", "cnn", "gpt-mini"}},
    {"precision", {"fp32", "tf32", "fp16", "bf16"}},
    {"model.dtype", {"fp32", "fp32", "fp16", "bf16"}},
    {"optimizer.name", {"sgd", "adam", "adamw"}},
    {"optimizer.momentum", {"0", "0.9"}},
    {"optimizer.weight_decay", {"0", "0.01"}},
    {"clip_grad_norm", {"0", "0.5"}},
    {"accumulate_steps", {"1", "1", "3"}},
    {"zero_grad.when", {"before_backward", "before_backward", "never"}},
    {"scaler.enabled", {"false", "true"}},
    {"scaler.inject_inf_at", {"", "1"}},
    {"loader.shuffle", {"false", "true"}},
    {"model.dropout", {"0", "0.2"}},
    {"seed", {"0", "7"}},
};

// What must not.
const std::vector<Choice> kTransport = {
    {"loader.num_workers", {"0", "2"}},           {"loader.pin_memory", {"false", "true"}},
    {"transfer.non_blocking", {"false", "true"}}, {"transfer.streams", {"1", "2"}},
    {"optimizer.impl", {"foreach", "for_loop"}},  {"zero_grad.set_to_none", {"true", "false"}},
    {"checkpoint.enabled", {"false", "true"}},    {"checkpoint.every", {"1", "2"}},
    {"compile.fuse", {"false", "true"}},          {"host.profile", {"pytorch-eager", "native"}},
    {"stream.kind", {"legacy", "non_blocking"}},  {"loop.item_every", {"0", "1"}},
    {"machine", {"h200-1", "a100-sxm-1"}},
};

void choose(program::Config& config, const std::vector<Choice>& choices, Random& random) {
  for (const Choice& choice : choices)
    config.set_text(std::string(choice.knob) + "=" +
                    choice.values[random() % choice.values.size()]);
}

// What is refused beside narrow weights gives way to them.
void fit_types(program::Config& config) {
  const std::string weights = config.word("model.dtype");
  if (weights == "fp32") return;
  const std::string& precision = config.word("precision");
  if (precision == "fp16" || precision == "bf16") config.set_text("precision=" + weights);
  config.set_text("scaler.enabled=false");
}

program::Config small_training() {
  program::Config config;
  for (const char* setting : {"workload=train", "steps=3", "batch_size=8", "model.hidden=16",
                              "model.inputs=784", "model.width=16", "model.heads=2",
                              "model.blocks=1", "model.seq_len=12", "loop.evaluate=false"})
    config.set_text(setting);
  return config;
}

std::string data_of(const program::Config& config) {
  return config.word("model.name") == "gpt-mini" ? "data.name=text" : "data.name=digits";
}

// Two that are no number are the same.
bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

TEST_CASE("numbers of training do not depend on how batches travel, nor on memory") {
  Random random(20);
  for (int round = 0; round < 40; ++round) {
    program::Config training = small_training();
    choose(training, kTraining, random);
    fit_types(training);
    training.set_text(data_of(training));
    std::vector<Run> runs;
    for (const char* label : {"A", "B"}) {
      program::Config config = training;
      choose(config, kTransport, random);
      std::string settings;
      for (const auto& [knob, value] : config.values())
        settings += knob + "=" + program::spell(value) + " ";
      INFO(settings);
      REQUIRE_NOTHROW(runs.push_back(analysis::run_config(label, config)));
      REQUIRE(runs.back().trace->steps().size() >= 1);
    }
    // Fewer than three where an infinity that nothing skips has ended them.
    REQUIRE(runs[0].trace->steps().size() == runs[1].trace->steps().size());
    for (std::uint32_t step = 0; step < runs[0].trace->steps().size(); ++step) {
      const trace::TrainingStep& a = runs[0].trace->steps()[step];
      const trace::TrainingStep& b = runs[1].trace->steps()[step];
      INFO("round " << round << ", step " << step);
      CHECK(same(a.loss, b.loss));
      CHECK(same(a.loss_scale, b.loss_scale));
      CHECK(same(a.gradient_norm, b.gradient_norm));
      CHECK(a.skipped == b.skipped);
    }
  }
}

TEST_CASE("a run of random knobs is the same bytes when it is repeated") {
  Random random(21);
  for (int round = 0; round < 10; ++round) {
    program::Config config = small_training();
    choose(config, kTraining, random);
    fit_types(config);
    choose(config, kTransport, random);
    config.set_text(data_of(config));
    std::string bytes[2];
    for (std::string& one : bytes) {
      analysis::SavedRuns saved;
      saved.runs.push_back(std::make_shared<const Run>(analysis::run_config("A", config)));
      one = analysis::pack_runs(saved);
    }
    CHECK(bytes[0] == bytes[1]);
  }
}
