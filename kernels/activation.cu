#include "kernels/activation.h"

#include "kernels/activation.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

template <typename Act>
struct Forward {
  __device__ float operator()(std::size_t, float x) const { return Act{}.value(x); }
};

template <typename Act>
struct Backward {
  __device__ float operator()(std::size_t, float x, float dy) const { return Act{}.slope(x, dy); }
};

template <typename Act>
struct BiasForward {
  __device__ float operator()(float bias, float x) const { return Act{}.value(x + bias); }
};

template <typename Act>
struct BiasBackward {
  __device__ float operator()(float bias, float x, float dy) const {
    return Act{}.slope(x + bias, dy);
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
    case Activation::kTanh:
      return body(Tanh{});
    case Activation::kSilu:
      return body(Silu{});
  }
}

}  // namespace

template <typename T>
void bias_activation_forward(Stream stream, Activation activation, const Matrix& shape, const T* x,
                             const T* bias, T* y) {
  with_activation(activation, [&](auto act) {
    using Act = decltype(act);
    constexpr const char* kName = "bias_activation_forward";
    if (bias == nullptr) return map(kName, stream, Forward<Act>{}, shape.size(), y, x);
    map_repeated(kName, stream, BiasForward<Act>{}, shape, bias, y, x);
  });
}

template <typename T>
void bias_activation_backward(Stream stream, Activation activation, const Matrix& shape, const T* x,
                              const T* bias, const T* dy, T* dx) {
  with_activation(activation, [&](auto act) {
    using Act = decltype(act);
    constexpr const char* kName = "bias_activation_backward";
    if (bias == nullptr) return map(kName, stream, Backward<Act>{}, shape.size(), dx, x, dy);
    map_repeated(kName, stream, BiasBackward<Act>{}, shape, bias, dx, x, dy);
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
