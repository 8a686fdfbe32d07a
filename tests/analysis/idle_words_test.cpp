// What makes a knob idle, in words: the reason of one, and what is said of a run's or of two runs'.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "program/idle_knobs.h"
#include "support/config.h"

using namespace trainscope;
using program::Config;
using test::config_of;

TEST_CASE("what makes a knob idle is named") {
  CHECK(program::idle_because(config_of({"model.name=resnet18"}), "model.hidden") ==
        "model.name = resnet18");
  CHECK(program::idle_because(config_of({"workload=copy"}), "model.hidden") == "workload = copy");
  CHECK(program::idle_because(config_of({"model.name=gpt2"}), "loop.target_loss") ==
        "model.name = gpt2");
  CHECK(program::idle_because(config_of({"data.location=device"}), "loader.prefetch_factor") ==
        "data.location = device");
  CHECK(program::idle_because(config_of({}), "loader.prefetch_factor") == "loader.num_workers = 0");
  for (const char* knob : {"tensor.sequence_parallel", "tensor.loss_parallel"})
    CHECK(program::idle_because(config_of({}), knob) == "parallel.strategy = none");
  CHECK(program::idle_because(config_of({}), "loop.cublas_load_ms") == "loop.cold_start = False");
  CHECK(program::idle_because(config_of({}), "loop.target_loss") == "data.path = \"\"");
  CHECK(program::idle_because(config_of({"data.name=digits"}), "loop.target_loss").empty());
  CHECK(program::idle_because(config_of({}), "stream.kind") == "workload = train");
  CHECK(program::idle_because(config_of({"workload=collective"}), "pipeline.microbatches") ==
        "workload = collective");
  for (const char* knob : {"collective.algorithm", "collective.protocol", "collective.channels",
                           "collective.p2p", "collective.expanded"}) {
    INFO(knob);
    CHECK(program::idle_because(config_of({}), knob) == "parallel.strategy = none");
    CHECK(program::idle_because(config_of({"parallel.strategy=ddp"}), knob) ==
          "parallel.world_size = 1");
    CHECK(
        program::idle_because(config_of({"parallel.strategy=fsdp", "parallel.world_size=2"}), knob)
            .empty());
    CHECK(program::idle_because(config_of({"workload=collective"}), knob).empty());
  }
  CHECK(program::idle_because(config_of({"parallel.strategy=pipeline", "parallel.world_size=2"}),
                              "collective.expanded") == "parallel.strategy = pipeline");
  CHECK(program::idle_because(config_of({"workload=collective", "collective.algorithm=nvls"}),
                              "collective.expanded") == "collective.algorithm = nvls");
  // A slow rank needs both, and neither is idle before one of them is set.
  const std::vector<std::string> ddp{"parallel.strategy=ddp", "parallel.world_size=4"};
  const auto why = [&](std::string_view knob, std::vector<std::string> more) {
    more.insert(more.end(), ddp.begin(), ddp.end());
    return program::idle_because(config_of(more), knob);
  };
  CHECK(why("straggler.rank", {"straggler.rank=2"}) == "straggler.factor = 1");
  CHECK(why("straggler.rank", {}).empty());
  CHECK(why("straggler.rank", {"straggler.rank=2", "straggler.factor=1.5"}).empty());
  CHECK(why("straggler.factor", {"straggler.rank=2"}).empty());
  CHECK(why("straggler.factor", {"straggler.factor=2"}) == "straggler.rank = -1");
  // Of a knob that is idle itself the value says nothing.
  CHECK(program::idle_because(config_of({"workload=copy", "data.location=device"}),
                              "transfer.non_blocking")
            .empty());
}

TEST_CASE("a step that the run does not get to changes nothing, and that is said") {
  const auto why = [](const std::vector<std::string>& settings, const char* knob) {
    return program::idle_because(config_of(settings), knob);
  };
  const auto note = [](const std::vector<std::string>& settings, const char* knob) {
    return program::idle_note(config_of(settings), knob);
  };
  CHECK(why({"steps=5", "scaler.inject_inf_at=50"}, "scaler.inject_inf_at") == "steps = 5");
  CHECK(why({"steps=5", "scaler.inject_inf_at=5, 7"}, "scaler.inject_inf_at") == "steps = 5");
  CHECK(why({"steps=5", "scaler.inject_inf_at=4"}, "scaler.inject_inf_at").empty());
  CHECK(why({"steps=5", "loop.item_every=6"}, "loop.item_every") == "steps = 5");
  CHECK(why({"steps=5", "loop.item_every=5"}, "loop.item_every").empty());
  const std::string scaler = "scaler.enabled=true";
  CHECK(why({"steps=5", scaler, "scaler.growth_interval=6"}, "scaler.growth_interval") ==
        "steps = 5");
  CHECK(why({"steps=5", scaler, "scaler.growth_interval=5"}, "scaler.growth_interval").empty());
  CHECK(why({"steps=5", scaler}, "scaler.growth_factor") == "scaler.growth_interval = 2000");
  // What is not set waits for nothing.
  for (const char* knob : {"scaler.inject_inf_at", "loop.item_every", "scaler.growth_interval"})
    CHECK(why({"steps=5", scaler}, knob).empty());
  // Of a list, the steps that are not there.
  CHECK(why({"steps=5", "scaler.inject_inf_at=3, 50, 60"}, "scaler.inject_inf_at").empty());
  CHECK(note({"steps=5", "scaler.inject_inf_at=3, 50, 60"}, "scaler.inject_inf_at") ==
        "changes nothing at 50, 60 with steps = 5");
  CHECK(note({"steps=5", "scaler.inject_inf_at=50"}, "scaler.inject_inf_at") ==
        "changes nothing with steps = 5");
  CHECK(note({"steps=5", "scaler.inject_inf_at=3,4"}, "scaler.inject_inf_at").empty());
}

TEST_CASE("a step beyond the run is said of the side that has it, unless steps vary") {
  const Config without = config_of({"steps=5"});
  const Config with = config_of({"steps=5", "scaler.inject_inf_at=3, 50"});
  const Config far = config_of({"steps=5", "scaler.inject_inf_at=50"});
  const std::vector<std::string> knobs{"scaler.inject_inf_at"};
  CHECK(program::idle_words(knobs, {&without, &with}) ==
        std::vector<std::string>{"scaler.inject_inf_at changes nothing at 50 with steps = 5"});
  CHECK(program::idle_words(knobs, {&far, &without}) ==
        std::vector<std::string>{"scaler.inject_inf_at changes nothing with steps = 5"});
  CHECK(program::idle_words(knobs, {&with, &without}, {"steps"}).empty());
  CHECK(program::idle_words(knobs, {&far, &without}, {"steps"}).empty());
  CHECK(program::idle_words(knobs, {&without}).empty());
}

TEST_CASE("only what is idle on every side is said") {
  const Config mlp = config_of({}), resnet = config_of({"model.name=resnet18"});
  const std::vector<std::string> knobs{"model.hidden", "model.batch_norm", "batch_size"};
  CHECK(program::idle_words(knobs, {&mlp, &resnet}) ==
        std::vector<std::string>{"model.batch_norm changes nothing with model.name = mlp"});
  CHECK(program::idle_words(knobs, {&resnet}).size() == 2);
  CHECK(program::idle_words(knobs, {&resnet}, {"model.name"}).empty());
}
