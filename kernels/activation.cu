#include "kernels/activation.h"

#include "kernels/activation.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

// The values of a row's columns; none where there is no bias.
template <typename T>
struct Bias {
  const T* values;
  std::size_t columns;
  __device__ float operator()(std::size_t i) const {
    return values == nullptr ? 0.0F : widen(values[i % columns]);
  }
};

template <typename Act, typename T>
struct Forward {
  Bias<T> bias;
  __device__ float operator()(std::size_t i, float x) const { return Act{}.value(x + bias(i)); }
};

template <typename Act, typename T>
struct Backward {
  Bias<T> bias;
  __device__ float operator()(std::size_t i, float x, float dy) const {
    return Act{}.slope(x + bias(i), dy);
  }
};

template <typename Body>
void with_activation(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::kNone:
      return body(None{});
    case Activation::kRelu:
      return body(Relu{});
    case Activation::kGeluErf:
      return body(GeluErf{});
    case Activation::kGeluTanh:
      return body(GeluTanh{});
  }
}

}  // namespace

template <typename T>
void bias_activation_forward(Stream stream, Activation activation, const Matrix& shape, const T* x,
                             const T* bias, T* y) {
  with_activation(activation, [&](auto act) {
    const Forward<decltype(act), T> forward{{bias, shape.columns}};
    map("bias_activation_forward", stream, forward, shape.size(), y, x);
  });
}

template <typename T>
void bias_activation_backward(Stream stream, Activation activation, const Matrix& shape, const T* x,
                              const T* bias, const T* dy, T* dx) {
  with_activation(activation, [&](auto act) {
    const Backward<decltype(act), T> backward{{bias, shape.columns}};
    map("bias_activation_backward", stream, backward, shape.size(), dx, x, dy);
  });
}

template void bias_activation_forward(Stream, Activation, const Matrix&, const float*, const float*,
                                      float*);
template void bias_activation_forward(Stream, Activation, const Matrix&, const Half*, const Half*,
                                      Half*);
template void bias_activation_forward(Stream, Activation, const Matrix&, const Bfloat16*,
                                      const Bfloat16*, Bfloat16*);
template void bias_activation_backward(Stream, Activation, const Matrix&, const float*,
                                       const float*, const float*, float*);
template void bias_activation_backward(Stream, Activation, const Matrix&, const Half*, const Half*,
                                       const Half*, Half*);
template void bias_activation_backward(Stream, Activation, const Matrix&, const Bfloat16*,
                                       const Bfloat16*, const Bfloat16*, Bfloat16*);

}  // namespace trainscope::kernels
