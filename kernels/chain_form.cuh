// A chain's form (actions, types, registers, kinds of reads, counts), as two kinds of kernels have
// it.
//
// One reads the form of the chain that it is given as it runs. The other was compiled for a form:
// its loops end where the chain's do, and its registers are the thread's own. Of the chain that is
// given to it, only addresses, sizes, draws and the pool are read. Both are the same source: what a
// form is asked is a number for the one, and for the other a type that tells the number.
#pragma once

#include "kernels/chain.h"
#include "kernels/device.h"

namespace trainscope::kernels {

// A value that is known when the code is compiled: its type tells it.
template <auto kValue>
struct Known {
  static constexpr auto kIs = kValue;
  constexpr __device__ operator decltype(kValue)() const { return kValue; }
};

template <typename T>
inline constexpr bool kIsKnown = false;
template <auto kValue>
inline constexpr bool kIsKnown<Known<kValue>> = true;

// What both kinds of kernels ask of a form. Here k is a number, and so are the answers.
struct ReadSteps {
  static constexpr bool kAreKnown = false;
  const Chain& chain;

  __device__ int reads() const { return chain.read_count; }
  __device__ NumberType read_type(int k) const { return chain.reads[k].type; }
  __device__ ChainFrom read_from(int k) const { return chain.reads[k].from; }
  __device__ bool in_eights(int k) const { return chain.reads[k].in_eights; }
  __device__ int read_place(int k) const { return chain.reads[k].place; }
  __device__ int writes() const { return chain.write_count; }
  __device__ NumberType write_type(int k) const { return chain.writes[k].type; }
  __device__ int write_place(int k) const { return chain.writes[k].place; }
  __device__ int steps() const { return chain.step_count; }
  __device__ ChainAction action(int k) const { return chain.steps[k].action; }
  __device__ NumberType step_type(int k) const { return chain.steps[k].type; }
  __device__ const ChainStep& step(int k) const { return chain.steps[k]; }
};

// Here k is Known, and so are the answers.
template <const Chain& kForm>
struct KnownSteps {
  static constexpr bool kAreKnown = true;
  const Chain& chain;

  static constexpr __device__ auto reads() { return Known<kForm.read_count>{}; }
  template <int k>
  static constexpr __device__ auto read_type(Known<k>) {
    return Known<kForm.reads[k].type>{};
  }
  template <int k>
  static constexpr __device__ auto read_from(Known<k>) {
    return Known<kForm.reads[k].from>{};
  }
  template <int k>
  static constexpr __device__ auto in_eights(Known<k>) {
    return Known<kForm.reads[k].in_eights>{};
  }
  template <int k>
  static constexpr __device__ int read_place(Known<k>) {
    return kForm.reads[k].place;
  }
  static constexpr __device__ auto writes() { return Known<kForm.write_count>{}; }
  template <int k>
  static constexpr __device__ auto write_type(Known<k>) {
    return Known<kForm.writes[k].type>{};
  }
  template <int k>
  static constexpr __device__ int write_place(Known<k>) {
    return kForm.writes[k].place;
  }
  static constexpr __device__ auto steps() { return Known<kForm.step_count>{}; }
  template <int k>
  static constexpr __device__ auto action(Known<k>) {
    return Known<kForm.steps[k].action>{};
  }
  template <int k>
  static constexpr __device__ auto step_type(Known<k>) {
    return Known<kForm.steps[k].type>{};
  }
  template <int k>
  static constexpr __device__ const ChainStep& step(Known<k>) {
    return kForm.steps[k];
  }
};

// Calls body(k) for each k from `begin` to before `end`: with each Known where they are.
template <typename Begin, typename End, typename Body>
__device__ __forceinline__ void for_each(Begin begin, End end, const Body& body) {
  if constexpr (!kIsKnown<End>) {
    TRAINSCOPE_ONE_AT_A_TIME
    for (int k = begin; k < end; ++k) body(k);
  } else if constexpr (Begin::kIs < End::kIs) {
    body(begin);
    for_each(Known<Begin::kIs + 1>{}, end, body);
  }
}

// body(T()) with the type.
template <typename Type, typename Body>
__device__ __forceinline__ auto with_number(Type type, const Body& body) {
  if constexpr (!kIsKnown<Type>) {
    if (type == NumberType::kFp16) return body(Half());
    if (type == NumberType::kBf16) return body(Bfloat16());
    return body(float());
  } else if constexpr (Type::kIs == NumberType::kFp16) {
    return body(Half());
  } else if constexpr (Type::kIs == NumberType::kBf16) {
    return body(Bfloat16());
  } else {
    return body(float());
  }
}

}  // namespace trainscope::kernels
