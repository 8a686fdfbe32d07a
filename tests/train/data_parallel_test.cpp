// nn.DataParallel's program and its run.
#include "train/parallel/data_parallel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "machine/machine.h"
#include "sim/simulation.h"
#include "support/built_program.h"

using namespace trainscope;
using namespace trainscope::train;
using Catch::Matchers::Contains;
using program::Index;
using test::Settings;
using test::with;

namespace {

const Settings kCommon{"parallel.strategy=dp", "parallel.world_size=4", "machine=dgx1-v100-8",
                       "model.name=resnet18",  "batch_size=32",         "steps=2"};

program::Config config_of(const Settings& settings) {
  return test::config_of(with(kCommon, settings));
}

program::Program program_of(const Settings& settings = {}) {
  return test::program_of(with(kCommon, settings));
}

struct Simulated {
  explicit Simulated(const std::vector<std::string>& assignments = {})
      : config(config_of(assignments)),
        machine(machine_of(config)),
        program(build_program(config, machine)),
        trace(trace::Origin{}) {
    sim::Simulation(program, machine, "pytorch-eager", trace).finish();
  }
  double peak_on(int gpu) const {
    double peak = 0;
    for (std::uint32_t i = 0; i < trace.samples().size(); ++i) {
      const trace::Lane& lane = trace.lanes()[trace.samples()[i].lane];
      if (lane.name == "allocated memory" && lane.device == gpu)
        peak = std::max(peak, trace.samples()[i].value);
    }
    return peak;
  }
  std::vector<trace::Span> on_gpu(int gpu, trace::Category category) const {
    std::vector<trace::Span> found;
    for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
      const trace::Span& span = trace.spans()[i];
      const trace::Lane& lane = trace.lanes()[span.lane];
      if (lane.device == gpu && lane.kind == trace::LaneKind::kStream && span.category == category)
        found.push_back(span);
    }
    return found;
  }

  program::Config config;
  machine::Machine machine;
  program::Program program;
  trace::Trace trace;
};

std::size_t thread_named(const program::Program& program, const std::string& name) {
  for (std::size_t i = 0; i < program.threads.size(); ++i)
    if (program.threads[i].name == name) return i;
  FAIL("no thread " << name);
  return 0;
}

// Bytes of one step's collectives of one GPU, by kind.
std::map<program::CollectiveKind, std::int64_t> sent(const program::Program& program) {
  std::map<program::CollectiveKind, std::int64_t> bytes;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* one = std::get_if<program::Collective>(&command.action))
        if (program.streams[one->stream].device == 0) bytes[one->kind] += one->bytes;
  for (auto& [kind, sum] : bytes) sum /= program.steps;
  return bytes;
}

}  // namespace

TEST_CASE("DataParallel divides a batch as torch.chunk does") {
  using Parts = std::vector<std::int64_t>;
  CHECK(parts_of_batch(64, 8) == Parts(8, 8));
  CHECK(parts_of_batch(10, 4) == Parts{3, 3, 3, 1});
  CHECK(parts_of_batch(9, 8) == Parts{2, 2, 2, 2, 1});
  CHECK(parts_of_batch(3, 8) == Parts{1, 1, 1});
  CHECK(parts_of_batch(8, 1) == Parts{8});
}

TEST_CASE("gradients are summed in the groups of torch._utils._take_tensors") {
  constexpr std::int64_t kMi = 1 << 20;
  const std::vector<std::int64_t> bytes{3 * kMi, 8 * kMi, kMi, 12 * kMi, 2 * kMi, 9 * kMi, 1};
  CHECK(take_tensors(bytes, 10 * kMi) == Assignment{{0}, {1, 2}, {3}, {4}, {5, 6}});
}

TEST_CASE("each step sends all parameters and buffers out and all gradients back") {
  const program::Program program = program_of();
  std::int64_t all = 0, gradients = 0;
  for (const program::Buffer& buffer : program.buffers) {
    const bool of_the_model = buffer.name.find(" on GPU ") == std::string::npos;
    if (of_the_model && buffer.role == program::Role::kParameter) all += buffer.bytes;
    if (of_the_model && buffer.role == program::Role::kGradient) gradients += buffer.bytes;
  }
  const auto bytes = sent(program);
  CHECK(bytes.at(program::CollectiveKind::kBroadcast) == all);
  CHECK(bytes.at(program::CollectiveKind::kReduce) == gradients);
  CHECK(gradients == 4 * program.parameters);
}

TEST_CASE("a batch is split: each replica gets its part, and GPU 0 the loss and the optimizer") {
  const program::Program program = program_of({"batch_size=10"});
  std::vector<std::int64_t> parts;
  std::int64_t whole = 0;
  for (const program::Buffer& buffer : program.buffers) {
    if (buffer.name.starts_with("x on GPU ")) parts.push_back(buffer.bytes);
    if (buffer.name == "x") whole = buffer.bytes;
  }
  REQUIRE(parts.size() == 4);
  CHECK(parts[0] == 3 * whole / 10);
  CHECK(parts[3] == whole / 10);
  CHECK(program.samples_per_step == 10);
  std::set<int> optimizer, losses;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* launch = std::get_if<program::Launch>(&command.action)) {
        const int gpu = program.streams[launch->stream].device;
        if (command.phase == program::Phase::kOptimizer) optimizer.insert(gpu);
        const auto& function = program.operations[launch->operation].function;
        if (std::holds_alternative<program::NllLoss>(function)) losses.insert(gpu);
      }
  CHECK(optimizer == std::set<int>{0});
  CHECK(losses == std::set<int>{0});
}

TEST_CASE("no gradient is summed before every replica is through with its backward") {
  const program::Program program = program_of();
  const auto& commands = program.threads[thread_named(program, "autograd thread")].commands;
  int pops = 0, sums = 0;
  for (const program::Command& command : commands) {
    if (std::holds_alternative<program::Pop>(command.action)) ++pops;
    const auto* sum = std::get_if<program::Collective>(&command.action);
    if (!sum || sum->kind != program::CollectiveKind::kReduce) continue;
    ++sums;
    CHECK(pops % 4 == 0);
  }
  CHECK(sums > 0);
  CHECK(pops == 8);  // two steps: the main thread's word, and three replicas'
}

TEST_CASE("replicas compute at the same time, in threads that share one interpreter") {
  const Simulated run;
  for (int gpu = 1; gpu < 4; ++gpu) {
    const auto first = run.on_gpu(0, trace::Category::kForward);
    const auto other = run.on_gpu(gpu, trace::Category::kForward);
    REQUIRE_FALSE(other.empty());
    CHECK(other.front().start < first.back().start);
  }
  std::set<Index> locks;
  int replicas = 0;
  for (const program::Thread& thread : run.program.threads) {
    if (thread.role != program::ThreadRole::kReplica) continue;
    ++replicas;
    locks.insert(thread.interpreter);
  }
  CHECK(replicas == 4);
  CHECK(locks == std::set<Index>{run.program.threads[0].interpreter});
  bool waited = false;
  for (std::uint32_t i = 0; i < run.trace.spans().size(); ++i)
    waited |= run.trace.name(run.trace.spans()[i]) == "waits for the interpreter's lock";
  CHECK(waited);
}

TEST_CASE("GPU 0 holds more than the others, and all give back what a step needed") {
  const Simulated run({"optimizer.name=adam", "batch_size=16"});
  const double rest = run.peak_on(1);
  CHECK(run.peak_on(0) > 1.2 * rest);
  CHECK(run.peak_on(2) == Approx(rest).epsilon(0.01));
  std::set<std::uint32_t> segments;
  for (std::uint32_t i = 0; i < run.trace.allocator_events().size(); ++i) {
    const trace::AllocatorEvent& event = run.trace.allocator_events()[i];
    if (event.action == trace::AllocatorAction::kSegmentAlloc)
      CHECK(segments.insert(event.segment).second);
  }
  CHECK(!segments.empty());
}

// But for blocks of the cache that are a little too large, and not worth splitting.
TEST_CASE("later steps need no more memory than the first ones") {
  const Simulated two({"steps=2"}), more({"steps=12"});
  for (int gpu = 0; gpu < 4; ++gpu)
    CHECK(more.peak_on(gpu) == Approx(two.peak_on(gpu)).epsilon(0.02));
}

TEST_CASE("accumulating, the summed gradients are added to those that are there") {
  for (const char* how : {"accumulate_steps=2", "zero_grad.set_to_none=false"}) {
    CAPTURE(how);
    const Simulated run({how});
    int adds = 0;
    for (std::uint32_t i = 0; i < run.trace.spans().size(); ++i)
      adds += run.trace.name(run.trace.spans()[i]) == "vectorized_elementwise_kernel: add";
    CHECK(adds > 0);
  }
}

TEST_CASE("one GPU is no different from the model alone, as in PyTorch") {
  const program::Program one = program_of({"parallel.world_size=1"});
  CHECK(one.communicators.empty());
  CHECK(one.threads.size() ==
        program_of({"parallel.strategy=none", "parallel.world_size=1"}).threads.size());
}

TEST_CASE("arithmetic is counted of all GPUs, as with the ranks of DistributedDataParallel") {
  const program::Program alone = program_of({"parallel.strategy=none", "parallel.world_size=1"});
  const program::Program dp = program_of({"batch_size=32"});
  const program::Program ddp = program_of({"parallel.strategy=ddp", "batch_size=8"});
  CHECK(dp.gpus == 4);
  CHECK(ddp.gpus == 4);
  CHECK(dp.step_flops == Approx(alone.step_flops).epsilon(0.01));
  // Each rank has an update of its own.
  CHECK(ddp.step_flops == Approx(dp.step_flops).epsilon(0.02));
  CHECK(ddp.step_flops > dp.step_flops);
}

TEST_CASE("replicas that compute the loss leave GPU 0 only the mean of them") {
  const auto losses_on = [](const program::Program& program) {
    std::set<int> gpus;
    for (const program::Thread& thread : program.threads)
      for (const program::Command& command : thread.commands)
        if (const auto* launch = std::get_if<program::Launch>(&command.action))
          if (std::holds_alternative<program::NllLoss>(
                  program.operations[launch->operation].function))
            gpus.insert(program.streams[launch->stream].device);
    return gpus;
  };
  const program::Program inside = program_of({"dp.loss_in_forward=true"});
  CHECK(losses_on(inside) == std::set<int>{0, 1, 2, 3});
  CHECK_THAT(test::listing_of(inside),
             Contains("means, out = model(x, y)\n    loss = means.mean()\n"));
  // A model that takes them.
  CHECK_THAT(test::listing_of(inside), Contains("def forward(self, x, y):\n"));
  CHECK_THAT(test::listing_of(inside),
             Contains("model = WithLoss(model)\n") && Contains("model = nn.DataParallel(model"));
  const Simulated two({"dp.loss_in_forward=true", "steps=2"});
  const Simulated more({"dp.loss_in_forward=true", "steps=12"});
  for (int gpu = 0; gpu < 4; ++gpu)
    CHECK(more.peak_on(gpu) == Approx(two.peak_on(gpu)).epsilon(0.02));
}

TEST_CASE("the listing wraps the model in nn.DataParallel") {
  CHECK_THAT(test::listing_of(program_of()),
             Contains("model = nn.DataParallel(model, device_ids=[0, 1, 2, 3])\n"));
  CHECK_THAT(test::listing_of(program_of({"parallel.world_size=8"})),
             Contains("model = nn.DataParallel(model)\n"));
  CHECK_THAT(test::listing_of(program_of()), Contains("batch_size=32"));
}

TEST_CASE("what DataParallel cannot do is refused with what to write") {
  CHECK_THROWS_WITH(program_of({"device=cpu"}), Contains("set device = cuda"));
  CHECK_THROWS_WITH(program_of({"machine=dgx1-v100-8x2", "parallel.world_size=16"}),
                    Contains("a node of dgx1-v100-8x2 has 8 GPUs"));
  CHECK_NOTHROW(program_of({"straggler.rank=1"}));
}

TEST_CASE("at the same batch in all, on the same links, DistributedDataParallel is faster") {
  const auto time = [](const std::vector<std::string>& assignments) {
    const Simulated run(assignments);
    return run.trace.end();
  };
  for (const char* machine : {"machine=dgx1-v100-8", "machine=h100-sxm-8", "machine=l40s-4"}) {
    CAPTURE(machine);
    const Nanos dp = time({machine, "batch_size=64", "steps=4"});
    const Nanos ddp = time({machine, "batch_size=16", "steps=4", "parallel.strategy=ddp"});
    CHECK(dp > ddp);
  }
}
