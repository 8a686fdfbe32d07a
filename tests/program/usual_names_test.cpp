#include "program/usual_names.h"

#include <catch2/catch.hpp>

#include "program/knobs.h"

using namespace trainscope::program;

TEST_CASE("what other programs call a knob finds it") {
  CHECK(did_you_mean_knob("torch.compile") == " (did you mean compile.fuse?)");
  CHECK(did_you_mean_knob("gradient_checkpointing").find("checkpoint.enabled") !=
        std::string::npos);
  CHECK(did_you_mean_knob("amp") == " (did you mean precision?)");
  CHECK(did_you_mean_knob("world_size") == " (did you mean parallel.world_size?)");
  CHECK(did_you_mean_knob("optimizer").find("optimizer.name") != std::string::npos);
  CHECK(did_you_mean_knob("photosynthesis").empty());
}

TEST_CASE("every knob that another name is said to mean is one") {
  for (const char* name : {"amp", "torch.amp", "mixed_precision", "gradient_accumulation_steps",
                           "accumulate_grad_batches", "learning_rate", "max_grad_norm",
                           "gradient_clip_val", "tensor_parallel", "pipeline_parallel"}) {
    INFO(name);
    const std::string words = did_you_mean_knob(name);
    const std::string begin = " (did you mean ";
    REQUIRE(words.starts_with(begin));
    CHECK(find_knob_or_null(words.substr(begin.size(), words.size() - begin.size() - 2)));
  }
}

TEST_CASE("what other programs call a strategy finds it, where the knob has that") {
  const auto choices = find_knob("parallel.strategy").choices;
  CHECK(did_you_mean_choice("tp", choices) == " (did you mean tensor?)");
  CHECK(did_you_mean_choice("PP", choices) == " (did you mean pipeline?)");
  CHECK(did_you_mean_choice("AdamW", find_knob("optimizer.name").choices) ==
        " (did you mean adamw?)");
  CHECK(did_you_mean_choice("tp", {"none", "fp16"}).empty());
}
