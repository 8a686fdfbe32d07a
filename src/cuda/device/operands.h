// The operands of a call as its kernels want them: where a buffer has another type than the kernel
// reads or writes, a copy in the call's room takes its place.
#pragma once

#include <type_traits>
#include <vector>

#include "cuda/device_calls.h"
#include "kernels/cast.h"
#include "kernels/elementwise.h"
#include "kernels/tensors.h"

namespace trainscope::cuda {

template <typename T>
constexpr program::ElementType element_of() {
  if constexpr (std::is_same_v<T, kernels::Half>) return program::ElementType::kFp16;
  if constexpr (std::is_same_v<T, kernels::Bfloat16>) return program::ElementType::kBf16;
  return program::ElementType::kFp32;
}

// TF32 lies in memory as FP32.
inline program::ElementType stored(program::ElementType type) {
  return type == program::ElementType::kTf32 ? program::ElementType::kFp32 : type;
}

// Calls body(T()) with the type that `type` is stored as.
template <typename Body>
void with_type(program::ElementType type, const Body& body) {
  switch (stored(type)) {
    case program::ElementType::kFp16:
      return body(kernels::Half());
    case program::ElementType::kBf16:
      return body(kernels::Bfloat16());
    default:
      return body(float());
  }
}

// Calls body(T()) with each type that an operand may be stored as.
template <typename Body>
void for_each_type(const Body& body) {
  body(float());
  body(kernels::Half());
  body(kernels::Bfloat16());
}

template <typename To>
void cast_to(kernels::Stream stream, const Operand& from, To* to) {
  with_type(from.type, [&](auto type) {
    using From = decltype(type);
    const auto* values = static_cast<const From*>(from.memory);
    const auto count = static_cast<std::size_t>(from.elements);
    if constexpr (std::is_same_v<From, To>) {
      kernels::scale(stream, values, 1.0F, to, count);
    } else {
      kernels::cast(stream, values, to, count);
    }
  });
}

class Operands {
 public:
  Operands(const KernelCall& call, kernels::Stream stream)
      : call_(call), stream_(stream), free_(call.room) {}

  std::size_t reads() const { return call_.reads.size(); }
  std::size_t writes() const { return call_.writes.size(); }
  const Operand& read(std::size_t i) const { return call_.reads[i]; }
  const Operand& write(std::size_t i) const { return call_.writes[i]; }
  std::size_t size_of_read(std::size_t i) const { return size(call_.reads[i]); }
  std::size_t size_of_write(std::size_t i) const { return size(call_.writes[i]); }

  template <typename T>
  const T* in(std::size_t i) {
    const Operand& from = call_.reads[i];
    if (stored(from.type) == element_of<T>()) return static_cast<const T*>(from.memory);
    T* copy = room<T>(size(from));
    cast_to(stream_, from, copy);
    return copy;
  }
  const std::int64_t* whole(std::size_t i) const {
    return static_cast<const std::int64_t*>(call_.reads[i].memory);
  }
  // Written back by finish() where the buffer has another type.
  template <typename T>
  T* out(std::size_t i) {
    const Operand& to = call_.writes[i];
    if (stored(to.type) == element_of<T>()) return static_cast<T*>(to.memory);
    T* copy = room<T>(size(to));
    late_.push_back({{copy, to.elements, element_of<T>()}, to});
    return copy;
  }
  // The same of a buffer that is read too.
  template <typename T>
  T* in_out(std::size_t i) {
    T* values = out<T>(i);
    if (static_cast<void*>(values) != call_.writes[i].memory)
      cast_to(stream_, call_.writes[i], values);
    return values;
  }
  // Those of the first `count` buffers written that are stored as T, as they lie.
  template <typename T>
  std::vector<kernels::Tensor<T>> written(std::size_t count) const {
    std::vector<kernels::Tensor<T>> tensors;
    for (std::size_t i = 0; i < count; ++i)
      if (stored(call_.writes[i].type) == element_of<T>())
        tensors.push_back({static_cast<T*>(call_.writes[i].memory), size_of_write(i)});
    return tensors;
  }
  template <typename T = float>
  T* room(std::size_t count) {
    constexpr std::size_t kAligned = 4;  // floats: 16 bytes
    T* begin = reinterpret_cast<T*>(free_);
    const std::size_t floats = (count * sizeof(T) + sizeof(float) - 1) / sizeof(float);
    free_ += (floats + kAligned - 1) / kAligned * kAligned;
    return begin;
  }

  void finish() {
    for (const auto& [copy, to] : late_) write_back(copy, to);
    late_.clear();
  }

 private:
  struct Late {
    Operand copy;
    Operand to;
  };
  static std::size_t size(const Operand& operand) {
    return static_cast<std::size_t>(operand.elements);
  }
  void write_back(const Operand& copy, const Operand& to) {
    with_type(to.type, [&](auto type) {
      using To = decltype(type);
      cast_to(stream_, copy, static_cast<To*>(to.memory));
    });
  }

  const KernelCall& call_;
  kernels::Stream stream_;
  float* free_;
  std::vector<Late> late_;
};

}  // namespace trainscope::cuda
