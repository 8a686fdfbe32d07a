#include "host/conv2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "host/blas.h"

namespace trainscope::host {
namespace {

// The sizes that all parts below need, for one image and one group.
struct Geometry {
  explicit Geometry(const Conv2d& conv)
      : input(conv.input),
        output(conv.output()),
        vertical(conv.vertical),
        horizontal(conv.horizontal),
        channels(conv.input.channels / conv.groups),
        outputs(conv.outputs / conv.groups),
        terms(channels * conv.vertical.size * conv.horizontal.size),
        places(output.pixels()),
        last(conv.input.layout == ImageLayout::kChannelsLast) {}

  ImageShape input;
  ImageShape output;
  Window vertical;
  Window horizontal;
  std::size_t channels;
  std::size_t outputs;
  std::size_t terms;   // of one output: a column of the matrix of windows
  std::size_t places;  // of the window
  bool last;           // channels are innermost

  // The image itself is the matrix of windows.
  bool is_pointwise() const {
    const auto plain = [](const Window& w) {
      return w.size == 1 && w.stride == 1 && w.padding == 0;
    };
    return plain(vertical) && plain(horizontal);
  }
  // From one row of the matrix of windows to the next: [terms, places], or [places, terms] where
  // channels are innermost.
  std::size_t row_stride() const {
    if (!last) return places;
    return is_pointwise() ? input.channels : terms;
  }
};

// A row of window places whose element lies in the image: `count` places and their pixels, which
// lie the horizontal stride apart.
struct Run {
  std::size_t element;
  std::size_t place;
  std::size_t pixel;
  std::size_t count;
};

// Calls body(run) for all that lies in the image.
template <typename Body>
void for_each_run(const Geometry& g, const Body& body) {
  for (std::size_t u = 0; u < g.vertical.size; ++u) {
    const Window::Places rows = g.vertical.places_inside(u, g.input.height);
    for (std::size_t v = 0; v < g.horizontal.size; ++v) {
      const auto [begin, end] = g.horizontal.places_inside(v, g.input.width);
      if (begin >= end) continue;
      for (std::size_t i = rows.begin; i < rows.end; ++i) {
        const std::size_t row = g.vertical.source(i, u) * g.input.width;
        body(Run{u * g.horizontal.size + v, i * g.output.width + begin,
                 row + g.horizontal.source(begin, v), end - begin});
      }
    }
  }
}

// Where channel 0 of a window's element stands in the matrix, and the step to the next channel.
struct Cell {
  std::size_t first;
  std::size_t step;
};

Cell cell_of(const Geometry& g, std::size_t element, std::size_t place) {
  const std::size_t elements = g.vertical.size * g.horizontal.size;
  if (g.last) return {place * g.terms + element * g.channels, 1};
  return {element * g.places + place, elements * g.places};
}

void lay_out(const Geometry& g, const float* image, Results windows) {
  const std::size_t step = g.horizontal.stride;
  std::fill(windows.begin(), windows.end(), 0.0F);
  if (g.last) {
    for_each_run(g, [&](const Run& run) {
      for (std::size_t j = 0; j < run.count; ++j) {
        std::copy_n(image + (run.pixel + j * step) * g.input.channels, g.channels,
                    &windows[cell_of(g, run.element, run.place + j).first]);
      }
    });
    return;
  }
  for (std::size_t c = 0; c < g.channels; ++c) {
    const float* plane = image + c * g.input.pixels();
    for_each_run(g, [&](const Run& run) {
      const Cell cell = cell_of(g, run.element, run.place);
      float* to = &windows[cell.first + c * cell.step];
      const float* from = plane + run.pixel;
      if (step == 1) {
        std::copy_n(from, run.count, to);
        return;
      }
      for (std::size_t j = 0; j < run.count; ++j) to[j] = from[j * step];
    });
  }
}

// The way back: adds each window's gradients to the pixels that they were taken from.
void add_back(const Geometry& g, Values windows, float* image) {
  const std::size_t step = g.horizontal.stride;
  if (g.last) {
    for_each_run(g, [&](const Run& run) {
      for (std::size_t j = 0; j < run.count; ++j) {
        const float* cell = &windows[cell_of(g, run.element, run.place + j).first];
        float* channel = image + (run.pixel + j * step) * g.input.channels;
        for (std::size_t c = 0; c < g.channels; ++c) channel[c] += cell[c];
      }
    });
    return;
  }
  for (std::size_t c = 0; c < g.channels; ++c) {
    float* plane = image + c * g.input.pixels();
    for_each_run(g, [&](const Run& run) {
      const Cell cell = cell_of(g, run.element, run.place);
      const float* from = &windows[cell.first + c * cell.step];
      float* to = plane + run.pixel;
      for (std::size_t j = 0; j < run.count; ++j) to[j * step] += from[j];
    });
  }
}

// y (or dy) of one image and group, as a matrix [outputs, places] or [places, outputs].
std::size_t output_stride(const Geometry& g) {
  return g.last ? g.output.channels : g.places;
}

void multiply_forward(const Geometry& g, const float* windows, const float* w, float* y,
                      Into into) {
  const Product product{y, output_stride(g), into};
  if (g.last) {
    gemm({g.places, g.outputs, g.terms}, {windows, g.row_stride()}, {w, g.terms, true}, product);
  } else {
    gemm({g.outputs, g.places, g.terms}, {w, g.terms}, {windows, g.row_stride()}, product);
  }
}

void multiply_weights(const Geometry& g, const float* windows, const float* dy, float* dw,
                      Into into) {
  const GemmShape shape{g.outputs, g.terms, g.places};
  gemm(shape, {dy, output_stride(g), g.last}, {windows, g.row_stride(), !g.last},
       {dw, g.terms, into});
}

void multiply_windows(const Geometry& g, const float* dy, const float* w, float* dwindows) {
  const Product product{dwindows, g.row_stride()};
  if (g.last) {
    gemm({g.places, g.terms, g.outputs}, {dy, output_stride(g)}, {w, g.terms}, product);
  } else {
    gemm({g.terms, g.places, g.outputs}, {w, g.terms, true}, {dy, output_stride(g)}, product);
  }
}

void preset_bias(const ImageShape& shape, Values bias, Results y) {
  const bool last = shape.layout == ImageLayout::kChannelsLast;
  const std::size_t outer = shape.batch * (last ? shape.pixels() : shape.channels);
  const std::size_t inner = last ? shape.channels : shape.pixels();
  for (std::size_t i = 0; i < outer; ++i) {
    float* row = &y[i * inner];
    if (last) {
      std::copy(bias.begin(), bias.end(), row);
    } else {
      std::fill_n(row, inner, bias[i % shape.channels]);
    }
  }
}

void bias_gradient(const ImageShape& shape, Values dy, Results db, Into into) {
  for (std::size_t c = 0; c < shape.channels; ++c) {
    double sum = into == Into::kAdd ? db[c] : 0.0;
    for (std::size_t n = 0; n < shape.batch; ++n) {
      const float* values = &dy[n * shape.image_size() + c * shape.channel_stride()];
      for (std::size_t i = 0; i < shape.pixels(); ++i) sum += values[i * shape.pixel_stride()];
    }
    db[c] = static_cast<float>(sum);
  }
}

// Calls body(x, y, w) with the offsets of each image's and group's part of input, output and
// weights.
template <typename Body>
void for_each_group(const Conv2d& conv, const Geometry& g, const Body& body) {
  for (std::size_t n = 0; n < conv.input.batch; ++n) {
    for (std::size_t group = 0; group < conv.groups; ++group) {
      body(n * g.input.image_size() + group * g.channels * g.input.channel_stride(),
           n * g.output.image_size() + group * g.outputs * g.output.channel_stride(),
           group * g.outputs * g.terms);
    }
  }
}

}  // namespace

ImageShape Conv2d::output() const {
  return {input.batch, outputs, vertical.places(input.height), horizontal.places(input.width),
          input.layout};
}

std::size_t Conv2d::weights() const {
  return outputs * (input.channels / groups) * vertical.size * horizontal.size;
}

std::size_t Conv2d::workspace() const {
  const Geometry g(*this);
  return g.is_pointwise() ? 0 : g.terms * g.places;
}

void require_fit(const Conv2d& conv) {
  if (conv.groups == 0 || conv.input.channels % conv.groups != 0 ||
      conv.outputs % conv.groups != 0) {
    throw InputError(fmt::format("{} groups do not divide a convolution of {} channels into {}",
                                 conv.groups, conv.input.channels, conv.outputs));
  }
  if (conv.output().pixels() == 0) {
    throw InputError(fmt::format("a kernel of {}x{} does not fit an image of {}x{}",
                                 conv.vertical.extent(), conv.horizontal.extent(),
                                 conv.input.height, conv.input.width));
  }
}

void conv2d_forward(const Conv2d& conv, Values x, Values w, Values bias, Results y,
                    Results workspace) {
  require_fit(conv);
  const Geometry g(conv);
  assert(x.size() == g.input.size() && y.size() == g.output.size() && w.size() == conv.weights());
  assert(workspace.size() >= conv.workspace() && (bias.empty() || bias.size() == conv.outputs));
  if (!bias.empty()) preset_bias(g.output, bias, y);
  const Into into = bias.empty() ? Into::kReplace : Into::kAdd;
  const Results windows = workspace.first(conv.workspace());
  for_each_group(conv, g, [&](std::size_t in, std::size_t out, std::size_t weights) {
    if (!g.is_pointwise()) lay_out(g, &x[in], windows);
    multiply_forward(g, g.is_pointwise() ? &x[in] : windows.data(), &w[weights], &y[out], into);
  });
}

void conv2d_backward(const Conv2d& conv, Values x, Values w, Values dy,
                     const Conv2dGradients& gradients, Results workspace, Into into) {
  require_fit(conv);
  const Geometry g(conv);
  assert(dy.size() == g.output.size() && gradients.dw.size() == conv.weights());
  assert(workspace.size() >= conv.workspace());
  assert(gradients.dx.empty() || gradients.dx.size() == g.input.size());
  const Results dw = gradients.dw;
  const Results dx = gradients.dx;
  const Results windows = workspace.first(conv.workspace());
  if (into == Into::kReplace) std::fill(dw.begin(), dw.end(), 0.0F);
  if (!gradients.db.empty()) bias_gradient(g.output, dy, gradients.db, into);
  std::fill(dx.begin(), dx.end(), 0.0F);
  for_each_group(conv, g, [&](std::size_t in, std::size_t out, std::size_t weights) {
    if (!g.is_pointwise()) lay_out(g, &x[in], windows);
    multiply_weights(g, g.is_pointwise() ? &x[in] : windows.data(), &dy[out], &dw[weights],
                     Into::kAdd);
    if (dx.empty()) return;
    multiply_windows(g, &dy[out], &w[weights], g.is_pointwise() ? &dx[in] : windows.data());
    if (!g.is_pointwise()) add_back(g, windows, &dx[in]);
  });
}

}  // namespace trainscope::host
