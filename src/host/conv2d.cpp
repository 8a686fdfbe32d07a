#include "host/conv2d.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/error.h"
#include "host/blas.h"
#include "host/channels.h"
#include "host/elementwise.h"

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
  // An element of the window meets the pixels in their order, shifted: the rows of its places lie
  // side by side in the image as in the matrix.
  bool is_shift() const {
    return !last && output.width == input.width && horizontal.stride == 1 && vertical.stride == 1;
  }
  // From one row of the matrix of windows to the next: [terms, places], or [places, terms] where
  // channels are innermost.
  std::size_t row_stride() const {
    if (!last) return places;
    return is_pointwise() ? input.channels : terms;
  }
};

// A row of window places whose element lies in the image: `count` places and their pixels, which
// lie the horizontal stride apart. Where an element is a shift, `rows` such rows in one, with `gap`
// places between them whose element lies in the padding.
struct Run {
  std::size_t element;
  std::size_t place;
  std::size_t pixel;
  std::size_t count;
  std::size_t rows = 1;
  std::size_t gap = 0;
};

// Calls body(run) for all that lies in the image.
template <typename Body>
void for_each_run(const Geometry& g, const Body& body) {
  for (std::size_t u = 0; u < g.vertical.size; ++u) {
    const Window::Places rows = g.vertical.places_inside(u, g.input.height);
    for (std::size_t v = 0; v < g.horizontal.size; ++v) {
      const auto [begin, end] = g.horizontal.places_inside(v, g.input.width);
      if (begin >= end || rows.begin >= rows.end) continue;
      if (g.is_shift()) {
        const std::size_t first = g.vertical.source(rows.begin, u) * g.input.width;
        const std::size_t gap = g.output.width - (end - begin);
        const std::size_t count = (rows.end - rows.begin) * g.output.width - gap;
        body(Run{u * g.horizontal.size + v, rows.begin * g.output.width + begin,
                 first + g.horizontal.source(begin, v), count, rows.end - rows.begin, gap});
        continue;
      }
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

// The places of a run between its rows become 0.
void clear_gaps(const Geometry& g, const Run& run, float* places) {
  for (std::size_t row = 1; row < run.rows && run.gap > 0; ++row) {
    std::fill_n(places + row * g.output.width - run.gap, run.gap, 0.0F);
  }
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
        clear_gaps(g, run, to);
        return;
      }
      for (std::size_t j = 0; j < run.count; ++j) to[j] = from[j * step];
    });
  }
}

// The way back: adds each window's gradients to the pixels that they were taken from. Those of the
// padding become 0.
void add_back(const Geometry& g, Results windows, float* image) {
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
      float* from = &windows[cell.first + c * cell.step];
      float* to = plane + run.pixel;
      clear_gaps(g, run, from);
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

void preset_bias(const ImageShape& shape, Values bias, Results y, const Workers& workers) {
  const bool last = shape.layout == ImageLayout::kChannelsLast;
  const std::size_t outer = shape.batch * (last ? shape.pixels() : shape.channels);
  const std::size_t inner = last ? shape.channels : shape.pixels();
  workers.for_ranges(outer, grain_of(inner), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      float* row = &y[i * inner];
      if (last) {
        std::copy(bias.begin(), bias.end(), row);
      } else {
        std::fill_n(row, inner, bias[i % shape.channels]);
      }
    }
  });
}

void bias_gradient(const ImageShape& shape, Values dy, Results db, Into into,
                   const Workers& workers) {
  const auto sum_block = [&](const ChannelBlock& block) {
    const ChannelTotals totals =
        channel_totals(shape, block, [&](std::size_t i, std::size_t) { return dy[i]; });
    for (std::size_t c = block.begin; c < block.end; ++c) {
      const double before = into == Into::kAdd ? db[c] : 0.0;
      db[c] = static_cast<float>(before + totals[c - block.begin]);
    }
  };
  for_each_block(shape, sum_block, workers);
}

// Offsets of one image's and group's part of input, output and weights.
struct Part {
  std::size_t in;
  std::size_t out;
  std::size_t weights;
};

std::size_t shares_of(const Conv2d& conv) {
  return std::min(kShares, conv.input.batch);
}

std::size_t windows_of(const Geometry& g) {
  return g.is_pointwise() ? 0 : g.terms * g.places;
}

// Calls body(share, part) for each image and group; a share's images follow one another.
template <typename Body>
void for_each_part(const Conv2d& conv, const Geometry& g, const Workers& workers,
                   const Body& body) {
  const std::size_t shares = shares_of(conv);
  workers.for_each(shares, [&](std::size_t share) {
    const std::size_t end = (share + 1) * conv.input.batch / shares;
    for (std::size_t n = share * conv.input.batch / shares; n < end; ++n) {
      for (std::size_t group = 0; group < conv.groups; ++group) {
        body(share, Part{n * g.input.image_size() + group * g.channels * g.input.channel_stride(),
                         n * g.output.image_size() + group * g.outputs * g.output.channel_stride(),
                         group * g.outputs * g.terms});
      }
    }
  });
}

// The first share's sum is dw itself, those of the others stand in the workspace and are added in
// their order.
void weight_gradient(const Conv2d& conv, const Geometry& g, Values x, Values dy, Results dw,
                     Results workspace, Into into, const Workers& workers) {
  float* windows = workspace.data();
  float* others = windows + shares_of(conv) * windows_of(g);
  if (into == Into::kReplace) std::fill(dw.begin(), dw.end(), 0.0F);
  std::fill_n(others, (std::max<std::size_t>(shares_of(conv), 1) - 1) * dw.size(), 0.0F);
  for_each_part(conv, g, workers, [&](std::size_t share, const Part& part) {
    const float* matrix = &x[part.in];
    if (!g.is_pointwise()) {
      const Results room(windows + share * windows_of(g), windows_of(g));
      lay_out(g, &x[part.in], room);
      matrix = room.data();
    }
    float* sum = share == 0 ? dw.data() : others + (share - 1) * dw.size();
    multiply_weights(g, matrix, &dy[part.out], sum + part.weights, Into::kAdd);
  });
  for (std::size_t share = 1; share < shares_of(conv); ++share) {
    add(dw, Values(others + (share - 1) * dw.size(), dw.size()), dw, workers);
  }
}

void input_gradient(const Conv2d& conv, const Geometry& g, Values w, Values dy, Results dx,
                    Results workspace, const Workers& workers) {
  fill(dx, 0, workers);
  for_each_part(conv, g, workers, [&](std::size_t share, const Part& part) {
    if (g.is_pointwise()) {
      multiply_windows(g, &dy[part.out], &w[part.weights], &dx[part.in]);
      return;
    }
    const Results room = workspace.subspan(share * windows_of(g), windows_of(g));
    multiply_windows(g, &dy[part.out], &w[part.weights], room.data());
    add_back(g, room, &dx[part.in]);
  });
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
  const std::size_t shares = shares_of(*this);
  return shares == 0 ? 0 : shares * windows_of(Geometry(*this)) + (shares - 1) * weights();
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
                    Results workspace, const Workers& workers) {
  require_fit(conv);
  const Geometry g(conv);
  assert(x.size() == g.input.size() && y.size() == g.output.size() && w.size() == conv.weights());
  assert(workspace.size() >= conv.workspace() && (bias.empty() || bias.size() == conv.outputs));
  if (!bias.empty()) preset_bias(g.output, bias, y, workers);
  const Into into = bias.empty() ? Into::kReplace : Into::kAdd;
  for_each_part(conv, g, workers, [&](std::size_t share, const Part& part) {
    const float* matrix = &x[part.in];
    if (!g.is_pointwise()) {
      const Results room = workspace.subspan(share * windows_of(g), windows_of(g));
      lay_out(g, &x[part.in], room);
      matrix = room.data();
    }
    multiply_forward(g, matrix, &w[part.weights], &y[part.out], into);
  });
}

void conv2d_backward(const Conv2d& conv, Values x, Values w, Values dy,
                     const Conv2dGradients& gradients, Results workspace, Into into,
                     const Workers& workers) {
  require_fit(conv);
  const Geometry g(conv);
  assert(dy.size() == g.output.size() && workspace.size() >= conv.workspace());
  if (!gradients.dw.empty()) {
    assert(x.size() == g.input.size() && gradients.dw.size() == conv.weights());
    weight_gradient(conv, g, x, dy, gradients.dw, workspace, into, workers);
  }
  if (!gradients.db.empty()) bias_gradient(g.output, dy, gradients.db, into, workers);
  if (!gradients.dx.empty()) {
    assert(w.size() == conv.weights() && gradients.dx.size() == g.input.size());
    input_gradient(conv, g, w, dy, gradients.dx, workspace, workers);
  }
}

}  // namespace trainscope::host
