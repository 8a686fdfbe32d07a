#include "kernels/cross_entropy.h"

#include "kernels/row_terms.cuh"
#include "kernels/rows.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kThreads = 256;

// Whether the row counts. As a float a number of rows is exact up to 2^24.
struct CountsTarget {
  const std::int64_t* targets;
  __device__ float operator()(std::size_t row) const {
    return targets[row] == kIgnoredTarget ? 0.0F : 1.0F;
  }
};

struct RowLoss {
  const float* losses;
  __device__ float operator()(std::size_t row) const { return losses[row]; }
};

// One block.
__global__ void total_kernel(const float* parts, std::size_t count, float* total) {
  const float sum = total_of(parts, count);
  if (threadIdx.x == 0) *total = sum;
}

__global__ void mean_loss_kernel(const float* parts, std::size_t count, const float* counted,
                                 float* loss) {
  const float sum = total_of(parts, count);
  if (threadIdx.x == 0) *loss = sum / *counted;
}

// row[c] = f(value at c), for the team's thread.
template <bool kWide, typename T, typename Function>
__device__ void replace_row(Team<kWide> team, std::size_t columns, T* row, const Function& f) {
  walk_row<T>(team, columns, walk_of(columns, row), [&](auto width, std::size_t c) {
    map_pack<decltype(width)::kValues>(c, [&](std::size_t, float x) { return f(x); }, row, row);
  });
}

// A team for a row. The row's loss is kept; its logits become gradients. __expf's error grows with
// its argument's size, which is where exp x itself vanishes: |x| e^-|x| < 0.37 units, of a share.
template <typename T, bool kWide>
__global__ void cross_entropy_kernel(Matrix shape, T* logits, const std::int64_t* targets,
                                     const float* dloss, const float* counted, float* losses) {
  const Team<kWide> team;
  const std::size_t r = team.row();
  if (r >= shape.rows) return;
  T* row = logits + r * shape.columns;
  const std::int64_t target = targets[r];
  if (target == kIgnoredTarget) {
    replace_row(team, shape.columns, row, [](float) { return 0.0F; });
    if (team.rank() == 0) losses[r] = 0;
    return;
  }
  if (target < 0 || target >= static_cast<std::int64_t>(shape.columns)) __trap();
  const float logit = widen(row[target]);
  const MaxAndSum of_row = max_and_sum(team, shape.columns, static_cast<const T*>(row));
  const float maximum = of_row.maximum, sum = of_row.sum;
  team.wait();  // the target's logit is read
  const float share = (dloss == nullptr ? 1.0F : *dloss) / *counted;
  const float factor = share / sum;
  replace_row(team, shape.columns, row, [&](float x) { return __expf(x - maximum) * factor; });
  team.wait();  // the target's gradient is written again
  if (team.rank() != 0) return;
  row[target] = narrow<T>((__expf(logit - maximum) / sum - 1) * share);
  losses[r] = logf(sum) - (logit - maximum);
}

}  // namespace

std::size_t cross_entropy_workspace(const Matrix& shape) {
  return shape.rows + row_term_parts(shape.rows) + 1;
}

template <typename T>
void cross_entropy(Stream stream, const Matrix& shape, T* logits, const std::int64_t* targets,
                   const float* dloss, float* workspace, float* loss) {
  float* losses = workspace;
  float* parts = losses + shape.rows;
  const std::size_t count = row_term_parts(shape.rows);
  float* counted = parts + count;
  const Shape one{{1, 1, 1}, {kThreads, 1, 1}};
  sum_row_terms("count_targets", stream, shape.rows, CountsTarget{targets}, parts);
  launch("count_targets", total_kernel, stream, one, parts, count, counted);
  if (shape.rows != 0) {
    with_team(shape, [&](auto team) {
      constexpr bool kWide = decltype(team)::kIsWide;
      launch("cross_entropy", cross_entropy_kernel<T, kWide>, stream, shape_for_teams<T>(shape),
             shape, logits, targets, dloss, counted, losses);
    });
  }
  sum_row_terms("mean_loss", stream, shape.rows, RowLoss{losses}, parts);
  launch("mean_loss", mean_loss_kernel, stream, one, parts, count, counted, loss);
}

template void cross_entropy(Stream, const Matrix&, float*, const std::int64_t*, const float*,
                            float*, float*);
template void cross_entropy(Stream, const Matrix&, Half*, const std::int64_t*, const float*, float*,
                            float*);
template void cross_entropy(Stream, const Matrix&, Bfloat16*, const std::int64_t*, const float*,
                            float*, float*);

}  // namespace trainscope::kernels
