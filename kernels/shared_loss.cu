#include "kernels/shared_loss.h"

#include "kernels/map.cuh"
#include "kernels/rows.cuh"

namespace trainscope::kernels {
namespace {

// A team for a row.
template <bool kWide, typename Combine>
__global__ void reduce_rows_kernel(Matrix shape, std::size_t count, Combine combine, const float* x,
                                   float* results) {
  const Team<kWide> team;
  if (team.row() >= shape.rows) return;
  const float* row = x + team.row() * shape.columns;
  float own = Combine::kNone;
  const auto take = [&](std::size_t, float value) { own = combine(own, value); };
  walk_row<float>(team, count, walk_of(count, row), [&](auto width, std::size_t c) {
    with_packs<decltype(width)::kValues>(c, take, row);
  });
  const float all = team.combine(own, combine);
  if (team.rank() == 0) results[team.row()] = all;
}

// y[r, c] = f(r, c, x[r, c]).
template <bool kWide, typename Function>
__global__ void map_rows_kernel(Matrix shape, Function f, const float* x, float* y) {
  const Team<kWide> team;
  const std::size_t r = team.row();
  if (r >= shape.rows) return;
  const float* row = x + r * shape.columns;
  float* out = y + r * shape.columns;
  const auto value = [&](std::size_t c, float one) { return f(r, c, one); };
  walk_row<float>(
      team, shape.columns, walk_of(shape.columns, out, row),
      [&](auto width, std::size_t c) { map_pack<decltype(width)::kValues>(c, value, out, row); });
}

template <bool kWide>
__global__ void mark_targets_kernel(Matrix shape, OwnClasses own, const std::int64_t* targets,
                                    float* y) {
  const Team<kWide> team;
  if (team.row() >= shape.rows) return;
  float* row = y + team.row() * shape.columns;
  const std::int64_t place = targets[team.row()] - static_cast<std::int64_t>(own.begin);
  const bool is_here = place < static_cast<std::int64_t>(own.count);
  const auto value = [&](std::size_t c) {
    return is_here && static_cast<std::int64_t>(c) == place ? -1.0F : 0.0F;
  };
  walk_row<float>(team, shape.columns, walk_of(shape.columns, row), [&](auto width, std::size_t c) {
    map_pack<decltype(width)::kValues>(c, value, row);
  });
}

__global__ void pick_targets_kernel(Matrix shape, OwnClasses own, const float* x,
                                    const std::int64_t* targets, float* picked) {
  for (std::size_t r = first_item(); r < shape.rows; r += item_step()) {
    const std::int64_t place = targets[r] - static_cast<std::int64_t>(own.begin);
    const bool is_here = place >= 0 && place < static_cast<std::int64_t>(own.count);
    picked[r] = is_here ? x[r * shape.columns + static_cast<std::size_t>(place)] : 0.0F;
  }
}

struct Shifted {
  const float* shifts;
  __device__ float operator()(std::size_t r, std::size_t, float value) const {
    return value - shifts[r];
  }
};

struct Exponential {
  std::size_t count;
  __device__ float operator()(std::size_t, std::size_t c, float value) const {
    return c < count ? expf(value) : 0.0F;
  }
};

struct Logarithm {
  __device__ float operator()(std::size_t, float value) const { return logf(value); }
};

template <typename Combine>
void reduce_rows(const char* name, Stream stream, const Matrix& shape, const OwnClasses& own,
                 const float* x, float* results) {
  if (shape.rows == 0) return;
  with_team(shape, [&](auto team) {
    constexpr bool kWide = decltype(team)::kIsWide;
    launch(name, reduce_rows_kernel<kWide, Combine>, stream, shape_for_teams<float>(shape), shape,
           own.count, Combine{}, x, results);
  });
}

template <typename Function>
void map_rows(const char* name, Stream stream, const Matrix& shape, const Function& f,
              const float* x, float* y) {
  if (shape.size() == 0) return;
  with_team(shape, [&](auto team) {
    constexpr bool kWide = decltype(team)::kIsWide;
    launch(name, map_rows_kernel<kWide, Function>, stream, shape_for_teams<float>(shape), shape, f,
           x, y);
  });
}

}  // namespace

void row_maxima(Stream stream, const Matrix& shape, const OwnClasses& own, const float* x,
                float* maxima) {
  reduce_rows<Larger>("row_maxima", stream, shape, own, x, maxima);
}

void row_sums(Stream stream, const Matrix& shape, const OwnClasses& own, const float* x,
              float* sums) {
  reduce_rows<Plus>("row_sums", stream, shape, own, x, sums);
}

void shift_rows(Stream stream, const Matrix& shape, const float* x, const float* shifts, float* y) {
  map_rows("shift_rows", stream, shape, Shifted{shifts}, x, y);
}

void exponentials(Stream stream, const Matrix& shape, const OwnClasses& own, const float* x,
                  float* y) {
  map_rows("exponentials", stream, shape, Exponential{own.count}, x, y);
}

void logarithms(Stream stream, const float* x, std::size_t count, float* y) {
  map("logarithms", stream, Logarithm{}, count, y, x);
}

void pick_targets(Stream stream, const Matrix& shape, const OwnClasses& own, const float* x,
                  const std::int64_t* targets, float* picked) {
  if (shape.rows == 0) return;
  launch("pick_targets", pick_targets_kernel, stream, shape_for(shape.rows), shape, own, x, targets,
         picked);
}

void mark_targets(Stream stream, const Matrix& shape, const OwnClasses& own,
                  const std::int64_t* targets, float* y) {
  if (shape.size() == 0) return;
  with_team(shape, [&](auto team) {
    constexpr bool kWide = decltype(team)::kIsWide;
    launch("mark_targets", mark_targets_kernel<kWide>, stream, shape_for_teams<float>(shape), shape,
           own, targets, y);
  });
}

}  // namespace trainscope::kernels
