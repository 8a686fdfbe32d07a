#include "kernels/log_softmax.h"

#include "kernels/rows.cuh"

namespace trainscope::kernels {
namespace {

// A team for a row.
template <bool kWide>
__global__ void log_softmax_forward_kernel(Matrix shape, const float* x, float* y) {
  const Team<kWide> team;
  if (team.row() >= shape.rows) return;
  const float* row = x + team.row() * shape.columns;
  float* out = y + team.row() * shape.columns;
  const MaxAndSum of_row = max_and_sum(team, shape.columns, row);
  const float maximum = of_row.maximum, logarithm = logf(of_row.sum);
  const auto result = [&](std::size_t, float value) { return value - maximum - logarithm; };
  walk_row<float>(
      team, shape.columns, walk_of(shape.columns, out, row),
      [&](auto width, std::size_t c) { map_pack<decltype(width)::kValues>(c, result, out, row); });
}

template <bool kWide>
__global__ void log_softmax_backward_kernel(Matrix shape, const float* y, const float* dy,
                                            float* dx) {
  const Team<kWide> team;
  if (team.row() >= shape.rows) return;
  const std::size_t columns = shape.columns, first = team.row() * columns;
  float own = 0;
  const auto add = [&](std::size_t, float value) { own += value; };
  walk_row<float>(team, columns, walk_of(columns, dy + first), [&](auto width, std::size_t c) {
    with_packs<decltype(width)::kValues>(c, add, dy + first);
  });
  const float total = team.combine(own, Plus{});
  const auto gradient = [&](std::size_t, float log_p, float d) { return d - expf(log_p) * total; };
  walk_row<float>(team, columns, walk_of(columns, dx + first, y + first, dy + first),
                  [&](auto width, std::size_t c) {
                    map_pack<decltype(width)::kValues>(c, gradient, dx + first, y + first,
                                                       dy + first);
                  });
}

}  // namespace

void log_softmax_forward(Stream stream, const Matrix& shape, const float* x, float* y) {
  if (shape.size() == 0) return;
  with_team(shape, [&](auto team) {
    constexpr bool kWide = decltype(team)::kIsWide;
    launch("log_softmax_forward", log_softmax_forward_kernel<kWide>, stream,
           shape_for_teams<float>(shape), shape, x, y);
  });
}

void log_softmax_backward(Stream stream, const Matrix& shape, const float* y, const float* dy,
                          float* dx) {
  if (shape.size() == 0) return;
  with_team(shape, [&](auto team) {
    constexpr bool kWide = decltype(team)::kIsWide;
    launch("log_softmax_backward", log_softmax_backward_kernel<kWide>, stream,
           shape_for_teams<float>(shape), shape, y, dy, dx);
  });
}

}  // namespace trainscope::kernels
