#include "stand_in/convolution.h"

#include "stand_in/options.h"

namespace trainscope::stand_in {
namespace {

std::vector<float> read(const void* memory, const Images& lies, bool in_tf32) {
  std::vector<float> values(lies.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = number_at(memory, lies.type, i);
    if (in_tf32) values[i] = host::round_to_tf32(values[i]);
  }
  return values;
}

void write(void* memory, const Images& lies, const std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) put_number(memory, lies.type, i, values[i]);
}

struct Place {
  int n, c, y, x;
};

template <typename Body>
void for_each_place(const Images& images, const Body& body) {
  for (int n = 0; n < images.batch; ++n)
    for (int c = 0; c < images.channels; ++c)
      for (int y = 0; y < images.height; ++y)
        for (int x = 0; x < images.width; ++x) body(Place{n, c, y, x});
}

// Of all products that are summed in a place of y: what they read of x and w.
template <typename Body>
void for_each_product(const Shape& shape, const Place& to, const Body& body) {
  const auto& [x, w, y, windows] = shape;
  const int first_channel = to.c / (w.batch / windows.groups) * w.channels;
  for (int c = 0; c < w.channels; ++c)
    for (int i = 0; i < w.height; ++i)
      for (int j = 0; j < w.width; ++j) {
        const int row = windows.vertical.from(to.y, i), column = windows.horizontal.from(to.x, j);
        if (row < 0 || row >= x.height || column < 0 || column >= x.width) continue;
        body(x.at(to.n, first_channel + c, row, column), w.at(to.c, c, i, j));
      }
}

}  // namespace

std::string misfit(const Shape& shape) {
  const auto& [x, w, y, windows] = shape;
  if (!x.is_set || !w.is_set || !y.is_set || !windows.is_set) return "a descriptor was never set";
  if (x.type != w.type || x.type != y.type) return "types differ";
  if (x.channels_last != w.channels_last || x.channels_last != y.channels_last)
    return "orders in memory differ";
  if (x.channels != windows.groups * w.channels || w.batch % windows.groups != 0)
    return "the filter's channels are not a group's";
  if (y.batch != x.batch || y.channels != w.batch ||
      y.height != windows.vertical.places(x.height, w.height) ||
      y.width != windows.horizontal.places(x.width, w.width))
    return "the output is of another shape";
  return {};
}

void Convolution::run() const {
  const std::size_t filter = shape.w.size() / static_cast<std::size_t>(shape.w.batch);
  if (only_takes_time(shape.y.size() * filter)) return;
  const auto left = read(a, lies_a(), in_tf32), right = read(b, lies_b(), in_tf32);
  std::vector<float> sums(lies_to().size());
  for_each_place(shape.y, [&](const Place& place) {
    const std::size_t y = shape.y.at(place.n, place.c, place.y, place.x);
    for_each_product(shape, place, [&](std::size_t x, std::size_t w) {
      if (part == Part::kForward) sums[y] += left[x] * right[w];
      if (part == Part::kInputGradient) sums[x] += left[w] * right[y];
      if (part == Part::kWeightGradient) sums[w] += left[x] * right[y];
    });
  });
  write(to, lies_to(), sums);
}

void add_to_channels(void* images, const Images& lies, const void* values) {
  if (only_takes_time(lies.size())) return;
  for_each_place(lies, [&](const Place& place) {
    const std::size_t i = lies.at(place.n, place.c, place.y, place.x);
    const float added = number_at(values, lies.type, static_cast<std::size_t>(place.c));
    put_number(images, lies.type, i, number_at(images, lies.type, i) + added);
  });
}

}  // namespace trainscope::stand_in
