#include "host/tiled_attention.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>

#include "host/blas.h"
#include "host/heads.h"
#include "host/sums.h"

namespace trainscope::host {
namespace {

// One head: its values and how far its tokens lie apart.
struct Head {
  const float* q;
  const float* k;
  const float* v;
  std::size_t token;
  std::size_t width;
  float scale;
};

struct Tile {
  std::size_t row;  // the first
  std::size_t rows;
  std::size_t column;  // the first
  std::size_t columns;

  // How many columns of row `r` of the tile are not above the diagonal.
  std::size_t visible(std::size_t r) const {
    const std::size_t end = row + r + 1;
    return end <= column ? 0 : std::min(columns, end - column);
  }
};

void scores(const Head& head, const Tile& tile, float* s) {
  gemm({tile.rows, tile.columns, head.width}, {head.q + tile.row * head.token, head.token},
       {head.k + tile.column * head.token, head.token, true}, {s, tile.columns}, head.scale);
}

// Takes one row of scores into the running maximum and sum; they become e^(s - m'). Returns
// e^(m - m'), by which the row's earlier results shrink.
float absorb(std::span<float> row, std::size_t visible, float& maximum, float& sum) {
  const float largest = std::max(maximum, largest_of(row.data(), visible));
  for (std::size_t c = 0; c < visible; ++c) row[c] = std::exp(row[c] - largest);
  std::fill(row.begin() + static_cast<std::ptrdiff_t>(visible), row.end(), 0.0F);
  const double fresh = sum_of(visible, [&](std::size_t c) { return row[c]; });
  const bool first = maximum == -std::numeric_limits<float>::infinity();
  const float shrink = first ? 0.0F : std::exp(maximum - largest);
  sum = static_cast<float>(static_cast<double>(sum) * shrink + fresh);
  maximum = largest;
  return shrink;
}

struct RunningRows {
  float* maximum;
  float* sum;
};

void absorb_tile(const Head& head, const Tile& tile, float* s, const RunningRows& running, float* o,
                 std::size_t out_token) {
  for (std::size_t r = 0; r < tile.rows; ++r) {
    const std::size_t visible = tile.visible(r);
    float* row = s + r * tile.columns;
    if (visible == 0) {
      std::fill_n(row, tile.columns, 0.0F);
      continue;
    }
    const float shrink = absorb({row, tile.columns}, visible, running.maximum[r], running.sum[r]);
    for (std::size_t w = 0; w < head.width; ++w) o[r * out_token + w] *= shrink;
  }
  gemm({tile.rows, head.width, tile.columns}, {s, tile.columns},
       {head.v + tile.column * head.token, head.token}, {o, out_token, Into::kAdd});
}

// Calls body(tile) for each tile that has something on or below the diagonal, row by row.
template <typename Body>
void for_each_tile_of_rows(std::size_t row, std::size_t rows, const AttentionTiles& tiles,
                           const Body& body) {
  for (std::size_t column = 0; column < row + rows; column += tiles.columns) {
    body(Tile{row, rows, column, std::min(tiles.columns, row + rows - column)});
  }
}

void forward_rows(const Head& head, const AttentionTiles& tiles, std::size_t row, std::size_t rows,
                  float* o, std::size_t out_token, float* lse, Results workspace) {
  float* s = workspace.data();
  const RunningRows running{s + tiles.rows * tiles.columns,
                            s + tiles.rows * tiles.columns + tiles.rows};
  std::fill_n(running.maximum, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(running.sum, rows, 0.0F);
  for (std::size_t r = 0; r < rows; ++r) std::fill_n(o + r * out_token, head.width, 0.0F);
  for_each_tile_of_rows(row, rows, tiles, [&](const Tile& tile) {
    scores(head, tile, s);
    absorb_tile(head, tile, s, running, o, out_token);
  });
  for (std::size_t r = 0; r < rows; ++r) {
    const float share = 1 / running.sum[r];
    for (std::size_t w = 0; w < head.width; ++w) o[r * out_token + w] *= share;
    lse[r] = running.maximum[r] + std::log(running.sum[r]);
  }
}

// What backward has of one head beside its inputs.
struct HeadGradients {
  const float* d_output;
  std::size_t out_token;
  const float* lse;
  const float* common;  // rowsum(do o) = rowsum(p dp)
  float* dq;
  float* dk;
  float* dv;
};

// Scores become p and dp becomes ds, in one row of a tile.
void probabilities(float* p, float* ds, std::size_t columns, std::size_t visible, float lse,
                   float common) {
  for (std::size_t c = 0; c < visible; ++c) p[c] = std::exp(p[c] - lse);
  std::fill(p + visible, p + columns, 0.0F);
  for (std::size_t c = 0; c < columns; ++c) ds[c] = p[c] * (ds[c] - common);
}

void backward_tile(const Head& head, const Tile& tile, const HeadGradients& g, float* p,
                   float* ds) {
  const std::size_t row = tile.row * head.token;
  const std::size_t column = tile.column * head.token;
  const float* d_output = g.d_output + tile.row * g.out_token;
  scores(head, tile, p);
  gemm({tile.rows, tile.columns, head.width}, {d_output, g.out_token},
       {head.v + column, head.token, true}, {ds, tile.columns});
  for (std::size_t r = 0; r < tile.rows; ++r) {
    probabilities(p + r * tile.columns, ds + r * tile.columns, tile.columns, tile.visible(r),
                  g.lse[tile.row + r], g.common[tile.row + r]);
  }
  const GemmShape to_keys{tile.columns, head.width, tile.rows};
  gemm(to_keys, {p, tile.columns, true}, {d_output, g.out_token},
       {g.dv + column, head.token, Into::kAdd});
  gemm(to_keys, {ds, tile.columns, true}, {head.q + row, head.token},
       {g.dk + column, head.token, Into::kAdd}, head.scale);
  gemm({tile.rows, head.width, tile.columns}, {ds, tile.columns}, {head.k + column, head.token},
       {g.dq + row, head.token, Into::kAdd}, head.scale);
}

void clear(const AttentionShape& shape, std::size_t in, const AttentionGradients& gradients) {
  for (const Results d : {gradients.dq, gradients.dk, gradients.dv}) {
    for (std::size_t t = 0; t < shape.length; ++t) {
      std::fill_n(&d[in + t * shape.inputs.token], shape.width, 0.0F);
    }
  }
}

void row_sums(const AttentionShape& shape, const float* o, const float* d_output, float* sums) {
  for (std::size_t t = 0; t < shape.length; ++t) {
    double sum = 0;
    for (std::size_t w = 0; w < shape.width; ++w) {
      const std::size_t i = t * shape.outputs.token + w;
      sum += static_cast<double>(o[i]) * d_output[i];
    }
    sums[t] = static_cast<float>(sum);
  }
}

Head head_of(const AttentionShape& shape, const AttentionInputs& inputs, std::size_t in) {
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.width)));
  return {&inputs.q[in], &inputs.k[in], &inputs.v[in], shape.inputs.token, shape.width, scale};
}

}  // namespace

std::size_t tiled_attention_workspace(const AttentionShape& shape, const AttentionTiles& tiles) {
  const std::size_t tile = tiles.rows * tiles.columns;
  return std::max(tile + 2 * tiles.rows, 2 * tile + shape.length);
}

void tiled_attention_forward(const AttentionShape& shape, const AttentionTiles& tiles,
                             const AttentionInputs& inputs, Results o, Results lse,
                             Results workspace, const Workers& workers) {
  const std::size_t room = tiled_attention_workspace(shape, tiles);
  assert(lse.size() == shape.batch * shape.heads * shape.length && workspace.size() >= room);
  deal_heads(shape.batch * shape.heads, room, workspace, workers,
             [&](std::size_t index, Results own) {
               const HeadPlace place = place_of(shape, index, shape.length);
               const Head head = head_of(shape, inputs, place.in);
               for (std::size_t row = 0; row < shape.length; row += tiles.rows) {
                 const std::size_t rows = std::min(tiles.rows, shape.length - row);
                 forward_rows(head, tiles, row, rows, &o[place.out + row * shape.outputs.token],
                              shape.outputs.token, &lse[place.at + row], own);
               }
             });
}

void tiled_attention_backward(const AttentionShape& shape, const AttentionTiles& tiles,
                              const AttentionInputs& inputs, Values o, Values lse, Values d_output,
                              const AttentionGradients& gradients, Results workspace,
                              const Workers& workers) {
  const std::size_t room = tiled_attention_workspace(shape, tiles);
  assert(lse.size() == shape.batch * shape.heads * shape.length && workspace.size() >= room);
  deal_heads(
      shape.batch * shape.heads, room, workspace, workers, [&](std::size_t index, Results own) {
        const HeadPlace place = place_of(shape, index, shape.length);
        const Head head = head_of(shape, inputs, place.in);
        float* p = own.data();
        float* ds = p + tiles.rows * tiles.columns;
        float* common = ds + tiles.rows * tiles.columns;
        clear(shape, place.in, gradients);
        row_sums(shape, &o[place.out], &d_output[place.out], common);
        const HeadGradients g{
            &d_output[place.out],    shape.outputs.token,     &lse[place.at],         common,
            &gradients.dq[place.in], &gradients.dk[place.in], &gradients.dv[place.in]};
        for (std::size_t row = 0; row < shape.length; row += tiles.rows) {
          const std::size_t rows = std::min(tiles.rows, shape.length - row);
          for_each_tile_of_rows(row, rows, tiles,
                                [&](const Tile& tile) { backward_tile(head, tile, g, p, ds); });
        }
      });
}

}  // namespace trainscope::host
