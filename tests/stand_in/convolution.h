// What a 2D convolution computes, value by value: forward, and its two gradients.
#pragma once

#include <library_types.h>

#include <cstddef>
#include <string>

#include "stand_in/numbers.h"

namespace trainscope::stand_in {

// Of images, or of filters: their outputs are the batch, their group's inputs the channels.
struct Images {
  bool is_set = false;
  bool channels_last = false;
  cudaDataType type = CUDA_R_32F;
  int batch = 0;
  int channels = 0;
  int height = 0;
  int width = 0;

  std::size_t size() const {
    return static_cast<std::size_t>(batch) * static_cast<std::size_t>(channels) *
           static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  }
  std::size_t bytes() const { return size() * bytes_of(type); }
  std::size_t at(int n, int c, int y, int x) const {
    const auto index = [](int outer, int extent, int inner) { return outer * extent + inner; };
    return static_cast<std::size_t>(channels_last
                                        ? index(index(index(n, height, y), width, x), channels, c)
                                        : index(index(index(n, channels, c), height, y), width, x));
  }
};

struct Way {  // in one direction
  int padding = 0;
  int stride = 1;
  int dilation = 1;

  int places(int extent, int size) const {
    return (extent + 2 * padding - dilation * (size - 1) - 1) / stride + 1;
  }
  // Where the filter's value `tap` meets the image for this place of the output; may lie outside.
  int from(int place, int tap) const { return place * stride - padding + tap * dilation; }
};

struct Windows {
  bool is_set = false;
  Way vertical = {};
  Way horizontal = {};
  int groups = 1;
};

struct Shape {
  Images x, w, y;
  Windows windows;
};

// What does not fit; empty: all does.
std::string misfit(const Shape& shape);

enum class Part { kForward, kInputGradient, kWeightGradient };

// Of one call, kept until it is carried out.
struct Convolution {
  Shape shape;
  Part part;
  const void* a;         // x, w, x
  const void* b;         // w, dy, dy
  void* to;              // y, dx, dw
  bool in_tf32 = false;  // FP32 values are rounded before they are multiplied

  const Images& lies_a() const { return part == Part::kInputGradient ? shape.w : shape.x; }
  const Images& lies_b() const { return part == Part::kForward ? shape.w : shape.y; }
  const Images& lies_to() const {
    return part == Part::kForward ? shape.y : part == Part::kInputGradient ? shape.x : shape.w;
  }
  void run() const;
};

// To each channel of `images` a value of its own is added.
void add_to_channels(void* images, const Images& lies, const void* values);

}  // namespace trainscope::stand_in
