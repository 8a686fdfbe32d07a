#include "bench/device_measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "cuda/calibration/bench.h"
#include "cuda/execution.h"
#include "train/build.h"
#include "train/parallel/ranks.h"

namespace trainscope::bench {
namespace {

using cuda::KernelCall;
using cuda::Operand;
using program::Index;
using program::MemoryKind;
using program::Operation;
using program::Part;

constexpr int kRepeats = 20;

// Products, convolutions and attention compute; a table is read where tokens say.
bool moves_memory(const Operation& one) {
  if (!one.parts.empty()) return std::ranges::all_of(one.parts, moves_memory);
  const auto is_bias = [](const auto* layer) { return layer->part == Part::kBiasGradient; };
  if (const auto* linear = std::get_if<program::Linear>(&one.function)) return is_bias(linear);
  if (const auto* conv = std::get_if<program::Convolution>(&one.function)) return is_bias(conv);
  return !std::holds_alternative<std::monostate>(one.function) &&
         !std::holds_alternative<program::Attention>(one.function) &&
         !std::holds_alternative<program::Embedding>(one.function);
}

bool changes_in_place(const program::Function& function) {
  const auto* unscale = std::get_if<program::Unscale>(&function);
  return (unscale && !unscale->only_look) ||
         std::holds_alternative<program::Accumulate>(function) ||
         std::holds_alternative<program::ClipGradients>(function) ||
         std::holds_alternative<program::SgdUpdate>(function) ||
         std::holds_alternative<program::AdamUpdate>(function);
}

// Whether the kernel reads what is there before it writes it; of fused steps, the first that
// writes there does.
bool changes(const Operation& one, Index buffer) {
  for (const Operation& part : one.parts)
    if (std::ranges::count(part.writes, buffer) > 0) return changes(part, buffer);
  return changes_in_place(one.function) && std::ranges::count(one.writes, buffer) > 0 &&
         std::ranges::count(one.reads, buffer) == 0;
}

// As our kernels have it: dropout's mask is drawn anew in backward, a place in a pooled image is a
// number of 32 bits.
std::int64_t bytes_of(const program::Buffer& buffer, const Operation& one) {
  if (buffer.type == program::ElementType::kBool) return 0;
  const bool is_place = std::holds_alternative<program::MaxPooling>(one.function) &&
                        buffer.type == program::ElementType::kInt64;
  return is_place ? buffer.bytes / 2 : buffer.bytes;
}

std::int64_t bytes_of(const program::Program& program, const Operation& one) {
  std::int64_t bytes = 0;
  for (const Index buffer : one.reads) bytes += bytes_of(program.buffers[buffer], one);
  for (const Index buffer : one.writes)
    bytes += (changes(one, buffer) ? 2 : 1) * bytes_of(program.buffers[buffer], one);
  // Sums over a whole channel come before its first result: what they read is read again.
  const auto* norm = std::get_if<program::BatchNorm>(&one.function);
  if (norm && norm->training) {
    bytes += program.buffers[one.reads[0]].bytes;
    if (norm->part != Part::kForward) bytes += program.buffers[one.reads[1]].bytes;
  }
  return bytes;
}

// Memory for the operands of one operation, filled with numbers.
class Operands {
 public:
  Operands(const program::Program& program, cuda::Bench& bench)
      : program_(program), bench_(bench) {}

  KernelCall call(const Operation& one) {
    KernelCall call;
    call.operation = &one;
    for (const Index buffer : one.reads) call.reads.push_back(operand(buffer));
    for (const Index buffer : one.writes) call.writes.push_back(operand(buffer));
    for (const Operation& part : one.parts) call.parts.push_back(this->call(part));
    return call;
  }

 private:
  Operand operand(Index index) {
    const program::Buffer& buffer = program_.buffers[index];
    void*& memory = memory_[index];
    if (!memory) {
      memory = bench_.on_device(std::max<std::int64_t>(buffer.bytes, 16));
      // A second moment below 0 would make NaNs, and roots and divisions of those are slow.
      if (buffer.type != program::ElementType::kInt64 &&
          buffer.role != program::Role::kOptimizerState)
        bench_.fill(memory, buffer.bytes, buffer.type);
    }
    return {memory, buffer.elements(), buffer.type};
  }

  const program::Program& program_;
  cuda::Bench& bench_;
  std::map<Index, void*> memory_;
};

double time_of_kernel(cuda::DeviceCalls& device, const program::Program& program,
                      const Operation& one, FusedBy fused) {
  cuda::Bench bench(device);
  Operands operands(program, bench);
  KernelCall call = operands.call(one);
  const auto complete = [&](KernelCall& each) {
    const std::int64_t room = device.room_for(call);
    if (room > 0) each.room = static_cast<float*>(bench.on_device(room * 4));
    each.state = bench.on_device(cuda::kStateBytes);
  };
  complete(call);
  for (KernelCall& part : call.parts) complete(part);
  call.reads_steps = fused == FusedBy::kReading;
  device.prepare(call);
  return bench.times(call, kRepeats).median;
}

// Half of it is read, half of it written.
double time_of_copy(cuda::DeviceCalls& device, std::int64_t bytes) {
  cuda::Bench bench(device);
  const std::int64_t half = bytes / 2;
  const cuda::CopyCall copy{bench.on_device(half), bench.on_device(half), half, MemoryKind::kDevice,
                            MemoryKind::kDevice};
  const auto records = bench.watched([&] {
    for (int i = 0; i < kRepeats; ++i) bench.copy(copy);
  });
  std::vector<double> times;
  for (const cuda::Activity& one : records)
    times.push_back(static_cast<double>(one.end - one.start));
  return cuda::summarise(std::move(times)).median;
}

program::Program program_of(const program::Config& config, int steps) {
  program::Config longer = config;
  longer.set_text(fmt::format("steps={}", steps));
  return train::with_every_rank(train::build_program(longer, train::machine_of(longer)));
}

// Nanoseconds, set-up not among them.
double run_time(cuda::DeviceCalls& device, const program::Config& config, int steps,
                cuda::WatchLevel level) {
  const program::Program program = program_of(config, steps);
  const machine::Machine machine = train::machine_of(config);
  trace::Trace trace(trace::Origin{});
  cuda::Execution execution(program, machine, device, trace);
  device.watch(level);
  const auto failure = execution.run();
  device.watch(cuda::WatchLevel::kEverything);
  if (failure) throw Error(Fault::kFailed, failure->sentence);
  return static_cast<double>(execution.duration());
}

}  // namespace

std::vector<RateCase> rate_cases() {
  const std::vector<std::string> gpt{
      "model.name=gpt-mini",  "model.width=1024",      "model.seq_len=1024", "model.blocks=4",
      "model.heads=16",       "batch_size=32",         "model.dropout=0.1",  "optimizer.name=adamw",
      "optimizer.impl=fused", "attention.kernel=flash"};
  const std::vector<std::string> resnet{"model.name=resnet18", "batch_size=256"};
  const auto made = [](std::string words, const std::vector<std::string>& settings,
                       const std::vector<std::string>& more, FusedBy fused) {
    RateCase one{std::move(words), {}, fused};
    for (const char* setting : {"workload=train", "steps=1", "loop.evaluate=false"})
      one.config.set_text(setting);
    for (const auto* list : {&settings, &more})
      for (const std::string& setting : *list) one.config.set_text(setting);
    return one;
  };
  std::vector<RateCase> all{made("gpt-mini", gpt, {}, FusedBy::kCompiling),
                            made("gpt-mini, in FP16", gpt, {"precision=fp16"}, FusedBy::kCompiling),
                            made("resnet18", resnet, {}, FusedBy::kCompiling)};
  const std::string fuse = "compile.fuse=true";
  for (const auto& [how, fused] : {std::pair{", fused, reading its steps", FusedBy::kReading},
                                   std::pair{", fused, compiled for them", FusedBy::kCompiling}}) {
    all.push_back(made(std::string("gpt-mini") + how, gpt, {fuse}, fused));
    all.push_back(
        made(std::string("gpt-mini, in BF16") + how, gpt, {fuse, "precision=bf16"}, fused));
    all.push_back(made(std::string("resnet18") + how, resnet, {fuse}, fused));
  }
  return all;
}

std::vector<KernelRate> kernel_rates(cuda::DeviceCalls& device, const program::Program& program,
                                     std::int64_t least_bytes, FusedBy fused) {
  std::vector<KernelRate> rates;
  std::set<std::pair<std::string, std::int64_t>> seen;
  for (const Operation& one : program.operations) {
    const std::int64_t bytes = bytes_of(program, one);
    if (bytes < least_bytes || !moves_memory(one) || !device.refusal(one).empty()) continue;
    const std::string name = one.parts.empty() ? one.framework + ", " + one.kernel
                                               : fmt::format("{} fused steps", one.parts.size());
    if (!seen.insert({name, bytes}).second) continue;
    KernelRate& rate = rates.emplace_back();
    rate.name = name;
    rate.bytes = bytes;
    try {
      rate.nanos = time_of_kernel(device, program, one, fused);
      rate.copy_nanos = time_of_copy(device, bytes);
    } catch (const Error& error) {
      rate.failure = error.what();
    }
  }
  return rates;
}

StepTime step_time(cuda::DeviceCalls& device, const program::Config& config, cuda::WatchLevel level,
                   int steps, int rounds) {
  constexpr int kShort = 5;
  run_time(device, config, kShort, level);
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) {
    const double few = run_time(device, config, kShort, level);
    const double many = run_time(device, config, kShort + steps, level);
    all.push_back((many - few) / steps / 1e6);
  }
  std::ranges::sort(all);
  return {all.front(), all[all.size() / 2]};
}

double mean_kernel_time(cuda::DeviceCalls& device, const program::Config& config) {
  const program::Program program = program_of(config, 5);
  const machine::Machine machine = train::machine_of(config);
  trace::Trace trace(trace::Origin{});
  cuda::Execution execution(program, machine, device, trace);
  if (const auto failure = execution.run()) throw Error(Fault::kFailed, failure->sentence);
  double total = 0, kernels = 0;
  trace::for_each(trace.spans(), [&](const trace::Span& span, std::uint32_t) {
    if (!trace::is_kernel(span.category)) return;
    total += static_cast<double>(span.duration);
    ++kernels;
  });
  return kernels == 0 ? 0 : total / kernels / 1e3;
}

}  // namespace trainscope::bench
