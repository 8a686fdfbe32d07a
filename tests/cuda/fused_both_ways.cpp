#include "cuda/fused_both_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "base/random.h"
#include "host/float_types.h"

namespace trainscope::test {
namespace {

using program::ElementType;
using program::Index;
using program::MemoryKind;
using program::Operation;
using Bytes = std::vector<std::byte>;

template <typename T>
void put(Bytes& bytes, std::size_t i, const T& value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}

Bytes numbers_of(const program::Buffer& shape, Index buffer) {
  Bytes bytes(static_cast<std::size_t>(shape.bytes));
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.elements()); ++i) {
    const float value = 2 * unit_float(random_word(buffer, i)) - 1;
    if (shape.type == ElementType::kFp32) put(bytes, i, value);
    if (shape.type == ElementType::kFp16) put(bytes, i, host::to_float16(value));
    if (shape.type == ElementType::kBf16) put(bytes, i, host::to_bfloat16(value));
  }
  return bytes;
}

// An operation with memory on the device.
class OnDevice {
 public:
  OnDevice(const program::Program& program, const Operation& operation, cuda::DeviceCalls& device,
           cuda::StreamHandle stream)
      : program_(program), operation_(operation), device_(device), stream_(stream) {}
  ~OnDevice() {
    for (const auto& [buffer, memory] : memory_) device_.release(memory, stream_);
    if (room_) device_.release(room_, stream_);
  }
  OnDevice(const OnDevice&) = delete;

  // What it leaves, by buffer.
  std::map<Index, Bytes> left(bool reads_steps) {
    cuda::KernelCall call = call_of(operation_);
    const std::int64_t floats = std::max<std::int64_t>(device_.room_for(call), 4);
    if (!room_) room_ = device_.allocate(floats * 4, stream_);
    call.room = static_cast<float*>(room_);
    for (cuda::KernelCall& part : call.parts) part.room = call.room;
    call.reads_steps = reads_steps;
    for (const auto& [buffer, memory] : memory_) {
      const Bytes numbers = numbers_of(program_.buffers[buffer], buffer);
      copy({numbers.data(), memory, program_.buffers[buffer].bytes, MemoryKind::kPageable,
            MemoryKind::kDevice});
    }
    device_.prepare(call);
    device_.launch(call, stream_);
    std::map<Index, Bytes> all;
    for (const Index buffer : operation_.writes) {
      Bytes& bytes = all[buffer];
      bytes.resize(static_cast<std::size_t>(program_.buffers[buffer].bytes));
      copy({memory_.at(buffer), bytes.data(), program_.buffers[buffer].bytes, MemoryKind::kDevice,
            MemoryKind::kPageable});
    }
    return all;
  }

 private:
  void copy(const cuda::CopyCall& one) {
    device_.copy(one, stream_);
    device_.synchronise_stream(stream_);
  }
  cuda::Operand operand(Index index) {
    const program::Buffer& buffer = program_.buffers[index];
    void*& memory = memory_[index];
    if (!memory) memory = device_.allocate(std::max<std::int64_t>(buffer.bytes, 16), stream_);
    return {memory, buffer.elements(), buffer.type};
  }
  cuda::KernelCall call_of(const Operation& one) {
    cuda::KernelCall call;
    call.operation = &one;
    call.seed = 11;
    call.draws_from = 8;
    for (const Index i : one.reads) call.reads.push_back(operand(i));
    for (const Index i : one.writes) call.writes.push_back(operand(i));
    for (const Operation& part : one.parts) call.parts.push_back(call_of(part));
    return call;
  }

  const program::Program& program_;
  const Operation& operation_;
  cuda::DeviceCalls& device_;
  cuda::StreamHandle stream_;
  std::map<Index, void*> memory_;
  void* room_ = nullptr;
};

std::string words_of(const Operation& operation) {
  std::string words;
  for (const Operation& part : operation.parts)
    words += (words.empty() ? "" : ", ") + part.framework;
  return words;
}

std::size_t different(const Bytes& a, const Bytes& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
  return count;
}

}  // namespace

BothWays fused_both_ways(cuda::DeviceCalls& device, const program::Program& program) {
  const cuda::StreamHandle stream = device.make_stream(program::StreamKind::kNonBlocking, 0, 0);
  BothWays found;
  for (const Operation& operation : program.operations) {
    if (operation.parts.size() < 2) continue;
    OnDevice one(program, operation, device, stream);
    const auto read = one.left(true), compiled = one.left(false);
    ++found.operations;
    for (const auto& [buffer, bytes] : read)
      if (const std::size_t count = different(bytes, compiled.at(buffer)); count > 0)
        found.differing.push_back(fmt::format("{} of [{}]: {} of {} bytes",
                                              program.buffers[buffer].name, words_of(operation),
                                              count, bytes.size()));
  }
  device.synchronise();
  return found;
}

}  // namespace trainscope::test
