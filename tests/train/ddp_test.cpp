// DistributedDataParallel's program, against PyTorch's own buckets (tests/golden/ddp_buckets.py).
#include "train/parallel/ddp_buckets.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "program/shown_knob.h"
#include "support/built_program.h"

using namespace trainscope;
using namespace trainscope::train;
using Catch::Matchers::Contains;

namespace {

using Json = nlohmann::json;
using test::Settings;
using test::with;
constexpr std::int64_t kMebibyte = 1 << 20;

const Json& golden() {
  static const Json json = [] {
    std::ifstream file(home_folder() / "tests" / "golden" / "ddp_buckets.json");
    return Json::parse(file);
  }();
  return json;
}

const Settings kCommon{"parallel.strategy=ddp", "parallel.world_size=2", "machine=dgx1-v100-8",
                       "batch_size=2", "steps=2"};

program::Program ddp_program(const Settings& settings) {
  return test::program_of(with(kCommon, settings));
}

std::vector<std::int64_t> bytes_of(const std::vector<program::Bucket>& buckets) {
  std::vector<std::int64_t> bytes;
  for (const program::Bucket& bucket : buckets) bytes.push_back(bucket.bytes);
  return bytes;
}

std::vector<std::int64_t> sums_of(const Assignment& assignment,
                                  const std::vector<std::int64_t>& bytes) {
  std::vector<std::int64_t> sums;
  for (const auto& bucket : assignment) {
    std::int64_t sum = 0;
    for (const std::size_t place : bucket) sum += bytes[place];
    sums.push_back(sum);
  }
  return sums;
}

// The parts of a thread's commands of one kind.
template <class Action>
std::vector<Action> all_of(const program::Program& program, std::size_t thread) {
  std::vector<Action> found;
  for (const program::Command& command : program.threads[thread].commands)
    if (const auto* action = std::get_if<Action>(&command.action)) found.push_back(*action);
  return found;
}

std::size_t thread_of(const program::Program& program, program::ThreadRole role) {
  for (std::size_t i = 0; i < program.threads.size(); ++i)
    if (program.threads[i].role == role) return i;
  return program.threads.size();
}

std::size_t autograd_of(const program::Program& program) {
  return thread_of(program, program::ThreadRole::kAutograd);
}

std::size_t main_of(const program::Program& program) {
  return thread_of(program, program::ThreadRole::kMain);
}

}  // namespace

TEST_CASE("buckets of an MLP are PyTorch's at every cap") {
  const Json& cases = golden()["models"]["mlp 784-1024-4096-1024-10"]["cases"];
  const std::vector<std::int64_t> bytes{4 * 784 * 1024,  4 * 1024, 4 * 1024 * 4096, 4 * 4096,
                                        4 * 4096 * 1024, 4 * 1024, 4 * 1024 * 10,   4 * 10};
  const std::vector<std::size_t> ready{7, 6, 5, 4, 3, 2, 1, 0};
  const auto rebuilt = [&](const BucketCaps& caps) {
    return sums_of(rebuilt_assignment(bytes, ready, caps), bytes);
  };
  CHECK(rebuilt({}) == cases["default"]["rebuilt"].get<std::vector<std::int64_t>>());
  CHECK(rebuilt({5 * kMebibyte, 5 * kMebibyte}) ==
        cases["cap 5"]["rebuilt"].get<std::vector<std::int64_t>>());
  CHECK(rebuilt({kMebibyte, kMebibyte}) ==
        cases["cap 1"]["rebuilt"].get<std::vector<std::int64_t>>());
  const auto first = [&](bool unused) {
    return sums_of(first_assignment(bytes, unused, {}), bytes);
  };
  CHECK(first(false) == cases["default"]["first"].get<std::vector<std::int64_t>>());
  CHECK(first(true) == cases["unused"]["first"].get<std::vector<std::int64_t>>());
}

TEST_CASE("a parameter is in one bucket, whole, whatever the cap") {
  const std::vector<std::int64_t> bytes{5, 3 * kMebibyte, 7, 2 * kMebibyte, 1};
  for (const std::int64_t cap : {std::int64_t{1}, kMebibyte, 100 * kMebibyte}) {
    std::vector<std::size_t> seen;
    for (const auto& bucket : assign_buckets(bytes, {kMebibyte, cap})) {
      CHECK_FALSE(bucket.empty());
      seen.insert(seen.end(), bucket.begin(), bucket.end());
    }
    CHECK(seen == std::vector<std::size_t>{0, 1, 2, 3, 4});
  }
}

TEST_CASE("the buckets of whole models are PyTorch's, first and rebuilt") {
  struct Model {
    const char* name;
    std::vector<std::string> config;
  };
  const std::vector<Model> models{
      {"mlp 784-2048-2048-2048-10", {"model.name=mlp", "model.hidden=2048", "model.layers=3"}},
      {"resnet18", {"model.name=resnet18"}},
      {"resnet50", {"model.name=resnet50"}},
      {"resnext50", {"model.name=resnext50"}},
      {"gpt2", {"model.name=gpt2"}},
      {"bert-large", {"model.name=bert-large"}},
  };
  struct Case {
    const char* name;
    std::vector<std::string> config;
  };
  const std::vector<Case> cases{{"default", {}},
                                {"cap 5", {"ddp.bucket_cap_mb=5"}},
                                {"cap 1", {"ddp.bucket_cap_mb=1"}},
                                {"static", {"ddp.static_graph=true"}},
                                {"unused", {"ddp.find_unused_parameters=true"}}};
  for (const Model& model : models)
    for (const Case& one : cases) {
      CAPTURE(model.name, one.name);
      std::vector<std::string> config = model.config;
      config.insert(config.end(), one.config.begin(), one.config.end());
      const program::Program program = ddp_program(config);
      const Json& expected = golden()["models"][model.name]["cases"][one.name];
      const auto first = expected["first"].get<std::vector<std::int64_t>>();
      auto rebuilt = expected["rebuilt"].get<std::vector<std::int64_t>>();
      CHECK(bytes_of(program.first_buckets) == first);
      CHECK(bytes_of(program.buckets) == (rebuilt.empty() ? first : rebuilt));
    }
}

TEST_CASE("gradients are ready in the order in which autograd's hooks run") {
  for (const char* name : {"resnet50", "gpt2", "bert-large"}) {
    CAPTURE(name);
    const program::Program program = ddp_program({std::string("model.name=") + name});
    std::vector<std::string> order;
    for (const program::Bucket& bucket : program.buckets)
      for (const program::Index gradient : bucket.gradients)
        order.push_back(program.buffers[gradient].name);
    std::vector<std::string> expected;
    for (const auto& parameter : golden()["models"][name]["ready"])
      expected.push_back(parameter.get<std::string>() + ".grad");
    CHECK(order == expected);
  }
}

TEST_CASE("every backward sums each bucket once, in the order of the buckets") {
  const program::Program program = ddp_program({"model.hidden=2048", "model.layers=3", "steps=3"});
  const auto sums = all_of<program::Collective>(program, autograd_of(program));
  REQUIRE(program.buckets.size() == 2);
  REQUIRE(sums.size() == 1 + 2 + 2);
  CHECK(sums[0].bytes == program.first_buckets[0].bytes);
  for (std::size_t i = 1; i < sums.size(); ++i) {
    CHECK(sums[i].bytes == program.buckets[(i - 1) % 2].bytes);
    CHECK(sums[i].sequence > sums[i - 1].sequence);
    CHECK(sums[i].kind == program::CollectiveKind::kAllReduce);
  }
}

TEST_CASE("no_sync leaves out the sums of all batches but the last before an update") {
  const std::vector<std::string> config{"model.hidden=64", "accumulate_steps=4", "steps=3"};
  const auto count = [&](bool apart) {
    std::vector<std::string> all = config;
    if (apart) all.push_back("ddp.no_sync=true");
    const program::Program program = ddp_program(all);
    return all_of<program::Collective>(program, autograd_of(program)).size();
  };
  CHECK(count(true) == 3);
  CHECK(count(false) == 12);
}

// By distributed.py's _post_forward and reducer.cpp's prepare_for_backward.
TEST_CASE("unused parameters are searched for behind forward, on the thread that called it") {
  const Settings settings{"model.hidden=64", "ddp.find_unused_parameters=true"};
  const auto searches = [](const program::Program& program, std::size_t thread) {
    std::vector<std::size_t> found;
    const auto& commands = program.threads[thread].commands;
    for (std::size_t i = 0; i < commands.size(); ++i)
      if (commands[i].name != program::kNoIndex &&
          program.names[commands[i].name] == "search_unused_parameters")
        found.push_back(i);
    return found;
  };
  const program::Program program = ddp_program(settings);
  const std::size_t main = main_of(program);
  CHECK(searches(program, autograd_of(program)).empty());
  REQUIRE(searches(program, main).size() == 2);  // one a step
  const auto& commands = program.threads[main].commands;
  for (const std::size_t at : searches(program, main)) {
    CHECK(std::holds_alternative<program::Launch>(commands[at - 1].action));
    CHECK(commands[at].line == commands[at - 1].line);  // of the model's own kernels
    CHECK(commands[at + 1].line != commands[at].line);  // the loss
  }
  const program::Program some =
      ddp_program(with(settings, {"accumulate_steps=2", "ddp.no_sync=true"}));
  CHECK(searches(some, main_of(some)).size() == 2);  // of two batches each, only where sums follow
  const program::Program fixed = ddp_program(with(settings, {"ddp.static_graph=true"}));
  CHECK(searches(fixed, main_of(fixed)).empty());
}

TEST_CASE(
    "gradients that are views of buckets are not copied back and have no memory of their own") {
  const auto launches = [](const program::Program& program) {
    return all_of<program::Launch>(program, autograd_of(program)).size();
  };
  const program::Program copied = ddp_program({"model.hidden=64"});
  const program::Program views =
      ddp_program({"model.hidden=64", "ddp.gradient_as_bucket_view=true"});
  CHECK(launches(copied) == launches(views) + 2 * 4);  // two steps, four parameters
  for (const program::Bucket& bucket : views.buckets) CHECK(bucket.buffer == program::kNoIndex);
}

TEST_CASE("a hook that compresses sums half the bytes, between two casts") {
  for (const char* views :
       {"ddp.gradient_as_bucket_view=false", "ddp.gradient_as_bucket_view=true"}) {
    INFO(views);
    const std::vector<std::string> config{"model.hidden=2048", "model.layers=3", "steps=3", views};
    std::vector<std::string> compressed = config;
    compressed.push_back("ddp.comm_hook=bf16_compress");
    const program::Program plain = ddp_program(config), hooked = ddp_program(compressed);
    program::validate(hooked);
    const auto sums = [](const program::Program& program) {
      return all_of<program::Collective>(program, autograd_of(program));
    };
    REQUIRE(sums(plain).size() == sums(hooked).size());
    REQUIRE(!sums(plain).empty());
    for (std::size_t i = 0; i < sums(plain).size(); ++i)
      CHECK(sums(plain)[i].bytes == 2 * sums(hooked)[i].bytes);
    const auto names = [](const program::Program& program) {
      std::map<std::string, int> count;
      for (const auto& one : all_of<program::Launch>(program, autograd_of(program)))
        ++count[program.operations[one.operation].framework];
      return count;
    };
    const int buckets = static_cast<int>(sums(plain).size());
    for (const char* name : {"aten::to", "aten::div_", "aten::copy_"}) {
      INFO(name);
      CHECK(names(hooked)[name] == names(plain)[name] + buckets);
    }
    CHECK(names(hooked)["torch::distributed::reducer::mul_out"] == 0);
  }
}

TEST_CASE("the copy of a bucket that a hook makes lives until its sums are written back") {
  const program::Program program =
      ddp_program({"model.hidden=2048", "model.layers=3", "ddp.comm_hook=fp16_compress"});
  std::set<program::Index> alive;
  int freed = 0, used = 0;
  for (const program::Command& command : program.threads[autograd_of(program)].commands) {
    const auto is_copy = [&](program::Index buffer) {
      return program.buffers[buffer].name.ends_with(", compressed");
    };
    if (const auto* one = std::get_if<program::Alloc>(&command.action))
      if (is_copy(one->buffer)) REQUIRE(alive.insert(one->buffer).second);
    if (const auto* one = std::get_if<program::Free>(&command.action);
        one && is_copy(one->buffer)) {
      REQUIRE(alive.erase(one->buffer) == 1);
      ++freed;
    }
    const auto* launch = std::get_if<program::Launch>(&command.action);
    if (!launch) continue;
    const program::Operation& operation = program.operations[launch->operation];
    for (const auto* list : {&operation.reads, &operation.writes})
      for (const program::Index buffer : *list) {
        if (!is_copy(buffer)) continue;
        REQUIRE(alive.contains(buffer));
        ++used;
      }
  }
  CHECK(used >= freed);
  CHECK(alive.empty());
  CHECK(freed > 2);
}

TEST_CASE("the listing is what a rank of torchrun runs") {
  const program::Program program =
      ddp_program({"accumulate_steps=2", "ddp.no_sync=true", "ddp.bucket_cap_mb=5"});
  const std::string text = test::listing_of(program);
  CHECK_THAT(text, Contains("# torchrun --nproc_per_node=2 train.py"));
  CHECK_THAT(text, Contains("dist.init_process_group(\"nccl\")"));
  CHECK_THAT(text, Contains("DistributedSampler("));
  CHECK_THAT(text, Contains("DistributedDataParallel(model, device_ids=[rank], bucket_cap_mb=5)"));
  CHECK_THAT(text, Contains("with model.no_sync() if i < 1 else nullcontext():\n"
                            "            out = model(x)\n"));
  CHECK_THAT(test::listing_of(ddp_program({"ddp.comm_hook=fp16_compress"})),
             Contains("device_ids=[rank])\n"
                      "model.register_comm_hook(None, default_hooks.fp16_compress_hook)\n"));
}

TEST_CASE("on several nodes a rank takes the GPU of its local rank") {
  const std::string text =
      test::listing_of(ddp_program({"machine=dgx1-v100-8x2", "parallel.world_size=16"}));
  CHECK_THAT(text, Contains("# torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend=c10d "
                            "--rdzv_endpoint=node0:29500 train.py\n"));
  CHECK_THAT(text, Contains("torch.cuda.set_device(local_rank)"));
  CHECK_THAT(text, Contains("device_ids=[local_rank]"));
}

TEST_CASE("files shared out by hand have no DistributedSampler") {
  const std::string text = test::listing_of(ddp_program({"uneven_batches=true", "steps=4"}));
  CHECK_THAT(text, !Contains("DistributedSampler"));
  CHECK_THAT(text, Contains("sampler = range(first[rank], last[rank])"));
}

TEST_CASE("what DistributedDataParallel cannot do is refused with what to write") {
  CHECK_THROWS_WITH(ddp_program({"parallel.world_size=16"}),
                    Contains("dgx1-v100-8 has 8 GPUs; write at most 8"));
  CHECK_THROWS_WITH(ddp_program({"device=cpu"}), Contains("set device = cuda"));
  CHECK_THROWS_WITH(ddp_program({"ddp.no_sync=true"}), Contains("set accumulate_steps = 4"));
  CHECK_THROWS_WITH(ddp_program({"ddp.comm_hook=fp16_compress", "model.dtype=fp16"}),
                    Contains("set model.dtype = fp32, or ddp.comm_hook = none"));
  CHECK_THROWS_WITH(ddp_program({"model.layers=2", "model.detach=1"}),
                    Contains("ddp.find_unused_parameters = true"));
  program::Config config;
  config.set_text("parallel.world_size=2");
  CHECK_THROWS_WITH(build_program(config, machine_of(config)),
                    Contains("needs parallel.strategy = ddp"));
}

TEST_CASE("of DDP's buckets it is shown that the first is small until their size is set") {
  program::Config unset, set;
  set.set_text("ddp.bucket_cap_mb=25");
  CHECK(program::shown_knob(unset, "ddp.bucket_cap_mb") == "25 MiB, first 1 MiB");
  CHECK(program::shown_knob(set, "ddp.bucket_cap_mb") == "25 MiB");
  CHECK(train::bucket_caps(unset).first == 1 << 20);
  CHECK(train::bucket_caps(set).first == train::bucket_caps(set).others);
  CHECK(program::shown_knob(unset, "steps") ==
        program::show(program::find_knob("steps"), unset.value("steps")));
}
