#include "program/idle_knobs.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "base/error.h"
#include "program/knob_table.h"
#include "program/known_models.h"
#include "support/config.h"
#include "support/shown_run.h"
#include "train/model/models.h"
#include "train/model/published_models.h"

using namespace trainscope;
using program::Config;
using program::Knob;
using program::KnobType;
using test::config_of;
using test::shown;

namespace {

// Values that a knob does not have in a config.
std::vector<program::Value> others(const Config& config, const Knob& knob) {
  const program::Value& now = config.value(knob.name);
  if (const auto* flag = std::get_if<bool>(&now)) return {!*flag};
  std::vector<program::Value> values;
  if (knob.type == KnobType::kChoice) {
    for (const std::string& word : knob.choices) values.emplace_back(word);
  } else if (const auto* whole = std::get_if<std::int64_t>(&now)) {
    values = {2 * *whole, *whole + 1, *whole - 1};
  } else if (const auto* number = std::get_if<double>(&now)) {
    values = {2 * *number, *number + 0.25};
  } else {
    // A list that is idle as it is may not be with other numbers.
    values = {std::string(std::get<std::string>(now).empty() ? "1" : "")};
  }
  std::erase(values, now);
  return values;
}

// One other value that is not refused, or nothing.
std::optional<Config> turned(const Config& config, const Knob& knob) {
  for (const program::Value& value : others(config, knob)) {
    Config other = config;
    try {
      other.set(knob.name, value);
      analysis::run_config("A", other);
      return other;
    } catch (const InputError&) {
    }
  }
  return std::nullopt;
}

const std::vector<std::vector<std::string>> kConfigs{
    {"workload=copy", "copy.bytes=1 MiB"},
    {"workload=copy", "copy.bytes=1 MiB", "copy.direction=d2d", "copy.count=3", "steps=2"},
    {"workload=gemm", "steps=2"},
    {"workload=kernel", "steps=2"},
    {"workload=launch", "steps=2"},
    {"workload=collective", "machine=h200-8", "steps=2"},
    {"workload=collective", "machine=h200-8", "steps=2", "collective.algorithm=nvls"},
    {"steps=2", "loop.evaluate=false"},
    {"steps=2", "loop.evaluate=false", "device=cpu"},
    {"steps=2", "loop.evaluate=false", "device=cpu", "data.name=digits"},
    {"steps=2", "loop.evaluate=false", "data.location=device"},
    {"steps=2", "loop.evaluate=false", "data.source=tensor"},
    {"steps=2", "loop.evaluate=false", "optimizer.name=adamw", "scaler.enabled=true"},
    {"steps=2", "loop.evaluate=false", "scaler.enabled=true", "scaler.growth_interval=3",
     "scaler.inject_inf_at=2", "loop.item_every=3"},
    {"steps=2", "loop.evaluate=false", "model.name=cnn", "batch_size=8"},
    {"steps=2", "loop.evaluate=false", "model.name=gpt-mini", "batch_size=2", "model.seq_len=16"},
    {"steps=2", "model.name=resnet18", "batch_size=8"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "parallel.strategy=ddp",
     "parallel.world_size=2"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "parallel.strategy=ddp",
     "parallel.world_size=3", "straggler.rank=2"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "parallel.strategy=ddp"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "model.name=gpt-mini", "batch_size=2",
     "model.seq_len=16", "parallel.strategy=tensor", "parallel.world_size=2"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "parallel.strategy=dp",
     "parallel.world_size=2"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "parallel.strategy=fsdp",
     "parallel.world_size=2"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "parallel.strategy=fsdp",
     "parallel.world_size=2", "fsdp.wrap=model"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "model.name=gpt-mini", "batch_size=2",
     "model.seq_len=16", "parallel.strategy=fsdp", "parallel.world_size=4", "tensor.degree=2"},
    {"steps=2", "loop.evaluate=false", "machine=h200-8", "parallel.strategy=pipeline",
     "parallel.world_size=2"},
};

}  // namespace

TEST_CASE("a knob that is said to change nothing changes nothing") {
  std::size_t turned_knobs = 0;
  for (const std::vector<std::string>& settings : kConfigs) {
    const Config config = config_of(settings);
    const std::vector<std::string> before = shown(config);
    for (const Knob& knob : program::knobs()) {
      if (knob.type == KnobType::kText) continue;
      const std::string why = program::idle_because(config, knob.name);
      if (why.empty()) continue;
      const std::optional<Config> other = turned(config, knob);
      if (!other) continue;
      ++turned_knobs;
      INFO(knob.name << " with " << why);
      CHECK(shown(*other) == before);
    }
  }
  CHECK(turned_knobs > 500);
}

// A new knob that no row of the idle ones names counts as one of every workload.
TEST_CASE("a knob of another workload is idle or changes the run") {
  std::vector<Knob> shared;
  program::add_run_knobs(shared);
  const auto is_shared = [&](const Knob& knob) {
    return std::ranges::find(shared, knob.name, &Knob::name) != shared.end();
  };
  std::size_t foreign = 0;
  for (const char* workload : {"copy", "gemm", "kernel", "launch", "collective"}) {
    Config config = config_of({"machine=h200-8", "steps=2"});
    config.set("workload", std::string(workload));
    for (const Knob& knob : program::knobs()) {
      if (is_shared(knob) || knob.name.starts_with(std::string(workload) + ".")) continue;
      ++foreign;
      INFO(knob.name << " with " << workload);
      if (!program::idle_because(config, knob.name).empty()) continue;
      const std::optional<Config> other = turned(config, knob);
      CHECK((other && shown(*other) != shown(config)));
    }
  }
  CHECK(foreign > 600);
  std::vector<Knob> others;
  program::add_replay_knobs(others);
  program::add_microbench_knobs(others);
  for (const Knob& knob : others) CHECK(!program::idle_because(config_of({}), knob.name).empty());
}

// What a model is said to be, of which the idle knobs follow.
TEST_CASE("the traits of models are what they are built of") {
  for (const program::KnownModel& model : program::known_models()) {
    INFO(model.name);
    const Config config = config_of({"model.name=" + std::string(model.name)});
    const train::Graph graph = train::build_model(config, train::training_data(config), 2);
    const auto has_layer = [&](auto is_one) {
      return std::ranges::any_of(graph.layers, is_one, &train::Layer::function);
    };
    CHECK(program::has_trait(model.name, "transformer") == has_layer([](const auto& function) {
            return std::holds_alternative<program::Attention>(function);
          }));
    CHECK(program::has_trait(model.name, "images") == has_layer([](const auto& function) {
            return std::holds_alternative<program::Convolution>(function);
          }));
    const bool is_llama = train::is_llama(model.name);
    CHECK(program::has_trait(model.name, "library") ==
          (train::is_transformer(model.name) || is_llama));
    CHECK(program::has_trait(model.name, "llama") == is_llama);
    CHECK(is_llama == has_layer([](const auto& function) {
            return std::holds_alternative<program::RmsNorm>(function);
          }));
    CHECK(program::has_trait(model.name, "grouped") == has_layer([](const auto& function) {
            const auto* attention = std::get_if<program::Attention>(&function);
            return attention && attention->is_grouped();
          }));
    CHECK((model.data == "imagenet") == train::is_resnet(model.name));
  }
}

// A model without its traits is told that attention.kernel, or model.seq_len, changes nothing.
TEST_CASE("what a model makes idle changes nothing of it") {
  std::size_t turned_knobs = 0;
  for (const std::string& model : program::model_names()) {
    const Config config =
        config_of({"steps=1", "batch_size=2", "loop.evaluate=false", "model.name=" + model});
    const std::vector<std::string> before = shown(config);
    for (const Knob& knob : program::knobs()) {
      const std::string why = program::idle_because(config, knob.name);
      if (why != "model.name = " + model) continue;
      const std::optional<Config> other = turned(config, knob);
      if (!other) continue;
      ++turned_knobs;
      INFO(knob.name << " with " << why);
      CHECK((shown(*other) == before));
    }
  }
  CHECK(turned_knobs > 100);
}

TEST_CASE("a knob that changes a run is not said to be idle") {
  for (const auto& [settings, knob] : std::vector<std::pair<std::vector<std::string>, const char*>>{
           {{"workload=copy"}, "copy.bytes"},
           {{"steps=2"}, "model.hidden"},
           {{"steps=2"}, "loader.pin_memory"},
           {{"steps=40", "data.name=digits", "optimizer.lr=0.1", "loop.target_loss=1"},
            "loop.target_loss"},
           {{"steps=2", "data.source=tensor"}, "loader.pin_memory"},
           {{"steps=20", "loader.num_workers=2"}, "loader.prefetch_factor"},
           {{"steps=2", "model.name=resnet18", "batch_size=8"}, "cudnn.benchmark"},
           {{"steps=2", "scaler.enabled=true"}, "scaler.init_scale"},
           {{"steps=2", "machine=h200-8", "parallel.strategy=pipeline", "parallel.world_size=2",
             "model.layers=5", "pipeline.schedule=interleaved_1f1b"},
            "pipeline.stages_per_rank"},
           {{"steps=2", "loop.evaluate=false", "machine=h200-8", "model.name=gpt-mini",
             "batch_size=2", "model.seq_len=16", "parallel.strategy=tensor",
             "parallel.world_size=2"},
            "tensor.sequence_parallel"},
           {{"steps=2", "loop.evaluate=false", "machine=h200-8", "model.name=gpt-mini",
             "batch_size=2", "model.seq_len=16", "parallel.strategy=tensor",
             "parallel.world_size=2"},
            "tensor.loss_parallel"}}) {
    const Config config = config_of(settings);
    INFO(knob);
    CHECK(program::idle_because(config, knob).empty());
    const std::optional<Config> other = turned(config, program::find_knob(knob));
    REQUIRE(other);
    CHECK(shown(*other) != shown(config));
  }
}

namespace {

// A knob with two values of it, and what makes it idle ("" where it matters).
struct Pair {
  std::vector<std::string> settings;
  const char* knob;
  const char* one;
  const char* other;
  const char* why;
};

Config with(std::vector<std::string> settings, const Pair& pair, const char* value) {
  settings.push_back(std::string(pair.knob) + "=" + value);
  return config_of(settings);
}

const std::vector<std::string> kCopyWithin{"workload=copy", "copy.direction=d2d"};
const std::vector<std::string> kRoundTrip{"workload=copy", "copy.direction=round_trip",
                                          "copy.memory=pinned", "transfer.non_blocking=true"};
const std::vector<std::string> kResNet{"steps=2", "model.name=resnet18", "batch_size=8"};
const std::vector<std::string> kTwoRanks{"steps=3",
                                         "batch_size=512",
                                         "loop.evaluate=false",
                                         "machine=h200-8",
                                         "parallel.strategy=ddp",
                                         "parallel.world_size=2",
                                         "loader.shuffle=true"};

const std::vector<Pair> kPairs{
    // Of numbers.
    {{"steps=2"}, "optimizer.lr", "0.1", "0.01", "data.path = \"\""},
    {{"steps=2", "model.name=cnn", "data.name=cifar10"},
     "optimizer.lr",
     "0.1",
     "0.01",
     "data.path = \"\""},
    {kResNet, "optimizer.lr", "0.1", "0", "model.name = resnet18"},
    {{"steps=2", "data.name=digits"}, "optimizer.lr", "0.1", "0.01", ""},
    {{"steps=2", "model.name=cnn", "batch_size=8"}, "optimizer.lr", "0.1", "0.01", ""},
    {{"steps=2"}, "loader.shuffle", "true", "false", "data.path = \"\""},
    {kResNet, "loader.shuffle", "true", "false", "model.name = resnet18"},
    {{"steps=2", "data.name=digits"}, "loader.shuffle", "true", "false", ""},
    {kTwoRanks, "sampler.set_epoch", "true", "false", "data.path = \"\""},
    {test::with(kTwoRanks, {"steps=12", "data.name=digits"}), "sampler.set_epoch", "true", "false",
     ""},
    // Of what another knob does already, or undoes.
    {kTwoRanks, "ddp.static_graph", "true", "false", "ddp.find_unused_parameters = False"},
    {test::with(kTwoRanks, {"ddp.find_unused_parameters=true"}), "ddp.static_graph", "true",
     "false", ""},
    {{"steps=2", "loader.pin_memory=true"},
     "transfer.pin_in_loop",
     "true",
     "false",
     "loader.pin_memory = True"},
    {{"steps=2"}, "transfer.pin_in_loop", "true", "false", ""},
    // Of copies.
    {kCopyWithin, "copy.memory", "pinned", "pageable", "copy.direction = d2d"},
    {{"workload=copy"}, "copy.memory", "pinned", "pageable", ""},
    {{"workload=copy", "copy.direction=d2h"}, "copy.memory", "pinned", "pageable", ""},
    {kCopyWithin, "transfer.non_blocking", "true", "false", "copy.direction = d2d"},
    {{"workload=copy", "copy.memory=pinned", "copy.count=3"},
     "transfer.non_blocking",
     "true",
     "false",
     ""},
    {{"workload=copy"}, "copy.pin", "once", "each", "copy.memory = pageable"},
    {{"workload=copy", "copy.memory=pinned", "copy.direction=d2h"},
     "copy.pin",
     "once",
     "each",
     "copy.direction = d2h"},
    {{"workload=copy", "copy.memory=pinned", "copy.count=3"}, "copy.pin", "once", "each", ""},
    {{"workload=copy"}, "copy.chunks", "1", "4", "copy.direction = h2d"},
    {{"workload=copy"}, "copy.streams", "1", "4", "copy.direction = h2d"},
    {{"workload=copy"}, "copy.flops", "1", "1000", "copy.direction = h2d"},
    {kRoundTrip, "copy.order", "depth_first", "breadth_first", "copy.chunks = 1"},
    {test::with(kRoundTrip, {"copy.chunks=4"}), "copy.order", "depth_first", "breadth_first", ""},
    {test::with(kRoundTrip, {"copy.chunks=4"}), "copy.streams", "1", "4", ""},
    {kRoundTrip, "copy.chunks", "1", "4", ""},
    {kRoundTrip, "copy.flops", "1", "10000", ""},
    {kRoundTrip, "copy.memory", "pinned", "pageable", ""},
    {kRoundTrip, "copy.pin", "once", "each", "copy.direction = round_trip"},
    {test::with(kRoundTrip, {"copy.chunks=4", "copy.streams=4"}), "stream.kind", "blocking",
     "non_blocking", "copy.streams = 4"},
    // Of a seed, and of cores.
    {{"workload=copy"}, "seed", "0", "7", "workload = copy"},
    {{"workload=gemm"}, "seed", "0", "7", "workload = gemm"},
    {{"workload=kernel"}, "seed", "0", "7", "workload = kernel"},
    {{"workload=launch"}, "seed", "0", "7", "workload = launch"},
    {{"workload=collective", "machine=h200-8"}, "seed", "0", "7", "workload = collective"},
    {{"steps=2", "data.name=digits"}, "seed", "0", "7", ""},
    {{"workload=copy", "copy.count=3"}, "host.cores", "1", "8", "workload = copy"},
    {{"workload=gemm"}, "host.cores", "1", "8", "workload = gemm"},
    {{"workload=kernel"}, "host.cores", "1", "8", "workload = kernel"},
    {{"workload=launch"}, "host.cores", "1", "8", "workload = launch"},
    {{"workload=collective", "machine=h200-8"}, "host.cores", "1", "8", ""},
    {{"steps=20", "loader.num_workers=4", "loader.sample_ms=1"}, "host.cores", "1", "8", ""},
    // Of watts.
    {{"workload=copy"}, "power_limit", "300", "700", "copy.direction = h2d"},
    {{"workload=copy", "copy.direction=d2h"}, "power_limit", "300", "700", "copy.direction = d2h"},
    // Where it fits L2, which has the SMs' clock.
    {{"workload=copy", "copy.direction=d2d", "copy.bytes=8 MiB"}, "power_limit", "300", "700", ""},
    {{"workload=launch"}, "power_limit", "300", "700", "workload = launch"},
    {{"workload=launch", "launch.graph=true"}, "power_limit", "300", "700", "workload = launch"},
    {{"workload=gemm"}, "power_limit", "300", "700", ""},
    {{"workload=kernel"}, "power_limit", "300", "700", ""},
    // Of the link.
    {{"workload=gemm"}, "pcie.lanes", "1", "8", "workload = gemm"},
    {{"workload=kernel"}, "pcie.lanes", "1", "8", "workload = kernel"},
    {{"workload=launch"}, "pcie.lanes", "1", "8", "workload = launch"},
    {{"steps=2", "device=cpu"}, "pcie.lanes", "1", "8", "device = cpu"},
    {kCopyWithin, "pcie.lanes", "1", "8", "copy.direction = d2d"},
    {{"workload=copy"}, "pcie.lanes", "1", "8", ""},
    {{"steps=2"}, "pcie.lanes", "1", "8", ""},
    // Of a CPU.
    {{"steps=2", "device=cpu"}, "loop.sync_timing", "true", "false", "device = cpu"},
    {{"steps=2", "device=cpu", "data.name=digits"},
     "loop.sync_timing",
     "true",
     "false",
     "device = cpu"},
    {{"steps=2"}, "loop.sync_timing", "true", "false", ""},
    {{"steps=2", "device=cpu", "data.name=digits"},
     "matmul.allow_tf32",
     "true",
     "false",
     "device = cpu"},
    {{"steps=2", "data.name=digits"}, "matmul.allow_tf32", "true", "false", ""},
    {{"steps=2", "device=cpu", "data.name=digits", "model.name=cnn"},
     "cudnn.allow_tf32",
     "true",
     "false",
     "device = cpu"},
    {{"steps=2", "data.name=digits", "model.name=cnn"}, "cudnn.allow_tf32", "true", "false", ""},
};

}  // namespace

TEST_CASE("a knob has a reason where two values of it give the same run, and else none") {
  for (const Pair& pair : kPairs) {
    const Config one = with(pair.settings, pair, pair.one);
    const Config other = with(pair.settings, pair, pair.other);
    INFO(pair.knob << " beside " << pair.settings.front() << ", " << pair.settings.back());
    for (const Config& config : {one, other})
      CHECK(program::idle_because(config, pair.knob) == pair.why);
    CHECK((shown(one) == shown(other)) == !std::string(pair.why).empty());
  }
}
