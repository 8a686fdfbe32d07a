#include "kernels/nll_loss.h"

#include "kernels/row_terms.cuh"
#include "kernels/rows.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kThreads = 256;

__device__ bool counts(std::int64_t target, std::size_t columns) {
  if (target == kIgnoredTarget) return false;
  if (target < 0 || target >= static_cast<std::int64_t>(columns)) __trap();
  return true;
}

struct LossTerm {
  const float* log_p;
  const std::int64_t* targets;
  std::size_t columns;
  __device__ float operator()(std::size_t row) const {
    const std::int64_t target = targets[row];
    if (!counts(target, columns)) return 0;
    return log_p[row * columns + static_cast<std::size_t>(target)];
  }
};

// As floats, numbers of rows are exact up to 2^24.
struct CountedTerm {
  const std::int64_t* targets;
  std::size_t columns;
  __device__ float operator()(std::size_t row) const {
    return counts(targets[row], columns) ? 1.0F : 0.0F;
  }
};

// One block.
__global__ void nll_loss_kernel(const float* losses, const float* counted, std::size_t count,
                                float* loss) {
  const float total = total_of(losses, count);
  const float all = total_of(counted, count);
  if (threadIdx.x == 0) *loss = -total / all;
}

__global__ void counted_rows_kernel(const float* parts, std::size_t count, float* counted) {
  const float total = total_of(parts, count);
  if (threadIdx.x == 0) *counted = total;
}

// A team for a row.
template <bool kWide>
__global__ void nll_loss_backward_kernel(Matrix shape, const std::int64_t* targets,
                                         const float* dloss, const float* counted, float* dlog_p) {
  const Team<kWide> team;
  const std::size_t r = team.row();
  if (r >= shape.rows) return;
  float* row = dlog_p + r * shape.columns;
  const std::int64_t target = targets[r];
  const float gradient = -*dloss / *counted;
  const auto value = [&](std::size_t c) {
    return static_cast<std::int64_t>(c) == target ? gradient : 0.0F;
  };
  walk_row<float>(team, shape.columns, walk_of(shape.columns, row), [&](auto width, std::size_t c) {
    map_pack<decltype(width)::kValues>(c, value, row);
  });
}

Shape one_block() {
  return {{1, 1, 1}, {kThreads, 1, 1}};
}

}  // namespace

std::size_t nll_loss_workspace(std::size_t rows) {
  return 2 * row_term_parts(rows) + 1;
}

void nll_loss_forward(Stream stream, const Matrix& shape, const float* log_p,
                      const std::int64_t* targets, float* workspace, float* loss) {
  const std::size_t count = row_term_parts(shape.rows);
  float* counted = workspace + count;
  sum_row_terms("nll_loss_forward", stream, shape.rows, LossTerm{log_p, targets, shape.columns},
                workspace);
  sum_row_terms("counted_rows", stream, shape.rows, CountedTerm{targets, shape.columns}, counted);
  launch("nll_loss_forward", nll_loss_kernel, stream, one_block(), workspace, counted, count, loss);
}

void nll_loss_backward(Stream stream, const Matrix& shape, const std::int64_t* targets,
                       const float* dloss, float* workspace, float* dlog_p) {
  const std::size_t count = row_term_parts(shape.rows);
  float* counted = workspace + count;
  sum_row_terms("counted_rows", stream, shape.rows, CountedTerm{targets, shape.columns}, workspace);
  launch("counted_rows", counted_rows_kernel, stream, one_block(), workspace, count, counted);
  if (shape.size() == 0) return;
  with_team(shape, [&](auto team) {
    constexpr bool kWide = decltype(team)::kIsWide;
    launch("nll_loss_backward", nll_loss_backward_kernel<kWide>, stream,
           shape_for_teams<float>(shape), shape, targets, dloss, counted, dlog_p);
  });
}

}  // namespace trainscope::kernels
