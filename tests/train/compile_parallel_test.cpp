// torch.compile beside DistributedDataParallel and FSDP: where the model is cut, and when gradients
// are ready.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "program/idle_knobs.h"
#include "support/built_program.h"
#include "train/compile/compiled_pieces.h"
#include "train/parallel/cut_layers.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using program::Index;
using program::Program;
using test::Settings;
using test::with;

namespace {

const Settings kDdp{"parallel.strategy=ddp", "parallel.world_size=4", "machine=h200-8",
                    "data.source=tensor", "steps=4"};
const Settings kFsdp{"parallel.strategy=fsdp", "parallel.world_size=4", "machine=h200-8",
                     "data.source=tensor", "steps=3"};
const Settings kMlp{"model.name=mlp", "model.hidden=2048", "model.layers=4"};
const Settings kGpt{"model.name=gpt2", "batch_size=1", "model.seq_len=128"};
const Settings kResnet{"model.name=resnet50", "batch_size=2"};

const Settings kFused{"compile.fuse=true"};
const Settings kInOne{"compile.fuse=true", "compile.optimize_ddp=false"};
const Settings kGraph{"compile.cuda_graph=true"};

Program build(const Settings& settings, const Settings& more = {}) {
  return test::program_of(with(settings, more));
}

const std::vector<program::Command>& autograd_of(const Program& program) {
  const auto thread = std::ranges::find_if(program.threads, [](const program::Thread& one) {
    return one.role == program::ThreadRole::kAutograd;
  });
  REQUIRE(thread != program.threads.end());
  return thread->commands;
}

// Commands of each backward.
std::vector<std::vector<program::Command>> backwards(const Program& program) {
  std::vector<std::vector<program::Command>> all;
  for (const program::Command& command : autograd_of(program)) {
    if (std::holds_alternative<program::Pop>(command.action)) all.emplace_back();
    all.back().push_back(command);
  }
  return all;
}

template <class Action>
std::vector<Action> all_of(const std::vector<program::Command>& commands) {
  std::vector<Action> found;
  for (const program::Command& command : commands)
    if (const auto* action = std::get_if<Action>(&command.action)) found.push_back(*action);
  return found;
}

std::size_t count_named(const Program& program, const std::vector<program::Command>& commands,
                        const std::string& name) {
  return static_cast<std::size_t>(
      std::ranges::count_if(commands, [&](const program::Command& command) {
        return command.name != program::kNoIndex && program.names[command.name] == name;
      }));
}

// Launches of compiled kernels behind the first all-reduce.
std::size_t compiled_behind_first_sum(const Program& program,
                                      const std::vector<program::Command>& backward) {
  bool sums = false;
  std::size_t behind = 0;
  for (const program::Command& command : backward) {
    sums = sums || std::holds_alternative<program::Collective>(command.action);
    const auto* launch = std::get_if<program::Launch>(&command.action);
    behind += sums && launch && program.operations[launch->operation].compiled ? 1 : 0;
    behind += sums && std::holds_alternative<program::GraphLaunch>(command.action) ? 1 : 0;
  }
  return behind;
}

std::int64_t bytes_summed(const std::vector<program::Command>& backward) {
  std::int64_t bytes = 0;
  for (const program::Collective& one : all_of<program::Collective>(backward)) bytes += one.bytes;
  return bytes;
}

// Of all launches, each part for itself; those that compute nothing are left out.
std::multiset<std::size_t> computed(const Program& program,
                                    const std::vector<program::Command>& commands) {
  std::multiset<std::size_t> all;
  for (const program::Launch& launch : all_of<program::Launch>(commands)) {
    const program::Operation& one = program.operations[launch.operation];
    if (one.parts.empty() && one.function.index() > 0) all.insert(one.function.index());
    for (const program::Operation& part : one.parts) all.insert(part.function.index());
  }
  return all;
}

// Of parameters, each as often as a layer uses it.
std::vector<std::int64_t> bytes_of_pieces(const Settings& knobs) {
  const program::Config config = test::config_of(knobs);
  const train::TrainSettings settings = train::train_settings(config, train::machine_of(config));
  const train::Graph graph = train::build_own_model(config, settings, settings.batch);
  const std::vector<int> pieces = train::compiled_pieces(config, settings, graph);
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(train::count_pieces(pieces)));
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (const train::ParameterId id : graph.layers[i].parameters)
      if (graph.parameters[id].trained)
        bytes[static_cast<std::size_t>(pieces[i])] += 4 * graph.parameters[id].elements;
  return bytes;
}

std::string refusal(const Settings& settings, const Settings& more) {
  try {
    build(settings, more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a model is cut from behind, at the layer that fills a bucket") {
  using Pieces = std::vector<int>;
  CHECK(train::pieces_at_buckets({4, 0, 4, 0, 4}, 4, 8) == Pieces{0, 0, 0, 0, 1});
  CHECK(train::pieces_at_buckets({8, 0, 8, 0, 4}, 4, 8) == Pieces{0, 0, 1, 1, 2});
  // What has no parameters and comes first is no piece of its own.
  CHECK(train::pieces_at_buckets({0, 0, 8, 4}, 4, 8) == Pieces{0, 0, 0, 1});
  CHECK(train::pieces_at_buckets({1, 1}, 4, 8) == Pieces{0, 0});
  CHECK(train::pieces_at_buckets({0, 0}, 4, 8) == Pieces{0, 0});
  CHECK(train::pieces_at_buckets({}, 4, 8).empty());
}

TEST_CASE("a bucket is summed once its gradients are there, beside the backward of other pieces") {
  for (const Settings& model : {kMlp, kGpt, kResnet})
    for (const Settings& more :
         {Settings{}, Settings{"ddp.find_unused_parameters=true"},
          Settings{"ddp.static_graph=true"}, Settings{"checkpoint.enabled=true"},
          Settings{"ddp.gradient_as_bucket_view=true"}, Settings{"ddp.comm_hook=bf16_compress"},
          Settings{"accumulate_steps=2"}}) {
      INFO(model[0] << ", " << (more.empty() ? "" : more[0]));
      const Settings settings = with(with(kDdp, model), more);
      const Program eager = build(settings), cut = build(settings, kFused),
                    whole = build(settings, kInOne);
      for (const Program* program : {&cut, &whole}) {
        program::validate(*program);
        const auto steps = backwards(*program);
        CHECK(bytes_summed(steps.back()) == bytes_summed(backwards(eager).back()));
        std::set<Index> written;
        std::size_t bucket = 0;
        for (const program::Command& command : steps.back()) {
          if (const auto* launch = std::get_if<program::Launch>(&command.action)) {
            const auto& writes = program->operations[launch->operation].writes;
            written.insert(writes.begin(), writes.end());
          }
          if (!std::holds_alternative<program::Collective>(command.action)) continue;
          if (bucket == program->buckets.size()) continue;  // which parameters are used
          for (const Index gradient : program->buckets[bucket].gradients)
            CHECK(written.contains(gradient));
          ++bucket;
        }
        CHECK(bucket == program->buckets.size());
      }
      CHECK(compiled_behind_first_sum(cut, backwards(cut).back()) > 1);
      CHECK(compiled_behind_first_sum(whole, backwards(whole).back()) == 0);
      CHECK(count_named(whole, backwards(whole).back(), "CompiledFunctionBackward") == 1);
      CHECK(count_named(cut, backwards(cut).back(), "CompiledFunctionBackward") > 2);
    }
}

TEST_CASE("without no_sync's sums, too, a backward is that of every piece") {
  const Settings apart = with(with(kDdp, kMlp), {"accumulate_steps=2", "ddp.no_sync=true"});
  const Program program = build(apart, kFused);
  const auto each = backwards(program);
  REQUIRE(each.size() == 8);
  CHECK(all_of<program::Collective>(each[6]).empty());
  CHECK_FALSE(all_of<program::Collective>(each[7]).empty());
  for (const std::size_t i : {6, 7})
    CHECK(count_named(program, each[i], "CompiledFunctionBackward") == 3);
}

TEST_CASE("where a model is cut changes what is fused, and not what is computed") {
  for (const Settings& model : {kMlp, kGpt, kResnet})
    for (const Settings& strategy : {kDdp, kFsdp}) {
      INFO(model[0] << ", " << strategy[0]);
      const Settings settings = with(strategy, model);
      const Program eager = build(settings), fused = build(settings, kFused);
      CHECK(computed(fused, fused.threads[0].commands) ==
            computed(eager, eager.threads[0].commands));
      CHECK(computed(fused, autograd_of(fused)) == computed(eager, autograd_of(eager)));
      CHECK(all_of<program::Launch>(autograd_of(fused)).size() <
            all_of<program::Launch>(autograd_of(eager)).size());
    }
}

// GPT-2's head has the embedding's weights: one is in the last piece, the other in the first.
TEST_CASE("gradients of two pieces are added by autograd, outside of both") {
  const Program program = build(with(kDdp, kGpt), kFused);
  std::size_t outside = 0;
  for (const program::Launch& launch : all_of<program::Launch>(backwards(program).back())) {
    const program::Operation& one = program.operations[launch.operation];
    outside += !one.compiled && std::holds_alternative<program::Add>(one.function) ? 1 : 0;
  }
  CHECK(outside > 0);
  const Program whole = build(with(kDdp, kGpt), kInOne);
  for (const program::Launch& launch : all_of<program::Launch>(backwards(whole).back())) {
    const program::Operation& one = whole.operations[launch.operation];
    CHECK((one.compiled || !std::holds_alternative<program::Add>(one.function)));
  }
}

TEST_CASE("what DDPOptimizer cuts, and the buckets that follow from it, are PyTorch's") {
  std::ifstream file(home_folder() / "tests" / "golden" / "ddp_pieces.json");
  const auto golden = nlohmann::json::parse(file)["models"];
  const std::map<std::string, Settings> models{
      {"mlp 784-2048-2048-2048-10", {"model.name=mlp", "model.hidden=2048", "model.layers=3"}},
      {"resnet18", {"model.name=resnet18"}},
      {"resnet50", {"model.name=resnet50"}},
      {"gpt2", {"model.name=gpt2"}}};
  const std::map<std::string, Settings> cases{
      {"default", kFused},
      {"cap 5", with(kFused, {"ddp.bucket_cap_mb=5"})},
      {"unused", with(kFused, {"ddp.find_unused_parameters=true"})},
      {"whole", kInOne}};
  const Settings ranks{"parallel.strategy=ddp", "parallel.world_size=2", "machine=h200-8",
                       "batch_size=2", "steps=2"};
  for (const auto& [model, settings] : models)
    for (const auto& [name, more] : cases) {
      CAPTURE(model, name);
      const Program program = build(with(ranks, settings), more);
      const auto& expected = golden[model][name];
      std::vector<std::int64_t> bytes;
      for (const program::Bucket& bucket : program.buckets) bytes.push_back(bucket.bytes);
      CHECK(bytes == expected["rebuilt"].get<std::vector<std::int64_t>>());
      const auto pieces = expected["pieces"].get<std::vector<std::int64_t>>();
      CHECK(count_named(program, backwards(program).back(), "CompiledFunctionBackward") ==
            std::max<std::size_t>(1, pieces.size()));
      if (!pieces.empty()) CHECK(bytes_of_pieces(with(with(ranks, settings), more)) == pieces);
    }
}

TEST_CASE("a block that is recomputed is not cut") {
  const auto pieces = [](const Settings& more) {
    const Settings small = with(kFused, {"ddp.bucket_cap_mb=5"});
    const Program program = build(with(kDdp, kGpt), with(small, more));
    program::validate(program);
    return count_named(program, backwards(program).back(), "CompiledFunctionBackward");
  };
  CHECK(pieces({}) == 38);
  // The embeddings, each block, and the head.
  CHECK(pieces({"checkpoint.enabled=true"}) == 1 + 12 + 1);
  const std::size_t second = pieces({"checkpoint.enabled=true", "checkpoint.every=2"});
  CHECK(second > 1 + 12 + 1);
  CHECK(second < 38);
}

TEST_CASE("each piece is replayed by itself, and its buckets are summed between replays") {
  const Program program = build(with(kDdp, kMlp), kGraph);
  program::validate(program);
  REQUIRE(program.graphs.size() == 6);
  CHECK(program.graphs.front().name == "forward of piece 1");
  for (const std::int64_t nodes : program::graph_nodes(program)) CHECK(nodes > 0);
  const auto last = backwards(program).back();
  CHECK(all_of<program::GraphLaunch>(last).size() == 3);
  CHECK(compiled_behind_first_sum(program, last) > 0);
  const Program whole = build(with(kDdp, kMlp), with(kGraph, {"compile.optimize_ddp=false"}));
  CHECK(whole.graphs.size() == 2);
  CHECK(compiled_behind_first_sum(whole, backwards(whole).back()) == 0);
}

TEST_CASE("ranks that differ have graphs of their own") {
  const Program program =
      build(with(kDdp, kMlp), with(kGraph, {"straggler.rank=1", "straggler.factor=2"}));
  program::validate(program);
  CHECK(program.graphs.size() == 4 * 6);
  std::set<Index> replayed;
  for (const program::Thread& thread : program.threads)
    for (const program::GraphLaunch& one : all_of<program::GraphLaunch>(thread.commands))
      replayed.insert(one.graph);
  CHECK(replayed.size() == program.graphs.size());
}

TEST_CASE("what fully_shard wraps is compiled by itself, between its hooks") {
  const Program program = build(with(kFsdp, kGpt), kFused);
  program::validate(program);
  constexpr std::size_t kBlocks = 12, kSteps = 3;
  CHECK(count_named(program, program.threads[0].commands, "TorchDynamo Cache Lookup") ==
        kBlocks * kSteps);
  CHECK(count_named(program, autograd_of(program), "CompiledFunctionBackward") == kBlocks * kSteps);
  // The embedding, the last norm and the head are of no block.
  std::size_t embeddings = 0;
  for (const program::Launch& launch : all_of<program::Launch>(program.threads[0].commands)) {
    const program::Operation& one = program.operations[launch.operation];
    if (one.framework.find("embedding") == std::string::npos) continue;
    ++embeddings;
    CHECK_FALSE(one.compiled);
  }
  CHECK(embeddings >= kSteps);
  // Which come before a piece begins.
  const auto& commands = autograd_of(program);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].name == program::kNoIndex) continue;
    if (program.names[commands[i].name] != "CompiledFunctionBackward") continue;
    CHECK(std::holds_alternative<program::EndMark>(commands[i - 1].action));
  }
  const Program whole = build(with(kFsdp, kGpt), with(kFused, {"fsdp.wrap=model"}));
  CHECK(count_named(whole, whole.threads[0].commands, "TorchDynamo Cache Lookup") == kSteps);
}

TEST_CASE("the listing compiles before it wraps") {
  const auto listing = [](const Settings& strategy, const Settings& more) {
    return test::listing_of(build(with(strategy, kGpt), more));
  };
  CHECK_THAT(listing(kDdp, kFused),
             Contains("model = torch.compile(model)\nmodel = DistributedDataParallel(model, "
                      "device_ids=[rank])\n"));
  CHECK_THAT(listing(kDdp, kInOne),
             Contains("torch._dynamo.config.optimize_ddp = False  # one graph, one backward\n"
                      "model = torch.compile(model)\n"));
  CHECK_THAT(listing(kDdp, kFused), !Contains("optimize_ddp"));
  CHECK_THAT(listing(kDdp, with(kFused, kGraph)),
             Contains("torch.compile(model, mode=\"reduce-overhead\")"));
  CHECK_THAT(listing(kFsdp, kFused),
             Contains("for block in model.transformer.h: block.compile()\n"
                      "for block in model.transformer.h: fully_shard(block)\n"));
  CHECK_THAT(listing(kFsdp, with(kFused, {"fsdp.wrap=model"})),
             Contains("model.compile()\nfully_shard(model)\n"));
}

TEST_CASE("what PyTorch cannot compile beside ranks is refused with what to set") {
  const Settings ddp = with(kDdp, kMlp);
  CHECK_THAT(refusal(ddp, with(kFused, {"ddp.bucket_cap_mb=0.5"})),
             Contains("set ddp.bucket_cap_mb = 1"));
  CHECK(refusal(ddp, with(kInOne, {"ddp.bucket_cap_mb=0.5"})).empty());
  CHECK_THAT(refusal(ddp, with(kGraph, {"ddp.gradient_as_bucket_view=true"})),
             Contains("ddp.gradient_as_bucket_view"));
  CHECK_THAT(refusal(with(kFsdp, kGpt), kGraph), Contains("set compile.cuda_graph = false"));
}

TEST_CASE("optimize_ddp is about a compiled model beside DistributedDataParallel") {
  const auto idle = [](const Settings& settings) {
    return program::idle_because(test::config_of(settings), "compile.optimize_ddp");
  };
  CHECK(idle(with(kDdp, kFused)).empty());
  CHECK(idle(with(kDdp, kGraph)).empty());
  CHECK(idle(kDdp) == "compile.fuse = False");
  CHECK(idle(with(kFsdp, kFused)) == "parallel.strategy = fsdp");
}
