#include "cuda/lockstep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cuda/execution.h"
#include "host/float_types.h"

namespace trainscope::test {
namespace {

using cuda::KernelCall;
using program::ElementType;
using program::Index;
using program::MemoryKind;
using program::Operation;

bool is_fraction(const program::Buffer& buffer) {
  return buffer.type != ElementType::kInt64;
}

// The distance from 1 to the next number of a type.
double ulp_of(ElementType type) {
  switch (type) {
    case ElementType::kFp16:
      return 0x1p-10;
    case ElementType::kBf16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

const char* type_word(ElementType type) {
  return type == ElementType::kFp16 ? "fp16" : type == ElementType::kBf16 ? "bf16" : "fp32";
}

// A device counts an optimizer's steps and a scaler's growth in a state of its own.
bool is_counted_apart(const Operation& one, Index buffer) {
  if (std::holds_alternative<program::AdamUpdate>(one.function)) return buffer == one.writes.back();
  return std::holds_alternative<program::UpdateScale>(one.function) && buffer != one.writes[0];
}

// How many numbers a sum of an operation has.
double terms_of(const Operation& one) {
  if (const auto* f = std::get_if<program::Linear>(&one.function)) {
    const bool over_rows =
        f->part == program::Part::kWeightGradient || f->part == program::Part::kBiasGradient;
    return static_cast<double>(over_rows                                  ? f->rows
                               : f->part == program::Part::kInputGradient ? f->outputs
                                                                          : f->inputs);
  }
  if (const auto* f = std::get_if<program::Convolution>(&one.function)) {
    const double window = static_cast<double>(f->kernel * f->kernel);
    const double pixels = static_cast<double>(f->batch * f->out_height() * f->out_width());
    return f->part == program::Part::kForward         ? window * static_cast<double>(f->channels)
           : f->part == program::Part::kInputGradient ? window * static_cast<double>(f->outputs)
                                                      : pixels;
  }
  return 0;
}

// In units of FP32: kernels/README.md has at most 64 for a kernel of ours; a library adds products
// in an order of its own, and each rounding moves a sum of n of them about as n random steps would.
// Operands of TF32 are rounded to 11 bits, in which a tie may go to either side.
double allowed_fp32(const Operation& one, const OfLibraries& libraries) {
  constexpr double kKernel = 64, kOfASum = 4, kTf32 = 1 << 13;
  double most = kKernel + kOfASum * std::sqrt(terms_of(one));
  const auto* conv = std::get_if<program::Convolution>(&one.function);
  if (conv) most *= libraries.convolutions;
  if (one.type == ElementType::kTf32 || (conv && conv->tf32)) most += kTf32 * libraries.tf32;
  for (const Operation& part : one.parts) most = std::max(most, allowed_fp32(part, libraries));
  return most;
}

// Narrow results are rounded once more; tiled attention's gradients three times.
double allowed(const Operation& one, ElementType type, const OfLibraries& libraries) {
  const double wide = allowed_fp32(one, libraries);
  if (program::size_of(type) != 2) return wide;
  constexpr double kRoundings = 3;
  return kRoundings + wide * ulp_of(ElementType::kFp32) / ulp_of(type);
}

}  // namespace

Lockstep::Lockstep(const program::Program& program, cuda::DeviceCalls& device,
                   const OfLibraries& libraries)
    : program_(program),
      device_(device),
      libraries_(libraries),
      handles_(device.handles()),
      stream_(device.make_stream(program::StreamKind::kNonBlocking, 0, 0)),
      host_(program),
      batches_(program.data, host::DataSets(program.data), 0) {}

Lockstep::~Lockstep() {
  try {
    for (const auto& [buffer, memory] : memory_) device_.release(memory, stream_);
    for (const auto& [operation, state] : states_) device_.release(state, stream_);
    device_.synchronise();
  } catch (const Error&) {  // the device is lost, and its memory with it
  }
  device_.release_after(handles_);
}

void Lockstep::load(const program::LoadBatch& load) {
  host_.load(load);
  const auto words = [&](Index buffer) -> std::span<std::int64_t> {
    const program::Buffer& shape = program_.buffers[buffer];
    if (is_fraction(shape)) return {};
    whole_[buffer].resize(static_cast<std::size_t>(shape.elements()));
    return whole_[buffer];
  };
  std::vector<float> values;
  if (is_fraction(program_.buffers[load.x]))
    values.resize(static_cast<std::size_t>(program_.buffers[load.x].elements()));
  const std::span<std::int64_t> tokens = words(load.x), targets = words(load.y);
  batches_.read(load.batch, load.test, {values, tokens, targets});
}

void Lockstep::copy(const program::Copy& copy) {
  host_.copy(copy);
  if (whole_.contains(copy.from)) whole_[copy.to] = whole_[copy.from];
}

void* Lockstep::memory(Index buffer) {
  void*& memory = memory_[buffer];
  if (memory) return memory;
  const std::int64_t bytes = std::max<std::int64_t>(program_.buffers[buffer].bytes, 16);
  memory = device_.allocate(bytes, stream_);
  device_.fill_zero(memory, bytes, stream_);
  return memory;
}

// What only a device has, as the pixels that a pooling chose, stays as it left it.
void Lockstep::upload(Index buffer) {
  const program::Buffer& shape = program_.buffers[buffer];
  std::vector<char> stored(static_cast<std::size_t>(shape.bytes));
  if (is_fraction(shape)) {
    const host::Results values = host_.values(buffer);
    if (values.empty()) return;
    if (shape.type == ElementType::kFp16) {
      host::convert(values, {reinterpret_cast<host::Float16*>(stored.data()), values.size()});
    } else if (shape.type == ElementType::kBf16) {
      host::convert(values, {reinterpret_cast<host::Bfloat16*>(stored.data()), values.size()});
    } else {
      std::memcpy(stored.data(), values.data(), stored.size());
    }
  } else {
    const auto known = whole_.find(buffer);
    if (known == whole_.end()) return;
    std::memcpy(stored.data(), known->second.data(), stored.size());
  }
  device_.copy(
      {stored.data(), memory(buffer), shape.bytes, MemoryKind::kPageable, MemoryKind::kDevice},
      stream_);
  device_.synchronise_stream(stream_);
}

std::vector<float> Lockstep::download(Index buffer) {
  const program::Buffer& shape = program_.buffers[buffer];
  std::vector<char> stored(static_cast<std::size_t>(shape.bytes));
  device_.copy(
      {memory(buffer), stored.data(), shape.bytes, MemoryKind::kDevice, MemoryKind::kPageable},
      stream_);
  device_.synchronise_stream(stream_);
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  if (shape.type == ElementType::kFp16) {
    host::convert({reinterpret_cast<const host::Float16*>(stored.data()), values.size()}, values);
  } else if (shape.type == ElementType::kBf16) {
    host::convert({reinterpret_cast<const host::Bfloat16*>(stored.data()), values.size()}, values);
  } else {
    std::memcpy(values.data(), stored.data(), stored.size());
  }
  return values;
}

// As cuda::Execution tells it.
std::uint64_t Lockstep::draws_of(const Operation& operation) {
  const auto* dropout = std::get_if<program::Dropout>(&operation.function);
  if (!dropout) return 0;
  if (dropout->part != program::Part::kForward || dropout->again) return draws_[operation.reads[1]];
  const std::uint64_t first = drawn_;
  drawn_ += static_cast<std::uint64_t>(dropout->elements);
  return draws_[operation.writes[1]] = first;
}

KernelCall Lockstep::call_of(const Operation& operation) {
  KernelCall call;
  call.operation = &operation;
  call.seed = static_cast<std::uint64_t>(program_.seed);
  call.draws_from = draws_of(operation);
  const auto operand = [&](Index i) {
    return cuda::Operand{memory(i), program_.buffers[i].elements(), program_.buffers[i].type};
  };
  for (const Index i : operation.reads) call.reads.push_back(operand(i));
  for (const Index i : operation.writes) call.writes.push_back(operand(i));
  for (const Operation& part : operation.parts) call.parts.push_back(call_of(part));
  return call;
}

void Lockstep::launch(const Operation& operation) {
  KernelCall call = call_of(operation);
  void*& state = states_[&operation];
  if (!state) {
    state = device_.allocate(cuda::kStateBytes, stream_);
    device_.fill_zero(state, cuda::kStateBytes, stream_);
  }
  const std::int64_t floats = device_.room_for(call);
  void* room = floats > 0 ? device_.allocate(floats * 4, stream_) : nullptr;
  const auto complete = [&](KernelCall& one) {
    one.state = state;
    one.room = static_cast<float*>(room);
  };
  complete(call);
  for (KernelCall& part : call.parts) complete(part);
  device_.prepare(call);
  device_.launch(call, stream_);
  device_.synchronise_stream(stream_);
  if (room) device_.release(room, stream_);
}

void Lockstep::compare(const Operation& operation, Index buffer) {
  const program::Buffer& shape = program_.buffers[buffer];
  if (!is_fraction(shape) || is_counted_apart(operation, buffer)) return;
  const host::Results expected = host_.values(buffer);
  const std::vector<float> found = download(buffer);
  double squares = 0;
  for (const float value : expected) squares += std::isfinite(value) ? double{value} * value : 0;
  const double rms = std::sqrt(squares / std::max<double>(1, static_cast<double>(expected.size())));
  const double most = allowed(operation, shape.type, libraries_);
  const std::string kernel = operation.parts.empty() ? operation.kernel : "fused";
  Difference& worst =
      differences_[operation.framework + ", " + kernel + ", " + type_word(shape.type)];
  if (worst.allowed == 0) worst.allowed = most;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool same = found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]));
    if (same) continue;
    const double scale = std::max<double>(std::abs(expected[i]), rms) * ulp_of(shape.type);
    const double apart = std::abs(double{found[i]} - double{expected[i]});
    const double ulps = std::isfinite(apart) && scale > 0 ? apart / scale : HUGE_VAL;
    if (ulps / most <= worst.share()) continue;
    worst = {ulps, most,
             fmt::format("{} [{}]: {} on the device, {} on the host", shape.name, i, found[i],
                         expected[i])};
  }
}

void Lockstep::run(const Operation& operation) {
  if (cuda::is_empty_launch(program_, operation)) return host_.run(operation);
  for (const auto* list : {&operation.reads, &operation.writes})
    for (const Index buffer : *list) upload(buffer);
  launch(operation);
  host_.run(operation);
  for (const Index buffer : operation.writes) compare(operation, buffer);
  ++operations_;
}

}  // namespace trainscope::test
