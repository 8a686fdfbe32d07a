// torch.compile: which operations become one kernel, and what is captured into graphs.

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/error.h"
#include "support/built_program.h"

using namespace trainscope;
using program::Index;
using program::Operation;
using program::Program;
using test::Settings;
using test::with;

namespace {

Program build(const Settings& settings, const Settings& more = {}) {
  return test::program_of(with(settings, more));
}

const Settings kMlp{"model.name=mlp", "model.layers=2", "data.source=tensor", "steps=3"};
const Settings kGpt{"model.name=gpt2", "batch_size=1", "model.seq_len=128", "data.source=tensor",
                    "steps=3"};
const Settings kResnet{"model.name=resnet18", "batch_size=4", "data.source=tensor", "steps=3"};
const Settings kFused{"compile.fuse=true"};
const Settings kGraph{"compile.cuda_graph=true"};
const Settings kBoth{"compile.fuse=true", "compile.cuda_graph=true"};

// Of one step, the last, by thread: the kernels that are launched one by one.
std::vector<const Operation*> launched(const Program& program, program::Phase phase) {
  std::vector<const Operation*> all;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* launch = std::get_if<program::Launch>(&command.action))
        if (command.phase == phase) all.push_back(&program.operations[launch->operation]);
  return {all.end() - static_cast<std::ptrdiff_t>(all.size() / 3), all.end()};
}

std::vector<std::string> names(const std::vector<const Operation*>& operations) {
  std::vector<std::string> names;
  for (const Operation* one : operations) names.push_back(one->kernel);
  return names;
}

std::set<std::string> allocated(const Program& program) {
  std::set<std::string> names;
  for (const program::Thread& thread : program.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
        names.insert(program.buffers[alloc->buffer].name);
  return names;
}

template <typename Action>
int count(const Program& program, std::size_t thread) {
  int found = 0;
  for (const auto& command : program.threads[thread].commands)
    found += std::holds_alternative<Action>(command.action) ? 1 : 0;
  return found;
}

std::string refusal(const Settings& settings, const Settings& more = {}) {
  try {
    build(settings, more);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

double total(const std::vector<const Operation*>& operations, double Operation::* what) {
  double sum = 0;
  for (const Operation* one : operations) sum += one->*what;
  return sum;
}

// What the launches compute, each part for itself. Launches of which another names the function
// compute nothing.
std::multiset<std::string> computed(const std::vector<const Operation*>& operations) {
  std::multiset<std::string> all;
  for (const Operation* one : operations) {
    if (one->parts.empty() && one->function.index() > 0)
      all.insert(std::to_string(one->function.index()));
    for (const Operation& part : one->parts) all.insert(std::to_string(part.function.index()));
  }
  return all;
}

}  // namespace

TEST_CASE("between matrix products, what follows one another becomes one kernel") {
  const Program mlp = build(kMlp, kFused);
  CHECK(names(launched(mlp, program::Phase::kForward)) ==
        std::vector<std::string>{"gemm 64x128x784", "triton_poi_fused_relu_0", "gemm 64x128x128",
                                 "triton_poi_fused_relu_1", "gemm 64x10x128", "log_softmax",
                                 "nll_loss"});
  // The bias's gradient is a sum over what relu's backward gives.
  const auto backward = names(launched(mlp, program::Phase::kBackward));
  CHECK(std::count(backward.begin(), backward.end(), "triton_red_fused_relu_backward_sum_1") == 1);
}

TEST_CASE(
    "a transformer's residual sum and norm are one kernel, attention's products stay a library's") {
  const auto forward = names(launched(build(kGpt, kFused), program::Phase::kForward));
  const auto of = [&](const std::string& part) {
    return std::count_if(forward.begin(), forward.end(),
                         [&](const std::string& name) { return name.find(part) != name.npos; });
  };
  CHECK(of("bmm") == 24);
  CHECK(of("_softmax_add") == 12);
  CHECK(of("_add_layer_norm_") == 24);  // the first norm's kernel has the embedding's sum
  CHECK(of("triton_poi_fused_gelu_") == 12);
}

TEST_CASE("fusing changes how much is moved, and not what is computed") {
  for (const Settings& model : {kMlp, kGpt, kResnet})
    for (const program::Phase phase : {program::Phase::kForward, program::Phase::kBackward}) {
      const Program eager = build(model), fused = build(model, kFused);
      const auto before = launched(eager, phase), after = launched(fused, phase);
      INFO(model[0]);
      // In the MLP's forward nothing but relu stands between two products.
      const bool fuses = model != kMlp || phase == program::Phase::kBackward;
      CHECK((after.size() < before.size()) == fuses);
      CHECK(computed(after) == computed(before));
      CHECK(total(after, &Operation::flops) == Approx(total(before, &Operation::flops)));
      CHECK((total(after, &Operation::bytes) < total(before, &Operation::bytes)) == fuses);
    }
}

// Commands of the threads in the order in which they are carried out: autograd's between the push
// and the pop of the main one.
template <typename Visit>
void walk(const Program& program, const Visit& visit) {
  std::size_t next = 0;
  const auto& autograd = program.threads[1].commands;
  for (const program::Command& command : program.threads[0].commands) {
    visit(command);
    if (!std::holds_alternative<program::Push>(command.action)) continue;
    while (next < autograd.size() && !std::holds_alternative<program::Push>(autograd[next].action))
      visit(autograd[next++]);
    ++next;
  }
}

TEST_CASE("whatever a kernel reads or writes lies in memory that it has") {
  for (const Settings& model : {kMlp, kGpt, kResnet})
    for (const Settings& more :
         {Settings{}, Settings{"precision=fp16", "scaler.enabled=true"},
          Settings{"checkpoint.enabled=true"}, Settings{"accumulate_steps=2"}}) {
      Settings settings = more;
      settings.emplace_back("compile.fuse=true");
      const Program program = build(model, settings);
      std::set<Index> comes_and_goes, there;
      walk(program, [&](const program::Command& command) {
        if (const auto* free = std::get_if<program::Free>(&command.action))
          comes_and_goes.insert(free->buffer);
      });
      std::size_t missing = 0, launches = 0;
      walk(program, [&](const program::Command& command) {
        if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
          there.insert(alloc->buffer);
        if (const auto* free = std::get_if<program::Free>(&command.action))
          missing += 1 - there.erase(free->buffer);
        const auto* launch = std::get_if<program::Launch>(&command.action);
        if (!launch) return;
        ++launches;
        const Operation& one = program.operations[launch->operation];
        for (const auto* list : {&one.reads, &one.writes})
          for (const Index buffer : *list)
            missing += program.buffers[buffer].is_view ||
                               (comes_and_goes.contains(buffer) && !there.contains(buffer))
                           ? 1
                           : 0;
      });
      INFO(model[0] << ", " << settings[0]);
      CHECK(missing == 0);

      CHECK(launches > 10);
    }
}

TEST_CASE("what never leaves a kernel has no memory") {
  const auto eager = allocated(build(kResnet)), fused = allocated(build(kResnet, kFused));
  CHECK(eager.contains("layer1.0.bn1"));
  CHECK_FALSE(fused.contains("layer1.0.bn1"));  // relu keeps its result alone
  for (const std::string& name : fused) CHECK(eager.contains(name));
}

TEST_CASE("code that was compiled says so, and the loss and the update stay as they are") {
  const Program program = build(kGpt, kFused);
  const auto update = launched(program, program::Phase::kOptimizer),
             forward = launched(program, program::Phase::kForward);
  REQUIRE(!update.empty());
  REQUIRE(!forward.empty());
  for (const Operation* one : update) CHECK_FALSE(one->compiled);
  for (const Operation* one : forward)
    CHECK(one->compiled == (one->kernel != "log_softmax" && one->kernel != "nll_loss"));
}

TEST_CASE("a model is replayed from the third step on, forward and backward each by one call") {
  for (const Settings& way : {kGraph, kBoth}) {
    const Program program = build(kGpt, [&] {
      Settings more = way;
      more.emplace_back("steps=7");
      return more;
    }());
    REQUIRE(program.graphs.size() == 2);
    CHECK(program.warmup_steps == 2);
    const std::vector<std::int64_t> nodes = program::graph_nodes(program);
    CHECK(nodes[0] > 70);
    CHECK(nodes[1] > nodes[0]);
    for (const std::size_t thread : {0, 1}) {
      CHECK(count<program::BeginCapture>(program, thread) == 1);
      CHECK(count<program::GraphInstantiate>(program, thread) == 1);
      CHECK(count<program::GraphLaunch>(program, thread) == 6);
    }
    CHECK_NOTHROW(program::validate(program));
  }
}

TEST_CASE("the listing says which torch.compile it is") {
  CHECK_THAT(test::listing_of(build(kMlp)), !Catch::Contains("compile"));
  CHECK_THAT(test::listing_of(build(kMlp, kFused)),
             Catch::Contains("model = torch.compile(model)\n"));
  CHECK_THAT(test::listing_of(build(kMlp, kBoth)),
             Catch::Contains("model = torch.compile(model, mode=\"reduce-overhead\")\n"));
  CHECK_THAT(test::listing_of(build(kMlp, kGraph)),
             Catch::Contains("model = torch.compile(model, backend=\"cudagraphs\")\n"));
}

TEST_CASE("what cannot be compiled or replayed is refused in a sentence") {
  CHECK_THAT(refusal(kMlp, {"compile.fuse=true", "device=cpu"}),
             Catch::Contains("compile.fuse is built for the GPU; set device = cuda"));
  for (const char* strategy : {"dp", "tensor", "pipeline"})
    for (const char* knob : {"compile.fuse=true", "compile.cuda_graph=true"})
      CHECK_THAT(refusal(kMlp, {knob, "machine=h200-8", "parallel.world_size=2",
                                std::string("parallel.strategy=").append(strategy)}),
                 Catch::Contains("is built for one GPU, DistributedDataParallel and FSDP; set "
                                 "parallel.strategy = ddp instead of "));
  CHECK(refusal(kMlp, {"compile.fuse=true", "machine=h200-8", "parallel.world_size=1"}).empty());
  CHECK_THAT(refusal(kMlp, {"compile.cuda_graph=true", "steps=2"}),
             Catch::Contains("set steps = 3"));
  for (const char* more : {"accumulate_steps=2", "zero_grad.set_to_none=false"})
    CHECK_THAT(refusal(kMlp, {"compile.cuda_graph=true", more}),
               Catch::Contains("gradients over those of the one before"));
  CHECK(refusal(kMlp, {"compile.fuse=true", "accumulate_steps=2"}).empty());
}
