// Which fused kernels of real programs are one chain on a device, or a chain for some of their
// parts, and that a chain leaves the bits that its parts leave one after another.

#include "cuda/device/chains.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "cuda/fused_calls.h"

using namespace trainscope;
using program::Index;
using namespace trainscope::test;

namespace {

bool has_batch_norm(const program::Operation& operation) {
  return std::any_of(operation.parts.begin(), operation.parts.end(), [](const auto& part) {
    return std::holds_alternative<program::BatchNorm>(part.function);
  });
}

// A part between batch norms is alone, or in a chain with all others there.
bool are_runs_chains(const std::vector<cuda::PartRun>& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const cuda::PartRun& run) {
    return run.chain.has_value() == (run.parts.size() > 1);
  });
}

bool has_chain_among(const std::vector<cuda::PartRun>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const cuda::PartRun& run) { return run.chain.has_value(); });
}

// Fused kernels of several parts: how many of them are one chain, how many have a batch norm.
struct Counts {
  int groups = 0;
  int chains = 0;
  int batch_norms = 0;
};

Counts counts_of(const std::vector<std::string>& settings) {
  const program::Program program = program_of(settings);
  Counts counts;
  for (const program::Operation& operation : program.operations) {
    const cuda::KernelCall call = call_of(program, operation, nowhere);
    const bool one = cuda::fused_kernel(call).has_value();
    CHECK((!one || (operation.parts.size() > 1 && !has_batch_norm(operation))));
    if (operation.parts.size() < 2) continue;
    ++counts.groups;
    counts.chains += one ? 1 : 0;
    if (!has_batch_norm(operation)) continue;
    ++counts.batch_norms;
    CHECK(are_runs_chains(cuda::runs_of(call)));
  }
  return counts;
}

std::string words_of(const program::Operation& operation) {
  std::string words;
  for (const program::Operation& part : operation.parts)
    words += cuda::launch_name(part) + " of " + std::to_string(part.reads.size()) + " to " +
             std::to_string(part.writes.size()) + ", ";
  return words;
}

// Each kind of chain of a program once; how many there are.
int check_chains(const std::vector<std::string>& settings) {
  const program::Program program = program_of(settings);
  std::set<std::string> seen;
  for (const program::Operation& operation : program.operations) {
    const cuda::KernelCall call = call_of(program, operation, nowhere);
    if (!is_small(program, operation) || operation.parts.size() < 2 ||
        !(cuda::fused_kernel(call) || has_chain_among(cuda::runs_of(call))) ||
        !seen.insert(words_of(operation)).second)
      continue;
    INFO(settings.front() << ": " << words_of(operation));
    const FusedMemory one = carried_out_fused(program, operation);
    const FusedMemory parts = carried_out_in_parts(program, operation);
    for (const Index buffer : operation.writes) {
      INFO("buffer " << program.buffers[buffer].name);
      CHECK(one.bytes(buffer) == parts.bytes(buffer));
    }
  }
  return static_cast<int>(seen.size());
}

// A fused operation over `buffers` of 16 numbers each.
class Group {
 public:
  explicit Group(int buffers) {
    for (int i = 0; i < buffers; ++i)
      program_.buffers.push_back({"numbers", 16 * sizeof(float), program::MemoryKind::kDevice});
  }
  void add(const program::Function& function, std::vector<Index> reads, std::vector<Index> writes) {
    program::Operation part;
    part.function = function;
    part.reads = std::move(reads);
    part.writes = std::move(writes);
    fused_.parts.push_back(part);
  }
  bool is_chain() const {
    return cuda::fused_kernel(call_of(program_, fused_, nowhere)).has_value();
  }

 private:
  program::Program program_;
  program::Operation fused_;
};

const std::vector<std::string> kCnn{"model.name=cnn", "batch_size=1"};
const std::vector<std::string> kGpt{"model.name=gpt-mini", "batch_size=2",  "model.width=24",
                                    "model.blocks=1",      "model.heads=2", "model.seq_len=5",
                                    "model.dropout=0.1"};

std::vector<std::string> with(std::vector<std::string> settings, const std::string& more) {
  settings.push_back(more);
  return settings;
}

}  // namespace

TEST_CASE("all fused kernels are chains, but those of batch norms and a transformer's tables") {
  for (const char* precision : {"precision=fp32", "precision=bf16"})
    for (const char* model : {"mlp", "cnn", "resnet18", "gpt-mini", "bert-large"}) {
      INFO(model << ", " << precision);
      const std::string name = model;
      const Counts counts = counts_of({"model.name=" + name, precision});
      const int others = name == "gpt-mini" || name == "bert-large" ? 1 : 0;
      CHECK(counts.groups > others);
      CHECK(counts.groups - counts.chains == others + counts.batch_norms);
      CHECK((counts.batch_norms > 0) == (name == "cnn" || name == "resnet18"));
    }
}

TEST_CASE("a chain leaves the bits of its parts, in every kind that models have") {
  CHECK(check_chains(kCnn) >= 1);
  CHECK(check_chains(with(kCnn, "precision=bf16")) >= 2);
  CHECK(check_chains({"model.name=resnet18", "batch_size=1"}) >= 3);
  CHECK(check_chains(kGpt) >= 5);
  CHECK(check_chains(with(kGpt, "precision=bf16")) >= 6);
  CHECK(check_chains(with(kGpt, "precision=fp16")) >= 6);
}

TEST_CASE("what looks elsewhere at what its own group writes stays several kernels") {
  const program::Activation relu{program::ActivationKind::kRelu, 16, program::Part::kForward};
  const program::AddPositions positions{1, 1, 16, program::Part::kForward};
  Group apart(4), after(3), before(3);
  apart.add(relu, {0}, {1});
  apart.add(positions, {1, 2}, {3});
  CHECK(apart.is_chain());
  after.add(relu, {0}, {1});
  after.add(positions, {0, 1}, {2});
  CHECK_FALSE(after.is_chain());
  before.add(positions, {0, 1}, {2});
  before.add(relu, {0}, {1});
  CHECK_FALSE(before.is_chain());
}

TEST_CASE("a group of more steps than a chain has, or of one, is carried out as its parts") {
  const program::Add add{16};
  Group group(2);
  group.add(add, {0, 1}, {1});
  CHECK_FALSE(group.is_chain());
  for (int i = 1; i < kernels::kMostChainSteps; ++i) group.add(add, {0, 1}, {1});
  CHECK(group.is_chain());
  group.add(add, {0, 1}, {1});
  CHECK_FALSE(group.is_chain());
}
