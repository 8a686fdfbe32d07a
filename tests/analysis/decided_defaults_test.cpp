// What a knob is in a run that does not set it: the value that ran.

#include "program/decided_defaults.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "program/config_difference.h"
#include "program/idle_knobs.h"
#include "program/known_models.h"
#include "support/config.h"
#include "support/shown_run.h"
#include "train/model/models.h"

using namespace trainscope;
using program::Config;
using program::Knob;
using test::config_of;
using test::shown;

namespace {

// Every workload, and what decides the defaults of others.
std::vector<Config> small_configs() {
  std::vector<Config> all;
  for (const char* workload : {"copy", "gemm", "kernel", "launch"})
    all.push_back(config_of({std::string("workload=") + workload}));
  all.push_back(config_of({"workload=collective", "machine=h200-8", "steps=2"}));
  for (const char* more :
       {"precision=fp32", "precision=fp16", "precision=bf16", "precision=tf32",
        "autocast.dtype=bf16", "matmul.allow_tf32=true", "model.inputs=1000", "model.name=rnn"})
    all.push_back(config_of({"steps=1", "batch_size=2", "loop.evaluate=false", more}));
  return all;
}

// Every model, data of each size, and every way to share the work.
std::vector<Config> large_configs() {
  std::vector<Config> all;
  const auto add = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"steps=1", "batch_size=16", "loop.evaluate=false"});
    all.push_back(config_of(more));
  };
  for (const std::string& model : program::model_names()) add({"model.name=" + model});
  for (const char* data : {"cifar10", "imagenet", "digits", "spirals"})
    add({"model.name=rnn", std::string("data.name=") + data});
  for (const char* strategy : {"dp", "ddp", "fsdp", "pipeline"})
    add({"machine=h200-8", "parallel.world_size=2", std::string("parallel.strategy=") + strategy});
  return all;
}

// Of those that do something there.
std::vector<std::string> unset_knobs(const Config& config) {
  std::vector<std::string> names;
  for (const Knob& knob : program::knobs())
    if (!config.is_set(knob.name) && program::idle_because(config, knob.name).empty() &&
        !program::counts_when_set(knob.name))
      names.push_back(knob.name);
  return names;
}

std::string words_of(const Config& config) {
  std::string words;
  for (const auto& [name, value] : config.values())
    words += name + "=" + program::spell(value) + " ";
  return words;
}

}  // namespace

TEST_CASE("a knob that is set to what it is in a run changes nothing of it") {
  for (const Config& config : small_configs()) {
    INFO(words_of(config));
    const std::vector<std::string> before = shown(config);
    for (const std::string& knob : unset_knobs(config)) {
      INFO(knob);
      Config same = config;
      same.set(knob, config.value(knob));
      CHECK(program::differing_knobs(same, config).empty());
      std::vector<std::string> after;
      CHECK_NOTHROW(after = shown(same));
      CHECK((after == before));
    }
  }
}

TEST_CASE("all knobs at once that are set to what they are change nothing of a run") {
  for (const Config& config : large_configs()) {
    INFO(words_of(config));
    Config same = config;
    for (const std::string& knob : unset_knobs(config)) same.set(knob, config.value(knob));
    CHECK(same.values().size() > 40);
    CHECK(program::differing_knobs(same, config).empty());
    std::vector<std::string> after;
    CHECK_NOTHROW(after = shown(same));
    CHECK((after == shown(config)));
  }
}

TEST_CASE("other knobs decide what a knob is by default") {
  const Config copy = config_of({"workload=copy"});
  CHECK(copy.whole("steps") == 1);
  CHECK(analysis::run_config("A", copy).program->steps == 1);
  CHECK(config_of({"workload=gemm"}).whole("steps") == 10);
  CHECK(config_of({"precision=fp16"}).word("autocast.dtype") == "fp16");
  CHECK(config_of({"precision=tf32"}).flag("matmul.allow_tf32"));
  CHECK_FALSE(config_of({"precision=tf32", "matmul.allow_tf32=false"}).flag("matmul.allow_tf32"));
  CHECK(config_of({"autocast.dtype=bf16"}).word("precision") == "bf16");
  CHECK(config_of({"matmul.allow_tf32=true"}).word("precision") == "tf32");
  CHECK(config_of({}).word("precision") == "fp32");
  CHECK(config_of({"model.name=gpt2"}).whole("model.seq_len") == 128);
}

TEST_CASE("an rnn reads as many rows as its data have") {
  std::size_t read = 0;
  for (const std::string& data : program::find_knob("data.name").choices) {
    if (data == "text" || data == "tokens") continue;  // of which it reads none
    INFO(data);
    const Config config = config_of({"model.name=rnn", "data.name=" + data});
    CHECK(config.whole("model.seq_len") == train::training_data(config).shape.height);
    ++read;
  }
  CHECK(read == 6);
}

TEST_CASE("configs that run alike do not differ and those that do not do") {
  using Names = std::vector<std::string>;
  const Config copy = config_of({"workload=copy"});
  const Config ten = config_of({"workload=copy", "steps=10"});
  CHECK(program::differing_knobs(copy, ten) == Names{"steps"});
  CHECK(program::differing_knobs(copy, config_of({"workload=copy", "steps=1"})).empty());
  CHECK(program::differing_knobs(config_of({"precision=fp16"}), config_of({"autocast.dtype=fp16"}))
            .empty());
  // What follows of another knob is not told twice.
  CHECK(program::differing_knobs(config_of({"precision=fp16"}), config_of({})) ==
        Names{"precision"});
  CHECK(program::differing_knobs(config_of({"ddp.bucket_cap_mb=25"}), config_of({})) ==
        Names{"ddp.bucket_cap_mb"});
}

TEST_CASE("what a config differs in makes it of another one") {
  const std::vector<std::vector<std::string>> all{{},
                                                  {"workload=copy"},
                                                  {"workload=copy", "steps=10"},
                                                  {"precision=fp16"},
                                                  {"autocast.dtype=bf16"},
                                                  {"autocast.dtype=fp16", "steps=3"},
                                                  {"matmul.allow_tf32=true"},
                                                  {"precision=tf32", "matmul.allow_tf32=false"},
                                                  {"model.name=rnn"},
                                                  {"model.name=rnn", "model.seq_len=128"}};
  for (const auto& one : all)
    for (const auto& other : all) {
      Config from = config_of(one);
      const Config to = config_of(other);
      INFO("from " << words_of(from) << "to " << words_of(to));
      from.override_with(program::difference(from, to));
      for (const Knob& knob : program::knobs()) {
        INFO(knob.name);
        CHECK(from.value(knob.name) == to.value(knob.name));
      }
    }
  const Config bucket = program::difference(config_of({}), config_of({"ddp.bucket_cap_mb=25"}));
  CHECK(bucket.is_set("ddp.bucket_cap_mb"));
}
