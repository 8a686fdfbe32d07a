#include "kernels/compiled_chain.h"

#include "kernels/compiled_chain.cuh"

namespace trainscope::kernels {
namespace {

constexpr int kNarrow = 4, kWide = 8;

// With the arguments that the kernel of this name has.
template <typename... Arguments>
void start_with(const StartKernel& start, const char* name, const Shape& shape,
                Arguments... arguments) {
  void* addresses[] = {&arguments...};
  start(name, shape, addresses);
}

}  // namespace

// 8 where they are narrow, or few bytes are read.
int compiled_width(const Chain& chain) {
  constexpr std::size_t kEnough = 32;  // bytes that a thread has under way
  std::size_t bytes = 0;
  bool narrow = true;
  for (int k = 0; k < chain.read_count; ++k) {
    if (chain.reads[k].from == ChainFrom::kMaxPool) return kNarrow;
    if (chain.reads[k].from != ChainFrom::kEach) continue;
    const bool wide = chain.reads[k].type == NumberType::kFp32;
    narrow = narrow && !wide;
    bytes += wide ? sizeof(float) : sizeof(Half);
  }
  for (int k = 0; k < chain.write_count; ++k)
    narrow = narrow && chain.writes[k].type != NumberType::kFp32;
  return narrow || bytes * kNarrow < kEnough ? kWide : kNarrow;
}

// As layer_norm.h deals a row.
int compiled_width(const NormChain& chain) {
  return chain.type == NumberType::kFp32 ? kPackOf<float> : kPackOf<Half>;
}

void start_chain(const Chain& chain, const StartKernel& start) {
  if (chain.values == 0) return;
  const auto width = static_cast<std::size_t>(compiled_width(chain));
  const bool packed = is_packed(chain, compiled_width(chain));
  const std::size_t packs = packed ? chain.values / width : 0;
  start_with(start, "chain", shape_for(packs + chain.values - packs * width), chain, packed);
}

bool is_at_once(const NormChain& chain) {
  const auto width = static_cast<std::size_t>(compiled_width(chain));
  return chain.rows.columns % width == 0 &&
         chain.rows.columns <= width * shape_for_rows(chain.rows, width).threads.x;
}

bool start_norm_chain(const NormChain& chain, const StartKernel& start) {
  if (chain.chain.values == 0) return true;
  const int width = compiled_width(chain);
  const NormWalk walk{chain.rows.columns, static_cast<std::size_t>(width), is_packed(chain, width)};
  const bool at_once = is_at_once(chain);
  if (at_once && !walk.packed) return false;
  start_with(start, at_once ? "norm_chain" : "norm_chain_in_walks",
             shape_for_rows(chain.rows, walk.pack), chain, walk);
  return true;
}

bool is_one_part(const Matrix& shape) {
  return ColumnParts(shape).count == 1;
}

void start_column_chain(const Matrix& shape, const ColumnChain& chain, float* workspace,
                        const StartKernel& start) {
  if (shape.columns == 0) return;
  const ColumnGrid grid(shape);
  const ChainTerm term{chain.values, shape.columns, chain.summed};
  const ChainOfSums sums{chain.sums};
  if (grid.parts.count == 1)
    return start_with(start, "column_chain", grid.blocks, term, grid.shape, sums);
  start_with(start, "column_chain_parts", grid.blocks, term, grid.shape,
             KeepPart{workspace, shape.columns});
  start_with(start, "column_chain_sums", grid.adding(), grid.sums(workspace), sums);
}

}  // namespace trainscope::kernels
