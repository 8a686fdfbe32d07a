#include "cuda/contents.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "cuda/noise.h"
#include "host/float_types.h"

namespace trainscope::cuda {
namespace {

using program::ElementType;
using program::MemoryKind;

// Of a run of which only times are wanted, the first bytes alone are made, and repeated.
constexpr std::int64_t kPart = std::int64_t{4} << 20;

bool holds_numbers(const program::Buffer& buffer) {
  return program::size_of(buffer.type) == 2 || buffer.type == ElementType::kFp32 ||
         buffer.type == ElementType::kTf32;
}

// Tokens and targets must be below it wherever they are read.
std::int64_t classes_of(const program::Program& program) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const auto look = [&](const program::Operation& operation) {
    if (const auto* loss = std::get_if<program::NllLoss>(&operation.function))
      least = std::min(least, loss->classes);
    if (const auto* loss = std::get_if<program::SharedLoss>(&operation.function))
      least = std::min(least, loss->all);
    if (const auto* table = std::get_if<program::Embedding>(&operation.function))
      least = std::min(least, table->vocabulary * table->ranks);
  };
  for (const program::Operation& operation : program.operations) {
    look(operation);
    for (const program::Operation& part : operation.parts) look(part);
  }
  return std::max<std::int64_t>(least, 1);
}

}  // namespace

std::vector<char> stored_as(ElementType type, host::Values values) {
  std::vector<char> bytes(values.size() * static_cast<std::size_t>(program::size_of(type)));
  if (type == ElementType::kFp16) {
    host::convert(values, {reinterpret_cast<host::Float16*>(bytes.data()), values.size()});
  } else if (type == ElementType::kBf16) {
    host::convert(values, {reinterpret_cast<host::Bfloat16*>(bytes.data()), values.size()});
  } else {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}

Contents::Contents(const program::Program& program, DeviceCalls& device)
    : program_(program), device_(device), initial_(program), classes_(classes_of(program)) {}

// Copies alone move whatever is there.
bool Contents::is_made_up(const program::Buffer& buffer) const {
  const bool computes = std::any_of(
      program_.operations.begin(), program_.operations.end(), [&](const auto& operation) {
        return program_.parameters > 0 || operation.kind == program::OperationKind::kGemm;
      });
  return program_.timing_only && computes && buffer.role == program::Role::kBatch &&
         (holds_numbers(buffer) || buffer.type == ElementType::kInt64);
}

void Contents::fill(program::Index buffer, void* memory, StreamHandle stream) const {
  const program::Buffer& what = program_.buffers[buffer];
  const bool zero =
      what.initial.kind == program::Initial::Kind::kConstant && what.initial.value == 0;
  if (is_made_up(what)) {
    repeat(noise_of(what.type, std::min(what.bytes, kPart), classes_), what, memory, stream);
  } else if (!zero && holds_numbers(what)) {
    repeat(initial(buffer), what, memory, stream);
  } else if (what.kind == MemoryKind::kDevice) {
    device_.fill_zero(memory, what.bytes, stream);
  } else {
    std::memset(memory, 0, static_cast<std::size_t>(what.bytes));
  }
}

std::vector<char> Contents::initial(program::Index buffer) const {
  const program::Buffer& what = program_.buffers[buffer];
  const std::int64_t most = kPart / program::size_of(what.type);
  const std::int64_t count =
      program_.timing_only ? std::min(what.elements(), most) : what.elements();
  std::vector<float> values(static_cast<std::size_t>(count));
  initial_.read(buffer, values);
  return stored_as(what.type, values);
}

// A copy out of pageable memory has read it when the call returns.
void Contents::repeat(const std::vector<char>& part, const program::Buffer& what, void* memory,
                      StreamHandle stream) const {
  const auto size = static_cast<std::int64_t>(part.size());
  for (std::int64_t at = 0; at < what.bytes; at += size) {
    const std::int64_t bytes = std::min(size, what.bytes - at);
    char* to = static_cast<char*>(memory) + at;
    if (what.kind == MemoryKind::kDevice) {
      device_.copy({part.data(), to, bytes, MemoryKind::kPageable, MemoryKind::kDevice}, stream);
    } else {
      std::memcpy(to, part.data(), static_cast<std::size_t>(bytes));
    }
  }
}

}  // namespace trainscope::cuda
