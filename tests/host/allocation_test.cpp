// A step that has its memory takes no more: counts the allocations of this program.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <vector>

#include "host/adam.h"
#include "host/attention.h"
#include "host/batch_norm.h"
#include "host/cast.h"
#include "host/clip_grad_norm.h"
#include "host/conv2d.h"
#include "host/cross_entropy.h"
#include "host/dropout.h"
#include "host/gelu.h"
#include "host/gradient.h"
#include "host/layer_norm.h"
#include "host/linear.h"
#include "host/max_pool.h"
#include "host/tiled_attention.h"

// Sanitizers bring an operator new of their own; GCC and Clang each say in their way that one is
// on.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRAINSCOPE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRAINSCOPE_SANITIZED 1
#endif
#endif

#ifndef TRAINSCOPE_SANITIZED

namespace {

std::atomic<long> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

using namespace trainscope::host;

namespace {

template <typename Step>
long allocations_of(const Step& step) {
  const long before = allocations;
  step();
  return allocations - before;
}

}  // namespace

TEST_CASE("no operation allocates memory") {
  const ImageShape image{2, 3, 8, 8, ImageLayout::kChannelsFirst};
  const Conv2d conv{image, 3, 1, {3, 1, 1, 1}, {3, 1, 1, 1}};
  const MaxPool pool{image, {2, 2, 0, 1}, {2, 2, 0, 1}};
  const AttentionShape heads = contiguous_attention(1, 2, 24, 8);
  const std::vector<float> x = normal_values(384, 1);
  const std::vector<float> w = normal_values(384, 2);
  std::vector<float> y(384);
  std::vector<float> dx(384);
  std::vector<float> dk(384);
  std::vector<float> dv(384);
  std::vector<float> moments(4 * 24);
  std::vector<float> room(1 << 15);
  std::vector<float> kept(1 << 12);
  std::vector<std::int32_t> chosen(96);
  const std::vector<std::int64_t> targets(16, 3);
  const Values in = x;
  const Values weights = w;
  const Results out = y;
  const Results m = moments;
  const auto step = [&] {
    const Values rows = in.first(16 * 24);
    linear_forward({16, 24, 4}, rows, weights.first(96), weights.first(4), out.first(64));
    linear_backward({16, 24, 4}, rows, weights.first(96), weights.first(64),
                    {dx, Results(dk).first(96), m.first(4)}, Into::kReplace);
    cross_entropy_forward({16, 24}, rows, targets, m.first(32));
    gelu_forward(Gelu::kTanh, in, out);
    layer_norm_forward({16, 24}, rows, weights.first(24), weights.first(24), out,
                       {m.first(16), m.subspan(16, 16)});
    apply_dropout({0.1F, 1, 2, 3}, in, out);
    cast(NumberFormat::kFloat16, in, out);
    conv2d_forward(conv, in, weights.first(81), weights.first(3), out, room);
    conv2d_backward(conv, in, weights.first(81), weights, {dx, Results(dk).first(81), m.first(3)},
                    room, Into::kAdd);
    max_pool_forward(pool, in, out.first(96), chosen);
    batch_norm_train(image, in, weights.first(3), weights.first(3), out,
                     {m.first(3), m.subspan(3, 3)}, {m.subspan(6, 3), m.subspan(9, 3)});
    attention_forward(heads, {in, weights, in}, out, Results(kept).first(heads.probabilities()));
    attention_backward(heads, {in, weights, in}, Values(kept).first(heads.probabilities()), weights,
                       {dx, dk, dv}, room);
    tiled_attention_forward(heads, {8, 8}, {in, weights, in}, out, Results(kept).first(48), room);
    tiled_attention_backward(heads, {8, 8}, {in, weights, in}, out, Values(kept).first(48), weights,
                             {dx, dk, dv}, room);
    const std::array<Results, 2> gradients{dx, dk};
    clip_grad_norm(gradients, 1);
    adam_step({}, 1, dx, out, {dk, dv});
  };
  step();
  CHECK(allocations_of(step) == 0);
  CHECK(allocations_of([&] { room.reserve(room.capacity() + 1); }) == 1);
}

#endif
