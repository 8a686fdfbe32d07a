// How many kernels an operation on many tensors is: no more than PyTorch's own.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "cuda/device/operation_kernels.h"
#include "train/build.h"

using namespace trainscope;

namespace {

struct NoProducts : cuda::Products {
  void multiply(const cuda::Product&, kernels::Stream) override {}
};

// The memory of a program's buffers, full of zeros.
class Memory {
 public:
  explicit Memory(const program::Program& program) : program_(program) {}

  cuda::Operand operand(program::Index index) {
    const program::Buffer& buffer = program_.buffers[index];
    return {room(index, static_cast<std::size_t>(buffer.bytes)), buffer.elements(), buffer.type};
  }
  float* room(std::int64_t key, std::size_t bytes) {
    std::vector<float>& memory = memory_[key];
    memory.resize(bytes / sizeof(float) + 1);
    return memory.data();
  }

 private:
  const program::Program& program_;
  std::map<std::int64_t, std::vector<float>> memory_;
};

constexpr std::int64_t kRoom = -1, kState = -2;

// Of the operation, with operands of zeros and no room to work in yet.
cuda::KernelCall call_of(const program::Operation& operation, Memory& memory) {
  cuda::KernelCall call;
  call.operation = &operation;
  for (const program::Index i : operation.reads) call.reads.push_back(memory.operand(i));
  for (const program::Index i : operation.writes) call.writes.push_back(memory.operand(i));
  call.state = memory.room(kState, cuda::kStateBytes);
  return call;
}

std::uint64_t launches_of(const program::Program& program, const program::Operation& operation) {
  Memory memory(program);
  cuda::KernelCall call = call_of(operation, memory);
  call.room = memory.room(kRoom, static_cast<std::size_t>(cuda::room_of(call)) * sizeof(float));
  NoProducts products;
  const std::uint64_t before = emulator::grids_run();
  cuda::launch_operation(call, {}, {products}, {});
  return emulator::grids_run() - before;
}

// Whether it writes behind the room that is counted for it.
bool overruns_room(const program::Program& program, const program::Operation& operation) {
  constexpr std::size_t kGuard = 4096;
  constexpr float kMark = 123.456F;
  Memory memory(program);
  cuda::KernelCall call = call_of(operation, memory);
  const auto room = static_cast<std::size_t>(cuda::room_of(call));
  std::vector<float> floats(room + kGuard, kMark);
  call.room = floats.data();
  NoProducts products;
  cuda::launch_operation(call, {}, {products}, {});
  return std::any_of(floats.begin() + static_cast<std::ptrdiff_t>(room), floats.end(),
                     [](float one) { return one != kMark; });
}

program::Program gpt(const std::vector<std::string>& more) {
  program::Config config;
  for (const char* setting : {"workload=train", "model.name=gpt-mini", "model.width=8",
                              "model.heads=2", "model.seq_len=4", "batch_size=1"})
    config.set_text(setting);
  for (const std::string& setting : more) config.set_text(setting);
  return train::build_program(config, train::machine_of(config));
}

bool is_on_many(const program::Operation& one) {
  return one.reads.size() + one.writes.size() >= 20;
}

// Of each operation of this function that counts.
template <typename Function>
void check_launches(const std::vector<std::string>& settings, std::uint64_t expected,
                    bool (*counts)(const program::Operation&) = is_on_many) {
  const program::Program program = gpt(settings);
  std::size_t seen = 0;
  for (const program::Operation& one : program.operations) {
    if (!std::holds_alternative<Function>(one.function)) continue;
    if (!counts(one)) continue;
    ++seen;
    INFO(one.framework);
    CHECK(launches_of(program, one) == expected);
  }
  CHECK(seen > 0);
}

}  // namespace

TEST_CASE("what is done to all parameters is one kernel, or two, however many there are") {
  const std::string scaler = "scaler.enabled=true", fp16 = "precision=fp16";
  check_launches<program::AdamUpdate>({"optimizer.name=adamw"}, 2);
  check_launches<program::AdamUpdate>(
      {"optimizer.name=adamw", "optimizer.impl=fused", scaler, fp16}, 2);
  check_launches<program::SgdUpdate>({"optimizer.name=sgd"}, 1);
  check_launches<program::SgdUpdate>({"optimizer.name=sgd", "optimizer.momentum=0.9"}, 1);
  check_launches<program::Unscale>({scaler, fp16}, 1);
  check_launches<program::GradientNorm>({"clip_grad_norm=1"}, 2);
  check_launches<program::ClipGradients>({"clip_grad_norm=1"}, 1);
  check_launches<program::Fill>({"zero_grad.set_to_none=false"}, 1);
}

TEST_CASE("no operation works in more room than is counted for it") {
  const std::string fsdp = "parallel.strategy=fsdp", bf16 = "fsdp.param_dtype=bf16",
                    ranks = "parallel.world_size=4", machine = "machine=h200-8";
  const std::vector<std::vector<std::string>> all{
      {"clip_grad_norm=1"},
      {"precision=fp16", "scaler.enabled=true", "clip_grad_norm=1"},
      {"model.dtype=bf16", "optimizer.name=adamw", machine},
      {"attention.kernel=flash", "model.dropout=0.1", "precision=bf16", machine},
      {fsdp, ranks, machine, "clip_grad_norm=1"},
      {fsdp, ranks, machine, bf16},
      {fsdp, ranks, machine, bf16, "fsdp.reduce_dtype=fp32", "accumulate_steps=2"},
      {"parallel.strategy=ddp", ranks, machine, "ddp.comm_hook=bf16_compress"},
      {"parallel.strategy=tensor", "parallel.world_size=2", machine, "precision=bf16"}};
  for (const std::vector<std::string>& settings : all) {
    const program::Program program = gpt(settings);
    std::size_t seen = 0;
    for (const program::Operation& one : program.operations) {
      if (std::holds_alternative<std::monostate>(one.function)) continue;
      ++seen;
      INFO(settings.back() << ": " << one.framework << ", " << one.kernel);
      CHECK_FALSE(overruns_room(program, one));
    }
    CHECK(seen > 20);
  }
}

TEST_CASE("gradients that are summed over rows are one kernel where rows are few, else two") {
  const auto norm = [](const program::Operation& one) {
    return std::get<program::LayerNorm>(one.function).part == program::Part::kWeightGradient;
  };
  const auto bias = [](const program::Operation& one) {
    return std::get<program::Linear>(one.function).part == program::Part::kBiasGradient;
  };
  for (const char* precision : {"precision=fp32", "precision=bf16"}) {
    check_launches<program::LayerNorm>({precision}, 1, norm);
    check_launches<program::LayerNorm>({precision, "batch_size=32"}, 2, norm);
    check_launches<program::Linear>({precision}, 1, bias);
    check_launches<program::Linear>({precision, "batch_size=32"}, 2, bias);
  }
}
